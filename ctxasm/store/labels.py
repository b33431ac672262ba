"""Gold evidence that somebody gives a question after the load: a loaded one keeps it as if it had come with it, and is exported with it.

The dataset gets a new number in the same transaction, as with summaries, so that what was read under the old one is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, select, update

from ctxasm.model.characters import storable
from ctxasm.model.records import GoldChange, GoldChunk, Query, changed_gold
from ctxasm.store.codec import read_query, written_query
from ctxasm.store.saved import read_saved, write_saved
from ctxasm.store.stored_hash import stored_hash
from ctxasm.store.summaries import renumber
from ctxasm.store.tables import datasets, queries


def write_gold(
    connection: Connection, dataset: str, dataset_id: int | None, query_id: str, gold: Sequence[GoldChunk], how: GoldChange
) -> Query | None:
    """The question with its evidence changed, None where there is no question of this id. Nothing is written where it has it already.

    `dataset_id` is None for a dataset that is not loaded here: all its questions are saved ones.
    """
    if not storable(query_id):
        return None
    loaded = queries.c.dataset_id == dataset_id, queries.c.query_id == query_id
    row = connection.execute(select(queries.c.query, queries.c.payload).where(*loaded)).one_or_none()
    if row is None or dataset_id is None:
        saved = next(iter(read_saved(connection, dataset, dataset_id, query_id)), None)
        if saved is not None and saved.gold != (changed := changed_gold(saved.gold, gold, how)):
            saved = replace(saved, gold=changed)
            write_saved(connection, dataset, dataset_id, saved)
        return saved
    query = read_query(query_id, row.query, row.payload)
    changed = changed_gold(query.gold, gold, how)
    if query.gold == changed:
        return query
    query = replace(query, gold=changed)
    connection.execute(update(queries).where(*loaded).values(payload=written_query(query)))
    new = renumber(connection, dataset_id)
    connection.execute(update(datasets).where(datasets.c.dataset_id == new).values(content_hash=stored_hash(connection, new)))
    return query
