"""The schema of ctxasm 0.1.0."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Written out, not imported: a step stays what it was when the tables of today change.
_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """To this version."""
    op.create_table(
        "ctxasm_schema",
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("next_document_no", _WHOLE, nullable=False),
    )
    op.create_table(
        "ctxasm_datasets",
        sa.Column("dataset_id", _WHOLE, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("created_at", "loaded_at")),
        sa.Column("encoding", sa.Text),
        *(sa.Column(name, _WHOLE, nullable=False) for name in ("documents", "chunks", "queries", "answers", "replaced")),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("origin", sa.Text),
        sa.Column("first_document_no", _WHOLE, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "ctxasm_documents",
        sa.Column("document_no", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("dataset_id", _WHOLE, sa.ForeignKey("ctxasm_datasets.dataset_id", ondelete="CASCADE"), nullable=False),
        sa.Column("document_id", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text) for name in ("title", "source", "summary", "date", "metadata")),
        sa.UniqueConstraint("dataset_id", "document_id"),
    )
    op.create_table(
        "ctxasm_chunks",
        sa.Column("place", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text, nullable=False),
        *(sa.Column(name, _WHOLE) for name in ("start_char", "end_char", "page_number")),
        sa.Column("section", sa.Text),
        *(sa.Column(name, _WHOLE) for name in ("row_number", "token_count", "overlap_chars")),
        sa.Column("overlap_kind", sa.Text),
        *(sa.Column(name, _WHOLE) for name in ("overlap_tokens", "lead_tokens")),
        sa.Column("duplicate_key", sa.LargeBinary),
        sa.Column("content_hash", sa.LargeBinary, nullable=False),
        sa.Column("metadata", sa.Text),
    )
    _create_questions_and_answers()


def _create_questions_and_answers() -> None:
    op.create_table(
        "ctxasm_queries",
        *_numbered(),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("query_id", "query")),
        sa.Column("hits", _WHOLE, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.UniqueConstraint("dataset_id", "query_id"),
    )
    op.create_table("ctxasm_answers", *_numbered(), *(sa.Column(name, sa.Text, nullable=False) for name in ("query_id", "payload")))


def _numbered() -> tuple[sa.Column[int], ...]:
    dataset = sa.ForeignKey("ctxasm_datasets.dataset_id", ondelete="CASCADE")
    return (
        sa.Column("dataset_id", _WHOLE, dataset, primary_key=True, autoincrement=False),
        sa.Column("position", _WHOLE, primary_key=True, autoincrement=False),
    )
