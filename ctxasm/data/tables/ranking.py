"""BM25 over the index that PostgreSQL's full text has.

PostgreSQL's own `ts_rank_cd` knows nothing of how rare a word is: on real questions it finds up to two thirds less (see
docs/about/measurements.md). So the GIN index is asked how many rows hold each word of the question, then which rows hold the
rarest of them; only those few hundred are read and scored, with the words of their own tsvector. A word that more than COMMON
rows hold is left out beside rarer ones: it says little, and would read much of a large table.
"""

from __future__ import annotations

from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.data.tables.session import Row, ask
from ctxasm.data.tables.types import own_text, own_whole
from ctxasm.text.bm25 import inverse_frequency, scores_of

COMMON = 20_000
CANDIDATES = 200
MOST_WORDS = 64
"""Of a question; further ones are left out."""
BY_INDEX = "SET LOCAL enable_seqscan = off"
"""A GIN index with many rows waiting to be sorted in (after a load, before a vacuum) looks dear to the planner, which would then read
the whole table for each word: seconds, where the index takes milliseconds."""


def lexemes_sql(dataset: LinkedDataset, expression: str, config: str) -> str:
    """The question's words as the index has them, each as a tsquery, and in how many rows it stands. Parameters question, words, common."""
    literal = dataset.database.literal
    quoted = r"'''' || replace(replace(u.lexeme, '\', '\\'), '''', '''''') || ''''"
    words = f"SELECT u.lexeme, {quoted} AS query FROM unnest(to_tsvector({literal(config)}::regconfig, %(question)s)) AS u LIMIT %(words)s"
    rows = f"SELECT 1 FROM {dataset.sql.source} WHERE {expression} @@ w.query::tsquery LIMIT %(common)s"
    return f"SELECT w.lexeme, w.query, (SELECT count(*) FROM ({rows}) AS m) FROM ({words}) AS w"


def ranked_sql(dataset: LinkedDataset, expression: str) -> str:
    """What the best rows hold of the question: their number, document, index, length in words, a word and how often it stands there.

    Parameters lexemes, queries, weights (of equal length), candidates.
    """
    statements = dataset.sql
    words = "unnest(%(lexemes)s::text[], %(queries)s::text[], %(weights)s::float8[]) AS w(lexeme, query, weight)"
    held = f"SELECT c.tableoid AS part, c.ctid AS at FROM {statements.source} WHERE {expression} @@ w.query::tsquery OFFSET 0"
    found = (
        f"SELECT m.part, m.at FROM {words} CROSS JOIN LATERAL ({held}) AS m GROUP BY m.part, m.at "
        "ORDER BY sum(w.weight) DESC, m.part, m.at LIMIT %(candidates)s"
    )
    counted = "SELECT u.lexeme, coalesce(cardinality(u.positions), 1) AS times FROM unnest(v.tsv) AS u"
    size = f"SELECT coalesce(sum(k.times), 0)::float8 AS words FROM ({counted}) AS k"
    own = (
        "SELECT row_number() OVER () AS number, "
        f"{statements.document_id} AS document_id, {statements.index} AS chunk_index, v.tsv, s.words "
        f"FROM ctxasm_found AS f JOIN {statements.source} ON c.tableoid = f.part AND c.ctid = f.at "
        f"CROSS JOIN LATERAL (SELECT {expression} AS tsv OFFSET 0) AS v CROSS JOIN LATERAL ({size}) AS s WHERE {statements.usable}"
    )
    return (
        f"WITH ctxasm_found AS MATERIALIZED ({found}), ctxasm_rows AS MATERIALIZED ({own}) "
        "SELECT v.number, v.document_id, v.chunk_index, v.words, k.lexeme, k.times "
        f"FROM ctxasm_rows AS v CROSS JOIN LATERAL ({counted}) AS k WHERE k.lexeme = ANY(%(lexemes)s::text[])"
    )


def ranked(dataset: LinkedDataset, expression: str, config: str, question: str, limit: int, rows: int) -> list[Row]:
    """Document, index and BM25 score of the best chunks of a table of about `rows` rows; both statements read one snapshot."""
    with dataset.database.reading() as connection:
        connection.exec_driver_sql(BY_INDEX)
        asked = {"question": question, "words": MOST_WORDS, "common": COMMON + 1}
        words = [row for row in ask(connection, lexemes_sql(dataset, expression, config), asked) if row[2]]
        words = [row for row in words if row[2] <= COMMON] or words
        if not words:
            return []
        rows = max(rows, *(row[2] for row in words))
        weights = {row[0]: inverse_frequency(rows, row[2]) for row in words}
        parameters = {"lexemes": list(weights), "queries": [row[1] for row in words], "weights": list(weights.values())}
        found = ask(connection, ranked_sql(dataset, expression), parameters | {"candidates": max(CANDIDATES, limit)})
    chunks = {number: (document_id, chunk_index) for number, document_id, chunk_index, *_ in found}
    lengths = {row[0]: row[3] for row in found}
    mean = max(1.0, sum(lengths.values()) / max(1, len(lengths)))
    scores = scores_of(((number, length, word, count) for number, _, _, length, word, count in found), weights, mean)
    best: list[Row] = [(*chunks[number], score) for number, score in scores.items()]
    return sorted(best, key=lambda row: (-row[2], own_text(row[0]) or "", own_whole(row[1]) or 0))[:limit]
