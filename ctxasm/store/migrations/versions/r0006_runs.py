"""Answers are kept as runs, with what reviewers say of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TEXTS = ("kept_at", "dataset", "batch", "query_id", "question", "model", "author", "payload")


def upgrade() -> None:
    """To this version."""
    op.create_table(
        "ctxasm_runs",
        sa.Column("run_id", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in _TEXTS),
        sa.Column("deleted_at", sa.Text),
    )
    op.create_table(
        "ctxasm_judgements",
        sa.Column("run_id", sa.Text, sa.ForeignKey("ctxasm_runs.run_id", ondelete="CASCADE"), primary_key=True),
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("item", "reviewer")),
        sa.Column("version", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("payload", sa.Text, nullable=False),
    )
    op.execute("UPDATE ctxasm_schema SET version = 6")
