"""Orders of blocks: the sources' worked patterns, the best block where it belongs, and nothing lost on the way."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.assembly.order import auto, bookend, lost_in_middle
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.settings import AssemblySettings
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

ALL = ("document_first", "relevance", "chronological", "lost_in_middle", "bookend", "auto")


def test_lost_in_middle_alternates_from_both_ends():
    assert lost_in_middle([1, 2, 3, 4, 5]) == [1, 3, 5, 4, 2]
    assert lost_in_middle([1, 2, 3, 4]) == [1, 3, 4, 2]


def test_bookend_puts_the_second_best_last():
    assert bookend([1, 2, 3, 4, 5]) == [1, 3, 4, 5, 2]
    assert bookend([1, 2]) == [1, 2]


def test_auto_has_no_middle_to_avoid_up_to_three_blocks():
    assert auto([1, 2, 3]) == [1, 2, 3]
    assert auto([1, 2, 3, 4]) == [1, 3, 4, 2]


@given(st.lists(st.integers(), max_size=40))
def test_every_pattern_keeps_everything_and_the_best_first(best_first):
    for pattern in (lost_in_middle, bookend, auto):
        done = pattern(best_first)
        assert sorted(done) == sorted(best_first)
        assert done[:1] == best_first[:1]
        if len(best_first) > 3:
            assert done[-1] == best_first[1]


def corpus(*scores: float) -> tuple[FakeSource, Query]:
    """One hit a document, in the order d0, d1, …, with these scores; sources run the other way round."""
    documents = [Document(f"d{n}", f"Page {n}", f"{chr(122 - n)}.md", f"Summary {n}.") for n in range(len(scores))]
    chunks = [Chunk(f"d{n}", i, f"Text {i} of page {n} stands here. ", page_number=i + 1) for n in range(len(scores)) for i in range(3)]
    hits = tuple(Hit(f"d{n}", 1, score) for n, score in enumerate(scores))
    return FakeSource(documents, chunks, COUNTER), Query("q", hits)


def blocks(source: FakeSource, query: Query, **settings: object) -> list[tuple[str, tuple[int, ...]]]:
    done = assemble(query, source, AssemblySettings(**settings), COUNTER, FakeClock())
    return [(citation.document_id, citation.chunk_indexes) for citation in done.citations]


@pytest.mark.parametrize(
    ("ordering", "expected"),
    [
        ("document_first", "d1 d3 d0 d2"),
        ("relevance", "d1 d3 d0 d2"),
        ("chronological", "d3 d2 d1 d0"),
        ("lost_in_middle", "d1 d0 d2 d3"),
        ("bookend", "d1 d0 d2 d3"),
        ("auto", "d1 d0 d2 d3"),
    ],
)
def test_documents_stand_as_the_ordering_says(ordering, expected):
    source, query = corpus(0.5, 0.9, 0.4, 0.8)
    assert " ".join(document_id for document_id, _ in blocks(source, query, ordering=ordering)) == expected


def test_what_has_no_page_stands_before_the_first_page_of_its_source():
    chunks = [Chunk("a", 5, "No page is known of this one."), Chunk("a", 2, "This stands on the first page.", page_number=1)]
    source, query = FakeSource([], chunks, COUNTER), Query("q", (Hit("a", 5, 0.5), Hit("a", 2, 0.9)))
    found = blocks(source, query, ordering="chronological", citation_unit="chunk", expand_window=0)
    assert found == [("a", (5,)), ("a", (2,))]


def test_two_levels_order_documents_and_keep_reading_order_inside():
    documents = [Document("a", "A"), Document("b", "B")]
    chunks = [Chunk(d, i, f"Chunk {i} of {d}, which says something. ") for d in "ab" for i in range(6)]
    query = Query("q", (Hit("a", 0, 0.5), Hit("a", 4, 0.9), Hit("b", 2, 0.7)))
    source = FakeSource(documents, chunks, COUNTER)
    asked = {"ordering": "relevance", "citation_unit": "chunk", "expand_window": 0}
    assert blocks(source, query, **asked) == [("a", (4,)), ("b", (2,)), ("a", (0,))]
    assert blocks(source, query, order_level="document", **asked) == [("a", (0,)), ("a", (4,)), ("b", (2,))]


def test_a_summary_goes_with_the_first_block_of_its_document():
    source, query = corpus(0.5, 0.9, 0.4, 0.8)
    for ordering, unit in itertools.product(ALL, ("document", "passage", "chunk")):
        done = assemble(query, source, AssemblySettings(ordering=ordering, citation_unit=unit), COUNTER, FakeClock())
        first: dict[str, int] = {}
        for citation in done.citations:
            first.setdefault(citation.document_id, citation.number)
        prefixes = {segment.document_id: segment.block for segment in done.segments if segment.kind == "prefix"}
        assert prefixes == first


def test_neighbours_that_other_blocks_part_keep_their_heads():
    text = "This sentence is long enough to be shared. "
    chunks = [
        Chunk("a", 0, f"This is how a page begins that has more to say than its last sentence does. {text}"),
        Chunk("a", 1, f"{text}Middle. "),
        Chunk("b", 0, "Something else entirely stands in this one."),
    ]
    query = Query("q", (Hit("a", 0, 0.9), Hit("a", 1, 0.5), Hit("b", 0, 0.7)))
    source = FakeSource([Document("a"), Document("b")], chunks, COUNTER)
    asked = AssemblySettings(ordering="relevance", citation_unit="chunk", expand_window=0)
    done = assemble(query, source, asked, COUNTER, FakeClock())
    assert [c.chunk_indexes for c in done.citations] == [(0,), (0,), (1,)]
    assert done.text.count(text.strip()) == 2
    record = done.trace.stage("order")
    assert record is not None
    assert [type(event).__name__ for event in record.events] == ["Ordered", "Ordered", "Ordered", "Unstripped"]
    together = assemble(query, source, asked.replace(ordering="document_first"), COUNTER, FakeClock())
    assert together.text.count(text.strip()) == 1


def test_grouped_passages_of_a_document_stand_under_one_heading():
    documents = [Document("a", "Visiting hours"), Document("b", "Parking")]
    chunks = [Chunk(d, i, f"Chunk {i} of {d}, which says something. ") for d in "ab" for i in (0, 5)]
    query = Query("q", (Hit("a", 0, 0.9), Hit("a", 5, 0.8), Hit("b", 0, 0.7)))
    settings = AssemblySettings(format="grouped", citation_unit="passage", expand_window=0)
    done = assemble(query, FakeSource(documents, chunks, COUNTER), settings, COUNTER, FakeClock())
    assert [c.chunk_indexes for c in done.citations] == [(0,), (5,), (0,)]
    assert (done.text.count("Visiting hours"), done.text.count("Parking")) == (1, 1)
