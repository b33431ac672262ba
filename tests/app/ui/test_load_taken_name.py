"""A name that is taken, on the Load page: asked first, with what would go; added to, replaced, or another name."""

from __future__ import annotations

import json
import sqlite3

import pytest
from streamlit.testing.v1 import AppTest

from ctxasm.app.ui.frame import server
from ctxasm.data.files.loading import load_files
from ctxasm.model.records import Query
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import at, fine, html, opened
from tests.app.ui.test_load_dropped_files import app, csv, drop, imported  # noqa: F401 (app is a fixture)


def choose(app: AppTest, said: str, name: str = "gids") -> AppTest:  # noqa: F811
    return fine(app.button_group(key=f"_over/{name}").set_value(said).run())


@pytest.fixture
def gids(own_url):
    """The page with a dataset of two chunks, and a saved question."""
    bench = server.workbench()
    load_files(bench, [("gids.csv", csv().encode())], "gids")
    bench.store.save_query("gids", Query("Bewaard?", (), "mine"))
    return fine(opened("load"))


def counts(name: str = "gids") -> tuple[int, int, int]:
    info = server.workbench().store.dataset(name).info
    return info.documents, info.chunks, info.queries


def test_the_same_again_asks_nothing(gids):
    page = html(drop(gids, gids__csv=csv()))
    assert "ctx-taken" not in page
    imported(gids)
    assert "already loaded, nothing changed" in html(gids)


def test_other_content_asks_first_and_says_what_would_go(gids):
    page = html(drop(gids, gids__csv=csv("gids;2;De apotheek is open.")))
    assert 'id="ctx-taken"' in page
    assert "Replacing it takes away <b>1 document, 2 chunks</b>. 1 saved question would stay." in page
    assert gids.button(key="load_files").disabled
    assert counts() == (1, 2, 0)
    choose(gids, "Replace it")
    assert gids.button(key="load_files").label == "Replace"
    imported(gids)
    assert counts() == (1, 3, 0)
    assert "replaced the dataset gids that was there (2 chunks)" in html(gids)
    assert "ctx-taken" in html(drop(gids, gids__csv=csv()))
    assert gids.button(key="load_files").disabled


def test_a_trace_that_an_earlier_version_loaded_is_told_from_other_content(app):  # noqa: F811
    text = "Een dag aan de kade kost twaalf euro."
    line = {"question": "Wat kost de kade?", "hits": [{"id": "a", "text": text, "score": 1.0}], "answer": "Twaalf euro [1]."}
    drop(app, log__json=json.dumps([line]))
    imported(app)
    page = html(drop(app, log__json=json.dumps([{**line, "prompt": f"Context:\n[1] {text}\n\nQuestion: Wat kost de kade?"}])))
    assert "is there already, without what its answers were sent, which is kept now</h3>" in page
    page = html(drop(app, log__json=json.dumps([{**line, "answer": "Tien euro [1]."}])))
    assert "is there already</h3>" in page


def test_queries_alone_are_added(gids):
    gold = {"query_id": "q", "query": "Wat kost parkeren?", "gold": [{"document_id": "gids", "chunk_index": 1}]}
    found = {"query_id": "q", "retrieved": [{"document_id": "gids", "chunk_index": 1, "score": 1.0}]}
    drop(gids, queries__jsonl=json.dumps(gold), retrievals__jsonl=json.dumps(found))
    fine(gids.text_input(key="files_name").set_value("gids").run())
    choose(gids, "Add to it")
    assert gids.button(key="load_files").label == "Add"
    imported(gids)
    assert counts() == (1, 2, 1)
    assert "added 1 query to gids" in html(gids)
    assert len(server.workbench().query("gids", "q").retrieved) == 1


def test_what_is_there_with_other_content_is_listed_before_anything_is_added(gids):
    drop(gids, gids__csv=csv("gids;2;De apotheek is open.").replace("twee euro", "drie euro"))
    page = html(choose(gids, "Add to it"))
    assert 'id="ctx-problems"' in page
    assert "is stored as &#x27;Parkeren kost twee euro per uur.&#x27; in the dataset" in page
    assert gids.button(key="load_files").disabled
    button = gids.button(key="load_valid")
    assert button.label == "Add the valid part only (2 of 3 rows)"
    fine(button.click().run())
    assert counts() == (1, 3, 0)
    assert "twee euro" in server.workbench().document_chunks("gids", "gids")[1].text


def test_another_name_is_put_into_the_box(gids):
    drop(gids, gids__csv=csv("gids;2;De apotheek is open."))
    choose(gids, "Another name")
    assert gids.text_input(key="files_name").value == "gids-2"
    assert "ctx-taken" not in html(gids)
    imported(gids)
    assert (counts(), counts("gids-2")) == ((1, 2, 0), (1, 3, 0))


def test_documents_ask_where_the_dataset_is_not_their_own(gids):
    gids.session_state["way"] = "Documents"
    fine(gids.run())
    gids.file_uploader(key="documents").set_value([("een.txt", b"Dit is het eerste hoofdstuk.", "text/plain")]).run()
    gids.text_input(key="documents_name").set_value("gids").run()
    page = html(fine(gids.button(key="load_documents").click().run()))
    assert 'id="ctx-taken"' in page
    assert counts() == (1, 2, 0)
    page = html(fine(gids.button(key="taken_add").click().run()))
    assert "added 1 document, 1 chunk to gids" in page
    assert counts() == (2, 3, 0)
    fine(gids.button(key="load_documents").click().run())
    assert gids.text_input(key="taken_name/gids").value == "gids-2"
    fine(gids.button(key="taken_other").click().run())
    assert counts("gids-2") == (1, 1, 0)
    fine(gids.button(key="load_documents").click().run())
    fine(gids.button(key="taken_replace").click().run())
    assert counts() == (1, 1, 0)
    page = html(fine(gids.button(key="load_documents").click().run()))
    assert "ctx-taken" not in page
    assert "nothing changed" in page


def test_a_copied_table_asks_and_the_same_rows_do_not(own_url, tmp_path, monkeypatch):
    with sqlite3.connect(tmp_path / "team.db") as base:
        base.execute("CREATE TABLE chunks (document_id TEXT, chunk_index INTEGER, text TEXT)")
        base.execute("INSERT INTO chunks VALUES ('a', 0, 'De balie is open.')")
    monkeypatch.setenv("CTXASM_CONNECTION_TEAM", f"sqlite:///{tmp_path / 'team.db'}")
    app = fine(at("load", way="Your tables").run())  # noqa: F811
    fine(app.button(key="load_copy").click().run())
    assert counts("chunks") == (1, 1, 0)
    assert "already loaded" in html(fine(app.button(key="load_copy").click().run()))
    base.execute("INSERT INTO chunks VALUES ('a', 1, 'De poli is dicht.')")
    base.commit()
    base.close()
    assert 'id="ctx-taken"' in html(fine(app.button(key="load_copy").click().run()))
    assert counts("chunks") == (1, 1, 0)
    assert "added 1 chunk to chunks" in html(fine(app.button(key="taken_add").click().run()))


def test_the_sample_is_there_in_dutch_too(app):  # noqa: F811
    app.session_state["way"] = "Sample"
    fine(app.run())
    fine(app.button(key="load_sample-nl").click().run())
    dataset = server.workbench().dataset("sample-nl")
    assert dataset.query("parkeren-dialyse").query.startswith("Wat kost parkeren")


def test_the_sample_asks_only_where_somebody_added_to_it(app):  # noqa: F811
    app.session_state["way"] = "Sample"
    fine(app.run())
    assert "already loaded" in html(fine(app.button(key="load_sample").click().run()))
    server.workbench().store.add(server.workbench().dataset("sample").bundle(), "sample", origin="mine.zip")
    page = html(fine(app.button(key="load_sample").click().run()))
    assert "ctx-taken" not in page
    server.workbench().store.delete("sample")
    from ctxasm.model.records import Bundle, Chunk

    server.workbench().store.add(Bundle("sample", chunks=(Chunk("own", 0, "Van mij."),)))
    assert "ctx-taken" in html(fine(app.button(key="load_sample").click().run()))
    assert "taken_add" not in {button.key for button in app.button}
    fine(app.button(key="taken_replace").click().run())
    assert server.workbench().dataset("sample").info.documents > 1


def test_a_hostile_name_stays_text(app):  # noqa: F811
    from ctxasm.model.records import Bundle, Chunk

    name = HOSTILE.replace("/", "-")[:90].strip()
    server.workbench().store.add(Bundle(name, chunks=(Chunk("own", 0, "Van mij."),)))
    drop(app, gids__csv=csv())
    page = html(fine(app.text_input(key="files_name").set_value(name).run()))
    assert 'id="ctx-taken"' in page
    assert "<script" not in page
    assert "<img" not in page
    assert all(name not in group.proto.label for group in app.button_group)  # a label is markdown: an image in it would be fetched
