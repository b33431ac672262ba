"""Which expected passages an answer stands on, character by character."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxasm.citations.checked import CheckedClaim, Claim, Disputed, Figures, Support, Verdict
from ctxasm.citations.figures import cited_passages, used_passages
from ctxasm.citations.report import CheckedAnswer
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import GoldChunk, Query, Span
from ctxasm.model.results import Assembly, Candidate, Fate, Key, Segment
from ctxasm.model.support import Conflict
from tests.contexts import make_assembly

CHUNKS = [
    FetchedChunk("a", 0, "0123456789", 0, 10),
    FetchedChunk("a", 1, "abcdefghij", 10, 20),
    FetchedChunk("b", 0, "abcdefghij", 100, 110),
    FetchedChunk("b", 1, "0123456789", 110, 120),
    FetchedChunk("c", 0, "no place"),
    FetchedChunk("d", 0, "", 0, 0),
    FetchedChunk("e", 0, "wrong place", 0, 5),
]
SEGMENTS = [
    Segment("header", 0, 4, 1, 1, "a", 0, 0, 4),
    Segment("chunk", 4, 14, 1, 1, "a", 0, 0, 10),
    Segment("gap", 14, 16, 1, 1),
    Segment("chunk", 16, 22, 1, 1, "a", 1, 2, 8),
    Segment("chunk", 30, 38, 1, 2, "c", 0, 0, 8),
    Segment("chunk", 40, 50, 1, 3, "a", 9, 0, 10),
    Segment("chunk", 50, 52, 1, 3, "a", None, 0, 2),
    Segment("chunk", 52, 54, 1, 3, None, 0, 0, 2),
    Segment("chunk", 54, 56, 1, 3, "b", 1, None, None),
]
"""Of the context: all of the first chunk, characters 2 to 8 of the second, one without a place, and one that nothing retrieved."""


def context(*, spans: tuple[Span, ...] = (), gold: tuple[GoldChunk, ...] = ()) -> Assembly:
    base = make_assembly()
    kept = {(one.document_id, one.chunk_index): Candidate(one, True, 1.0, 1) for one in CHUNKS}
    fates = (
        Fate("a", 0, True, 1.0, 1, "kept", "budget"),
        Fate("b", 0, True, 1.0, 1, "duplicate_of", "deduplicate", of=("a", 1)),
        Fate("b", 1, True, 1.0, 1, "duplicate_of", "deduplicate", of=("a", 1)),
    )
    trace = replace(base.trace, candidates=kept, fates=fates)
    return replace(base, query=Query("q", spans=spans, gold=gold), segments=tuple(SEGMENTS), trace=trace)


def support(start: int | None, end: int | None) -> Support:
    return Support(1, 0, 1, 1.0, context_start=start, context_end=end)


def answer(*claims: CheckedClaim) -> CheckedAnswer:
    return CheckedAnswer("q", "", "lexical", 0.78, (), claims, Figures(0, 0, None, None, None, None), {}, 0.0)


def claim(*places: tuple[int | None, int | None], verdict: Verdict = "supported") -> CheckedClaim:
    return CheckedClaim(Claim(0, 1, "x"), verdict, 1.0, tuple(support(*place) for place in places))


@pytest.mark.parametrize(
    ("place", "span", "is_used"),
    [
        ((4, 7), Span("a", 2, 9), True),
        ((4, 7), Span("a", 3, 9), False),
        ((4, 7), Span("b", 2, 9), False),
        ((7, 9), Span("a", 0, 3), False),
        ((7, 9), Span("a", 0, 4), True),
        ((4, 5), Span("a", 0, 1), True),
        ((4, 5), Span("a", 1, 2), False),
        ((0, 4), Span("a", 0, 5), False),  # a header shows no chunk
        ((0, 5), Span("a", 1, 5), False),
        ((13, 16), Span("a", 10, 20), False),
        ((13, 17), Span("a", 12, 13), True),
        ((13, 17), Span("a", 13, 20), False),
        ((21, 30), Span("a", 17, 18), True),
        ((21, 30), Span("a", 18, 20), False),
        ((16, 17), Span("b", 102, 103), True),  # of an exact copy
        ((16, 17), Span("b", 103, 120), False),
        ((4, 5), Span("b", 100, 120), False),  # the copy is one of another chunk
        ((16, 17), Span("x", 0, 9, (Span("y", 0, 9), Span("a", 12, 13))), True),
        ((40, 50), Span("a", 0, 20), False),  # of no chunk that was retrieved
        ((50, 56), Span("a", 0, 20), False),
        ((50, 56), Span("b", 110, 120), False),
    ],
)
def test_a_span_is_used_by_the_characters_that_a_claim_stands_on(place: tuple[int, int], span: Span, is_used: bool) -> None:
    assert used_passages(context(spans=(span,)), answer(claim(place))) == (is_used, 1)


def test_every_claim_counts_that_no_source_contradicts_by_what_it_cites_or_should() -> None:
    here = context(spans=(Span("a", 0, 1), Span("a", 5, 6), Span("a", 12, 13), Span("a", 9, 10)))
    better = replace(claim(verdict="elsewhere"), better_support=support(9, 10))
    assert used_passages(here, answer(claim((4, 5), (16, 17)), better)) == (3, 4)
    assert used_passages(here, answer(claim((4, 5), verdict="contradicted"), better)) == (1, 4)
    assert used_passages(here, answer(replace(better, verdict="contradicted"))) == (0, 4)
    assert used_passages(here, answer(claim((None, 9), (4, None), (None, None)))) == (0, 4)


@pytest.mark.parametrize(
    ("spans", "gold", "expected"),
    [
        ((), (GoldChunk("a", 0), GoldChunk("a", 1)), (1, 2)),
        ((), (), (0, 0)),
        # beside a span what came with the data does not count, nor what a person added that holds it
        ((Span("a", 0, 1),), (GoldChunk("a", 0), GoldChunk("b", 1)), (1, 1)),
        ((Span("a", 0, 1),), (GoldChunk("a", 0, "hand"),), (1, 1)),
        ((Span("a", 9, 10),), (GoldChunk("a", 0, "hand"),), (0, 1)),
        ((Span("a", 10, 11),), (GoldChunk("a", 0, "hand"),), (1, 2)),
        ((Span("a", 9, 10),), (GoldChunk("a", 1, "hand"),), (0, 2)),
        ((Span("a", 0, 1),), (GoldChunk("b", 0, "cited"),), (1, 2)),
        ((Span("a", 100, 110),), (GoldChunk("b", 0, "hand"),), (0, 2)),
        ((Span("x", 0, 1, (Span("a", 0, 1),)),), (GoldChunk("a", 0, "hand"),), (1, 1)),
        ((Span("a", 0, 1),), (GoldChunk("nowhere", 0, "hand"),), (1, 2)),
        ((Span("d", 0, 1),), (GoldChunk("d", 0, "hand"),), (0, 2)),
        # of a document whose chunks do not say where they stand, or say what cannot be, no span is judged
        ((Span("c", 0, 1),), (GoldChunk("a", 0),), (1, 1)),
        ((Span("e", 0, 1),), (GoldChunk("a", 0),), (1, 1)),
        ((Span("x", 0, 1, (Span("c", 0, 1),)),), (GoldChunk("a", 0),), (1, 1)),
        ((Span("c", 0, 1), Span("a", 0, 1)), (GoldChunk("a", 1),), (1, 1)),
        ((Span("c", 0, 1), Span("a", 5, 6)), (GoldChunk("c", 0, "hand"),), (0, 2)),
    ],
)
def test_expected_are_spans_and_what_a_person_added_beside_them(
    spans: tuple[Span, ...], gold: tuple[GoldChunk, ...], expected: tuple[int, int]
) -> None:
    assert used_passages(context(spans=spans, gold=gold), answer(claim((4, 5)))) == expected


def test_the_chunk_of_a_claim_and_its_exact_copy_are_used_and_a_likeness_of_it_is_not() -> None:
    gold = (GoldChunk("a", 1), GoldChunk("b", 0), GoldChunk("b", 1), GoldChunk("c", 0))
    assert used_passages(context(gold=gold), answer(claim((16, 17)))) == (2, 4)
    assert used_passages(context(gold=gold), answer(claim((30, 31)))) == (1, 4)


DISPUTE = Disputed(Conflict("number", "1", "2", 1, 0, 1), support(4, 5))


@pytest.mark.parametrize(
    ("claims", "keys"),
    [
        ([claim((16, 17), (4, 5)), claim((5, 6), (30, 31))], [("a", 1), ("a", 0), ("a", 0), ("c", 0)]),
        ([claim((12, 18))], [("a", 0), ("a", 1)]),
        ([claim((14, 16))], []),
        ([claim((0, 4))], []),
        ([claim((50, 56))], []),
        ([claim((None, 5), (4, None))], []),
        ([claim((4, 5), verdict="partly"), claim((16, 17), verdict="elsewhere")], []),
        ([replace(claim((4, 5)), disputed=DISPUTE), claim((16, 17))], [("a", 1)]),
        ([replace(claim(), better_support=support(4, 5))], []),
    ],
)
def test_the_chunks_that_claims_stand_on_by_what_they_cite(claims: list[CheckedClaim], keys: list[Key]) -> None:
    assert [key for each in claims for key in cited_passages(context(), each)] == keys
