"""The pictures as HTML: every candidate has its mark, seams show both sides, a click names its chunk."""

from __future__ import annotations

import json

import pytest

from ctxasm.app.ui.frame.clicks import said_clicks
from ctxasm.app.ui.inspect.deduplicate import overlap_pairs, seams_html
from ctxasm.app.ui.inspect.expand import chunk_map, chunk_map_html
from ctxasm.app.ui.widgets.chunk_clicks import pick_of, picked_key, picked_text
from ctxasm.app.ui.widgets.expected import Expected
from tests.app.ui.builders import HOSTILE, assembled
from tests.app.ui.test_html import Page


def test_the_map_has_a_square_for_every_candidate_that_names_it():
    done = assembled()
    page = Page(chunk_map_html(chunk_map(done), Expected()))
    cells = {tuple(json.loads(attrs["data-pick"])): attrs for tag, attrs in page.tags if tag == "button"}
    assert sorted(cells) == sorted((f.document_id, f.chunk_index) for f in done.trace.fates)
    for fate in done.trace.fates:
        look = cells[fate.document_id, fate.chunk_index]["class"]
        assert ("k-retrieved" in look) is fate.retrieved
    assert any("score 0.45" in attrs["title"] for attrs in cells.values())


def test_a_break_stands_where_a_document_goes_on_unread():
    page = Page(chunk_map_html(chunk_map(assembled()), Expected()))
    titles = [attrs.get("title", "") for _, attrs in page.tags if attrs.get("class") == "cx-break"]
    assert any("not read" in title for title in titles)


def test_seams_show_what_both_sides_share_and_near_misses_come_first():
    drawn = seams_html(overlap_pairs(assembled(offsets=False, min_overlap_chars=100)), 100)
    page = Page(drawn)
    verdicts = [attrs["data-verdict"] for _, attrs in page.tags if "data-verdict" in attrs]
    assert verdicts == sorted(verdicts, key=["below", "none"].index)
    assert "near miss, kept" in page.text
    assert "<del>" not in drawn
    assert "<del>" in seams_html(overlap_pairs(assembled()), 20)


def test_a_click_names_its_chunk_whatever_it_is_called():
    attributes = dict(Page(f"<i {pick_of((HOSTILE, 3))}></i>").tags[0][1])
    assert picked_key(attributes["data-pick"]) == (HOSTILE, 3)
    for said in ("", "{", "[1]", '["a"]', '["a", "b"]', "1", "[" * 100_000):
        assert picked_key(said) is None
        assert picked_text(said) is None


@pytest.mark.parametrize("picked", [None, 7, "ab", [1], [[1]], [[1, 5]], [["1", "a"]], [[True, "a"]], [None], {"1": "a"}])
def test_only_what_a_page_can_say_is_heard(picked):
    assert said_clicks(picked) == []


def test_clicks_are_heard_in_their_order():
    assert said_clicks([[1, "a"], [2], [3, "b"]]) == [(1, "a"), (3, "b")]
