"""By what the rows of a document are counted where a table has no chunk_index: offsets, numbers of pieces, else its own key."""

from __future__ import annotations

from collections.abc import Mapping

from ctxasm.data.field_names import FIELD_NAMES, plain_name
from ctxasm.data.paths import Path, written_paths
from ctxasm.data.tables.catalogue import ColumnInfo, Sample, TableDetails
from ctxasm.data.tables.sampled import Seen, column_values, inside, json_columns

_NAMES = (*FIELD_NAMES["start"], *FIELD_NAMES["chunk_index"], "chunk_id", "chunk", "seq_no", "seq_num", "split", "node_index", "order")
KEY_NAMES = ("id", "uuid", "key", "langchain_id", "node_id", "chunk_id")


def guess_order(table: TableDetails, rows: Sample, fields: Mapping[str, str]) -> str | None:
    """The places that put a document's chunks in order, with commas between; None where there are none.

    Offsets and numbers of pieces may begin anew on every page (LangChain's PDF loaders split page by page), so the page
    comes first where it is known as a number.
    """
    seen = {str(each.path): each for each in _places(table, rows)}
    page = seen.get(fields.get("page_number", ""))
    first = [page.path] if page is not None and page.is_whole else []
    by_name: dict[str, Seen] = {}
    for place, each in seen.items():
        if each.is_whole and each.path not in first and place not in (fields.get("document_id"), fields.get("text")):
            by_name.setdefault(plain_name(str((each.path.column, *each.path.keys)[-1])), each)
    for name in map(plain_name, _NAMES):
        if name in by_name:
            return written_paths([*first, by_name[name].path])
    key = _key(table, fields)
    if key is None:
        return None
    return written_paths([*([] if key.kind == "whole" else first), Path(key.name)])


def _places(table: TableDetails, rows: Sample) -> list[Seen]:
    columns = [
        Seen(Path(c.name), column_values(rows, c.name)) for c in table.columns.values() if c.kind in ("whole", "number", "text", "other")
    ]
    return columns + [seen for column in json_columns(table, rows) for seen in inside(column.name, rows)]


def _key(table: TableDetails, fields: Mapping[str, str]) -> ColumnInfo | None:
    """The last column of the table's own key that is no other field; of a view, one that is named as a key."""
    free = [c for c in table.columns.values() if c.name not in fields.values()]
    if keys := [c for c in free if c.key]:
        return keys[-1]
    named = {plain_name(c.name): c for c in free}
    return next((named[name] for name in map(plain_name, KEY_NAMES) if name in named), None)
