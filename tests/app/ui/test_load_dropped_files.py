"""Files and pasted text on the Load page: recognised or mapped, looked at, imported whole or in part."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from ctxasm.app.ui.frame import server
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import fine, html, kept, opened

ROWS = ("doc;nr;tekst", "gids;0;De receptie is elke dag open van 8 tot 20 uur.", "gids;1;Parkeren kost twee euro per uur.")
LANGCHAIN = [
    {"page_content": "De receptie is elke dag open.", "metadata": {"source": "gids.pdf", "page": 0}, "type": "Document"},
    {"page_content": "Parkeren kost twee euro per uur.", "metadata": {"source": "gids.pdf", "page": 1}, "type": "Document"},
]


@pytest.fixture
def app(own_url):
    return fine(opened("load"))


def drop(app: AppTest, **files: str) -> AppTest:
    """Drop files; the names have two underscores for the dot."""
    turn = kept(app, "files_generation")
    given = [(name.replace("__", "."), text.encode(), "text/plain") for name, text in files.items()]
    return fine(app.file_uploader(key=f"files_{turn}").set_value(given).run())


def csv(*more: str) -> str:
    return "\n".join((*ROWS, *more)) + "\n"


def box(app: AppTest, field: str) -> object:
    return next(box for box in app.selectbox if str(box.key).startswith("_map/") and str(box.key).endswith(f"/{field}"))


def imported(app: AppTest, key: str = "load_files") -> AppTest:
    return fine(app.button(key=key).click().run())


def test_a_table_is_understood_by_its_columns_and_imported(app):
    page = html(drop(app, gids__csv=csv()))
    assert 'data-understood="chunks, by its columns"' in page
    assert "semicolon" in page
    assert "→ text" in page
    assert box(app, "text").value == "tekst"
    assert imported(app).selectbox(key="dataset_name").value == "gids"
    assert "2 chunks" in html(app)
    assert "cx-file" not in html(app).split('id="ctx-report"')[0].split("<style")[0]


def test_a_recognised_shape_is_named_and_needs_no_mapping(app):
    page = html(drop(app, dump__json=json.dumps(LANGCHAIN)))
    assert "LangChain" in page
    assert not [one for one in app.selectbox if str(one.key).startswith("_map/")]
    assert imported(app).selectbox(key="dataset_name").value == "dump"


def test_a_column_can_be_chosen_and_the_guess_comes_back(app):
    drop(app, gids__csv=csv())
    assert box(app, "title").value == ""
    fine(box(app, "title").set_value("nr").run())
    assert 'data-understood="mapped by you"' in html(app)
    assert "→ title" in html(app)
    fine(app.button(key="guess_again_0").click().run())
    assert 'data-understood="chunks, by its columns"' in html(app)
    assert box(app, "title").value == ""


def test_without_a_needed_column_nothing_can_be_imported(app):
    drop(app, gids__csv=csv())
    fine(box(app, "text").set_value("").run())
    assert "Choose a column for text" in html(app)
    assert app.button(key="load_files").disabled
    fine(box(app, "text").set_value("tekst").run())
    assert not app.button(key="load_files").disabled


def test_a_table_that_nobody_understands_is_mapped_by_hand(app):
    page = html(drop(app, raar__csv="a;b\n1;2\n3;4\n"))
    assert 'data-understood="not understood"' in page
    fine(box(app, "text").set_value("b").run())
    fine(box(app, "document_id").set_value("a").run())
    assert imported(app).selectbox(key="dataset_name").value == "raar"


def test_problems_are_all_listed_and_the_valid_part_only_on_request(app):
    page = html(drop(app, gids__csv=csv("gids;2;", "gids;3;", "park;0;Een goede rij die blijft.")))
    assert 'id="ctx-problems"' in page
    assert page.count("is missing") == 2
    assert app.button(key="load_files").disabled
    button = app.button(key="load_valid")
    assert button.label == "Import the valid part only (3 of 5 rows)"
    assert "left out 2 rows with a problem" in page
    fine(button.click().run())
    assert server.workbench().dataset("gids").info.chunks == 3
    assert "left out 2 rows" in html(app)


def test_a_file_without_problems_offers_no_part(app):
    drop(app, gids__csv=csv())
    assert "load_valid" not in {button.key for button in app.button}


def test_pasted_text_is_taken_as_it_is(app):
    app.text_area(key="pasted").set_value('{"document_id": "a", "chunk_index": 0, "text": "Geplakt."}\n').run()
    page = html(fine(app.button(key="take_pasted").click().run()))
    assert "pasted.txt" in page
    app.text_input(key="files_name").set_value("geplakt").run()
    assert imported(app).selectbox(key="dataset_name").value == "geplakt"


def test_files_stay_when_another_tab_is_looked_at(app):
    drop(app, gids__csv=csv())
    app.session_state["way"] = "Sample"
    assert "cx-file" not in [element.proto.body for element in fine(app.run()).get("html")]
    app.session_state["way"] = "Files & paste"
    assert 'data-file="gids.csv"' in html(fine(app.run()))
    fine(app.button(key="start_over").click().run())
    assert 'data-file="gids.csv"' not in html(app)


def test_several_files_are_one_dataset(app):
    queries = '{"query_id": "q", "query": "Wat kost parkeren?"}\n'
    drop(app, gids__csv=csv(), queries__jsonl=queries)
    imported(app)
    info = server.workbench().dataset("gids").info
    assert (info.chunks, info.queries) == (2, 1)


def test_a_file_that_is_no_table_is_refused_in_a_sentence(app):
    page = html(drop(app, foto__json="\x89PNG not json"))
    assert "ctx-error" in page or "ctx-problems" in page


@pytest.mark.parametrize("name", [HOSTILE.replace("/", "-") + "__csv", "gids__csv"])
def test_hostile_names_columns_and_values_stay_text(app, name):
    hostile = HOSTILE.replace('"', "")
    rows = f'"doc";"{hostile}";tekst\n"{hostile}";x;"{hostile} lang genoeg"\na;b;\n'
    page = html(drop(app, **{name: rows}))
    assert "<script" not in page
    assert "<img" not in page
    fine(app.button(key="load_valid").click().run())
    assert "<script" not in html(app)


def test_what_is_dropped_or_pasted_together_is_all_there(app):
    turn, line = kept(app, "files_generation"), '{"document_id": "%s", "chunk_index": 0, "text": "Tekst %s."}\n'
    given = [("data.jsonl", (line % (name, name)).encode(), "text/plain") for name in "ab"]
    fine(app.file_uploader(key=f"files_{turn}").set_value(given).run())
    for name in "cd":
        app.text_area(key="pasted").set_value(line % (name, name)).run()
        fine(app.button(key="take_pasted").click().run())
    assert [name for name, _ in app.session_state["files"]] == ["data.jsonl", "data (2).jsonl", "pasted.txt", "pasted (2).txt"]
    assert "4 documents, 4 chunks: all or nothing." in html(app)
    repaired = (line % ("e", "e")).encode()
    fine(app.file_uploader(key=f"files_{turn + 1}").set_value([("data.jsonl", repaired, "text/plain")]).run())
    assert dict(app.session_state["files"])["data.jsonl"] == repaired
