"""Delimited text (CSV, TSV, …) -> rows of strings. Nothing is taken for a number here, and no cell for a formula.

Python's csv module builds a list of all fields of a record before anyone can look at it, so records of millions of fields
are found by counting delimiters, outside quotes, before the record is split.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ctxasm.data.files.decoding import Decoded
from ctxasm.data.files.limits import FileLimits
from ctxasm.data.files.problems import MAX_PROBLEMS, Problem
from ctxasm.data.files.rows import Rows
from ctxasm.model.errors import InvalidInput, shown

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
SAMPLE_CHARS, SAMPLE_ROWS = 200_000, 100
MOST_ALIKE = 0.9
"""Share of the records of a table that have as many fields as the first."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_UNQUOTED = re.compile(r'([^"]*)("[^"]*"?)?')


class _TooWide(Exception):
    """A record has more fields than a table may have columns."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(count)


def read_delimited(decoded: Decoded, file: str, limits: FileLimits) -> Rows:
    """The rows of a delimited text whose first record names the columns. A cell without a character is absent.

    Raises InvalidInput where the table is too large or no table at all; a record that does not fit the header is a problem.
    """
    text = decoded.text
    head = text[: _first_line_end(text)]
    limits.check_columns(file, max(_count_outside(head, delimiter, limits.columns) for delimiter in DELIMITERS) + 1)
    delimiter = detect_delimiter(text, file)
    notes = [f"{decoded.encoding}; delimiter {DELIMITERS[delimiter]}, detected"]
    records = _records(text, delimiter, limits)
    try:
        _, names = next(records, (0, []))
    except (csv.Error, _TooWide) as error:
        raise InvalidInput(f"{file} is no table: its first line, the names of its columns, cannot be read ({error})") from None
    columns, renamed = column_names(names)
    limits.check_columns(file, len(columns))
    notes += [renamed] if renamed else []
    reader = _Reader(file, columns, limits)
    reader.read(records)
    problems = tuple(reader.problems)
    return Rows(file, columns, reader.rows, tuple(notes), "line", problems, is_text=True, replaced=decoded.replaced)


class _Reader:
    """Collects the rows, and a problem for each record that is none."""

    def __init__(self, file: str, columns: tuple[str, ...], limits: FileLimits) -> None:
        self._file, self._columns, self._limits = file, columns, limits
        self.rows: list[tuple[int, dict[str, str]]] = []
        self.problems: list[Problem] = []

    def read(self, records: Iterator[tuple[int, list[str]]]) -> None:
        line, cells = 1, 0
        try:
            for line, fields in records:
                cells += len(fields)
                self._limits.check_rows(self._file, len(self.rows) + len(self.problems) + 1)
                self._limits.check_cells(self._file, cells)
                self._take(line, fields)
        except _TooWide as error:
            self._limits.check_columns(self._file, error.count, f"after line {line} it has a line of")
        except csv.Error as error:
            self._problem(line + 1, f"cannot be split from here on ({_reason(error)}): close the quotation marks, and double those inside")

    def _take(self, line: int, fields: list[str]) -> None:
        if len(fields) != len(self._columns):
            what = f"has {len(fields):,} fields, but the first line names {len(self._columns):,}: put texts with a delimiter in quotes"
            self._problem(line, what, fields[0])
            return
        row = {name: value for name, value in zip(self._columns, fields, strict=True) if value}
        for name, value in row.items():
            if len(value) > self._limits.cell_chars:
                self._problem(line, f"may have at most {self._limits.cell_chars:,} characters", field=name)
                return
        self.rows.append((line, row))

    def _problem(self, line: int, message: str, value: str | None = None, field: str = "") -> None:
        self.problems.append(Problem(self._file, line, field, message, None if value is None else shown(value)))
        if len(self.problems) >= MAX_PROBLEMS:
            raise InvalidInput(f"{self._file} is no table: {MAX_PROBLEMS:,} of its lines do not fit the first, the names of its columns")


def _first_line_end(text: str) -> int:
    ends = [end for end in (text.find("\n"), text.find("\r")) if end >= 0]
    return min(ends, default=len(text))


def _records(text: str, delimiter: str, limits: FileLimits) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not blank, with the line that it begins on. Raises csv.Error and _TooWide."""
    if csv.field_size_limit() < limits.cell_chars + 1:
        csv.field_size_limit(limits.cell_chars + 1)  # one setting for the process: it is only ever raised
    reader = csv.reader(_narrow(_lines(text), delimiter, limits.columns), delimiter=delimiter, strict=True)
    begins = 1
    for fields in reader:
        if fields and not (len(fields) == 1 and not fields[0].strip()):
            yield begins, fields
        begins = reader.line_num + 1


def _lines(text: str) -> Iterator[str]:
    """The lines with their ends, as a file gives them; StringIO would hold the whole text again, at four bytes a letter."""
    return (match[0] for match in _LINE.finditer(text))


def _narrow(lines: Iterator[str], delimiter: str, most: int) -> Iterator[str]:
    """The lines as they are, ended by _TooWide before one with more than `most` delimiters outside quotes."""
    inside = False
    for line in lines:
        if line.count(delimiter) > most and (count := _count_outside(line.partition('"')[2] if inside else line, delimiter, most)) > most:
            raise _TooWide(count + 1)
        inside ^= line.count('"') % 2 == 1
        yield line


def _count_outside(line: str, delimiter: str, most: int) -> int:
    """The delimiters outside quotes; where they are more than `most`, all of the line, quoted or not."""
    count = 0
    if line.count(delimiter) <= most:
        return line.count(delimiter)
    for match in _UNQUOTED.finditer(line):
        count += match[1].count(delimiter)
        if count > most:
            return line.count(delimiter)
    return count


def detect_delimiter(text: str, file: str) -> str:
    """The delimiter by which most records have as many fields as the first, at least two; else the one least in the way."""
    sample = text[:SAMPLE_CHARS]
    if len(text) > SAMPLE_CHARS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    by_name = "\t" if file.lower().endswith((".tsv", ".tab")) else ""
    return max(DELIMITERS, key=lambda delimiter: (*_fitness(sample, delimiter), delimiter == by_name))


def is_table(text: str, file: str) -> bool:
    """Whether the first record has several fields and nearly all others have as many: prose has not."""
    several, share, _ = _fitness(text[:SAMPLE_CHARS], detect_delimiter(text, file))
    return several and share >= MOST_ALIKE


def _fitness(sample: str, delimiter: str) -> tuple[bool, float, int]:
    """Whether the first record has several fields, the share of records with as many, and how many."""
    reader = csv.reader(_lines(sample), delimiter=delimiter)
    try:
        records = [fields for fields in islice(reader, SAMPLE_ROWS) if fields]
    except csv.Error:
        return False, 0.0, 0
    if not records:
        return False, 0.0, 0
    width = len(records[0])
    share = sum(len(fields) == width for fields in records) / len(records)
    return width > 1, share, width


def column_names(names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The names of the columns, each once, and a sentence about those that had to be given one ("" where none)."""
    found: dict[str, None] = {}
    changed = []
    for position, name in enumerate(names, 1):
        bare = name.strip() or f"column {position}"
        unique, again = bare, 2
        while unique in found:
            unique, again = f"{bare} ({again})", again + 1
        found[unique] = None
        if unique != name.strip():
            changed.append(unique)
    listed = ", ".join(shown(name) for name in changed[:5]) + (" …" if len(changed) > 5 else "")
    return tuple(found), f"columns without a name of their own were named {listed}" if changed else ""


def _reason(error: csv.Error) -> str:
    return str(error) or "its quotation marks do not match"
