"""A typed question searched in a dataset: in memory, by words, by meaning and both."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ctxasm.app.commands import search as command
from ctxasm.app.ui.frame import sidebar
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.errors import InvalidInput, NotFound
from ctxasm.model.progress import Progress
from ctxasm.model.records import Bundle, Chunk, Document, check_query
from ctxasm.model.search import SearchOptions
from ctxasm.model.settings import AssemblySettings
from ctxasm.retrieval.indexes import SearchStopped
from ctxasm.retrieval.ranking import WEIGHTS
from ctxasm.retrieval.searching import methods, save_query, search

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "search.md").read_text(encoding="utf-8")
HOURS, PARKING, MRI = "Bezoekuren zijn van 14 tot 20 uur.", "Parkeren kost twee euro.", "Metaal moet thuis blijven."


def bundle(name: str = "h", *, extra: str = "") -> Bundle:
    documents = (Document("a", "Bezoek"), Document("b", "MRI-scan"))
    texts = [("a", 0, HOURS), ("a", 1, PARKING + extra), ("b", 0, MRI)]
    return Bundle(name, documents, tuple(Chunk(name, index, text) for name, index, text in texts))


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Workbench]:
    made = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{tmp_path / 's.db'}", "HOME": str(tmp_path)}))
    made.store.add(bundle())
    yield made
    made.close()


def found(workbench: Workbench, question: str, **options: object) -> list[tuple[str, int]]:
    query = search(workbench, question, "h", SearchOptions(**options))  # type: ignore[arg-type]
    check_query(query)
    return [(hit.document_id, hit.chunk_index) for hit in query.retrieved]


def test_a_hybrid_search_says_how_each_hit_was_found(workbench: Workbench) -> None:
    query = search(workbench, "Wat zijn de bezoekuren?")
    assert query.search_method == "hybrid_bm25_vector"
    assert query.bm25_matches == 1
    assert re.fullmatch(r"typed-[0-9a-f]{12}", query.query_id)
    first = query.retrieved[0]
    assert (first.document_id, first.chunk_index, first.rank) == ("a", 0, 1)
    assert set(first.scores) == {"bm25", "bm25_rank", "vector", "vector_rank", "rrf"}
    assert first.score == first.scores["rrf"]
    assert query.best_similarity == round(max(hit.scores["vector"] for hit in query.retrieved), 4)
    assert [hit.rank for hit in query.retrieved] == [1, 2, 3]


def test_one_method_alone(workbench: Workbench) -> None:
    words = search(workbench, "Wat zijn de bezoekuren?", "h", SearchOptions("bm25"))
    assert (words.search_method, words.bm25_matches, words.best_similarity) == ("bm25_only", 1, None)
    assert [set(hit.scores) for hit in words.retrieved] == [{"bm25", "bm25_rank"}]
    meaning = search(workbench, "Wat zijn de bezoekuren?", "h", SearchOptions("vector"))
    assert (meaning.search_method, meaning.bm25_matches) == ("vector_only", None)
    assert [set(hit.scores) for hit in meaning.retrieved] == [{"vector", "vector_rank"}] * 3


def test_a_title_is_found_where_it_is_indexed_and_the_text_stays(workbench: Workbench) -> None:
    assert found(workbench, "mri", method="bm25") == []
    assert found(workbench, "mri", method="bm25", text="title") == [("b", 0)]
    query = search(workbench, "mri", "h", SearchOptions("bm25", "title"))
    assert MRI in workbench.assemble(query, AssemblySettings(), "h").text


def test_a_question_without_words_is_found_by_meaning_and_says_so(workbench: Workbench) -> None:
    query = search(workbench, "?!")
    assert query.search_method == "vector_only"
    assert "no words" in query.metadata["notes"][0]
    assert search(workbench, "wat is dit", "h").metadata["notes"]
    nothing = search(workbench, "?!", "h", SearchOptions("bm25"))
    assert (nothing.retrieved, nothing.search_method, nothing.bm25_matches) == ((), "bm25_only", 0)
    assert "no words" in nothing.metadata["notes"][0]


@pytest.mark.parametrize("question", ["", "  \n", "\u200b", "x" * 20_001, None])
def test_no_question_is_refused(workbench: Workbench, question: str) -> None:
    with pytest.raises(InvalidInput, match="the question must"):
        search(workbench, question)


def test_what_cannot_be_had_is_said(workbench: Workbench) -> None:
    with pytest.raises(InvalidInput, match=r"not enriched|not available"):
        search(workbench, "uren", "h", SearchOptions(text="enriched"))
    with pytest.raises(InvalidInput, match="the embedder must be one of"):
        search(workbench, "uren", "h", SearchOptions(embedder="nope"))
    with pytest.raises(NotFound):
        search(workbench, "uren", "elsewhere")
    ways = {way.name: way for way in methods(workbench, "h")}
    assert ways["hybrid"].available
    assert not ways["enriched"].available
    assert str(ways["enriched"]).startswith("enriched: ")


def test_a_dataset_without_chunks(workbench: Workbench) -> None:
    workbench.store.add(Bundle("empty", (Document("d"),)))
    for method in ("hybrid", "bm25", "vector"):
        query = search(workbench, "bezoekuren", "empty", SearchOptions(method))  # type: ignore[arg-type]
        assert query.retrieved == ()
        assert query.metadata["notes"] == ["the dataset holds no chunks"]
        check_query(query)


def test_a_question_in_another_language_is_told_what_finds_across_them(workbench: Workbench) -> None:
    def hint(question: str, **options: object) -> str:
        return " ".join(search(workbench, question, "h", SearchOptions(**options)).metadata["notes"])  # type: ignore[arg-type]

    assert "multilingual-e5-small" in hint("What should I leave behind?")
    assert "--embedder" in hint("What should I leave behind?", method="bm25")
    for alike in ("Wat laat ik achter?", "zeppelin", "?!", "What does Parkeren mean?"):
        assert "multilingual-e5-small" not in hint(alike)


def test_the_same_question_is_the_same_query(workbench: Workbench) -> None:
    one, other = search(workbench, "Wat zijn de bezoekuren?"), search(workbench, " Wat zijn de  bezoekuren? ")
    assert one.query_id == other.query_id
    assert (one.retrieved, one.metadata) == (other.retrieved, other.metadata)
    assert one.metadata["embedder"] == "wordllama"


def test_a_search_says_how_it_was_fused(workbench: Workbench) -> None:
    assert search(workbench, "Wat zijn de bezoekuren?").metadata["fusion"] == {"k": 60, "bm25": 1.0, "vector": 0.1}
    other = search(workbench, "Wat zijn de bezoekuren?", options=SearchOptions(fusion_k=10))
    assert other.metadata["fusion"] == {"k": 10, "bm25": 1.0, "vector": 0.1}
    for method in ("bm25", "vector"):
        assert search(workbench, "Wat zijn de bezoekuren?", options=SearchOptions(method)).metadata["fusion"] is None  # type: ignore[arg-type]


@pytest.mark.parametrize("told", [command.METHOD_HELP, sidebar.METHOD_HELP, GUIDE], ids=["command", "page", "guide"])
def test_what_the_vectors_weigh_is_said_where_a_method_is_chosen(told: str) -> None:
    """The help of the command and of the page, and the guide: `k`, and the weight of every embedder that has its own."""
    assert "k = 60" in told
    for embedder, weight in WEIGHTS.items():
        assert any(embedder in line and f" {weight:g}" in line and "reciprocal rank" in line for line in told.splitlines())


def test_an_index_is_made_once_and_anew_for_what_was_loaded_since(workbench: Workbench) -> None:
    told: list[Progress] = []
    workbench.store.add(bundle(extra=" Eenmalig."))
    search(workbench, "eenmalig", "h", report=told.append)
    assert {progress.what for progress in told} == {"reading chunks", "indexing words", "embedding chunks (wordllama)"}
    told.clear()
    assert search(workbench, "eenmalig", "h", report=told.append).bm25_matches == 1
    assert told == []
    workbench.store.add(bundle(extra=" Anders."))
    assert search(workbench, "eenmalig", "h", report=told.append).bm25_matches == 0
    assert next(progress.total for progress in told if progress.what.startswith("embedding")) == 1


def test_a_search_can_be_stopped_while_it_makes_its_index(workbench: Workbench) -> None:
    workbench.store.add(bundle(extra=" Gestopt."))
    with pytest.raises(SearchStopped, match="stopped on request"):
        search(workbench, "gestopt", "h", cancelled=lambda: True)
    assert search(workbench, "gestopt", "h").bm25_matches == 1


def test_a_saved_question_survives_the_next_load(workbench: Workbench) -> None:
    query = save_query(workbench, "h", search(workbench, "Wat zijn de bezoekuren?", "h"))
    workbench.store.add(bundle(extra=" Nieuw."))
    assert workbench.query("h", query.query_id) == query


def test_a_typed_question_that_came_with_an_export_can_be_saved_again(workbench: Workbench) -> None:
    query = search(workbench, "Wat zijn de bezoekuren?", "h")
    workbench.store.add(replace(bundle(), queries=(query,)))
    words = search(workbench, "Wat zijn de bezoekuren?", "h", SearchOptions("bm25"))
    again = [save_query(workbench, "h", words) for _ in range(2)]
    assert [entry.query_id for entry in workbench.query_list("h")] == [query.query_id, f"{query.query_id}-2"]
    assert workbench.query("h", query.query_id) == query
    assert workbench.query("h", again[1].query_id) == again[0] == again[1]


def test_many_search_while_one_loads_and_each_finds_one_version_whole(workbench: Workbench) -> None:
    wrong: list[object] = []
    done = threading.Event()

    def searching() -> None:
        while not done.is_set():
            query = search(workbench, "versie", "h", SearchOptions("bm25"))
            # Both chunks carry the word in every version: one hit only would be a mix.
            if [(hit.document_id, hit.chunk_index) for hit in query.retrieved] not in ([], [("a", 1)]):
                wrong.append(query.retrieved)

    def guarded() -> None:
        try:
            searching()
        except Exception as error:  # noqa: BLE001 (shown by the test)
            wrong.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(12):
        workbench.store.add(bundle(extra=f" Versie {number}."))
    done.set()
    for thread in threads:
        thread.join(20)
    assert wrong == []
    assert found(workbench, "versie 11", method="bm25") == [("a", 1)]
