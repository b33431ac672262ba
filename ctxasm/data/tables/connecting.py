"""A user's own tables as use cases: connections, tables, a mapping with its checks, a live link, a copy.

The user's database is only read. Mappings, links, saved questions and runs live in our own store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.config import Config
from ctxasm.data.files.loading import LoadReport, neighbour_notes, reported
from ctxasm.data.load_conflicts import NameTaken, Over, is_content_of, is_counted, joined_dataset, standing, stored_info
from ctxasm.model.errors import CtxasmError, InvalidInput, NotFound, shown
from ctxasm.model.ports import FetchedChunk, Window
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.store.records import decoding

if TYPE_CHECKING:
    from ctxasm.data.tables.catalogue import Sample, TableDetails, TableInfo
    from ctxasm.data.tables.checks import Finding, MappingCheck
    from ctxasm.data.tables.linked import LinkedDataset
    from ctxasm.data.tables.links import Linking
    from ctxasm.data.tables.mapping import TableMapping

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
    from ctxasm.data.tables import guess

    return guess.guess_mapping(datasets.links.database(connection), table, schema)


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
