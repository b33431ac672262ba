"""Taking a configuration along: a link, TOML, Python, environment variables; each with its own copy button."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypedDict
from urllib.parse import urlencode

import streamlit as st

from ctxasm.app.integrations.written import written_as
from ctxasm.app.ui.frame import typed_questions
from ctxasm.app.ui.frame.compare_view import shown_address
from ctxasm.app.ui.frame.model_choice import model_address
from ctxasm.app.ui.frame.pinned import pinned_address
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import to_url

COPY_CSS = """
button { font: 500 14px var(--st-font); width: 100%; height: 38px; padding: 0 6px; cursor: pointer;
  color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
"""
COPY_JS = """
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector('button');
  button.textContent = data.label;
  button.onclick = async () => {
    const text = data.query === null ? data.text : location.origin + location.pathname + (data.query ? '?' + data.query : '');
    try { await navigator.clipboard.writeText(text); }
    catch {
      const area = Object.assign(document.createElement('textarea'), { value: text });
      document.body.append(area); area.select(); document.execCommand('copy'); area.remove();
    }
    button.dataset.copied = text; button.textContent = 'Copied';
    setTimeout(() => { button.textContent = data.label; }, 1500);
  };
}
"""


class CopyData(TypedDict):
    """What the script of the button reads: a text, or the query of a link to the address that the browser is at."""

    label: str
    text: str
    query: str | None


@cache
def _copy_button() -> Any:
    return st.components.v2.component("ctxasm_copy", html='<button type="button">Copy</button>', css=COPY_CSS, js=COPY_JS)


def copy_button(label: str, text: str, key: str) -> None:
    """A button that copies `text` in the browser, without a rerun."""
    data: CopyData = {"label": label, "text": text, "query": None}
    _copy_button()(data=data, key=key, height="content")


def query_address(scene: Scene) -> dict[str, str]:
    """What of an address names the query of a scene."""
    stored = not typed_questions.is_unsaved(scene.query.query_id)
    return typed_questions.address(scene.query, stored) | ({} if stored else typed_questions.options_address())


def copy_link(scene: Scene, settings: AssemblySettings, page: str = "") -> None:
    """A button that copies the link to what is shown: dataset and query by name, what differs from the defaults, A, and what of it."""
    where = {Session.dataset_name.key: scene.dataset, **query_address(scene)}
    query = urlencode({**where, **to_url(settings), **pinned_address(session.pinned), **shown_address(page), **model_address()})
    data: CopyData = {"label": "Copy link", "text": "", "query": query}
    _copy_button()(data=data, key="copy_link", width=104, height="content")


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
