"""The datasets of this store, each with what it is and a delete that asks first."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.outcome import loaded
from ctxasm.ui.views.title import show_empty
from ctxasm.ui.words import number, plural

if TYPE_CHECKING:
    from ctxasm.store.listing import DatasetInfo


def show_datasets() -> None:
    """One card a dataset."""
    infos = desk.datasets()
    st.html(boxed(f'<h2 class="cx-h" style="margin-top:14px !important">Datasets<small>{number(len(infos))} in this store</small></h2>'))
    if not infos:
        show_empty("No dataset yet", "Load the sample: one click, no network.")
    for info in infos:
        _card(info)


def _card(info: DatasetInfo) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"dataset_{info.dataset_id}"):
        st.html(boxed(_about(info)))
        _delete_control(info)


def _about(info: DatasetInfo) -> str:
    counted = (("document", info.documents), ("chunk", info.chunks), ("query", info.queries), ("answer", info.answers))
    counts = " · ".join(plural(count, noun) for noun, count in counted)
    replaced = f" · {plural(info.replaced, 'character')} replaced" if info.replaced else ""
    return (
        f'<b>{escape(info.name)}</b><br><span class="cx-mute">{counts}{replaced} · '
        f'<span class="cx-nowrap">loaded {info.loaded_at:%Y-%m-%d %H:%M} UTC</span></span>'
    )


def _delete_control(info: DatasetInfo) -> None:
    with st.popover("Delete", key=f"delete_{info.dataset_id}"):
        st.html(boxed(f"Delete <b>{escape(info.name)}</b> with all its queries? It cannot be undone; the files it came from stay."))
        st.button("Delete it", key=f"confirm_{info.dataset_id}", type="primary", on_click=_delete, args=(info.name,))


def _delete(name: str) -> None:
    try:
        desk.workbench().delete(name)
    except CtxasmError as error:
        st.session_state["_report"] = error
        return
    st.session_state["_report"] = None
    loaded(None)
    for key in ("data", "q", "_assembly"):
        st.session_state.pop(key, None)
