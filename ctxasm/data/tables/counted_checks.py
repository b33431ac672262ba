"""What is to be said of rows that are counted because their table has no chunk_index."""

from __future__ import annotations

from ctxasm.data.tables.catalogue import from_table
from ctxasm.data.tables.finding import Finding
from ctxasm.data.tables.mapping import TableMapping
from ctxasm.data.tables.resolved import Resolved
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.data.tables.statements import Statements, tells_no_order


def counting_note(mapping: TableMapping) -> str:
    """How the rows are counted, in a sentence."""
    return f"chunk_index counts the rows of each document by {mapping.fields['order_by']}"


def no_link(mapping: TableMapping) -> str:
    """Why such a table is not linked, and what to do."""
    return (
        "a link looks chunks up by chunk_index, and it has none: copy it (its rows are then counted by "
        f"{mapping.fields['order_by']}), or add a column of whole numbers from 0 in each document and map it to chunk_index"
    )


def order_findings(database: OwnDatabase, statements: Statements, where: str, limit: int) -> list[Finding]:
    """How rows are counted, and where their order is not known."""
    resolved = statements.resolved
    findings = [Finding("note", "chunk_index", counting_note(resolved.mapping))]
    if (key := tells_no_order(resolved)) is not None:
        told = f"{key.path} is a key that tells no order: a copy finds it by the text that chunks share, and joins no others"
        findings.append(Finding("warning", "order_by", f"{told}; map order_by to a place that tells it, such as metadata->>'start_index'"))
        return findings + _collections(database, resolved, limit)
    counted = f"SELECT {statements.unordered} AS n FROM {statements.source} WHERE {statements.usable} LIMIT {database.mark('limit')}"
    if none := int(database.rows(f"SELECT sum(s.n) FROM ({counted}) AS s", {"limit": limit})[0][0] or 0):
        told = f"order_by is NULL in {none:,} {where}: they stand last in their documents, joined only where they share text"
        findings.append(Finding("warning", "order_by", told))
    return findings + _collections(database, resolved, limit)


def _collections(database: OwnDatabase, resolved: Resolved, limit: int) -> list[Finding]:
    """LangChain keeps all collections in one table, and a mapping has no filter: a view has one."""
    column = resolved.table.columns.get("collection_id")
    if column is None or "cmetadata" not in resolved.table.columns:
        return []
    table, own = from_table(database, resolved.table.schema, resolved.table.name), database.quoted("collection_id")
    rows = database.rows(
        f"SELECT DISTINCT CAST(s.k AS text) FROM (SELECT c.{own} AS k FROM {table} AS c LIMIT {database.mark('limit')}) AS s "
        f"WHERE s.k IS NOT NULL ORDER BY 1 LIMIT {database.mark('most')}",
        {"limit": limit, "most": 100},
    )
    if len(rows) < 2:
        return []
    shown_table = table if database.is_sqlite else table.replace("%%", "%")
    first = str(rows[0][0]).replace("'", "''")
    remedy = f"CREATE VIEW one_collection AS SELECT * FROM {shown_table} WHERE collection_id = '{first}';"
    more = "100 or more" if len(rows) == 100 else str(len(rows))
    told = f"{more} collections stand in this table and all are read, a document of several of them as one; a view reads one"
    return [Finding("warning", "document_id", told, remedy)]
