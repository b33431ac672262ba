"""Overlaps and duplicate keys are found by other rules than those of before: found again here, so that nobody has to load anew.

Only rows that change are written. A new overlap has no token facts: they are found when it is assembled. The kept vectors of texts
whose key changed are removed, and made again when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from ctxasm.model.ports import FetchedChunk
from ctxasm.text.chunk_facts import duplicate_key, usual_in_dataset, with_overlaps
from ctxasm.text.language import sample_of

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_BITS = 31
_MOST = 2000
"""Chunks of one document that are held at a time."""
_facts = ("overlap_chars", "overlap_kind", "overlap_tokens", "lead_tokens", "duplicate_key")
_chunks = sa.table("ctxasm_chunks", *(sa.column(name) for name in ("place", "text", "start_char", "end_char", *_facts)))
_datasets = sa.table("ctxasm_datasets", sa.column("first_document_no"), sa.column("documents"))
_vectors = sa.table("ctxasm_vectors", sa.column("content_key", sa.LargeBinary))


def upgrade() -> None:
    """To this version."""
    connection = op.get_bind()
    for first, count in connection.execute(sa.select(_datasets.c.first_document_no, _datasets.c.documents)).fetchall():
        sample = sample_of(count)
        beginnings = (_read(connection, first + at, 0, sample.chunks) for at in sample.documents)
        usual = usual_in_dataset([chunk for own in beginnings for chunk in own])
        for number in range(first, first + count):
            for stored in _runs(connection, number):
                _write(connection, number, stored, with_overlaps(stored, usual))
    op.execute("UPDATE ctxasm_schema SET version = 5")


def _runs(connection: sa.Connection, number: int) -> Iterator[list[FetchedChunk]]:
    """The chunks of a document; of a long one in runs, each with the last chunk of the run before."""
    stored = _read(connection, number, 0, _MOST)
    while stored:
        yield stored
        if len(stored) < _MOST:
            return
        stored = _read(connection, number, stored[-1].chunk_index, _MOST)


def _read(connection: sa.Connection, number: int, index: int, most: int) -> list[FetchedChunk]:
    c, low = _chunks.c, number << _BITS
    columns = (c.place, c.text, c.start_char, c.end_char, c.overlap_chars, c.overlap_kind, c.overlap_tokens, c.lead_tokens, c.duplicate_key)
    own = sa.select(*columns).where(c.place.between(low + index, low + (1 << _BITS) - 1)).order_by(c.place).limit(most)
    return [
        FetchedChunk(
            str(number), place - low, text, start, end, overlap_chars=chars, overlap_kind=kind, overlap_tokens=tokens,
            lead_tokens=lead, duplicate_key=None if key is None else bytes(key),
        )
        for place, text, start, end, chars, kind, tokens, lead, key in connection.execute(own).fetchall()
    ]  # fmt: skip


def _write(connection: sa.Connection, number: int, stored: list[FetchedChunk], found: list[FetchedChunk]) -> None:
    rows, gone = [], []
    for at, (was, now) in enumerate(zip(stored, found, strict=True)):
        if at == 0 and was.chunk_index > 0:
            now = was  # of the run before, or the first of its document
        elif (was.overlap_chars, was.overlap_kind) != (now.overlap_chars, now.overlap_kind):
            now = now._replace(overlap_tokens=None, lead_tokens=None)
        now = now._replace(duplicate_key=duplicate_key(now.text))
        if now != was:
            rows.append({f"new_{name}": getattr(now, name) for name in _facts} | {"own": (number << _BITS) + now.chunk_index})
        if was.duplicate_key is not None and now.duplicate_key != was.duplicate_key:
            gone.append(was.duplicate_key)
    if rows:
        changed = sa.update(_chunks).where(_chunks.c.place == sa.bindparam("own"))
        connection.execute(changed.values({name: sa.bindparam(f"new_{name}") for name in _facts}), rows)
    for at in range(0, len(gone), 500):
        connection.execute(sa.delete(_vectors).where(sa.func.substr(_vectors.c.content_key, 1, 16).in_(gone[at : at + 500])))
