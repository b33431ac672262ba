"""One file read into a table: its records by name, each with its line, and the names of the lines that failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from ctxasm.data.archives import BROKEN
from ctxasm.data.files.kinds import BothPlaces, Key, Kind
from ctxasm.data.files.lines import LineReader
from ctxasm.data.files.problems import Problems
from ctxasm.data.files.recognised.converted import BY_NAME
from ctxasm.data.files.shapes import PARTS, explained
from ctxasm.model.errors import shown

LOOKED_AT = 1_000
"""Lines whose parts are looked at for fields that are not read."""
S = TypeVar("S", bound=BaseModel)
R = TypeVar("R")


@dataclass(slots=True)
class Table(Generic[R]):
    """The records of one file. `present` is False where the bundle has no such file.

    `held` are names that the dataset holds which the bundle joins, as far as they were asked for; `unread` the fields of hits, gold
    chunks and spans that are not read, each with its first value, as far as LOOKED_AT lines have them.
    """

    file: str
    present: bool = False
    records: dict[Key, R] = field(default_factory=dict)
    lines: dict[Key, int] = field(default_factory=dict)
    repeated: int = 0
    held: set[Key] = field(default_factory=set)
    unread: dict[str, Any] = field(default_factory=dict)
    _failed: set[Key] = field(default_factory=set)
    _unnamed: bool = False

    def may_hold(self, *key: Any) -> bool:
        """Whether a reference to `key` is right as far as can be known.

        A line that failed is not reported twice; where one failed whose name cannot be read, no reference is judged.
        """
        return key in self.records or key in self._failed or key in self.held or self._unnamed

    @property
    def has_failures(self) -> bool:
        """Whether any line failed."""
        return self._unnamed or bool(self._failed)

    def note_unread(self, number: int, line: dict[str, Any]) -> None:
        """Remember what is not read of the parts of a line."""
        if number > LOOKED_AT:
            return
        for name, shape in PARTS.items():
            parts, fields = line.get(name), shape.model_fields.keys()
            for part in parts if isinstance(parts, list) else ():
                for own in part.keys() - fields - {BY_NAME} if isinstance(part, dict) else ():
                    self.unread.setdefault(f"{name}[*].{own}", part[own])

    def note_failure(self, key: Key | None) -> None:
        """Remember that a line failed, under its name where that could be read."""
        if key is None:
            self._unnamed = True
        else:
            self._failed.add(key)


def read_table(kind: Kind[S, R], open_file: Callable[[], IO[bytes]] | None, reader: LineReader, problems: Problems) -> Table[R]:
    """All records of a file (None: there is no such file). Every mistake goes to `problems`."""
    table: Table[R] = Table(kind.file, present=open_file is not None)
    if open_file is None:
        return table
    try:
        with open_file() as stream:
            for number, value in reader.read(kind.file, stream):
                take_line(kind, table, number, value, problems)
    except BROKEN as error:
        problems.add(kind.file, None, "", f"cannot be read ({why(error)})")
        table.note_failure(None)
    return table


def take_line(kind: Kind[S, R], table: Table[R], number: int, value: dict[str, Any] | None, problems: Problems) -> None:
    """Add one line to a table; None stands for a line whose mistake is reported already."""
    if value is None:
        table.note_failure(None)
        return
    record = record_of(kind, number, value, problems)
    if isinstance(record, Failed):
        table.note_failure(None if record.fields & set(kind.names) else tuple(value[name] for name in kind.names))
    else:
        _put(kind, table, number, record, problems)
        table.note_unread(number, value)


class Failed(NamedTuple):
    """A line that is no record, and the fields that are to blame."""

    fields: set[str]


def record_of(kind: Kind[S, R], number: int, value: dict[str, Any], problems: Problems) -> R | Failed:
    """The record of one line; every mistake goes to `problems`."""
    try:
        return kind.record(kind.shape.model_validate(value))
    except ValidationError as error:
        found = explained(error)
    except BothPlaces as error:
        found = [(error.key, "may not stand both beside and inside metadata", error.value)]
    for field_path, message, came in found:
        problems.add(kind.file, number, field_path, message, came)
    return Failed({field_path for field_path, _, _ in found})


def _put(kind: Kind[S, R], table: Table[R], number: int, record: R, problems: Problems) -> None:
    key: Key = tuple(getattr(record, name) for name in kind.names) or (number,)
    if key not in table.records:
        table.records[key], table.lines[key] = record, number
    elif table.records[key] == record:
        table.repeated += 1  # the same line twice says nothing new and hides nothing
    else:
        add_twice(kind, key, number, table.lines[key], problems)


def add_twice(kind: Kind[S, R], key: Key, number: int, first_line: int, problems: Problems) -> None:
    """Report a record that stands on an earlier line with other content."""
    named = " and ".join(f"{name} {shown(part)}" for name, part in zip(kind.names, key, strict=True))
    first = problems.place(kind.file, first_line)
    problems.add(kind.file, number, kind.names[-1], f"{named} stands on {first} with other content: keep one of the two")


def why(error: BaseException) -> str:
    """The reason of an error, for the end of a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
