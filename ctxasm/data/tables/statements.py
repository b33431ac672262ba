"""The SQL of every operation on a mapped table. Identifiers are quoted by SQLAlchemy, values are parameters.

Windows travel as arrays (PostgreSQL) or as one JSON text (SQLite), so a fetch is one statement for any number of hits. Keys
are compared in the table's own type, so that its index on (document_id, chunk_index) is used: the ids that a user's table
cannot hold are sorted out before. JSON keys stand in the statement as quoted literals, because an index on an expression
serves only the same expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ctxasm.data.paths import Path
from ctxasm.data.tables.catalogue import from_table
from ctxasm.data.tables.mapping import OF_DOCUMENT, Place, Resolved
from ctxasm.data.tables.session import OwnDatabase

_SELECTED = ("text", "start", "end", "page_number", "section", "row_number")
_DIGITS = "^[0-9]{1,9}$"
_NUMBER = "^-?[0-9]{1,18}([.][0-9]{1,18})?$"


class Statements:
    """The statements of one mapping. `indexed`: its table has an index that leads to a document's chunks."""

    def __init__(self, database: OwnDatabase, resolved: Resolved, indexed: bool) -> None:
        self.database, self.resolved, self.indexed = database, resolved, indexed
        self.table = from_table(database, resolved.table.schema, resolved.table.name)

    # Expressions

    def value(self, place: Place, alias: str = "c") -> str:
        """What stands at a place."""
        column = f"{alias}.{self.database.quoted(place.column.name)}"
        if not place.path.keys:
            return column
        if self.database.is_sqlite:
            path = "$" + "".join(f"[{key}]" if isinstance(key, int) else f'."{key}"' for key in place.path.keys)
            return f"json_extract({column}, {self.database.literal(path)})"
        source = column if place.column.kind == "json" else f"CAST({column} AS jsonb)"
        keys = [str(key) if isinstance(key, int) else self.database.literal(key) for key in place.path.keys]
        return "(" + " ".join([source, *(f"-> {key}" for key in keys[:-1]), f"->> {keys[-1]}"]) + ")"

    def as_text(self, place: Place, alias: str = "c") -> str:
        """What stands at a place, as text."""
        value = self.value(place, alias)
        if place.path.keys and not self.database.is_sqlite:
            return value
        return value if place.column.kind == "text" and place.is_column else f"CAST({value} AS text)"

    def key(self, place: Place, alias: str = "c") -> str:
        """A document's key as it is compared: in its own type where ids can be sent as that."""
        return self.value(place, alias) if self.key_type(place) != "text" else self.as_text(place, alias)

    def key_type(self, place: Place) -> str:
        """The type in which keys are sent: bigint, uuid or text."""
        if not place.is_column or place.column.kind not in ("whole", "uuid"):
            return "text"
        return "bigint" if place.column.kind == "whole" else "uuid"

    @cached_property
    def index(self) -> str:
        """A chunk's index as a number, NULL where it is none, or where it is counted."""
        if self.counted:
            return "NULL"
        place = self.resolved.places["chunk_index"]
        if place.is_column and place.column.kind in ("whole", "number"):
            return self.value(place)
        text = self.as_text(place)
        if self.database.is_sqlite:
            return f"CASE WHEN {text} NOT GLOB '*[^0-9]*' AND length({text}) BETWEEN 1 AND 9 THEN CAST({text} AS INTEGER) END"
        return f"CASE WHEN {text} ~ '{_DIGITS}' THEN CAST({text} AS bigint) END"

    @property
    def counted(self) -> bool:
        """Whether the rows have no chunk_index: then nothing looks them up by one, they are only streamed."""
        return self.resolved.mapping.counted

    @cached_property
    def unordered(self) -> str:
        """Of counted rows: 1 where nothing tells their order, else 0."""
        if tells_no_order(self.resolved) is not None:
            return "1"
        empty = " AND ".join(f"{self.value(place)} IS NULL" for place in self.resolved.order)
        return f"CASE WHEN {empty} THEN 1 ELSE 0 END"

    @cached_property
    def _order(self) -> str:
        return place_order(self) if self.counted else self.index

    @cached_property
    def document_id(self) -> str:
        """A document's key as the text that we know it by."""
        return self.as_text(self.resolved.places["document_id"])

    @cached_property
    def text(self) -> str:
        """The text of a chunk."""
        return self.as_text(self.resolved.places["text"])

    @cached_property
    def _own_key(self) -> str:
        return self.key(self.resolved.places["document_id"])

    @cached_property
    def columns(self) -> str:
        """The fields of a chunk, in the order of FetchedChunk; of counted rows `unordered` in the place of the index."""
        optional = [self.text if field == "text" else self._optional(field) for field in _SELECTED]
        return ", ".join([self.document_id, self.unordered if self.counted else self.index, *optional])

    def _optional(self, field: str) -> str:
        return self.value(place) if (place := self.resolved.places.get(field)) is not None else "NULL"

    @property
    def source(self) -> str:
        """The table of chunks in FROM."""
        return f"{self.table} AS c"

    @property
    def usable(self) -> str:
        """Rows that are chunks at all."""
        placed = "" if self.counted else f"{self.index} >= 0 AND "
        return f"{self._own_key} IS NOT NULL AND {placed}{self.text} IS NOT NULL"

    # Statements

    @cached_property
    def fetch(self) -> str:
        """The chunks inside windows. Parameters document_ids, lows, highs (SQLite: windows, a JSON list of triples), limit."""
        if self.database.is_sqlite:
            document_id, low, high = (f"json_extract(w.value, '$[{place}]')" for place in range(3))
            where = f"{self._own_key} = {document_id} AND {self.index} BETWEEN {low} AND {high} AND {self.text} IS NOT NULL"
            # CROSS JOIN keeps SQLite from reading the chunks first.
            return f"SELECT {self.columns} FROM json_each(:windows) AS w CROSS JOIN {self.source} WHERE {where} LIMIT :limit"
        kind = self.key_type(self.resolved.places["document_id"])
        windows = f"unnest(%(document_ids)s::{kind}[], %(lows)s::bigint[], %(highs)s::bigint[]) AS w(document_id, low, high)"
        where = f"{self._own_key} = w.document_id AND {self.index} BETWEEN w.low AND w.high AND {self.text} IS NOT NULL"
        if not self.indexed:  # one pass over the table for all windows, rather than one for each
            return f"SELECT {self.columns} FROM {windows} JOIN {self.source} ON {where} LIMIT %(limit)s"
        # OFFSET 0 keeps the subquery as it is: a look into the index for each window, whatever the planner takes their number for.
        own = f"SELECT {self.columns} FROM {self.source} WHERE {where} OFFSET 0"
        return f"SELECT own.* FROM {windows} CROSS JOIN LATERAL ({own}) AS own LIMIT %(limit)s"

    @cached_property
    def documents(self) -> str | None:
        """Title, source, summary and date of documents: of the table of documents, else of the first chunk that has them.

        Parameters document_ids (SQLite: a JSON list), limit. None where the mapping has none of these fields.
        """
        values = [self._of_document(field) for field in OF_DOCUMENT]
        if all(value == "NULL" for value in values):
            return None
        return f"SELECT {self._wanted_text}, {', '.join(values)} FROM {self._wanted} LIMIT {self.database.mark('limit')}"

    def _of_document(self, field: str) -> str:
        """A field of the wanted document: of its row in the table of documents, else of its first chunk that has it."""
        asked, own, other = [], self.resolved.places.get(field), self.resolved.document_places.get(field)
        as_read = self.value if own is None or other is None else self.as_text
        if other is not None and (documents := self.resolved.documents) is not None:
            key, table = self.resolved.document_places["document_id"], from_table(self.database, documents.schema, documents.name)
            asked.append(f"(SELECT {as_read(other, 't')} FROM {table} AS t WHERE {self._same(key)} LIMIT 1)")
        if own is not None:
            where = f"{self._own_key} = {self._wanted_key} AND {self.value(own)} IS NOT NULL"
            asked.append(f"(SELECT {as_read(own, 'c')} FROM {self.source} WHERE {where} ORDER BY {self._order} LIMIT 1)")
        return f"coalesce({', '.join(asked)})" if len(asked) > 1 else asked[0] if asked else "NULL"

    def _same(self, key: Place) -> str:
        """That a row of the table of documents is the wanted document's."""
        if self.database.is_sqlite or self.key_type(key) == self.key_type(self.resolved.places["document_id"]):
            return f"{self.key(key, 't')} = {self._wanted_key}"
        return f"{self.as_text(key, 't')} = {self._wanted_text}"

    @cached_property
    def _wanted(self) -> str:
        if self.database.is_sqlite:
            return "json_each(:document_ids) AS w"
        return f"unnest(%(document_ids)s::{self.key_type(self.resolved.places['document_id'])}[]) AS w(document_id)"

    @cached_property
    def _wanted_text(self) -> str:
        return "w.value" if self.database.is_sqlite else "CAST(w.document_id AS text)"

    @property
    def _wanted_key(self) -> str:
        return "w.value" if self.database.is_sqlite else "w.document_id"

    @cached_property
    def document_ids(self) -> str:
        """The keys of all documents in their own order. Parameter limit."""
        limit = self.database.mark("limit")
        if self.resolved.documents is not None:
            table = from_table(self.database, self.resolved.documents.schema, self.resolved.documents.name)
            key = self.resolved.document_places["document_id"]
            own = self.key(key, "t")
            return f"SELECT {self.as_text(key, 't')} FROM {table} AS t WHERE {own} IS NOT NULL ORDER BY {own} LIMIT {limit}"
        if not self.indexed or self.database.is_sqlite:
            inner = f"SELECT DISTINCT {self._own_key} AS k FROM {self.source} WHERE {self._own_key} IS NOT NULL ORDER BY 1 LIMIT {limit}"
            return f"SELECT CAST(o.k AS text) FROM ({inner}) AS o ORDER BY o.k LIMIT {limit}"
        # From key to key along the index, rather than over all rows.
        first = f"(SELECT {self._own_key} AS k FROM {self.source} WHERE {self._own_key} IS NOT NULL ORDER BY 1 LIMIT 1)"
        following = f"(SELECT {self._own_key} FROM {self.source} WHERE {self._own_key} > o.k ORDER BY 1 LIMIT 1)"
        steps = f"{first} UNION ALL SELECT {following} FROM ctxasm_keys AS o WHERE o.k IS NOT NULL"
        return f"WITH RECURSIVE ctxasm_keys AS ({steps}) SELECT CAST(o.k AS text) FROM ctxasm_keys AS o WHERE o.k IS NOT NULL LIMIT {limit}"

    @cached_property
    def first_ids(self) -> str:
        """The documents of the first chunks by document and index. Parameter limit."""
        order = f"ORDER BY {self._own_key}, {self._order} LIMIT {self.database.mark('limit')}"
        inner = f"SELECT {self._own_key} AS k FROM {self.source} WHERE {self.usable} {order}"
        return f"SELECT CAST(o.k AS text) FROM (SELECT DISTINCT i.k FROM ({inner}) AS i) AS o ORDER BY o.k"

    @cached_property
    def described_rows(self) -> str:
        """Each row's document with what it says of it, by document and order. Parameter limit."""
        order = f"ORDER BY {self._own_key}, {self._order} LIMIT {self.database.mark('limit')}"
        return f"SELECT {', '.join([self.document_id, *map(self._optional, OF_DOCUMENT)])} FROM {self.source} WHERE {self.usable} {order}"

    @cached_property
    def counted_ids(self) -> str:
        """How many rows and how many documents there are in the first rows by document. Parameter limit."""
        limit = self.database.mark("limit")
        inner = f"SELECT {self._own_key} AS k FROM {self.source} WHERE {self._own_key} IS NOT NULL ORDER BY 1 LIMIT {limit}"
        return f"SELECT count(*), count(DISTINCT o.k) FROM ({inner}) AS o"

    @cached_property
    def some(self) -> str:
        """Some chunks. Parameter limit."""
        return f"SELECT {self.columns} FROM {self.source} WHERE {self.usable} LIMIT {self.database.mark('limit')}"

    @cached_property
    def find_text(self) -> str:
        """Chunks whose text contains a phrase in any case, by document and index. Parameters phrase (a pattern on PostgreSQL), limit."""
        found = f"ctxasm_contains({self.text}, :phrase)" if self.database.is_sqlite else f"{self.text} ILIKE %(phrase)s"
        order = f"ORDER BY {self._own_key}, {self._order} LIMIT {self.database.mark('limit')}"
        return f"SELECT {self.columns} FROM {self.source} WHERE {found} AND {self.usable} {order}"

    @cached_property
    def chunks(self) -> str:
        """All chunks by document and index, for a stream. Parameter limit."""
        order = f"ORDER BY {self._own_key}, {self._order} LIMIT {self.database.mark('limit')}"
        return f"SELECT {self.columns} FROM {self.source} WHERE {self.usable} {order}"

    def all(self) -> Mapping[str, str]:
        """Every statement by the operation that sends it."""
        if self.counted:
            about = self.described_rows if self.resolved.documents is None else self.documents
            return {"documents": about, "chunks": self.chunks} if about is not None else {"chunks": self.chunks}
        named = {"fetch": self.fetch, "documents": self.documents, "document_ids": self.document_ids}
        named |= {"find_text": self.find_text, "chunks": self.chunks}
        return {name: sql for name, sql in named.items() if sql is not None}


def tells_no_order(resolved: Resolved) -> Place | None:
    """The place of order_by that is a key without an order, such as a UUID; None where the order of the rows is known."""
    last = resolved.order[-1]
    is_key = last.is_column and (last.column.key or resolved.table.is_view)
    return last if is_key and last.column.kind in ("uuid", "text", "other") else None


def place_order(statements: Statements) -> str:
    """What a document's rows are sorted by: the places of order_by, then the table's own key, or the text where it has none."""
    resolved = statements.resolved
    keys = [statements.value(Place(Path(c.name), c)) for c in resolved.table.columns.values() if c.key and c.kind != "json"]
    return ", ".join([*(key for place in resolved.order for key in _keys(statements, place)), *(keys or [statements.text])])


def _keys(statements: Statements, place: Place) -> list[str]:
    """A place as it is sorted: numbers as numbers, also where they stand in JSON or in a text; what is missing last."""
    value = statements.value(place)
    if place.is_column and place.column.kind not in ("text", "json", "other"):
        return [f"{value} NULLS LAST"]
    if statements.database.is_sqlite:
        digits = f"WHEN {value} NOT GLOB '*[^0-9]*' AND length({value}) BETWEEN 1 AND 18 THEN CAST({value} AS INTEGER)"
        return [f"CASE WHEN typeof({value}) IN ('integer', 'real') THEN {value} {digits} END NULLS LAST", f"{value} NULLS LAST"]
    text = statements.as_text(place)
    return [f"CASE WHEN {text} ~ '{_NUMBER}' THEN CAST({text} AS numeric) END NULLS LAST", f"{text} NULLS LAST"]
