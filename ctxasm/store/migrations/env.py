"""What Alembic runs: the steps on a connection that its caller gives, inside that caller's transaction."""

from __future__ import annotations

from alembic import context

from ctxasm.store.schema import alembic_version, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=alembic_version.name,
    include_name=lambda name, kind, _parents: kind != "table" or name in metadata.tables,
)
context.run_migrations()
