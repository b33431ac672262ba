"""The Load page: the ways in, a tab each, and the datasets that are there."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Literal

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import WAYS
from ctxasm.app.ui.frame.browser import follow
from ctxasm.app.ui.frame.layout import show_empty
from ctxasm.app.ui.frame.session import DATASET, DatasetFacts, LoadRequest, session
from ctxasm.app.ui.load.documents import show_documents
from ctxasm.app.ui.load.enrich import close_panel, enrich_panel, open_panel
from ctxasm.app.ui.load.files import show_files, show_outcome
from ctxasm.app.ui.load.jobs import begin_load, loaded, settle, show_running
from ctxasm.app.ui.load.tables import show_tables
from ctxasm.app.ui.markup import boxed
from ctxasm.app.ui.words import number, plain
from ctxasm.app.workbench import SAMPLE, SAMPLE_NL, SAMPLES
from ctxasm.config import shipped
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from ctxasm.model.datasets import DatasetInfo


ABOUT = "An invented hospital: its pages, questions with what search found, and where the answers stand (gold evidence)."
IN_LANGUAGES = {SAMPLE: "Load the sample", SAMPLE_NL: "Load it in Dutch"}


def show_sample() -> None:
    """Load the sample, in English or in Dutch."""
    st.html(boxed(f'<p class="cx-note">{ABOUT}</p>'))
    with st.container(horizontal=True):
        for dataset, label in IN_LANGUAGES.items():
            kind: Literal["primary", "secondary"] = "primary" if dataset == SAMPLE else "secondary"
            if st.button(label, key=f"load_{dataset}", type=kind, icon=":material/database:"):
                _begin_sample(dataset)


def _begin_sample(dataset: str) -> None:
    workbench = server.workbench()
    begin_load(LoadRequest("load", "Loading", lambda name, over, *_: workbench.load_sample(over, name), only_replaces=True), dataset)


SHOWN: tuple[Callable[[], None], ...] = (show_files, show_documents, show_tables, show_sample)
"""What the tabs draw, in their order."""


def show_ways() -> None:
    """Every way to bring data in, what is being brought in, and what the last load said."""
    if settle():
        # The frame was drawn for the dataset before.
        st.rerun()
    ways = st.tabs(list(WAYS), key="way", on_change="rerun")
    for way, show in zip(ways, SHOWN, strict=True):
        if way.open:
            with way:
                show()
    show_running()
    show_outcome()


MOST_KEPT = 200
ENRICH = "Write summaries and questions for the search index, so that search finds more."
WORDS_WIDTH = 480
"""Pixels that a card has for its words before its buttons go below."""
DOCUMENTS_ORIGIN = "documents"
"""How the origin begins of a dataset that was read from documents."""


def show_datasets() -> None:
    """One card a dataset."""
    infos = server.datasets()
    st.html(boxed(f'<h2 class="cx-h" style="margin-top:14px !important">Datasets<small>{number(len(infos))}</small></h2>'))
    if not infos:
        show_empty("No dataset yet", "Load the sample: one click, no network.")
    for info in infos:
        _card(info)


def _card(info: DatasetInfo) -> None:
    about = _about(info)
    with st.container(
        border=True,
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
        key=f"dataset_{abs(info.dataset_id)}",
    ):
        with st.container(gap=None, width=WORDS_WIDTH):
            _name(info)
            st.html(boxed(_words(info, about)))
        with st.container(horizontal=True, width="content", gap="small"):
            if not info.linked:
                st.button("Enrich", key=f"enrich_{info.dataset_id}", on_click=open_panel, args=(info.name,), help=ENRICH)
            with st.popover("Export", key=f"export_{info.dataset_id}"):
                st.html(boxed("A folder or .zip of JSON Lines that loads again; --format parquet gives one table:"))
                st.code(f"ctxasm export {shlex.quote(info.name)} --out FOLDER", language="bash", wrap_lines=True)
            _delete_control(info, about)
    if session.enriching == info.name:
        enrich_panel(info, about.enriched)


def _name(info: DatasetInfo) -> None:
    """The name opens the dataset in Inspect."""
    key = f"open_{info.dataset_id}"
    if st.button(f"**{plain(info.name)}**", key=key, type="tertiary", on_click=_open, args=(info.name,), help="Open in Inspect"):
        follow(shipped("pages") / "inspect.py", "Open in Inspect")


def _open(name: str) -> None:
    session.asked_for = {DATASET: name}
    if session.dataset_name != name:
        del session.query_id


def _about(info: DatasetInfo) -> DatasetFacts:
    """Read once per session and version; a linked table is not read for it."""
    key = (info.name, info.dataset_id, session.loads, session.saves)
    if key not in session.about:
        from ctxasm.data.enrich.cache import written_for

        store = server.workbench().store
        facts = DatasetFacts(bool(written_for(store, info.name)), len(store.saved_queries(info.name)))
        session.about = dict(list({**session.about, key: facts}.items())[-MOST_KEPT:])
    return session.about[key]


def _kind(info: DatasetInfo) -> str:
    if info.linked:
        return "linked"
    if info.name in SAMPLES:
        return "sample"
    return "documents" if (info.origin or "").startswith(DOCUMENTS_ORIGIN) else "files"


def _words(info: DatasetInfo, about: DatasetFacts) -> str:
    holds = [("document", info.documents), ("chunk", info.chunks), ("question", info.queries), ("answer", info.answers)]
    counts = " · ".join(counted(count, noun) for noun, count in holds if count or noun in ("document", "chunk"))
    kind = _kind(info)
    badges = [f'<span class="cx-badge">{kind}</span>'] if kind != info.name else []
    badges += ['<span class="cx-badge ok"><span class="cx-dot"></span>enriched</span>'] if about.enriched else []
    badges += [f'<span class="cx-badge">{counted(about.saved, "saved question")}</span>'] if about.saved else []
    replaced = f" · {counted(info.replaced, 'character')} replaced" if info.replaced else ""
    when = "linked" if info.linked else "loaded"
    origin = f'<br><span class="cx-mute cx-small">{escape(info.origin)}</span>' if info.linked and info.origin else ""
    return (
        f'<div class="cx-dataset" data-kind="{kind}">{"".join(badges)}<span class="cx-mute">{counts}{replaced} · '
        f'<span class="cx-nowrap">{when} {info.loaded_at:%Y-%m-%d %H:%M} UTC</span></span>{origin}</div>'
    )


def _delete_control(info: DatasetInfo, about: DatasetFacts) -> None:
    verb = "Unlink" if info.linked else "Delete"
    saved = f" and its {counted(about.saved, 'saved question')}" if about.saved else ""
    if info.linked:
        asks = f"Unlink <b>{escape(info.name)}</b>{saved}? The tables themselves stay as they are."
    else:
        asks = f"Delete <b>{escape(info.name)}</b> with all its questions{saved}? It cannot be undone; the files it came from stay."
    with st.popover(verb, key=f"delete_{info.dataset_id}"):
        st.html(boxed(asks))
        st.button(f"{verb} it", key=f"confirm_{info.dataset_id}", type="primary", on_click=_delete, args=(info.name,))


def _delete(name: str) -> None:
    try:
        server.workbench().delete(name)
    except CtxasmError as error:
        session.report = error
        return
    session.report = None
    close_panel()
    loaded(None)
    del session.dataset_name, session.query_id, session.assembly
