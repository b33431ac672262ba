"""Search inside the database that holds a dataset: for corpora that are too large for an index in memory.

A *search set* is one index of one version of a dataset (its range of places): words (FTS5 on SQLite, tsvector with GIN on PostgreSQL)
or vectors (pgvector, else blocks of them). Each is a table of its own, made in batches when it is first needed, and named in a table of
sets; the tables are gone as soon as the dataset is replaced or deleted. What goes in, words and vectors, is made by the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, insert, inspect, select, update

from ctxasm.model.errors import StoreUnavailable
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document
from ctxasm.store.kv import drop_sets, orphans, sets, table_of
from ctxasm.store.schema import INDEX_BITS, INDEX_MASK, chunks, documents
from ctxasm.store.statements import DOCUMENT_COLUMNS, FETCHED_COLUMNS, document_names, fetched, record_document

if TYPE_CHECKING:
    from ctxasm.model.datasets import DatasetStore
    from ctxasm.store.connect import Connections
    from ctxasm.store.database import Store

ABANDONED = timedelta(minutes=10)
"""A set that nobody has added to for so long was left half made by a process that died."""
BATCH_ROWS = 1000
SAMPLE_ROWS = 200
_ADVISORY_LOCK = 0x637473


class SearchSet(NamedTuple):
    """A set that is ready: its number, how it is made, how many texts it holds and how many words these have."""

    set_no: int
    kind: str
    texts: int
    words: int

    @property
    def table(self) -> str:
        """The name of its table."""
        return table_of(self.set_no)


class Batch(NamedTuple):
    """Some chunks of a dataset, with their places and documents."""

    places: list[int]
    chunks: list[FetchedChunk]
    documents: dict[str, Document]


def search_tables(store: DatasetStore, name: str) -> SearchTables:
    """The search sets of a dataset as it is now. Raises StoreUnavailable for a store that does not search, NotFound."""
    from ctxasm.store.database import Store

    if not isinstance(store, Store):  # its tables are read by statements of their own
        raise StoreUnavailable("this store is in memory alone: search in memory")
    return SearchTables(store, name)


class SearchTables:
    """The search sets of one version of a dataset. Threads may share it. Raises NotFound, StoreUnavailable."""

    def __init__(self, store: Store, name: str) -> None:
        self.connections: Connections = store._connections  # the same room
        version = store._open(name)
        self.info, (self.low, self.high) = version.info, version.places

    @property
    def address(self) -> str:
        """The same for the same version of a dataset in the same database."""
        return f"{self.connections.url.render_as_string(hide_password=True)} {self.low} {self.high}"

    def ready(self, kinds: Sequence[str], what: str) -> SearchSet | None:
        """The set of one of these kinds, where it is made."""

        def ask(connection: Connection) -> SearchSet | None:
            if not inspect(connection).has_table(sets.name):
                return None
            own = select(sets.c.set_no, sets.c.kind, sets.c.texts, sets.c.words).where(
                sets.c.low == self.low, sets.c.high == self.high, sets.c.kind.in_(kinds), sets.c.what == what, sets.c.state == "ready"
            )
            row = connection.execute(own.order_by(sets.c.set_no.desc()).limit(1)).one_or_none()
            return None if row is None else SearchSet(*row)

        return self.connections.read(ask)

    def begin(self, kind: str, what: str) -> int:
        """A number for a set that is about to be made. What others left half made of it is removed."""
        now = datetime.now(UTC)
        with self.connections.writing() as connection:
            if not self.connections.is_sqlite:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            sets.create(connection, checkfirst=True)
            old = (now - ABANDONED).isoformat(timespec="microseconds")
            abandoned = select(sets.c.set_no).where(sets.c.state == "making", sets.c.touched_at < old)
            drop_sets(connection, [*connection.execute(abandoned).scalars(), *orphans(connection)])
            row = {"low": self.low, "high": self.high, "kind": kind, "what": what, "state": "making", "texts": 0, "words": 0}
            new = insert(sets).values(row | {"touched_at": now.isoformat(timespec="microseconds")}).returning(sets.c.set_no)
            return int(connection.execute(new).scalar_one())

    def touch(self, connection: Connection, set_no: int) -> None:
        """Say that the set is still being made, inside the caller's transaction. Raises StoreUnavailable where it was removed."""
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        if not connection.execute(update(sets).where(sets.c.set_no == set_no).values(touched_at=now)).rowcount:
            raise StoreUnavailable(f"dataset {self.info.name!r} was replaced while it was indexed: search again")

    def finish(self, connection: Connection, made: SearchSet) -> None:
        """Let the set be used in place of older ones of the same, inside the caller's transaction.

        What a set is of ends in `|` and a stamp: where only that differs, the older one will not be asked for again.
        """
        self.touch(connection, made.set_no)
        ready = update(sets).where(sets.c.set_no == made.set_no)
        connection.execute(ready.values(state="ready", texts=made.texts, words=made.words))
        same = (sets.c.low == self.low) & (sets.c.high == self.high) & (sets.c.kind == made.kind) & (sets.c.state == "ready")
        of = {number: what.rpartition("|")[0] for number, what in connection.execute(select(sets.c.set_no, sets.c.what).where(same))}
        drop_sets(connection, [number for number in of if number < made.set_no and of[number] == of[made.set_no]])

    def abandon(self, set_no: int) -> None:
        """Remove a set."""
        with self.connections.writing() as connection:
            drop_sets(connection, [set_no])

    def batches(self) -> Iterator[Batch]:
        """All chunks of this version by place, with their documents. Ends early where the dataset is replaced meanwhile."""
        low = self.low

        def ask(connection: Connection) -> Batch:
            own = select(*FETCHED_COLUMNS).where(chunks.c.place.between(low, self.high)).order_by(chunks.c.place).limit(BATCH_ROWS)
            rows = connection.execute(own).fetchall()
            numbers = {row[0] >> INDEX_BITS for row in rows}
            known = connection.execute(select(*DOCUMENT_COLUMNS).where(documents.c.document_no.in_(numbers))).fetchall()
            names = {row[0]: row[1] for row in known}
            rows = [row for row in rows if row[0] >> INDEX_BITS in names]
            return Batch([row[0] for row in rows], fetched(rows, names), {row[1]: record_document(row) for row in known})

        while batch := self.connections.read(ask):
            if not batch.places:
                return
            yield batch
            low = batch.places[-1] + 1

    def sample(self) -> list[str]:
        """The first chunks of some documents from all over."""
        first, count = self.low >> INDEX_BITS, self.info.documents
        places = [(first + number) << INDEX_BITS for number in range(0, count, max(1, -(-count // SAMPLE_ROWS)))]
        own = select(chunks.c.text).where(chunks.c.place.in_(places)).order_by(chunks.c.place)
        return self.connections.read(lambda connection: list(connection.execute(own).scalars()))

    def keys(self, places: Sequence[int]) -> list[tuple[str, int]]:
        """The chunks (document_id, chunk_index) at places. Raises StoreUnavailable where the dataset is gone."""
        names = self.connections.read(lambda connection: document_names(connection, (place >> INDEX_BITS for place in places)))
        try:
            return [(names[place >> INDEX_BITS], place & INDEX_MASK) for place in places]
        except KeyError:
            raise StoreUnavailable(f"dataset {self.info.name!r} was replaced while it was searched: search again") from None


def copy_rows(connection: Connection, target: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows to `target`, a table with its columns, the way that PostgreSQL takes most of them in the same time."""
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


Rows = Iterator[tuple[Sequence[int], Any]]
"""Places, and what goes in for them."""
