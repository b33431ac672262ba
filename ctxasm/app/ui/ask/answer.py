"""An answer as it is read: cards of the context, the answer in pieces and lines, its claims with what to mark for each. Pure.

Texts are as they came: whoever draws them escapes them, or sets them as text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise
from typing import Literal, NamedTuple

from ctxasm.app.ui.ask.verdict_words import claim_sentence
from ctxasm.app.ui.widgets.context_marks import Run, also_in, runs
from ctxasm.app.ui.widgets.expected import MARK, NONE_EXPECTED, Expected
from ctxasm.app.ui.words.words import number, title_of
from ctxasm.citations.checked import (
    CITATION,
    FINE,
    SUPPORT,
    WORST,
    CheckedClaim,
    Part,
    Shown,
    Support,
    is_carried,
    label,
    parts_of,
    sign,
    support_of,
    words,
)
from ctxasm.citations.figures import cited_passages, unused_passages
from ctxasm.citations.markers import SILENT, ResolvedMarker
from ctxasm.citations.report import DECLINED, CheckedAnswer, is_declined_answer
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly, Key
from ctxasm.model.support import Conflict
from ctxasm.text.sentences import sentence_spans

SpanKind = Literal["support", "part", "better", "summary", "clash", "unused", "nearest", "cited"]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CardPart:
    """Characters `start` to `end` of the context, of one look. `opens`: its chunk begins here."""

    text: str
    start: int
    end: int
    kind: str
    chunk: int | None = None
    added: bool = False
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A block of the context. `number` None: text that no marker names. `about`: its date, and what else says the same."""

    number: int | None
    title: str
    about: str
    parts: tuple[CardPart, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Text of the answer. `claim` is the position of the claim that it belongs to; `clash`: the words that a source contradicts."""

    text: str
    claim: int | None = None
    clash: bool = False


@dataclass(frozen=True, slots=True)
class Chip:
    """A number of a marker as it is drawn. `claim` is the position of its claim; `part` is what it is worth, empty: not checked (yet).

    `mark` is the sign of that: `✓`, or `→3` where another source holds the claim. `spoken` is for a screen reader. `stale` says what
    the number would have meant, had the list been built before assembly and were that wrong.
    """

    label: str
    number: int | None
    known: bool
    part: Part | Literal[""] = ""
    mark: str = ""
    spoken: str = ""
    stale: str = ""
    claim: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the answer: all that belongs to its claim, or what states nothing (`claim` None), such as a heading."""

    claim: int | None
    pieces: tuple[Stretch | Chip, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of the context that speak for a claim (clash: against it), in block `number`; or that no claim uses.

    `low` to `high` is the passage to read. `where`: section and page of the chunk that it begins in; `added`: an added neighbour (None: not
    known, as of what Review outlines in a source: "cited").
    """

    number: int
    start: int
    end: int
    kind: SpanKind
    added: bool | None
    low: int
    high: int
    where: str


@dataclass(frozen=True, slots=True)
class SourceName:
    """A block by its number and title."""

    number: int
    title: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that a claim stands on by what it cites: its name, what a click on its button says, and whether the question expects it.

    `fixed`: the labels of the data expect it, and a click does not change that.
    """

    title: str
    click: str
    expected: bool
    fixed: bool


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim: what it is counted under, worst first, and what it is called. `says` why it is not simply carried; `sources` are the
    blocks that its spans stand in, else those that it cites; `passages` the chunks that it stands on by what it cites."""

    parts: tuple[Shown, ...]
    sign: str
    name: str
    says: str
    spans: tuple[Span, ...]
    sources: tuple[SourceName, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Claims to show: those counted under one part, or all of them (empty)."""

    label: str
    part: Shown | Literal[""] = ""
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Before:
    """What would be wrong had citations been built before assembly: a sentence, and what each number would have meant."""

    says: str
    which: tuple[str, ...]


class Judged(NamedTuple):
    """What one citation of a claim is worth, and the source that holds the claim instead. A marker that several claims share shows the
    worst of theirs."""

    part: Part
    better: int | None = None


# The sources


def context_cards(assembly: Assembly, cuts: Iterable[int] = ()) -> tuple[Card, ...]:
    """All blocks in order; the texts of all pieces join to the text of the context but for blanks between blocks.

    Every cut is an edge of a piece.
    """
    edges = sorted(set(cuts))
    blocks: list[tuple[int | None, list[CardPart]]] = []
    at = 0
    for run in runs(assembly):
        if not blocks or (run.block is not None and run.block != blocks[-1][0]):
            blocks.append((run.block, []))
        blocks[-1][1].extend(_card_parts(run, at, edges))
        at += len(run.text)
    return tuple(_card(assembly, block, parts) for block, parts in blocks)


def _card_parts(run: Run, at: int, edges: Sequence[int]) -> list[CardPart]:
    inner = edges[bisect_right(edges, at) : bisect_left(edges, at + len(run.text))]
    bounds = [at, *inner, at + len(run.text)]
    return [
        CardPart(run.text[low - at : high - at], low, high, run.kind, run.chunk_index, run.added, run.opens and low == at)
        for low, high in pairwise(bounds)
    ]


def _card(assembly: Assembly, block: int | None, parts: Sequence[CardPart]) -> Card:
    while len(parts) > 1 and not parts[-1].text.strip():
        parts = parts[:-1]
    citation = next((citation for citation in assembly.citations if citation.number == block), None)
    if citation is None:
        return Card(None, "Outside the sources", "", tuple(parts))
    documents = assembly.trace.documents
    document = documents.get(citation.document_id)
    about = [document.date] if document is not None and document.date else []
    about += [f"also in {place.title}{f' ({place.label})' if place.label else ''}" for place in also_in(assembly, citation)]
    return Card(citation.number, title_of(documents, citation.document_id, 90), " · ".join(about), tuple(parts))


def block_starts(assembly: Assembly) -> dict[int, int]:
    """Where each block begins in the context."""
    starts: dict[int, int] = {}
    for segment in assembly.segments:
        if segment.block is not None:
            starts.setdefault(segment.block, segment.start)
    return starts


def sources_html(cards: Sequence[Card]) -> str:
    """The sources by number and title, for the time in which an answer comes in."""
    items = "".join(f"<li><b>{card.number}</b> {escape(card.title)}</li>" for card in cards if card.number is not None)
    return f'<div class="cx"><ul class="cx-sources" aria-label="Sources">{items}</ul></div>'


AROUND = 3
"""Sentences on either side of what is marked."""
LONGEST_BEFORE, LONGEST_AFTER = 400, 600
"""Characters on either side, where sentences are long (a table, a list without full stops): the mark stays near the head of its source."""


def passages(assembly: Assembly) -> Callable[[int, int, int], Range]:
    """A function from (block, start, end) of a mark to the passage around it; each block is cut into sentences once."""

    @cache
    def sentences(block: int) -> tuple[Range, ...]:
        chunks = [segment for segment in assembly.segments if segment.block == block and segment.kind not in ("header", "prefix")]
        if not chunks:
            return ()
        low = chunks[0].start
        return tuple((low + start, low + end) for start, end in sentence_spans(assembly.text[low : chunks[-1].end]))

    return lambda block, start, end: around(sentences(block), assembly.text, start, end)


def around(sentences: tuple[Range, ...], text: str, start: int, end: int) -> Range:
    """From the third sentence before the mark to the third after it; at a blank where that would be too far."""
    if not sentences:
        return start, end
    first = bisect_right(sentences, start, key=lambda span: span[1])
    last = bisect_left(sentences, end, key=lambda span: span[0]) - 1
    low = min(start, sentences[max(0, min(first, len(sentences) - 1) - AROUND)][0])
    high = max(end, sentences[min(len(sentences) - 1, max(last, 0) + AROUND)][1])
    if start - low > LONGEST_BEFORE:
        low = text.find(" ", start - LONGEST_BEFORE, start) + 1 or start
    if high - end > LONGEST_AFTER:
        high = max(end, text.rfind(" ", end, end + LONGEST_AFTER))
    return low, high


def answer_pieces(
    answer: str,
    markers: Sequence[ResolvedMarker],
    claims: Sequence[CheckedClaim] = (),
    stale: Mapping[int, str] | None = None,
    end: int | None = None,
    threshold: float = 1.0,
) -> list[Stretch | Chip]:
    """The answer up to `end` (default: all) as stretches and chips; the stretches join to the answer without its markers.

    `threshold` is that of the check that judged the claims.
    """
    end = len(answer) if end is None else end
    shown = [(at, marker) for at, marker in enumerate(markers) if marker.marker.end <= end and marker.marker.form not in SILENT]
    starts = {marker.marker.start: (at, marker) for at, marker in shown}
    clashes = [span for claim in claims if (span := _clash(answer, claim))]
    cuts = {0, end} | {x for _, m in shown for x in (m.marker.start, m.marker.end)} | {x for span in clashes for x in span}
    cuts |= {x for c in claims for x in (c.claim.start, c.claim.end)}
    pieces: list[Stretch | Chip] = []
    inside = 0
    for low, high in pairwise(sorted(cut for cut in cuts if 0 <= cut <= end)):
        if low in starts:
            at, marker = starts[low]
            inside = marker.marker.end
            pieces += _chips(at, marker, claims, stale or {}, threshold)
        if low >= inside:
            owner = next((n for n, c in enumerate(claims) if c.claim.start <= low and high <= c.claim.end), None)
            clash = any(first <= low and high <= last for first, last in clashes)
            pieces.append(Stretch(answer[low:high], owner, clash))
    return pieces


def _clash(answer: str, checked: CheckedClaim) -> tuple[int, int] | None:
    """Where the words of the claim stand that a source contradicts."""
    conflict = checked.disputed.conflict if checked.disputed else checked.conflict
    if conflict is None or not conflict.claim.strip():
        return None
    pattern = r"\s+".join(re.escape(word) for word in conflict.claim.split())
    found = re.compile(pattern, re.IGNORECASE).search(answer, checked.claim.start, checked.claim.end)
    return found.span() if found else None


def _chips(
    at: int, resolved: ResolvedMarker, claims: Sequence[CheckedClaim], stale: Mapping[int, str], threshold: float
) -> list[Stretch | Chip]:
    owners = [(n, claim) for n, claim in enumerate(claims) if at in claim.claim.markers]
    owner = owners[0][0] if owners else None
    numbers = (*resolved.known, *resolved.unknown)
    if not numbers:
        return [_chip(resolved.marker.text, None, False, owner)]
    judged = {cited: [judged_citation(cited, claim, threshold) for _, claim in owners] for cited in numbers}
    worst = {cited: min(worth, key=lambda one: WORST.index(one.part), default=None) for cited, worth in judged.items()}
    return [_chip(str(cited), cited, cited in resolved.known, owner, worst[cited], stale.get(cited, "")) for cited in numbers]


def _chip(label: str, cited: int | None, known: bool, claim: int | None, judged: Judged | None = None, stale: str = "") -> Chip:
    name = f"Source {cited}" if cited is not None else f"Marker {label}"
    if judged is None:
        return Chip(label, cited, known, spoken=name if known else f"{name}, unknown number", stale=stale, claim=claim)
    mark = f"→{judged.better}" if judged.better else sign(judged.part)
    instead = f", found in {judged.better}" if judged.better else ""
    return Chip(label, cited, known, judged.part, mark, f"{name}, {words(judged.part)}{instead}", stale, claim)


def judged_citation(number: int, checked: CheckedClaim, threshold: float) -> Judged:
    """What the citation of source `number` by this claim is worth."""
    if number in checked.unknown:
        return Judged("dropped" if any(source.number == number for source in checked.dropped) else "unknown")
    for clause in checked.clauses:
        if number in clause.claim.cited:
            return judged_citation(number, clause, threshold)
    if checked.disputed is not None and checked.disputed.number == number:
        return Judged("disputed")
    carries = any(found.number == number for found in checked.support)
    if checked.verdict == "contradicted" and (checked.conflict is None or checked.conflict.number == number):
        return Judged("contradicted")
    if number in checked.idle or checked.verdict == "elsewhere":
        return Judged("wrong_number", checked.better) if checked.better is not None else Judged("not_found")
    if carries:
        return Judged("right" if support_of(checked, threshold) == "full" else "partly")
    return Judged("right" if checked.verdict == "supported" else "not_found")


def stale_numbers(assembly: Assembly) -> dict[int, str]:
    """The citation numbers that would mean another document, or none, had the list been built before assembly; and what they would."""
    before = {entry.number: entry.document_id for entry in assembly.trace.before_assembly}
    stale: dict[int, str] = {}
    for citation in assembly.citations:
        would = before.get(citation.number)
        if would is None:
            stale[citation.number] = f"[{citation.number}] would have pointed to nothing"
        elif would not in {citation.document_id, *(document_id for document_id, _ in citation.also_in)}:
            stale[citation.number] = f"[{citation.number}] would have pointed to “{title_of(assembly.trace.documents, would, 60)}”"
    return stale


def before_assembly(chips: Sequence[Chip]) -> Before:
    """How many chips would be wrong had citations been built before assembly: a sentence, and what each number would have meant."""
    known = [chip for chip in chips if chip.known]
    wrong = [chip for chip in known if chip.stale]
    if not known:
        says = "The answer cites no source."
    elif not wrong:
        says = f"All {len(known)} citations would point to the same documents." if len(known) > 1 else "The one citation would be right."
    else:
        says = f"{len(wrong)} of {len(known)} citations would be wrong."
    return Before(says, tuple(dict.fromkeys(chip.stale for chip in wrong)))


def checked_pieces(checked: CheckedAnswer, stale: Mapping[int, str]) -> list[Stretch | Chip]:
    """The pieces of a checked answer."""
    return answer_pieces(checked.answer, checked.markers, checked.claims, stale, threshold=checked.threshold)


_LIST_MARK = re.compile(r"\A\s*(?:[-*•+>|]+|#{1,6}|\d{1,3}[.)])(?=\s|\Z)[\s|]*")
_WORD = re.compile(r"\w")
_CLOSING = re.compile(r"[^\w\s|*#>•+-]+")


def answer_lines(pieces: Sequence[Stretch | Chip]) -> tuple[Line, ...]:
    """A line for each claim, and for each line of what states nothing; marks of lists and tables between them are left out."""
    lines: list[tuple[int | None, list[Stretch | Chip]]] = []
    for piece in pieces:
        if isinstance(piece, Stretch) and piece.claim is None:
            _aside(lines, piece.text)
        elif not lines or (piece.claim is not None and (lines[-1][0] is None or piece.claim > lines[-1][0])):
            # A chip that an earlier claim owns as well stays on the line that it stands behind.
            lines.append((piece.claim, [piece]))
        else:
            lines[-1][1].append(piece)
    return tuple(Line(claim, tuple(own)) for claim, own in lines)


def _aside(lines: list[tuple[int | None, list[Stretch | Chip]]], text: str) -> None:
    """Add text between claims: words on lines of their own, the mark that closes a claim behind it."""
    for at, part in enumerate(text.split("\n")):
        said = part if at == 0 and lines else _LIST_MARK.sub("", part)
        if not _WORD.search(said):
            if lines and at == 0 and (closing := _CLOSING.search(said)):
                lines[-1][1].append(Stretch(closing[0], lines[-1][0]))
        elif at == 0 and lines and lines[-1][0] is None:
            lines[-1][1].append(Stretch(said))
        else:
            lines.append((None, [Stretch(said.strip(" |"))]))


class _Context(NamedTuple):
    """An assembly as its marks are looked up in it."""

    assembly: Assembly
    starts: dict[int, int]
    passage: Callable[[int, int, int], Range]

    def span_at(self, start: int, end: int, kind: SpanKind) -> Span:
        return self.span(next(s.block or 0 for s in self.assembly.segments if s.kind == "chunk" and s.end > start), start, end, kind)

    def span(self, number: int, start: int, end: int, kind: SpanKind) -> Span:
        held = next((s for s in self.assembly.segments if s.kind == "chunk" and s.end > start and s.start < end), None)
        key = (held.document_id or "", held.chunk_index or 0) if held else None
        candidate = self.assembly.trace.candidates.get(key) if key else None
        low, high = self.passage(number, start, end)
        if candidate is None:
            return Span(number, start, end, kind, False, low, high, "page summary" if kind == "summary" else "")
        chunk = candidate.chunk
        where = [chunk.section or "", f"page {chunk.page_number}" if chunk.page_number is not None else ""]
        return Span(number, start, end, kind, not candidate.retrieved, low, high, " · ".join(filter(None, where)))


def _context(assembly: Assembly) -> _Context:
    return _Context(assembly, block_starts(assembly), passages(assembly))


def claim_rows(checked: CheckedAnswer, assembly: Assembly, expected: Expected = NONE_EXPECTED) -> tuple[ClaimRow, ...]:
    """A row per checked claim, in the order of the answer."""
    context = _context(assembly)
    return tuple(_row(claim, checked, context, expected) for claim in checked.claims)


def unused_spans(checked: CheckedAnswer, assembly: Assembly) -> tuple[Span, ...]:
    """The expected passages in the context that the answer does not use. Of one that declines where none is expected, what is nearest
    to the question: the sentence that shares most of its words, else the best hit."""
    context = _context(assembly)
    if not checked.passages.expected and is_declined_answer(checked):
        near = nearest_passage(assembly)
        return (context.span_at(*near, "nearest"),) if near else ()
    return tuple(context.span_at(*place, "unused") for place in unused_passages(assembly, checked) if place is not None)


def nearest_passage(assembly: Assembly) -> Range | None:
    """Where in the context the answer to its question would be looked for first."""
    from ctxasm.llm.extractive import quotes_of

    if quotes := quotes_of(assembly):
        return max(quotes, key=lambda quote: sum(quote.parts))[:2]
    best = {(hit.document_id, hit.chunk_index): rank for rank, hit in enumerate(assembly.query.retrieved)}
    chunks = [segment for segment in assembly.segments if segment.kind == "chunk"]
    found = [(best[key], one.start, one.end) for one in chunks if (key := (one.document_id or "", one.chunk_index or 0)) in best]
    return min(found)[1:] if found else None


def _row(claim: CheckedClaim, answer: CheckedAnswer, context: _Context, expected: Expected) -> ClaimRow:
    documents = context.assembly.trace.documents
    spans, parts = _spans(claim, context, answer), parts_of(claim, answer) or (DECLINED,)
    titles = {citation.number: title_of(documents, citation.document_id) for citation in context.assembly.citations}
    named = dict.fromkeys(span.number for span in spans) or dict.fromkeys(n for n in claim.claim.cited if n in titles)
    return ClaimRow(
        parts,
        sign(parts[0]),
        label(claim, answer),
        "" if FINE.issuperset(parts_of(claim, answer)) else claim_sentence(claim, lambda key: title_of(documents, key), answer.threshold),
        spans,
        tuple(SourceName(cited, titles.get(cited, "")) for cited in named),
        tuple(_passage(key, context.assembly, expected) for key in cited_passages(context.assembly, claim)),
    )


def _passage(key: Key, assembly: Assembly, expected: Expected) -> Passage:
    title = f"{title_of(assembly.trace.documents, key[0])}, chunk {key[1]}"
    return Passage(title, json.dumps((*key, MARK)), expected.holds(key), key in expected.spanned and key not in expected.marked)


def _spans(claim: CheckedClaim, context: _Context, answer: CheckedAnswer) -> tuple[Span, ...]:
    """What may be marked for a claim: nothing that its scorer did not find."""
    carries: SpanKind = "support" if is_carried(claim, answer) else "part"
    spans = [_span(found, carries, context) for found in claim.support]
    spans += [_span(claim.summary_support, "summary", context)] if claim.summary_support else []
    spans += [_span(claim.better_support, "better", context)] if claim.better_support else []
    if claim.disputed is not None:
        spans += [_clash_span(claim.disputed.conflict, context), _span(claim.disputed.support, "part", context)]
    elif claim.conflict is not None and claim.verdict == "contradicted" and (clash := _clash_span(claim.conflict, context)):
        # Of what is like the claim only the stretch that contradicts it: the rest would speak for a claim that is wrong.
        near = [span for span in spans if span and (span.kind == "better" or (span.start < clash.end and clash.start < span.end))]
        spans = [*near, clash]
    return tuple(span for span in dict.fromkeys(spans) if span is not None)


def _clash_span(conflict: Conflict, context: _Context) -> Span | None:
    """The words of a source that a claim stands against."""
    if conflict.number not in context.starts or conflict.start >= conflict.end:
        return None
    offset = context.starts[conflict.number]
    return context.span(conflict.number, offset + conflict.start, offset + conflict.end, "clash")


def _span(found: Support, kind: SpanKind, context: _Context) -> Span | None:
    if found.context_start is None or found.context_end is None or found.context_start >= found.context_end:
        return None
    return context.span(found.number, found.context_start, found.context_end, kind)


def choices(rows: Sequence[ClaimRow]) -> tuple[Choice, ...]:
    """All claims, and one choice for each part that occurs: the head line of an answer, unless it states nothing or declines.

    A number that is right is what is expected, and no choice.
    """
    order: tuple[Shown, ...] = (*SUPPORT, "disputed", *CITATION[1:], DECLINED)
    counts = {part: sum(part in row.parts for row in rows) for part in order}
    each = [Choice(f"{number(count)} {_part_name(part)}", part, sign(part)) for part, count in counts.items() if count]
    return (Choice(counted(len(rows), "claim")), *each) if len(rows) > counts[DECLINED] else ()


def _part_name(part: Shown) -> str:
    return part if part == "declined" else words(part)
