"""Search by the engine that holds the table: full text and vectors of PostgreSQL, FTS5 of SQLite, BM25 in memory where neither is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from test_only_read import HOSTILE
from user_tables import Place

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.tables.connecting import link, statements, table_mapping
from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.data.tables.search import all_statements
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.search import SearchOptions
from ctxasm.retrieval.searching import methods, save_query, search
from ctxasm.retrieval.table_search import search_table
from ctxasm.store.database import MemoryStore

FIELDS = {"document_id": "d", "chunk_index": "i", "text": "x"}
TEXTS = {
    "parking": ["The car park is open all night.", "Visitors pay for parking at the desk; parking is free on Sunday."],
    "food": ["The restaurant serves soup.", "The restaurant is open until eight."],
    "rare": ["A zeppelin lands on the roof of the restaurant.", "Nothing else is said here."],
}


class ThreeNumbers:
    """An embedder that knows three words."""

    WORDS = ("park", "restaurant", "zeppelin")

    def embed_passages(self, texts: Sequence[str]) -> Any:
        import numpy as np

        found = np.array([[text.lower().count(word) + 0.01 for word in self.WORDS] for text in texts], np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def embed_query(self, text: str) -> Any:
        return self.embed_passages([text])[0]


class Sizes(ThreeNumbers):
    """An embedder of another size."""

    WORDS = ("a", "b", "c", "d")  # type: ignore[assignment]


class Other(ThreeNumbers):
    """An embedder of the same size that means something else by its numbers."""

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return -super().embed_passages(texts)


def make(place: Place, *more: str, columns: str = "") -> None:
    place.run(f"CREATE TABLE t (d text, i integer, x text{columns})")
    rows = [(d, i, text) for d, texts in TEXTS.items() for i, text in enumerate(texts)]
    place.fill("t (d, i, x)", rows)
    place.run(*more)


def opened(place: Place, fields: dict[str, str] | None = None) -> tuple[Workbench, LinkedDataset]:
    workbench = Workbench(Config("sqlite://", connections={"own": place.table(None)}), MemoryStore())
    link(workbench, "own", table_mapping("t", fields or FIELDS), "mine")
    found = workbench.dataset("mine")
    assert isinstance(found, LinkedDataset)
    return workbench, found


FTS5 = ("CREATE VIRTUAL TABLE f USING fts5(x, content='t', tokenize='porter')", "INSERT INTO f(f) VALUES ('rebuild')")
GIN = ("CREATE INDEX g ON t USING gin (to_tsvector('english', x))",)
WORDS = SearchOptions(method="bm25", limit=4)


@pytest.mark.parametrize("how", ["index", "none"])
def test_by_words(place: Place, how: str) -> None:
    make(place, *((FTS5 if place.kind == "sqlite" else GIN) if how == "index" else ()))
    workbench, dataset = opened(place)
    found = search_table(dataset, "Where does the zeppelin land, at the restaurant?", WORDS)
    assert (found.hits[0].document_id, found.hits[0].chunk_index) == ("rare", 0)
    assert {("food", 0), ("food", 1)} <= {(hit.document_id, hit.chunk_index) for hit in found.hits}
    assert (found.search_method, found.bm25_matches, found.best_similarity) == ("bm25_only", len(found.hits), None)
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
    assert [hit.scores["bm25_rank"] for hit in found.hits] == [hit.rank for hit in found.hits]
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    notes = " ".join(found.notes)
    if how == "index":
        assert notes == ""
    elif place.kind == "sqlite":
        assert "its rows were indexed in memory (BM25)" in notes
        assert "has no FTS5 table over its text" in notes
    else:
        assert "Run: CREATE INDEX CONCURRENTLY" in notes
        assert "USING gin (to_tsvector('english'::regconfig, \"x\"));" in notes
        place.run(notes.partition("Run: ")[2])
        again, dataset = opened(place)
        assert search_table(dataset, "zeppelin", WORDS).notes == ()
        again.close()
    workbench.close()


def test_the_scores_of_postgresql_are_those_of_an_index_in_memory(place: Place) -> None:
    from ctxasm.retrieval.analyser import analyser
    from ctxasm.retrieval.indexes import Bm25Index

    if place.kind == "sqlite":
        pytest.skip("FTS5 ranks by itself")
    texts = ["soep vis soep", "soep", "vis vlees brood water", "brood vis", "brood soep vis soep soep"]
    place.run("CREATE TABLE t (d text, i integer, x text)", "CREATE INDEX g ON t USING gin (to_tsvector('simple', x))")
    place.fill("t (d, i, x)", [("d", number, text) for number, text in enumerate(texts)])
    workbench, dataset = opened(place)
    wanted = Bm25Index(texts, analyser("nl")).search("soep of vis", 9)
    found = search_table(dataset, "soep vis", SearchOptions(method="bm25", limit=9)).hits
    assert [hit.chunk_index for hit in found] == [best.position for best in wanted]
    assert [hit.score for hit in found] == pytest.approx([best.score for best in wanted], abs=1e-5)
    workbench.close()


def test_a_hostile_question_finds_words_and_breaks_nothing(place: Place) -> None:
    make(place, *(FTS5 if place.kind == "sqlite" else GIN))
    workbench, dataset = opened(place)
    for question in (
        HOSTILE,
        '"',
        "' OR 1=1",
        '" OR *',
        "NEAR(",
        "zeppelin'\"; DROP TABLE t",
        "q:z",
        "!",
        "& | ! <->",
        "\\",
        "x" * 20_000,
        "zeppelin AND",
    ):
        found = search_table(dataset, question, WORDS)
        assert ("zeppelin" in question) == any(hit.document_id == "rare" for hit in found.hits if hit.chunk_index == 0)
    assert search_table(dataset, "?!", WORDS).hits == ()
    assert search_table(dataset, "?!", WORDS).notes == ("no chunk shares a word with the question",)
    workbench.close()


DUTCH = {"parkeren": ["Het parkeren kost twee euro, ook op zondag.", "De garage is de hele nacht open voor wie een kaart heeft."]}


@pytest.mark.parametrize(("texts", "config"), [(DUTCH, "dutch"), (TEXTS, "english")])
def test_the_table_tells_the_language_whatever_is_asked(place: Place, texts: dict[str, list[str]], config: str) -> None:
    if place.kind == "sqlite":
        pytest.skip("FTS5 has its own tokenizer")
    place.run("CREATE TABLE t (d text, i integer, x text)")
    place.fill("t (d, i, x)", [(d, i, text) for d, own in texts.items() for i, text in enumerate(own)])
    workbench, dataset = opened(place)
    for question in ("parkeren", "Wat kost het parkeren?", "What is the price of parking?"):
        assert f"to_tsvector('{config}'::regconfig" in " ".join(search_table(dataset, question, WORDS).notes)
    assert f"'{config}'::regconfig" in all_statements(dataset)["search_any_word"]
    workbench.close()


def test_a_table_without_rows_says_so(place: Place) -> None:
    make(place, *(FTS5 if place.kind == "sqlite" else GIN))
    workbench, dataset = opened(place)
    place.run("DELETE FROM t")
    found = search_table(dataset, "parking", WORDS)
    assert found.hits == ()
    assert "the dataset holds no chunks" in found.notes
    assert "shares a word" not in " ".join(found.notes)
    workbench.close()


def test_a_phrase_and_a_left_out_word_are_postgresql_s_own(place: Place) -> None:
    if place.kind == "sqlite":
        pytest.skip("FTS5 is asked for words only")
    make(place, *GIN)
    workbench, dataset = opened(place)
    one = SearchOptions(method="bm25", limit=1)
    assert [(hit.document_id, hit.chunk_index) for hit in search_table(dataset, '"open until eight"', one).hits] == [("food", 1)]
    assert [(hit.document_id, hit.chunk_index) for hit in search_table(dataset, "restaurant -soup -zeppelin", one).hits] == [("food", 1)]
    workbench.close()


@pytest.mark.parametrize("language", ["dutch", "simple"])
def test_a_tsvector_column_is_searched_in_its_own_language(place: Place, language: str) -> None:
    if place.kind == "sqlite":
        pytest.skip("SQLite has no tsvector")
    make(place, "CREATE INDEX g ON t USING gin (tsv)", columns=f", tsv tsvector GENERATED ALWAYS AS (to_tsvector('{language}', x)) STORED")
    workbench, dataset = opened(place, FIELDS | {"tsvector": "tsv"})
    assert f"'{language}'::regconfig" in all_statements(dataset)["search_any_word"]
    assert search_table(dataset, "zeppelin", WORDS).hits[0].document_id == "rare"
    assert search_table(dataset, "zeppelin", WORDS).notes == ()
    workbench.close()


def vectors(place: Place, kind: str = "vector(3)", index: str = "") -> None:
    make(place, f"ALTER TABLE t ADD COLUMN e {kind}", *GIN)
    embedder = ThreeNumbers()
    opening = ("'{", "}'") if kind.endswith("[]") else ("'[", "]'")
    for texts in TEXTS.values():
        for text in texts:
            made = opening[0] + ",".join(str(float(number)) for number in embedder.embed_query(text)) + opening[1]
            place.run(f"UPDATE t SET e = {made} WHERE x = '{text}'")
    if index:
        place.run(f"CREATE INDEX ON t USING {index}")


@pytest.mark.parametrize(
    ("kind", "index", "operator"),
    [
        ("vector(3)", "", "<=>"),
        ("vector(3)", "hnsw (e vector_cosine_ops)", "<=>"),
        ("vector(3)", "hnsw (e vector_l2_ops)", "<->"),
        ("vector(3)", "hnsw (e vector_ip_ops)", "<#>"),
        ("vector(3)", "ivfflat (e vector_cosine_ops) WITH (lists = 1)", "<=>"),
        ("vector", "", "<=>"),
        ("halfvec(3)", "hnsw (e halfvec_cosine_ops)", "<=>"),
        ("real[]", "", "<=>"),
        ("double precision[]", "", "<=>"),
    ],
)
def test_by_meaning(vector_place: Place, kind: str, index: str, operator: str) -> None:
    vectors(vector_place, kind, index)
    workbench, dataset = opened(vector_place, FIELDS | {"embedding": "e"})
    found = search_table(dataset, "A zeppelin", SearchOptions(method="vector", limit=3), ThreeNumbers())
    assert (found.hits[0].document_id, found.hits[0].chunk_index) == ("rare", 0)
    assert (found.search_method, found.bm25_matches, len(found.hits)) == ("vector_only", None, 3)
    assert found.best_similarity == pytest.approx(float(found.hits[0].scores["vector"]), abs=1e-3)
    assert found.best_similarity == pytest.approx(0.71, abs=0.05)
    assert f" {operator} " in all_statements(dataset)["search_vectors"]
    assert found.notes == ()
    hybrid = search_table(dataset, "A zeppelin", SearchOptions(limit=3), ThreeNumbers())
    assert hybrid.search_method == "hybrid_bm25_vector"
    assert set(hybrid.hits[0].scores) == {"bm25", "bm25_rank", "vector", "vector_rank", "rrf"}
    assert hybrid.hits[0].score == pytest.approx(2 / 61, abs=1e-6)
    assert (hybrid.bm25_matches, hybrid.hits[0].document_id) == (1, "rare")
    workbench.close()


def test_an_embedder_that_did_not_make_the_column(vector_place: Place) -> None:
    vectors(vector_place)
    workbench, dataset = opened(vector_place, FIELDS | {"embedding": "e"})
    by_meaning = SearchOptions(method="vector")
    with pytest.raises(InvalidInput, match="must give vectors of 3 numbers, as column 'e' holds, got 4: choose the embedder"):
        search_table(dataset, "park", by_meaning, Sizes())
    found = search_table(dataset, "park", SearchOptions(), Sizes())
    assert found.search_method == "bm25_only"
    assert "searched by words alone: the embedder must give vectors of 3 numbers" in " ".join(found.notes)
    assert "another embedder made the vectors of this table" in " ".join(search_table(dataset, "park", by_meaning, Other()).notes)
    with pytest.raises(InvalidInput, match="no embedder here gives vectors of 3 numbers"):
        search_table(dataset, "park", by_meaning)
    workbench.close()


def test_vectors_that_mean_nothing_move_no_hit(vector_place: Place) -> None:
    vectors(vector_place)
    workbench, dataset = opened(vector_place, FIELDS | {"embedding": "e"})
    question = "soup in the restaurant"
    words, hybrid = (search_table(dataset, question, SearchOptions(method), Other()) for method in ("bm25", "hybrid"))
    assert (hybrid.search_method, hybrid.best_similarity, hybrid.hits) == ("bm25_only", None, words.hits)
    note = " ".join(hybrid.notes)
    assert "searched by words alone: another embedder made the vectors" in note
    assert "--embedder NAME, or set CTXASM_EMBED_MODEL" in note
    assert len(search_table(dataset, question, SearchOptions("vector"), Other()).hits) == 6
    workbench.close()


def test_a_server_of_embeddings_that_is_down_leaves_words(vector_place: Place) -> None:
    class Down:
        def embed_query(self, text: str) -> Any:
            raise ModelUnavailable("the server does not answer")

        embed_passages = embed_query

    vectors(vector_place)
    workbench, dataset = opened(vector_place, FIELDS | {"embedding": "e"})
    found = search_table(dataset, "zeppelin", SearchOptions(), Down())
    assert (found.search_method, found.hits[0].document_id) == ("bm25_only", "rare")
    assert "searched by words alone: the server does not answer" in found.notes
    for options in (SearchOptions(method="vector"), SearchOptions(embedder="endpoint")):
        with pytest.raises(ModelUnavailable):
            search_table(dataset, "zeppelin", options, Down())
    workbench.close()


def test_without_vectors_words_alone(place: Place) -> None:
    make(place, *(FTS5 if place.kind == "sqlite" else GIN))
    workbench, dataset = opened(place)
    found = search_table(dataset, "zeppelin", SearchOptions(text="title"), ThreeNumbers())
    assert found.search_method == "bm25_only"
    reason = "SQLite compares no vectors" if place.kind == "sqlite" else "names no column of vectors (embedding)"
    assert any(reason in note for note in found.notes)
    assert any("not by text=title" in note for note in found.notes)
    ways = {way.name: way for way in methods(workbench, "mine")}
    assert (ways["bm25"].available, ways["vector"].available) == (True, False)
    assert reason in ways["vector"].reason
    assert [ways[text].available for text in ("raw", "title", "enriched")] == [True, False, False]
    assert "searched by its text as it is" in ways["title"].reason
    assert search(workbench, "zeppelin", "mine", SearchOptions(text="title")).metadata["indexed_text"] == "raw"
    with pytest.raises(InvalidInput, match="search by meaning cannot be had here"):
        search_table(dataset, "zeppelin", SearchOptions(method="vector"), ThreeNumbers())
    workbench.close()


def test_a_typed_question_goes_on_as_a_query_and_is_kept_in_our_own_store(place: Place) -> None:
    make(place, *(FTS5 if place.kind == "sqlite" else GIN))
    workbench, dataset = opened(place)
    query = search(workbench, "Where does the zeppelin land?", "mine", WORDS)
    assert (query.retrieved[0].document_id, query.search_method) == ("rare", "bm25_only")
    save_query(workbench, "mine", query)
    assert [entry.query_id for entry in dataset.query_list()] == [query.query_id]
    assert workbench.query("mine", query.query_id).retrieved == query.retrieved
    assert [info.queries for info in workbench.datasets()] == [1]
    assert "A zeppelin lands on the roof" in workbench.assemble(query, _settings(), "mine").text
    tables = {"t", "f", "f_config", "f_data", "f_docsize", "f_idx"} if place.kind == "sqlite" else {"t"}
    listed = (
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        if place.kind == "sqlite"
        else ("SELECT tablename FROM pg_tables WHERE schemaname = current_schema")
    )
    assert {row[0] for row in place.ask(listed)} == tables
    workbench.close()


def _settings() -> Any:
    from ctxasm.model.settings import AssemblySettings

    return AssemblySettings()


def test_the_statements_of_a_search_are_shown(place: Place) -> None:
    make(place, *(FTS5 if place.kind == "sqlite" else GIN))
    workbench, _ = opened(place)
    shown = statements(workbench, "own", table_mapping("t", FIELDS))
    common = {"fetch", "documents", "document_ids", "find_text", "chunks"} - {"documents"}
    words = {"search_words"} if place.kind == "sqlite" else {"search_words", "search_lexemes", "search_every_word", "search_any_word"}
    assert set(shown) == common | words
    if place.kind != "sqlite":
        assert "websearch_to_tsquery('english'::regconfig, %(question)s)" in shown["search_every_word"]
        assert "ts_rank_cd" in shown["search_every_word"]
    workbench.close()


def test_a_search_uses_the_indexes_of_a_large_table(vector_place: Place) -> None:
    from ctxasm.data.tables.checks import explain

    vector_place.run(
        "CREATE TABLE t (d text, i integer, x text, e vector(3))",
        "INSERT INTO t SELECT 'd' || n % 500, n / 500, 'word' || n % 700 || ' and common words', "
        "format('[%s,%s,1]', n % 97, n % 89)::vector FROM generate_series(0, 19999) AS n",
        "CREATE INDEX ON t USING gin (to_tsvector('simple', x))",
        "CREATE INDEX ON t USING hnsw (e vector_cosine_ops)",
        "ANALYZE t",
    )
    workbench, dataset = opened(vector_place, FIELDS | {"embedding": "e"})
    shown = all_statements(dataset)
    nearest = explain(dataset.database, shown["search_vectors"], {"vector": "[1,2,3]", "limit": 10})
    assert "Index Scan using t_e_idx" in nearest
    words = explain(dataset.database, shown["search_lexemes"], {"question": "word7 common", "words": 9, "common": 9})
    arrays: dict[str, object] = {"lexemes": ["word7"], "queries": ["'word7'"], "weights": [1.0], "candidates": 9, "limit": 9}
    ranked = explain(dataset.database, shown["search_words"], arrays)
    assert "Bitmap Index Scan on t_to_tsvector_idx" in words
    assert "Bitmap Index Scan on t_to_tsvector_idx" in ranked
    assert "Seq Scan" not in words + ranked
    found = search_table(dataset, "word7 common", SearchOptions(method="bm25", limit=20, language="en"))
    assert {chunk.text for chunk in dataset.fetch([_window(hit) for hit in found.hits], "").chunks} == {"word7 and common words"}
    workbench.close()


def test_rows_that_wait_to_be_indexed_do_not_lead_to_a_walk_through_the_table(vector_place: Place) -> None:
    from ctxasm.data.tables.search import BY_INDEX
    from ctxasm.data.tables.session import ask

    vector_place.run(
        "CREATE TABLE t (d text, i integer, x text)",
        "CREATE INDEX ON t USING gin (to_tsvector('simple', x))",
        "INSERT INTO t SELECT 'd' || n % 500, n / 500, 'word' || n % 700 || (SELECT string_agg(md5(n || ' ' || k), ' ') "
        "FROM generate_series(1, 30) AS k) FROM generate_series(0, 1999) AS n",
        "ANALYZE t",
    )
    workbench, dataset = opened(vector_place)
    sql, asked = all_statements(dataset)["search_lexemes"], {"question": "word7", "words": 9, "common": 9}
    with dataset.database.reading() as connection:
        before = ask(connection, "EXPLAIN " + sql, asked)
        connection.exec_driver_sql(BY_INDEX)
        after = ask(connection, "EXPLAIN " + sql, asked)
    assert "Seq Scan" in str(before)
    assert "Seq Scan" not in str(after)
    assert "Bitmap Index Scan" in str(after)
    workbench.close()


def _window(hit: Any) -> Any:
    from ctxasm.model.ports import Window

    return Window(hit.document_id, hit.chunk_index, hit.chunk_index)


def test_where_the_words_are_searched_can_be_said(place: Place) -> None:
    make(place)
    workbench, dataset = opened(place)
    memory = search_table(dataset, "zeppelin restaurant", SearchOptions(method="bm25", engine="memory"))
    assert [hit.document_id for hit in memory.hits][:1] == ["rare"]
    assert any("indexed in memory" in note for note in memory.notes)
    if place.kind == "sqlite":
        return
    database = search_table(dataset, "zeppelin restaurant", SearchOptions(method="bm25", engine="database"))
    assert [hit.document_id for hit in database.hits][:1] == ["rare"]
    assert {hit.document_id for hit in database.hits} == {"rare", "food"}
    assert [note.partition(" Run: ")[0] for note in database.notes] == [
        "no GIN index serves the search by words, which reads every row of table 't'."
    ]
    workbench.close()


def test_a_search_by_words_that_takes_too_long_leaves_that_by_meaning(vector_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxasm.model.errors import StoreUnavailable

    vectors(vector_place)
    workbench, dataset = opened(vector_place, FIELDS | {"embedding": "e"})

    def slow(*_: object) -> None:
        raise StoreUnavailable("the table did not answer within 10 s")

    monkeypatch.setattr("ctxasm.data.tables.search.search_words", slow)
    found = search_table(dataset, "A zeppelin", SearchOptions(), ThreeNumbers())
    assert (found.search_method, found.notes) == ("vector_only", ("searched by meaning alone: the table did not answer within 10 s",))
    with pytest.raises(StoreUnavailable):
        search_table(dataset, "A zeppelin", SearchOptions(method="bm25"))
    workbench.close()


def test_a_database_that_is_gone_is_no_empty_answer(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxasm.model.errors import StoreUnavailable

    make(place)
    workbench, dataset = opened(place)

    def gone(*_: object) -> None:
        raise StoreUnavailable("the database does not answer")

    monkeypatch.setattr("ctxasm.retrieval.table_search._by_words", gone)
    with pytest.raises(StoreUnavailable, match="does not answer"):
        search_table(dataset, "zeppelin restaurant", SearchOptions())
    workbench.close()
