"""A user's own tables as use cases: connections, tables, a mapping with its checks, a live link, a copy.

The user's database is only read. Mappings, links, saved questions and runs live in our own store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.config import Config
from ctxasm.loading import LoadReport, replacing
from ctxasm.model.errors import CtxasmError, InvalidInput, NotFound, shown
from ctxasm.model.ports import FetchedChunk, Window
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent

if TYPE_CHECKING:
    from ctxasm.store.own.catalogue import Sample, TableDetails, TableInfo
    from ctxasm.store.own.checks import MappingCheck
    from ctxasm.store.own.finding import Finding
    from ctxasm.store.own.linked import LinkedDataset
    from ctxasm.store.own.mapping import TableMapping
    from ctxasm.workbench import Workbench

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
    from ctxasm.store.failures import describe
    from ctxasm.store.own.address import address_of

    found = []
    for name, table in sorted(config.connections.items()):
        try:
            found.append(ConnectionInfo(name, describe(address_of(name, table))))
        except CtxasmError as problem:
            found.append(ConnectionInfo(name, "", str(problem)))
    return found


def tables(workbench: Workbench, connection: str) -> list[TableInfo]:
    """The tables and views that can be read there, with row estimates. Raises NotFound, StoreUnavailable."""
    from ctxasm.store.own import catalogue

    return catalogue.tables(workbench.links.database(connection))


def columns(workbench: Workbench, connection: str, table: str, schema: str | None = None) -> TableDetails:
    """The columns of a table with their types (`.columns` by name). Raises NotFound, StoreUnavailable."""
    from ctxasm.store.own import catalogue

    return catalogue.details(workbench.links.database(connection), table, schema)


def sample(workbench: Workbench, connection: str, table: str, schema: str | None = None, limit: int = 20) -> Sample:
    """The first rows of a table as text, long values cut. Raises NotFound, StoreUnavailable."""
    from ctxasm.store.own import catalogue

    database = workbench.links.database(connection)
    return catalogue.sample(database, catalogue.details(database, table, schema), limit)


# Mappings


def guess_mapping(workbench: Workbench, connection: str, table: str, schema: str | None = None) -> TableMapping:
    """The mapping that seems most likely; `.missing` names what is left to choose. Raises NotFound, StoreUnavailable."""
    from ctxasm.store.own import guess

    return guess.guess_mapping(workbench.links.database(connection), table, schema)


def check_mapping(workbench: Workbench, connection: str, mapping: TableMapping) -> MappingCheck:
    """What the mapping finds in its table, by bounded reads. Raises InvalidInput where it does not fit the table at all."""
    from ctxasm.store.own import checks

    return checks.check_mapping(workbench.links.database(connection), mapping)


def preview(workbench: Workbench, connection: str, mapping: TableMapping, limit: int = 20) -> list[FetchedChunk]:
    """The first chunks as the mapping reads them. Raises as `check_mapping`."""
    return list(_tried(workbench, connection, mapping).stream(limit))


def statements(workbench: Workbench, connection: str, mapping: TableMapping) -> dict[str, str]:
    """The exact parameterised SQL of each operation. Raises as `check_mapping`."""
    return _tried(workbench, connection, mapping).statements()


def explain(workbench: Workbench, connection: str, mapping: TableMapping) -> str:
    """The plan of `fetch` for the neighbours of three chunks (of a copy, where rows are counted): planned, not run.

    Raises as `check_mapping`.
    """
    from ctxasm.store.own import checks

    tried = _tried(workbench, connection, mapping)
    if mapping.counted:
        return checks.explain(tried.database, tried.sql.chunks, {"limit": COPY_ROWS})
    windows = [Window(chunk.document_id, max(0, chunk.chunk_index - 1), chunk.chunk_index + 1) for chunk in tried.some(3)]
    if not windows:
        raise InvalidInput(f"table {shown(mapping.table)} has no row that is a chunk: there is nothing to explain")
    return checks.explain(tried.database, tried.sql.fetch, tried.fetch_parameters(windows))


def mappings(workbench: Workbench) -> dict[str, SavedMapping]:
    """The saved mappings by name."""
    from ctxasm.store.own.mapping import read_mapping

    found = {name: json.loads(text) for name, text in workbench.store.read_kept(MAPPINGS).items()}
    return {name: SavedMapping(kept["connection"], read_mapping(kept["mapping"])) for name, kept in found.items()}


def save_mapping(workbench: Workbench, name: str, connection: str, mapping: TableMapping) -> None:
    """Keep a mapping under a name, in place of one of that name. Raises InvalidInput."""
    from ctxasm.store.own.mapping import written_mapping

    if not name.strip():
        raise InvalidInput(f"the name of a mapping must have a visible character, got {shown(name)}")
    workbench.store.keep(MAPPINGS, {name: json.dumps({"connection": connection, "mapping": written_mapping(mapping)})})


def forget_mapping(workbench: Workbench, name: str) -> None:
    """Remove a saved mapping; links made with it stay. Raises NotFound."""
    if not workbench.store.read_kept(MAPPINGS, [name]):
        raise NotFound(f"there is no mapping {shown(name)}: choose one of {', '.join(map(shown, mappings(workbench))) or 'none'}")
    workbench.store.forget(MAPPINGS, [name])


def table_mapping(
    table: str, fields: Mapping[str, str], schema: str | None = None, documents: tuple[str, Mapping[str, str], str | None] | None = None
) -> TableMapping:
    """A mapping of plain values; `documents`: the table of documents, its fields, its schema. Raises InvalidInput."""
    from ctxasm.store.own.mapping import DocumentsTable, TableMapping

    own = None if documents is None else DocumentsTable(documents[0], dict(documents[1]), documents[2])
    return TableMapping(table, dict(fields), schema, own)


# Links and copies


def link(workbench: Workbench, connection: str, mapping: TableMapping, name: str) -> LoadReport:
    """Make the table a dataset that is read where it is. Raises InvalidInput where no row can be used or the name is taken."""
    from ctxasm.store.own.counted_checks import no_link

    found = check_mapping(workbench, connection, mapping)
    if mapping.counted:
        raise InvalidInput(f"table {shown(mapping.table)} cannot be linked: {no_link(mapping)}")
    if not found.usable:
        told = "; ".join(finding.sentence for finding in found.problems) or "no row is a chunk"
        raise InvalidInput(f"table {shown(mapping.table)} cannot be linked: {told}")
    tried = _tried(workbench, connection, mapping)
    info = workbench.links.add(connection, mapping, name, tried.count_documents(found.estimate or found.rows), found.estimate or found.rows)
    notes = _told(found.findings)
    if not found.whole:
        notes.append("its counts are estimates")
    return LoadReport(info, True, tuple(notes))


def _told(findings: Sequence[Finding]) -> list[str]:
    return [finding.sentence + (f". Run: {finding.remedy}" if finding.remedy else "") for finding in findings]


def unlink(workbench: Workbench, name: str) -> None:
    """Take a link back, with its saved questions. The user's tables stay as they are. Raises NotFound."""
    if not workbench.links.remove(name):
        raise NotFound(f"no table is linked as {shown(name)}")


def is_linked(workbench: Workbench, name: str) -> bool:
    """Whether a dataset is a user's table that is read where it is."""
    return workbench.links.dataset(name) is not None


def copy_table(
    workbench: Workbench,
    connection: str,
    mapping: TableMapping,
    name: str,
    limit: int = COPY_ROWS,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> LoadReport:
    """Load the first `limit` chunks (by document and index) as an ordinary dataset. All or nothing, also when cancelled.

    Where the mapping has `order_by` in place of chunk_index, the rows of each document are counted by it, and the notes say so.
    Raises as `link`, and InvalidInput when it was cancelled.
    """
    from ctxasm.model.records import Chunk

    if limit < 1:
        raise InvalidInput(f"limit of a copy must be at least 1, got {limit}")
    replaced = replacing(workbench, name)
    found = check_mapping(workbench, connection, mapping).findings if mapping.counted else ()
    tried, began, read = _tried(workbench, connection, mapping), monotonic(), 0

    def chunks() -> Iterator[Chunk]:
        nonlocal read
        for chunk in tried.stream(limit):
            yield Chunk(*chunk[:8])
            read += 1
            if read % 1000 == 0:
                report(Progress(read, limit, "copying rows", monotonic() - began))
                if cancelled():
                    raise InvalidInput(f"the copy of table {shown(mapping.table)} was cancelled: nothing was loaded")
        if not read:
            raise InvalidInput(f"table {shown(mapping.table)} has no row that is a chunk: nothing was loaded")

    documents = tried.documents_of_first(limit)
    info = workbench.store.add_stream(name, documents, chunks(), origin=f"table {mapping.table} of connection {connection}, copied")
    report(Progress(read, read, "rows copied", monotonic() - began))
    ended = (f"the copy ends at {limit:,} rows: raise the limit for more",) if read >= limit else ()
    return LoadReport(info, True, (*replaced, *_told(found), *ended))


def _tried(workbench: Workbench, connection: str, mapping: TableMapping) -> LinkedDataset:
    """The table as it would be linked, without keeping anything."""
    from ctxasm.store.own.mapping import written_mapping

    record = {"connection": connection, "mapping": written_mapping(mapping), "number": 0, "documents": 0, "chunks": 0}
    return workbench.links.opened("", record | {"linked_at": "1970-01-01T00:00:00+00:00"})
