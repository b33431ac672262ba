"""One thing that a check of a mapping has to say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from ctxasm.data.tables.catalogue import from_table, own_text
from ctxasm.data.tables.mapping import OF_DOCUMENT, Place, Resolved, TableMapping, resolve
from ctxasm.data.tables.session import OwnDatabase, Row
from ctxasm.data.tables.statements import Statements, tells_no_order
from ctxasm.model.events import NoNeighbours, no_neighbours
from ctxasm.model.records import Document
from ctxasm.text.overlap import linked_runs, run_indexes


class Finding(NamedTuple):
    """`problem`: rows that cannot be used; `warning`: slower or less than it could be; `note`: good to know. `remedy`: SQL to run."""

    kind: Literal["problem", "warning", "note"]
    field: str
    sentence: str
    remedy: str = ""


_POSTGRESQL_INDEXES = """
SELECT i.indexrelid::regclass::text, am.amname, i.indisunique, i.indnkeyatts,
       ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, true) FROM generate_series(1, i.indnatts) AS k),
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(no, at)
             LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.no AND k.no > 0 ORDER BY k.at),
       ARRAY(SELECT o.opcname::text FROM unnest(i.indclass::oid[]) WITH ORDINALITY AS k(no, at)
             LEFT JOIN pg_opclass AS o ON o.oid = k.no ORDER BY k.at)
FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS am ON am.oid = x.relam
WHERE i.indrelid = to_regclass(%(table)s) AND i.indisvalid AND i.indpred IS NULL ORDER BY 1 LIMIT %(limit)s"""
_SQLITE_INDEXES = """
SELECT l.name, 'btree', l."unique", i.seqno, i.name, m.sql FROM pragma_index_list(:table) AS l, pragma_index_info(l.name) AS i
LEFT JOIN sqlite_master AS m ON m.name = l.name AND m.type = 'index' WHERE NOT l.partial ORDER BY l.seq, i.seqno LIMIT :limit"""
MOST = 500


class Index(NamedTuple):
    """An index: for each of its keys the column, or None and the expression as the database writes it."""

    name: str
    method: str
    unique: bool
    columns: tuple[str | None, ...]
    expressions: tuple[str, ...]
    classes: tuple[str, ...] = ()


def indexes(database: OwnDatabase, resolved: Resolved) -> list[Index]:
    """The indexes of the table of chunks that serve all of its rows. A view has none of its own."""
    table = resolved.table
    if not database.is_sqlite:
        named = from_table(database, table.schema, table.name).replace("%%", "%")
        rows = database.rows(_POSTGRESQL_INDEXES, {"table": named, "limit": MOST})
        return [Index(n, m, u, tuple(columns[:size]), tuple(es[:size]), tuple(classes)) for n, m, u, size, es, columns, classes in rows]
    found: dict[str, Index] = {}
    for name, method, unique, _, column, sql in database.rows(_SQLITE_INDEXES, {"table": table.name, "limit": MOST}):
        before = found.get(name) or Index(name, method, bool(unique), (), ())
        at = len(before.columns)
        expression = "" if column is not None else _parts(sql or "")[at : at + 1]
        found[name] = before._replace(
            columns=(*before.columns, column), expressions=(*before.expressions, "".join(expression) if column is None else column)
        )
    own = _row_number(database, resolved)
    return [*found.values(), *own]


def _row_number(database: OwnDatabase, resolved: Resolved) -> list[Index]:
    """SQLite's own key: an INTEGER PRIMARY KEY is in no list of indexes."""
    keys = [column for column in resolved.table.columns.values() if column.key]
    whole = len(keys) == 1 and keys[0].type.upper() == "INTEGER"
    return [Index("the row number", "btree", True, (keys[0].name,), (keys[0].name,))] if whole and database.is_sqlite else []


def _parts(sql: str) -> list[str]:
    """The keys of a CREATE INDEX, split at the commas of the outermost brackets."""
    inside, depth, parts = sql.partition("(")[2].rpartition(")")[0], 0, [""]
    for character in inside:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


class Served(NamedTuple):
    """How well indexes serve a mapping. `document`: an index begins with the document; `exact`: its second key is the chunk's index."""

    document: bool
    exact: bool
    unique: bool


def served(database: OwnDatabase, resolved: Resolved, known: Sequence[Index]) -> Served:
    """How well the indexes lead to the chunks of a document."""
    statements = Statements(database, resolved, False)
    places = resolved.places
    document, exact, unique = False, False, False
    for index in known:
        if index.method != "btree" or not _holds(index, 0, places["document_id"], statements.as_text(places["document_id"], "c")):
            continue
        document = True
        if not statements.counted and len(index.columns) > 1 and _holds(index, 1, places["chunk_index"], statements.index):
            exact = True
            unique = unique or (index.unique and len(index.columns) == 2)
    return Served(document, exact, unique)


def _holds(index: Index, at: int, place: Place, expression: str) -> bool:
    if place.is_column:
        return index.columns[at] == place.column.name
    return index.columns[at] is None and plain_expression(index.expressions[at]) == plain_expression(expression.replace("%%", "%"))


def plain_expression(expression: str) -> str:
    """An expression without what databases write differently: brackets, blanks, casts of keys, quotes of names."""
    return re.sub(r'::text|\bc\.|[\s()"]', "", expression)


def create_index(database: OwnDatabase, resolved: Resolved) -> str:
    """The statement that makes the index (document_id, chunk_index), or one on the document's key where that is an expression."""
    places, table = resolved.places, resolved.table
    statements = Statements(database, resolved, False)
    document, position = places["document_id"], places["chunk_index"]
    keys = [_key(database, statements, document)]
    if position.is_column:
        keys.append(database.shown_name(position.column.name))
    return f"{_create(database, table.name, 'document_id_chunk_index')} ON {_shown_table(database, resolved)} ({', '.join(keys)});"


def _key(database: OwnDatabase, statements: Statements, place: Place) -> str:
    if place.is_column:
        return database.shown_name(place.column.name)
    # Without the alias: an index knows one table only. On PostgreSQL the brackets are there already, one more pair is needed.
    plain = (
        statements.as_text(place, "c").replace("c.", "", 1) if database.is_sqlite else statements.as_text(place, "c").replace("(c.", "(", 1)
    )
    return f"({plain})".replace("%%", "%") if not database.is_sqlite else plain


def create_special(database: OwnDatabase, resolved: Resolved, what: str, method: str, key: str) -> str:
    """The statement that makes a GIN or HNSW index on `key`, already quoted."""
    return f"{_create(database, resolved.table.name, what)} ON {_shown_table(database, resolved)} USING {method} ({key});"


def _create(database: OwnDatabase, table: str, what: str) -> str:
    name = f"{table[: 60 - len(what)]}_{what}"
    while len(name.encode()) > 63:  # what PostgreSQL keeps of a name
        name = name[1:]
    return f"CREATE INDEX {'' if database.is_sqlite else 'CONCURRENTLY '}{database.shown_name(name)}"


def _shown_table(database: OwnDatabase, resolved: Resolved) -> str:
    named = from_table(database, resolved.table.schema, resolved.table.name)
    return named if database.is_sqlite else named.replace("%%", "%")


class RowCounter:
    """Numbers the rows of a chunk statement from 0 in each document: a document's rows stand together.

    Rows whose order is known (`statements.unordered` is 0) count as they come. The others follow the text that they share; what shares
    none has a free index on either side, so that nothing joins it. `unordered` counts such rows, `linked` those that follow another.
    """

    def __init__(self) -> None:
        self.unordered = self.linked = 0

    def counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows with their number in the place of chunk_index; those that are no chunks are left out, and not counted."""
        chunks = (row for row in rows if own_text(row[0]) and own_text(row[2]) is not None)
        for _, own in groupby(chunks, key=lambda row: own_text(row[0])):
            apart: list[Row] = []
            known = 0
            for row in own:
                if row[1]:
                    apart.append(row)
                else:
                    yield (row[0], known, *row[2:])
                    known += 1
            if apart:
                yield from self._by_text(apart, known)

    def _by_text(self, rows: Sequence[Row], known: int) -> Iterator[Row]:
        runs = linked_runs([own_text(row[2]) or "" for row in rows])
        self.unordered += len(rows)
        self.linked += len(rows) - len(runs)
        first = known + 1 if known else 0
        indexes = run_indexes(runs)
        for at in (at for run in runs for at in run):
            yield (rows[at][0], first + indexes[at], *rows[at][2:])

    def notes(self) -> tuple[str, ...]:
        """How the order was found where it was not known."""
        if not self.unordered:
            return ()
        told = f"the order of {self.unordered:,} rows is not known: {self.linked:,} follow another by the text that they share"
        return (f"{told}, and the rest is joined to nothing",)


def documents_in_rows(database: OwnDatabase, statements: Statements, limit: int) -> Iterator[Document]:
    """The documents of the first `limit` rows, each with the first value that its rows have for a field: one pass, streamed."""
    name, known = None, dict[str, Any]()
    for batch in database.stream(statements.described_rows, {"limit": limit}):
        for document_id, *values in ([own_text(value) for value in row] for row in batch):
            if not document_id:
                continue
            if document_id != name:
                if name is not None:
                    yield Document(name, **known)
                name, known = document_id, {}
            for field, value in zip(OF_DOCUMENT, values, strict=True):
                if known.get(field) is None:
                    known[field] = value
    if name is not None:
        yield Document(name, **known)


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


LOOKED_AT, DOCUMENTS = 50_000, 20
"""Rows that are read at most; documents that are read whole where the table has more."""


def obstacle_in(database: OwnDatabase, statements: Statements) -> NoNeighbours | None:
    """Why no chunk of the table has a neighbour; None where one has, or where it is too large to tell without an index.

    The first rows of a large table need not hold the chunks of one document together, so some of their documents are read whole.
    """
    limit, most = database.mark("limit"), database.mark("most")
    keys = f"{statements.document_id} AS d, {statements.index} AS i"
    first = f"SELECT {keys} FROM {statements.source} WHERE {statements.usable} LIMIT {limit}"
    rows = database.rows(
        f"SELECT DISTINCT s.d, s.i FROM ({first}) AS s ORDER BY 1, 2 LIMIT {most}", {"limit": LOOKED_AT, "most": LOOKED_AT}
    )
    found = no_neighbours((str(document_id), int(index)) for document_id, index in rows)
    if found is None or not database.rows(f"{first} OFFSET {most}", {"limit": 1, "most": LOOKED_AT}):
        return found
    if not statements.indexed:
        return None
    some = f"SELECT {statements.document_id} AS d FROM {statements.source} WHERE {statements.usable} LIMIT {limit}"
    own = f"SELECT DISTINCT s.d FROM ({some}) AS s"
    whole = (
        f"SELECT DISTINCT {keys} FROM {statements.source} WHERE {statements.usable} AND {statements.document_id} IN ({own}) ORDER BY 1, 2"
    )
    rows = database.rows(f"{whole} LIMIT {most}", {"limit": DOCUMENTS, "most": LOOKED_AT})
    return no_neighbours((str(document_id), int(index)) for document_id, index in rows)


CHECKED_ROWS = 50_000
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
    whole = rows < CHECKED_ROWS
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
    findings += order_findings(database, statements, where, CHECKED_ROWS) if mapping.counted else _repeated(database, statements, where)
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
    row = database.rows(f"SELECT count(*), {counts} FROM ({inner}) AS s", {"limit": CHECKED_ROWS})[0]
    return tuple(int(value or 0) for value in row)


def _repeated(database: OwnDatabase, statements: Statements, where: str) -> list[Finding]:
    inner = (
        f"SELECT {statements.document_id} AS d, {statements.index} AS i FROM {statements.source} WHERE {statements.usable} "
        f"LIMIT {database.mark('limit')}"
    )
    most = database.mark("most")
    grouped = f"SELECT s.d, s.i, count(*) FROM ({inner}) AS s GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 3 DESC, 1, 2 LIMIT {most}"
    rows = database.rows(grouped, {"limit": CHECKED_ROWS, "most": 100})
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
