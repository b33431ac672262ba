"""JSON and JSON Lines -> rows: wherever in the value the list of objects is, and laid out by rows or by columns.

- A list of objects: its objects. A list of texts: one column, `value`.
- An object with one list of objects in it, at any depth: that list, and the object around it as `outer`. With several
  lists side by side: a table each, called `file:key`.
- An object of equally long lists (as of `dict(dataset)` or `DataFrame.to_dict("list")`), or of objects with the same keys
  (`DataFrame.to_json()`): by columns.
- Any other object: a single row. A form that only a recognised shape knows: the rows that it reads.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ctxasm.data.files.cells import HITS
from ctxasm.data.files.chats import are_messages, exchanges_in
from ctxasm.data.files.csv_reader import Decoded
from ctxasm.data.files.hits import guess_hits, records_at
from ctxasm.data.files.json_lines import UNREAD, LineReader
from ctxasm.data.files.problems import MAX_PROBLEMS, Problem, Problems, TooManyProblems
from ctxasm.data.files.recognised import recognised
from ctxasm.data.files.recognised.clients import PROMPTED
from ctxasm.data.files.recognised.unfolding import unfolded
from ctxasm.data.files.rows import TURN, Rows
from ctxasm.data.files.seen import value_at
from ctxasm.data.files.source import FileLimits
from ctxasm.model.errors import InvalidInput, shown

LOOKED_AT = 20
"""Rows by which chats are told."""
MAX_SEARCH = 4
"""Levels of objects below which no list of rows is looked for."""


def is_lines(text: str) -> bool:
    """Whether the first line that is not blank is a JSON object by itself, and another follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not (first.startswith("{") and rest.strip()):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def read_lines(decoded: Decoded, data: bytes, file: str, limits: FileLimits) -> Rows:
    """One object a line. A line that is none is a problem. Raises InvalidInput where there are too many."""
    _check_values(decoded.text, file, limits)
    problems = Problems((file,))
    reader = LineReader(problems, lenient=True)
    rows: list[tuple[int, dict[str, Any]]] = []
    read = 0
    try:
        for number, value in reader.read(file, io.BytesIO(data if decoded.is_utf8 else decoded.text.encode("utf-8", "surrogatepass"))):
            read += 1
            limits.check_rows(file, read)
            if value is not None:
                rows.append((number, value))
    except TooManyProblems:
        raise InvalidInput(f"{file} is no JSON Lines: {MAX_PROBLEMS:,} of its lines are no JSON objects") from None
    replaced = reader.replaced + (0 if decoded.is_utf8 else decoded.replaced)
    columns = _columns(file, rows, limits)
    found = Rows(
        *(file, columns, rows, (f"JSON Lines in {decoded.encoding}",), "line", problems.sorted()),
        replaced=replaced,
        not_numbers=reader.not_numbers,
    )
    return turns_of(found, [row for _, row in rows], limits) or found


def read_json(decoded: Decoded, file: str, limits: FileLimits) -> list[Rows]:
    """The tables of one JSON text; one without rows, with its problem, where it is no JSON."""
    _check_values(decoded.text, file, limits)
    problems = Problems((file,))
    reader = LineReader(problems, lenient=True)
    value = reader.whole(file, decoded.text)
    notes = (f"JSON in {decoded.encoding}",)
    if value is UNREAD:
        return [Rows(file, (), (), notes, problems=problems.sorted())]
    found = rows_of_value(value, file, notes, limits)
    found = [replace(table, not_numbers=reader.not_numbers) for table in found]
    return [replace(found[0], replaced=reader.replaced + decoded.replaced), *found[1:]]


def rows_of_value(value: Any, file: str, notes: tuple[str, ...], limits: FileLimits) -> list[Rows]:
    """The tables of a JSON value."""
    found = [_rows_of(f"{file}:{path}" if path else file, items, outer, notes, limits) for path, items, outer in tables_of(value)]
    turns = turns_of(found[0], value, limits)
    return found if turns is None else [turns]


def turns_of(rows: Rows, value: Any, limits: FileLimits) -> Rows | None:
    """The rows of the chats in a value; None where it holds none, or where its own rows say more: a question with its hits, or a trace."""
    sample = value[:LOOKED_AT] if isinstance(value, list) else value
    if not (turns := exchanges_in(sample)):
        return None
    is_alone = are_messages([row for _, row in rows.rows[:LOOKED_AT]])  # which no other reading understands
    shape = None if is_alone else recognised([rows])
    if shape is not None and shape.name != PROMPTED.name:
        return None
    asked = guess_hits(Rows(rows.file, tuple(turns[0]), list(enumerate(turns[:LOOKED_AT], 1))))
    known = guess_hits(rows)
    is_asked = known is not None and any(isinstance(value_at(row, known.columns.get("query", "")), str) for _, row in rows.rows[:LOOKED_AT])
    if asked is None or not asked.columns[HITS].startswith("found"):
        if shape is not None or (is_asked and not is_alone) or not any("response" in turn for turn in turns):
            return None
    elif is_asked and not is_alone:
        return None
    numbered = list(enumerate(exchanges_in(value), 1))
    return replace(rows, columns=_columns(rows.file, numbered, limits), rows=numbered, unit=TURN)


def tables_of(value: Any) -> list[tuple[str, list[Any], Mapping[str, Any] | None]]:
    """Each table in a JSON value: its path ("" for the only one), its rows, and the object around them."""
    if (known := unfolded(value)) is not None:
        return [("", known, None)]
    if not isinstance(value, dict):
        return [("", value if isinstance(value, list) else [value], None)]
    if columns := _by_columns(value):
        return [("", columns, None)]
    if (records := records_at(value)) is not None:
        return [("", value_at(value, records) if records else [value], value if records else None)]
    found = _lists_in(value, MAX_SEARCH)
    if not found:
        return [("", [value], None)]
    if len(found) == 1:
        _, items, outer = found[0]
        return [("", items, {key: inner for key, inner in outer.items() if inner is not items} if outer is value else value)]
    return [(path, items, outer) for path, items, outer in found]


def _lists_in(value: Mapping[str, Any], depth: int, path: str = "") -> list[tuple[str, list[Any], Mapping[str, Any]]]:
    """The lists of objects in the highest level that has any."""
    here = [(f"{path}{key}", inner, value) for key, inner in value.items() if _is_list_of_objects(inner)]
    if here or depth == 0:
        return here
    return [found for key, inner in value.items() if isinstance(inner, dict) for found in _lists_in(inner, depth - 1, f"{path}{key}.")]


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value[:100])


def _by_columns(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of columns; empty where it is not one."""
    value = {key: column for key, column in value.items() if column is not None and key != "included"}  # as Chroma's get() has them
    columns = list(value.values())
    # Lists of lists are no cells: Chroma's query() has one a question.
    if len(columns) < 2 or all(
        isinstance(column, list) and column and all(isinstance(cell, list) for cell in column) for column in columns
    ):
        return []
    if all(isinstance(column, list) for column in columns):
        lengths = {len(column) for column in columns}
        plain = any(column and not isinstance(column[0], dict) for column in columns)
        return [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)] if len(lengths) == 1 and plain else []
    if all(isinstance(column, dict) for column in columns):
        labels = list(columns[0])
        counted = labels == [str(position) for position in range(len(labels))]
        if labels and counted and all(list(column) == labels for column in columns):
            return [{name: column[label] for name, column in value.items()} for label in labels]
    return []


def _rows_of(file: str, items: Iterable[Any], outer: Mapping[str, Any] | None, notes: tuple[str, ...], limits: FileLimits) -> Rows:
    rows: list[tuple[int, dict[str, Any]]] = []
    problems: list[Problem] = []
    for number, item in enumerate(items, 1):
        limits.check_rows(file, number)
        if isinstance(item, dict):
            rows.append((number, item))
        elif isinstance(item, str):
            rows.append((number, {"value": item}))
        else:
            problems.append(Problem(file, number, "", "must be an object with the fields of one row", shown(item), "row"))
            if len(problems) >= MAX_PROBLEMS:
                raise InvalidInput(f"{file} is no table: {MAX_PROBLEMS:,} of its rows are no objects")
    return Rows(file, _columns(file, rows, limits), rows, notes, problems=tuple(problems), outer=outer)


def _columns(file: str, rows: list[tuple[int, dict[str, Any]]], limits: FileLimits) -> tuple[str, ...]:
    columns: dict[str, None] = {}
    for _, row in rows:
        columns.update(dict.fromkeys(row))
        limits.check_columns(file, len(columns), "its rows have at least")
    return tuple(columns)


def _check_values(text: str, file: str, limits: FileLimits) -> None:
    """Refuse a text of so many values that they would fill the memory; a comma within a text is counted, too."""
    limits.check_cells(file, text.count(",") + text.count("{") + text.count("["))
