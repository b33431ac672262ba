"""Datasets that stay in the user's own tables, beside those that are stored: which there are, and one by its name.

A link is a few words on a shelf of our own store: the connection's name, the mapping, when it was made. The database itself is
opened when a link is first read, so a list of datasets never waits for somebody else's server.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import time_ns
from typing import TYPE_CHECKING, Any, Protocol

from ctxasm.data.datasets import Datasets
from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.store.records import decoding

if TYPE_CHECKING:
    from ctxasm.data.load_conflicts import Over
    from ctxasm.data.tables.linked import LinkedDataset
    from ctxasm.data.tables.mapping import TableMapping
    from ctxasm.data.tables.session import OwnDatabase
    from ctxasm.model.datasets import DatasetInfo, DatasetStore

SHELF = "linked"


class Links:
    """The links beside one store, and the databases that are open for them. Threads may share it.

    `connections` are the databases by name, as the environment gives them; `statement_timeout` is the most seconds of one read.
    """

    def __init__(
        self, store: Callable[[], DatasetStore], connections: Mapping[str, Mapping[str, object]], statement_timeout: float
    ) -> None:
        self._store, self._connections, self._statement_timeout = store, connections, statement_timeout
        self._lock = Lock()
        self._databases: dict[str, OwnDatabase] = {}
        self._handles: dict[str, tuple[str, LinkedDataset]] = {}

    def database(self, connection: str) -> OwnDatabase:
        """A connection by its name, the same object every time. Raises NotFound, InvalidInput; it connects when it is first read."""
        known = self._connections
        name = connection if connection in known else next((name for name in known if name.lower() == connection.lower()), None)
        if name is None:
            listed = ", ".join(shown(name) for name in known) or "none: set CTXASM_CONNECTION_NAME or [connections.NAME] in the secrets"
            raise NotFound(f"there is no connection {shown(connection)}; known are {listed}")
        with self._lock:
            if name not in self._databases:
                from ctxasm.data.tables.session import OwnDatabase, address_of

                self._databases[name] = OwnDatabase(address_of(name, known[name]), self._statement_timeout)
            return self._databases[name]

    def add(self, connection: str, mapping: TableMapping, name: str, documents: int, chunks: int) -> DatasetInfo:
        """Keep a link, in place of one of this name. Raises InvalidInput for the name of a stored dataset."""
        from ctxasm.data.tables.mapping import written_mapping
        from ctxasm.store.validation import check_text

        check_text(name, "dataset name", name=True)
        if not name.strip() or len(name.encode()) > 1000:
            raise InvalidInput(f"dataset name must have a visible character and at most 1000 bytes, got {shown(name)}")
        if any(info.name == name for info in self._store().datasets()):
            raise InvalidInput(
                f"dataset name must not be that of a stored dataset, got {shown(name)}: take another name, or delete that one"
            )
        record = {"connection": connection, "mapping": written_mapping(mapping), "number": time_ns() // 1000}
        record |= {"documents": documents, "chunks": chunks, "linked_at": datetime.now(UTC).isoformat(timespec="microseconds")}
        self._store().keep(SHELF, {name: json.dumps(record)})
        return self._info(name, record)

    def check_load(self, name: str) -> None:
        """Refuse to load over a link: it would hide it, and take its saved questions. Raises InvalidInput."""
        if self._records([name]) and not any(info.name == name for info in self._store().datasets()):
            raise InvalidInput(f"dataset name must not be that of a linked table, got {shown(name)}: take another name, or unlink that one")

    def check_link(self, name: str, connection: str, mapping: TableMapping, over: Over) -> None:
        """Refuse a link in place of one to another table, unless it is to be replaced. Raises InvalidInput."""
        there = self._records([name]).get(name)
        if there is None or over == "replace":
            return
        table = (connection, mapping.schema, mapping.table)
        own = there["mapping"]
        if (there["connection"], own.get("schema"), own["table"]) != table:
            raise InvalidInput(
                f"dataset {shown(name)} is a link to table {shown(own['table'])} of connection {shown(there['connection'])} already: "
                "replace it, or take another name"
            )

    def remove(self, name: str) -> bool:
        """Take a link back, with the questions saved to it; the user's tables stay as they are. False where there is none."""
        store = self._store()
        if not self._records([name]) or any(info.name == name for info in store.datasets()):
            return False
        for query in store.saved_queries(name):
            store.delete_query(name, query.query_id)
        store.forget(SHELF, [name])
        self.forget_enrichment(name)
        self._handles.pop(name, None)
        return True

    def forget_enrichment(self, name: str) -> None:
        """A dataset is gone: the next one of its name is not enriched."""
        from ctxasm.data.enrich import forget_written

        forget_written(self._store(), name)

    def with_linked(self, stored: Sequence[DatasetInfo]) -> list[DatasetInfo]:
        """Stored and linked datasets, the newest first. A stored one hides a link of its name."""
        taken = {info.name for info in stored}
        linked = [self._info(name, record) for name, record in self._records().items() if name not in taken]
        return sorted([*stored, *linked], key=lambda info: info.loaded_at, reverse=True) if linked else list(stored)

    def dataset(self, name: str | None) -> LinkedDataset | None:
        """The linked dataset of this name (None: the newest dataset, if that is a link); None where it is a stored one, or none."""
        records = self._records(None if name is None else [name])
        if not records:
            return None
        stored = self._store().datasets()
        if name is None:
            newest = self.with_linked(stored)[0]
            name = newest.name if newest.linked else ""
        if name not in records or any(info.name == name for info in stored):
            return None
        written = json.dumps(records[name])
        known = self._handles.get(name)
        if known is None or known[0] != written:
            known = self._handles[name] = (written, self.opened(name, records[name]))
        return known[1]

    def opened(self, name: str, record: dict[str, Any]) -> LinkedDataset:
        """A handle on the tables that a record of a link names."""
        from ctxasm.data.tables.linked import LinkedDataset
        from ctxasm.data.tables.mapping import read_mapping

        with decoding(f"the link {shown(name)}"):
            connection, mapping = record["connection"], read_mapping(record["mapping"])
        database = self.database(connection)
        questions = partial(self._store().saved_queries, name)
        return LinkedDataset(database, mapping, self._info(name, record), questions)

    def close(self) -> None:
        """Let go of all databases. The next use opens them again."""
        with self._lock:
            for database in self._databases.values():
                database.close()
            self._databases.clear()
            self._handles.clear()

    def _records(self, names: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
        with decoding("a link to a table"):
            return {name: json.loads(text) for name, text in self._store().read_kept(SHELF, names).items()}

    def _info(self, name: str, record: dict[str, Any]) -> DatasetInfo:
        """What is known of a link without reading its tables: the counts are those estimated when it was made."""
        from ctxasm.model.datasets import DatasetInfo

        with decoding(f"the link {shown(name)}"):
            at = datetime.fromisoformat(record["linked_at"])
            mapping, number = record["mapping"], -int(record["number"])
            digest = hashlib.sha256(json.dumps([number, mapping], sort_keys=True).encode()).hexdigest()
            origin = f"table {mapping['table']} of connection {record['connection']}, read where it is"
            documents, chunks = int(record["documents"]), int(record["chunks"])
        queries = len(self._store().saved_queries(name))
        return DatasetInfo(number, name, at, at, None, documents, chunks, queries, 0, 0, digest, origin)


class Linking(Datasets, Protocol):
    """What the use cases of a user's own tables ask for: the datasets, and the links beside them."""

    @property
    def links(self) -> Links: ...
