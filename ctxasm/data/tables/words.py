"""Search by words in a user's table, by the engine that holds it: PostgreSQL full text, or an FTS5 table of SQLite.

PostgreSQL: the expression searched is that of a tsvector column, else of the table's own GIN index, else
`to_tsvector(language, text)`, which reads every row: then the CREATE INDEX to run is told. Where an index serves, rows are
ranked by BM25 (see ranking.py). A question that holds a "quoted phrase" or a -word, a view, and a table without an index are
searched as PostgreSQL does by itself: `websearch_to_tsquery` for the rows that hold every word, where those are fewer than
asked for its words joined by OR, ranked by `ts_rank_cd` (Clarke, Cormack and Tudhope 2000).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.data.tables.fts5 import fts5_of, fts5_sql, search_fts5
from ctxasm.data.tables.indexes import Index, create_special, plain_expression
from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.data.tables.ranking import lexemes_sql, ranked, ranked_sql
from ctxasm.data.tables.session import Row
from ctxasm.data.tables.types import own_text, own_whole
from ctxasm.model.errors import shown

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
