"""The claims of an answer, and which claim each marker covers.

A claim is a sentence of prose or of a list item, or a row of a table. A marker belongs to the sentence it stands in or
straight after, before or behind the full stop; at the beginning of a line, or as a word of its sentence ("[1] says that
…"), to the one it begins; alone, to the last claim before it. Code, thinking and lists of sources hold no claims.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ctxasm.citations.answer_parts import SOURCES_LABEL, Part, find_parts
from ctxasm.citations.checked import Claim, ClaimKind
from ctxasm.citations.markers import MarkerEvent
from ctxasm.citations.plain_text import STAND_IN, Plain, read_plain
from ctxasm.citations.spoken_text import spoken
from ctxasm.text.sentences import sentence_spans

_ASIDE = re.compile(r"\[[^\[\]]*\]\W*")
"""`[Online]`, `[Accessed: 2 May]`."""
_INSIDE = re.compile(r"[^\s|](?:.*[^\s|])?", re.DOTALL)
"""A row without the bars around it."""
_CLOSERS = "\"'”’»)] "


@dataclass(slots=True)
class _Draft:
    start: int
    end: int
    text: str
    kind: ClaimKind
    markers: list[int] = field(default_factory=list)


def split_claims(answer: str, markers: Sequence[MarkerEvent], listed: Sequence[MarkerEvent] = ()) -> tuple[Claim, ...]:
    """The claims of `answer`, ascending and disjoint; every one of `markers` belongs to exactly one, if there is any.

    `markers` and `listed` are the parser's for this answer, in its order. Takes time linear in the length of the answer.
    """
    drafts: list[_Draft] = []
    early: list[int] = []
    starts = [marker.start for marker in markers]
    reached = 0
    for part in find_parts(answer, [entry.start for entry in listed]):
        first, after = bisect_left(starts, part.start, reached), bisect_left(starts, part.end, reached)
        _hand_over(range(reached, first), drafts, early)
        plain = read_plain(answer, part.start, part.end, [(position, markers[position]) for position in range(first, after)])
        for draft, positions in _drafts_of(plain, part):
            if draft:
                drafts.append(draft)
            _hand_over(positions, drafts, early)
        reached = after
    _hand_over(range(reached, len(markers)), drafts, early)
    return tuple(_claim_of(draft, markers) for draft in drafts)


def _hand_over(positions: Sequence[int], drafts: list[_Draft], early: list[int]) -> None:
    """Give markers to the last claim; while there is none, keep them for the first."""
    early += positions
    if drafts:
        drafts[-1].markers += early
        early.clear()


def _claim_of(draft: _Draft, markers: Sequence[MarkerEvent]) -> Claim:
    positions = tuple(sorted(draft.markers))
    cited = tuple(dict.fromkeys(number for position in positions for number in markers[position].numbers))
    return Claim(draft.start, draft.end, draft.text, draft.kind, positions, cited)


def _drafts_of(plain: Plain, part: Part) -> Iterator[tuple[_Draft | None, list[int]]]:
    """The claims of a part, each with the markers it holds; None where a stretch holds only markers or a label of theirs."""
    if part.kind in ("row", "heading"):
        text = _row_text(plain) if part.kind == "row" or "|" in plain.text else spoken(plain, 0, len(plain.text))
        inside = _INSIDE.search(plain.text)
        low, high = inside.span() if inside is not None else (0, 0)
        kind: ClaimKind = "row" if part.kind == "row" else "lead_in" if text.endswith(":") else "heading"
        yield _draft(plain, low, high, text, kind), [position for _, position in plain.markers]
        return
    spans = [span for low, high in sentence_spans(plain.text) for span in _cut(plain, low, high)]
    owned = _owners(plain, spans)
    for (low, high), positions in zip(spans, owned, strict=True):
        text = spoken(plain, low, high)
        yield _draft(plain, low, high, text, _kind_of(text, part)), positions
    if not spans:
        yield None, [position for _, position in plain.markers]


def _cut(plain: Plain, low: int, high: int) -> Iterator[tuple[int, int]]:
    """A sentence, cut where a marker after its full stop shows that there are two ("until 8 p.m. [1] Bring …")."""
    for end in plain.ends[bisect_right(plain.ends, low) : bisect_left(plain.ends, high)]:
        first, rest = plain.text[low:end].rstrip(), plain.text[end:high].lstrip()
        if first and rest:
            yield low, low + len(first)
            low = high - len(rest)
    yield low, high


def _draft(plain: Plain, low: int, high: int, text: str, kind: ClaimKind) -> _Draft | None:
    if not any(map(str.isalnum, text)) or SOURCES_LABEL.match(text) or _ASIDE.fullmatch(text):
        return None
    return _Draft(plain.origin(low), plain.origin(high - 1) + 1, text, kind)


def _row_text(plain: Plain) -> str:
    cells = (cell.strip() for cell in spoken(plain, 0, len(plain.text)).split("|"))
    return " | ".join(cell for cell in cells if cell)


def _kind_of(text: str, part: Part) -> ClaimKind:
    mark = text.rstrip(_CLOSERS)[-1:]
    if mark in ("?", "？", "؟"):
        return "question"
    if mark in (":", "："):
        return "lead_in"
    return "item" if part.kind == "item" else "sentence"


def _owners(plain: Plain, spans: list[tuple[int, int]]) -> list[list[int]]:
    """For each sentence the markers that belong to it."""
    owned: list[list[int]] = [[] for _ in spans]
    starts = [low for low, _ in spans]
    for place, position in plain.markers if spans else ():
        at = bisect_right(starts, place) - 1
        if starts[at] == place and plain.text[place] != STAND_IN:
            at -= 1  # "… 20.00 uur. [1]De …": it closes the sentence before
        owned[max(at, 0)].append(position)
    return owned
