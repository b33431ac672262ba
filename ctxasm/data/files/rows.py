"""A source table: the rows of one file, before it is known what they mean.

A row keeps the number under which a user finds it: the line in a JSON Lines or CSV file (the first line of a record of
several), its position from 1 in JSON and Parquet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxasm.data.files.problems import Problem

TURN = "turn"
"""The unit of rows that were laid apart from a chat."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of `file`. Values are JSON values; those of a CSV are str. `notes` say how the file was read, for the user.

    `columns` are all keys of all rows in order of their first appearance; a row without one of them does not hold it.
    `unit` is what a row's number counts. `problems` are rows that could not be read. `is_text` says that every value is a
    str, so that numbers must be read from it. `outer` is the JSON object that the list of rows stood in, without that list.
    `replaced` counts the characters (NUL, lone surrogates) that became U+FFFD, `not_numbers` the NaN and Infinity among the values.
    """

    file: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[int, Mapping[str, Any]]]
    notes: tuple[str, ...] = ()
    unit: str = "row"
    problems: tuple[Problem, ...] = ()
    is_text: bool = False
    outer: Mapping[str, Any] | None = None
    replaced: int = 0
    not_numbers: int = 0
