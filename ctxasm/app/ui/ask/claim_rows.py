"""The claims of a checked answer: why each has its verdict, which source to read, what to mark there and how much around it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from ctxasm.app.ui.ask.context_cards import block_starts
from ctxasm.app.ui.ask.passages import Passage, passages
from ctxasm.app.ui.words.verdict_words import Shown, claim_sentence, sign
from ctxasm.app.ui.words.words import number, title_of
from ctxasm.citations.axes import CITATION, FINE, SUPPORT, is_carried, label, parts_of, words
from ctxasm.citations.checked import CheckedClaim, Support
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.citations.summary import DECLINED
from ctxasm.citations.used_passages import cited_passages
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly, Key
from ctxasm.model.support import Conflict

SpanKind = Literal["support", "part", "better", "summary", "clash"]


class MarkedSpan(NamedTuple):
    """Characters `start` to `end` of the context that speak for a claim (clash: against it), in block `number`.

    `low` to `high` is the passage to read. `where`: section and page of the chunk that it begins in; `added`: an added neighbour.
    """

    number: int
    start: int
    end: int
    kind: SpanKind
    added: bool
    low: int
    high: int
    where: str


class ClaimRow(NamedTuple):
    """One claim: what it is counted under, worst first, and what it is called. `says` why it is not simply carried; `sources` are the
    blocks that its spans stand in, else those that it cites; `passages` the chunks that it stands on by what it cites."""

    parts: tuple[Shown, ...]
    name: str
    says: str
    spans: tuple[MarkedSpan, ...]
    sources: tuple[tuple[int, str], ...]
    passages: tuple[Key, ...] = ()


class _Context(NamedTuple):
    """An assembly as its marks are looked up in it."""

    assembly: Assembly
    starts: dict[int, int]
    passage: Callable[[int, int, int], Passage]

    def span(self, number: int, start: int, end: int, kind: SpanKind) -> MarkedSpan:
        held = next((s for s in self.assembly.segments if s.kind == "chunk" and s.end > start and s.start < end), None)
        key = (held.document_id or "", held.chunk_index or 0) if held else None
        candidate = self.assembly.trace.candidates.get(key) if key else None
        low, high = self.passage(number, start, end)
        if candidate is None:
            return MarkedSpan(number, start, end, kind, False, low, high, "page summary" if kind == "summary" else "")
        chunk = candidate.chunk
        where = [chunk.section or "", f"page {chunk.page_number}" if chunk.page_number is not None else ""]
        return MarkedSpan(number, start, end, kind, not candidate.retrieved, low, high, " · ".join(filter(None, where)))


def claim_rows(checked: CheckedAnswer, assembly: Assembly) -> tuple[ClaimRow, ...]:
    """A row per checked claim, in the order of the answer."""
    context = _Context(assembly, block_starts(assembly), passages(assembly))
    return tuple(_row(claim, checked, context) for claim in checked.claims)


def _row(claim: CheckedClaim, answer: CheckedAnswer, context: _Context) -> ClaimRow:
    documents = context.assembly.trace.documents
    spans, parts = _spans(claim, context, answer), parts_of(claim, answer)
    titles = {citation.number: title_of(documents, citation.document_id) for citation in context.assembly.citations}
    named = dict.fromkeys(span.number for span in spans) or dict.fromkeys(n for n in claim.claim.cited if n in titles)
    return ClaimRow(
        parts or (DECLINED,),
        label(claim, answer),
        "" if FINE.issuperset(parts) else claim_sentence(claim, lambda key: title_of(documents, key), answer.threshold),
        spans,
        tuple((number, titles.get(number, "")) for number in named),
        cited_passages(context.assembly, claim),
    )


def _spans(claim: CheckedClaim, context: _Context, answer: CheckedAnswer) -> tuple[MarkedSpan, ...]:
    """What may be marked for a claim: nothing that its scorer did not find."""
    carries: SpanKind = "support" if is_carried(claim, answer) else "part"
    spans = [_span(found, carries, context) for found in claim.support]
    spans += [_span(claim.summary_support, "summary", context)] if claim.summary_support else []
    spans += [_span(claim.better_support, "better", context)] if claim.better_support else []
    if claim.disputed is not None:
        spans += [_clash(claim.disputed.conflict, context), _span(claim.disputed.support, "part", context)]
    elif claim.conflict is not None and claim.verdict == "contradicted" and (clash := _clash(claim.conflict, context)):
        # Of what is like the claim only the stretch that contradicts it: the rest would speak for a claim that is wrong.
        near = [span for span in spans if span and (span.kind == "better" or (span.start < clash.end and clash.start < span.end))]
        spans = [*near, clash]
    return tuple(span for span in dict.fromkeys(spans) if span is not None)


def _clash(conflict: Conflict, context: _Context) -> MarkedSpan | None:
    """The words of a source that a claim stands against."""
    if conflict.number not in context.starts or conflict.start >= conflict.end:
        return None
    offset = context.starts[conflict.number]
    return context.span(conflict.number, offset + conflict.start, offset + conflict.end, "clash")


def _span(found: Support, kind: SpanKind, context: _Context) -> MarkedSpan | None:
    if found.context_start is None or found.context_end is None or found.context_start >= found.context_end:
        return None
    return context.span(found.number, found.context_start, found.context_end, kind)


class Choice(NamedTuple):
    """Claims to show: those counted under one part, or all of them (None)."""

    label: str
    part: Shown | None = None
    sign: str = ""


def choices(rows: Sequence[ClaimRow]) -> tuple[Choice, ...]:
    """All claims, and one choice for each part that occurs: the head line of an answer, unless it states nothing or declines.

    A number that is right is what is expected, and no choice.
    """
    order: tuple[Shown, ...] = (*SUPPORT, "disputed", *CITATION[1:], DECLINED)
    counts = {part: sum(part in row.parts for row in rows) for part in order}
    each = [Choice(f"{number(count)} {_name(part)}", part, sign(part)) for part, count in counts.items() if count]
    return (Choice(counted(len(rows), "claim")), *each) if len(rows) > counts[DECLINED] else ()


def _name(part: Shown) -> str:
    return part if part == "declined" else words(part)
