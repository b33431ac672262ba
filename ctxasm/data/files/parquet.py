"""Parquet -> rows of JSON values, through pyarrow, which comes with streamlit.

What a file unpacks to is bounded twice: by what it says of itself before anything is read, and by what really comes, a
small batch at a time, for what it says may be a lie and one stored value may stand for a million rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from ctxasm.data.files.limits import FileLimits
from ctxasm.data.files.rows import Rows
from ctxasm.model.errors import InvalidInput, shown

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
