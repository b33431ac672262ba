"""Source text that reads as a marker or a header: found in the joined text of a block, also across seams, and defused.

Brackets are swapped one character for one by look-alikes, so that every offset stays what it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.model.marker_forms import find_forged_headers, find_marker_forms, might_hold_marker, swap_brackets


class Body(NamedTuple):
    """Texts of one block with their collisions, already defused where that was asked for.

    `found` pairs the number of the first text concerned with what stood there.
    """

    texts: tuple[str, ...]
    found: tuple[tuple[int, str], ...]


def defuse(texts: Sequence[str], swap: bool) -> Body:
    """Find what the answer parser would accept as a marker, or a model as a header, in `texts` joined; swap its brackets.

    What is left may read differently once a bracket is gone, so it is looked at again until nothing is found.
    """
    joined = "".join(texts)
    if not might_hold_marker(joined):
        return Body(tuple(texts), ())
    found: list[tuple[int, str]] = []
    while spans := sorted({*find_marker_forms(joined), *find_forged_headers(joined)}):
        found += [(_owner(texts, low), joined[low:high]) for low, high in spans]
        if not swap:
            break
        for low, high in spans:
            joined = joined[:low] + swap_brackets(joined[low:high]) + joined[high:]
    if not swap or not found:
        return Body(tuple(texts), tuple(found))
    return Body(_cut_again(joined, texts), tuple(found))


def _owner(texts: Sequence[str], at: int) -> int:
    for number, text in enumerate(texts):
        if at < len(text):
            return number
        at -= len(text)
    return len(texts) - 1


def _cut_again(joined: str, texts: Sequence[str]) -> tuple[str, ...]:
    pieces, at = [], 0
    for text in texts:
        pieces.append(joined[at : at + len(text)])
        at += len(text)
    return tuple(pieces)
