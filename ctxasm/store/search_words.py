"""Words of a corpus inside the database, ranked by BM25.

SQLite: FTS5 without content, whose row numbers are places, ranked by its own bm25() (k1 = 1.2, b = 0.75). PostgreSQL: a tsvector a chunk
under a GIN index. Its ts_rank knows nothing of how rare a word is, so each word's ts_rank is weighed by its inverse document
frequency to find the best RERANKED chunks, and these are ranked by BM25 itself, from the counts in their tsvectors: where no more match,
the result is that of the index in memory.

Words that stand in very many chunks do not decide which chunks are looked at (only how they rank), as long as rarer ones do: else a
question with one frequent word would have to rank half of a million chunks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ctxasm.store.search import Rows, SearchSet, SearchTables, copy_rows
from ctxasm.text.terms import inverse_frequency, scores_of

RERANKED = 1000
MOST_WORDS = 64
"""Words of a question that are searched for, the rarest: whoever pastes pages gets those."""
MOST_MATCHES = 20_000
"""Chunks that are looked at, where the rarest word of the question alone does not stand in more."""
KINDS = ("fts5", "tsvector")
_MOST_COUNTED = 255
_LONGEST_WORD = 500
_POSITIONS = [",".join(map(str, range(1, count + 1))) for count in range(_MOST_COUNTED + 1)]
"""So many positions."""


def make_words(tables: SearchTables, what: str, rows: Rows) -> SearchSet:
    """A set of words from (places, the words of each chunk). Nothing is left of it where `rows` raises."""
    lite = tables.connections.is_sqlite
    set_no = tables.begin(KINDS[0] if lite else KINDS[1], what)
    made = SearchSet(set_no, KINDS[0] if lite else KINDS[1], 0, 0)
    try:
        with tables.connections.writing() as connection:
            for statement in _LITE_TABLES if lite else _TABLES:
                connection.exec_driver_sql(statement.format(made.table))
        for places, texts in rows:
            values = [
                (place, " ".join(map(_term, words))) if lite else (place, _vector(words), len(words))
                for place, words in zip(places, texts, strict=True)
            ]
            made = made._replace(texts=made.texts + len(values), words=made.words + sum(map(len, texts)))
            with tables.connections.writing() as connection:
                tables.touch(connection, set_no)
                if lite:
                    connection.exec_driver_sql(_LITE_INSERT.format(made.table), values)
                else:
                    copy_rows(connection, f"{made.table} (place, words, length)", values)
        with tables.connections.writing() as connection:
            for statement in () if lite else _AFTERWARDS:
                connection.exec_driver_sql(statement.format(made.table))
            tables.finish(connection, made)
        return made
    except BaseException:
        tables.abandon(set_no)
        raise


def search_words(tables: SearchTables, made: SearchSet, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """The best `limit` places that hold one of the words, with their scores, best first; ties by place."""
    asked = Counter(words)
    if made.kind == KINDS[0]:
        return _search_fts5(tables, made, asked, limit)
    return _search_tsvector(tables, made, asked, limit)


def deciding(counts: Mapping[str, int]) -> list[str]:
    """The words that decide which chunks are looked at, rarest first: as many as stand in MOST_MATCHES chunks together, at least one.

    `counts` are the chunks that hold each word.
    """
    chosen: list[str] = []
    matches = 0
    for word in sorted((word for word in counts if counts[word]), key=lambda word: (counts[word], word))[:MOST_WORDS]:
        matches += counts[word]
        if chosen and matches > MOST_MATCHES:
            break
        chosen.append(word)
    return chosen


# SQLite

_LITE_TABLES = (
    "CREATE VIRTUAL TABLE {0} USING fts5(words, content='', tokenize='ascii')",
    "CREATE VIRTUAL TABLE {0}_terms USING fts5vocab({0}, 'row')",
)
_LITE_INSERT = "INSERT INTO {0} (rowid, words) VALUES (?, ?)"


def _term(word: str) -> str:
    """A word as FTS5 takes it whole: letters and digits without accents are themselves, all else is written in hexadecimals."""
    return word if word.isascii() and word.isalnum() else f"zx0{word.encode('utf-8', 'surrogatepass').hex()}"


def _search_fts5(tables: SearchTables, made: SearchSet, asked: Counter[str], limit: int) -> list[tuple[int, float]]:
    terms = {_term(word): count for word, count in asked.items()}
    with tables.connections.reading() as connection:
        marks = ", ".join("?" * len(terms))
        known = connection.exec_driver_sql(f"SELECT term, doc FROM {made.table}_terms WHERE term IN ({marks})", tuple(terms))  # noqa: S608
        chosen = deciding(dict(map(tuple, known.fetchall())))
        if not chosen:
            return []
        sql = f"SELECT rowid, -rank FROM {made.table} WHERE {made.table} MATCH ? ORDER BY rank, rowid LIMIT ?"  # noqa: S608
        # A word that comes twice in the question counts twice.
        match = " OR ".join(f'"{term}"' for term in chosen for _ in range(min(terms[term], 4)))
        return [(int(place), float(score)) for place, score in connection.exec_driver_sql(sql, (match, limit)).fetchall()]


# PostgreSQL

_TABLES = (
    "CREATE TABLE {0} (place bigint NOT NULL, words tsvector NOT NULL, length integer NOT NULL)",
    # Kept in the row as long as it fits: a rank reads it for every match.
    "ALTER TABLE {0} ALTER COLUMN words SET STORAGE MAIN",
)
_AFTERWARDS = (
    "SET LOCAL maintenance_work_mem = '256MB'",
    "CREATE INDEX ON {0} USING gin (words) WITH (fastupdate = off)",
    "CREATE TABLE {0}_counts AS SELECT word, ndoc FROM ts_stat('SELECT words FROM {0}')",
    "CREATE UNIQUE INDEX ON {0}_counts (word)",
    "ANALYZE {0}",
)


def _quoted(word: str) -> str:
    """A word inside a tsvector or tsquery."""
    return "'" + word[:_LONGEST_WORD].replace("\\", "\\\\").replace("'", "''") + "'"


def _vector(words: Sequence[str]) -> str:
    """The words of a chunk as a tsvector. Positions only count: where a word stands, no ranking asks."""
    return " ".join(
        [
            f"{word if word.isalnum() and len(word) <= _LONGEST_WORD else _quoted(word)}:{_POSITIONS[min(count, _MOST_COUNTED)]}"
            for word, count in Counter(words).items()
        ]
    )


def _search_tsvector(tables: SearchTables, made: SearchSet, asked: Counter[str], limit: int) -> list[tuple[int, float]]:
    words = {word[:_LONGEST_WORD]: count for word, count in asked.items()}
    with tables.connections.reading() as connection:
        sql = f"SELECT word, ndoc FROM {made.table}_counts WHERE word = ANY(%s)"  # noqa: S608
        counts = sorted((int(count), word) for word, count in connection.exec_driver_sql(sql, (list(words),)).fetchall())
        known = {word: count for count, word in counts[:MOST_WORDS]}
        chosen = deciding(known)
        if not chosen:
            return []
        weights = {word: words[word] * inverse_frequency(made.texts, count) for word, count in known.items()}
        rank = " + ".join("%s * ts_rank(words, %s::tsquery, 1)" for _ in weights)
        # setweight only copies: so each row's words are unpacked once, not once for every word that is ranked.
        own = f"SELECT place, length, setweight(words, 'D') AS words FROM {made.table} WHERE words @@ %s::tsquery OFFSET 0"  # noqa: S608
        best = f"SELECT * FROM ({own}) AS own ORDER BY {rank} DESC, place LIMIT %s"  # noqa: S608
        parameters = [part for word, weight in weights.items() for part in (weight, _quoted(word))]
        counted = (
            "SELECT b.place, b.length, w.lexeme, cardinality(w.positions) "  # noqa: S608
            f"FROM ({best}) AS b CROSS JOIN LATERAL unnest(b.words) AS w WHERE w.lexeme = ANY(%s)"
        )
        query = " | ".join(map(_quoted, chosen))
        rows = connection.exec_driver_sql(counted, (query, *parameters, max(limit, RERANKED), list(known))).fetchall()
    scores = scores_of(((int(place), length, word, count) for place, length, word, count in rows), weights, made.words / made.texts)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
