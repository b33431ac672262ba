"""Any file, or pasted text -> rows. What a file is its bytes say first, its name second."""

from __future__ import annotations

import re
import zlib
from pathlib import PurePosixPath

from ctxasm.data.archives import BROKEN
from ctxasm.data.files.decoding import Decoded, NotUtf8, decode
from ctxasm.data.files.delimited import is_table, read_delimited
from ctxasm.data.files.files import open_archive
from ctxasm.data.files.json_rows import is_lines, read_json, read_lines
from ctxasm.data.files.limits import FileLimits
from ctxasm.data.files.parquet import MAGIC, read_parquet
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.tables import why
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
