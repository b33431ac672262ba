"""Reading values whose type cannot be relied on: a number in quotes, JSON inside a text, attributes with dotted names."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ctxasm.data.files.recognised.literal import NotLiteral, read_literal

Object = Mapping[str, Any]
_WHOLE = re.compile(r"\d{1,9}")
MAX_LEVELS = 32


def first(values: Object, names: Iterable[str]) -> tuple[str, Any] | None:
    """The first of these names that holds something (not None, no blank text), with its value."""
    return next(((name, value) for name in names if not is_nothing(value := values.get(name))), None)


def is_nothing(value: object) -> bool:
    """Whether a cell is empty: None, blank, or the NaN that stands for an empty cell of a table."""
    return value is None or (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and math.isnan(value))


def named(value: object) -> str | None:
    """A name or title: a visible text on its own, or a number as text; None for anything else."""
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def whole(value: object) -> int | None:
    """A whole number from 0 to 999,999,999, also in quotes or written as 3.0; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer() and 0 <= value < 1e9:
        return int(value)
    if isinstance(value, int):
        return value if 0 <= value < 10**9 else None
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value.strip()) else None


def number(value: object) -> Any:
    """A number in quotes as a number; everything else as it came, for the validation to judge."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def is_finite(value: object) -> bool:
    """Whether it is a number that can be compared."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < math.inf


def parsed(value: object) -> Any:
    """What a text holds that is written as JSON or as a Python literal; the value itself where it is neither."""
    if not isinstance(value, str):
        return value
    bare = value.strip()
    if not bare or bare[0] not in "[{(a":
        return value
    try:
        found = json.loads(bare)
    except RecursionError:
        return value
    except ValueError:
        try:
            found = read_literal(bare)
        except (NotLiteral, ValueError):
            return value
    return value if is_deep(found) else found


def is_deep(value: object) -> bool:
    """Whether it is nested deeper than anything that is meant as data."""
    level = [value]
    for _ in range(MAX_LEVELS):
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())]
        if not level:
            return False
    return True


def objects(value: object) -> list[Object]:
    """The objects of a list, written out or inside a text; empty where it is no list of objects."""
    found = parsed(value)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def nested(flat: Object) -> dict[str, Any]:
    """Attributes with dotted names (`retrieval.documents.0.document.id`) as objects; where all keys of one count, a list.

    A name that goes on below a value that is no object is left out: nothing is overwritten. The places of a list are ordered by
    number, whatever the number is.
    """
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        steps, inner = str(name).split("."), tree
        if len(steps) > MAX_LEVELS:
            continue
        for step in steps[:-1]:
            below = inner.setdefault(step, {})
            if not isinstance(below, dict):
                break
            inner = below
        else:
            known = inner.get(steps[-1])
            merged = nested(value) if isinstance(value, Mapping) and any("." in str(key) for key in value) else value
            if isinstance(known, dict) and isinstance(merged, Mapping):
                known.update(merged)
            else:
                inner.setdefault(steps[-1], dict(merged) if isinstance(merged, Mapping) else merged)
    return {name: _listed(value) for name, value in tree.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return [_opened(item) for item in value] if isinstance(value, list) else value
    if value and all(isinstance(key, str) and _WHOLE.fullmatch(key) for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {name: _listed(item) for name, item in value.items()}


def _opened(item: Any) -> Any:
    return nested(item) if isinstance(item, Mapping) and any("." in str(key) for key in item) else item
