"""Stage 4: what fits. Policy `drop_documents`: whole documents leave from the tail until the rest fits.

Kept is the longest prefix of the document order whose whole rendered text fits: sizes need not grow with the set, so
"drop until it fits" is not enough. Where the best document alone is too big, `oversized=drop` goes on with the next one;
`oversized=trim` is its own decision (see `trim`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ctxasm.model.plans import OVER, DocumentPlan, Resolution, Size, Written
from ctxasm.model.results import DocumentSize


@dataclass(frozen=True, slots=True)
class Round:
    """One attempt: the documents left, resolved and planned best first. `sizes[i]`: what the first i + 1 of them come to.

    `written` is all of them as text, where that was written at once.
    """

    resolution: Resolution
    plans: tuple[DocumentPlan, ...]
    sizes: tuple[Size, ...]
    written: Written | None = None

    def fitting(self, limit: int) -> int:
        """How many documents the longest fitting prefix has."""
        sizes = self.sizes
        return next((count for count in range(len(sizes), 0, -1) if sizes[count - 1].budgeted <= limit), 0)


@dataclass(frozen=True, slots=True)
class Choice:
    """The rounds it took and how many documents of the last one are kept. `skipped` were too big alone."""

    rounds: tuple[Round, ...]
    kept: int
    skipped: tuple[str, ...]

    @property
    def last(self) -> Round:
        return self.rounds[-1]


def choose(first: Round, limit: int, drop_oversized: bool, again: Callable[[frozenset[str]], Round]) -> Choice:
    """Keep the longest prefix that fits. `again` makes a round without the documents named.

    With `drop_oversized` a best document that is too big alone is left out and the copies it had displaced are candidates
    again; else a `kept` of 0 leaves the oversized document to the caller.
    """
    rounds, skipped = [first], []
    kept = first.fitting(limit)
    while drop_oversized and not kept and rounds[-1].plans:
        skipped.append(rounds[-1].plans[0].document.document_id)
        rounds.append(again(frozenset(skipped)))
        kept = rounds[-1].fitting(limit)
    return Choice(tuple(rounds), kept, tuple(skipped))


def missing_tokens(choice: Choice, limit: int) -> dict[str, int]:
    """For each document that is not kept: the smallest limit that would keep it, minus the limit; absent where none would."""
    if len(choice.rounds) == 1:
        return _missing_of_prefix(choice.last, choice.kept, limit)
    missing: dict[str, int] = {}
    for size in sorted({size.budgeted for each in choice.rounds for size in each.sizes if limit < size.budgeted < OVER}):
        for each in choice.rounds:
            if count := each.fitting(size):
                for plan in each.plans[:count]:
                    missing.setdefault(plan.document.document_id, size - limit)
                break
    kept = {plan.document.document_id for plan in choice.last.plans[: choice.kept]}
    return {document_id: tokens for document_id, tokens in missing.items() if document_id not in kept}


def _missing_of_prefix(only: Round, kept: int, limit: int) -> dict[str, int]:
    missing: dict[str, int] = {}
    smallest: int | None = None
    for plan, (_, size) in zip(reversed(only.plans[kept:]), reversed(only.sizes[kept:]), strict=True):
        smallest = size if smallest is None else min(smallest, size)
        if smallest < OVER:
            missing[plan.document.document_id] = smallest - limit
    return missing


def document_sizes(choice: Choice, trimmed: int | None, missing: Mapping[str, int]) -> tuple[DocumentSize, ...]:
    """The documents on the token axis, in context order; those skipped as oversized come last.

    `trimmed` is the size of the first document after trimming, None where nothing was trimmed.
    """
    last = choice.last
    kept = choice.kept if trimmed is None else int(trimmed > 0)
    sizes = []
    before = 0
    for place, (plan, (end, _)) in enumerate(zip(last.plans, last.sizes, strict=True)):
        document_id = plan.document.document_id
        sizes.append(DocumentSize(document_id, end - before, end, place < kept, missing.get(document_id)))
        before = end
    for each, document_id in zip(choice.rounds, choice.skipped, strict=False):
        tokens = each.sizes[0].tokens
        sizes.append(DocumentSize(document_id, tokens, tokens, False, missing.get(document_id)))
    return tuple(sizes)
