"""A user's own tables as use cases: connections, tables, a mapping with its checks, a live link, a copy.

The user's database is only read. Mappings, links, saved questions and runs live in our own store.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ctxasm.config import Config
from ctxasm.data.datasets import Datasets
from ctxasm.data.files.loading import LoadReport, neighbour_notes, reported
from ctxasm.data.load_conflicts import NameTaken, Over, is_content_of, is_counted, joined_dataset, standing, stored_info
from ctxasm.model.errors import CtxasmError, InvalidInput, NotFound, shown
from ctxasm.model.ports import FetchedChunk, Window
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.store.records import decoding

if TYPE_CHECKING:
    from ctxasm.data.load_conflicts import Over
    from ctxasm.data.tables.catalogue import Sample, TableDetails, TableInfo
    from ctxasm.data.tables.checks import Finding, MappingCheck
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
        from ctxasm.data.enrich.cache import forget_written

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
            name = newest.name if newest.dataset_id < 0 else ""
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


MAPPINGS = "mappings"
"""The shelf of saved mappings."""
COPY_ROWS = 100_000
"""Rows that a copy takes unless more are asked for."""


class ConnectionInfo(NamedTuple):
    """A configured connection: its database in words, without a password; `problem` says why it cannot be used."""

    name: str
    database: str
    problem: str = ""


class SavedMapping(NamedTuple):
    """A mapping kept under a name, with the connection it was made for."""

    connection: str
    mapping: TableMapping


def connections(config: Config) -> list[ConnectionInfo]:
    """The connections of the secrets and the environment by name. None is opened."""
    from ctxasm.data.tables.session import address_of
    from ctxasm.store.connect import describe

    found = []
    for name, table in sorted(config.connections.items()):
        try:
            found.append(ConnectionInfo(name, describe(address_of(name, table))))
        except CtxasmError as problem:
            found.append(ConnectionInfo(name, "", str(problem)))
    return found


def tables(datasets: Linking, connection: str) -> list[TableInfo]:
    """The tables and views that can be read there, with row estimates. Raises NotFound, StoreUnavailable."""
    from ctxasm.data.tables import catalogue

    return catalogue.tables(datasets.links.database(connection))


def columns(datasets: Linking, connection: str, table: str, schema: str | None = None) -> TableDetails:
    """The columns of a table with their types (`.columns` by name). Raises NotFound, StoreUnavailable."""
    from ctxasm.data.tables import catalogue

    return catalogue.details(datasets.links.database(connection), table, schema)


def sample(datasets: Linking, connection: str, table: str, schema: str | None = None, limit: int = 20) -> Sample:
    """The first rows of a table as text, long values cut. Raises NotFound, StoreUnavailable."""
    from ctxasm.data.tables import catalogue

    database = datasets.links.database(connection)
    return catalogue.sample(database, catalogue.details(database, table, schema), limit)


# Mappings


def guess_mapping(datasets: Linking, connection: str, table: str, schema: str | None = None) -> TableMapping:
    """The mapping that seems most likely; `.missing` names what is left to choose. Raises NotFound, StoreUnavailable."""
    from ctxasm.data.tables import mapping

    return mapping.guess_mapping(datasets.links.database(connection), table, schema)


def chosen_mapping(
    datasets: Linking,
    connection: str,
    table: str | None,
    fields: Iterable[tuple[str, str]] = (),
    documents: str | None = None,
    start: TableMapping | None = None,
) -> TableMapping:
    """The guess for a table, or the mapping `start`, with these fields on top: a field and its column or path, empty to leave it out.

    A table is named alone, or as SCHEMA.TABLE; None is that of `start`. Fields of the table `documents` are named documents.FIELD.
    Raises InvalidInput, NotFound, StoreUnavailable.
    """
    from ctxasm.data.tables.mapping import with_place

    schema, named = _split(datasets, connection, table) if table is not None else (None, "")
    start = guess_mapping(datasets, connection, named, schema) if start is None else start
    chosen, own = dict(start.fields), start.documents
    of_documents = dict(own.fields) if own is not None else {}
    for name, place in fields:
        if name.startswith("documents."):
            of_documents = with_place(of_documents, name.removeprefix("documents."), place)
        else:
            chosen = with_place(chosen, name, place)
    about = None
    if documents is not None or (own is not None and of_documents):
        its = _split(datasets, connection, documents) if documents is not None else (own.schema, own.table) if own else (None, "")
        about = (its[1], of_documents, its[0])
    return table_mapping(named or start.table, chosen, schema if named else start.schema, about)


def _split(datasets: Linking, connection: str, name: str) -> tuple[str | None, str]:
    """A table by its name alone where there is one, else as SCHEMA.TABLE."""
    listed = tables(datasets, connection)
    schema, dot, table = name.partition(".")
    if dot and not any(info.name == name for info in listed) and any(info.schema == schema for info in listed):
        return schema, table
    return None, name


def check_mapping(datasets: Linking, connection: str, mapping: TableMapping) -> MappingCheck:
    """What the mapping finds in its table, by bounded reads. Raises InvalidInput where it does not fit the table at all."""
    from ctxasm.data.tables import checks

    return checks.check_mapping(datasets.links.database(connection), mapping)


def preview(datasets: Linking, connection: str, mapping: TableMapping, limit: int = 20) -> list[FetchedChunk]:
    """The first chunks as the mapping reads them. Raises as `check_mapping`."""
    return list(_tried(datasets, connection, mapping).stream(limit))


def statements(datasets: Linking, connection: str, mapping: TableMapping) -> dict[str, str]:
    """The exact parameterised SQL of each operation. Raises as `check_mapping`."""
    from ctxasm.data.tables.search import all_statements

    return all_statements(_tried(datasets, connection, mapping))


def explain(datasets: Linking, connection: str, mapping: TableMapping) -> str:
    """The plan of `fetch` for the neighbours of three chunks (of a copy, where rows are counted): planned, not run.

    Raises as `check_mapping`.
    """
    from ctxasm.data.tables import checks

    tried = _tried(datasets, connection, mapping)
    if mapping.counted:
        return checks.explain(tried.database, tried.sql.chunks, {"limit": COPY_ROWS})
    windows = [Window(chunk.document_id, max(0, chunk.chunk_index - 1), chunk.chunk_index + 1) for chunk in tried.some(3)]
    if not windows:
        raise InvalidInput(f"table {shown(mapping.table)} has no row that is a chunk: there is nothing to explain")
    return checks.explain(tried.database, tried.sql.fetch, tried.fetch_parameters(windows))


def mappings(datasets: Linking) -> dict[str, SavedMapping]:
    """The saved mappings by name."""
    from ctxasm.data.tables.mapping import read_mapping

    with decoding("a saved mapping"):
        found = {name: json.loads(text) for name, text in datasets.store.read_kept(MAPPINGS).items()}
        return {name: SavedMapping(kept["connection"], read_mapping(kept["mapping"])) for name, kept in found.items()}


def save_mapping(datasets: Linking, name: str, connection: str, mapping: TableMapping) -> None:
    """Keep a mapping under a name, in place of one of that name. Raises InvalidInput."""
    from ctxasm.data.tables.mapping import written_mapping

    if not name.strip():
        raise InvalidInput(f"the name of a mapping must have a visible character, got {shown(name)}")
    datasets.store.keep(MAPPINGS, {name: json.dumps({"connection": connection, "mapping": written_mapping(mapping)})})


def forget_mapping(datasets: Linking, name: str) -> None:
    """Remove a saved mapping; links made with it stay. Raises NotFound."""
    if not datasets.store.read_kept(MAPPINGS, [name]):
        raise NotFound(f"there is no mapping {shown(name)}: choose one of {', '.join(map(shown, mappings(datasets))) or 'none'}")
    datasets.store.forget(MAPPINGS, [name])


def table_mapping(
    table: str, fields: Mapping[str, str], schema: str | None = None, documents: tuple[str, Mapping[str, str], str | None] | None = None
) -> TableMapping:
    """A mapping of plain values; `documents`: the table of documents, its fields, its schema. Raises InvalidInput."""
    from ctxasm.data.tables.mapping import DocumentsTable, TableMapping

    own = None if documents is None else DocumentsTable(documents[0], dict(documents[1]), documents[2])
    return TableMapping(table, dict(fields), schema, own)


# Links and copies


def link(datasets: Linking, connection: str, mapping: TableMapping, name: str, over: Over = "replace") -> LoadReport:
    """Make the table a dataset that is read where it is; a link to another table goes only where `over` says so.

    Raises InvalidInput where no row can be used or the name is taken.
    """
    from ctxasm.data.tables.checks import no_link

    datasets.links.check_link(name, connection, mapping, over)
    found = check_mapping(datasets, connection, mapping)
    if mapping.counted:
        raise InvalidInput(f"table {shown(mapping.table)} cannot be linked: {no_link(mapping)}")
    if not found.usable:
        told = "; ".join(finding.sentence for finding in found.problems) or "no row is a chunk"
        raise InvalidInput(f"table {shown(mapping.table)} cannot be linked: {told}")
    tried = _tried(datasets, connection, mapping)
    info = datasets.links.add(connection, mapping, name, tried.count_documents(found.estimate or found.rows), found.estimate or found.rows)
    notes = _told(found.findings)
    if not found.whole:
        notes.append("its counts are estimates")
    return LoadReport(info, True, tuple(notes))


def _told(findings: Sequence[Finding]) -> list[str]:
    return [finding.sentence + (f". Run: {finding.remedy}" if finding.remedy else "") for finding in findings]


def unlink(datasets: Linking, name: str) -> None:
    """Take a link back, with its saved questions. The user's tables stay as they are. Raises NotFound."""
    if not datasets.links.remove(name):
        raise NotFound(f"no table is linked as {shown(name)}")


def is_linked(datasets: Linking, name: str) -> bool:
    """Whether a dataset is a user's table that is read where it is."""
    return datasets.links.dataset(name) is not None


def copy_table(
    datasets: Linking,
    connection: str,
    mapping: TableMapping,
    name: str,
    limit: int = COPY_ROWS,
    report: Report = silent,
    cancelled: Cancelled = never,
    over: Over = "replace",
) -> LoadReport:
    """Load the first `limit` chunks (by document and index) as an ordinary dataset. All or nothing, also when cancelled.

    `over` says what becomes of a dataset of that name. Where the mapping has `order_by` in place of chunk_index, the rows of
    each document are counted by it, and the notes say so.
    Raises as `link`, NameTaken, and InvalidInput when it was cancelled.
    """
    from ctxasm.data.tables.checks import RowCounter
    from ctxasm.model.records import Chunk

    if limit < 1:
        raise InvalidInput(f"limit of a copy must be at least 1, got {limit}")
    joined_dataset(datasets, name, over)
    there = stored_info(datasets, name)
    found = check_mapping(datasets, connection, mapping).findings if mapping.counted else ()
    tried, began, read, counter = _tried(datasets, connection, mapping), monotonic(), 0, RowCounter()

    def chunks() -> Iterator[Chunk]:
        nonlocal read, counter
        read, counter = 0, RowCounter()
        for chunk in tried.stream(limit, counter):
            yield Chunk(*chunk[:8])
            read += 1
            if read % 1000 == 0:
                report(Progress(read, limit, "copying rows", monotonic() - began))
                if cancelled():
                    raise InvalidInput(f"the copy of table {shown(mapping.table)} was cancelled: nothing was loaded")
        if not read:
            raise InvalidInput(f"table {shown(mapping.table)} has no row that is a chunk: nothing was loaded")

    if there is not None and over == "new":
        if not is_content_of(there, tried.documents_of_first(limit), chunks()):
            raise NameTaken(standing(datasets, there))
        if is_counted(datasets, there):
            return LoadReport(there, False, (*_told(found), *neighbour_notes(datasets, there)))
    documents, origin = tried.documents_of_first(limit), f"table {mapping.table} of connection {connection}, copied"
    info = datasets.store.add_stream(name, documents, chunks(), origin=origin, join=over == "join")
    report(Progress(read, read, "rows copied", monotonic() - began))
    ended = (f"the copy ends at {limit:,} rows: raise the limit for more",) if read >= limit else ()
    return reported(datasets, info, there, over, (*_told(found), *counter.notes(), *ended))


def _tried(datasets: Linking, connection: str, mapping: TableMapping) -> LinkedDataset:
    """The table as it would be linked, without keeping anything."""
    from ctxasm.data.tables.mapping import written_mapping

    record = {"connection": connection, "mapping": written_mapping(mapping), "number": 0, "documents": 0, "chunks": 0}
    return datasets.links.opened("", record | {"linked_at": "1970-01-01T00:00:00+00:00"})
