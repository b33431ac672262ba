"""Citations at their bounds: how long a snippet is, and which chunk of a block speaks for it."""

from __future__ import annotations

import pytest

from ctxasm.assembly.cite import cite_before_assembly, reference, snippet
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import PreCitation
from ctxasm.model.settings import AssemblySettings
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 199 + " y", "x" * 199 + "…"),
        ("x" * 150 + " " + "y" * 60, "x" * 150 + "…"),
        ("x" * 100 + " " + "y" * 150, "x" * 100 + "…"),  # half of it is enough
        ("x" * 99 + " " + "y" * 150, "x" * 99 + " " + "y" * 99 + "…"),  # less is not
        ("x" * 198 + "  yyy", "x" * 198 + "…"),
        ("  a\n\tb ", "a b"),
        (" " * 300 + "late", "late"),
        ("a" + " " * 258 + "x" * 500, "a " + "x" * 197 + "…"),
        ("a" + " " * 70 + "x" * 139, "a " + "x" * 139),
    ],
)
def test_a_snippet_has_two_hundred_characters_and_ends_at_a_word(text: str, shown: str) -> None:
    assert snippet(text) == shown
    assert len(shown) <= 200


def test_a_reference_names_the_source_before_the_title() -> None:
    assert reference(Document("d", "Title", "a.md"), "Opening  hours") == "a.md § Opening hours"
    assert reference(Document("d", "Title"), None) == "Title"
    assert reference(Document("d"), "") == "d"


def test_the_best_hit_of_a_block_speaks_for_it() -> None:
    chunks = [Chunk("a", index, f"text number {index}", page_number=index, section=f"part {index}") for index in range(5)]
    hits = (Hit("a", 1, 0.3, 1), Hit("a", 2, 0.3, 2), Hit("a", 3, -0.9, 3))
    done = assemble(Query("q", hits), FakeSource([], chunks, COUNTER), AssemblySettings(), COUNTER, FakeClock())
    assert [(citation.number, citation.page_number, citation.ref) for citation in done.citations] == [(1, 1, "a § part 1")]
    assert done.citations[0].chunk_indexes == (0, 1, 2, 3, 4)


def test_hits_are_numbered_from_one_in_the_order_of_retrieval() -> None:
    assert cite_before_assembly([Hit("b", 1, 0.5), Hit("a", 2, 0.9)]) == (PreCitation(1, "b"), PreCitation(2, "a"))
