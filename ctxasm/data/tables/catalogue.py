"""What the types of a database are for us, and how a value of the driver becomes one of ours."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from ctxasm.data.names import opened_json, places_inside
from ctxasm.data.paths import Path
from ctxasm.data.tables.session import OwnDatabase, Row
from ctxasm.model.characters import mended, storable
from ctxasm.model.errors import CtxasmError, NotFound, shown

Kind = Literal["whole", "number", "text", "uuid", "json", "vector", "floats", "tsvector", "date", "boolean", "bytes", "other"]

_POSTGRESQL: Mapping[str, Kind] = {
    **dict.fromkeys(("int2", "int4", "int8"), "whole"),
    **dict.fromkeys(("numeric", "float4", "float8"), "number"),
    **dict.fromkeys(("text", "varchar"), "text"),
    **dict.fromkeys(("json", "jsonb"), "json"),
    **dict.fromkeys(("vector", "halfvec"), "vector"),
    **dict.fromkeys(("_float4", "_float8"), "floats"),
    **dict.fromkeys(("date", "timestamp", "timestamptz"), "date"),
    "uuid": "uuid",
    "tsvector": "tsvector",
    "bool": "boolean",
    "bytea": "bytes",
}
_SQLITE: tuple[tuple[str, Kind], ...] = (
    ("json", "json"),
    ("uuid", "other"),
    ("int", "whole"),
    ("char", "text"),
    ("clob", "text"),
    ("text", "text"),
    ("blob", "bytes"),
    ("bool", "boolean"),
    ("date", "date"),
    ("time", "date"),
    ("real", "number"),
    ("floa", "number"),
    ("doub", "number"),
    ("num", "number"),
    ("dec", "number"),
)
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def kind_of_postgresql(base: str) -> Kind:
    """By the name of the type in pg_type."""
    return _POSTGRESQL.get(base, "other")


def kind_of_sqlite(declared: str) -> Kind:
    """By the declared type, as SQLite itself judges affinity; JSON by its name."""
    lowered = declared.lower()
    return next((kind for part, kind in _SQLITE if part in lowered), "other")


def own_text(value: Any) -> str | None:
    """A value as text, None for NULL. What no tokenizer takes becomes U+FFFD, one for one."""
    match value:
        case None:
            return None
        case str():
            text = value
        case bytes() | memoryview():
            text = bytes(value).decode("utf-8", "replace")
        case datetime() | date():
            text = value.isoformat()
        case dict() | list():
            text = json.dumps(value, ensure_ascii=False)
        case _:
            text = str(value)
    return mended(text)


def own_whole(value: Any) -> int | None:
    """A value as a whole number, None where it is none."""
    match value:
        case bool():
            return None
        case int():
            return value
        case float() | Decimal():
            number = float(value)
            return int(number) if abs(number) < 2**53 and number.is_integer() else None
        case str() if _WHOLE.fullmatch(value.strip()):
            return int(value)
        case _:
            return None


def is_key(value: str, kind: Kind) -> bool:
    """Whether `value` is how a key of this kind is written: then it can be sent as one, and no other text means the same key."""
    if kind == "whole":
        return bool(re.fullmatch(r"0|-?[1-9][0-9]{0,18}", value)) and -(2**63) <= int(value) < 2**63
    if kind == "uuid":
        try:
            return str(uuid.UUID(value)) == value
        except ValueError:
            return False
    return storable(value)


MOST_TABLES = 2000
MOST_COLUMNS = 1600
SAMPLE_ROWS = 20
SAMPLE_CHARS = 1000
"""Of a value in a sample; a JSON value is read further, for its keys."""
JSON_CHARS = 20_000
COUNTED_ROWS = 100_000
"""A SQLite table whose row numbers tell nothing is counted up to here."""


class TableInfo(NamedTuple):
    """A table or view. `rows` is an estimate (exact where `exact`), None where the database has none; `more` means at least."""

    schema: str | None
    name: str
    kind: Literal["table", "view"]
    rows: int | None
    exact: bool = False
    more: bool = False


class ColumnInfo(NamedTuple):
    """A column: its type as the database names it, and what that is for us. `size` is the number of a vector's dimensions."""

    name: str
    type: str
    kind: Kind
    nullable: bool
    key: bool
    size: int | None = None


class ForeignKey(NamedTuple):
    """A column that refers to the key of another table."""

    column: str
    schema: str | None
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class TableDetails:
    """A table with its columns by name, in their order."""

    schema: str | None
    name: str
    is_view: bool
    columns: Mapping[str, ColumnInfo]
    foreign_keys: tuple[ForeignKey, ...] = ()


class Sample(NamedTuple):
    """The first rows of a table: values as text, cut to SAMPLE_CHARS, None for NULL."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


_VISIBLE = "n.nspname = coalesce(%(schema)s::text, n.nspname) AND (%(schema)s::text IS NOT NULL OR pg_table_is_visible(c.oid))"
_RELATION = f"FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relname = %(table)s AND {_VISIBLE} "

_POSTGRESQL_TABLES = """
SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), pg_table_is_visible(c.oid),
       CASE WHEN c.relkind = 'p' THEN (SELECT sum(nullif(p.reltuples, -1)) FROM pg_inherits AS i JOIN pg_class AS p ON p.oid = i.inhrelid
                                       WHERE i.inhparent = c.oid)
            WHEN c.relkind = 'v' THEN NULL ELSE nullif(c.reltuples, -1) END
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)'
  AND c.relname !~ '^ctxasm_' AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY NOT pg_table_is_visible(c.oid), n.nspname, c.relname LIMIT %(limit)s"""

_POSTGRESQL_COLUMNS = f"""
SELECT n.nspname, c.relkind IN ('v', 'f'), a.attname, format_type(a.atttypid, a.atttypmod), b.typname, NOT a.attnotnull,
       EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey)), a.atttypmod
FROM (SELECT c.oid, c.relnamespace, c.relkind {_RELATION} ORDER BY n.nspname LIMIT 1) AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_type AS b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
ORDER BY a.attnum LIMIT %(limit)s"""

_POSTGRESQL_KEYS = f"""
SELECT a.attname, fn.nspname, f.relname, fa.attname
FROM pg_constraint AS k JOIN pg_class AS f ON f.oid = k.confrelid JOIN pg_namespace AS fn ON fn.oid = f.relnamespace
JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
JOIN pg_attribute AS fa ON fa.attrelid = k.confrelid AND fa.attnum = k.confkey[1]
WHERE k.contype = 'f' AND cardinality(k.conkey) = 1 AND k.conrelid = (SELECT c.oid {_RELATION} LIMIT 1)
ORDER BY k.oid LIMIT %(limit)s"""

_SQLITE_TABLES = """
SELECT m.name, m.type = 'view' FROM sqlite_master AS m WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  AND m.name NOT LIKE 'ctxasm\\_%' ESCAPE '\\' AND NOT EXISTS (SELECT 1 FROM sqlite_master AS f WHERE f.sql LIKE 'CREATE VIRTUAL TABLE%'
  AND f.name <> m.name AND m.name IN (f.name || '_data', f.name || '_idx', f.name || '_content', f.name || '_docsize', f.name || '_config'))
ORDER BY m.name LIMIT :limit"""


def tables(database: OwnDatabase) -> list[TableInfo]:
    """The tables and views that this user may read; first those that are found without naming their schema."""
    if database.is_sqlite:
        rows = database.rows(_SQLITE_TABLES, {"limit": MOST_TABLES})
        return [_counted(database, name, bool(is_view)) for name, is_view in rows]
    rows = database.rows(_POSTGRESQL_TABLES, {"limit": MOST_TABLES})
    return [
        TableInfo(schema, name, "view" if is_view else "table", None if estimate is None else round(estimate))
        for schema, name, is_view, _, estimate in rows
    ]


def _counted(database: OwnDatabase, name: str, is_view: bool) -> TableInfo:
    """SQLite keeps no estimate: the highest row number says how many there can be, else the rows are counted, up to a bound."""
    if is_view:
        return TableInfo(None, name, "view", None)
    try:
        rows = database.rows(f"SELECT count(*) FROM (SELECT 1 FROM {database.quoted(name)} LIMIT :limit)", {"limit": COUNTED_ROWS + 1})
        if (count := int(rows[0][0])) <= COUNTED_ROWS:
            return TableInfo(None, name, "table", count, exact=True)
        highest = database.rows(f"SELECT max(rowid) FROM {database.quoted(name)} LIMIT :limit", {"limit": 1})[0][0]
        return TableInfo(None, name, "table", max(int(highest), COUNTED_ROWS))
    except CtxasmError:  # a table without row numbers, or one of a module that is not here: still listed
        return TableInfo(None, name, "table", COUNTED_ROWS if _has_rows(database, name) else None, more=True)


def _has_rows(database: OwnDatabase, name: str) -> bool:
    try:
        return bool(database.rows(f"SELECT 1 FROM {database.quoted(name)} LIMIT :limit", {"limit": 1}))
    except CtxasmError:
        return False


def details(database: OwnDatabase, table: str, schema: str | None = None) -> TableDetails:
    """The columns of a table or view. Raises NotFound where there is none of this name."""
    parameters = {"table": table, "schema": schema, "limit": MOST_COLUMNS}
    if database.is_sqlite:
        return _sqlite_details(database, table)
    if "\0" in table or not (rows := database.rows(_POSTGRESQL_COLUMNS, parameters)):
        raise no_table(database, table)
    columns = {row[2]: _postgresql_column(row) for row in rows}
    keys = tuple(ForeignKey(*row) for row in database.rows(_POSTGRESQL_KEYS, parameters))
    return TableDetails(schema, table, bool(rows[0][1]), columns, keys)


def _postgresql_column(row: Row) -> ColumnInfo:
    _, _, name, type_name, base, nullable, key, modifier = row
    kind = kind_of_postgresql(base)
    return ColumnInfo(name, type_name, kind, nullable, key, modifier if kind == "vector" and modifier > 0 else None)


def _sqlite_details(database: OwnDatabase, table: str) -> TableDetails:
    found = database.rows(
        "SELECT type FROM sqlite_master WHERE name = :table AND type IN ('table', 'view') LIMIT :limit", {"table": table, "limit": 1}
    )
    asked = 'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(:table) WHERE hidden <> 1 ORDER BY cid LIMIT :limit'
    rows = database.rows(asked, {"table": table, "limit": MOST_COLUMNS}) if found else []
    if not rows:
        raise no_table(database, table)
    columns = {
        name: ColumnInfo(name, kind or "any", kind_of_sqlite(kind or ""), not required, bool(key)) for name, kind, required, key in rows
    }
    asked = 'SELECT "from", "table", "to" FROM pragma_foreign_key_list(:table) WHERE seq = 0 LIMIT :limit'
    keys = [(row[0], row[1], row[2]) for row in database.rows(asked, {"table": table, "limit": MOST_COLUMNS})]
    return TableDetails(None, table, found[0][0] == "view", columns, tuple(ForeignKey(a, None, b, c) for a, b, c in keys if c))


def no_table(database: OwnDatabase, table: str) -> NotFound:
    """The error for a table that is not there, with some that are."""
    known = (
        ", ".join(shown(f"{info.schema}.{info.name}" if info.schema else info.name) for info in tables(database)[:10])
        or "none that this user may read"
    )
    return NotFound(f"{database.description} has no table {shown(table)}: it has {known}")


def sample(database: OwnDatabase, table: TableDetails, limit: int = SAMPLE_ROWS) -> Sample:
    """The first rows of a table, as text."""
    cut = "substr(CAST(c.{0} AS TEXT), 1, {1})" if database.is_sqlite else "left(CAST(c.{0} AS text), {1})"
    columns = list(table.columns.values())
    parts = [cut.format(database.quoted(c.name), JSON_CHARS if c.kind == "json" else SAMPLE_CHARS) for c in columns]
    mark = ":limit" if database.is_sqlite else "%(limit)s"
    sql = f"SELECT {', '.join(parts)} FROM {from_table(database, table.schema, table.name)} AS c LIMIT {mark}"
    rows = database.rows(sql, {"limit": limit})
    return Sample(tuple(table.columns), tuple(tuple(row) for row in rows))


def from_table(database: OwnDatabase, schema: str | None, table: str) -> str:
    """The table as it stands in FROM."""
    return database.quoted(table) if schema is None else f"{database.quoted(schema)}.{database.quoted(table)}"


MOST_KEYS = 200
_NOTHING = ("", "None", "null")
"""Texts that stand for no value: LlamaIndex writes "None" where a node has no source."""


class Seen(NamedTuple):
    """A place and the values that the sample has there, as text, without NULL."""

    path: Path
    values: list[str]

    @property
    def is_whole(self) -> bool:
        """Whether every value is a whole number from 0 on, and there is one."""
        return bool(self.values) and all(value.strip().removesuffix(".0").isdigit() for value in self.values)

    @property
    def names_something(self) -> bool:
        """Whether a value can be somebody's name."""
        return any(value.strip() not in _NOTHING for value in self.values)


def column_values(rows: Sample, name: str) -> list[str]:
    """The values of a column, without NULL."""
    at = rows.columns.index(name)
    return [value for row in rows.rows if (value := row[at]) is not None]


def json_columns(table: TableDetails, rows: Sample) -> list[ColumnInfo]:
    """The columns that hold JSON objects, by their type or by their values."""
    return [c for c in table.columns.values() if c.kind == "json" or "json" in c.type.lower() or _looks_like_json(c.name, rows)]


def inside(column: str, rows: Sample) -> list[Seen]:
    """The places inside the JSON objects of a column whose values are no list and no object, also one level deeper."""
    found: dict[Path, list[str]] = {}
    for text in column_values(rows, column):
        for keys, value in _scalars(text):
            values = found.setdefault(Path(column, keys), [])
            if value is not None:
                values.append(value if isinstance(value, str) else json.dumps(value))
    return [Seen(path, values) for path, values in found.items()]


def _looks_like_json(name: str, rows: Sample) -> bool:
    values = column_values(rows, name)
    return bool(values) and all(value.startswith("{") and value.endswith("}") for value in values) and bool(_scalars(values[0]))


def _scalars(text: str) -> list[tuple[tuple[str, ...], object]]:
    """The values that are no list and no object, those of the outer object first."""
    found = places_inside("", opened_json(text), 2, most=MOST_KEYS)
    return sorted((place for place in found if not isinstance(place[1], (dict, list))), key=lambda place: len(place[0]))
