"""Whether an index leads to the chunks of a document; and the CREATE INDEX that would, to be shown, never to be run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.data.tables.catalogue import from_table
from ctxasm.data.tables.resolved import Place, Resolved
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.data.tables.statements import Statements

_POSTGRESQL = """
SELECT i.indexrelid::regclass::text, am.amname, i.indisunique, i.indnkeyatts,
       ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, true) FROM generate_series(1, i.indnatts) AS k),
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(no, at)
             LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.no AND k.no > 0 ORDER BY k.at),
       ARRAY(SELECT o.opcname::text FROM unnest(i.indclass::oid[]) WITH ORDINALITY AS k(no, at)
             LEFT JOIN pg_opclass AS o ON o.oid = k.no ORDER BY k.at)
FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS am ON am.oid = x.relam
WHERE i.indrelid = to_regclass(%(table)s) AND i.indisvalid AND i.indpred IS NULL ORDER BY 1 LIMIT %(limit)s"""
_SQLITE = """
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
        rows = database.rows(_POSTGRESQL, {"table": named, "limit": MOST})
        return [Index(n, m, u, tuple(columns[:size]), tuple(es[:size]), tuple(classes)) for n, m, u, size, es, columns, classes in rows]
    found: dict[str, Index] = {}
    for name, method, unique, _, column, sql in database.rows(_SQLITE, {"table": table.name, "limit": MOST}):
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
