"""A team's own tables on the Load page: a SQLite file that the environment names."""

from __future__ import annotations

import json
import sqlite3

import pytest
from streamlit.runtime.caching import cache_resource
from streamlit.testing.v1 import AppTest

from ctxasm.app.ui.frame import server
from ctxasm.data.tables.connecting import forget_mapping, mappings
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import datasets, fine, html, opened


@pytest.fixture
def team(tmp_path):
    path = tmp_path / "team.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE pages (id TEXT PRIMARY KEY, page_title TEXT, url TEXT)")
        base.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, page_id TEXT, chunk_index INTEGER, content TEXT, metadata TEXT)")
        base.execute(f'CREATE TABLE "{HOSTILE.replace(chr(34), "")}" (a TEXT)')
        base.executemany("INSERT INTO pages VALUES (?, ?, ?)", [(f"p{n}", f"Pagina {n}", HOSTILE) for n in range(3)])
        rows = [(f"p{n // 5}", n % 5, f"Parkeren {n} {HOSTILE}", json.dumps({"page_number": n, "zaal": {"naam": "A"}})) for n in range(15)]
        base.executemany("INSERT INTO chunks (page_id, chunk_index, content, metadata) VALUES (?, ?, ?, ?)", rows)
    base.close()
    return path


def open_tables(monkeypatch, **connections: str) -> AppTest:
    for name, url in connections.items():
        monkeypatch.setenv(f"CTXASM_CONNECTION_{name}", url)
    app = opened("load")
    app.session_state["way"] = "Your tables"
    return fine(app.run())


@pytest.fixture
def app(own_url, monkeypatch, team):
    app = open_tables(monkeypatch, TEAM=f"sqlite:///{team}")
    return pick(app, "chunks")


def pick(app: AppTest, table: str) -> AppTest:
    tables = next(box for box in app.selectbox if str(box.key).startswith("_table/"))
    at = next(at for at, label in enumerate(tables.options) if str(label).startswith(table))
    return fine(tables.set_value(at).run())


def box(app: AppTest, field: str) -> object:
    return next(box for box in app.selectbox if str(box.key).startswith("_chunks/") and str(box.key).endswith(f"/{field}"))


def test_without_a_connection_the_way_to_one_is_shown(own_url, monkeypatch):
    app = open_tables(monkeypatch)
    assert "No connection is configured" in html(app)
    assert "[connections." in app.code[0].value


def test_a_table_is_mapped_by_a_guess_and_checked(app):
    assert (box(app, "document_id").value, box(app, "text").value) == ("page_id", "content")
    page = html(app)
    assert 'data-usable="15"' in page
    assert "no index on (document_id, chunk_index)" in page
    assert any(code.value.startswith("CREATE INDEX") for code in app.code)


def test_a_place_inside_json_can_be_chosen(app):
    assert "metadata->'zaal'->>'naam'" in box(app, "text").options
    fine(box(app, "page_number").set_value("metadata->>'page_number'").run())
    assert 'data-usable="15"' in html(app)


def test_linked_it_is_a_dataset_that_can_be_asked(app):
    fine(app.button(key="load_linked").click().run())
    assert 'data-kind="linked"' in html(app)
    assert app.selectbox(key="dataset_name").value == "chunks"
    app.text_input(key="_question").set_value("Wat kost parkeren?")
    fine(app.button(key="search_question").click().run())
    fine(app.button(key="save_question").click().run())
    assert app.session_state["scene"].query.retrieved


@pytest.mark.parametrize("asked", [{}, {"ask": "Wat kost parkeren?"}])
def test_of_a_linked_database_that_is_gone_the_page_says_so(app, team, asked):
    fine(app.button(key="load_linked").click().run())
    team.unlink()
    cache_resource.clear()
    page = html(fine(opened(data="chunks", **asked)))
    assert 'id="ctx-error"' in page
    assert "Dataset chunks cannot be read" in page
    assert "no questions yet" not in page


def test_unlinking_says_that_the_table_stays(app):
    fine(app.button(key="load_linked").click().run())
    confirm = next(button for button in app.button if str(button.key).startswith("confirm_-"))
    assert "The tables themselves stay" in html(app)
    fine(confirm.click().run())
    assert datasets(app) == ["sample"]


def test_rows_can_be_copied(app):
    fine(app.number_input(key="copy_rows").set_value(10).run())
    fine(app.button(key="load_copy").click().run())
    assert server.workbench().dataset("chunks").info.chunks == 10


def test_the_sql_and_its_plan_are_shown(app):
    app.session_state["table_sql"] = True
    fine(app.run())
    assert any("SELECT" in code.value and "content" in code.value for code in app.code)
    fine(app.button(key="table_explain").click().run())
    assert any(code.value.startswith(("SCAN", "SEARCH")) for code in app.code)


def test_a_mapping_is_kept_under_a_name(app):
    fine(box(app, "text").set_value("metadata").run())
    app.text_input(key="mapping_name").set_value("mijn").run()
    fine(app.button(key="save_mapping").click().run())
    fine(app.button(key="table_guess").click().run())
    assert box(app, "text").value == "content"
    fine(app.button(key="use_mapping_0").click().run())
    assert box(app, "text").value == "metadata"


def test_a_kept_mapping_can_be_forgotten(app):
    for name in ("eerste", "tweede"):
        app.text_input(key="mapping_name").set_value(name).run()
        fine(app.button(key="save_mapping").click().run())
    forget_mapping(server.workbench(), "eerste")  # in another tab, while this page still shows it
    fine(app.button(key="forget_mapping_0").click().run())
    assert app.button(key="use_mapping_0").label == "Use tweede"
    fine(app.button(key="forget_mapping_0").click().run())
    assert mappings(server.workbench()) == {}
    assert "use_mapping_0" not in {button.key for button in app.button}


def test_what_is_lacking_is_said(app):
    fine(box(app, "text").set_value("").run())
    assert "Choose a column for text." in html(app)
    assert "load_linked" not in {button.key for button in app.button}


def test_a_hostile_table_stays_text(app):
    page = html(pick(app, "<script"))
    assert "<script" not in page
    assert "<img" not in page


def test_a_connection_that_fails_is_said_without_its_password(own_url, monkeypatch):
    app = open_tables(monkeypatch, DOWN="postgresql://reader:geheim-woord@127.0.0.1:1/name")
    page = html(app)
    assert 'id="ctx-error"' in page
    assert "geheim" not in page


def test_without_a_chunk_index_rows_are_counted_and_only_copied(app):
    assert "order_by" in {str(each.key).rsplit("/", 1)[1] for each in app.selectbox if str(each.key).startswith("_chunks/")}
    fine(box(app, "order_by").set_value("metadata->>'page_number'").run())
    assert (box(app, "chunk_index").value, box(app, "order_by").value) == ("", "metadata->>'page_number'")
    assert box(app, "order_by").label == "no chunk_index: count rows by"
    assert box(app, "chunk_index").label == "chunk_index"
    page = html(app)
    assert 'data-usable="15"' in page
    assert "counts the rows of each document by metadata" in page
    assert "load_linked" not in {button.key for button in app.button}
    fine(app.button(key="load_copy").click().run())
    assert [chunk.chunk_index for chunk in server.workbench().document_chunks("p1", "chunks")] == [0, 1, 2, 3, 4]
    fine(box(app, "chunk_index").set_value("chunk_index").run())
    assert box(app, "order_by").value == ""
    assert "load_linked" in {button.key for button in app.button}


def test_neither_an_index_nor_an_order_is_said(app):
    fine(box(app, "chunk_index").set_value("").run())
    assert "Choose a column for chunk_index, or what its rows are counted by." in html(app)
