"""Real exports of every library are recognised by what they hold, whatever they are called, and load without a problem."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from ctxasm import InvalidBundle
from ctxasm.data.files.formats import read_rows
from ctxasm.data.files.importing import import_files
from ctxasm.data.files.reading import Reading
from ctxasm.data.files.recognised import SHAPES, recognised
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.source import FileLimits
from ctxasm.model.records import Bundle, Chunk
from tests.data.files.recognised.make_exports import ANSWER, MAKERS, QUESTION, QUESTIONS, TEXTS

VALID = Path(__file__).parents[1] / "valid"
NAMES = {
    "langchain": "LangChain documents",
    "llamaindex": "LlamaIndex nodes",
    "haystack": "Haystack documents",
    "openinference": "OpenInference or GenAI spans",
    "langfuse": "Langfuse traces",
    "langsmith": "LangSmith runs",
    "ragas": "Ragas dataset",
    "beir": "BEIR or TREC collection",
}
TOLD_TWICE = ("ragas", "langsmith", "chroma", "deepeval")
"""Exports whose texts have no key of their own, or stand in several steps of a trace."""
MAPPED = ("chroma", "qdrant", "deepeval")
"""Exports that are no shape of their own: questions with lists of hits, mapped by their form."""
COUNTS = {  # documents, chunks, queries, queries with hits, answers
    "langchain/split_documents.jsonl": (2, 7, 0, 0, 0),
    "langchain/dumps.json": (2, 7, 0, 0, 0),
    "langchain/with_score.json": (2, 4, 1, 1, 0),
    "langchain/by_query.json": (2, 6, 3, 3, 0),
    "langchain/retrieval_qa.json": (2, 4, 1, 1, 1),
    "langchain/retrieval_chain.jsonl": (2, 6, 3, 3, 3),
    "llamaindex/nodes.json": (2, 6, 0, 0, 0),
    "llamaindex/docstore.json": (2, 6, 0, 0, 0),
    "llamaindex/retrieved.jsonl": (2, 4, 1, 1, 0),
    "llamaindex/response.json": (1, 3, 1, 1, 1),
    "haystack/split_documents.jsonl": (2, 6, 0, 0, 0),
    "haystack/documents_with_meta.json": (2, 6, 0, 0, 0),
    "haystack/pipeline_output.json": (1, 4, 1, 1, 1),
    "openinference/otel_spans.jsonl": (2, 6, 3, 3, 3),
    "openinference/otlp.jsonl": (2, 6, 3, 3, 3),
    "openinference/phoenix_spans.json": (2, 6, 3, 3, 3),
    "openinference/phoenix_dataframe.parquet": (2, 6, 3, 3, 3),
    "openinference/phoenix_dataframe.csv": (2, 6, 3, 3, 3),
    "openinference/phoenix_documents.csv": (2, 6, 3, 3, 0),
    "openinference/llamaindex_spans.jsonl": (1, 3, 1, 1, 1),
    "openinference/haystack_reranked.jsonl": (1, 4, 1, 1, 0),
    "langfuse/observations.jsonl": (2, 6, 3, 3, 3),
    "langfuse/traces.json": (2, 6, 3, 3, 3),
    "langsmith/runs.jsonl": (2, 7, 3, 3, 3),
    "langsmith/traces.json": (2, 7, 3, 3, 3),
    "chroma/query.json": (2, 6, 3, 3, 0),
    "qdrant/query_points.jsonl": (2, 6, 3, 3, 0),
    "deepeval/dataset.json": (5, 5, 3, 3, 3),
    "ragas/evaluation.jsonl": (4, 4, 2, 2, 2),
    "ragas/evaluation.csv": (4, 4, 2, 2, 2),
    "ragas/old_names.json": (4, 4, 2, 2, 2),
}
ALONE = sorted(COUNTS)
TOGETHER = ("beir/corpus.jsonl", "beir/queries.jsonl", "beir/qrels/test.tsv", "beir/run.trec")


def tables(name: str, called: str | None = None) -> list[Rows]:
    return read_rows((VALID / name).read_bytes(), called or name, FileLimits())


@cache
def loaded(*names: str) -> Reading:
    return import_files([(name.rpartition("/")[2], (VALID / name).read_bytes()) for name in names], name="export")


def test_every_export_is_here_and_can_be_made() -> None:
    found = {str(file.relative_to(VALID)) for file in VALID.rglob("*") if file.is_file()}
    assert found == set(MAKERS) == {*ALONE, *TOGETHER}


@pytest.mark.parametrize("name", [name for name in ALONE if name.startswith(MAPPED)])
def test_what_a_store_returned_is_a_list_of_hits(name: str) -> None:
    reading = loaded(name)
    assert any("read as questions with their hits, by its columns" in note for note in reading.notes)
    assert [query.query for query in reading.bundle.queries] == list(QUESTIONS)
    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in reading.bundle.chunks}
    for query in reading.bundle.queries:
        assert [hit.rank for hit in query.retrieved] == [1, 2, 3]
        assert all(texts[hit.document_id, hit.chunk_index] in " ".join(TEXTS.values()) for hit in query.retrieved)


@pytest.mark.parametrize("name", sorted(name for name in {*ALONE, *TOGETHER} if not name.startswith(MAPPED)))
def test_an_export_is_recognised_by_its_structure_and_by_one_shape_only(name: str) -> None:
    for called in (name, "upload" + name[name.rindex(".") :]):
        own = tables(name, called)
        assert [shape.name for shape in SHAPES if all(shape.recognise(rows) for rows in own)] == [NAMES[name.partition("/")[0]]]


@pytest.mark.parametrize("name", ALONE)
def test_an_export_loads(name: str) -> None:
    bundle = loaded(name).bundle
    answered = len(bundle.answers)
    with_hits = sum(bool(query.retrieved) for query in bundle.queries)
    assert (len(bundle.documents), len(bundle.chunks), len(bundle.queries), with_hits, answered) == COUNTS[name]


@pytest.mark.parametrize("name", [name for name in ALONE if not name.startswith(("ragas", "deepeval"))])
def test_every_text_is_as_the_library_cut_it_and_offsets_are_those_of_the_document(name: str) -> None:
    bundle = loaded(name).bundle
    sources = {document.document_id: document.source or document.document_id for document in bundle.documents}
    for chunk in bundle.chunks:
        text = TEXTS[sources[chunk.document_id].removeprefix("doc-")]
        assert chunk.text.strip() in text
        if chunk.start is not None:
            assert text[chunk.start : chunk.end] == chunk.text


@pytest.mark.parametrize("name", [name for name in ALONE if name.split("/")[0] in ("langchain", "llamaindex", "haystack")])
def test_chunks_are_neighbours_where_and_only_where_the_document_says_so(name: str) -> None:
    bundle = loaded(name).bundle
    sources = {document.document_id: document.source or document.document_id for document in bundle.documents}
    for before in bundle.chunks:
        for after in bundle.chunks:
            if before.document_id == after.document_id and after.chunk_index > before.chunk_index:
                text = TEXTS[sources[before.document_id].removeprefix("doc-")]
                begins, ends = text.index(after.text.strip()), text.index(before.text.strip()) + len(before.text.strip())
                assert text.index(before.text.strip()) <= begins
                assert (begins <= ends + 1) == (after.chunk_index == before.chunk_index + 1)


@pytest.mark.parametrize("name", [name for name in ALONE if COUNTS[name][4]])
def test_questions_and_answers_are_those_that_were_asked_and_given(name: str) -> None:
    bundle = loaded(name).bundle
    asked = {query.query_id: query.query for query in bundle.queries}
    assert QUESTION in asked.values()
    answers = {answer.answer for answer in bundle.answers}
    # LlamaIndex's mock model repeats its prompt, the others say what they were told to.
    assert answers == {ANSWER} or "llamaindex" in name
    assert {answer.query_id for answer in bundle.answers} == set(asked)


def test_a_collection_is_read_together() -> None:
    bundle = loaded(*TOGETHER).bundle
    gold = {query.query_id: [(g.document_id, g.chunk_index) for g in query.gold] for query in bundle.queries}
    assert gold == {"q1": [("opening.md", 0)], "q2": [("collectie.md", 0)], "q3": [("opening.md", 0)]}
    hits = {query.query_id: [(hit.document_id, hit.score, hit.rank) for hit in query.retrieved] for query in bundle.queries}
    assert hits["q1"] == [("opening.md", 12.5, 1), ("collectie.md", 3.25, 2)]
    assert {query.search_method for query in bundle.queries} == {"bm25"}
    assert {document.title for document in bundle.documents} == {"opening", "collectie"}


def test_a_corpus_gives_the_neighbours_of_what_was_retrieved() -> None:
    bundle = loaded("langchain/split_documents.jsonl", "langchain/by_query.json").bundle
    assert bundle.chunks == loaded("langchain/split_documents.jsonl").bundle.chunks
    assert len(bundle.queries) == 3


def unnamed(bundle: Bundle) -> dict[tuple[str, int], Chunk]:
    """The chunks by place, without the names that only some forms of a trace record."""
    return {
        (chunk.document_id, chunk.chunk_index): replace(chunk, metadata={key: own for key, own in chunk.metadata.items() if key != "id"})
        for chunk in bundle.chunks
    }


def test_the_forms_of_one_trace_say_the_same() -> None:
    names = [name for name in ALONE if name.startswith(("openinference/ot", "openinference/p", "langfuse"))]
    found = [loaded(name).bundle for name in names]
    assert len(found) == 8
    for bundle in found[1:]:
        assert unnamed(bundle) == unnamed(found[0])
        assert sorted((q.query, q.retrieved) for q in bundle.queries) == sorted((q.query, q.retrieved) for q in found[0].queries)


def test_a_reranker_has_the_last_word_and_the_first_scores_stay() -> None:
    bundle = loaded("openinference/haystack_reranked.jsonl").bundle
    (query,) = bundle.queries
    lengths = {chunk.chunk_index: len(chunk.text) for chunk in bundle.chunks}
    assert [hit.score for hit in query.retrieved] == [100 / lengths[hit.chunk_index] for hit in query.retrieved]
    assert query.retrieved[0].score > query.retrieved[1].score
    assert [set(hit.scores) for hit in query.retrieved] == [{"rerank", "retrieval"}] * 2
    assert len(bundle.chunks) == 4


@pytest.mark.parametrize("name", [name for name in ALONE if COUNTS[name][3]])
def test_what_was_derived_is_said(name: str) -> None:
    notes = " ".join(loaded(name).notes)
    assert "expansion finds no other neighbours" in notes
    assert ("the score is 1 / rank" in notes) == all(
        hit.score == 1 / (hit.rank or 0) for q in loaded(name).bundle.queries for hit in q.retrieved
    )


def test_reference_contexts_are_gold_among_what_was_retrieved() -> None:
    for name in ("ragas/evaluation.jsonl", "ragas/evaluation.csv"):
        for query in loaded(name).bundle.queries:
            assert (query.gold[0].document_id, query.gold[0].chunk_index) == (query.retrieved[0].document_id, 0)
            assert query.answer == "At ten in the morning."


@pytest.mark.parametrize("name", [name for name in ALONE if name.endswith((".json", ".jsonl")) and not name.startswith(TOLD_TWICE)])
def test_a_row_without_its_text_is_a_problem_of_that_row(name: str) -> None:
    """The first text of the file is taken away, wherever the shape keeps it: nothing is loaded without it in silence."""
    raw = (VALID / name).read_text(encoding="utf-8")
    keys = ('"page_content"', '"text"', '"content"', 'documents.0.document.content"')
    key = next(k for k in (keys[3:] if "openinference" in name else keys) if k in raw)
    with pytest.raises(InvalidBundle, match=r"text: |retrieved\[0\]: must name a chunk"):
        import_files([(name.rpartition("/")[2], raw.replace(key, key[:-1] + '_gone"', 1).encode())])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_the_library_of_today_still_writes_this(name: str, tmp_path: Path) -> None:
    """Made again by the library that is installed here: the same shape, the same number of everything."""
    made = tmp_path / name
    made.parent.mkdir(parents=True)
    try:
        MAKERS[name](made)
    except (ImportError, AttributeError) as error:
        pytest.skip(f"a library is not installed: {error}")
    again = read_rows(made.read_bytes(), made.name, FileLimits())
    assert [rows.columns for rows in again] == [rows.columns for rows in tables(name)]
    shape = recognised(again)
    assert (shape.name if shape else None) == NAMES.get(name.partition("/")[0])
    if name in COUNTS:
        bundle = import_files([(made.name, made.read_bytes())]).bundle
        assert (len(bundle.documents), len(bundle.chunks), len(bundle.queries)) == COUNTS[name][:3]
