"""Valid files of every format and recognised shape, and seeded ways of damaging them."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.data.files.tables import as_csv, as_json, as_lines, as_parquet, as_zip

VALID = Path(__file__).parent / "valid"
"""One folder a shape; its files are recorded exports."""
WORDS = (
    "De balie opent om zeven uur.",
    "Bezoek mag na twaalf uur; één gast.",
    "Parkeren kost € 2,50, of niets.",
    "Neem lift B, verdieping 3.",
)
CHUNKS = [
    {
        "document_id": f"d{at // 4}",
        "chunk_index": at % 4,
        "text": WORDS[at % 4] * 3,
        "page_number": at,
        "score": at / 3,
        "meta": {"a": [at, 1], "b": "x"},
    }
    for at in range(12)
]
FLAT = [
    {"query": f"Vraag {at // 4}?", "document": f"h{at % 4}", "chunk_index": at % 4, "text": WORDS[at % 4], "score": 1 / (1 + at)}
    for at in range(16)
]
BUNDLE = {
    "chunks.jsonl": as_lines([{key: value for key, value in row.items() if key != "score"} for row in CHUNKS]),
    "documents.jsonl": as_lines([{"document_id": f"d{at}", "title": "T"} for at in range(3)]),
    "queries.jsonl": as_lines([{"query_id": "q", "query": "Hoe laat?", "gold": [{"document_id": "d0", "chunk_index": 1}]}]),
    "retrievals.jsonl": as_lines([{"query_id": "q", "retrieved": [{"document_id": "d0", "chunk_index": 1, "score": 2.5}]}]),
}
Files = list[tuple[str, bytes]]


def valid_files() -> list[Files]:
    """Each a load that works: own files of every format, then every recorded export."""
    own: list[Files] = [
        [("chunks.csv", as_csv([{**row, "meta": json.dumps(row["meta"])} for row in CHUNKS]))],
        [("hits.tsv", as_csv(FLAT, "\t", "utf-16"))],
        [("oud.csv", as_csv(FLAT, ";", "cp1252"))],
        [("chunks.json", as_json(CHUNKS, ascii_only=False))],
        [("rows.json", json.dumps({"version": 1, "chunks": CHUNKS, "queries": [{"query_id": "q", "query": "x"}]}, indent=1).encode())],
        [("lines.jsonl", as_lines(CHUNKS))],
        [("lines.jsonl.gz", gzip.compress(as_lines(CHUNKS), mtime=0))],
        [("chunks.parquet", as_parquet(CHUNKS))],
        [("plain.parquet", as_parquet(FLAT, compression="none", use_dictionary=False))],
        [("bundle.zip", as_zip(BUNDLE))],
        [("tables.zip", as_zip({"x/hits.csv": as_csv(FLAT), "x/more.parquet": as_parquet(CHUNKS)}))],
        list(BUNDLE.items()),
        [("pasted", as_csv(FLAT, "|"))],
    ]
    together = [[(path.name, path.read_bytes()) for path in sorted((VALID / "beir").rglob("*.*"))]]
    exports = [path for path in sorted(VALID.rglob("*.*")) if path.is_file() and "beir" not in path.parts]
    return own + together + [[(path.name, path.read_bytes())] for path in exports]


def damaged(valid: list[Files], count: int, seed: int = 20260101) -> Iterator[tuple[str, Files]]:
    """`count` loads with one file damaged, one to three times over, and what was done to it."""
    source = random.Random(seed)
    for at in range(count):
        files = list(valid[at % len(valid)])
        position = source.randrange(len(files))
        name, data = files[position]
        done = []
        for _ in range(source.choice((1, 1, 2, 3))):
            way = source.choice(WAYS)
            data = way(data, source)
            done.append(way.__name__)
        files[position] = (name, data)
        yield f"{at}: {name}, {' then '.join(done)}", files


def flipped_bits(data: bytes, source: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(source.choice((1, 1, 3, 30))):
        if found:
            found[source.randrange(len(found))] ^= 1 << source.randrange(8)
    return bytes(found)


def truncated(data: bytes, source: random.Random) -> bytes:
    return data[: source.randrange(len(data) + 1)]


def swapped(data: bytes, source: random.Random) -> bytes:
    if len(data) < 2:
        return data
    one, other = sorted(source.sample(range(len(data)), 2))
    return data[:one] + data[other : other + 1] + data[one + 1 : other] + data[one : one + 1] + data[other + 1 :]


def duplicated(data: bytes, source: random.Random) -> bytes:
    one, other = sorted((source.randrange(len(data) + 1), source.randrange(len(data) + 1)))
    return data[:other] + data[one:other] + data[other:]


def cut_out(data: bytes, source: random.Random) -> bytes:
    one = source.randrange(len(data) + 1)
    return data[:one] + data[one + source.randrange(1, 40) :]


def planted(data: bytes, source: random.Random) -> bytes:
    at = source.randrange(len(data) + 1)
    return data[:at] + source.choice(SEEDS) + data[at:]


def wrong_values(data: bytes, source: random.Random) -> bytes:
    """Some values of a JSON or delimited text of another type."""
    found = list(re.finditer(rb'(?<=: )("[^"\\]*"|-?\d+(?:\.\d+)?|\[|\{)|(?<=[,;\t])[^,;\t\r\n"]+(?=[,;\t\r\n])', data))
    for match in sorted(source.sample(found, min(len(found), 3)), key=lambda match: -match.start()):
        data = data[: match.start()] + source.choice(VALUES) + data[match.end() :]
    return data


def lost_keys(data: bytes, source: random.Random) -> bytes:
    found = list(re.finditer(rb'"[\w@$.-]+"\s*:\s*', data))
    for match in sorted(source.sample(found, min(len(found), 2)), key=lambda match: -match.start()):
        data = (
            data[: match.start()]
            + source.choice((b"", b'"": ', b'"zz": ', b'"document_id": ', b'"text": ', b'"score": '))
            + data[match.end() :]
        )
    return data


def changed_json(data: bytes, source: random.Random) -> bytes:
    """A JSON value that is still one, with something in it of another kind; other files as they are."""
    lines = data.split(b"\n") if data[:1] == b"{" and data.count(b"\n") > 1 else [data]
    at = source.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return data
    lines[at] = json.dumps(_changed(value, source)).encode()
    return b"\n".join(lines)


def _changed(value: Any, source: random.Random) -> Any:
    if isinstance(value, dict) and value and source.random() < 0.9:
        key = source.choice(list(value))
        if source.random() < 0.15:
            return {name: inner for name, inner in value.items() if name != key}
        return {**value, key: _changed(value[key], source)}
    if isinstance(value, list) and value and source.random() < 0.9:
        at = source.randrange(len(value))
        return [*value[:at], _changed(value[at], source), *value[at + 1 :]]
    return source.choice(
        (None, True, -1, 10**25, 1e300, "", "x", [], {}, [[]], [None], {"": {}}, "\x00", "9" * 400, [1, "a", {}], ["x"] * 3)
    )


Way = Callable[[bytes, random.Random], bytes]
WAYS: tuple[Way, ...] = (
    flipped_bits,
    truncated,
    swapped,
    duplicated,
    cut_out,
    planted,
    wrong_values,
    lost_keys,
    changed_json,
    changed_json,
)
SEEDS = (
    b"\0",
    b"\0" * 50,
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"9" * 5000,
    b"[" * 300,
    b'{"a":' * 300,
    b'"',
    b'"""',
    b"\r",
    b"\n\n",
    b",,,,",
    b"NaN",
    b"1e999",
    b"\\ud800",
    b"=cmd|' /C calc'!A0",
    b"../../etc/passwd",
    b"PAR1",
    b"PK\x03\x04",
)
VALUES = (
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"NaN",
    b"9" * 30,
    b'"x"',
    b'""',
    b"[]",
    b"{}",
    b"[[[]]]",
    b'{"a": 1, "a": 2}',
    b"2000000001",
    b'"\\u0000"',
)
