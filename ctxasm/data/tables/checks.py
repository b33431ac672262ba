"""What a mapping finds in its table, by bounded reads: rows that are no chunks, repeats, and indexes that are missing.

Nothing is changed: a CREATE INDEX is a text for the user to run.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from ctxasm.data.tables.counted_checks import order_findings
from ctxasm.data.tables.finding import Finding
from ctxasm.data.tables.indexes import create_index, indexes, served
from ctxasm.data.tables.mapping import TableMapping
from ctxasm.data.tables.neighbours import obstacle_in
from ctxasm.data.tables.resolved import Resolved, resolve
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.data.tables.statements import Statements
from ctxasm.model.neighbours import NoNeighbours

LOOKED_AT = 50_000
"""Rows that the check reads at most."""
LARGE = 2_000
"""From so many rows on a missing index is felt."""


class MappingCheck(NamedTuple):
    """`rows` were looked at, of `estimate` (None: not known). A mapping is usable where at least one row is a chunk.
    `obstacle` says why no chunk has a neighbour."""

    rows: int
    whole: bool
    usable_rows: int
    estimate: int | None
    findings: tuple[Finding, ...]
    obstacle: NoNeighbours | None = None

    @property
    def usable(self) -> bool:
        return self.usable_rows > 0

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.kind == "problem")


def check_mapping(database: OwnDatabase, mapping: TableMapping) -> MappingCheck:
    """Raises NotFound and InvalidInput where the mapping does not fit its tables at all."""
    resolved = resolve(database, mapping)
    statements = Statements(database, resolved, True)
    rows, no_id, no_index, bad_index, no_text, blank, usable = _counted(database, statements)
    whole = rows < LOOKED_AT
    where = f"of {rows:,} rows" if whole else f"of the first {rows:,} rows"
    findings = [
        Finding("problem", field, sentence)
        for field, count, sentence in (
            ("document_id", no_id, f"document_id is NULL in {no_id:,} {where}: they are left out"),
            ("chunk_index", no_index, f"chunk_index is NULL in {no_index:,} {where}: they are left out"),
            ("chunk_index", bad_index, f"chunk_index is no whole number from 0 on in {bad_index:,} {where}: they are left out"),
            ("text", no_text, f"text is NULL in {no_text:,} {where}: they are left out"),
            ("text", blank, f"text is empty in {blank:,} {where}: they are never shown"),
        )
        if count
    ]
    findings += order_findings(database, statements, where, LOOKED_AT) if mapping.counted else _repeated(database, statements, where)
    findings += _documents_found(database, resolved, statements)
    why = None
    estimate = rows if whole else estimated_rows(database, statements)
    if not mapping.counted:
        found_indexes = served(database, resolved, indexes(database, resolved))
        why = obstacle_in(database, Statements(database, resolved, found_indexes.document))
        if why is not None:
            findings.append(Finding("warning", "chunk_index", why.sentence))
        if not found_indexes.exact:
            findings.append(_missing_index(database, resolved, found_indexes.document, rows))
    if rows == 0:
        findings.append(Finding("problem", "table", "the table has no rows"))
    return MappingCheck(rows, whole, usable, estimate, tuple(findings), why)


def _counted(database: OwnDatabase, statements: Statements) -> tuple[int, ...]:
    position, index = "0", "0"
    if not statements.counted:
        position, index = statements.value(statements.resolved.places["chunk_index"]), statements.index
    inner = (
        f"SELECT {statements.document_id} AS d, {position} AS p, {index} AS i, {statements.text} AS t "
        f"FROM {statements.source} LIMIT {database.mark('limit')}"
    )
    whole = "s.i = floor(s.i)" if not database.is_sqlite else "typeof(s.i) = 'integer' OR s.i = CAST(s.i AS INTEGER)"
    fit = f"s.i IS NOT NULL AND s.i >= 0 AND s.i <= 2147483647 AND ({whole})"
    tests = ["s.d IS NULL", "s.p IS NULL", f"s.p IS NOT NULL AND NOT coalesce(({fit}), {database.false})", "s.t IS NULL", "s.t = ''"]
    tests.append(f"s.d IS NOT NULL AND s.t IS NOT NULL AND s.t <> '' AND coalesce(({fit}), {database.false})")
    counts = ", ".join(f"sum(CASE WHEN {test} THEN 1 ELSE 0 END)" for test in tests)
    row = database.rows(f"SELECT count(*), {counts} FROM ({inner}) AS s", {"limit": LOOKED_AT})[0]
    return tuple(int(value or 0) for value in row)


def _repeated(database: OwnDatabase, statements: Statements, where: str) -> list[Finding]:
    inner = (
        f"SELECT {statements.document_id} AS d, {statements.index} AS i FROM {statements.source} WHERE {statements.usable} "
        f"LIMIT {database.mark('limit')}"
    )
    most = database.mark("most")
    grouped = f"SELECT s.d, s.i, count(*) FROM ({inner}) AS s GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 3 DESC, 1, 2 LIMIT {most}"
    rows = database.rows(grouped, {"limit": LOOKED_AT, "most": 100})
    if not rows:
        return []
    more = "100 or more" if len(rows) == 100 else str(len(rows))
    first = f"{rows[0][1]} of document {str(rows[0][0])[:60]!r} stands {rows[0][2]} times"
    told = f"{more} chunks stand more than once {where} (chunk {first}): of each only the first by text is read"
    return [Finding("problem", "chunk_index", told)]


def _documents_found(database: OwnDatabase, resolved: Resolved, statements: Statements) -> list[Finding]:
    """Whether the documents of the first chunks are in the table of documents."""
    if resolved.documents is None or (by_document := statements.documents) is None:
        return []
    rows = database.rows(
        f"SELECT DISTINCT s.d FROM (SELECT {statements.document_id} AS d FROM {statements.source} LIMIT {database.mark('limit')}) AS s "
        f"WHERE s.d IS NOT NULL LIMIT {database.mark('most')}",
        {"limit": 500, "most": 50},
    )
    names = [str(row[0]) for row in rows]
    if not names:
        return []
    about = database.rows(by_document, {"document_ids": json.dumps(names) if database.is_sqlite else names, "limit": len(names)})
    empty = sum(all(value is None for value in row[1:]) for row in about)
    if not empty:
        return []
    return [
        Finding(
            "warning", "documents", f"{empty} of {len(names)} documents looked up have nothing in {resolved.documents.name}: check its key"
        )
    ]


def _missing_index(database: OwnDatabase, resolved: Resolved, by_document: bool, rows: int) -> Finding:
    if resolved.table.is_view:
        told = "a view has no index of its own: make sure that the tables behind it have one on (document_id, chunk_index)"
        return Finding("note", "index", told)
    if by_document:
        told = "an index leads to each document, none to its chunks by index: fine unless documents have thousands of chunks"
        # Where chunk_index stands in JSON, the index that there is is the one that would be proposed.
        return Finding("note", "index", told, create_index(database, resolved) if resolved.places["chunk_index"].is_column else "")
    remedy = create_index(database, resolved)
    told = "no index on (document_id, chunk_index): every question reads the whole table"
    return Finding("warning" if rows >= LARGE else "note", "index", told, remedy)


def estimated_rows(database: OwnDatabase, statements: Statements) -> int | None:
    """How many rows the table has, as the planner takes it; SQLite: by its highest row number."""
    if database.is_sqlite:
        if statements.resolved.table.is_view:
            return None
        row = database.rows(f"SELECT max(c.rowid) FROM {statements.source} LIMIT :limit", {"limit": 1})[0]
        return int(row[0] or 0)
    plan = database.rows(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {statements.source} LIMIT ALL OFFSET %(none)s", {"none": 0})[0][0]
    node = plan[0]["Plan"]
    while node.get("Plans") and node["Node Type"] == "Limit":
        node = node["Plans"][0]
    return int(node["Plan Rows"])


def explain(database: OwnDatabase, sql: str, parameters: dict[str, object]) -> str:
    """The plan of a statement with these parameters. It is planned, not run."""
    rows = database.rows(("EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN ") + sql, parameters)
    return "\n".join(str(row[-1]) for row in rows)
