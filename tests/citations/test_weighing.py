"""Cited sources weighed together and alone, and the figures of ALCE counted by hand, with a scorer whose scores are written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import Figures
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.verdicts import Bench
from ctxasm.citations.weighing import weigh
from ctxasm.model.messages import Cancel
from ctxasm.model.support import Comparison, Conflict, Found, Match, Source, Spent

Table = Mapping[str, Mapping[tuple[int, ...], float]]
"""By the first word of a claim: the score of sources (by number, ascending) together; what is not there is the best of its parts."""


class Written:
    """A scorer that says what is written for a claim; a score of 0.3 or more has a place in each source that it stands for."""

    name, threshold, partly = "written", 0.8, 0.5

    def __init__(self, table: Table, conflicts: Sequence[str] = ()) -> None:
        self.table, self.conflicts = table, conflicts

    def compare(self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None) -> Comparison:
        return Compared(self, claims, sources)


class Compared:
    spent = Spent()

    def __init__(self, scorer: Written, claims: Sequence[str], sources: Sequence[Source]) -> None:
        self.scorer, self.claims, self.sources = scorer, claims, sources

    def each(self, claim: int) -> list[Match]:
        return [self.together(claim, [at]) for at in range(len(self.sources))]

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        word = self.claims[claim].split()[0]
        written = self.scorer.table.get(word, {})
        numbers = tuple(sorted(self.sources[at].number for at in sources))
        parts = [key for key in written if set(key) <= set(numbers)]
        best = numbers if numbers in written else max(parts, key=lambda key: written[key], default=())
        score = written.get(best, 0.0)
        found = tuple(Found(number, 0, 1, score) for number in best) if score >= 0.5 else ()
        conflict = Conflict("number", "1", "2", best[0], 0, 1) if word in self.scorer.conflicts and best else None
        return Match(score, found, (), conflict)


SOURCES = tuple({"n": number, "text": "x"} for number in (1, 2, 3))


def figures(answer: str, table: Table, conflicts: Sequence[str] = ()) -> Figures:
    return check_answer(answer, grounds_of_sources(SOURCES), Written(table, conflicts)).figures


@pytest.mark.parametrize(
    ("answer", "table", "expected"),
    [
        ("", {}, (0, 0, None, None, None, None)),
        ("Nobody cites.", {}, (1, 0, 0.0, None, None, 0.0)),
        ("Alpha is so [1].", {"Alpha": {(1,): 0.9}}, (1, 1, 1.0, 1.0, 1.0, 1.0)),
        ("Alpha is so [1].", {"Alpha": {(1,): 0.79}}, (1, 1, 0.0, 0.0, 0.0, 0.0)),
        # [2] adds nothing: it does not carry the claim alone and is not missed
        ("Alpha is so [1][2].", {"Alpha": {(1,): 0.9}}, (1, 2, 1.0, 0.5, 2 / 3, 1.0)),
        # both carry it: neither is superfluous
        ("Alpha is so [1][2].", {"Alpha": {(1,): 0.9, (2,): 0.8}}, (1, 2, 1.0, 1.0, 1.0, 1.0)),
        # only together: both are needed, a third is not
        ("Alpha is so [1][2][3].", {"Alpha": {(1,): 0.6, (2,): 0.6, (1, 2): 0.85}}, (1, 3, 1.0, 2 / 3, 0.8, 1.0)),
        # not carried together: no citation is needed; the third source would have carried it
        ("Alpha is so [1][2].", {"Alpha": {(1,): 0.6, (3,): 0.9}}, (1, 2, 0.0, 0.0, 0.0, 1.0)),
        # an uncited claim counts in recall, not in precision
        ("Alpha is so [1]. Beta is so.", {"Alpha": {(1,): 0.9}, "Beta": {(2,): 0.9}}, (2, 1, 0.5, 1.0, 2 / 3, 1.0)),
        # an unknown number is a citation that nothing needs
        ("Alpha is so [1][9].", {"Alpha": {(1,): 0.9}}, (1, 2, 1.0, 0.5, 2 / 3, 1.0)),
        ("Alpha is so [9].", {"Alpha": {(1,): 0.9}}, (1, 1, 0.0, 0.0, 0.0, 1.0)),
        # the same number twice is one citation of the claim
        ("Alpha [1] is so [1].", {"Alpha": {(1,): 0.9}}, (1, 1, 1.0, 1.0, 1.0, 1.0)),
        # the sources that carry something of it carry it together
        ("Alpha is so [1].", {"Alpha": {(1,): 0.6, (2,): 0.4, (1, 2): 0.9}}, (1, 1, 0.0, 0.0, 0.0, 1.0)),
        # half of what counts as a part is something, a little less is nothing; of one source alone it is not enough
        ("Alpha is so [1].", {"Alpha": {(1,): 0.6, (2,): 0.25, (1, 2): 0.9}}, (1, 1, 0.0, 0.0, 0.0, 1.0)),
        ("Alpha is so [1].", {"Alpha": {(1,): 0.6, (2,): 0.24, (1, 2): 0.9}}, (1, 1, 0.0, 0.0, 0.0, 0.0)),
        # a heading states nothing, but its citation counts
        ("# Alpha [1]\n\nBeta is so [2].", {"Alpha": {(1,): 0.9}, "Beta": {}}, (1, 2, 0.0, 0.5, 0.0, 0.0)),
        # a refusal is no claim
        ("I cannot answer this question based on the sources.", {}, (0, 0, None, None, None, None)),
    ],
)
def test_figures_by_hand(answer: str, table: Table, expected: tuple[object, ...]) -> None:
    found = figures(answer, table)
    assert (found.claims, found.citations) == expected[:2]
    assert [found.recall, found.precision, found.f1, found.coverage] == [
        pytest.approx(value) if value is not None else None for value in expected[2:]
    ]


def test_a_source_that_says_otherwise_carries_nothing() -> None:
    found = figures("Alpha is so [1].", {"Alpha": {(1,): 0.95}}, ["Alpha"])
    assert (found.recall, found.precision, found.coverage) == (0.0, 0.0, 0.0)


def test_of_what_is_contradicted_the_place_that_says_otherwise_is_shown() -> None:
    scorer = Written({"Alpha": {(2, 3): 0.9}}, ["Alpha"])
    (claim,) = check_answer("Alpha is so [2][3].", grounds_of_sources(SOURCES), scorer).claims
    assert (claim.verdict, [place.number for place in claim.support]) == ("contradicted", [2])


@pytest.mark.parametrize(
    ("written", "cited", "score", "idle", "carried"),
    [
        ({(1,): 0.9}, (1,), 0.9, (), True),
        ({(1,): 0.9}, (1, 2), 0.45, (2,), False),
        ({(1,): 0.9, (2,): 0.4}, (1, 2), 0.65, (2,), False),
        ({(1,): 0.9, (2,): 0.5}, (1, 2), 0.9, (), True),
        ({(1,): 0.4, (2,): 0.4, (1, 2): 0.9}, (1, 2), 0.9, (), True),
        ({(1,): 0.4, (2,): 0.4, (1, 2): 0.9}, (2, 1), 0.9, (), True),
        ({(1,): 0.4, (2,): 0.4, (1, 2): 0.9}, (1, 2, 3), 0.45, (3,), False),
        ({(1,): 0.4}, (1,), 0.4, (1,), False),
        ({}, (1, 2), 0.0, (1, 2), False),
    ],
)
def test_one_source_that_carries_nothing_weighs(
    written: Mapping[tuple[int, ...], float], cited: tuple[int, ...], score: float, idle: tuple[int, ...], carried: bool
) -> None:
    scorer = Written({"Alpha": written})
    sources = grounds_of_sources(SOURCES).sources
    found = weigh(scorer.compare(["Alpha is so."], sources), scorer, 0, {number: number - 1 for number in cited})
    assert (found.score, found.idle, found.carried) == (pytest.approx(score), idle, carried)


@pytest.mark.parametrize(("whole", "verdict"), [(0.5, "supported"), (0.49, "partly")])
def test_what_is_carried_clause_by_clause_is_a_part_where_the_whole_is_not(whole: float, verdict: str) -> None:
    scorer = Written({"Alpha": {(1,): 0.9, (1, 2): whole}, "while": {(2,): 0.9}, "Beta": {(2,): 0.9}})
    (claim,) = check_answer("Alpha sings there [1], while Beta dances here [2].", grounds_of_sources(SOURCES), scorer).claims
    assert (claim.verdict, [clause.verdict for clause in claim.clauses]) == (verdict, ["supported", "supported"])


@pytest.mark.parametrize(("score", "part", "shown"), [(0.3, 0.5, 1), (0.5, 0.3, 1), (0.49, 0.49, 0)])
def test_a_place_that_carries_a_part_is_shown_whatever_the_whole_comes_to(score: float, part: float, shown: int) -> None:
    bench = Bench(grounds_of_sources(SOURCES), Compared(Written({}), [], []), Written({}), {}, {}, {})
    assert len(bench.places(Match(score, (Found(1, 0, 1, part),)))) == shown
