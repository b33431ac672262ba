"""Typed questions: searched for, shown, saved, deleted, and part of a link."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from ctxasm.app.ui.frame.jobs import Job
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.progress import Progress
from ctxasm.model.records import Bundle, Chunk, Document
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import fine, html, opened, problems

QUESTION = "Mag ik parkeren bij het ziekenhuis?"


@pytest.fixture
def url(own_url):
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": own_url}))
    chunks = tuple(Chunk("gids", n, text) for n, text in enumerate(("Parkeren kost 2 euro.", "Bezoek van 14 tot 20 uur.", HOSTILE)))
    bench.store.add(Bundle("stil", (Document("gids", "Gids"),), chunks))
    bench.close()
    return own_url


@pytest.fixture
def open_app(url):
    return lambda **address: fine(opened(**address))


def ask(app: AppTest, question: str, key: str = "question") -> AppTest:
    app.text_input(key=f"_{key}").set_value(question)
    return fine(app.button(key=f"search_{key}").click().run())


def address(app: AppTest) -> dict[str, list[str]]:
    return {key: value if isinstance(value, list) else [value] for key, value in app.query_params.items()}


def test_a_question_that_is_too_long_is_refused_with_its_length(open_app):
    app = ask(open_app(), "z" * 1001)
    assert "at most 1,000 characters, this one 1,001: shorten it" in html(app)
    assert "ask" not in address(app)
    assert app.text_input(key="_question").value == "z" * 1001
    assert "shorten it" not in html(ask(app, "z" * 1000))


def test_a_typed_question_becomes_the_query_of_the_page(open_app):
    app = ask(open_app(), QUESTION)
    page = html(app)
    assert QUESTION in page
    assert "typed question" in page
    assert ">not saved</span>" in page
    app.session_state["_step"] = "found"
    assert "by words (BM25)" in html(fine(app.run()))
    assert 'id="ctx-budget"' in page
    assert (address(app)["ask"], "q" in address(app)) == ([QUESTION], False)
    assert "not saved" in app.selectbox(key="q").format_func(app.selectbox(key="q").value)


def test_the_link_of_an_unsaved_question_searches_again(open_app):
    first = ask(open_app(data="stil", qm="bm25"), "Bezoek?")
    given = {key: value[0] for key, value in address(first).items()}
    assert given["qm"] == "bm25"
    again = open_app(**given)
    assert "Bezoek?" in html(again)
    assert again.session_state["_scene"].query.retrieved == first.session_state["_scene"].query.retrieved
    assert again.session_state["_scene"].query.search_method == "bm25_only"


def test_a_saved_question_has_an_id_of_its_own_in_the_link_and_outlives_the_session(open_app):
    app = ask(open_app(data="stil"), QUESTION)
    fine(app.button(key="save_question").click().run())
    assert "ask" not in address(app)
    (query_id,) = address(app)["q"]
    assert query_id.startswith("typed-")
    assert ">not saved</span>" not in html(app)
    again = open_app(data="stil", q=query_id)
    assert QUESTION in html(again)
    assert "save_question" not in {button.key for button in again.button}


def test_a_saved_question_typed_again_is_the_saved_one(open_app):
    app = ask(open_app(data="stil"), QUESTION)
    fine(app.button(key="save_question").click().run())
    app = ask(app, QUESTION)
    assert ">not saved</span>" not in html(app)
    assert "delete_question" in {button.key for button in app.button}
    fine(app.button_group(key="qm").set_value("bm25").run())
    app = ask(app, QUESTION)
    assert ">not saved</span>" in html(app)
    assert "saved before with other found chunks: saving replaces it" in html(app)
    fine(app.button(key="save_question").click().run())
    assert "saved before" not in html(app)
    assert 'title="1 question; ' in html(app)


def test_a_saved_question_is_counted_among_the_queries(open_app):
    app = ask(open_app(data="stil"), QUESTION)
    assert 'title="0 questions; ' in html(app)
    assert 'title="1 question; ' in html(fine(app.button(key="save_question").click().run()))


def test_a_saved_question_can_be_deleted_and_saved_again(open_app):
    app = ask(open_app(data="stil"), QUESTION)
    fine(app.button(key="save_question").click().run())
    fine(app.button(key="delete_question").click().run())
    assert QUESTION in html(app)
    assert ">not saved</span>" in html(app)
    assert "No questions yet" in html(open_app(data="stil"))
    fine(app.button(key="save_question").click().run())
    assert "No questions yet" not in html(open_app(data="stil"))


def test_queries_that_came_with_the_data_cannot_be_deleted(open_app):
    keys = {button.key for button in open_app().button}
    assert "delete_question" not in keys
    assert "save_question" not in keys


@pytest.mark.parametrize("page", ["inspect", "ask"])
def test_a_dataset_without_queries_asks_for_one(open_app, page):
    app = open_app(data="stil")
    fine(app.switch_page(f"../../../pages/{page}.py").run())
    assert "no questions yet" in html(app)
    app = ask(app, "Wat kost parkeren?", "question_here")
    assert "Wat kost parkeren?" in html(app)
    assert "no questions yet" not in html(app)


def test_a_question_asked_on_load_goes_to_inspect(open_app):
    app = open_app()
    fine(app.switch_page("../../../pages/load.py").run())
    app = ask(app, QUESTION)
    assert [link.proto.label for link in app.get("page_link")] == ["Open in Inspect"]
    assert app.session_state["_scene"].query.query == QUESTION
    fine(app.run())
    assert not app.get("page_link")


def test_another_query_and_back(open_app):
    app = ask(open_app(), QUESTION)
    fine(app.button(key="next_query").click().run())
    assert "ask" not in address(app)
    fine(app.button(key="previous_query").click().run())
    assert address(app)["ask"] == [QUESTION]


@pytest.mark.parametrize("question", ["", "   \n "])
def test_a_blank_question_is_said(open_app, question):
    app = ask(open_app(), question)
    assert "Type a question first." in html(app)


def test_what_cannot_be_searched_for_is_said_in_a_sentence(open_app):
    app = ask(open_app(data="stil", qx="enriched"), QUESTION)
    assert any("enriched" in problem for problem in problems(app))
    assert "no questions yet" in html(app)
    fine(app.button_group(key="qx").set_value("raw").run())
    app = ask(app, QUESTION)
    assert problems(app) == []


def test_what_cannot_be_had_here_is_said_where_it_is_chosen(open_app):
    app = open_app(data="stil")
    app.session_state["search_options"] = True
    assert "enriched: dataset stil is not enriched" in html(fine(app.run()))
    app = ask(open_app(data="stil", qr="cross-encoder"), QUESTION)
    assert len(problems(app)) == 1
    assert app.session_state["_asked_for"] == {}


def test_a_hostile_question_stays_text(open_app):
    page = html(ask(open_app(data="stil"), HOSTILE))
    assert "<script" not in page
    assert "<img" not in page


def test_ranks_under_each_method_are_shown(open_app):
    app = ask(open_app(), QUESTION)
    app.session_state["_drawer"] = "details"
    app.run()
    best = app.session_state["_scene"].query.retrieved[0]
    app.selectbox(key="_life").set_value(f"{best.document_id} #{best.chunk_index}")
    assert re.search(r"BM25 rank \d+ \([\d.]+\) · vector rank \d+", html(fine(app.run())))


def test_a_search_that_takes_long_shows_how_far_it_is_and_can_be_cancelled(open_app, monkeypatch):
    import ctxasm.retrieval.searching as searching
    from ctxasm.app.ui.frame import work
    from ctxasm.retrieval.indexes import stop_if

    jobs = []

    class Seen(Job):
        def __init__(self, *given: str) -> None:
            super().__init__(*given)
            jobs.append(self)

    def endless(workbench, question, dataset, options, report, cancelled):
        for done in range(1000):
            report(Progress(done, 1000, "reading chunks", done / 100))
            stop_if(cancelled)
            time.sleep(0.01)
            if done == 20:
                jobs[0].cancel()
        raise AssertionError("not cancelled")

    app = open_app(data="stil")
    monkeypatch.setattr(searching, "search", endless)
    monkeypatch.setattr(work, "Job", Seen)
    monkeypatch.setattr(work, "UNSEEN_S", 0.01)
    app = ask(app, QUESTION)
    assert any("stopped on request" in problem for problem in problems(app))
    assert "no questions yet" in html(app)


def test_the_copied_link_carries_the_question(open_app):
    app = ask(open_app(data="stil", qn="5"), QUESTION)
    links = [json.loads(e.proto.json or "{}").get("query") for e in app.get("bidi_component")]
    (link,) = [link for link in links if link]
    assert parse_qs(link) == {"data": ["stil"], "ask": [QUESTION], "qn": ["5"]}


def test_a_question_that_came_back_with_an_export_is_not_offered_for_deletion(open_app, url):
    app = ask(open_app(data="stil"), QUESTION)
    query_id = app.selectbox(key="q").value
    fine(app.button(key="save_question").click().run())
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": url}))
    bundle, queries = bench.store.dataset("stil").bundle(), tuple(bench.dataset("stil").queries())
    assert any(button.key == "delete_question" for button in open_app(data="stil", q=query_id).button)
    bench.store.add(replace(bundle, queries=queries))
    bench.close()
    again = open_app(data="stil", q=query_id)
    assert QUESTION in html(again)
    assert not any(button.key == "delete_question" for button in again.button)
