"""Why an answer failed: follow its facts from the hits to its citations, in what was sent and in what these settings would send.

A fact is what the answer should have said: what somebody says, else what the labels of its question expect, else its own doubtful claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import CheckedClaim, axes_of
from ctxasm.citations.claims import split_claims
from ctxasm.citations.declined import is_declined
from ctxasm.citations.grounds import Grounds, grounds_of_assembly, grounds_of_sources
from ctxasm.citations.markers import parse_markers
from ctxasm.citations.report import CheckedAnswer
from ctxasm.citations.weighing import is_match
from ctxasm.model.messages import Cancel
from ctxasm.model.records import Answer, recorded_of
from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.model.support import NO_MATCH, Comparison, Conflict, Match, Scorer, Source
from ctxasm.text.sent_prompts import sent_in
from ctxasm.tuning.evidence import Evidence, EvidenceState, Place, StoredChunks, evidence_of, place_text, states_in
from ctxasm.tuning.why_results import OUTCOMES, FactKind, FactOutcome, Passage, Share, Side, TracedFact, Why, fact_sentence, why_sentence

MOST_FACTS = 20
"""Facts that are followed; any more are left out."""
DOUBTFUL = frozenset({"not_found", "partly", "contradicted"})
MISCITED = frozenset({"wrong_number", "missing", "unknown", "dropped"})


@dataclass(frozen=True, slots=True)
class Fact:
    """`ways` are the texts by which an expected passage is found, each with the chunks that hold it, and `piece` is its place among the
    pieces of evidence; `claim` is the answer's own."""

    text: str
    kind: FactKind
    ways: tuple[tuple[str, tuple[Key, ...]], ...] = ()
    claim: CheckedClaim | None = None
    piece: int | None = None


def facts_of(
    said: str | None, evidence: Evidence, stored: Mapping[str, StoredChunks], reference: str, checked: CheckedAnswer
) -> tuple[Fact, ...]:
    """The facts, by the first of these that there is: what is said, the expected passages, the reference answer, doubtful claims."""
    if said is not None:
        return tuple(Fact(text, "said") for text in _statements(said) or [said.strip()])[:MOST_FACTS]
    pieces = enumerate(_ways(places, stored) for places in evidence.pieces())
    if expected := [Fact(ways[0][0], "expected", ways, piece=at) for at, ways in pieces if ways]:
        return tuple(expected[:MOST_FACTS])
    if stated := _statements(reference):
        return tuple(Fact(text, "reference") for text in stated)[:MOST_FACTS]
    doubtful = [claim for claim in checked.claims if claim.claim.states and _is_doubtful(claim, checked)]
    return tuple(Fact(claim.claim.text, "claim", claim=claim) for claim in doubtful)[:MOST_FACTS]


def _ways(places: Sequence[Place], stored: Mapping[str, StoredChunks]) -> tuple[tuple[str, tuple[Key, ...]], ...]:
    """The texts of places, each with the chunks that hold it; a blank one says nothing."""
    texts = ((place_text(place, stored.get(place.document_id, ())), place) for place in places)
    return tuple((text, tuple(held.key for held in place.holding)) for text, place in texts if text.strip())


def _statements(text: str) -> list[str]:
    return [claim.text for claim in split_claims(text, ()) if claim.states and not is_declined(claim.text)]


def _is_doubtful(claim: CheckedClaim, checked: CheckedAnswer) -> bool:
    axes = axes_of(claim, checked)
    return axes.support in DOUBTFUL or axes.citation in MISCITED


MOST_HITS = 200
"""Hits in which a fact is looked for."""
_SHOWN_NUMBER = re.compile(r"[\[【](?:1|n|N|number)[\]】]")
"""How a prompt shows what a citation looks like."""
Look = Callable[[str], StoredChunks]
"""Chunks of the corpus that may hold a text, whether they were retrieved or not."""


def explain(
    assembly: Assembly,
    answer: Answer,
    scorer: Scorer,
    stored: Mapping[str, StoredChunks],
    fact: str | None = None,
    look: Look | None = None,
    cancel: Cancel | None = None,
) -> Why:
    """Where the fact went. `stored` holds all chunks of the documents that the labels of the question name; `fact` is what the answer
    should have said.

    Raises ModelUnavailable where the scorer's model fails.
    """
    return _Case(assembly, answer, scorer, stored, look, cancel).why(fact)


@dataclass(frozen=True, slots=True)
class _Hit:
    key: Key
    rank: int
    text: str


class _Case:
    """One answer: its hits, its two contexts, and what it says."""

    def __init__(
        self,
        assembly: Assembly,
        answer: Answer,
        scorer: Scorer,
        stored: Mapping[str, StoredChunks],
        look: Look | None,
        cancel: Cancel | None,
    ) -> None:
        self._assembly, self._answer, self._scorer, self._stored = assembly, answer, scorer, stored
        self._look, self._cancel = look, cancel
        candidates = sorted((one for one in assembly.trace.candidates.values() if one.retrieved), key=lambda one: one.rank)
        self._hits = [_Hit(one.key, one.rank, one.chunk.text) for one in candidates[:MOST_HITS]]
        self._fates = {(fate.document_id, fate.chunk_index): fate for fate in assembly.trace.fates}
        self._recorded = recorded_of(answer)
        texts = [hit.text for hit in self._hits]
        self._sent = sent_in(self._recorded.text, texts) if self._recorded.prompt else ()
        self._a, self._is_recorded = self._grounds_of_a()
        if self._is_recorded and not self._recorded.prompt:
            self._sent = tuple(one._replace(number=each.number) for each in self._a.sources for one in sent_in(each.text, texts))
        self._b = grounds_of_assembly(assembly)

    def _grounds_of_a(self) -> tuple[Grounds, bool]:
        """The numbered sources of what was sent: as they are recorded, else as the prompt shows the hits, else all hits in order."""
        if self._answer.sources:
            return grounds_of_sources(self._answer.sources), True
        if self._recorded.prompt:
            by_number: dict[int, list[str]] = {}
            for one in self._sent:
                by_number.setdefault(one.number, []).append(one.text)
            return grounds_of_sources({"n": number, "text": "\n".join(texts)} for number, texts in by_number.items()), True
        return grounds_of_sources({"n": number, "text": hit.text} for number, hit in enumerate(self._hits, 1)), False

    def why(self, said: str | None) -> Why:
        query, metadata = self._assembly.query, self._answer.metadata
        reference = query.answer or str(metadata.get("reference") or "")
        checked = check_answer(
            self._answer.answer,
            self._a,
            self._scorer,
            query_id=query.query_id,
            question=query.query,
            reference=reference,
            marked=self._asks_for_markers(),
            cancel=self._cancel,
        )
        evidence = evidence_of(query, self._stored)
        facts = facts_of(said, evidence, self._stored, reference, checked)
        states = states_in(self._assembly, evidence) if any(fact.kind == "expected" for fact in facts) else ()
        compared = self._compare(facts, checked)
        traced = [self._follow(at, fact, checked, compared, states) for at, fact in enumerate(facts)]
        traced = [replace(each, sentence=fact_sentence(each, self._is_recorded)) for each in traced]
        traced.sort(key=lambda each: OUTCOMES.index(each.outcome))
        passages = tuple(Passage(*self._hits[one.at].key, one.number, one.share, one.text) for one in self._sent)
        return Why(
            self._recorded,
            self._is_recorded,
            passages,
            self._assembly,
            checked,
            tuple(traced),
            why_sentence(traced, checked),
        )

    def _asks_for_markers(self) -> bool:
        """Whether the answer cites, or was asked to: one that does not cite is no worse for it where nobody asked."""
        return bool(parse_markers(self._answer.answer)) or _SHOWN_NUMBER.search(self._recorded.text) is not None

    # What holds a fact

    def _compare(self, facts: Sequence[Fact], checked: CheckedAnswer) -> _Compared:
        claims = [claim.claim.text for claim in checked.claims]
        texts = [hit.text for hit in self._hits]
        sources = [
            *(ground.source for ground in self._a.items),
            *(ground.source for ground in self._b.items),
            *(_source(number, text) for number, text in enumerate((*texts, *claims))),
        ]
        asked = self._assembly.query.query
        comparison = self._scorer.compare([fact.text for fact in facts], sources, asked, self._cancel) if facts else None
        return _Compared(comparison, self._scorer, (len(self._a.items), len(self._b.items), len(texts), len(claims)))

    def _elsewhere(self, text: str) -> Key | None:
        """A chunk of the corpus that no hit is, and that carries a fact."""
        known = {hit.key for hit in self._hits}
        found = self._look(text) if self._look is not None else ()
        others = [chunk for chunk in found if (chunk.document_id, chunk.chunk_index) not in known]
        if not others:
            return None
        sources = [_source(number, chunk.text) for number, chunk in enumerate(others)]
        each = self._scorer.compare([text], sources, self._assembly.query.query, self._cancel).each(0)
        carries = (chunk for chunk, match in zip(others, each, strict=True) if is_match(match, self._scorer))
        return next(((chunk.document_id, chunk.chunk_index) for chunk in carries), None)

    # Where it went

    def _follow(self, at: int, fact: Fact, checked: CheckedAnswer, compared: _Compared, states: Sequence[EvidenceState]) -> TracedFact:
        denial = _denial(fact.claim, compared.a(at)) if fact.claim is not None else None
        if fact.kind == "expected":
            holder, rank, a, b = self._expected(fact, states)
        elif denial is not None:
            holder, rank, a, b = self._denied(denial.number)
        else:
            holder, rank, a, b = self._stated(at, fact, compared)
        answered = (
            self._in_answer(at, fact, a, checked, compared)
            if denial is None
            else _InAnswer("contradicted", False, denial.cited, denial.words)
        )
        outcome: FactOutcome
        if a.held != "all" and rank is None:
            outcome = "never_retrieved"
        elif a.held != "all":
            outcome = "not_sent" if self._is_recorded else "dropped"
        elif not self._is_recorded and b.held in ("none", "part"):
            outcome = "dropped"
        else:
            outcome = answered.outcome
        if answered.against is not None and outcome in ("not_cited", "cited"):
            outcome = "contradicted"
        nearest = compared.hit(at) if outcome == "never_retrieved" and fact.kind != "expected" else None
        traced_fact = TracedFact(fact.text, fact.kind, outcome, a, b, holder, rank, answered.said, answered.cited, answered.against)
        if nearest is None or not (nearest.is_part or nearest.otherwise):
            return traced_fact
        return replace(traced_fact, nearest=self._hits[nearest.place].rank, lacks=nearest.missing, otherwise=nearest.otherwise)

    def _expected(self, fact: Fact, states: Sequence[EvidenceState]) -> tuple[Key | None, int | None, Side, Side]:
        """An expected passage, by its very characters: of several places that say it, the one that was sent, or retrieved."""
        sides: list[tuple[Side, tuple[Key, ...]]] = []
        for text, keys in fact.ways:
            numbers = [one.number for one in self._sent if self._hits[one.at].key in keys]
            found = sent_in(self._a_text(), [text])
            share = found[0].share if found else 0.0
            held: Share = "all" if share == 1.0 else "part" if share else "none"
            sides.append((Side(held, self._number_of(text) or (numbers[0] if numbers else None)), keys))
        order: tuple[Share, ...] = ("all", "part", "none")
        a, keys = min(
            sides, key=lambda side: (order.index(side[0].held), min((self._rank(key) or MOST_HITS for key in side[1]), default=0))
        )
        ranked = sorted((rank, key) for key in keys if (rank := self._rank(key)) is not None)
        holder = ranked[0][1] if ranked else keys[0] if keys else None
        state = states[fact.piece] if fact.piece is not None else None
        return holder, ranked[0][0] if ranked else None, a, self._b_of(state, holder)

    def _b_of(self, state: EvidenceState | None, holder: Key | None) -> Side:
        fate = self._fates.get(holder) if holder is not None else None
        if state is None or state.state == "unknown":
            return self._b_by_fate(fate)
        if state.state == "found":
            return Side("all", self._block_of(fate))
        lost = self._b_by_fate(fate)
        held: Share = "part" if state.state == "partly" else "none"
        stage = state.stage if state.stage != "retrieve" else None
        return Side(held, lost.number if held == "part" else None, stage, lost.reason, lost.missing_tokens)

    def _b_by_fate(self, fate: Fate | None) -> Side:
        if fate is None:
            return Side("none")
        if fate.fate == "dropped":
            return Side("none", None, fate.stage, fate.reason, fate.missing_tokens)
        return Side("part" if fate.fate == "truncated" or fate.compressed is not None else "all", self._block_of(fate), fate.stage)

    def _block_of(self, fate: Fate | None) -> int | None:
        seen: set[Key] = set()
        while fate is not None and fate.block is None and fate.of is not None and fate.of not in seen:
            seen.add(fate.of)
            fate = self._fates.get(fate.of)
        return None if fate is None else fate.block

    def _stated(self, at: int, fact: Fact, compared: _Compared) -> tuple[Key | None, int | None, Side, Side]:
        """A statement, by the scorer: which hits carry it, and which sources of either side."""
        in_a, in_b = compared.a(at), compared.b(at)
        hit = compared.hit(at)
        holder = self._hits[hit.place] if hit.is_match else None
        cut = next((one.number for one in self._sent if holder is not None and self._hits[one.at].key == holder.key), None)
        a = Side("all", in_a.number) if in_a.is_match else Side("none" if cut is None else "part", cut)
        if in_b.is_match:
            b = Side("all", in_b.number)
        else:
            fate = self._fates.get(holder.key) if holder else None
            known = self._b_by_fate(fate)
            b = known if known.held == "none" else Side("part", known.number, known.stage, known.reason)
        if holder is not None:
            return holder.key, holder.rank, a, b
        return (self._elsewhere(fact.text) if a.held != "all" else None), None, a, b

    def _denied(self, number: int) -> tuple[Key | None, int | None, Side, Side]:
        """What a claim of the answer denies: it stands in source `number` of A."""
        hits = [self._hits[one.at] for one in self._sent if one.number == number]
        hits = hits or ([self._hits[number - 1]] if not self._is_recorded and 0 < number <= len(self._hits) else [])
        a = Side("all", number)
        if not hits:
            return None, None, a, Side("unknown")
        return hits[0].key, hits[0].rank, a, self._b_by_fate(self._fates.get(hits[0].key))

    # What the answer makes of it

    def _in_answer(self, at: int, fact: Fact, a: Side, checked: CheckedAnswer, compared: _Compared) -> _InAnswer:
        claims = self._claims_about(at, fact, a, checked, compared)
        against = next((found for claim in claims if (found := _conflict(claim)) is not None), None)
        if against is None and fact.kind in ("said", "reference"):
            against = compared.against(at)
        said = [claim for claim in claims if _conflict(claim) is None]
        cited = tuple(dict.fromkeys(number for claim in claims for number in claim.claim.cited))
        if against is not None:
            return _InAnswer("contradicted", bool(said), cited, against)
        by_number = [axes_of(claim, checked).citation for claim in said]
        if "right" in by_number or "inherited" in by_number or (said and not checked.marked):
            return _InAnswer("cited", True, cited)
        if any(part in ("wrong_number", "unknown", "dropped") for part in by_number):
            return _InAnswer("wrong_number", True, cited)
        return _InAnswer("not_cited", bool(said), cited)

    def _claims_about(self, at: int, fact: Fact, a: Side, checked: CheckedAnswer, compared: _Compared) -> list[CheckedClaim]:
        """The claims of the answer that say the fact, or stand on the passage that holds it."""
        if fact.claim is not None:
            return [fact.claim]
        if fact.kind != "expected":
            return [claim for place, claim in enumerate(checked.claims) if compared.is_said(at, place)]
        return [claim for claim in checked.claims if a.number is not None and a.number in _stands_on(claim)]

    def _rank(self, key: Key) -> int | None:
        return next((hit.rank for hit in self._hits if hit.key == key), None)

    def _a_text(self) -> str:
        return self._recorded.text or "\n\n".join(source.text for source in self._a.sources)

    def _number_of(self, text: str) -> int | None:
        """The source of A that holds most of a text."""
        shares = [(found[0].share, -source.number) for source in self._a.sources if (found := sent_in(source.text, [text]))]
        return -max(shares)[1] if shares else None


@dataclass(frozen=True, slots=True)
class _InAnswer:
    outcome: FactOutcome
    said: bool
    cited: tuple[int, ...]
    against: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Best:
    """The best of some sources together, and the place of the first that carries most."""

    place: int
    number: int | None
    is_match: bool
    is_part: bool
    missing: tuple[str, ...] = ()
    conflict: Conflict | None = None

    @property
    def otherwise(self) -> str | None:
        """What it says instead."""
        return None if self.conflict is None else self.conflict.source


class _Denial(NamedTuple):
    """A claim of the answer that source `number` of A denies: `words` of the answer and of the source, and what the claim cites."""

    number: int
    words: tuple[str, str]
    cited: tuple[int, ...]


class _Compared:
    """The facts against four rows of sources: those of A, those of B, hits, claims of the answer."""

    def __init__(self, comparison: Comparison | None, scorer: Scorer, sizes: tuple[int, ...]) -> None:
        self._comparison, self._scorer, self._sizes = comparison, scorer, sizes

    def _row(self, row: int) -> range:
        start = sum(self._sizes[:row])
        return range(start, start + self._sizes[row])

    def _match(self, fact: int, places: Sequence[int]) -> Match:
        return self._comparison.together(fact, places) if self._comparison is not None and places else NO_MATCH

    def _best(self, fact: int, row: int, *, alone: bool = False) -> _Best:
        places = self._row(row)
        each = [self._match(fact, (place,)) for place in places]
        if not each:
            return _Best(0, None, False, False)
        at = max(range(len(each)), key=lambda at: (is_match(each[at], self._scorer), each[at].score, -at))
        best = each[at]
        if not alone and not is_match(best, self._scorer) and is_match(whole := self._match(fact, places), self._scorer):
            best = whole
        number = best.found[0].number if best.found else None
        is_part = best.score >= self._scorer.partly and best.conflict is None
        return _Best(at, number, is_match(best, self._scorer), is_part, best.missing, best.conflict)

    def a(self, fact: int) -> _Best:
        return self._best(fact, 0)

    def b(self, fact: int) -> _Best:
        return self._best(fact, 1)

    def hit(self, fact: int) -> _Best:
        return self._best(fact, 2, alone=True)

    def is_said(self, fact: int, claim: int) -> bool:
        """Whether a claim of the answer says the fact, or says otherwise."""
        match = self._match(fact, (self._row(3)[claim],))
        return is_match(match, self._scorer) or match.conflict is not None

    def against(self, fact: int) -> tuple[str, str] | None:
        """The words of the answer that do not agree with the fact, and those of the fact."""
        conflicts = (self._match(fact, (place,)).conflict for place in self._row(3))
        found = next((conflict for conflict in conflicts if conflict is not None), None)
        return None if found is None else (found.source, found.claim)


def _source(number: int, text: str) -> Source:
    return Source(number, text, ((0, len(text)),) if text else ())


def _conflict(claim: CheckedClaim) -> tuple[str, str] | None:
    return (claim.conflict.claim, claim.conflict.source) if claim.conflict is not None and claim.verdict == "contradicted" else None


def _denial(claim: CheckedClaim, best: _Best) -> _Denial | None:
    """What denies a claim: the source that the check names, else, where no source carries it, the one that comes nearest."""
    if claim.conflict is not None and claim.verdict == "contradicted":
        return _Denial(claim.conflict.number, (claim.conflict.claim, claim.conflict.source), claim.claim.cited)
    if best.conflict is not None and not best.is_match:
        return _Denial(best.conflict.number, (best.conflict.claim, best.conflict.source), claim.claim.cited)
    return None


def _stands_on(claim: CheckedClaim) -> set[int]:
    found = {support.number for support in claim.support}
    found |= {claim.better} if claim.better is not None else set()
    return found | ({claim.conflict.number} if claim.conflict is not None else set())
