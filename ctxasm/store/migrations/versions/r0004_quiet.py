"""What of a chunk can read as a marker is found once. It is empty for chunks of before: found when they are assembled."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """To this version."""
    op.add_column("ctxasm_chunks", sa.Column("quiet", _WHOLE))
    op.execute("UPDATE ctxasm_schema SET version = 4")
