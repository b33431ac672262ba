"""What one recognised shape can do: tell whether a table has it, and turn tables of it into the lines of a bundle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxasm.data.files.recognised.converted import Converted
from ctxasm.data.files.rows import Rows


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape by name. `recognise` looks at structure only: a file may have any name.

    `convert_all` takes the tables that belong together (a corpus, its queries and their judgements; or one file a question)
    and gives one Converted for each, so that every line keeps the row of its own file. Nothing is raised for a row that is not
    as it should be: its line is passed on as it is, and the validation of the bundle reports it.
    """

    name: str
    recognise: Callable[[Rows], bool]
    convert_all: Callable[[Sequence[Rows]], tuple[Converted, ...]]

    def convert(self, rows: Rows) -> Converted:
        """The lines of one table that stands alone."""
        return self.convert_all([rows])[0]
