"""BM25 in PostgreSQL, over the index that full text has (Robertson and Zaragoza 2009; k1 = 1.5, b = 0.9 as in memory).

PostgreSQL's own `ts_rank_cd` knows nothing of how rare a word is: on real questions it finds up to two thirds less (see the
README). So the GIN index is asked how many rows hold each word of the question, then which rows hold the rarest of them; only
those few hundred are read and scored, with the words of their own tsvector. A word that more than COMMON rows hold is left
out beside rarer ones: it says little, and would read much of a large table.
"""

from __future__ import annotations

from math import log

from ctxasm.store.own.linked import LinkedDataset
from ctxasm.store.own.session import Row, ask

K1, B = 1.5, 0.9
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
    """The best rows. Parameters lexemes, queries, weights (of equal length), candidates, limit."""
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
        f"SELECT {statements.document_id} AS document_id, {statements.index} AS chunk_index, v.tsv, s.words, "
        "greatest(avg(s.words) OVER (), 1) AS usual "
        f"FROM ctxasm_found AS f JOIN {statements.source} ON c.tableoid = f.part AND c.ctid = f.at "
        f"CROSS JOIN LATERAL (SELECT {expression} AS tsv OFFSET 0) AS v CROSS JOIN LATERAL ({size}) AS s WHERE {statements.usable}"
    )
    score = (
        f"SELECT sum(w.weight * k.times * {K1 + 1} / (k.times + {K1} * ({1 - B:.2f} + {B} * v.words / v.usual))) "
        f"FROM ({counted}) AS k JOIN {words} ON w.lexeme = k.lexeme"
    )
    return (
        f"WITH ctxasm_found AS MATERIALIZED ({found}), ctxasm_rows AS MATERIALIZED ({own}) "
        f"SELECT v.document_id, v.chunk_index, ({score}) AS score FROM ctxasm_rows AS v "
        "ORDER BY score DESC NULLS LAST, 1, 2 LIMIT %(limit)s"
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
        weights = [log(1 + (rows - row[2] + 0.5) / (row[2] + 0.5)) for row in words]
        parameters = {"lexemes": [row[0] for row in words], "queries": [row[1] for row in words], "weights": weights}
        return ask(connection, ranked_sql(dataset, expression), parameters | {"candidates": max(CANDIDATES, limit), "limit": limit})
