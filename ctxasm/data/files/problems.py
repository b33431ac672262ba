"""What is wrong with a file, with its place; collected, so that a user repairs a file once instead of line by line."""

from __future__ import annotations

from dataclasses import dataclass

from ctxasm.model.errors import shown

MAX_PROBLEMS = 10_000
"""Reading stops after so many: a file with that many problems is of another kind altogether."""
NO_VALUE = object()
"""Says that a problem has no value to show (a field that is missing)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the file, its line (from 1; None for the whole file), the field's path, what is allowed, what came.

    `value` is already short and on one line, or None where there is nothing to show. `unit` is what `line` counts: a file
    without lines has rows.
    """

    file: str
    line: int | None
    field: str
    message: str
    value: str | None = None
    unit: str = "line"

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file} {self.unit} {self.line}"
        where = f"{place}, {self.field}" if self.field else place
        came = "" if self.value is None else f", got {self.value}"
        return f"{where}: {self.message}{came}"


class TooManyProblems(Exception):
    """MAX_PROBLEMS were collected. Internal: `read_bundle` reports what there is."""


class Problems:
    """Collects problems in any order; `sorted` gives them by file and line."""

    def __init__(self, files: tuple[str, ...]) -> None:
        self._order = {file: position for position, file in enumerate(files)}
        self._found: list[Problem] = []

    def add(self, file: str, line: int | None, field: str, message: str, value: object = NO_VALUE) -> None:
        """Add one problem; raises TooManyProblems when reading on makes no sense."""
        self._found.append(Problem(file, line, field, message, None if value is NO_VALUE else shown(value)))
        if len(self._found) >= MAX_PROBLEMS:
            raise TooManyProblems

    def any(self) -> bool:
        """Whether there is one so far."""
        return bool(self._found)

    def place(self, file: str, line: int) -> str:
        """How a message speaks of another line."""
        return f"line {line}"

    def sorted(self) -> tuple[Problem, ...]:
        """All problems, in file and line order."""
        return tuple(sorted(self._found, key=lambda p: (self._order.get(p.file, -1), p.line or 0)))
