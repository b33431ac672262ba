"""Vectors of chunk texts are kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this version."""
    op.create_table(
        "ctxasm_vectors",
        sa.Column("embedder", sa.Text, primary_key=True),
        sa.Column("content_key", sa.LargeBinary, primary_key=True),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
