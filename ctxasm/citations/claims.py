"""The claims of an answer, and which claim each marker covers.

A claim is a sentence of prose or of a list item, a line that ends in a marker, or a row of a table. A marker belongs to the
sentence it stands in or straight after, before or behind the full stop; at the beginning of a line, or as a word of its
sentence ("[1] says that …"), to the one it begins; alone, to the last claim before it. In a paragraph that begins with a
marker and does not end in one, every marker belongs to the sentence behind it. Code, thinking, lists of sources and small talk
hold no claims.

*Clauses*: a sentence with several markers is cut between two of them where a clause or an item begins: straight after the first marker,
at a comma, a semicolon, a dash, a bar or a joining word, else at the last such place before the second one. No cut is made where one side
would say nothing, and none between markers that no such place parts: those are several sources of one statement. A clause keeps only its
own words; only a list of names is given the words behind its last marker.

*Inherited*: a marker at the end of a paragraph, a quote or a list item covers the sentences before it, back to the one that cites; at the
end of a list or a table that cites nowhere else, all of it; in a heading or a lead-in, what follows. Nothing is inherited by a claim that
cites for itself, or that states nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import NamedTuple

from ctxasm.citations.answer_text import (
    ATTRIBUTED,
    SOURCES_LABEL,
    STAND_IN,
    Part,
    Plain,
    find_parts,
    is_small_talk,
    only_leads,
    read_plain,
    spoken,
    unmarked,
)
from ctxasm.citations.checked import Claim, ClaimKind
from ctxasm.citations.markers import MarkerEvent
from ctxasm.text.sentences import BEGINNERS, SMALL_WORDS, sentence_spans


def inherit(claims: Sequence[Claim], ends_cited: Sequence[bool], of_part: Sequence[int], parts: Sequence[Part]) -> tuple[Claim, ...]:
    """The claims with the numbers that they inherit.

    For each claim: whether its markers are one run at its end, and the number of the part it stands in. Linear in the number of claims.
    """
    block_of = _blocks(parts)
    numbers: list[tuple[int, ...]] = [()] * len(claims)

    def give(place: int, cited: tuple[int, ...]) -> None:
        if claims[place].states and not claims[place].markers and not numbers[place]:
            numbers[place] = cited

    for low, high in _grouped(list(of_part)):
        if ends_cited[high - 1] and claims[high - 1].states:
            for place in range(high - 2, low - 1, -1):
                if claims[place].markers:
                    break
                give(place, claims[high - 1].cited)
    for low, high in _grouped([block_of[part] for part in of_part]):
        lone = not any(claims[place].markers for place in range(low, high - 1))
        if lone and ends_cited[high - 1] and claims[high - 1].kind in ("item", "row"):
            for place in range(low, high - 1):
                give(place, claims[high - 1].cited)
    for place, cited in _headed(claims, of_part, block_of, parts):
        give(place, cited)
    return tuple(claim._replace(inherited=cited) if cited else claim for claim, cited in zip(claims, numbers, strict=True))


def _blocks(parts: Sequence[Part]) -> list[int]:
    """For each part the number of its block: the items of a list are one, the rows of a table are one, any other part is its own."""
    numbers: list[int] = []
    for at, part in enumerate(parts):
        same = at > 0 and part.kind in ("item", "row") and parts[at - 1].kind == part.kind
        numbers.append(numbers[-1] + (not same) if numbers else 0)
    return numbers


def _grouped(keys: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Stretches of equal keys."""
    low = 0
    for at in range(1, len(keys) + 1):
        if at == len(keys) or keys[at] != keys[low]:
            yield low, at
            low = at


def _headed(
    claims: Sequence[Claim], of_part: Sequence[int], block_of: Sequence[int], parts: Sequence[Part]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Claims behind a heading, a header of a table or a lead-in, with what it cites; what stands nearest comes first."""
    heading, header, lead = _Head(), _Head(), _Head()
    for place, claim in enumerate(claims):
        part = of_part[place]
        block = block_of[part]
        if parts[part].kind == "heading" and part + 1 < len(parts) and parts[part + 1].kind == "row":
            header = _Head(claim.cited, block_of[part + 1])
        elif parts[part].kind == "heading":
            heading, lead = _Head(claim.cited), _Head()
        elif claim.kind == "lead_in" and claim.markers:
            lead = _Head(claim.cited)
        elif claim.states:
            lead = lead._replace(block=block) if lead.cited and lead.block is None else lead
            for head in (header, lead):
                if head.cited and head.block == block:
                    yield place, head.cited
            if heading.cited:
                yield place, heading.cited


class _Head(NamedTuple):
    """What a heading or a lead-in cites; `block` is the one that it covers, None where that is not known or not limited."""

    cited: tuple[int, ...] = ()
    block: int | None = None


_ADDING = (
    r"(?:and|or|but|also|while|whereas|although|though|which|who|so|then|yet|plus|en|of|maar|ook|terwijl|hoewel|die|dat|wat|dus|"
    r"und|oder|aber|auch|sondern|während|obwohl|wobei|der|die|das|welche[rs]?|sowie)\b"
)
_RELATING = (
    r"(?:whose|where|when|because|since|as|after|before|until|if|unless|"
    r"waar|want|omdat|doordat|zodat|toen|nadat|voordat|tot|als|tenzij|"
    r"wo|weil|da|denn|sodass|nachdem|bevor|bis|wenn)\b"
)
"""These say something themselves, so a clause keeps them."""
_JOINT = re.compile(rf"\s*(?:(?:[,;:|–—]+(?=\s)|(?<=\s)\()\s*(?:{_ADDING}\s*)*|(?:{_ADDING}\s*)+|(?={_RELATING}))", re.IGNORECASE)
_COORDINATING = r"(?:and|but|while|whereas|en|maar|terwijl|und|aber|während|sowie)\b"
_LATER_JOINT = re.compile(rf"\s*(?:[;|]\s*|,\s+(?={_ADDING}|{_RELATING})|\s[–—]\s+|\s(?={_COORDINATING}))(?:{_ADDING}\s*)*", re.IGNORECASE)
_NOT_ONLY = re.compile(r"\A(?:(?:not only|niet alleen|nicht nur)\s+|(?:while|terwijl)\s+)", re.IGNORECASE)
_ENUMERATES = re.compile(r"\s*,?\s*\b(?:and|or|en|of|und|oder)\b", re.IGNORECASE)
_WORD = re.compile(rf"[^\W_{STAND_IN}]+")
_LOOK = 400
"""How far around a joint words are looked for, in characters."""
_JOINING = frozenset(re.findall(r"\w+", f"{_ADDING} {_RELATING} not only niet alleen nicht nur"))
_SMALL = _JOINING.union(*SMALL_WORDS.values())


class ClauseSpan(NamedTuple):
    """Characters `start` to `end` of a plain text, what they say, and the positions of their markers."""

    start: int
    end: int
    text: str
    markers: tuple[int, ...]


def find_clauses(plain: Plain, low: int, high: int, markers: Sequence[tuple[int, int]]) -> tuple[ClauseSpan, ...]:
    """The clauses of the sentence from `low` to `high`, at least two, or none. `markers`: its own, (place, position), ascending.

    Together the clauses hold every marker, each once. Linear in the length of the sentence.
    """
    runs = [(min(place, high), tuple(position for _, position in run)) for place, run in groupby(markers, lambda marker: marker[0])]
    if len(runs) < 2:
        return ()
    spans, held, start = list[tuple[int, int, tuple[int, ...]]](), tuple[int, ...](), low
    for (place, positions), (following, _) in pairwise(runs):
        held += positions
        cut = _cut_between(plain.text, start, place, following, high)
        if cut is not None:
            spans.append((start, start + len(plain.text[start : cut[0]].rstrip()), held))
            start, held = cut[1], ()
    if not spans:
        return ()
    spans.append((start, high, held + runs[-1][1]))
    behind = runs[-1][0] if _words(plain.text, start, runs[-1][0]) and _words(plain.text, runs[-1][0], high) else None
    clauses = tuple(_written(plain, spans, None if behind is None else (behind, high)))
    return clauses if all(any(map(str.isalnum, clause.text)) for clause in clauses) else ()


def _cut_between(text: str, start: int, place: int, following: int, high: int) -> tuple[int, int] | None:
    """Where the clause that begins at `start` ends, and where the next one begins, between two markers; None where it goes on."""
    if joint := _JOINT.match(text, place, high):
        words = _words(text, start, place, from_end=True)
        last = following if _words(text, place, following) else high
        alone = len(words) == 1 and not _ENUMERATES.match(text, place)  # "However [1], …"
        if words and not alone and _words(text, joint.end(), last):
            return place, joint.end()
    found = None
    for later in _LATER_JOINT.finditer(text, place, following):
        if found is not None or (_words(text, place, later.start()) and _words(text, start, later.start(), from_end=True)):
            found = later.start(), later.end()
    return found if found is not None and _words(text, found[1], high) else None


def _words(text: str, low: int, high: int, *, from_end: bool = False) -> list[str]:
    """The words of the beginning of a stretch, or of its end; none where there is nothing but small words."""
    high, low = (high, max(low, high - _LOOK)) if from_end else (min(high, low + _LOOK), low)
    words = [] if from_end and ATTRIBUTED.search(text, low, high) else _WORD.findall(text, low, high)
    return words if any(word.lower() not in _SMALL for word in words) else []


def _written(plain: Plain, spans: Sequence[tuple[int, int, tuple[int, ...]]], shared: tuple[int, int] | None) -> Iterator[ClauseSpan]:
    places = {position: place for place, position in plain.markers}
    names = shared is not None and all(_is_name(plain.text[low:high]) for low, high, _ in spans[:-1])
    for at, (start, end, positions) in enumerate(spans):
        text = spoken(plain._replace(markers=[(places[position], position) for position in positions]), start, end)
        text = _NOT_ONLY.sub("", text)
        if names and shared and at < len(spans) - 1:
            text = unmarked(f"{text} {plain.text[shared[0] : shared[1]]}")
        yield ClauseSpan(start, end, " | ".join(cell for cell in map(str.strip, text.split("|")) if cell), positions)


def _is_name(text: str) -> bool:
    """Whether every word that is not small begins with a capital letter."""
    return all(word[:1].isupper() for word in _WORD.findall(text) if word.lower() not in _SMALL)


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
