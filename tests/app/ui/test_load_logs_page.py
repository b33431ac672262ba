"""Logs on the Load page: questions shown as they would be loaded, corrected by a box, and put on the chunks of a dataset."""

from __future__ import annotations

import json

import pytest

from ctxasm.app.ui.frame import server
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import fine, html, opened
from tests.app.ui.test_load_dropped_files import box, drop, imported

QUESTION = "Wat kost parkeren?"


@pytest.fixture
def app(own_url):
    return fine(opened("load"))


def log(*texts: str, question: str = QUESTION) -> str:
    nodes = [{"node": {"text": text, "other": f"Iets anders {at}."}, "score": 1 / (1 + at)} for at, text in enumerate(texts)]
    return json.dumps({"input": {"ask": question}, "found": nodes}) + "\n"


def test_questions_are_shown_and_a_path_is_corrected(app):
    page = html(drop(app, log__jsonl=log("Parkeren kost twee euro.", "De balie is open.")))
    assert 'data-understood="questions with their hits, by its columns"' in page
    assert QUESTION in page
    assert "Parkeren kost twee euro." in page
    assert [box(app, field).value for field in ("query", "hits", "hits.text")] == ["input.ask", "found[*]", "node.text"]
    fine(box(app, "hits.text").set_value("node.other").run())
    assert "Iets anders 0." in html(app)
    fine(app.button(key="guess_again_0").click().run())
    assert imported(app).selectbox(key="dataset_name").value == "log"


def test_the_questions_of_a_log_go_to_the_chunks_of_a_dataset(app):
    sample = server.workbench().dataset("sample")
    chunk = next(iter(sample.iter_records()))
    drop(app, log__jsonl=log(chunk.text.replace(" ", "  "), "Dit staat er niet."))
    fine(app.selectbox(key="files_onto").set_value("sample").run())
    assert "1 of 2 retrieved chunks were found in dataset &#x27;sample&#x27;" in html(app)
    assert not [button for button in app.button if button.key == "load_files"]
    imported(app, "join_files")
    query = server.workbench().dataset("sample").queries()[-1]
    assert query.query == QUESTION
    assert [(hit.document_id, hit.chunk_index) for hit in query.retrieved] == [(chunk.document_id, chunk.chunk_index)]
    assert app.selectbox(key="query_id").value == query.query_id


def test_what_a_log_says_is_escaped(app):
    page = html(drop(app, log__jsonl=log(HOSTILE, question=HOSTILE)))
    assert "<script>" not in page.replace("<script>/*", "")
