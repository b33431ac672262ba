"""The way from looked-at files to a dataset: all or nothing, or, where the user says so, the part that is valid."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.awaited_work import awaited
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import LoadRequest
from ctxasm.app.ui.frame.title import within
from ctxasm.app.ui.load.load_jobs import IMPORT, begin_load
from ctxasm.app.ui.load.reports import problems_download
from ctxasm.app.ui.load.row_tables import notes_html, problems_html
from ctxasm.app.ui.load.taken_name import LONGEST_NAME, ask_over, chosen_over, taken_by
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import number
from ctxasm.data.load_conflicts import NOUNS, Over, joined_dataset
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.neighbours import NUMBERED

if TYPE_CHECKING:
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.files.importing import Preview
    from ctxasm.data.files.reading import Reading

OWN_CHUNKS = ""
"""Chosen where hits bring their own chunks."""
Files = Sequence[tuple[str, bytes]]
VERBS: dict[Over | None, str] = {None: "Import", "new": "Import", "replace": "Replace", "join": "Add"}
LEFT_OUT = re.compile(r": left out ")
ROWS = re.compile(r"([\d,]+) rows?\b")


def import_controls(taken: Files, preview: Preview, mappings: Mapping[str, ColumnMapping], unready: str, stamp: str) -> None:
    """All problems, the name, and the buttons."""
    notes = [note for note in preview.notes if not any(note in file.notes for file in preview.files)]
    st.html(notes_html(notes) or "<div></div>")
    if preview.problems:
        _show_problems(preview)
    if any(file.asked for file in preview.files):
        _ask_onto()
    if (onto := joined_onto()) is not None:
        _offer_join(taken, preview, mappings, onto, unready)
        return
    name = st.text_input("Dataset name", key=Session.files_name.key, placeholder=preview.name, persist_state="session")
    bare = within("A name", name, LONGEST_NAME)
    if bare is None:
        return
    chosen = bare or preview.name
    over = ask_over(Session.files_name.key, chosen, preview)
    asks = "" if over is not None else f"Say first what becomes of {chosen}."
    by_order = _ask_order(preview, over)
    blocked = bool(preview.problems or unready or over is None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(VERBS[over], key="load_files", type="primary", disabled=blocked, icon=":material/download:") and over is not None:
            _import(taken, mappings, chosen, False, over, by_order)
        st.html(boxed(f'<p class="cx-note" id="ctx-import">{escape(unready or asks) or _what(preview)}</p>'))
    if preview.problems and not unready and over is not None:
        _offer_valid_part(taken, preview, mappings, chosen, stamp, over)


def _ask_order(preview: Preview, over: Over | None) -> bool:
    """Whether to number chunks whose indexes leave gaps; asked only where there are such."""
    if preview.obstacle is None or preview.obstacle.obstacle not in NUMBERED or over == "join":
        return False
    return st.checkbox("Number by order", key="number_by_order", help="0, 1, 2 … in each document; metadata keeps the index of the file")


def joined_onto() -> str | None:
    """The dataset on whose chunks the hits of the files are to be; None where the files bring their own."""
    chosen = session.files_onto
    return chosen if chosen and any(info.name == chosen for info in server.datasets()) else None


def _ask_onto() -> None:
    st.selectbox(
        "Whose chunks the hits are",
        [OWN_CHUNKS, *(info.name for info in server.datasets())],
        format_func=lambda name: str(name) or "their own: the files become a dataset",
        key=Session.files_onto.key,
        persist_state="session",
        help="Hits are found in a dataset by id, by place or by their text; neighbours, titles and summaries then come from there.",
    )


def _offer_join(taken: Files, preview: Preview, mappings: Mapping[str, ColumnMapping], onto: str, unready: str) -> None:
    """The button that adds the questions to a dataset."""
    from ctxasm.data.files.loading import join_files

    queries = counted(preview.counts.get("queries", 0), "question")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(
            "Add the questions", key="join_files", type="primary", disabled=bool(preview.problems or unready), icon=":material/join:"
        ):
            workbench = server.workbench()
            request = LoadRequest(
                IMPORT,
                "Joining",
                lambda name, over: lambda report, cancelled: join_files(workbench, taken, name, mappings),
                (tuple(taken), repr(mappings), "join"),
            )
            begin_load(request, onto, "join")
        words = unready or (_what(preview) if preview.problems else f"{queries} of {onto}, without a chunk of their own.")
        st.html(boxed(f'<p class="cx-note" id="ctx-join">{escape(words)}</p>'))


def joined_name(taken: Files) -> str | None:
    """The dataset that the files are to join, as was said before; None where they make one of their own."""
    from ctxasm.data.files.importing import default_name

    name = (session.files_name or "").strip() or default_name(taken)
    return name if chosen_over(name) == "join" else None


def _what(preview: Preview) -> str:
    if preview.problems:
        return "Nothing can be imported as a whole: repair the rows above and drop the files again."
    parts = [counted(count, NOUNS[kind]) for kind, count in preview.counts.items() if count]
    return ", ".join(parts) + ": all or nothing." if parts else ""


def _show_problems(preview: Preview) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        heading = f'<h2 class="cx-h"><span class="cx-dot warn"></span>{counted(len(preview.problems), "problem")}</h2>'
        st.html(boxed(f'<div class="cx-count" role="alert">{heading}</div>'))
        problems_download(preview.problems, "problems_csv")
    st.html(boxed(problems_html(preview.problems), "ctx-problems"))


def _offer_valid_part(taken: Files, preview: Preview, mappings: Mapping[str, ColumnMapping], name: str, stamp: str, over: Over) -> None:
    """The part that is valid, with exactly what is left out; nothing where there is none."""
    from ctxasm.data.files.importing import import_files
    from ctxasm.data.files.loading import limits_of

    workbench = server.workbench()
    limits, info = limits_of(workbench.config), taken_by(name) if over == "join" else None

    def tried(report: Any, cancelled: Any) -> Reading:
        into = joined_dataset(workbench, name, over)
        return import_files(taken, mappings, "part", valid_only=True, limits=limits, into=into)

    try:
        part: Reading = awaited("valid_part", (stamp, repr(mappings), None if info is None else info.dataset_id), tried)
    except CtxasmError as error:
        st.html(boxed(f'<p class="cx-note">No part of it can be imported by itself: {escape(str(error).splitlines()[0])}</p>'))
        return
    left_out = [note for note in part.notes if LEFT_OUT.search(note)]
    rows, gone = sum(file.row_count for file in preview.files), sum(_count(note) for note in left_out)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        label = f"{VERBS[over]} the valid part only ({number(rows - gone)} of {number(rows)} rows)"
        if st.button(label, key="load_valid", icon=":material/rule:"):
            _import(taken, mappings, name, True, over)
        st.html(boxed(f'<div id="ctx-left-rows">{notes_html(left_out)}</div>'))


def _count(note: str) -> int:
    """The rows that a note says are left out."""
    return sum(int(count.replace(",", "")) for count in ROWS.findall(LEFT_OUT.split(note, 1)[1]))


def _import(taken: Files, mappings: Mapping[str, ColumnMapping], name: str, valid_only: bool, over: Over, by_order: bool = False) -> None:
    from ctxasm.data.files.loading import load_files

    workbench = server.workbench()
    request = LoadRequest(
        IMPORT,
        "Importing",
        lambda name, over: lambda report, cancelled: load_files(workbench, taken, name, mappings, valid_only, over, by_order),
        (tuple(taken), repr(mappings), valid_only, by_order),
    )
    begin_load(request, name, over)
