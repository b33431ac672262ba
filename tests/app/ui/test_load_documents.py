"""Documents on the Load page: uploaded or from a folder, cut as chosen, cancelled and gone on with, broken ones named."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.load import documents
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import datasets, fine, html, opened, problems

pytestmark = pytest.mark.usefixtures("kept_readers")

TEXT = "# Bezoek\n\n" + " ".join(f"Zin {n} over het bezoekuur van de afdeling." for n in range(60))


@pytest.fixture
def app(own_url, monkeypatch):
    monkeypatch.setattr(documents, "on_this_machine", lambda: True)  # AppTest has no address of a server
    started = opened("load")
    started.session_state["way"] = "Documents"
    return fine(started.run())


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "handboek"
    made.mkdir()
    for n in range(3):
        (made / f"deel{n}.md").write_text(f"# Deel {n}\n\n{TEXT}")
    (made / "kapot.pdf").write_bytes(b"%PDF-1.7 <script>alert(1)</script>")
    (made / "plaatje.png").write_bytes(b"\x89PNG")
    return made


def from_folder(app: AppTest, folder) -> AppTest:
    app.button_group(key="documents_from").set_value("Folder on this machine").run()
    app.text_input(key="documents_folder").set_value(str(folder)).run()
    return app.button(key="load_documents").click().run()


def test_uploaded_documents_become_a_dataset(app):
    app.file_uploader(key="documents").set_value([("bezoek.md", TEXT.encode(), "text/markdown")]).run()
    app.number_input(key="chunk_tokens").set_value(100).run()
    app.number_input(key="overlap_tokens").set_value(10).run()
    fine(app.button(key="load_documents").click().run())
    assert app.selectbox(key="dataset_name").value == "bezoek"
    assert "bezoek: 1 document" in html(app)
    info = server.workbench().dataset("bezoek").info
    assert info.chunks > 5


def test_several_uploads_say_the_name_that_they_get(app):
    assert app.text_input(key="documents_name").placeholder == "the folder's or file's name"
    fine(app.file_uploader(key="documents").set_value([(f"{name}.md", TEXT.encode(), "text/markdown") for name in "ab"]).run())
    assert app.text_input(key="documents_name").placeholder == "documents"
    fine(app.button(key="load_documents").click().run())
    assert app.selectbox(key="dataset_name").value == "documents"


def test_a_folder_with_a_broken_file_names_it_and_loads_the_rest(app, folder):
    page = html(fine(from_folder(app, folder)))
    assert "Loaded without 1 broken file" in page
    assert "kapot.pdf" in page
    assert "plaatje.png" in page
    assert "<script" not in page
    assert server.workbench().dataset("handboek").info.documents == 3
    assert "nothing changed" in html(fine(app.button(key="load_documents").click().run()))


def test_options_that_contradict_are_said_before_anything_runs(app, folder):
    app.number_input(key="chunk_tokens").set_value(50).run()
    fine(app.number_input(key="overlap_tokens").set_value(60).run())
    assert any("overlap_tokens of a chunk must be" in problem for problem in problems(app))
    assert "load_documents" not in {button.key for button in app.button}


def test_the_overlap_stays_a_fifth_of_the_chunk_size_until_it_is_changed(app):
    assert app.number_input(key="overlap_tokens").value == 70
    for chunk_tokens, fifth in ((50, 10), (1000, 200), (16, 3)):
        fine(app.number_input(key="chunk_tokens").set_value(chunk_tokens).run())
        assert app.number_input(key="overlap_tokens").value == fifth
        assert problems(app) == []
        assert "load_documents" in {button.key for button in app.button}
    app.number_input(key="overlap_tokens").set_value(0).run()
    fine(app.number_input(key="chunk_tokens").set_value(500).run())
    assert app.number_input(key="overlap_tokens").value == 0


def test_a_folder_that_is_not_there_is_said(app):
    page = html(fine(from_folder(app, "/no/such <b>folder</b>")))
    assert 'id="ctx-error"' in page
    assert "<b>folder" not in page


def test_cancelled_reading_keeps_what_is_done_and_goes_on(app, folder, monkeypatch):
    import ctxasm.data.documents.ingesting as ingesting

    real = ingesting.cut

    def cancelling(name, *given):
        if name == "deel1.md":
            (job,) = server.jobs().seen()
            job.cancel()
        return real(name, *given)

    monkeypatch.setattr(ingesting, "cut", cancelling)
    page = html(fine(from_folder(app, folder)))
    assert "Cancelled" in page
    assert "2 of 4 documents not read" in page
    assert datasets(app) == ["sample"]
    fine(app.button(key="take_part").click().run())
    assert server.workbench().dataset("handboek").info.documents == 2
    monkeypatch.setattr(ingesting, "cut", real)
    fine(app.button(key="load_documents").click().run())
    assert server.workbench().dataset("handboek").info.documents == 3
    assert 'data-kind="documents"' in html(app)


def test_a_long_job_is_a_card_until_it_ends(app, folder, monkeypatch):
    import ctxasm.data.documents.ingesting as ingesting

    real = ingesting.cut
    monkeypatch.setattr("ctxasm.app.ui.frame.work.PATIENCE_S", 0.05)
    drawn = threading.Event()
    monkeypatch.setattr(ingesting, "cut", lambda *given: drawn.wait(300) and real(*given))
    page = html(fine(from_folder(app, folder)))
    drawn.set()
    assert 'data-job="ingest ' in page
    assert any(button.key.startswith("cancel_ingest") for button in app.button)
    (job,) = server.jobs().seen()
    assert job.wait(300)
    page = html(fine(app.run()))
    assert 'id="ctx-report"' in page
    assert 'data-job="ingest ' not in page
    assert app.selectbox(key="dataset_name").value == "handboek"


def test_a_hostile_file_name_stays_text(app):
    app.file_uploader(key="documents").set_value([(f"{HOSTILE.replace('/', '-')}.md", TEXT.encode(), "text/markdown")]).run()
    page = html(fine(app.button(key="load_documents").click().run()))
    assert "<script" not in page
    assert "<img" not in page
