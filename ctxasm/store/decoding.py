"""Stored rows and values, checked as they are read: what no load can have written means that the database is damaged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ctxasm.model.errors import DamagedData, InvalidInput, shown

if TYPE_CHECKING:
    from sqlalchemy import Column

_WRONG = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, InvalidInput)
"""What reading a value ends in that is of another type or form than what was written."""


@contextmanager
def decoding(what: str) -> Iterator[None]:
    """Raise DamagedData, naming `what`, where a stored value cannot be read. Only for code that reads one: its own slips look the same."""
    try:
        yield
    except _WRONG as error:
        raise DamagedData(f"{what} cannot be read, {shown(f'{type(error).__name__}: {error}', 120)}") from None


class RowTypes:
    """The types that the values of a row of these columns may have. Raises DamagedData for another one."""

    def __init__(self, *columns: Column[Any]) -> None:
        self._columns = columns
        self._good: set[tuple[type, ...]] = set()

    def check(self, rows: Iterable[Sequence[Any]]) -> None:
        """Every row has them. Rows are many and their kinds few: each kind is judged once."""
        good = self._good
        for row in rows:
            kinds = tuple(map(type, row))
            if kinds not in good:
                self._judge(row)
                good.add(kinds)

    def _judge(self, row: Sequence[Any]) -> None:
        for column, value in zip(self._columns, row, strict=True):
            wanted = column.type.python_type
            if not (bool(column.nullable) if value is None else isinstance(value, (wanted, memoryview) if wanted is bytes else wanted)):
                raise DamagedData(f"{column} must be {column.type}, got {shown(value)}")
