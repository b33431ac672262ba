"""The five-stage pipeline done to the letter, as a yardstick: a query per document, a naive overlap loop, tiktoken over
the text, whole documents dropped from the tail, summaries and citations last. No trace, no exact limit."""

from __future__ import annotations

import sqlite3

import tiktoken

from ctxasm.model.records import Query


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


def assemble_literally(query: Query, store: LiteralStore, encoding: tiktoken.Encoding, window: int = 1, max_tokens: int = 8000) -> str:
    """The context as text."""
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
        groups.append((max(scores.values()), document_id, parts))
    groups.sort(key=lambda group: -group[0])
    while groups and sum(len(encoding.encode_ordinary("\n".join(parts))) for _, _, parts in groups) > max_tokens:
        groups.pop()
    blocks = []
    for number, (_, document_id, parts) in enumerate(groups, 1):
        title, summary = store.document(document_id)
        prefix = f"[Pagina context: {summary}]\n" if summary else ""
        blocks.append(f"[{number}] Source: {title}\n{prefix}" + "\n".join(parts))
    return "\n\n".join(blocks)


def overlap(first: str, second: str) -> int:
    """Compare the tail of N with the head of N+1, longest first."""
    for length in range(min(len(first), len(second)), 20, -1):
        if first[-length:] == second[:length]:
            return length
    return 0
