"""The HTML that is drawn: addressable, escaped, complete."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import get_args

import pytest

from ctxasm.answering.prompts import Zone
from ctxasm.app.ui.ask.answer import context_cards, sources_html
from ctxasm.app.ui.ask.page import answer_html, zones_html
from ctxasm.app.ui.context_marks import MAX_RUNS, marked_phrase, runs, text_html
from ctxasm.app.ui.frame.session import KeptAnswer
from ctxasm.app.ui.inspect.budget import budget_table_html, regret_html, summaries_html, token_axis_html
from ctxasm.app.ui.inspect.budget_bar import budget_bar, budget_html
from ctxasm.app.ui.inspect.change import ledger, ledger_html
from ctxasm.app.ui.inspect.chunks import chunk_map, chunk_map_html
from ctxasm.app.ui.inspect.copies import Copy, copies_html, difference, difference_html, overlap_pairs, seams_html
from ctxasm.app.ui.inspect.order import block_order, bundles_html, citation_shift, grouping, order_html, shift_html
from ctxasm.app.ui.inspect.page import time_html
from ctxasm.app.ui.markup import Expected
from ctxasm.app.ui.words import LEFT_OUT, title_of
from ctxasm.citations.markers import parse_markers, resolve
from ctxasm.model.events import REASONS, Reason
from tests.app.ui.builders import HOSTILE, assembled, hostile

VOID = {"br", "hr", "img", "input"}


class Page(HTMLParser):
    """What a browser would make of it: elements, their attributes, the visible text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.open = "", list[str]()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def by_id(self, id: str) -> dict[str, str | None]:
        return next(attrs for _, attrs in self.tags if attrs.get("id") == id)


def drawn(assembly) -> dict[str, str]:
    told = KeptAnswer(HOSTILE, True, HOSTILE, (), True, error=HOSTILE)
    return {
        "budget": budget_html(assembly, HOSTILE),
        "text": text_html(assembly, HOSTILE),
        "strip": token_axis_html(assembly),
        "ledger": ledger_html(ledger(assembly)),
        "table": budget_table_html(budget_bar(assembly)),
        "regret": regret_html(assembly),
        "summaries": summaries_html(assembly),
        "time": time_html(assembly),
        "shift": shift_html(citation_shift(assembly)),
        "seams": seams_html(overlap_pairs(assembly), 20),
        "map": chunk_map_html(chunk_map(assembly), Expected()),
        "group": bundles_html(*grouping(assembly), "rank", "documents", HOSTILE),
        "order": order_html(block_order(assembly)),
        "answer": answer_html(told),
        "cards": sources_html(context_cards(assembly)),
        "phrase": marked_phrase(HOSTILE, "script"),
    }


@pytest.mark.parametrize("part", list(drawn(assembled())))
def test_hostile_text_stays_text(part):
    page = Page(drawn(hostile())[part])
    assert page.open == []
    assert not {"script", "img", "style"} & {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)


@pytest.mark.parametrize("part", list(drawn(assembled())))
def test_every_element_is_closed(part):
    assert Page(drawn(assembled())[part]).open == []


def test_hostile_text_arrives_whole():
    assert "<script>alert(1)</script>" in Page(drawn(hostile())["text"]).text
    assert ":red[x]" in Page(drawn(hostile())["text"]).text


def test_the_budget_bar_can_be_waited_for():
    done = assembled(limit=230)
    attrs = Page(budget_html(done, "stamp 1")).by_id("ctx-budget")
    assert (attrs["data-tokens"], attrs["data-limit"], attrs["data-stamp"]) == (str(done.token_count), "230", "stamp 1")


def test_the_bar_is_as_long_as_its_tokens():
    done = assembled(limit=230)
    page = Page(budget_html(done, ""))
    groups = [
        (a["data-document"], a["data-state"], float(a["style"].removeprefix("width:").split("%")[0]))
        for _, a in page.tags
        if a.get("class", "").split()[:1] == ["cx-group"]
    ]
    bar = budget_bar(done)
    limit = next(a for _, a in page.tags if a.get("class", "").startswith("cx-limit"))
    assert [(document, state) for document, state, _ in groups] == [(d.document_id, "kept" if d.kept else "dropped") for d in bar.documents]
    widths = [width for *_, width in groups]
    assert widths == pytest.approx([widths[0] * d.tokens / bar.documents[0].tokens for d in bar.documents], abs=0.02)
    assert limit["data-limit"] == "230"
    assert "needs" in page.text


def test_text_keeps_provenance():
    page = Page(text_html(assembled(), ""))
    chunks = [attrs for _, attrs in page.tags if attrs.get("class") == "cx-c"]
    assert {"data-added", "data-shared", "data-neutral"} <= {name for attrs in chunks for name in attrs}
    assert [attrs["id"] for _, attrs in page.tags if attrs.get("class") == "cx-card"] == ["ctx-block-1", "ctx-block-2", "ctx-block-3"]


@pytest.mark.parametrize(("format", "named"), [("numbered", True), ("xml", True), ("grouped", True), ("source", False), ("minimal", False)])
def test_a_card_shows_a_title_only_where_the_context_does_not_write_it(format, named):
    done = assembled(format=format)
    drawn = text_html(done, "")
    titles = [title_of(done.trace.documents, citation.document_id) for citation in done.citations]
    assert [attrs["aria-label"] for _, attrs in Page(drawn).tags if attrs.get("class") == "cx-card"] == titles
    assert [f"<b>{title}</b>" in drawn for title in titles] == [not named] * len(titles)


def test_many_runs_are_merged(monkeypatch):
    monkeypatch.setattr("ctxasm.app.ui.context_marks.MAX_RUNS", 5)
    done = assembled()
    coarse = runs(done)
    assert "".join(run.text for run in coarse) == done.text
    assert len(coarse) < MAX_RUNS
    assert {run.kind for run in coarse} <= {"plain", "prefix"}


def test_markers_become_chips_while_an_answer_comes_in():
    answer = "Van 14 uur [1]. Twee euro [2][99]. Samen [1-3]. Niets [3-1]."
    page = Page(answer_html(KeptAnswer("m", False, answer, resolve(parse_markers(answer), assembled().citations), True)))
    assert [attrs["data-marker"] for _, attrs in page.tags if "data-marker" in attrs] == ["1", "2", "1", "2", "3"]
    assert [attrs["data-unknown"] for _, attrs in page.tags if "data-unknown" in attrs] == ["99", ""]
    assert "[99] unknown" in page.text
    assert "[3-1] unreadable" in page.text


def test_an_unfinished_answer_shows_only_what_is_decided():
    assert "[1" not in Page(answer_html(KeptAnswer("m", False, "Van 14 uur [1"), decided=11)).text


def test_zones_are_drawn_to_scale():
    page = Page(zones_html([Zone("system", 25), Zone("history", 0), Zone("context", 75)]))
    assert page.by_id("ctx-zones")["data-tokens"] == "100"
    assert [attrs["data-zone"] for _, attrs in page.tags if "data-zone" in attrs] == ["system", "context"]
    assert "width:75.000%" in str(page.tags)


def test_copies_say_how_alike_they_are_and_escape_their_names():
    near = Copy((HOSTILE, 1), ("b", 2), False, "near", 0.97, superseded=True)
    found = Page(copies_html(hostile(), [near, Copy(("c", 3), ("b", 2), True)]))
    assert HOSTILE[:20] in found.text
    assert "nearly the same words 0.97" in found.text
    assert "older edition" in found.text
    assert "the same text" in found.text
    assert "came back" in found.text
    assert "script" not in {tag for tag, _ in found.tags}


def test_a_difference_marks_words_and_runs_none_of_them():
    copy = Copy((HOSTILE, 1), ("b", 2), False, "near", 0.9)
    page = Page(difference_html(hostile(), copy, difference(f"open van 8 uur {HOSTILE}", f"open van 9 uur {HOSTILE}")))
    assert page.open == []
    assert not {"script", "img", "style"} & {tag for tag, _ in page.tags}
    assert [tag for tag, _ in page.tags if tag in ("del", "mark")] == ["del", "mark"]


def test_a_drop_has_words_for_every_reason():
    assert set(LEFT_OUT) == set(REASONS) == set(get_args(Reason))
