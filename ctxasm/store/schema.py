"""The schema, one for SQLite and PostgreSQL.

A chunk's key is its `place`: the number of its document, shifted, plus its index. So a window of chunks is one range of
the table's own key, which both databases read in order without a second index, and the chunks of a dataset, whose
documents are numbered in one run, are one range too. Numbers are never used twice: whatever still points at a replaced
dataset finds nothing, never something else.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA_VERSION = 6
"""One more than the steps of `ctxasm.store.migrate`."""

INDEX_BITS = 31
INDEX_MASK = (1 << INDEX_BITS) - 1

metadata = MetaData()

Whole = BigInteger().with_variant(Integer, "sqlite")
"""64 bits on both; SQLite makes a key its own row number only when the type reads INTEGER."""


def _dataset_key() -> Column[int]:
    return Column("dataset_id", Whole, ForeignKey("ctxasm_datasets.dataset_id", ondelete="CASCADE"), primary_key=True, autoincrement=False)


schema = Table(
    "ctxasm_schema",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("next_document_no", Whole, nullable=False),
)

datasets = Table(
    "ctxasm_datasets",
    metadata,
    Column("dataset_id", Whole, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Text, nullable=False),
    Column("loaded_at", Text, nullable=False),
    Column("encoding", Text),
    Column("documents", Whole, nullable=False),
    Column("chunks", Whole, nullable=False),
    Column("queries", Whole, nullable=False),
    Column("answers", Whole, nullable=False),
    Column("replaced", Whole, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("origin", Text),
    Column("first_document_no", Whole, nullable=False),
    sqlite_autoincrement=True,
)

documents = Table(
    "ctxasm_documents",
    metadata,
    Column("document_no", Whole, primary_key=True, autoincrement=False),
    Column("dataset_id", Whole, ForeignKey("ctxasm_datasets.dataset_id", ondelete="CASCADE"), nullable=False),
    Column("document_id", Text, nullable=False),
    Column("title", Text),
    Column("source", Text),
    Column("summary", Text),
    Column("date", Text),
    Column("metadata", Text),
    UniqueConstraint("dataset_id", "document_id"),
)

chunks = Table(
    "ctxasm_chunks",
    metadata,
    Column("place", Whole, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("start_char", Whole),
    Column("end_char", Whole),
    Column("page_number", Whole),
    Column("section", Text),
    Column("row_number", Whole),
    Column("token_count", Whole),
    Column("overlap_chars", Whole),
    Column("overlap_kind", Text),
    Column("overlap_tokens", Whole),
    Column("lead_tokens", Whole),
    Column("duplicate_key", LargeBinary),
    Column("content_hash", LargeBinary, nullable=False),
    Column("metadata", Text),
    Column("quiet", Whole),
)

vectors = Table(
    "ctxasm_vectors",
    metadata,
    Column("embedder", Text, primary_key=True),
    Column("content_key", LargeBinary, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)
"""`content_key` is the `duplicate_key` of a text, `vector` its numbers as little-endian float32."""

queries = Table(
    "ctxasm_queries",
    metadata,
    _dataset_key(),
    Column("position", Whole, primary_key=True, autoincrement=False),
    Column("query_id", Text, nullable=False),
    Column("query", Text, nullable=False),
    Column("hits", Whole, nullable=False),
    Column("payload", Text, nullable=False),
    UniqueConstraint("dataset_id", "query_id"),
)

answers = Table(
    "ctxasm_answers",
    metadata,
    _dataset_key(),
    Column("position", Whole, primary_key=True, autoincrement=False),
    Column("query_id", Text, nullable=False),
    Column("payload", Text, nullable=False),
)

kept = Table(
    "ctxasm_kept",
    metadata,
    Column("shelf", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("kept_at", Text, nullable=False),
)

saved_queries = Table(
    "ctxasm_saved_queries",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("query_id", Text, primary_key=True),
    Column("position", Whole, nullable=False),
    Column("query", Text, nullable=False),
    Column("hits", Whole, nullable=False),
    Column("payload", Text, nullable=False),
    Column("saved_at", Text, nullable=False),
)
"""By the name of the dataset, not its number: a saved question survives a new load."""

runs = Table(
    "ctxasm_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    *(Column(name, Text, nullable=False) for name in ("kept_at", "dataset", "batch", "query_id", "question", "model", "author", "payload")),
    Column("deleted_at", Text),
)
"""Answers as they were kept; `payload` is all of a run as JSON. A run outlives its dataset, which it names."""

judgements = Table(
    "ctxasm_judgements",
    metadata,
    Column("run_id", Text, ForeignKey("ctxasm_runs.run_id", ondelete="CASCADE"), primary_key=True),
    *(Column(name, Text, primary_key=True) for name in ("item", "reviewer")),
    Column("version", Whole, primary_key=True, autoincrement=False),
    Column("payload", Text, nullable=False),
)
"""Only added to: what stands is the newest version of an item by a reviewer."""
