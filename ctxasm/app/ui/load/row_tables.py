"""Rows of a file and problems in them as escaped HTML tables, the problems also as CSV. Pure.

Nothing of a file is trusted: names, columns and values are escaped, cut, and laid out in columns of a fixed width.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.app.ui.markup import boxed, table_html
from ctxasm.app.ui.words import cut, number
from ctxasm.model.amounts import counted
from ctxasm.model.characters import harmless_cell

if TYPE_CHECKING:
    from ctxasm.data.files.importing import AskedPreview

MOST_NAME = 60
"""Characters of a column's name that a head shows."""
MOST_COLUMNS = 30
"""Columns of a preview; the rest is counted."""
MOST_PROBLEMS = 500
"""Problems of a table; the rest is in the CSV."""
HEADS = ("file", "row", "field", "problem", "got")


class ProblemRow(NamedTuple):
    """A problem as cells of plain text."""

    file: str
    row: str
    field: str
    message: str
    value: str


def problem_row(problem: object) -> ProblemRow:
    """The cells of a problem; one that is only a sentence fills only that cell."""
    if not hasattr(problem, "file"):
        return ProblemRow("", "", "", str(problem), "")
    line = getattr(problem, "line", None)
    return ProblemRow(
        str(problem.file),
        "" if line is None else str(line),
        str(getattr(problem, "field", "") or ""),
        str(getattr(problem, "message", "") or ""),
        str(getattr(problem, "value", "") or ""),
    )


def problems_html(problems: Sequence[object], caption: str = "") -> str:
    """The problems as a table that scrolls, with a sentence for those it has no room for."""
    cells = [_problem_cells(problem_row(problem)) for problem in problems[:MOST_PROBLEMS]]
    more = len(problems) - len(cells)
    rest = f'<p class="cx-note">… and {number(more)} more, all of them in the CSV.</p>' if more > 0 else ""
    return f'<div class="cx-scroll cx-problems">{table_html(HEADS, cells, (1,), escape(caption))}</div>{rest}'


def _problem_cells(row: ProblemRow) -> tuple[str, ...]:
    line = number(int(row.row)) if row.row.isdecimal() else escape(row.row)
    return escape(row.file), line, f"<code>{escape(row.field)}</code>", escape(row.message), f"<code>{escape(cut(row.value))}</code>"


def problems_csv(problems: Iterable[object]) -> str:
    """All problems as CSV that no spreadsheet takes for formulas."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(HEADS)
    writer.writerows([harmless_cell(cell) for cell in problem_row(problem)] for problem in problems)
    return written.getvalue()


def cell_text(value: Any) -> str:
    """A JSON value as a cell shows it: text as it is, everything else as JSON, nothing for what is absent."""
    if value is None:
        return ""
    if isinstance(value, str):
        return cut(value)
    try:
        return cut(json.dumps(value, ensure_ascii=False, default=str))
    except ValueError:  # a number of too many digits, or a value that holds itself
        return "…"


def preview_html(columns: Sequence[str], rows: Iterable[tuple[int, Mapping[str, Any]]], used: Mapping[str, str], caption: str) -> str:
    """The first rows of a file. `used` maps a column to the field that it is read as; those columns come first and say so."""
    ordered = sorted(columns, key=lambda column: column not in used)[:MOST_COLUMNS]
    heads = ["row", *(_head(column, used.get(column)) for column in ordered)]
    body = [(number(at), *(_cell(row, column) for column in ordered)) for at, row in rows]
    left = len(columns) - len(ordered)
    more = f'<p class="cx-note">… and {counted(left, "more column")}.</p>' if left > 0 else ""
    return f'<div class="cx-preview">{table_html(heads, body, (0,), escape(caption))}</div>{more}'


def _head(column: str, field: str | None) -> str:
    read_as = f'<span class="cx-as">→ {escape(field)}</span>' if field else ""
    return f"{escape(cut(column, MOST_NAME))}{read_as}"


def _cell(row: Mapping[str, Any], column: str) -> str:
    if column not in row:
        return '<span class="cx-absent" title="absent">·</span>'
    return escape(cell_text(row[column]))


def asked_html(asked: Sequence[AskedPreview]) -> str:
    """The first questions as they would be loaded, each with its best hits."""
    rows = [
        (
            escape(cut(one.question)),
            number(one.hits),
            "".join(
                f"<div>{'' if score is None else f'<code>{score:.3g}</code> '}{escape(cut(text, 64))}</div>" for text, score in one.best
            )
            + ("<div>…</div>" if one.hits > len(one.best) else ""),
        )
        for one in asked
    ]
    return (
        f'<div class="cx-preview">{table_html(("question", "found", "the best of them"), rows, (1,), "The first questions, as read")}</div>'
    )


def notes_html(notes: Iterable[str]) -> str:
    """Sentences about a file as a list."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return boxed(f'<ul class="cx-notes">{items}</ul>') if items else ""
