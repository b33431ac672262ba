"""What a reviewer is given, and what a reviewer says: a queue, one answer at a time, blind first.

The checker's verdict on a claim, and what others say of a citation, are not in what `item_for` gives until this reviewer has judged it:
of a claim that cites several sources, the checker's verdict comes after the last of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.citations.checked import FINE, WORST, Axes, Support
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.runs import ANSWER_ITEM, CitationVerdict, Judgement, Run, RunSource, RunStore, Written, item_of
from ctxasm.model.support import Conflict

if TYPE_CHECKING:
    from pydantic import TypeAdapter

OFF_GOLD = "off_gold"
_FIRST = ("contradicted", "disputed", OFF_GOLD)
RISKS: tuple[str, ...] = (*_FIRST, *(part for part in WORST if part not in (*_FIRST, *FINE)))
"""Why an answer should be looked at, the worst first. off_gold: it cites a chunk that its question is not labelled with."""
_STATES_NOTHING = ("heading", "lead_in", "question")
Gold = Mapping[tuple[str, str], frozenset[tuple[str, int]]]
"""The labelled chunks of questions, by dataset and query_id; questions without labels are left out."""


class QueueEntry(NamedTuple):
    """An answer to review, and how many of its `items` this reviewer has judged (the answer as a whole is one)."""

    run_id: str
    question: str
    judged: int
    items: int

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to judge."""
        return self.judged >= self.items


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """A claim as the JSON of a checked answer has it."""

    start: int
    end: int
    text: str
    kind: str
    axes: Axes
    markers: tuple[int, ...] = ()
    inherited: tuple[int, ...] = ()
    support: tuple[Support, ...] = ()
    conflict: Conflict | None = None
    better: int | None = None
    idle: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    disputed: Mapping[str, Any] | None = None
    clauses: tuple[ClaimRecord, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """What it cites, itself or by its block; (0,) where it cites nothing, none where it states nothing either."""
        cited = tuple(dict.fromkeys((*self.markers, *self.inherited)))
        return cited or (() if self.kind in _STATES_NOTHING else (0,))


def claims_of(run: Run) -> dict[int, ClaimRecord]:
    """The claims of a run that can be judged, by their places. Raises InvalidInput where its check cannot be read."""
    from pydantic import ValidationError

    try:
        claims = _claims_adapter().validate_python(run.check.get("claims", ()))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"run {shown(run.run_id)}: check.claims.{where}: {first['msg']}") from None
    return {at: claim for at, claim in enumerate(claims) if claim.numbers}


@cache
def _claims_adapter() -> TypeAdapter[tuple[ClaimRecord, ...]]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[ClaimRecord, ...])


@dataclass(frozen=True, slots=True)
class ReviewedCitation:
    """A claim and a source that it cites (`number` 0: it cites nothing). `others` is empty until `own` has a verdict, `says` None:
    what the checker's verdict comes to in a reviewer's words."""

    item: str
    number: int
    own: Judgement | None
    others: tuple[Judgement, ...] = ()
    says: CitationVerdict | None = None


@dataclass(frozen=True, slots=True)
class ReviewedClaim:
    """Characters `start` to `end` of the answer. `checker` is None until all of its citations are judged."""

    number: int
    start: int
    end: int
    text: str
    citations: tuple[ReviewedCitation, ...]
    checker: ClaimRecord | None = None


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One answer as its reviewer may see it now. `others` of the answer as a whole come after one's own."""

    run_id: str
    question: str
    answer: str
    dataset: str
    query_id: str
    claims: tuple[ReviewedClaim, ...]
    sources: tuple[RunSource, ...]
    reference: str | None
    own: Judgement | None
    others: tuple[Judgement, ...]

    @property
    def judged(self) -> int:
        """How many items have a verdict of this reviewer."""
        given = [citation.own for claim in self.claims for citation in claim.citations] + [self.own]
        return sum(own is not None and own.is_given for own in given)

    @property
    def items(self) -> int:
        """How many there are."""
        return sum(len(claim.citations) for claim in self.claims) + 1


def queue(store: RunStore, run_ids: Iterable[str], reviewer: str, gold: Gold | None = None) -> list[QueueEntry]:
    """The answers to review, the riskiest first; those that this reviewer has finished come last. Why they stand so is not said."""
    runs = [store.run(run_id) for run_id in dict.fromkeys(run_ids)]
    said = store.judgements([run.run_id for run in runs])
    own = Counter(each.run_id for each in said if each.reviewer == reviewer and each.is_given)
    entries = []
    for run in runs:
        claims = claims_of(run)
        items = sum(len(claim.numbers) for claim in claims.values()) + 1
        entries.append((QueueEntry(run.run_id, run.question, own[run.run_id], items), _risk(run, claims.values(), gold or {})))
    entries.sort(key=lambda pair: (pair[0].is_done, *(-count for count in pair[1]), pair[0].run_id))
    return [entry for entry, _ in entries]


def item_for(store: RunStore, run_id: str, reviewer: str) -> ReviewItem:
    """One answer for this reviewer. Raises NotFound."""
    run, said = store.run(run_id), store.judgements([run_id])
    own = {each.item: each for each in said if each.reviewer == reviewer}

    def others(item: str) -> tuple[Judgement, ...]:
        shown = item in own and own[item].is_given
        return tuple(each for each in said if each.item == item and each.reviewer != reviewer) if shown else ()

    claims: list[ReviewedClaim] = []
    for at, claim in claims_of(run).items():
        items = {number: item_of(at, number) for number in claim.numbers}
        is_open = all(item in own and own[item].verdict is not None for item in items.values())
        citations = tuple(
            ReviewedCitation(item, number, own.get(item), others(item), checker_says(claim, number) if is_open else None)
            for number, item in items.items()
        )
        claims.append(ReviewedClaim(at, claim.start, claim.end, claim.text, citations, claim if is_open else None))
    named = (run.run_id, run.question, run.answer, run.dataset, run.query_id)
    return ReviewItem(*named, tuple(claims), run.sources, run.reference, own.get(ANSWER_ITEM), others(ANSWER_ITEM))


def undo(store: RunStore, run_id: str, item: str, reviewer: str) -> Written | None:
    """Say again what this reviewer said of an item before the last change, as a new version. None where nothing was said of it."""
    versions = [each for each in store.judgements([run_id], history=True) if (each.item, each.reviewer) == (item, reviewer)]
    if not versions:
        return None
    before = versions[-2] if len(versions) > 1 else Judgement(run_id, item, reviewer)
    return store.judge(before, versions[-1].version)


def checker_says(claim: ClaimRecord, number: int) -> CitationVerdict | None:
    """What the checker says of a claim and a number that it cites (0: of a claim that cites nothing), in a reviewer's words.

    None where it leaves that open: carried in part, declined, or carried with no number asked for. Of a claim with clauses the one that
    cites the number counts.
    """
    claim = next((clause for clause in claim.clauses if number in clause.markers), claim)
    support = claim.axes.support
    if support == "contradicted":
        return "wrong_fact" if claim.conflict is None or number in (0, claim.conflict.number) else None
    if support == "not_found":
        return "not_there"
    if number in claim.unknown:
        return "wrong_source" if support == "full" else "not_there"
    if support != "full" or number == 0:
        return None
    if number in claim.idle or claim.better is not None:
        return "wrong_source"
    return "outdated" if claim.disputed is not None and claim.disputed.get("age") == "newer" else "right"


def _risk(run: Run, claims: Iterable[ClaimRecord], gold: Gold) -> tuple[int, ...]:
    """How many claims of an answer stand under each risk."""
    counts = Counter[str]()
    labelled = gold.get((run.dataset, run.query_id))
    held = {source.number: {(source.document_id or "", index) for index in source.chunks} for source in run.sources}
    for claim in claims:
        counts.update(part for part in (claim.axes.support, claim.axes.citation, "disputed" if claim.disputed else None) if part)
        counts[OFF_GOLD] += labelled is not None and any(number and labelled.isdisjoint(held.get(number, ())) for number in claim.numbers)
    return tuple(counts[risk] for risk in RISKS)
