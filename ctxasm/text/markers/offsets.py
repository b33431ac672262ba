"""Offsets of a raw text and of its edited form, one from the other. Both directions never decrease."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ctxasm.text.markers.cleaning import Edit


class OffsetMap:
    """What ascending, disjoint edits do to offsets. A place inside an edit is where the edit begins."""

    __slots__ = ("_edited", "_edits", "_raw")

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._edits = edits
        self._raw, self._edited, shift = [edit.start for edit in edits], list[int](), 0
        for edit in edits:
            self._edited.append(edit.start + shift)
            shift += len(edit.text) - (edit.end - edit.start)

    def to_cleaned(self, offset: int) -> int:
        """The place in the edited text of a place in the raw text."""
        found = bisect_right(self._raw, offset) - 1
        if found < 0:
            return offset
        edit, place = self._edits[found], self._edited[found]
        return place if offset < edit.end else place + len(edit.text) + offset - edit.end

    def to_raw(self, offset: int) -> int:
        """The place in the raw text of a place in the edited text; before what was cut there."""
        found = bisect_right(self._edited, offset) - 1
        if found >= 0 and self._edited[found] == offset:
            while found > 0 and self._edited[found - 1] == offset:
                found -= 1
            return self._edits[found].start
        if found < 0:
            return offset
        edit, place = self._edits[found], self._edited[found]
        after = offset - place - len(edit.text)
        return edit.start if after < 0 else edit.end + after


def apply(raw: str, edits: Sequence[Edit]) -> str:
    """`raw` with its edits."""
    pieces, at = list[str](), 0
    for edit in edits:
        pieces += [raw[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, raw[at:]])
