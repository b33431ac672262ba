"""What a page says still works, where what it was about does not."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.session import Scene
from ctxasm.app.workbench import Workbench
from ctxasm.model.errors import InvalidInput, StoreUnavailable
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly
from tests.app.ui.pages import fine, html, opened


@pytest.fixture
def going(own_url: str) -> AppTest:
    """A page that shows a dataset beside the sample."""
    server.workbench().store.add(
        Bundle("weg", (Document("a", "A"),), (Chunk("a", 0, "Een tekst."),), (Query("Wat?", (Hit("a", 0, 1.0),), "q"),))
    )
    return fine(opened(data="weg", q="q"))


def test_of_a_dataset_that_was_deleted_in_another_tab_nothing_is_said_to_work(going: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deleted between the choice of the dataset and what is drawn of it, as where a part of the page runs by itself."""
    assemble = state.assemble_scene

    def assemble_late(workbench: Workbench, scene: Scene) -> Assembly:
        if any(info.name == "weg" for info in workbench.datasets()):
            workbench.delete("weg")
        return assemble(workbench, scene)

    monkeypatch.setattr(state, "assemble_scene", assemble_late)
    page = html(fine(going.number_input(key="mt").set_value(3000).run()))
    assert "the store holds no dataset &#x27;weg&#x27;" in page
    assert "Nothing of this dataset can be shown any more. Reload this page for another one, or load it again." in page
    assert "still work" not in page


@pytest.mark.parametrize(
    ("error", "still"),
    [
        (InvalidInput("this is not right"), "Other questions and settings still work."),
        (StoreUnavailable("the disk is full"), "Nothing was changed. Reload this page when it is fixed."),
    ],
)
def test_what_else_works_depends_on_what_does_not(going: AppTest, monkeypatch: pytest.MonkeyPatch, error: Exception, still: str) -> None:
    def refuse(workbench: Workbench, scene: Scene) -> Assembly:
        raise error

    monkeypatch.setattr(state, "assemble_scene", refuse)
    page = html(fine(going.number_input(key="mt").set_value(3000).run()))
    assert f"<p>{error}</p>" in page
    assert still in page
