"""The way from looked-at files to a dataset: all or nothing, or, where the user says so, the part that is valid."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk
from ctxasm.ui.awaiting import awaited
from ctxasm.ui.load_tables import notes_html, problems_html
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.outcome import IMPORT, begin
from ctxasm.ui.views.loading.reports import problems_download
from ctxasm.ui.words import number, plural

if TYPE_CHECKING:
    from ctxasm.bundle.importing import Preview
    from ctxasm.bundle.mapping_form import ColumnMapping
    from ctxasm.bundle.reading import Reading

Files = Sequence[tuple[str, bytes]]
LEFT_OUT = re.compile(r": left out ")
ROWS = re.compile(r"([\d,]+) rows?\b")


def import_controls(taken: Files, preview: Preview, mappings: Mapping[str, ColumnMapping], unready: str, stamp: str) -> None:
    """All problems, the name, and the buttons."""
    notes = [note for note in preview.notes if not any(note in file.notes for file in preview.files)]
    st.html(notes_html(notes) or "<div></div>")
    if preview.problems:
        _show_problems(preview)
    name = st.text_input("Dataset name", key="files_name", placeholder=preview.name, max_chars=100, persist_state="session")
    chosen = name.strip() or preview.name
    blocked = bool(preview.problems or unready)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Import", key="load_files", type="primary", disabled=blocked, icon=":material/download:"):
            _import(taken, mappings, chosen, False)
        st.html(boxed(f'<p class="cx-note" id="ctx-import">{escape(unready) or _what(preview)}</p>'))
    if preview.problems and not unready:
        _offer_valid_part(taken, preview, mappings, chosen, stamp)


def _what(preview: Preview) -> str:
    if preview.problems:
        return "Nothing can be imported as a whole: repair the rows above and drop the files again."
    nouns = {"documents": "document", "chunks": "chunk", "queries": "query", "answers": "answer"}
    parts = [plural(count, nouns[kind]) for kind, count in preview.counts.items() if count]
    return ", ".join(parts) + ": all or nothing." if parts else ""


def _show_problems(preview: Preview) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        heading = f'<h2 class="cx-h"><span class="cx-dot warn"></span>{plural(len(preview.problems), "problem")}</h2>'
        st.html(boxed(f'<div class="cx-count" role="alert">{heading}</div>'))
        problems_download(preview.problems, "problems_csv")
    st.html(boxed(problems_html(preview.problems), "ctx-problems"))


def _offer_valid_part(taken: Files, preview: Preview, mappings: Mapping[str, ColumnMapping], name: str, stamp: str) -> None:
    """The part that is valid, with exactly what is left out; nothing where there is none."""
    from ctxasm.bundle.importing import import_files
    from ctxasm.loading import limits_of

    limits = limits_of(desk.workbench().config)

    def tried(report: Any, cancelled: Any) -> Reading:
        return import_files(taken, mappings, "part", valid_only=True, limits=limits)

    try:
        part: Reading = awaited("valid_part", (stamp, repr(mappings)), tried)
    except CtxasmError as error:
        st.html(boxed(f'<p class="cx-note">No part of it can be imported by itself: {escape(str(error).splitlines()[0])}</p>'))
        return
    left_out = [note for note in part.notes if LEFT_OUT.search(note)]
    rows, gone = sum(file.row_count for file in preview.files), sum(_count(note) for note in left_out)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        label = f"Import the valid part only ({number(rows - gone)} of {number(rows)} rows)"
        if st.button(label, key="load_valid", icon=":material/rule:"):
            _import(taken, mappings, name, True)
        st.html(boxed(f'<div id="ctx-left-rows">{notes_html(left_out)}</div>'))


def _count(note: str) -> int:
    """The rows that a note says are left out."""
    return sum(int(count.replace(",", "")) for count in ROWS.findall(LEFT_OUT.split(note, 1)[1]))


def _import(taken: Files, mappings: Mapping[str, ColumnMapping], name: str, valid_only: bool) -> None:
    from ctxasm.loading import load_files

    workbench = desk.workbench()
    begin(
        f"{IMPORT}{name}",
        f"Importing {name}",
        name,
        lambda report, cancelled: load_files(workbench, taken, name, mappings, valid_only),
        (tuple(taken), repr(mappings), valid_only),
    )
