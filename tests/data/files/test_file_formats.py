"""Rows written in any format read back equal; encodings and delimiters are detected and said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ctxasm.data.files.csv_reader import MOST_STRANGE
from ctxasm.data.files.formats import read_rows
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.source import FileLimits
from ctxasm.model.errors import InvalidInput
from tests.data.files.tables import DELIMITERS, ENCODINGS, as_csv, as_json, as_lines, as_parquet, as_zip
from tests.examples import examples

LIMITS = FileLimits()
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(letters | st.sampled_from("\",;\t|\r\n '=+@-é€😀"), max_size=30)
cells = texts.filter(bool)
values = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts


def one(data: bytes, name: str) -> Rows:
    (rows,) = read_rows(data, name, LIMITS)
    return rows


def plain(rows: Rows) -> list[dict[str, Any]]:
    return [dict(row) for _, row in rows.rows]


@st.composite
def text_tables(draw: st.DrawFn) -> list[dict[str, str]]:
    columns = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    rows = [{name: draw(cells) for name in columns} for _ in range(draw(st.integers(1, 5)))]
    # With more, and little else, it is refused as no text.
    assume(sum(letter < " " or letter in "\x7f\ufffd" for row in rows for cell in row.values() for letter in cell) <= MOST_STRANGE)
    return rows


@given(text_tables(), st.sampled_from(ENCODINGS), st.sampled_from(DELIMITERS), st.sampled_from(["\r\n", "\n"]))
@settings(max_examples=examples(120))
def test_delimited_text_reads_back_equal(rows: list[dict[str, str]], encoding: str, delimiter: str, end: str) -> None:
    if encoding == "utf-16-le" and not json.dumps(rows, ensure_ascii=False).isascii():
        encoding = "utf-16"  # without a mark it can only be told of Latin letters
    found = one(as_csv(rows, delimiter, encoding, end), "table.csv")
    assert found.problems == ()
    assert plain(found) == rows
    assert found.columns == tuple(rows[0])
    assert {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}[delimiter] in found.notes[0]


@st.composite
def json_tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    deep = values | st.lists(values, max_size=3) | st.dictionaries(texts, values, max_size=3)
    return draw(st.lists(st.dictionaries(texts, deep, min_size=1, max_size=4), min_size=1, max_size=5))


@given(json_tables(), st.sampled_from(ENCODINGS), st.booleans())
@settings(max_examples=examples(100))
def test_json_and_json_lines_read_back_equal(rows: list[dict[str, Any]], encoding: str, ascii_only: bool) -> None:
    encoding = "utf-16" if encoding == "utf-16-le" else encoding
    assert plain(one(as_json(rows, ascii_only).decode().encode(encoding), "table.json")) == rows
    lines = one(as_lines(rows, encoding), "table.jsonl")
    assert plain(lines) == rows
    assert [number for number, _ in lines.rows] == list(range(1, len(rows) + 1))


@given(
    text_tables(), st.lists(st.integers(-(2**53), 2**53) | st.none(), min_size=5, max_size=5), st.sampled_from(["snappy", "zstd", "none"])
)
@settings(max_examples=examples(60))
def test_parquet_reads_back_equal(rows: list[dict[str, str]], numbers: list[int | None], packing: str) -> None:
    whole = [row | ({"N": number} if number is not None else {}) for row, number in zip(rows, numbers, strict=False)]
    found = one(as_parquet(whole, compression=packing), "table.parquet")
    assert plain(found) == whole


@given(text_tables())
@settings(max_examples=examples(40))
def test_a_zip_holds_each_of_its_files(rows: list[dict[str, str]]) -> None:
    packed = as_zip({"a/one.csv": as_csv(rows), "a/two.jsonl": as_lines(rows), "a/three.parquet": as_parquet(rows), "a/readme.md": b"x"})
    found = read_rows(packed, "all.zip", LIMITS)
    assert [table.file for table in found] == ["one.csv", "two.jsonl", "three.parquet"]
    assert [plain(table) for table in found] == [rows] * 3


DUTCH = "Wilt u één glas crème fraîche van € 2,50? “Ja” – zei zij; curaçao, reünie, naïef."
SPOKEN = {
    "cp1252": DUTCH,
    "cp1251": "Кардиолог принимает по вторникам. Возьмите с собой паспорт и направление, пожалуйста.",
    "shift_jis": "診察は火曜日の午前九時からです。保険証と紹介状をお持ちください。予約は電話でお願いします。",
    "gb18030": "门诊时间是星期二上午九点。请带上身份证和介绍信，并提前打电话预约。",
}


@pytest.mark.parametrize("encoding", SPOKEN)
def test_an_older_encoding_is_told_by_its_letters(encoding: str) -> None:
    rows = [{"id": str(number), "text": SPOKEN[encoding]} for number in range(5)]
    found = one(as_csv(rows, ";", encoding), "oud.csv")
    assert plain(found) == rows
    assert "detected by its letters" in found.notes[0]


def test_damaged_utf8_is_no_other_encoding() -> None:
    data = as_csv([{"id": "1", "text": DUTCH}, {"id": "2", "text": DUTCH}]).replace(b"glas", b"gl\xffs", 1)
    found = one(data, "x.csv")
    assert [str(problem) for problem in found.problems] == ["x.csv line 2, byte 19: is not valid UTF-8: save the file again as UTF-8"]
    lines = as_lines([{"text": DUTCH}, {"text": DUTCH}, {"text": "é"}]).replace(b"glas", b"gl\xffs", 1)
    found = one(lines, "x.jsonl")
    assert [problem.line for problem in found.problems] == [1]
    assert len(found.rows) == 2


def test_nul_and_lone_surrogates_become_one_sign_each() -> None:
    found = one(b'a,b\n"x\0y",2\n', "x.csv")
    assert (plain(found), found.replaced) == ([{"a": "x\ufffdy", "b": "2"}], 1)
    found = one(as_parquet([{"a\0": "x\0", "b": {"c\0": 1}}]), "x.parquet")
    assert (plain(found), found.columns) == ([{"a\ufffd": "x\ufffd", "b": {"c\ufffd": 1}}], ("a\ufffd", "b"))
    found = one(b'[{"a": "\\ud800\\u0000"}]', "x.json")
    assert (plain(found), found.replaced) == ([{"a": "\ufffd\ufffd"}], 2)


def test_lines_are_numbered_as_an_editor_does() -> None:
    found = one(b'id,text\n1,"two\nlines"\n\n2,x\n3\n', "x.csv")
    assert [number for number, _ in found.rows] == [2, 5]
    assert [str(problem) for problem in found.problems] == [
        "x.csv line 6: has 1 fields, but the first line names 2: put texts with a delimiter in quotes, got '3'"
    ]


def test_a_cell_is_text_whatever_it_looks_like() -> None:
    rows = [{"id": "007", "text": '=HYPERLINK("http://x","y")'}, {"id": "1e5", "text": "+SUM(A1:A9)"}, {"id": "TRUE", "text": "@x"}]
    assert plain(one(as_csv(rows), "x.csv")) == rows


def test_columns_without_a_name_of_their_own_are_named() -> None:
    found = one(b"id,,id, x \n1,2,3,4\n", "x.csv")
    assert found.columns == ("id", "column 2", "id (2)", "x")
    assert "'column 2', 'id (2)'" in found.notes[1]


def test_one_column_needs_no_delimiter() -> None:
    found = one(b"vraag\nWaar, en wanneer?\nHoe; en waarom?\n", "vragen.txt")
    assert plain(found) == [{"vraag": "Waar, en wanneer?"}, {"vraag": "Hoe; en waarom?"}]


@pytest.mark.parametrize(
    ("value", "tables"),
    [
        ([{"a": 1}], {"x.json": [{"a": 1}]}),
        (["p", "q"], {"x.json": [{"value": "p"}, {"value": "q"}]}),
        ({"a": 1}, {"x.json": [{"a": 1}]}),
        ({"data": {"rows": [{"a": 1}, {"a": 2}]}, "version": 3}, {"x.json": [{"a": 1}, {"a": 2}]}),
        ({"one": [{"a": 1}], "two": [{"b": 2}]}, {"x.json:one": [{"a": 1}], "x.json:two": [{"b": 2}]}),
        ({"a": [1, 2], "b": ["x", "y"]}, {"x.json": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]}),
        ({"a": [1], "b": None, "c": ["x"], "included": ["a", "c"]}, {"x.json": [{"a": 1, "c": "x"}]}),
        ({"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}, {"x.json": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]}),
    ],
)
def test_where_the_rows_of_a_json_value_are(value: object, tables: dict[str, list[Any]]) -> None:
    found = read_rows(json.dumps(value, indent=1).encode(), "x.json", LIMITS)
    assert {table.file: plain(table) for table in found} == tables


def test_the_object_around_a_list_is_kept() -> None:
    assert one(b'{"question": "q", "hits": [{"a": 1}], "n": 2}', "x.json").outer == {"question": "q", "n": 2}


@pytest.mark.parametrize("name", ["x.json", "x.txt", "pasted", "x.jsonl"])
def test_what_a_text_is_its_content_says(name: str) -> None:
    assert plain(one(b'{"a": 1}\n{"a": 2}\n', name)) == [{"a": 1}, {"a": 2}]
    assert plain(one(b'[{"a": 1},\n{"a": 2}]', name)) == [{"a": 1}, {"a": 2}]
    if name in ("x.txt", "pasted"):
        assert plain(one(b"a\tb\n1\t2\n", name)) == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"  \n", "x.csv", "x.csv is empty"),
        (b"%PDF-1.7", "x.csv", "is a PDF: load documents with `ctxasm ingest`"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, "x.png", "x.png"),
        (b"not a table", "x.parquet", "is no Parquet file that can be read"),
        (b"\x1f\x8b\x08\x00", "x.json.gz", "is damaged"),
        (as_zip({"[Content_Types].xml": b"<x/>", "xl/workbook.xml": b"<x/>"}), "x.xlsx", "is an Office file: save a sheet as CSV"),
        (b"SQLite format 3\0", "x.db", "connect to it by its URL"),
    ],
)
def test_another_kind_of_file_gives_a_sentence(data: bytes, name: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        read_rows(data, name, LIMITS)
    assert "\n" not in str(caught.value)
