"""Questions that a user saved to a dataset, after those it was loaded with. They stand by its name and survive its next load.

A loaded question of the same id goes before a saved one: ids stay unique, and a new load never loses a question of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, true, update

from ctxasm.model.characters import storable
from ctxasm.model.datasets import QueryEntry
from ctxasm.model.records import Query
from ctxasm.store.additions import check_saved, no_saved_query, taken_by_a_load
from ctxasm.store.codec import read_query, written_query
from ctxasm.store.tables import queries, saved_queries


def write_saved(connection: Connection, dataset: str, dataset_id: int | None, query: Query) -> None:
    """Save a query, in place of a saved one of its id. `dataset_id` is None for a dataset that is not loaded here."""
    payload, t = check_saved(dataset, query), saved_queries
    loaded = select(queries.c.position).where(queries.c.dataset_id == dataset_id, queries.c.query_id == query.query_id)
    if dataset_id is not None and connection.execute(loaded).one_or_none() is not None:
        raise taken_by_a_load(query.query_id, dataset)
    same = (t.c.dataset == dataset) & (t.c.query_id == query.query_id)
    position = connection.execute(select(t.c.position).where(same)).scalar_one_or_none()
    if position is None:
        last = select(func.coalesce(func.max(t.c.position), -1)).where(t.c.dataset == dataset)
        position = int(connection.execute(last).scalar_one()) + 1
    connection.execute(delete(t).where(same))
    saved_at = datetime.now(UTC).isoformat(timespec="microseconds")
    row = {"dataset": dataset, "query_id": query.query_id, "position": position, "query": query.query, "hits": len(query.retrieved)}
    connection.execute(insert(t).values(row | {"payload": payload, "saved_at": saved_at}))


def rewrite_saved(connection: Connection, dataset: str, query: Query) -> None:
    """A saved query with other labels and hits, in its place."""
    same = (saved_queries.c.dataset == dataset) & (saved_queries.c.query_id == query.query_id)
    connection.execute(update(saved_queries).where(same).values(hits=len(query.retrieved), payload=written_query(query)))


def remove_saved(connection: Connection, dataset: str, query_id: str) -> None:
    """Remove a saved query. Raises NotFound naming those that were saved."""
    t = saved_queries
    gone = delete(t).where(t.c.dataset == dataset, t.c.query_id == query_id)
    if not storable(query_id) or not connection.execute(gone).rowcount:
        known = select(t.c.query_id).where(t.c.dataset == dataset).order_by(t.c.position)
        raise no_saved_query(query_id, dataset, list(connection.execute(known).scalars()) if storable(dataset) else [])


def forget_saved(connection: Connection, dataset: str) -> None:
    """Remove all saved queries of a dataset."""
    connection.execute(delete(saved_queries).where(saved_queries.c.dataset == dataset))


def saved_entries(connection: Connection, dataset: str, dataset_id: int | None) -> list[QueryEntry]:
    """The saved queries in the order they were saved, without what was retrieved for them."""
    t = saved_queries
    own = select(t.c.query_id, t.c.query, t.c.hits).where(_own(dataset, dataset_id)).order_by(t.c.position)
    return [QueryEntry(*row) for row in connection.execute(own)]


def read_saved(connection: Connection, dataset: str, dataset_id: int | None, query_id: str | None = None) -> list[Query]:
    """The saved queries in the order they were saved, only that of `query_id` where it is given."""
    t = saved_queries
    wanted: ColumnElement[bool] = true() if query_id is None else t.c.query_id == query_id
    own = select(t.c.query_id, t.c.query, t.c.payload).where(_own(dataset, dataset_id), wanted).order_by(t.c.position)
    return [read_query(*row) for row in connection.execute(own)]


def saved_named(connection: Connection, dataset: str, query_ids: Sequence[str]) -> list[Query]:
    """The saved queries of these ids."""
    t = saved_queries
    own = select(t.c.query_id, t.c.query, t.c.payload).where(t.c.dataset == dataset, t.c.query_id.in_(query_ids))
    return [read_query(*row) for row in connection.execute(own)]


def _own(dataset: str, dataset_id: int | None) -> ColumnElement[bool]:
    own = saved_queries.c.dataset == dataset
    if dataset_id is None:
        return own
    return own & saved_queries.c.query_id.not_in(select(queries.c.query_id).where(queries.c.dataset_id == dataset_id))
