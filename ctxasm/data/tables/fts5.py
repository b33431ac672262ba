"""Search by words in a SQLite table that has an FTS5 table over it: BM25 by FTS5 itself."""

from __future__ import annotations

import re

from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.data.tables.session import Row

MOST_WORDS = 64
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
