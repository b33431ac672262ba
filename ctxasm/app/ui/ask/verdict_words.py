"""What a check says on a page: the sign of each part, the sentence of one claim, the summary, the figures. Pure.

What a claim is called stands in `ctxasm.citations.checked`, why in `ctxasm.citations.report`. A verdict or part without words is a type
error. Sentences may hold text from outside: escape them, or set them as text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import assert_never

from ctxasm.citations.checked import CheckedClaim, DroppedSource, support_of
from ctxasm.citations.report import (
    CheckedAnswer,
    brackets,
    conflict_sentence,
    disputed_sentence,
    is_declined_answer,
    lacks_sentence,
    summary_sentence,
)
from ctxasm.model.amounts import agreeing, counted, percent
from ctxasm.model.events import REASONS, stage_name

TitleOf = Callable[[str], str]


def summary(checked: CheckedAnswer) -> str:
    """A whole check in one sentence: `6 claims: 4 supported, 1 partly, 1 not found; citation: 1 wrong number`."""
    if not checked.claims:
        return "Nothing to check: the answer makes no claim."
    return "Declined: no answer in the sources." if is_declined_answer(checked) else summary_sentence(checked)


def claim_sentence(checked: CheckedClaim, title_of: TitleOf, threshold: float = 1.0) -> str:
    """Why a claim is judged as it is, in a sentence or a few. `title_of` names a document by its id, `threshold` is the check's."""
    said = [_verdict_sentence(checked, title_of, threshold)]
    if checked.verdict in ("partly", "unsupported", "no_source") and support_of(checked, threshold) != "full":
        said.append(lacks_sentence(checked))
    if checked.disputed is not None:
        said = [disputed_sentence(checked.disputed)] if checked.verdict == "supported" else [*said, disputed_sentence(checked.disputed)]
    return " ".join(filter(None, said))


def _verdict_sentence(checked: CheckedClaim, title_of: TitleOf, threshold: float) -> str:
    numbers = dict.fromkeys(found.number for found in checked.support)
    cited, carrying = brackets(checked.claim.cited or checked.claim.inherited), brackets(numbers)
    match checked.verdict:
        case "supported":
            return f"Found in {carrying or cited}{' together' if len(numbers) > 1 else ''}."
        case "partly":
            idle = f"{brackets(checked.idle)} {_has(checked.idle)} none of it" if checked.idle else ""
            if support_of(checked, threshold) == "full":
                against = f" {conflict_sentence(checked.conflict)}" if checked.conflict and not checked.disputed else ""
                return f"{idle}; {carrying} {_has(numbers)} it.{against}"
            return f"Only part of it is in {carrying or cited}{f'; {idle}' if idle else ''}."
        case "contradicted":
            return conflict_sentence(checked.conflict) if checked.conflict else f"{cited} says otherwise."
        case "elsewhere":
            if checked.support:
                return f"Only partly in {carrying}; [{checked.better}] has all of it."
            return f"Not found in {cited}; [{checked.better}] has it."
        case "prefix_only":
            return f"Only in the page summary of {cited}, not in its text."
        case "unsupported":
            return f"Not found in {cited}, nor in any other source."
        case "uncited":
            return f"Cites nothing; [{checked.better}] has it." if checked.better else "Cites nothing, and no source has it."
        case "unknown_marker":
            none = agreeing(len(checked.unknown), "is not a source", "are not sources")
            return f"{brackets(checked.unknown)} {none} in this context{f'; [{checked.better}] has it' if checked.better else ''}."
        case "dropped":
            return " ".join(dropped_sentence(source, title_of) for source in checked.dropped)
        case "no_source":
            return "No source has it."
        case "declined":
            return "Says the sources do not answer this; no citation needed."
        case _:
            assert_never(checked.verdict)


def _has(numbers: Collection[int]) -> str:
    return agreeing(len(numbers), "has", "have")


def dropped_sentence(source: DroppedSource, title_of: TitleOf) -> str:
    """What a cited number would have been, and where it was lost."""
    why = REASONS.get(source.reason or "", source.reason or "")
    return f"[{source.number}] would be “{title_of(source.document_id)}”, dropped at {stage_name(source.stage)}{f': {why}' if why else ''}."


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a check: what it says, its value as it is shown, and what engineers call it."""

    says: str
    value: str
    name: str


def figures(checked: CheckedAnswer) -> tuple[Figure, ...]:
    """The citation figures of one answer, none where they are withheld; a dash where nothing is counted. Without markers nothing is
    cited: only the coverage counts."""
    told = checked.figures
    if told.withheld or not told.claims:
        return ()
    covered = Figure("of claims are supported by some source, cited or not", _percent(told.coverage), "coverage")
    if not checked.marked:
        return (covered,)
    return (
        Figure("of claims are supported by what they cite", _percent(told.recall), "citation recall"),
        Figure("of citations are needed for that", _percent(told.precision), "citation precision"),
        covered,
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else percent(share)


def check_line(checked: CheckedAnswer) -> str:
    """How it was checked: the scorer, from which score on a claim counts as carried, how long it took, what a model cost."""
    spent = checked.spent
    calls = f" · {counted(spent.calls, 'call')}, {counted(spent.tokens_in + spent.tokens_out, 'token')}" if spent.calls else ""
    kept = f" · {counted(spent.kept, 'verdict')} reused" if spent.kept else ""
    took = f"{checked.elapsed_ms:.0f} ms" if checked.elapsed_ms >= 1 else "under 1 ms"
    return f"Checked by {checked.scorer} · a match scores {checked.threshold:.2f} or more · {took}{calls}{kept}"
