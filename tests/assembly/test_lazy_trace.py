"""The explanation is worked out when it is read: once, by whichever thread comes first, and from what was read then."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.trace import _Ledger
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import Store
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

CHUNKS = [Chunk(f"d{n}", i, f"Document {n} says {i} of what it has to say, and no more than that.\n") for n in range(6) for i in range(4)]
HITS = tuple(Hit(f"d{n}", i, 1 - n / 10 - i / 100) for n in range(6) for i in (0, 2))


def assembled(policy: str = "drop_documents") -> Assembly:
    source = FakeSource([Document(f"d{n}", f"Title {n}") for n in range(6)], CHUNKS, COUNTER)
    return assemble(Query("q", HITS), source, AssemblySettings(budget_policy=policy), COUNTER, FakeClock(), 200)


def test_text_and_citations_need_no_explanation(monkeypatch):
    begun = []

    def unread(ledger: _Ledger) -> None:
        raise AssertionError("nobody asked")

    for name in ("stages", "fates", "sizes", "regret"):
        monkeypatch.setattr(_Ledger, name, unread)
    begin = _Ledger.__init__
    monkeypatch.setattr(_Ledger, "__init__", lambda ledger, passed: begun.append(passed) or begin(ledger, passed))
    done = assembled()
    assert done.text
    assert done.token_count == COUNTER.count(done.text)
    assert done.citations
    assert done.segments
    assert not begun
    assert done.trace.candidates
    assert len(begun) == 1
    assert done.trace.fetch.statements == 1


def test_it_is_worked_out_once_however_many_threads_read_it(monkeypatch):
    counted = []
    fates = _Ledger.fates
    monkeypatch.setattr(_Ledger, "fates", lambda ledger: counted.append(1) or fates(ledger))
    for policy in ("drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"):
        counted.clear()
        alone, shared, together = assembled(policy).to_dict(), assembled(policy), Barrier(4)
        counted.clear()

        def read(done: Assembly = shared, start: Barrier = together) -> object:
            start.wait()
            return done.to_dict()

        with ThreadPoolExecutor(4) as threads:
            read_by_each = [future.result() for future in [threads.submit(read) for _ in range(4)]]
        assert read_by_each == [alone] * 4
        assert len(counted) == 1


def test_a_pickle_or_a_deep_copy_has_all_of_it():
    """A page keeps assemblies as pickles, a sweep of one's own sends them to other processes."""
    for policy in ("drop_documents", "pack"):
        for copied in (copy.deepcopy(assembled(policy)), pickle.loads(pickle.dumps(assembled(policy)))):
            assert copied == assembled(policy)
            assert copied.to_dict() == assembled(policy).to_dict()


def test_a_copy_that_shares_the_explanation_does_not_begin_it(monkeypatch):
    begun = []
    begin = _Ledger.__init__
    monkeypatch.setattr(_Ledger, "__init__", lambda ledger, passed: begun.append(passed) or begin(ledger, passed))
    done = assembled()
    shared = copy.copy(done)
    assert not begun
    assert shared.trace is done.trace
    assert len(begun) == 1


def test_records_without_metadata_can_be_copied():
    bundle = Bundle("b", (Document("d0", "Title"),), tuple(CHUNKS[:4]), (Query("q", HITS[:1], "q1"),))
    for copied in (copy.deepcopy(bundle), pickle.loads(pickle.dumps(bundle))):
        assert copied == bundle
        assert copied.chunks[0].metadata is bundle.chunks[0].metadata
    with pytest.raises(TypeError):
        bundle.chunks[0].metadata["by"] = "me"


def test_what_is_read_later_is_what_was_there_when_it_was_assembled():
    source = FakeSource([Document("d0", "Title")], CHUNKS[:4], COUNTER)
    done = assemble(Query("q", HITS[:2]), source, AssemblySettings(), COUNTER, FakeClock(), 60)
    source.stored.clear()
    source.documents.clear()
    again = assemble(
        Query("q", HITS[:2]), FakeSource([Document("d0", "Title")], CHUNKS[:4], COUNTER), AssemblySettings(), COUNTER, FakeClock(), 60
    )
    assert done.to_dict() == again.to_dict()
    assert len(source.asked) == 1


def test_a_trace_with_another_part_keeps_the_rest():
    trace = assembled().trace
    other = replace(trace, fates=())
    assert (other.fates, other.stages, other.sizes, other.regret) == ((), trace.stages, trace.sizes, trace.regret)
    assert replace(other, fates=trace.fates) == trace


def test_the_store_is_let_go_before_anything_is_explained(tmp_path):
    bundle = Bundle("b", tuple(Document(f"d{n}") for n in range(6)), tuple(CHUNKS))
    with Store(f"sqlite:///{tmp_path / 'a.db'}", COUNTER) as store:
        store.add(bundle)
        dataset = store.dataset("b")
        done = assemble(Query("q", HITS), dataset, AssemblySettings(), COUNTER, FakeClock(), 200)
        let_go = weakref.ref(dataset)
    del dataset, store
    gc.collect()
    assert let_go() is None
    (tmp_path / "a.db").unlink()
    fates = {(fate.document_id, fate.chunk_index): fate for fate in done.trace.fates}
    assert len(fates) == len(CHUNKS)
    assert all(fate.tokens for fate in fates.values())


def test_a_frame_of_the_trace_has_a_row_a_fate():
    done = assembled()
    frame = done.trace.to_pandas()
    assert list(frame) == [
        "document_id",
        "chunk_index",
        "retrieved",
        "score",
        "rank",
        "fate",
        "stage",
        "reason",
        "tokens",
        "missing_tokens",
    ]
    assert [tuple(row) for row in frame[["document_id", "chunk_index", "fate"]].itertuples(index=False)] == [
        (each.document_id, each.chunk_index, each.fate) for each in done.trace.fates
    ]
    assert {each.fate for each in done.trace.fates} >= {"kept", "dropped"}
    lacking = [each.missing_tokens for each in done.trace.fates if each.missing_tokens is not None]
    assert list(frame.missing_tokens.dropna()) == lacking
    assert lacking
