"""The scene of this run for a page; draws the reason where there is none."""

from __future__ import annotations

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.compare_view import is_about_a_question
from ctxasm.app.ui.frame.pickers import offer_steps
from ctxasm.app.ui.frame.question import question_box
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_empty, show_title, show_trouble
from ctxasm.model.errors import CtxasmError, NotFound, StoreUnavailable
from ctxasm.model.results import Assembly


def current_scene(page: str) -> Scene | None:
    """What the frame chose, or None after saying why there is nothing and what to do."""
    trouble = session.trouble
    scene: Scene | None = session.scene
    if trouble:
        show_title(page, "Something is in the way")
        show_trouble(
            "The data cannot be read", trouble, "Nothing was changed. Reload this page when it is fixed; the Load page stays open to you."
        )
    elif scene is None and (info := session.info) is not None and (why := server.unreadable(info)):
        show_title(page, "Something is in the way")
        show_trouble(
            f"Dataset {info.name} cannot be read", why, "Nothing was changed. Other datasets still work; ask again when it is fixed."
        )
        question_box("question_here")
    elif scene is None and session.info is not None:
        show_title(page, "No question yet")
        show_empty("This dataset has no questions yet", "Ask one of your own: it is searched for in the dataset, and can be saved.")
        question_box("question_here")
    elif scene is None:
        show_title(page, "No question yet")
        show_empty("Load a dataset with questions", "Open Load: take the sample with one click, or upload a bundle of your own.")
    if trouble or scene is None or session.info is None:
        return None
    if is_about_a_question(page.lower()):
        offer_steps(session.info, scene.query.query_id)
    return scene


def current_assembly(scene: Scene, explain: bool = False) -> Assembly | None:
    """The assembly of the scene; None where it cannot be had, said here if `explain` (else the budget bar says it)."""
    try:
        return state.assemble_scene(server.workbench(), scene)
    except CtxasmError as error:
        if explain:
            show_failure("The context of this question cannot be assembled", error, scene)
        return None


def show_failure(heading: str, error: CtxasmError, scene: Scene) -> None:
    """What could not be done with the scene, and what still works: not the same where its dataset is gone or the store is."""
    still = "Other questions and settings still work."
    if isinstance(error, StoreUnavailable):
        still = "Nothing was changed. Reload this page when it is fixed."
    elif isinstance(error, NotFound) and all(info.name != scene.dataset for info in server.datasets()):
        still = "Nothing of this dataset can be shown any more. Reload this page for another one, or load it again."
    show_trouble(heading, str(error), still)


def show_page_trouble() -> bool:
    """Say that the store cannot be used, where that is so."""
    try:
        server.workbench().datasets()
    except CtxasmError as error:
        show_trouble("The data cannot be read", str(error), "Nothing was changed. Reload this page when it is fixed.")
        return True
    return False
