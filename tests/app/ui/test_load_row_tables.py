"""The tables of the Load page: nothing of a file is markup, nothing of it is a formula, and no problem is lost."""

from __future__ import annotations

import csv
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.ui.load.jobs import HEADS, MOST_COLUMNS, MOST_PROBLEMS, cell_text, preview_html, problem_row, problems_csv, problems_html
from ctxasm.app.ui.words import MOST_CELL, plain
from ctxasm.data.files.problems import Problem
from ctxasm.model.characters import FORMULA
from tests.app.ui.builders import HOSTILE

TAGS = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "code", "span", "p"}
texts = st.text(max_size=60) | st.just(HOSTILE) | st.sampled_from(["=1+1", "@x", "</td><script>", "\x00", "\ud800"])
values = st.recursive(
    texts | st.none() | st.booleans() | st.integers() | st.floats(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
problems = st.builds(Problem, texts, st.none() | st.integers(1, 10**6), texts, texts, st.none() | texts)


def tags(markup: str) -> set[str]:
    return {name.lower() for name in re.findall(r"<\s*/?\s*([a-zA-Z!?]+)", markup)}


@given(st.lists(st.dictionaries(texts, values, max_size=4), max_size=4), st.data())
def test_a_preview_holds_nothing_of_a_file_as_markup(rows, data):
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    used = dict.fromkeys(columns[: data.draw(st.integers(0, 4))], "text")
    assert tags(preview_html(columns, enumerate(rows, 1), used, HOSTILE)) <= TAGS


@given(st.lists(problems, max_size=6))
def test_problems_hold_nothing_of_a_file_as_markup_and_every_one_is_in_the_csv(found):
    assert tags(problems_html(found)) <= TAGS
    head, *rows = csv.reader(io.StringIO(problems_csv(found).replace("\r\n", "\n").replace("\x00", "")))
    assert tuple(head) == HEADS
    assert len(rows) >= len(found)
    assert not any(cell.startswith(FORMULA) for cell in rows[0]) if rows else True


@given(values)
def test_a_cell_is_one_short_line(value):
    text = cell_text(value)
    assert len(text) <= MOST_CELL
    assert "\n" not in text


@given(texts)
def test_a_plain_label_holds_no_sign_of_markdown(text):
    label = plain(text)
    assert re.sub(r"\\(.)", r"\1", label) == " ".join(text.split())
    assert not re.search(r"(?<!\\)(?:\\\\)*[\[\]!*_`$:<>#]", label)


def test_columns_that_are_used_come_first_and_the_rest_is_counted():
    columns = [f"c{n}" for n in range(MOST_COLUMNS + 5)]
    page = preview_html(columns, [(7, dict.fromkeys(columns, "x"))], {columns[-1]: "text"}, "f.csv")
    assert page.index(columns[-1]) < page.index("c0")
    assert "5 more columns" in page
    assert ">7</td>" in page


def test_absent_and_empty_are_told_apart():
    page = preview_html(("a",), [(1, {"a": ""}), (2, {})], {}, "f")
    assert page.count("cx-absent") == 1


def test_more_problems_than_the_table_shows_are_counted():
    found = [Problem("f.csv", n, "text", "is missing") for n in range(MOST_PROBLEMS + 3)]
    assert "… and 3 more" in problems_html(found)
    assert len(problems_csv(found).splitlines()) == len(found) + 1


def test_a_problem_that_is_only_a_sentence():
    assert problem_row("broken") == ("", "", "", "broken", "")
