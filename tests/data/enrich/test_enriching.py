"""A dataset is enriched by rules: what an index gets, what documents get, what is kept, what stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.enrich import enriching
from ctxasm.data.enrich.cache import enriched_texts, enrichment_stamp, state
from ctxasm.data.enrich.enriching import EnrichOptions, FailedBatch, enrich, estimate
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.progress import Progress
from ctxasm.model.records import Bundle, Chunk, Document
from ctxasm.model.search import SearchOptions
from ctxasm.retrieval.searching import search
from ctxasm.store.database import Store
from tests.data.enrich.corpus import COUNTER, DOCUMENTS, SUMMARY, chunks_of, long_bundle, small_bundle, workbench_with


@pytest.fixture(params=["memory", "sqlite"])
def workbench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workbench]:
    if request.param == "memory":
        yield workbench_with(small_bundle())
        return
    url = f"sqlite:///{tmp_path / 'w.db'}"
    opened = Workbench(Config(url), Store(url, COUNTER))
    opened.store.add(small_bundle())
    yield opened
    opened.close()


def all_chunks(workbench: Workbench, name: str | None = None) -> list[FetchedChunk]:
    return list(workbench.dataset(name).iter_chunks())


def test_every_chunk_gets_a_text_for_the_index_and_keeps_its_own(workbench: Workbench) -> None:
    before = all_chunks(workbench)
    assert enriched_texts(workbench, None, before) == [chunk.text for chunk in before]
    assert enrichment_stamp(workbench, None) == ""
    assert state(workbench) == ()
    done = enrich(workbench)
    assert (done.chunks, done.total, done.kept, done.documents, done.failed) == (6, 6, 0, 3, ())
    assert [chunk.text for chunk in all_chunks(workbench)] == [chunk.text for chunk in before]
    texts = enriched_texts(workbench, "klein", before)
    assert all(text.endswith(chunk.text) and len(text) > len(chunk.text) + 40 for text, chunk in zip(texts, before, strict=True))
    asked = next(text for text, chunk in zip(texts, before, strict=True) if chunk.text.startswith("De raadpleging"))
    assert asked.splitlines()[0].startswith("Cardiologie › Uw raadpleging (deel 2 van 3).")
    assert asked.splitlines()[1].startswith("Wat staat er over ")


def test_again_writes_nothing_and_changes_nothing(workbench: Workbench) -> None:
    enrich(workbench)
    stamp, content = enrichment_stamp(workbench, "klein"), workbench.store.dataset("klein").info.content_hash
    texts = enriched_texts(workbench, "klein", all_chunks(workbench))
    again = enrich(workbench, "klein")
    assert (again.chunks, again.kept) == (6, 6)
    assert (enrichment_stamp(workbench, "klein"), workbench.store.dataset("klein").info.content_hash) == (stamp, content)
    assert enriched_texts(workbench, "klein", all_chunks(workbench)) == texts


def test_summaries_go_to_documents_that_have_none_and_say_who_wrote_them(workbench: Workbench) -> None:
    enrich(workbench)
    found = {document.document_id: document for document in workbench.dataset().documents()}
    assert found["parking"].summary == SUMMARY
    assert "summary_made_by" not in found["parking"].metadata
    assert found["cardio"].summary is not None
    assert found["cardio"].summary.startswith("De dienst Cardiologie van het ziekenhuis")
    assert found["cardio"].metadata["summary_made_by"] == "extractive"


def test_without_summaries_documents_stay_as_they_are(workbench: Workbench) -> None:
    before = workbench.dataset().documents()
    enrich(workbench, None, EnrichOptions(summaries=False))
    assert workbench.dataset().documents() == before


def test_what_an_index_gets_follows_the_latest_run(workbench: Workbench) -> None:
    enrich(workbench)
    chunk = next(chunk for chunk in all_chunks(workbench) if chunk.document_id == "parking")
    stamps = {enrichment_stamp(workbench, "klein")}
    for options in (EnrichOptions(questions=False), EnrichOptions(contexts=False), EnrichOptions(max_chars=200)):
        enrich(workbench, "klein", options)
        (text,) = enriched_texts(workbench, "klein", [chunk])
        assert text.startswith("Parking (part 1") == options.contexts
        assert ("\nWhat " in f"\n{text}") == options.questions
        assert len(text) <= options.max_chars
        stamps.add(enrichment_stamp(workbench, "klein"))
    assert len(stamps) == 4


def test_the_counts_of_a_run_that_came_to_its_end_are_read(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    enrich(workbench)
    monkeypatch.setattr("ctxasm.data.enrich.cache._counted", lambda *_: pytest.fail("counted again"))
    assert state(workbench, "klein")[0].chunks == 6


def test_a_changed_document_is_written_again_and_the_others_are_known(workbench: Workbench) -> None:
    enrich(workbench)
    kept = [chunk for name in ("cardio", "diff") for chunk in chunks_of(name)]
    changed = chunks_of("parking", ("Parkeren is gratis voor bezoekers van het ziekenhuis.",))
    workbench.store.add(Bundle("klein", DOCUMENTS, (*kept, *changed)))
    again = enrich(workbench)
    assert (again.total, again.kept) == (6, 5)
    texts = enriched_texts(workbench, None, all_chunks(workbench))
    assert any("gratis voor bezoekers" in text and "\n" in text for text in texts)


def test_the_state_tells_how_far_it_is_also_after_another_load(workbench: Workbench) -> None:
    enrich(workbench)
    (told,) = state(workbench)
    assert (told.variant, told.documents, told.chunks, told.latest) == ("extractive", 3, 6, True)
    more = (*small_bundle().chunks, *chunks_of("new", ("Een nieuwe tekst.",)))
    workbench.store.add(Bundle("klein", (*DOCUMENTS, Document("new")), more))
    (told,) = state(workbench)
    assert (told.documents, told.chunks) == (3, 6)
    assert told.questions > 5


def test_cancel_keeps_what_is_done_and_a_limit_ends_it() -> None:
    workbench = workbench_with(long_bundle(30, 20))
    heard: list[Progress] = []
    stopped = enrich(workbench, None, EnrichOptions(), heard.append, lambda: len(heard) == 2)
    assert stopped.cancelled
    assert (stopped.chunks, stopped.total) == (200, 600)
    assert [progress.done for progress in heard] == [100, 200]
    assert "ended on request" in stopped.summary
    rest = enrich(workbench, None, EnrichOptions(limit=300))
    assert (rest.chunks, rest.kept) == (300, 200)
    whole = enrich(workbench)
    assert (whole.chunks, whole.kept) == (600, 300)


def test_a_batch_is_kept_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words and the ledger that counts them are one call of the shelf."""
    workbench = workbench_with(long_bundle(20, 10))
    sizes: list[int] = []
    keep = workbench.store.keep

    def watched(shelf: str, values: dict[str, str]) -> None:
        sizes.append(len(values))
        assert "dataset lang" in values
        keep(shelf, values)

    monkeypatch.setattr(workbench.store, "keep", watched)
    enrich(workbench)
    assert sizes == [211, 211, 1]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"variant": "magic"}, "one of extractive, model"),
        ({"chunks_per_call": 0}, "from 1 to 50"),
        ({"concurrency": 99}, "from 1 to 32"),
        ({"max_chars": True}, "max_chars"),
        ({"limit": 0}, "from 1"),
        ({"summaries": False, "contexts": False, "questions": False}, "at least one"),
    ],
)
def test_options_that_cannot_be(options: dict[str, object], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        EnrichOptions(**options)  # type: ignore[arg-type]


def test_a_model_that_is_not_configured_is_asked_for_in_a_sentence(workbench: Workbench) -> None:
    with pytest.raises(InvalidInput, match="CTXASM_LLM_BASE_URL"):
        enrich(workbench, None, EnrichOptions("model"))


def test_an_estimate_of_the_rules_is_free_and_writes_nothing(workbench: Workbench) -> None:
    told = estimate(workbench)
    assert (told.chunks, told.calls, told.tokens_in, told.cost) == (6, 0, 0, None)
    assert workbench.store.read_kept("enrichment extractive") == {}


def test_a_line_that_begins_far_to_the_right_is_enriched() -> None:
    text = f"INVOICE\n{' ' * 110}Total: 12 euros for the day ticket of the hospital car park.\n"
    done = enrich(workbench_with(Bundle("d", (), (Chunk("b", 0, text),))))
    assert (done.chunks, done.failed) == (1, ())


def test_a_fault_in_one_document_is_reported_and_the_others_are_written(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = enriching.whole_document

    def broken(document: Document, chunks: list[FetchedChunk]) -> object:
        if document.document_id == "cardio":
            raise IndexError("list index out of range")
        return whole(document, chunks)

    monkeypatch.setattr(enriching, "whole_document", broken)
    for _ in range(2):
        done = enrich(workbench)
        assert (done.chunks, done.total) == (3, 6)
        assert done.failed == (FailedBatch("Cardiologie", 3, "it cannot be enriched: 'IndexError: list index out of range'"),)
    monkeypatch.setattr(enriching, "whole_document", whole)
    done = enrich(workbench)
    assert (done.chunks, done.kept, done.failed) == (6, 3, ())


def test_a_request_to_end_is_no_fault_of_a_document(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(enriching, "whole_document", interrupted)
    with pytest.raises(KeyboardInterrupt):
        enrich(workbench)


def test_a_dataset_of_nothing_is_no_error() -> None:
    workbench = workbench_with(Bundle("leeg", (Document("d"),)))
    assert enrich(workbench).chunks == 0
    assert enriched_texts(workbench, "leeg", []) == []


def test_the_index_finds_a_chunk_by_words_that_only_its_document_says(workbench: Workbench) -> None:
    """The department of a visit that takes 30 minutes: nowhere in that chunk, but in what is indexed of it."""
    enrich(workbench)

    def found(text: str) -> set[tuple[str, int]]:
        query = search(workbench, "hartklachten", "klein", SearchOptions("bm25", text))  # type: ignore[arg-type]
        return {(hit.document_id, hit.chunk_index) for hit in query.retrieved}

    assert ("cardio", 1) not in found("raw")
    assert ("cardio", 1) in found("enriched")


def test_what_was_written_for_other_chunks_of_a_name_is_no_enrichment(workbench: Workbench) -> None:
    enrich(workbench)
    stamp = enrichment_stamp(workbench, "klein")
    other = Bundle("klein", (Document("x"),), tuple(Chunk("x", index, f"Something else {index}.") for index in range(30)))
    workbench.store.add(other)
    assert enrichment_stamp(workbench, "klein") == ""
    with pytest.raises(InvalidInput, match="dataset klein is not enriched"):
        search(workbench, "something", "klein", SearchOptions("bm25", text="enriched"))
    some = small_bundle()
    workbench.store.add(Bundle("klein", (*other.documents, *some.documents), (*other.chunks, *some.chunks)))
    assert enrichment_stamp(workbench, "klein") == stamp
    assert search(workbench, "wachtzaal", "klein", SearchOptions("bm25", text="enriched")).retrieved


def test_a_deleted_dataset_leaves_no_enrichment_to_the_next_of_its_name(workbench: Workbench) -> None:
    enrich(workbench)
    workbench.delete("klein")
    workbench.store.add(small_bundle())
    assert (enrichment_stamp(workbench, "klein"), state(workbench)) == ("", ())
    again = enrich(workbench)
    assert (again.kept, again.chunks) == (6, 6)


def test_datasets_of_equal_content_are_told_apart(workbench: Workbench) -> None:
    workbench.store.add(small_bundle("anders"))
    enrich(workbench, "klein", EnrichOptions(limit=1, summaries=False))
    enrich(workbench, "anders", EnrichOptions(summaries=False))
    assert enrichment_stamp(workbench, "klein") != enrichment_stamp(workbench, "anders")
    texts = SearchOptions("bm25", text="enriched")
    found = {name: [hit.document_id for hit in search(workbench, "part", name, texts).retrieved] for name in ("klein", "anders")}
    assert (found["klein"], "parking" in found["anders"]) == ([], True)
