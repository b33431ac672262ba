"""Texts are kept on shelves, and queries are saved to a dataset."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """To this version."""
    # Not there already but in a database of somebody who follows the main branch.
    op.create_table(
        "ctxasm_kept",
        sa.Column("shelf", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("value", "kept_at")),
        if_not_exists=True,
    )
    op.create_table(
        "ctxasm_saved_queries",
        sa.Column("dataset", sa.Text, primary_key=True),
        sa.Column("query_id", sa.Text, primary_key=True),
        sa.Column("position", _WHOLE, nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("hits", _WHOLE, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("payload", "saved_at")),
        if_not_exists=True,
    )
    op.execute("UPDATE ctxasm_schema SET version = 3")
