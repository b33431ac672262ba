"""Taking a configuration along: a link, TOML, Python, environment variables; each with its own copy button."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict
from urllib.parse import urlencode

import streamlit as st

from ctxasm.app.integrations.written import written_as
from ctxasm.app.ui.frame import typed_questions
from ctxasm.app.ui.frame.compare_view import shown_address
from ctxasm.app.ui.frame.model_choice import model_address
from ctxasm.app.ui.frame.pinned import pinned_address
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.widgets.components import component
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import to_url


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
    return typed_questions.address(scene.query, stored) | ({} if stored else typed_questions.options_address())


def copy_link(scene: Scene, settings: AssemblySettings, page: str = "") -> None:
    """A button that copies the link to what is shown: dataset and query by name, what differs from the defaults, A, and what of it."""
    where = {Session.dataset_name.key: scene.dataset, **query_address(scene)}
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
