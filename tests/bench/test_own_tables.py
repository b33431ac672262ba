"""A user's own tables in PostgreSQL: `pytest -m bench -s tests/bench/test_own_tables.py`.

What its engine finds of the real corpora (words by full text over a GIN index, vectors of wordllama by pgvector), beside BM25 in memory
and PostgreSQL's own ts_rank_cd; and the time of a fetch from 100,000 rows. The halves are by a digest of the question's id: the first
decided that rows are ranked by BM25; how many are was chosen after looking at both halves of debfaq-nl, which did not differ.
"""

from __future__ import annotations

from statistics import mean
from typing import Any

import numpy as np
import pytest
from user_tables import Place, one_table

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.tables import search
from ctxasm.data.tables.connecting import link, table_mapping
from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.llm.embedding.local import missing, open_embedder
from ctxasm.model.ports import Window
from ctxasm.model.results import Key
from ctxasm.model.search import SearchOptions
from ctxasm.retrieval.analyser import language_of_texts
from ctxasm.store.database import MemoryStore
from tests.bench.contest import HALVES
from tests.bench.long_chunks import half_of
from tests.bench.recall import mean_recall
from tests.bench.tables import in_turns, show
from tests.bench.test_retrieval import questions
from tests.real_data import REAL, load_real, real_folder

pytestmark = pytest.mark.bench


def linked(place: Place, name: str) -> tuple[Workbench, LinkedDataset]:
    """A corpus in a table of its own, with the indexes that a user would make."""
    bundle, table = load_real(name), f"own_{name.replace('-', '_')}"
    fields = one_table(place, bundle, "text", table)
    config = search.LANGUAGES[language_of_texts([chunk.text for chunk in bundle.chunks[:200]])]
    place.run(f"CREATE INDEX ON {table} USING gin (to_tsvector('{config}', \"het stuk 100%\"))")
    if not missing("wordllama"):
        place.run(f"ALTER TABLE {table} ADD COLUMN embedding vector(256)")
        vectors = np.asarray(open_embedder("wordllama").embed_passages([" ".join(chunk.text.split()) for chunk in bundle.chunks]))
        made = "".join(f"UPDATE {table} SET embedding = '[{','.join(map(str, row))}]' WHERE pk = {at};" for at, row in enumerate(vectors))
        place.run(f"CREATE INDEX ON {table} (pk)", made, f"CREATE INDEX ON {table} USING hnsw (embedding vector_cosine_ops)")
        fields |= {"embedding": "embedding"}
    place.run(f"ANALYZE {table}")
    workbench = Workbench(Config("sqlite://", connections={"own": place.table(None)}), MemoryStore())
    link(workbench, "own", table_mapping(table, fields), name)
    found = workbench.dataset(name)
    assert isinstance(found, LinkedDataset)
    return workbench, found


def own_ranking(dataset: LinkedDataset, question: str, language: str) -> list[Key]:
    """As PostgreSQL ranks by itself: any word of the question, by ts_rank_cd."""
    sql = search.full_text_sql(dataset, search.full_text_of(dataset, language), every_word=False)
    return [each.key for each in search.scored(dataset.read(sql, {"question": question, "limit": 10}))]


def test_recall(vector_place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    if real_folder() is None:
        pytest.skip("the real corpora are not beside the project")
    rankings: dict[str, dict[str, list[list[Key]]]] = {}
    for name in REAL:
        workbench, dataset = linked(vector_place, name)
        language = language_of_texts([chunk.text for chunk in load_real(name).chunks[:200]])
        ways = {f"PostgreSQL {method}": SearchOptions(method, language=language, limit=10) for method in ("bm25", "vector", "hybrid")}  # type: ignore[arg-type]
        ways["BM25 in memory"] = SearchOptions("bm25", language=language, limit=10, engine="memory")
        for way, options in ways.items():
            found = [dataset.search(query.query, options).hits for query, _ in questions(name)]
            rankings.setdefault(way, {})[name] = [[(hit.document_id, hit.chunk_index) for hit in hits] for hits in found]
        rankings.setdefault("ts_rank_cd", {})[name] = [own_ranking(dataset, query.query, language) for query, _ in questions(name)]
        workbench.close()
    rows: list[list[Any]] = []
    for way, by_name in rankings.items():
        for half in HALVES:
            cells: list[Any] = []
            for limit in (5, 10):
                recalls = []
                for name in REAL:
                    own = [
                        (need, hits)
                        for (query, need), hits in zip(questions(name), by_name[name], strict=True)
                        if half_of(query.query_id) == half
                    ]
                    recalls.append(mean_recall([need for need, _ in own], [hits for _, hits in own], limit))
                cells += [*recalls, mean(recalls)]
            rows.append([way, half, *cells])
    with capsys.disabled():
        show("Recall at 5 and 10 hits", ("", "half", *(f"{name[:8]}@{limit}" for limit in (5, 10) for name in (*REAL, "mean"))), rows)


def test_fetch(vector_place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """Milliseconds of 20 hits with their neighbours from 100,000 rows."""
    vector_place.run(
        "CREATE TABLE t (d text, i integer, x text, m jsonb)",
        "INSERT INTO t SELECT 'd' || (n % 5000), n / 5000, 'text ' || n, jsonb_build_object('t', n) FROM generate_series(0, 99999) AS n",
        "CREATE INDEX ON t (d, i)",
        "ANALYZE t",
    )
    workbench = Workbench(Config("sqlite://", connections={"own": vector_place.table(None)}), MemoryStore())
    link(workbench, "own", table_mapping("t", {"document_id": "d", "chunk_index": "i", "text": "x", "title": "m->>'t'"}), "mine")
    dataset = workbench.dataset("mine")

    def fetch(turn: int) -> None:
        windows = [Window(f"d{(turn * 211 + 37 * at) % 5000}", 3, 5) for at in range(20)]
        assert len(dataset.fetch(windows, "").chunks) == 60

    with capsys.disabled():
        show("Milliseconds of a fetch of 60 chunks", ("from", "median"), [["100,000 rows", in_turns({"": fetch}, 100)[""]]])
    workbench.close()
