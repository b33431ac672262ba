"""The same table written in every format, for the laws."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32")
DELIMITERS = ",;\t|"
Row = Mapping[str, Any]


def as_csv(rows: Sequence[Row], delimiter: str = ",", encoding: str = "utf-8", end: str = "\r\n") -> bytes:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if end == "\n" else csv.QUOTE_MINIMAL  # which does not quote a lone \r before this end
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(columns)
    writer.writerows([row.get(name, "") for name in columns] for row in rows)
    return text.getvalue().encode(encoding)


def as_json(rows: Sequence[Row], ascii_only: bool = True) -> bytes:
    return json.dumps(list(rows), ensure_ascii=ascii_only).encode()


def as_lines(rows: Sequence[Row], encoding: str = "utf-8") -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode(encoding)


def as_parquet(rows: Sequence[Row], **options: Any) -> bytes:
    stream = io.BytesIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in columns}), stream, **options)
    return stream.getvalue()


def as_zip(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()
