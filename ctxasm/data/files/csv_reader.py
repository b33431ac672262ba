"""Delimited text (CSV, TSV, …) to rows of strings, in any encoding. Nothing is taken for a number here, and no cell for a formula."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from ctxasm.data.files.problems import MAX_PROBLEMS, Problem
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.source import FileLimits
from ctxasm.model.characters import UNSTORABLE
from ctxasm.model.errors import InvalidInput, shown

SAMPLE = 2**18
MOST_STRANGE = 20
"""Control characters that a text may have, however short it is; beyond that a tenth of it."""
_MARKS = (  # the four-byte mark of UTF-32 begins with the two-byte one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with a byte-order mark"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_WESTERN = set("àáâãäåæçèéêëìíîïñòóôõöøœùúûüýÿßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØŒÙÚÛÜÝŸšžŠŽƒ‘’‚“”„–—…€•«»‹›§©®™°±²³¹µ·¶¿¡½¼¾ªº£¥¢¨´¸×÷¬\xa0\xad")
_CONTROLS = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")


class Decoded(NamedTuple):
    """The text, the name of its encoding as a user knows it, and how many NUL and lone surrogates became U+FFFD."""

    text: str
    encoding: str
    replaced: int

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes were UTF-8."""
        return self.encoding.startswith("UTF-8")


class NotUtf8(Exception):
    """The file is UTF-8 but for the byte at `offset`, on `line` (from 1). Internal: readers make a problem of it."""

    def __init__(self, data: bytes, offset: int) -> None:
        self.line = data.count(b"\n", 0, offset) + 1
        self.column = offset - data.rfind(b"\n", 0, offset)
        super().__init__(f"byte {self.column} of line {self.line}")


def decode(data: bytes, file: str) -> Decoded:
    """The text of a file. Raises NotUtf8 for damaged UTF-8, InvalidInput for what is no text."""
    text, encoding = _text(data, file)
    text, replaced = UNSTORABLE.subn("\ufffd", text)
    start = text[:SAMPLE]
    strange = len(_CONTROLS.findall(start)) + start.count("\ufffd")
    if strange > MOST_STRANGE and strange * 10 > len(start):
        raise InvalidInput(f"{file} is no text: its bytes are those of another kind of file; give JSON, JSON Lines, CSV, Parquet or a .zip")
    return Decoded(text, encoding, replaced)


def _text(data: bytes, file: str) -> tuple[str, str]:
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            return _marked(data.removeprefix(mark), codec, name, file)
    if utf16 := _by_zeros(data[:SAMPLE]):
        return _marked(data, utf16, "UTF-16", file)
    try:
        return data.decode("utf-8", "surrogatepass"), "UTF-8"
    except UnicodeDecodeError as error:
        sound = _sound_letters(data, error.start)
        if sound > 0 and sound >= _broken_bytes(data, error.start):
            raise NotUtf8(data, error.start) from None
    return _by_letters(data, file)


def _marked(data: bytes, codec: str, name: str, file: str) -> tuple[str, str]:
    try:
        return data.decode(codec, "surrogatepass"), name
    except UnicodeDecodeError as error:
        if codec == "utf-8":
            raise NotUtf8(data, error.start) from None
        raise InvalidInput(f"{file} says that it is {name}, but its byte {error.start + 1:,} is not: save it again as UTF-8") from None


def _by_zeros(sample: bytes) -> str | None:
    """UTF-16 without a mark: of a text in Latin letters every other byte is zero."""
    pairs = len(sample) // 2
    if pairs < 2:
        return None
    even, odd = sample[0 : 2 * pairs : 2].count(0), sample[1 : 2 * pairs : 2].count(0)
    if max(even, odd) * 2 < pairs or min(even, odd) * 20 > max(even, odd):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _sound_letters(data: bytes, start: int) -> int:
    around = data[max(0, start - SAMPLE) : start + SAMPLE].decode("utf-8", "ignore")
    return sum(1 for character in around if character > "\x7f")


def _broken_bytes(data: bytes, start: int) -> int:
    return data[max(0, start - SAMPLE) : start + SAMPLE].decode("utf-8", "replace").count("\ufffd")


def _by_letters(data: bytes, file: str) -> tuple[str, str]:
    """An older encoding of one byte a letter, or an Asian one. Windows-1252 where what it gives are Western words."""
    first = next(at for at, byte in enumerate(data) if byte > 0x7F)
    sample = data[max(0, first - 1000) : first + SAMPLE]
    if _is_western(sample):
        name = "cp1252"
    else:
        import charset_normalizer

        best = charset_normalizer.from_bytes(sample).best()
        name = best.encoding if best is not None else ""
    try:
        return data.decode(name), f"{'windows-1252' if name == 'cp1252' else name.replace('_', '-')}, detected by its letters"
    except (UnicodeDecodeError, LookupError):
        raise InvalidInput(f"{file} cannot be read: its encoding could not be told; save it as UTF-8") from None


def _is_western(sample: bytes) -> bool:
    text = sample.decode("cp1252", "replace")
    beyond = [character for character in text if character > "\x7f"]
    letters = sum(character.isalpha() for character in text)
    strange = sum(character not in _WESTERN for character in beyond)
    return strange == 0 and sum(character.isalpha() for character in beyond) * 3 <= letters


DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
SAMPLE_CHARS, SAMPLE_ROWS = 200_000, 100
MOST_ALIKE = 0.9
"""Share of the records of a table that have as many fields as the first."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_UNQUOTED = re.compile(r'([^"]*)("[^"]*"?)?')


_TOLD = re.compile(r'"?sep=([^\r\n"])"?[ \t,;]*(?:\r\n|\r|\n)', re.I)
"""The first line by which Excel is told the delimiter."""


class _TooWide(Exception):
    """A record has more fields than a table may have columns."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(count)


def read_delimited(decoded: Decoded, file: str, limits: FileLimits) -> Rows:
    """The rows of a delimited text whose first record names the columns. A cell without a character is absent.

    Raises InvalidInput where the table is too large or no table at all; a record that does not fit the header is a problem.
    """
    text, told = decoded.text, _TOLD.match(decoded.text)
    if told is not None:  # as Excel writes it; the line stays, blank, so that lines keep their numbers
        text = "\n" + text[told.end() :]
    head = text[: _first_line_end(text)]
    limits.check_columns(file, max(_count_outside(head, delimiter, limits.columns) for delimiter in DELIMITERS) + 1)
    delimiter = told[1] if told is not None else detect_delimiter(text, file)
    how = "as the file says" if told is not None else "detected"
    notes = [f"{decoded.encoding}; delimiter {DELIMITERS.get(delimiter, shown(delimiter))}, {how}"]
    found = _rows_of(text, delimiter, file, limits)
    if found.problems and '\\"' in text:
        doubled = _rows_of(text.replace('\\"', '""'), delimiter, file, limits)
        if len(doubled.problems) < len(found.problems):
            found, notes = doubled, [*notes, "quotation marks behind backslashes are those of the texts"]
    return replace(found, notes=(*notes, *found.notes), replaced=decoded.replaced)


def _rows_of(text: str, delimiter: str, file: str, limits: FileLimits) -> Rows:
    records = _records(text, delimiter, limits)
    try:
        _, names = next(records, (0, []))
    except (csv.Error, _TooWide) as error:
        raise InvalidInput(f"{file} is no table: its first line, the names of its columns, cannot be read ({error})") from None
    columns, renamed = column_names(names)
    limits.check_columns(file, len(columns))
    reader = _Reader(file, columns, limits)
    reader.read(records)
    return Rows(file, columns, reader.rows, (renamed,) if renamed else (), "line", tuple(reader.problems), is_text=True)


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
