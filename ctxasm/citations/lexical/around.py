"""What stands around a figure: that it is the least, the most or about so much ("up to 40"), and that it is one
end of a range ("1914–1918").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, cast

from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.lexicon import figure_words
from ctxasm.citations.lexical.operators import Operator
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.quantity import AND, TO
from ctxasm.text.number_words import CURRENCIES, begins_figure
from ctxasm.text.terms import folded

_LIMITS = ("least", "limit", "above", "below", "about", "nearly")
_JOIN = re.compile(rf"\s*{TO}\s*|\s+(?P<and>{AND})\s+", re.IGNORECASE)
BETWEEN_REACH = 25
"""Characters before a figure among which "between" stands."""
SIDE_REACH = 60
"""Characters before a figure among which it is said which end of a range it is, or a range begins in words."""
_ENDS = {"until": "high", "from": "low"}
_DENIED = {"above": "limit", "below": "least"}
DENIAL_REACH = 30
"""Characters before a limit among which it may be denied: "may not be higher than"."""
_FROM_WORD = re.compile(rf"\b([^\W\d_]+)\s+{TO}\s+$", re.IGNORECASE)


class Around(NamedTuple):
    """What stands around a figure: a limit, the end of a range that it is ("low", "high"), and the sort of word before it that tells of a
    side ("from", "until"; "after" and "before" may mean something else); each empty where there is none."""

    limit: str
    end: str
    side: str


def arounds(evidence: Evidence, at: int) -> list[tuple[Quantity, Around]]:
    """The figures of a sentence with what stands around each."""
    return list(around_all(evidence.text(at), *evidence.span(at), evidence.quantities(at), evidence.operators(at)))


def around_all(
    text: str, low: int, high: int, figures: Sequence[Quantity], operators: Sequence[Operator]
) -> Iterator[tuple[Quantity, Around]]:
    """The figures of a text, in order, with what stands around each."""
    ends, starts = [low, *(each.end for each in figures)], [*(each.start for each in figures[1:]), high]
    for before, figure, after in zip(ends, figures, starts, strict=False):
        yield figure, _around(text, (low, before), figure, (after, high), operators)


def _around(text: str, head: tuple[int, int], figure: Quantity, tail: tuple[int, int], operators: Sequence[Operator]) -> Around:
    """What stands around a figure of a text; `head` is where the text begins and the figure before ends, `tail` where the next one begins
    and the text ends."""
    (low, before), (after, high) = head, tail
    near = (op for op in operators if before <= op.start < after and op.value in _LIMITS)
    limits = [_limit(text, low, op) for op in near if _is_beside(text, figure, op)]
    found = _words()["side"].search(text, max(low, figure.start - SIDE_REACH), figure.start)
    side = "" if found is None else cast(str, found.lastgroup)
    end = _end(text, low, high, figure, before, after)
    is_dated = figure.is_year or figure.kind in ("date", "month")
    return Around(limits[-1] if limits else "", end or (_ENDS.get(side, "") if is_dated else ""), side)


@cache
def _words() -> dict[str, re.Pattern[str]]:
    """What may stand before a figure: a word for one side of something, nothing but small words, "between", a denial."""
    words = {name: "|".join(map(re.escape, each)) for name, each in figure_words().items()}
    filling = rf"(?:(?:{words['filling']})\s+)*"
    patterns = {
        "side": rf"\b(?:{'|'.join(f'(?P<{name}>{words[name]})' for name in ('until', 'before', 'from', 'after'))})\s+{filling}$",
        "filling": rf"\s*{filling}[{''.join(map(re.escape, CURRENCIES))}]?\s*",
        "between": rf"\b(?:{words['between']})\b",
        "denied": rf"\b(?:{words['denied']}|\w+n['’]t)\b",
    }
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()}


def _is_beside(text: str, figure: Quantity, op: Operator) -> bool:
    """Whether a limit stands just before a figure, or just behind it ("40 or more")."""
    before = op.end <= figure.start and _words()["filling"].fullmatch(text, op.end, figure.start) is not None
    return op.kind == "comparison" and (before or text[figure.end : op.start] == " ")


def _limit(text: str, low: int, op: Operator) -> str:
    """What a limit means: "not more than" is the most."""
    before = text[max(low, op.start - DENIAL_REACH) : op.start]
    return _DENIED.get(op.value, op.value) if _words()["denied"].search(before) else op.value


def _end(text: str, low: int, high: int, figure: Quantity, before: int, after: int) -> str:
    """Which end of a range a figure is; `before` and `after` are where the figures beside it end and begin."""
    if after < high and _is_range(text, figure, figure.end, after):
        return "low"
    if (before > low and _is_range(text, figure, before, figure.start)) or _begins_words(text, low, figure.start):
        return "high"
    return ""


def _is_range(text: str, figure: Quantity, low: int, high: int) -> bool:
    """Whether what stands between two figures makes a range of them: "and" does behind "between" only."""
    join = _JOIN.fullmatch(text, low, high)
    if join is None or not join["and"]:
        return join is not None
    return _words()["between"].search(text, max(0, min(low, figure.start) - BETWEEN_REACH), low) is not None


def _begins_words(text: str, low: int, at: int) -> bool:
    """Whether a number in words begins a range that ends with a figure: "two to three weeks"."""
    before = _FROM_WORD.search(text, max(low, at - SIDE_REACH), at)
    return before is not None and begins_figure(folded(before[1]))
