"""What columns of a table that somebody else made may hold: the places inside their JSON, and which of them are texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

LONG_TEXT = 40
"""Characters that texts have at least on average; names and titles are shorter."""
MOST_KEYS = 50
"""Of one object; the rest is not looked at."""
P = TypeVar("P")


def opened_json(value: Any) -> Any:
    """The object that a text holds as JSON, else the value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # a text that only looks like JSON, or one that was cut
        return value


def _as_it_is(name: str, value: Any) -> Any:
    return value


def places_inside(
    name: str, value: Any, depth: int, opened: Callable[[str, Any], Any] = _as_it_is, most: int = MOST_KEYS
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys that lead to each value inside an object of a column `name`, and the value, down to `depth`.

    `opened` makes objects of texts, told the column or key that they stand under; `most` are the keys of one object.
    """
    found = opened(name, value)
    if depth and isinstance(found, Mapping):
        for key, inner in islice(found.items(), most):
            yield (str(key),), inner
            for rest, innermost in places_inside(str(key), inner, depth - 1, opened, most):
                yield (str(key), *rest), innermost


def longest_texts(values: Mapping[P, Sequence[Any]], least: int = LONG_TEXT) -> P | None:
    """The place of the longest texts, at least `least` characters on average; None where no values read like texts."""
    lengths = {
        place: sum(map(len, texts)) / len(texts)
        for place, there in values.items()
        if len(texts := [value for value in there if isinstance(value, str)]) * 2 > len(there)
        and sum(map(_has_words, texts)) * 2 >= len(texts)
    }
    best = max(lengths, key=lengths.__getitem__, default=None)
    return best if best is not None and lengths[best] >= least else None


def _has_words(text: str) -> bool:
    """Addresses, hashes and codes are letters without blanks; Chinese and Japanese have none either."""
    return " " in text or not text.isascii()
