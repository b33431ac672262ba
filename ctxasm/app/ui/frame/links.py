"""The way to Show me, and the question that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from ctxasm.app.integrations.settings_forms import written_as
from ctxasm.app.ui.frame import server, typed_questions
from ctxasm.app.ui.frame.address import (
    COMPARE,
    model_address,
    options_address,
    pinned_address,
    question_address,
    shown_address,
    take_address,
    view_address,
)
from ctxasm.app.ui.frame.browser import component, listen
from ctxasm.app.ui.frame.gold import INSPECT, go_to
from ctxasm.app.ui.frame.session import ASK, DATASET, QUERY_ID, Scene, session
from ctxasm.app.ui.widgets.html import picked_text
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import to_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxasm.app.ui.frame.address import View
    from ctxasm.app.ui.frame.session import Pinned
    from ctxasm.model.settings import AssemblySettings


SHOW_ME = "show-me"
"""The path of the page."""
QUERY = "child-operation-cold"
"""The question of the sample that it is about, chosen by `sample_data/gains.py`: its evidence is in the context with assembly only."""


class CopyData(TypedDict):
    """What the script of the button reads: a text, or the query of a link to the address that the browser is at."""

    label: str
    text: str
    query: str | None


def copy_button(label: str, text: str, key: str) -> None:
    """A button that copies `text` in the browser, without a rerun."""
    data: CopyData = {"label": label, "text": text, "query": None}
    component("copy", '<button type="button">Copy</button>')(data=data, key=key, height="content")


def query_address(scene: Scene) -> dict[str, str]:
    """What of an address names the query of a scene."""
    stored = not typed_questions.is_unsaved(scene.query.query_id)
    return question_address(scene.query, stored) | ({} if stored else options_address())


def copy_link(scene: Scene, settings: AssemblySettings, page: str = "") -> None:
    """A button that copies the link to what is shown: dataset and query by name, what differs from the defaults, A, and what of it."""
    where = {DATASET: scene.dataset, **query_address(scene)}
    query = urlencode({**where, **to_url(settings), **pinned_address(session.pinned), **shown_address(page), **model_address()})
    data: CopyData = {"label": "Copy link", "text": "", "query": query}
    component("copy", '<button type="button">Copy</button>')(data=data, key="copy_link", width=104, height="content")


def settings_written(settings: AssemblySettings, origin: Sequence[str] = (), key: str = "settings_written") -> None:
    """A button that writes the settings down; `origin` says where they come from, as comments of the TOML."""
    if st.button("Copy settings as …", width="stretch" if not origin else "content", key=key):
        st.dialog("Copy settings as …", width="medium")(_show_written)(settings, origin)


def _show_written(settings: AssemblySettings, origin: Sequence[str]) -> None:
    """The settings in three notations."""
    st.caption("What differs from the defaults; each block has a copy button.")
    for title, language in (("TOML", "toml"), ("Python", "python"), ("Environment", "bash")):
        st.caption(title)
        st.code(written_as(settings, title.lower(), origin=origin).removesuffix("\n") or "# all defaults", language=language)


def report_button(make: Callable[[], str], file: str, key: str) -> None:
    """A button that writes a report, made when it is clicked."""
    help = "One HTML file to print or send"
    st.download_button("Report", make, file, "text/html", key=key, on_click="ignore", help=help)


def runs_report(run_ids: Sequence[str]) -> Callable[[], str]:
    """Makes the report of kept answers, with what reviewers say of them."""

    def make() -> str:
        from ctxasm.app.report import report_runs

        return report_runs(server.workbench(), run_ids)

    return make


def inspect_address(settings: AssemblySettings) -> str:
    """Of Inspect, with the query that is shown, under these settings."""
    return f"./?{urlencode({**_shown(), **to_url(settings), **pinned_address(session.pinned)})}"


def compare_address(a: Pinned, b: AssemblySettings, query_id: str | None = None, view: View = "question", only: str = "all") -> str:
    """Of Compare, of A and B: on one query (default: that which is shown), or on all of them, those that are `only`."""
    where = _shown() if query_id is None else {**_dataset(), QUERY_ID: query_id}
    return f"./{COMPARE}?{urlencode({**where, **to_url(b), **pinned_address(a), **view_address(view, only)})}"


def _dataset() -> dict[str, str]:
    return {DATASET: session.info.name} if session.info is not None else {}


def _shown() -> dict[str, str]:
    scene, own = session.scene, _dataset()
    return own | query_address(scene) if scene is not None and own.get(DATASET) == scene.dataset else own


def hear_clicks(clicks: str, on_picked: Callable[[str], bool] = lambda _: False) -> None:
    """Listen to what the page draws as HTML: a link that is clicked opens, `on_picked` is called with anything else."""
    listen(clicks, partial(_heard, on_picked))


def _heard(on_picked: Callable[[str], bool], said: str) -> bool:
    path, _, query = (picked_text(said) or "").partition("?")
    if not query or not path.startswith("./"):
        return on_picked(said)
    wanted = dict(parse_qsl(query, keep_blank_values=True))
    scene = session.scene
    if scene is not None and wanted.get(ASK) == scene.query.query:
        del wanted[ASK]  # it is shown: there is nothing to search for again
    page = path.removeprefix("./")
    take_address(page, wanted)
    go_to(page or INSPECT)
    return True
