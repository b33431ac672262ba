"""Any file, or pasted text -> rows. What a file is its bytes say first, its name second."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from ctxasm.data.archives import BROKEN
from ctxasm.data.files.checking import why
from ctxasm.data.files.csv_reader import Decoded, NotUtf8, decode, is_table, read_delimited
from ctxasm.data.files.json_reader import is_lines, read_json, read_lines, rows_of_value
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.source import FileLimits, open_archive
from ctxasm.data.files.streams import events_in, merged
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.text.sent_prompts import said_in

LINES = (".jsonl", ".ndjson", ".jsonlines")
DELIMITED = (".csv", ".tsv", ".tab", ".psv")
READABLE = (".json", *LINES, *DELIMITED, ".txt", ".trec", ".run", ".qrels", ".parquet", ".pq")
"""Names of files in an archive or a folder that are looked into."""
NUMBERED = re.compile(r"\s*\[\d{1,3}\]\s*[^\s\d\[\]{},\"]")
"""How a prompt begins that begins with its first passage; a list of JSON does not."""
ZIP, GZIP = (b"PK\x03\x04", b"PK\x05\x06"), b"\x1f\x8b"
OTHERS = {
    b"%PDF": "a PDF: load documents with `ctxasm ingest`",
    b"\xd0\xcf\x11\xe0": "an old Office file: save it as CSV",
    b"SQLite format 3": "a SQLite database: connect to it by its URL",
    b"ARROW1": "an Arrow file: write it as Parquet",
    b"Obj\x01": "an Avro file: write it as Parquet",
    b"BZh": "packed with bzip2: unpack it",
    b"\xfd7zXZ": "packed with xz: unpack it",
    b"(\xb5/\xfd": "packed with zstd: unpack it",
    b"7z\xbc\xaf": "packed with 7-Zip: pack it as .zip",
}


def read_rows(data: bytes, file_name: str, limits: FileLimits) -> list[Rows]:
    """The tables of a file: one, but for a .zip and for a JSON object of several lists.

    Rows that cannot be read are problems of their table. Raises InvalidInput with one sentence for a file that is too
    large, damaged as a whole, hostile, or of another kind.
    """
    file = shown_name(file_name)
    limits.check_bytes(file, len(data))
    if not data.strip():
        raise InvalidInput(f"{file} is empty")
    if data.startswith(ZIP):
        return _zip(data, file, limits)
    if data.startswith(GZIP):
        return read_rows(_unpacked(data, file, limits), file_name.removesuffix(".gz"), limits)
    if data.startswith(MAGIC) or _suffix(file_name) in (".parquet", ".pq"):
        return [read_parquet(data, file, limits)]
    if other := next((what for mark, what in OTHERS.items() if data.startswith(mark)), None):
        raise InvalidInput(f"{file} is {other}")
    return _text(data, file, limits)


def shown_name(file_name: str) -> str:
    """The last part of a file's name, as it may stand in a message."""
    base = PurePosixPath(file_name.replace("\\", "/")).name or "the file"
    return base if base.isprintable() and len(base) <= 120 else shown(base, 120)


def _suffix(file_name: str) -> str:
    return PurePosixPath(file_name.lower()).suffix


def _text(data: bytes, file: str, limits: FileLimits) -> list[Rows]:
    suffix = _suffix(file)
    try:
        decoded = decode(data, file)
    except NotUtf8 as error:
        if suffix in LINES or (suffix not in DELIMITED and data.lstrip()[:1] == b"{" and data.count(b"\n") > 1):
            return [read_lines(Decoded("", "UTF-8", 0), data, file, limits)]  # which names each line that is wrong
        problem = Problem(file, error.line, f"byte {error.column}", "is not valid UTF-8: save the file again as UTF-8")
        return [Rows(file, (), (), ("UTF-8",), "line", (problem,))]
    if (events := events_in(decoded.text)) is not None:
        told = f"{len(events):,} events of a stream in {decoded.encoding}, joined to one reply"
        found = rows_of_value(merged(events), file, (told,), limits)
        return [replace(found[0], replaced=decoded.replaced), *found[1:]]
    if suffix not in (*DELIMITED, *LINES, ".json") and (prompt := _prompt(decoded, file)) is not None:
        return [prompt]
    start = decoded.text.lstrip()[:1]
    if suffix in DELIMITED or start not in ("{", "["):
        if suffix == ".json" or suffix in LINES:
            return read_json(decoded, file, limits) if suffix == ".json" else [read_lines(decoded, data, file, limits)]
        return [read_delimited(decoded, file, limits)]
    if start == "{" and (suffix in LINES or is_lines(decoded.text)) and not _is_one_object(decoded.text):
        return [read_lines(decoded, data, file, limits)]
    return read_json(decoded, file, limits)


def _prompt(decoded: Decoded, file: str) -> Rows | None:
    """A plain text that is a prompt with its answer, as one row; None for any other."""
    text = decoded.text
    if text.lstrip()[:1] in ("{", "[") and not NUMBERED.match(text):
        return None
    said = said_in(text)
    if said is None or is_table(text, file):
        return None
    return Rows(file, said._fields, [(1, said._asdict())], (decoded.encoding,), "line", is_text=True, replaced=decoded.replaced)


def _is_one_object(text: str) -> bool:
    """Whether an object begins on the first line and ends on a later one."""
    return text.lstrip().partition("\n")[0].strip() in ("{", "[")


def _zip(data: bytes, file: str, limits: FileLimits) -> list[Rows]:
    found: list[Rows] = []
    ignored: list[str] = []
    unpacked = 0
    entries = open_archive(data, file, limits.of_zip())
    if "[Content_Types].xml" in entries:
        raise InvalidInput(f"{file} is an Office file: save a sheet as CSV, load a text with `ctxasm ingest`")
    for name, open_entry in entries.items():
        if _suffix(name) in (".zip", ".gz"):
            raise InvalidInput(f"{file} is refused: it holds another archive, {shown(name)}; unpack that one first")
        if _suffix(name) not in READABLE:
            ignored.append(name)
            continue
        try:
            with open_entry() as stream:
                content = stream.read(limits.upload_bytes + 1)
        except BROKEN as error:
            raise InvalidInput(f"{file} is damaged: its entry {shown(name)} cannot be unpacked ({why(error)}); pack it again") from None
        unpacked += len(content)
        limits.check_ratio(file, len(data), unpacked)
        found += _entry(content, name, limits)
    if not found:
        listed = f"it holds {', '.join(map(shown, ignored[:5]))}{' …' if len(ignored) > 5 else ''}" if ignored else "it is empty"
        raise InvalidInput(f"{file} has no file that can be read ({', '.join(READABLE)}): {listed}")
    return found


def _entry(content: bytes, name: str, limits: FileLimits) -> list[Rows]:
    if content.startswith((*ZIP, GZIP)):
        raise InvalidInput(f"{shown(name)} is an archive in an archive: unpack it first")
    return read_rows(content, name, limits) if content.strip() else []


def _unpacked(data: bytes, file: str, limits: FileLimits) -> bytes:
    """What a gzip file holds. Never more is unpacked than the limits allow."""
    stream = zlib.decompressobj(wbits=31)
    most = min(limits.unpacked_bytes, limits.upload_bytes, max(2**20, limits.ratio * len(data)))
    try:
        content = stream.decompress(data, most + 1)
        limits.check_ratio(file, len(data), len(content))
        limits.check_bytes(file, len(content))
        if not stream.eof:
            raise InvalidInput(f"{file} is damaged: it ends too early")
    except zlib.error:
        raise InvalidInput(f"{file} is damaged: it cannot be unpacked; pack it again") from None
    if content.startswith((*ZIP, GZIP)):
        raise InvalidInput(f"{file} is refused: it is an archive in an archive; unpack it first")
    return content


MAGIC = b"PAR1"
MAX_DEPTH = 30
BATCH_ROWS, NESTED_BATCH_ROWS = 256, 16
"""Rows that are unpacked before their size is known: fewer where texts are nested, which cannot stay in their dictionary."""


class _Unusable(ValueError):
    """A value that JSON cannot hold."""


def read_parquet(data: bytes, file: str, limits: FileLimits) -> Rows:
    """The rows of a Parquet file; nulls are absent. Columns of numbers in lists (vectors) are left out, with a note.

    Raises InvalidInput where it is damaged, too large, or of values that cannot be written as JSON.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(f"{file} is Parquet, which needs pyarrow: run `pip install pyarrow`") from None
    try:
        opened = _opened(data, ())
        _check_claims(opened.metadata, len(data), file, limits)
        opened = _opened(data, [field.name for field in opened.schema_arrow if _is_text(field.type)])
        vectors = [field.name for field in opened.schema_arrow if _is_vector(field.type)]
        columns = [field.name for field in opened.schema_arrow if field.name not in vectors]
        _check_names(columns, opened, file)
        convert = _Json()
        rows = list(_rows(opened, columns, convert, len(data), file, limits))
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, OverflowError, MemoryError, NotImplementedError) as error:
        if isinstance(error, _Unusable):
            raise InvalidInput(f"{file} is refused: {error}") from None
        raise InvalidInput(f"{file} is no Parquet file that can be read ({_first_line(error)}): write it again") from None
    notes = [f"Parquet, {opened.num_row_groups:,} row groups"]
    notes += [f"not read, because it holds vectors: {', '.join(map(shown, vectors))}"] if vectors else []
    names = tuple(dict.fromkeys(name.replace("\0", "\ufffd") for name in columns))
    return Rows(file, names, list(enumerate(rows, 1)), tuple(notes), replaced=convert.replaced)


def _opened(data: bytes, in_dictionary: Sequence[str]) -> Any:
    """The file, with the texts of these columns kept once each, however often they stand in it."""
    import pyarrow
    import pyarrow.parquet

    limits = {"thrift_string_size_limit": 2**24, "thrift_container_size_limit": 2**20}
    return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data), read_dictionary=list(in_dictionary), **limits)


def _check_claims(metadata: Any, packed: int, file: str, limits: FileLimits) -> None:
    limits.check_rows(file, metadata.num_rows)
    limits.check_columns(file, metadata.num_columns)
    limits.check_cells(file, metadata.num_rows * max(1, metadata.num_columns))
    limits.check_ratio(file, packed, sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups)))


def _check_names(columns: list[str], opened: Any, file: str) -> None:
    names = [field.name for field in opened.schema_arrow]
    if len(set(names)) < len(names):
        raise _Unusable("two of its columns have the same name")


def _rows(opened: Any, columns: list[str], convert: _Json, packed: int, file: str, limits: FileLimits) -> Iterator[dict[str, Any]]:
    unpacked = count = 0
    nested = any(field.type.num_fields for field in opened.schema_arrow if field.name in columns)
    batch_rows = NESTED_BATCH_ROWS if nested else BATCH_ROWS
    for batch in opened.iter_batches(batch_size=batch_rows, columns=columns, use_threads=False):
        unpacked += sum(_unpacked_bytes(column) for column in batch.columns)
        count += batch.num_rows
        limits.check_rows(file, count)
        limits.check_ratio(file, packed, unpacked)
        for row in batch.to_pylist():
            yield {convert.text(name): convert.value(value, name) for name, value in row.items() if value is not None}


def _unpacked_bytes(column: Any) -> int:
    """What a column takes once every row has its own copy of its value."""
    import pyarrow
    import pyarrow.compute

    if not pyarrow.types.is_dictionary(column.type):
        return int(column.nbytes)
    words = column.dictionary
    if not _is_text(words.type):
        return int(words.nbytes) * max(1, len(column))
    sizes = pyarrow.compute.take(pyarrow.compute.binary_length(words), column.indices)
    return int(pyarrow.compute.sum(sizes.cast(pyarrow.int64())).as_py() or 0)


def _is_text(kind: Any) -> bool:
    import pyarrow

    types = pyarrow.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind))


def _is_vector(kind: Any) -> bool:
    import pyarrow

    is_list = pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind) or pyarrow.types.is_fixed_size_list(kind)
    return bool(is_list and pyarrow.types.is_floating(kind.value_type))


class _Json:
    """Values of Arrow as JSON has them. `replaced` counts the NULs that became U+FFFD."""

    def __init__(self) -> None:
        self.replaced = 0

    def text(self, value: str) -> str:
        """A text without NUL, which no database takes."""
        self.replaced += value.count("\0")
        return value.replace("\0", "\ufffd")

    def value(self, value: Any, name: str, depth: int = 0) -> Any:
        """Any value of the column `name`. Raises _Unusable."""
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, (datetime, date, time)):
            return value.isoformat()
        if isinstance(value, (UUID, timedelta, Decimal)):
            return str(value)
        if isinstance(value, bytes):
            return self._bytes(value, name)
        if depth < MAX_DEPTH and isinstance(value, dict):
            return {self.text(str(key)): self.value(inner, name, depth + 1) for key, inner in value.items()}
        if depth < MAX_DEPTH and isinstance(value, (list, tuple)):
            if value and all(isinstance(item, tuple) and len(item) == 2 for item in value):  # a map
                return {self.text(str(key)): self.value(inner, name, depth + 1) for key, inner in value}
            return [self.value(item, name, depth + 1) for item in value]
        kind = type(value).__name__
        raise _Unusable(f"its column {shown(name)} holds values of the type {kind}, nested {depth} deep: write it as JSON text")

    def _bytes(self, value: bytes, name: str) -> str:
        try:
            return self.text(value.decode("utf-8"))
        except UnicodeDecodeError:
            raise _Unusable(f"its column {shown(name)} holds bytes that are no text: leave it out, or write it as text") from None


def _first_line(error: BaseException) -> str:
    return shown((str(error).splitlines() or [type(error).__name__])[0], 120)
