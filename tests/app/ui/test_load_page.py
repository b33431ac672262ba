"""The Load page: a good bundle, a bad one, delete with confirmation."""

from __future__ import annotations

import json
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from ctxasm.model.presets import PRESET_HELP, RECOMMENDED, preset
from ctxasm.model.settings import AssemblySettings
from tests.app.ui.pages import datasets, opened

GOOD = {
    "documents.jsonl": [{"document_id": "a", "title": "A"}],
    "chunks.jsonl": [{"document_id": "a", "chunk_index": 0, "text": "Bezoek van 14 tot 20 uur."}],
    "queries.jsonl": [{"query_id": "q1", "query": "Hoe laat?"}],
    "retrievals.jsonl": [{"query_id": "q1", "retrieved": [{"document_id": "a", "chunk_index": 0, "score": 1}]}],
}


@pytest.fixture
def app(own_url):
    return opened("load")


def html(app: AppTest) -> str:
    assert [error.value for error in app.exception] == []
    return "\n".join(element.proto.body for element in app.get("html"))


def uploaded(app: AppTest, files: dict[str, list[dict]]) -> AppTest:
    packed = [(name, "".join(json.dumps(line) + "\n" for line in lines).encode(), "application/json") for name, lines in files.items()]
    app.file_uploader(key="files_0").set_value(packed).run()
    app.text_input(key="files_name").set_value("mine").run()
    button = app.button(key="load_files")
    return app if button.disabled else button.click().run()


def test_a_bundle_of_several_files_is_loaded_and_opened(app):
    page = html(uploaded(app, GOOD))
    assert 'id="ctx-report"' in page
    assert "mine: 1 document, 1 chunk, 1 query" in page
    assert app.selectbox(key="dataset_name").value == "mine"


def test_data_of_ones_own_is_begun_with_the_recommended_choice_in_one_click(app):
    assert "take_recommended" not in {button.key for button in app.button}
    page = html(uploaded(app, GOOD))
    button = app.button(key="take_recommended")
    assert button.label == "Begin with recommended"
    assert PRESET_HELP[RECOMMENDED] in unescape(page)
    button.click().run()
    assert "The recommended choice is in use" in html(app)
    assert app.session_state["now"] == preset(RECOMMENDED)
    assert app.session_state["past"] == [AssemblySettings()]


def test_problems_are_listed_and_nothing_changes(app):
    bad = {**GOOD, "chunks.jsonl": [{"document_id": "a", "chunk_index": -1, "text": "x"}, {"document_id": "a", "chunk_index": 0}]}
    page = html(uploaded(app, bad))
    assert 'id="ctx-problems"' in page
    assert "chunks.jsonl" in page
    assert "Nothing can be imported as a whole" in page
    assert datasets(app) == ["sample"]


def test_delete_asks_first(app):
    uploaded(app, GOOD)
    assert "mine" in datasets(app)
    button = app.button(key=_confirm(app))
    button.click().run()
    html(app)
    assert datasets(app) == ["sample"]


def _confirm(app: AppTest) -> str:
    """The key of the delete button of the newest dataset: ids only grow."""
    return max((b.key for b in app.button if b.key.startswith("confirm_")), key=lambda key: int(key.removeprefix("confirm_")))


def test_the_name_of_a_dataset_opens_it(app):
    uploaded(app, GOOD)
    app.selectbox(key="dataset_name").set_value("sample").run()
    app.selectbox(key="query_id").set_value("dog-visit").run()
    (name,) = [button for button in app.button if button.key.startswith("open_") and button.label == "**mine**"]
    name.click().run()
    html(app)
    assert app.selectbox(key="dataset_name").value == "mine"
    assert app.selectbox(key="query_id").value == "q1"
    assert "Open in Inspect" in [link.proto.label for link in app.get("page_link")]


def test_the_name_of_a_dataset_is_text_and_no_markup(app):
    app.file_uploader(key="files_0").set_value(
        [("chunks.jsonl", b'{"document_id":"a","chunk_index":0,"text":"x"}\n', "application/json")]
    ).run()
    app.text_input(key="files_name").set_value(":red[x] **y** [z](http://z.example)").run()
    app.button(key="load_files").click().run()
    html(app)
    labels = [button.label for button in app.button if button.key.startswith("open_")]
    assert r"**\:red\[x\] \*\*y\*\* \[z\]\(http\:\/\/z\.example\)**" in labels
