"""The place of a chunk in its document, where an export does not number its chunks.

Chunks that stand next to each other get indexes that follow one another, and only those: where it is not known that two are
neighbours, an index is left free between them, so that expansion and overlap never join what does not belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxasm.data.files.recognised.passages import INDEX_NAMES, Passage
from ctxasm.text.reading_order import linked_runs, run_indexes

MAX_TRIMMED = 8
"""Characters between two chunks that a splitter may have trimmed as white space: they still touch."""

APPEARANCE = "the order of appearance"
"""What a place was taken from where nothing else tells it."""


class Placed(NamedTuple):
    """An index for each passage, and what it was taken from (for the note; "" for a document of one chunk)."""

    indexes: list[int]
    by: str


def place(passages: Sequence[Passage], is_whole: bool) -> Placed:
    """Indexes for the distinct passages of one document, in order of their appearance.

    `is_whole`: they were listed as stored, not as retrieved, so that nothing is missing between them.
    """
    for name in INDEX_NAMES:
        numbers = [passage.numbers.get(name) for passage in passages]
        known = [number for number in numbers if number is not None]
        if len(set(known)) == len(passages):
            return Placed(known, f"metadata {name}")
    if len(passages) == 1:
        return Placed([0], "")
    if any(passage.previous or passage.following for passage in passages):
        return Placed(_linked(passages), "the links to the previous and next node")
    for by, key, touches in _ORDERS:
        if all(key(passage) is not None for passage in passages):
            places = [key(passage) for passage in passages]
            if len(set(places)) == len(passages):
                order = sorted(range(len(passages)), key=lambda at, known=places: known[at])  # type: ignore[misc]
                return Placed(_numbered(passages, order, (lambda a, b: True) if is_whole else touches), by)
    return _shared(passages, is_whole)


def _shared(passages: Sequence[Passage], is_whole: bool) -> Placed:
    """In the order of appearance, unless the text that they share tells another one."""
    runs = linked_runs([passage.text if isinstance(passage.text, str) else "" for passage in passages])
    if is_whole and all(after == before + 1 for run in runs for before, after in pairwise(run)):
        return Placed(list(range(len(passages))), APPEARANCE)
    is_linked = len(runs) < len(passages)
    return Placed(run_indexes(runs), "the text that they share, and what shares none is not joined" if is_linked else APPEARANCE)


def _numbered(passages: Sequence[Passage], order: Sequence[int], touches: Callable[[Passage, Passage], bool]) -> list[int]:
    indexes, index = [0] * len(passages), 0
    for before, at in zip((None, *order), order, strict=False):
        if before is not None:
            index += 1 if touches(passages[before], passages[at]) else 2
        indexes[at] = index
    return indexes


def _characters_touch(before: Passage, after: Passage) -> bool:
    """Whether `after` begins where `before` ends, on the same page; over a page break nothing is known."""
    if before.start is None or after.start is None or (before.start_in_page and before.page != after.page):
        return False
    end = before.end if before.end is not None else before.start + len(str(before.text))
    return after.start <= end + MAX_TRIMMED


def _lines_touch(before: Passage, after: Passage) -> bool:
    return before.lines is not None and after.lines is not None and after.lines[0] <= before.lines[1] + 1


def _characters(passage: Passage) -> tuple[int, int] | None:
    return None if passage.start is None else (passage.page or 0 if passage.start_in_page else 0, passage.start)


def _lines(passage: Passage) -> tuple[int, int] | None:
    return passage.lines


def _page(passage: Passage) -> tuple[int, int] | None:
    return None if passage.page is None else (passage.page, 0)


def _pages_touch(before: Passage, after: Passage) -> bool:
    return before.page is not None and after.page == before.page + 1


_ORDERS = (
    ("where they start in the document", _characters, _characters_touch),
    ("their lines", _lines, _lines_touch),
    ("their pages", _page, _pages_touch),
)


def _linked(passages: Sequence[Passage]) -> list[int]:
    """Chains of nodes that name each other; between two chains an index stays free for what was not exported."""
    at = {passage.passage_id: position for position, passage in enumerate(passages) if passage.passage_id}
    follower: dict[int, int] = {}
    for position, passage in enumerate(passages):
        if passage.following in at:
            follower.setdefault(position, at[passage.following])
        if passage.previous in at:
            follower.setdefault(at[passage.previous], position)
    followed = set(follower.values())
    heads = [position for position in range(len(passages)) if position not in followed]
    heads.sort(key=lambda position: (passages[position].start or 0, position))
    indexes: dict[int, int] = {}
    index = 0
    for head in (*heads, *range(len(passages))):  # what is left after the heads stands in a ring
        step: int | None = head
        index += 1 if indexes and head not in indexes else 0
        while step is not None and step not in indexes:
            indexes[step], index = index, index + 1
            step = follower.get(step)
    return [indexes[position] for position in range(len(passages))]
