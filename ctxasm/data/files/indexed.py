"""A file of a bundle read record by record: what is remembered of a record is its name's hash and its line, not its text."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, TypeVar

from pydantic import BaseModel

from ctxasm.data.archives import BROKEN
from ctxasm.data.files.kinds import Key, Kind
from ctxasm.data.files.lines import LineReader
from ctxasm.data.files.problems import Problems
from ctxasm.data.files.tables import Failed, Table, add_twice, record_of, why

S = TypeVar("S", bound=BaseModel)
R = TypeVar("R")
Opener = Callable[[], IO[bytes]]


@dataclass(slots=True)
class IndexedTable(Table[R]):
    """A table whose `records` and `lines` are those of the batch at hand; `first_lines` finds all, by the hash of their names.

    The hash is Python's own: 64 bits, salted anew in each process, so that no file can be made to collide.
    """

    first_lines: dict[int, int] = field(default_factory=dict)
    offsets: array[int] = field(default_factory=lambda: array("Q"))

    def may_hold(self, *key: Any) -> bool:
        """As `Table.may_hold`, over all records that were read."""
        return hash(key) in self.first_lines or Table.may_hold(self, *key)

    def forget_batch(self) -> None:
        """Let go of the records at hand; they stay known."""
        self.records, self.lines = {}, {}


def read_batches(
    kind: Kind[S, R], opener: Opener | None, table: IndexedTable[R], reader: LineReader, problems: Problems, size: int = 500
) -> Iterator[None]:
    """Read a file (None: there is none) into `table`, pausing whenever `size` records are at hand, and at the end.

    Every mistake goes to `problems`, a record that stands twice too.
    """
    if opener is None:
        return
    try:
        with opener() as stream:
            for number, value in reader.read(kind.file, _noting(stream, table.offsets)):
                _take(kind, opener, table, number, value, problems)
                if len(table.records) >= size:
                    yield
                    table.forget_batch()
    except BROKEN as error:
        problems.add(kind.file, None, "", f"cannot be read ({why(error)})")
        table.note_failure(None)
    yield
    table.forget_batch()


def record_at(kind: Kind[S, R], opener: Opener, table: IndexedTable[R], line: int) -> R | None:
    """The record of a line that was read before; None where it is no record any more."""
    unheard = Problems((kind.file,))
    with opener() as stream:
        stream.seek(table.offsets[line - 1])
        content = stream.readline()
    for _, value in LineReader(unheard).read(kind.file, (content,)):
        if value is not None:
            record = record_of(kind, line, value, unheard)
            return None if isinstance(record, Failed) else record
    return None


def _take(kind: Kind[S, R], opener: Opener, table: IndexedTable[R], number: int, value: dict[str, Any] | None, problems: Problems) -> None:
    if value is None:
        table.note_failure(None)
        return
    record = record_of(kind, number, value, problems)
    if isinstance(record, Failed):
        table.note_failure(None if record.fields & set(kind.names) else tuple(value[name] for name in kind.names))
        return
    table.note_unread(number, value)
    key: Key = tuple(getattr(record, name) for name in kind.names) or (number,)
    name = hash(key)
    if not kind.names or name not in table.first_lines:
        if kind.names:
            table.first_lines[name] = number
        table.records[key], table.lines[key] = record, number
        return
    earlier = record_at(kind, opener, table, table.first_lines[name])
    if earlier == record:
        table.repeated += 1
    else:
        add_twice(kind, key, number, table.first_lines[name], problems)


def _noting(stream: IO[bytes], offsets: array[int]) -> Iterator[bytes]:
    at = 0
    for line in stream:
        offsets.append(at)
        at += len(line)
        yield line
