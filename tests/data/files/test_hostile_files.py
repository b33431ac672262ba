"""Files made to do harm: each is refused with a sentence, quickly, and without filling the memory."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctxasm.data.files.formats import read_rows
from ctxasm.data.files.importing import import_files
from ctxasm.data.files.source import MB, FileLimits
from ctxasm.model.errors import InvalidInput
from tests.data.files.tables import as_csv, as_json, as_lines, as_parquet, as_zip

ROW = {"document_id": "a", "chunk_index": 0, "text": "hello"}
USUAL = FileLimits()
SMALL = FileLimits(upload_bytes=MB, rows=100, columns=10, ratio=20, cells=500, cell_chars=1000, unpacked_bytes=8 * MB)


def refusal(data: bytes, name: str, limits: FileLimits = USUAL) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_rows(data, name, limits)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@contextmanager
def within(megabytes: float) -> Iterator[None]:
    """Guards against reading first and judging later, not a measurement."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * MB
    finally:
        tracemalloc.stop()


def test_ten_million_columns() -> None:
    head = b"x," * 10_000_000
    with within(120):
        said = refusal(head + b"\n1,2\n", "wide.csv")
    assert said == "wide.csv is refused: it has 10,000,001 columns, allowed are 1,000; leave some out"


def test_ten_million_cells_in_one_record() -> None:
    with within(120):
        said = refusal(b"a,b\n1,2\n" + b"," * 10_000_000, "wide.csv")
    assert said.startswith("wide.csv is refused: after line 2 it has a line of 10,000,001 columns, allowed are 1,000")
    with within(160):
        refusal(b'a,b\n1,"x\ny"\n"2' + b'",' * 10_000_000, "wide.csv")


def test_a_long_text_of_commas_in_one_cell_is_no_wide_record() -> None:
    (rows,) = read_rows(b'a,b\n1,"' + b"x, " * 5000 + b"\n" + b"y, " * 5000 + b'"\n2,z\n', "x.csv", USUAL)
    assert [number for number, _ in rows.rows] == [2, 4]


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"x" * (MB + 1), "x.csv", "it is 1.0 MB, allowed are 1 MB; split it, or set CTXASM_MAX_UPLOAD_MB"),
        (b"a,b\n" + b"1,2\n" * 101, "x.csv", "it has more than 100 rows; split it"),
        (as_lines([{"a": 1}] * 101), "x.jsonl", "it has more than 100 rows"),
        (as_json([{"a": 1}] * 101), "x.json", "it has more than 100 rows"),
        (as_json([{"a": [1] * 600}]), "x.json", "it holds more than 500 values"),
        (as_lines([{str(at): 1 for at in range(11)}]), "x.jsonl", "its rows have at least 11 columns, allowed are 10"),
        (as_json([{str(at): 1} for at in range(11)]), "x.json", "its rows have at least 11 columns"),
        (lambda: as_parquet([{"a": 1}] * 101), "x.parquet", "it has more than 100 rows"),
        (lambda: as_parquet([{str(at): 1 for at in range(11)}]), "x.parquet", "it has 11 columns"),
        (b",".join(b"%d" % at for at in range(9)) + b"\n" + (b"1," * 8 + b"1\n") * 60, "x.csv", "it holds more than 500 values"),
    ],
)
def test_limits_are_named_with_what_sets_them(data: bytes | Callable[[], bytes], name: str, words: str) -> None:
    assert words in refusal(data if isinstance(data, bytes) else data(), name, SMALL)


def test_the_rows_of_all_files_count_together() -> None:
    with pytest.raises(InvalidInput, match="the load is refused: it has more than 100 rows"):
        import_files([("a.csv", b"text\n" + b"x\n" * 60), ("b.csv", b"text\n" + b"x\n" * 60)], limits=SMALL)


def test_a_cell_that_is_too_long_is_a_problem_of_its_row() -> None:
    (rows,) = read_rows(b"a,b\n1," + b"x" * 1001 + b"\n2,y\n", "x.csv", SMALL)
    assert [str(problem) for problem in rows.problems] == ["x.csv line 2, b: may have at most 1,000 characters"]
    assert len(rows.rows) == 1


def test_a_zip_bomb() -> None:
    bomb = as_zip({"x.csv": b"text\n" + b"\n" * 30_000_000})
    with within(20):
        assert refusal(bomb, "x.zip") == "x.zip is refused: its entry 'x.csv' unpacks to more than 200 times its size"


def test_a_zip_that_lies_about_its_sizes() -> None:
    whole = as_zip({"x.csv": b"text\n" + b"abcdefgh\n" * 100_000})
    size = (900_005).to_bytes(4, "little")
    assert whole.count(size) == 2
    lying = whole.replace(size, (50).to_bytes(4, "little"))
    assert "x.zip is damaged: its entry 'x.csv' cannot be unpacked" in refusal(lying, "x.zip")


def test_a_gzip_bomb() -> None:
    bomb = gzip.compress(b"text\n" + b"\n" * 30_000_000)
    with within(20):
        said = refusal(bomb, "x.csv.gz")
    assert "it unpacks to more than 200 times its size; unpack it first" in said


def test_archives_in_archives() -> None:
    inner = as_zip({"x.csv": b"text\nx\n"})
    assert "it holds another archive, 'inner.zip'" in refusal(as_zip({"inner.zip": inner}), "x.zip")
    assert "is an archive in an archive" in refusal(as_zip({"innocent.csv": inner}), "x.zip")


@pytest.mark.parametrize("name", ["../x.csv", "/etc/x.csv", "a/..\\..\\x.csv", "C:/x.csv"])
def test_names_that_point_outside(name: str) -> None:
    assert "points outside the archive" in refusal(as_zip({name: b"text\nx\n"}), "x.zip")
    (rows,) = read_rows(b"text\nx\n", name, USUAL)
    assert rows.file == "x.csv"


def test_a_name_of_control_characters_is_shown_harmlessly() -> None:
    said = refusal(b"", "a\x1b[2J\n.csv")
    assert said == "'a\\x1b[2J\\n.csv' is empty"


def parquet(table: pa.Table, **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def test_a_parquet_bomb() -> None:
    one = pa.array(["x" * 1_000_000])
    bomb = parquet(pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0] * 5_000, pa.int32()), one)}))
    assert len(bomb) < MB
    with within(100):
        before = pa.total_allocated_bytes()
        assert "x.parquet is refused: it unpacks to more than" in refusal(bomb, "x.parquet")
        assert pa.total_allocated_bytes() - before < 600 * MB
    packed = parquet(pa.table({"text": ["x" * 1_000_000] * 30}), compression="zstd", use_dictionary=False)
    assert len(packed) < MB
    assert "x.parquet is refused: it unpacks to more than" in refusal(packed, "x.parquet")


def test_nested_types_of_parquet_are_json_or_refused() -> None:
    row = {"id": "a", "meta": {"page": 3, "tags": ["x", None]}, "list": [{"a": 1}], "when": None}
    (rows,) = read_rows(as_parquet([row]), "x.parquet", USUAL)
    assert dict(rows.rows[0][1]) == {"id": "a", "meta": {"page": 3, "tags": ["x", None]}, "list": [{"a": 1}]}
    json.dumps(rows.rows[0][1])
    mapped = pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))
    (rows,) = read_rows(parquet(pa.table({"m": mapped, "d": pa.array([1], pa.timestamp("s")), "b": [b"text"]})), "x.parquet", USUAL)
    assert dict(rows.rows[0][1]) == {"m": {"k": 1}, "d": "1970-01-01T00:00:01", "b": "text"}
    said = refusal(parquet(pa.table({"b": [b"\xff\xfe"]})), "x.parquet")
    assert said == "x.parquet is refused: its column 'b' holds bytes that are no text: leave it out, or write it as text"
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    assert "nested 30 deep" in refusal(as_parquet([{"deep": deep}]), "x.parquet")


def test_vectors_of_parquet_are_not_read() -> None:
    (rows,) = read_rows(as_parquet([{"text": "x", "embedding": [0.1] * 1536}]), "x.parquet", USUAL)
    assert rows.columns == ("text",)
    assert "not read, because it holds vectors: 'embedding'" in rows.notes


def test_every_cut_of_a_parquet_file() -> None:
    whole = as_parquet([ROW] * 5)
    for end in range(4, len(whole) - 1, 7):
        assert "x.parquet is no Parquet file that can be read" in refusal(whole[:end], "x.parquet")


def test_columns_of_the_same_name_in_parquet() -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["x", "x"])
    assert "two of its columns have the same name" in refusal(parquet(table), "x.parquet")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a":' * 100_000, "may be nested at most 64 levels deep"),
        (b'[{"a": ' + b"9" * 5000 + b"}]", "a number may have at most 100 digits, got 5000"),
        (b'[{"a": 1e999}]', "a number must be finite"),
        (b'[{"a": NaN}]', "JSON knows no NaN"),
        (b'[{"a": 1, "a": 2}]', "the key 'a' stands twice in one object"),
        (b'[{"a": ' + b"[" * 70 + b"]" * 70 + b"}]", "may be nested at most 64 levels deep"),
    ],
)
def test_json_that_is_no_strict_json(data: bytes, words: str) -> None:
    (rows,) = read_rows(data, "x.json", USUAL)
    assert (rows.rows, [words in problem.message for problem in rows.problems]) == ((), [True])


def test_formulas_stay_the_text_they_are() -> None:
    evil = [{"document_id": "a", "text": "=cmd|' /C calc'!A0", "title": "@SUM(1+1)*cmd"}]
    evil += [{"document_id": "b", "text": "+1+1", "title": "-2"}]
    bundle = import_files([("x.csv", as_csv(evil))]).bundle
    assert [chunk.text for chunk in bundle.chunks] == ["=cmd|' /C calc'!A0", "+1+1"]
    assert [document.title for document in bundle.documents] == ["@SUM(1+1)*cmd", "-2"]
