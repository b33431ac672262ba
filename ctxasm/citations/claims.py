"""The claims of an answer, and which claim each marker covers.

A claim is a sentence of prose or of a list item, a line that ends in a marker, or a row of a table. A marker belongs to the
sentence it stands in or straight after, before or behind the full stop; at the beginning of a line, or as a word of its
sentence ("[1] says that …"), to the one it begins; alone, to the last claim before it. In a paragraph that begins with a
marker and does not end in one, every marker belongs to the sentence behind it. A sentence may have several `clauses`, each
with markers of its own, and markers at the end or the head of a block are `inherited` by its other claims. Code, thinking,
lists of sources and small talk hold no claims.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ctxasm.citations.answer_parts import SOURCES_LABEL, Part, find_parts
from ctxasm.citations.checked import Claim, ClaimKind
from ctxasm.citations.clauses import ClauseSpan, find_clauses
from ctxasm.citations.inherited import inherit
from ctxasm.citations.markers import MarkerEvent
from ctxasm.citations.plain_text import STAND_IN, Plain, read_plain
from ctxasm.citations.small_talk import is_small_talk
from ctxasm.citations.spoken_text import only_leads, spoken
from ctxasm.text.abbreviations import BEGINNERS
from ctxasm.text.sentences import sentence_spans

_ASIDE = re.compile(r"\[[^\[\]]*\]\W*")
"""`[Online]`, `[Accessed: 2 May]`."""
_INSIDE = re.compile(r"[^\s|](?:.*[^\s|])?", re.DOTALL)
"""A row without the bars around it."""
_SOLID = re.compile(r"\S")
_CLOSERS = "\"'”’»)] "
_LABEL = re.compile(r"(\*\*|__)(?=\S)[^*_\n\[\]]{1,60}(?::\1|\1:)[ \t]+(?=([^\W\d_]+))")
"""`**Opening hours:** The desk …`."""


@dataclass(slots=True)
class _Draft:
    """A claim that may still be given markers; `ends_cited` where they are one run behind all that it says."""

    start: int
    end: int
    text: str
    kind: ClaimKind
    spans: tuple[ClauseSpan, ...] = ()
    clauses: tuple[Claim, ...] = ()
    ends_cited: bool = False
    markers: list[int] = field(default_factory=list)


def split_claims(answer: str, markers: Sequence[MarkerEvent], listed: Sequence[MarkerEvent] = ()) -> tuple[Claim, ...]:
    """The claims of `answer`, ascending and disjoint; every one of `markers` belongs to exactly one, if there is any.

    `markers` and `listed` are the parser's for this answer, in its order. Takes time linear in the length of the answer.
    """
    drafts: list[_Draft] = []
    of_part: list[int] = []
    early: list[int] = []
    starts = [marker.start for marker in markers]
    reached = 0
    parts = find_parts(answer, [entry.start for entry in listed])
    for number, part in enumerate(parts):
        first, after = bisect_left(starts, part.start, reached), bisect_left(starts, part.end, reached)
        _hand_over(range(reached, first), drafts, early, ends=True)
        plain = read_plain(
            answer, _behind_label(answer, part), part.end, [(position, markers[position]) for position in range(first, after)]
        )
        for draft, positions in _drafts_of(plain, part):
            if draft:
                draft.clauses = tuple(_clause_of(plain, span, markers) for span in draft.spans)
                drafts.append(draft)
                of_part.append(number)
            _hand_over(positions, drafts, early, ends=draft is None or draft.ends_cited)
        reached = after
    _hand_over(range(reached, len(markers)), drafts, early, ends=True)
    return inherit([_claim_of(draft, markers) for draft in drafts], [draft.ends_cited for draft in drafts], of_part, parts)


def _behind_label(answer: str, part: Part) -> int:
    """Where a part begins to say something: behind a bold label that a sentence of its own follows."""
    label = _LABEL.match(answer, part.start, part.end) if part.kind in ("paragraph", "item") else None
    return label.end() if label and label[2].lower() in BEGINNERS and label[2][0].isupper() else part.start


def _hand_over(positions: Sequence[int], drafts: list[_Draft], early: list[int], *, ends: bool) -> None:
    """Give markers to the last claim, at whose end they stand or not; while there is none, keep them for the first."""
    if not drafts:
        early += positions
    elif positions or early:
        last = drafts[-1]
        last.ends_cited = ends and not (last.markers or early)
        last.markers += [*early, *positions]
        early.clear()


def _claim_of(draft: _Draft, markers: Sequence[MarkerEvent]) -> Claim:
    positions = tuple(sorted(draft.markers))
    whole = len(positions) == sum(len(clause.markers) for clause in draft.clauses)  # else others were handed to it
    return Claim(draft.start, draft.end, draft.text, draft.kind, positions, _cited(positions, markers), (), draft.clauses if whole else ())


def _clause_of(plain: Plain, span: ClauseSpan, markers: Sequence[MarkerEvent]) -> Claim:
    cited = _cited(span.markers, markers)
    return Claim(plain.origin(span.start), plain.origin(span.end - 1) + 1, span.text, "clause", span.markers, cited)


def _cited(positions: Sequence[int], markers: Sequence[MarkerEvent]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(number for position in positions for number in markers[position].numbers))


def _drafts_of(plain: Plain, part: Part) -> Iterator[tuple[_Draft | None, list[int]]]:
    """The claims of a part, each with the markers it holds; None where a stretch holds only markers or a label of theirs."""
    if part.kind in ("row", "heading"):
        text = _row_text(plain) if part.kind == "row" or "|" in plain.text else spoken(plain, 0, len(plain.text))
        inside = _INSIDE.search(plain.text)
        low, high = inside.span() if inside is not None else (0, 0)
        kind: ClaimKind = "row" if part.kind == "row" else "lead_in" if text.endswith(":") else "heading"
        yield _draft(plain, low, high, text, kind, plain.markers), [position for _, position in plain.markers]
        return
    spans = [span for low, high in sentence_spans(plain.text) for span in _cut(plain, low, high)]
    owned = _owners(plain, spans)
    for (low, high), held in zip(spans, owned, strict=True):
        text = spoken(plain, low, high)
        yield _draft(plain, low, high, text, _kind_of(text, part), held), [position for _, position in held]
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


def _draft(plain: Plain, low: int, high: int, text: str, kind: ClaimKind, held: Sequence[tuple[int, int]]) -> _Draft | None:
    if not any(map(str.isalnum, text)) or SOURCES_LABEL.match(text) or _ASIDE.fullmatch(text) or (not held and is_small_talk(text)):
        return None
    ends = bool(held) and not any(map(str.isalnum, plain.text[held[0][0] : high].replace(STAND_IN, "")))
    return _Draft(plain.origin(low), plain.origin(high - 1) + 1, text, kind, find_clauses(plain, low, high, held), ends_cited=ends)


def _row_text(plain: Plain) -> str:
    cells = (cell.strip() for cell in spoken(plain, 0, len(plain.text)).split("|"))
    return " | ".join(cell for cell in cells if cell)


def _kind_of(text: str, part: Part) -> ClaimKind:
    mark = text.rstrip(_CLOSERS)[-1:]
    if mark in ("?", "？", "؟"):
        return "question"
    if mark in (":", "：") or only_leads(text):
        return "lead_in"
    return "item" if part.kind == "item" else "sentence"


def _owners(plain: Plain, spans: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """For each sentence the markers that belong to it, as (place, position)."""
    starts = [low for low, _ in spans]
    first = plain.markers[0][0] if plain.markers and spans else -1
    if first == (starts[0] if spans else 0) and plain.text[first] == STAND_IN:
        led = _owned(plain, starts, behind=False)
        return led if led[-1] else _owned(plain, starts, behind=True)  # "[1] The desk … [2] Parking …"
    return _owned(plain, starts, behind=False)


def _owned(plain: Plain, starts: list[int], *, behind: bool) -> list[list[tuple[int, int]]]:
    """The markers of each sentence; one between two belongs to the first, or to the one `behind` it."""
    owned: list[list[tuple[int, int]]] = [[] for _ in starts]
    for place, position in plain.markers if starts else ():
        solid = _SOLID.search(plain.text, place) if behind else None
        at = bisect_right(starts, solid.start() if solid else place) - 1
        if not behind and starts[at] == place and plain.text[place] != STAND_IN:
            at -= 1  # "… 20.00 uur. [1]De …": it closes the sentence before
        owned[max(at, 0)].append((place, position))
    return owned
