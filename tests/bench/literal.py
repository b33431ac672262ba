"""The five-stage pipeline done to the letter, as a yardstick: a query per document, a naive overlap loop, tiktoken over
the text, whole documents dropped from the tail, summaries and citations last. No trace, no exact limit."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

import tiktoken

from ctxasm.model.records import Bundle, Query

CREATE = (
    "CREATE TABLE literal_chunks (document_id text, chunk_index integer, text text, PRIMARY KEY (document_id, chunk_index))",
    "CREATE TABLE literal_documents (document_id text PRIMARY KEY, title text, summary text)",
)


class LiteralStore:
    """A chunk table as the source describes it, in SQLite or through psycopg."""

    def __init__(self, connection: sqlite3.Connection, mark: str = "?") -> None:
        self.connection, self.mark = connection, mark

    def fetch(self, document_id: str, indexes: list[int]) -> dict[int, str]:
        marks = ", ".join([self.mark] * len(indexes))
        sql = f"SELECT chunk_index, text FROM literal_chunks WHERE document_id = {self.mark} AND chunk_index IN ({marks})"
        return dict(self.connection.execute(sql, (document_id, *indexes)).fetchall())

    def document(self, document_id: str) -> tuple[str, str]:
        sql = f"SELECT title, summary FROM literal_documents WHERE document_id = {self.mark}"
        return self.connection.execute(sql, (document_id,)).fetchone()


class Group(NamedTuple):
    """The chunks of one document in reading order, each without what the one before it says already."""

    score: float
    document_id: str
    parts: list[str]


def create_literal(connection: Any, mark: str, bundle: Bundle) -> LiteralStore:
    """The tables, filled with a bundle."""
    cursor = connection.cursor()
    for statement in CREATE:
        cursor.execute(statement)
    rows = [(c.document_id, c.chunk_index, c.text) for c in bundle.chunks]
    cursor.executemany(f"INSERT INTO literal_chunks VALUES ({mark}, {mark}, {mark})", rows)
    documents = [(d.document_id, d.title or d.document_id, d.summary) for d in bundle.documents]
    cursor.executemany(f"INSERT INTO literal_documents VALUES ({mark}, {mark}, {mark})", documents)
    connection.commit()
    return LiteralStore(connection, mark)


def assemble_literally(query: Query, store: LiteralStore, encoding: tiktoken.Encoding, window: int = 1, max_tokens: int = 8000) -> str:
    """The context as text."""
    groups = gather_literally(query, store, window)
    while groups and sum(len(encoding.encode_ordinary("\n".join(group.parts))) for group in groups) > max_tokens:
        groups.pop()
    return write_literally(groups, store)


def gather_literally(query: Query, store: LiteralStore, window: int) -> list[Group]:
    """Expand, deduplicate, group: the documents by their best score."""
    wanted: dict[str, dict[int, float]] = {}
    for hit in query.retrieved:
        scores = wanted.setdefault(hit.document_id, {})
        for index in range(max(0, hit.chunk_index - window), hit.chunk_index + window + 1):
            score = hit.score if index == hit.chunk_index else hit.score * 0.5
            scores[index] = max(scores.get(index, float("-inf")), score)
    groups = []
    for document_id, scores in wanted.items():
        texts = store.fetch(document_id, sorted(scores))
        parts, before = [], None
        for index in sorted(texts):
            text = texts[index]
            if before is not None and before[0] == index - 1:
                text = text[overlap(before[1], text) :]
            parts.append(text)
            before = (index, texts[index])
        groups.append(Group(max(scores.values()), document_id, parts))
    groups.sort(key=lambda group: -group.score)
    return groups


def write_literally(groups: Sequence[Group], store: LiteralStore) -> str:
    """Page summaries and numbers, last."""
    blocks = []
    for number, group in enumerate(groups, 1):
        title, summary = store.document(group.document_id)
        prefix = f"[Pagina context: {summary}]\n" if summary else ""
        blocks.append(f"[{number}] Source: {title}\n{prefix}" + "\n".join(group.parts))
    return "\n\n".join(blocks)


def overlap(first: str, second: str) -> int:
    """Compare the tail of N with the head of N+1, longest first."""
    for length in range(min(len(first), len(second)), 20, -1):
        if first[-length:] == second[:length]:
            return length
    return 0
