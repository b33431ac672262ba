"""A cited number that no block has: which document it would have been, and which stage dropped it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.citations.checked import DroppedSource
from ctxasm.citations.grounds import dropped_numbers
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly, DocumentSize, Fate, PreCitation
from ctxasm.model.settings import AssemblySettings
from tests.contexts import make_assembly
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER


def fate(document_id: str, stage: str = "budget", reason: str | None = "budget", **more: object) -> Fate:
    values = {"retrieved": True, "score": 0.5, "rank": 1, "fate": "dropped", **more}
    return Fate(document_id, 0, stage=stage, reason=reason, **values)  # type: ignore[arg-type]


def with_trace(kept: int, sizes: str, before: str, fates: list[Fate]) -> Assembly:
    """Blocks 1 to `kept` are documents A, B, …; one letter a document in the other lists."""
    base = make_assembly()
    citations = tuple(replace(base.citations[0], number=n + 1, document_id="ABCDEFGH"[n]) for n in range(kept))
    trace = replace(
        base.trace,
        sizes=tuple(DocumentSize(name, 10, 10, n < kept, None) for n, name in enumerate(sizes)),
        before_assembly=tuple(PreCitation(n, name) for n, name in enumerate(before, 1)),
        fates=tuple(fates),
    )
    return replace(base, citations=citations, trace=trace)


def test_dropped_documents_go_on_after_the_kept_ones() -> None:
    done = with_trace(2, "ABCD", "ABCD", [fate("C"), fate("D", "budget", "oversized")])
    assert dropped_numbers(done, (4, 1, 3, 3, 9)) == (
        DroppedSource(4, "D", "budget", "oversized"),
        DroppedSource(3, "C", "budget", "budget"),
    )


def test_beyond_that_order_the_list_before_assembly_tells() -> None:
    done = with_trace(1, "AB", "ABX", [fate("B"), fate("X", "floor", "floor")])
    assert dropped_numbers(done, (2, 3)) == (DroppedSource(2, "B", "budget", "budget"), DroppedSource(3, "X", "floor", "floor"))


def test_the_document_order_goes_before_the_list_before_assembly() -> None:
    done = with_trace(1, "AB", "AXB", [fate("B"), fate("X", "floor", "floor")])
    assert [source.document_id for source in dropped_numbers(done, (2,))] == ["B"]


def test_a_kept_document_explains_no_other_number() -> None:
    done = with_trace(2, "AB", "ACAB", [fate("A", "floor", "floor")])
    assert dropped_numbers(done, (1, 2, 3, 4, 0, 2024)) == ()


def test_the_number_of_a_block_is_that_block_whatever_stood_there_before() -> None:
    assert dropped_numbers(with_trace(2, "AB", "ACAB", [fate("C")]), (2,)) == ()


def test_without_a_block_the_first_number_is_the_first_document() -> None:
    assert dropped_numbers(with_trace(0, "AB", "", [fate("A"), fate("B")]), (0, 1)) == (DroppedSource(1, "A", "budget", "budget"),)


def test_what_was_dropped_speaks_before_what_repeats_another() -> None:
    fates = [fate("B", "deduplicate", None, fate="duplicate_of", of=("A", 0)), fate("B", "budget", "budget", rank=2)]
    assert dropped_numbers(with_trace(1, "AB", "A", fates), (2,)) == (DroppedSource(2, "B", "budget", "budget"),)


def test_a_document_that_only_repeats_another_was_a_duplicate() -> None:
    done = with_trace(1, "A", "AB", [fate("B", "deduplicate", None, fate="duplicate_of", of=("A", 0))])
    assert dropped_numbers(done, (2,)) == (DroppedSource(2, "B", "deduplicate", None),)


def test_the_best_retrieved_chunk_speaks_for_its_document() -> None:
    fates = [fate("B", "expand", "missing", retrieved=False), fate("B", "budget", "budget", rank=3), fate("B", "floor", "floor", rank=7)]
    assert dropped_numbers(with_trace(1, "AB", "A", fates), (2,)) == (DroppedSource(2, "B", "budget", "budget"),)


@pytest.mark.parametrize("limit", [40, 60, 90])
def test_of_a_real_assembly(limit: int) -> None:
    texts = {name: f"Document {name} says that the {word} desk is open until nine. " * 2 for name, word in zip("abcd", "wxyz", strict=True)}
    source = FakeSource([Document(name, name) for name in texts], [Chunk(name, 0, text) for name, text in texts.items()], COUNTER)
    query = Query("open?", retrieved=tuple(Hit(name, 0, 1.0 - n / 10, n + 1) for n, name in enumerate(texts)))
    done = assemble(query, source, AssemblySettings(top_k=3), COUNTER, FakeClock(), limit)
    kept = len(done.citations)
    assert 0 < kept < 3
    found = dropped_numbers(done, range(6))
    expected = [(n, "abc"[n - 1], "budget", "budget") for n in range(kept + 1, 4)]
    assert [(s.number, s.document_id, s.stage, s.reason) for s in found] == expected
