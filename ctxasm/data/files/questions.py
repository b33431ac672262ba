"""A file of questions: one a line, or the rows of a table with a column of questions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ctxasm.data.files.csv_reader import NotUtf8, decode
from ctxasm.data.files.formats import DELIMITED, LINES, read_rows
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.source import FileLimits
from ctxasm.data.names import FIELD_NAMES, by_names
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import read_regular

TABLES = (".json", *LINES, *DELIMITED, ".parquet", ".pq")


class ListedQuestion(NamedTuple):
    """A question of a file: the line or row that it stands in, and the id that it has there, if any."""

    line: int
    question: str
    query_id: str | None = None


def read_questions(path: str | os.PathLike[str], limits: FileLimits) -> tuple[list[ListedQuestion], tuple[str, ...]]:
    """The questions of a file, each once, and notes on what was left out. The ending says whether it is a table; else a line is a question.

    Raises InvalidInput for a file that cannot be read, has no column of questions, or no question.
    """
    place, named = Path(path).expanduser(), shown(os.fspath(path), 300)
    try:
        data = read_regular(place)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{named} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if place.suffix.lower() in TABLES:
        found, notes = _of_table(read_rows(data, place.name, limits)[0], named)
    else:
        limits.check_bytes(place.name, len(data))
        try:
            text = decode(data, place.name).text
        except NotUtf8 as error:
            raise InvalidInput(f"{named} is not UTF-8 at {error}: save it as UTF-8") from None
        found, notes = [ListedQuestion(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()], []
    once: dict[tuple[str | None, str], ListedQuestion] = {}
    for one in found:
        once.setdefault((one.query_id, one.question), one)
    if not once:
        raise InvalidInput(f"{named} holds no question: give a line each, or a table with a column {FIELD_NAMES['query'][1]}")
    if again := len(found) - len(once):
        notes.append(f"{again:,} of {len(found):,} questions stand there twice and are asked once")
    return list(once.values()), tuple(notes)


def _of_table(rows: Rows, named: str) -> tuple[list[ListedQuestion], list[str]]:
    columns = [(column, column) for column in rows.columns]
    question, query_id = (next(by_names(FIELD_NAMES[field], columns), None) for field in ("query", "query_id"))
    if question is None:
        raise InvalidInput(
            f"{named} must have a column of questions ({', '.join(FIELD_NAMES['query'])}), got {', '.join(rows.columns) or 'none'}"
        )
    found, blank = [], []
    for number, row in rows.rows:
        text, own = row.get(question), row.get(query_id) if query_id is not None else None
        if isinstance(text, str) and text.strip():
            found.append(ListedQuestion(number, text.strip(), None if own is None or not str(own).strip() else str(own).strip()))
        else:
            blank.append(number)
    notes = [str(problem) for problem in rows.problems[:1]]
    if left := len(blank) + len(rows.problems):
        first = f": the first is {rows.unit} {blank[0]}" if blank else ""
        notes.append(f"{counted(left, rows.unit)} without a question that can be read left out{first}")
    return found, notes
