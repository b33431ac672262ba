"""Search in a user's own table: by words (PostgreSQL full text, SQLite FTS5) and by meaning (pgvector)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.data.tables.catalogue import own_text, own_whole
from ctxasm.data.tables.checks import Index, create_special, plain_expression
from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.data.tables.session import Row, ask
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.text.terms import inverse_frequency, scores_of

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


_WORD = re.compile(r"[^\W_]+")
_OPTION = re.compile(r"(content|content_rowid)\s*=\s*(\"[^\"]*\"|'[^']*'|[^,)\s]+)", re.IGNORECASE)


def fts5_of(dataset: LinkedDataset) -> tuple[str, str] | None:
    """The FTS5 table whose content is this table, and the column by which their rows are joined; None where there is none."""
    if not dataset.resolved.places["text"].is_column:
        return None
    sql = "SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%' LIMIT :limit"
    for name, made in dataset.read(sql, {"limit": 100}):
        options = {key.lower(): value.strip("\"'") for key, value in _OPTION.findall(made)}
        if "fts5" in made.lower() and options.get("content", "").lower() == dataset.mapping.table.lower():
            return name, options.get("content_rowid", "rowid")
    return None


def fts5_sql(dataset: LinkedDataset, name: str, row_number: str) -> str:
    """The search. Parameters question, limit."""
    database, statements = dataset.database, dataset.sql
    own, row = database.quoted(name), row_number if row_number == "rowid" else database.quoted(row_number)
    joined = f"(SELECT rowid AS at, rank AS score FROM {own} WHERE {own} MATCH :question ORDER BY rank LIMIT :limit) AS f"
    chunk = f"{statements.document_id}, {statements.index}, -f.score"
    where = f"c.{row} = f.at AND {statements.usable}"
    return f"SELECT {chunk} FROM {joined} CROSS JOIN {statements.source} WHERE {where} ORDER BY 3 DESC, 1, 2 LIMIT :limit"


def search_fts5(dataset: LinkedDataset, name: str, row_number: str, question: str, limit: int) -> list[Row]:
    """Document, index and score of the best chunks. Each word of the question is quoted: none is taken for an operator."""
    words = list(dict.fromkeys(_WORD.findall(question)))[:MOST_WORDS]
    matched = " OR ".join(f'"{word}"' for word in words)
    return dataset.read(fts5_sql(dataset, name, row_number), {"question": matched, "limit": limit}) if words else []


LANGUAGES = {"nl": "dutch", "en": "english", "de": "german"}
"""The configurations of PostgreSQL's full text by our languages; any other is searched as `simple`."""
_CONFIG = re.compile(r"to_tsvector\('((?:[^']|'')+)'::regconfig")
_OPERATORS = re.compile(r'"[^"]+"|(?<!\S)-\w')


class Scored(NamedTuple):
    """A chunk by its key, and its score: higher is better."""

    key: tuple[str, int]
    score: float


class Found(NamedTuple):
    """Chunks that share a word with the question, best first. `notes` are sentences for the user."""

    best: list[Scored]
    notes: tuple[str, ...]


class FullText(NamedTuple):
    """What is searched on PostgreSQL: an expression, the language it was made with, whether an index serves it."""

    expression: str
    config: str
    served: bool


def can_search_words(dataset: LinkedDataset) -> str:
    """Why the engine cannot search by words; empty where it can."""
    if not dataset.database.is_sqlite or fts5_of(dataset) is not None:
        return ""
    return f"table {shown(dataset.mapping.table)} has no FTS5 table over its text"


def missing_index(dataset: LinkedDataset, language: str) -> str:
    """That no index serves the search by words, with the CREATE INDEX to run; empty where one does."""
    if dataset.database.is_sqlite:
        return ""
    full_text = full_text_of(dataset, language)
    return "" if full_text.served else _unserved(dataset, full_text)


def search_words(dataset: LinkedDataset, question: str, limit: int, language: str) -> Found:
    """The chunks that share words with the question. `language` is nl, en, de or another word for none."""
    if dataset.database.is_sqlite:
        known = fts5_of(dataset)
        return Found(scored(search_fts5(dataset, *known, question, limit)) if known else [], ())
    full_text = full_text_of(dataset, language)
    if full_text.served and not dataset.resolved.table.is_view and not _OPERATORS.search(question):
        return Found(scored(ranked(dataset, full_text.expression, full_text.config, question, limit, dataset.info.chunks)), ())
    notes = () if full_text.served else (_unserved(dataset, full_text),)
    parameters = {"question": question, "limit": limit}
    best = scored(dataset.read(full_text_sql(dataset, full_text, every_word=True), parameters))
    if len(best) < limit and not _OPERATORS.search(question):
        best = scored(dataset.read(full_text_sql(dataset, full_text, every_word=False), parameters))
    return Found(best, notes)


def word_statements(dataset: LinkedDataset, language: str) -> dict[str, str]:
    """The statements of a search by words."""
    if dataset.database.is_sqlite:
        known = fts5_of(dataset)
        return {} if known is None else {"search_words": fts5_sql(dataset, *known)}
    full_text = full_text_of(dataset, language)
    every, some = (full_text_sql(dataset, full_text, every_word=wanted) for wanted in (True, False))
    own = {"search_every_word": every, "search_any_word": some}
    if full_text.served and not dataset.resolved.table.is_view:
        own |= {"search_lexemes": lexemes_sql(dataset, full_text.expression, full_text.config)}
        own |= {"search_words": ranked_sql(dataset, full_text.expression)}
    return own


def scored(rows: Sequence[Row]) -> list[Scored]:
    """Rows of document, index and score; one that is no chunk, or has no score, is left out."""
    return [
        Scored((key, index), float(row[2]))
        for row in rows
        if (key := own_text(row[0])) and (index := own_whole(row[1])) is not None and row[2] is not None and row[2] == row[2]
    ]


def full_text_of(dataset: LinkedDataset, language: str) -> FullText:
    """What to search: a tsvector column, what a GIN index holds, or the text itself."""
    database, resolved, statements = dataset.database, dataset.resolved, dataset.sql
    config = LANGUAGES.get(language, "simple")
    gin = [index for index in dataset.indexes if index.method in ("gin", "gist", "rum")]
    if (place := resolved.places.get("tsvector")) is not None:
        served = any(place.column.name in index.columns for index in gin)
        return FullText(statements.value(place), _column_config(dataset, place.column.name) or config, served)
    fitting = [own for index in gin for own in [_config_of(dataset, index)] if own]
    chosen = config if config in fitting or not fitting else fitting[0]
    return FullText(f"to_tsvector({database.literal(chosen)}::regconfig, {statements.text})", chosen, chosen in fitting)


def _config_of(dataset: LinkedDataset, index: Index) -> str:
    """The language of an index on to_tsvector(language, text) of our text, "" for any other index."""
    for expression in index.expressions:
        if (found := _CONFIG.search(expression)) is not None:
            own = f"to_tsvector('{found[1]}'::regconfig, {dataset.sql.text})".replace("%%", "%")
            if plain_expression(own) == plain_expression(expression):
                return found[1].replace("''", "'")
    return ""


def _column_config(dataset: LinkedDataset, column: str) -> str:
    """The language that a generated column is made with, "" where it does not say."""
    named = dataset.sql.table.replace("%%", "%")
    joined = "pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum"
    where = "d.adrelid = to_regclass(%(table)s) AND a.attname = %(column)s"
    sql = f"SELECT pg_get_expr(d.adbin, d.adrelid) FROM {joined} WHERE {where} LIMIT %(limit)s"
    rows = dataset.read(sql, {"table": named, "column": column, "limit": 1})
    found = _CONFIG.search(rows[0][0]) if rows else None
    return found[1].replace("''", "'") if found is not None else ""


def full_text_sql(dataset: LinkedDataset, full_text: FullText, *, every_word: bool) -> str:
    """The search for every word, or for any. Parameters question, limit."""
    statements, config = dataset.sql, f"{dataset.database.literal(full_text.config)}::regconfig"
    words = f"websearch_to_tsquery({config}, %(question)s)"
    if not every_word:
        # Each word is a quoted lexeme there, so what is replaced stands between words, or inside one that then finds nothing.
        words = f"replace(plainto_tsquery({config}, %(question)s)::text, ' & ', ' | ')::tsquery"
    chunk = f"{statements.document_id}, {statements.index}, ts_rank_cd({full_text.expression}, {words}) AS score"
    where = f"{full_text.expression} @@ {words} AND {statements.usable}"
    return f"SELECT {chunk} FROM {statements.source} WHERE {where} ORDER BY score DESC, 1, 2 LIMIT %(limit)s"


def _unserved(dataset: LinkedDataset, full_text: FullText) -> str:
    remedy = create_full_text(dataset, full_text.config)
    return f"no GIN index serves the search by words, which reads every row of table {shown(dataset.mapping.table)}. Run: {remedy}"


def create_full_text(dataset: LinkedDataset, config: str) -> str:
    """The CREATE INDEX that serves the search by words."""
    database, place = dataset.database, dataset.resolved.places.get("tsvector")
    if place is not None:
        return create_special(database, dataset.resolved, "full_text", "gin", database.shown_name(place.column.name))
    expression = f"to_tsvector({database.literal(config)}::regconfig, {dataset.sql.text.replace('c.', '', 1)})".replace("%%", "%")
    return create_special(database, dataset.resolved, "full_text", "gin", expression)


_DISTANCE_OPERATORS = {"cosine": "<=>", "l2": "<->", "ip": "<#>"}
LARGE = 10_000
"""From so many rows on the lack of an index is told."""


class VectorColumn(NamedTuple):
    """What is searched: an expression, the operator, how many numbers a vector has (None: not known), and the index's kind ("": none)."""

    expression: str
    type: str
    operator: str
    dimensions: int | None
    served: str


def can_search_vectors(dataset: LinkedDataset) -> str:
    """Why the engine cannot search by meaning; empty where it can."""
    if dataset.database.is_sqlite:
        return "SQLite compares no vectors"
    if "embedding" not in dataset.resolved.places:
        return f"the mapping of table {shown(dataset.mapping.table)} names no column of vectors (embedding)"
    if not dataset.read("SELECT 1 FROM pg_extension WHERE extname = 'vector' LIMIT %(limit)s", {"limit": 1}):
        return "the database has no extension pgvector"
    return ""


def vector_column(dataset: LinkedDataset) -> VectorColumn:
    """The mapped column as it is searched."""
    place = dataset.resolved.places["embedding"]
    value, half = dataset.sql.value(place), place.column.type.startswith("halfvec")
    dimensions = place.column.size or _dimensions(dataset, value)
    kind = "halfvec" if half else "vector"
    if place.column.kind == "floats":
        return VectorColumn(f"CAST({value} AS vector)", kind, "<=>", dimensions, "")
    for index in dataset.indexes:
        if index.method in ("hnsw", "ivfflat", "diskann") and index.columns[0] == place.column.name:
            operator = next((sign for name, sign in _DISTANCE_OPERATORS.items() if f"_{name}_" in index.classes[0]), "<=>")
            return VectorColumn(value, kind, operator, dimensions, index.method)
    return VectorColumn(value, kind, "<=>", dimensions, "")


def _dimensions(dataset: LinkedDataset, value: str) -> int | None:
    """How many numbers the first vector has."""
    array = dataset.resolved.places["embedding"].column.kind == "floats"
    asked = f"cardinality({value})" if array else f"vector_dims({value})"
    rows = dataset.read(f"SELECT {asked} FROM {dataset.sql.source} WHERE {value} IS NOT NULL LIMIT %(limit)s", {"limit": 1})
    return int(rows[0][0]) if rows else None


def nearest_sql(dataset: LinkedDataset, column: VectorColumn) -> str:
    """The nearest chunks and their cosines. Parameters vector, limit. Nothing but the distance in ORDER BY: only that an index serves."""
    statements, wanted = dataset.sql, f"CAST(%(vector)s AS {column.type})"
    order = f"{column.expression} {column.operator} {wanted}"
    chunk = f"{statements.document_id}, {statements.index}, 1 - ({column.expression} <=> {wanted})"
    return f"SELECT {chunk} FROM {statements.source} WHERE {column.expression} IS NOT NULL ORDER BY {order} LIMIT %(limit)s"


def search_vectors(dataset: LinkedDataset, vector: Sequence[float], limit: int) -> Found:
    """The chunks nearest to a vector, with their cosines. Raises InvalidInput where its size is not that of the column."""
    column = vector_column(dataset)
    place = dataset.resolved.places["embedding"]
    if column.dimensions is not None and column.dimensions != len(vector):
        raise InvalidInput(
            f"the embedder must give vectors of {column.dimensions} numbers, as column {shown(place.column.name)} holds, "
            f"got {len(vector)}: choose the embedder that made the column"
        )
    written = "[" + ",".join(repr(float(number)) for number in vector) + "]"
    with dataset.database.reading() as connection:
        if column.served in ("hnsw", "ivfflat"):
            # As many candidates as hits are asked for, or the index would give fewer.
            setting = f"hnsw.ef_search = {max(100, min(1000, 2 * limit))}" if column.served == "hnsw" else "ivfflat.probes = 10"
            connection.exec_driver_sql(f"SET LOCAL {setting}")
        rows = ask(connection, nearest_sql(dataset, column), {"vector": written, "limit": limit})
    best = scored(rows)
    ordered = sorted(best, key=lambda each: (-each.score, each.key)) if column.operator == "<=>" else best
    notes = () if column.served or dataset.info.chunks < LARGE else (_no_vector_search(dataset, column),)
    return Found(ordered, notes)


def _no_vector_search(dataset: LinkedDataset, column: VectorColumn) -> str:
    name = dataset.database.shown_name(dataset.resolved.places["embedding"].column.name)
    if dataset.resolved.places["embedding"].column.kind == "floats":
        return f"{name} is an array, which no index serves: every question reads the whole table; make it a column of type vector"
    remedy = create_special(dataset.database, dataset.resolved, "embedding", "hnsw", f"{name} {column.type}_cosine_ops")
    return f"no index serves the search by meaning, which reads every row of table {shown(dataset.mapping.table)}. Run: {remedy}"


def some_vectors(dataset: LinkedDataset, number: int) -> list[tuple[str, list[float]]]:
    """Some texts with the vectors that their rows hold: to see whether an embedder is the one that made them."""
    place, statements = dataset.resolved.places["embedding"], dataset.sql
    value = statements.value(place)
    written = f"array_to_json({value})" if place.column.kind == "floats" else value
    sql = f"SELECT {statements.text}, CAST({written} AS text) FROM {statements.source} WHERE {value} IS NOT NULL LIMIT %(limit)s"
    rows = dataset.read(sql, {"limit": number})
    return [(text, json.loads(vector)) for row in rows if (text := own_text(row[0])) and (vector := row[1])]


def all_statements(dataset: LinkedDataset) -> dict[str, str]:
    """The exact parameterised SQL of each operation, also of the searches that the engine can do here."""
    return {**dataset.sql.all(), **({} if dataset.sql.counted else search_statements(dataset))}


def search_statements(dataset: LinkedDataset, language: str = "auto") -> dict[str, str]:
    """The statements of a search by words and by meaning, as far as they can be had; `auto` is the language of the table's texts."""
    found: dict[str, str] = {}
    if not can_search_words(dataset):
        found = word_statements(dataset, dataset.corpus_language() if language == "auto" else language)
    return found if can_search_vectors(dataset) else {**found, "search_vectors": nearest_sql(dataset, vector_column(dataset))}
