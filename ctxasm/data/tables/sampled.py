"""What a sample of rows shows of a table's places: its columns, and the keys inside the JSON of each."""

from __future__ import annotations

import json
from typing import NamedTuple

from ctxasm.data.columns import opened_json, places_inside
from ctxasm.data.paths import Path
from ctxasm.data.tables.catalogue import ColumnInfo, Sample, TableDetails

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
