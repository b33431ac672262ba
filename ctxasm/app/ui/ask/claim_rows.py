"""The alignment table of a checked answer: claim, citations, source, span, verdict, what is missing. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ctxasm.app.ui.ask.context_cards import block_starts
from ctxasm.app.ui.words.verdict_words import (
    BY_NEIGHBOUR,
    FINE,
    carried_by_neighbour,
    claim_sentence,
    clipped,
    is_carried,
    sign,
    verdict_name,
)
from ctxasm.app.ui.words.words import title_of
from ctxasm.citations.checked import VERDICTS, CheckedAnswer, CheckedClaim, Support, Verdict
from ctxasm.model.results import Assembly

SpanKind = Literal["support", "part", "better", "summary", "clash"]


class MarkedSpan(NamedTuple):
    """Characters `start` to `end` of the context that speak for a claim (clash: against it), in block `number`."""

    number: int
    start: int
    end: int
    kind: SpanKind
    added: bool = False


class ClaimRow(NamedTuple):
    """One claim. `sources` are the blocks that its spans stand in, else those that it cites; `quotes` the text of its spans.

    `neighbour` says so where only added neighbours carry it.
    """

    claim: str
    cites: str
    verdict: Verdict
    says: str
    missing: tuple[str, ...]
    spans: tuple[MarkedSpan, ...]
    quotes: tuple[tuple[int, str], ...]
    sources: tuple[tuple[int, str], ...]
    neighbour: str


def claim_rows(checked: CheckedAnswer, assembly: Assembly) -> tuple[ClaimRow, ...]:
    """A row per checked claim, in the order of the answer."""
    starts = block_starts(assembly)
    return tuple(_row(claim, checked, assembly, starts) for claim in checked.claims)


def _row(claim: CheckedClaim, checked: CheckedAnswer, assembly: Assembly, starts: dict[int, int]) -> ClaimRow:
    documents = assembly.trace.documents
    spans = _spans(claim, starts, checked.threshold)
    titles = {citation.number: title_of(documents, citation.document_id) for citation in assembly.citations}
    named = dict.fromkeys(span.number for span in spans) or dict.fromkeys(n for n in claim.claim.cited if n in titles)
    return ClaimRow(
        claim.claim.text.strip() or checked.answer[claim.claim.start : claim.claim.end],
        "".join(f"[{number}]" for number in claim.claim.cited),
        claim.verdict,
        claim_sentence(claim, lambda key: title_of(documents, key), checked.threshold),
        () if claim.verdict in FINE else claim.missing,
        spans,
        tuple((span.number, clipped(assembly.text[span.start : span.end])) for span in spans if span.kind != "clash"),
        tuple((number, titles.get(number, "")) for number in named),
        BY_NEIGHBOUR if carried_by_neighbour(claim) else "",
    )


def _spans(claim: CheckedClaim, starts: dict[int, int], threshold: float) -> tuple[MarkedSpan, ...]:
    """What may be marked for a claim: nothing that its scorer did not find."""
    carries: SpanKind = "support" if is_carried(claim, threshold) else "part"
    spans = [_span(found, carries) for found in claim.support]
    spans += [_span(claim.summary_support, "summary")] if claim.summary_support else []
    spans += [_span(claim.better_support, "better")] if claim.better_support else []
    conflict = claim.conflict
    if conflict is not None and claim.verdict == "contradicted" and conflict.number in starts and conflict.start < conflict.end:
        offset = starts[conflict.number]
        clash = MarkedSpan(conflict.number, offset + conflict.start, offset + conflict.end, "clash")
        # Of what is like the claim only the stretch that contradicts it: the rest would speak for a claim that is wrong.
        around = [span for span in spans if span and (span.kind == "better" or (span.start < clash.end and clash.start < span.end))]
        spans = [*around, clash]
    return tuple(span for span in dict.fromkeys(spans) if span is not None)


def _span(found: Support, kind: SpanKind) -> MarkedSpan | None:
    if found.context_start is None or found.context_end is None or found.context_start >= found.context_end:
        return None
    return MarkedSpan(found.number, found.context_start, found.context_end, kind, found.retrieved is False)


class Filter(NamedTuple):
    """A choice of rows of the table. `verdicts` None: all of them."""

    label: str
    total: int
    verdicts: tuple[Verdict, ...] | None = None
    sign: str = ""


def filters(rows: Sequence[ClaimRow]) -> tuple[Filter, ...]:
    """All rows, only those with a problem, and one choice per verdict that occurs."""
    counts = Counter(row.verdict for row in rows)
    problems = tuple(verdict for verdict in VERDICTS if counts[verdict] and verdict not in FINE)
    each = [Filter(verdict_name(verdict), counts[verdict], (verdict,), sign(verdict)) for verdict in VERDICTS if counts[verdict]]
    return (
        Filter("all", len(rows)),
        Filter("only problems", sum(counts[verdict] for verdict in problems), problems),
        *(each if len(each) > 1 else ()),
    )
