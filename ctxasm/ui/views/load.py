"""Load: the sample, a bundle of one's own, and the datasets that are there."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.model.errors import CtxasmError, InvalidBundle
from ctxasm.ui import desk
from ctxasm.ui.pictures import boxed, table_html
from ctxasm.ui.views.title import show_empty, show_trouble
from ctxasm.ui.words import number, plural

if TYPE_CHECKING:
    from ctxasm.loading import LoadReport

MOST_PROBLEMS = 100
FILES = (
    ("documents.jsonl", "document_id, title?, source?, summary?, date?"),
    ("chunks.jsonl", "document_id, chunk_index, text, start?, end?, page_number?, section?"),
    ("queries.jsonl", "query_id, query, gold?, spans?, answer?, history?"),
    ("retrievals.jsonl", "query_id, retrieved: [document_id, chunk_index, score, rank?], search_method?, bm25_matches?"),
    ("answers.jsonl", "query_id, answer (optional file)"),
)


def show_load() -> None:
    """Both ways in, and what the last load said."""
    sample, own = st.columns([2, 3], gap="large")
    with sample:
        st.html(
            boxed(
                '<h2 class="cx-h">Sample</h2><p class="cx-note">A fictional Dutch hospital: brochures and web pages, questions in Dutch '
                "and English with recorded hybrid retrieval and gold evidence.</p>"
            )
        )
        if st.button("Load the sample", key="load_sample", type="primary", width="stretch"):
            _load("the sample", lambda: desk.workbench().load_sample())
    with own:
        _upload()
    _show_report()


def _upload() -> None:
    st.html(
        boxed(
            '<h2 class="cx-h">A bundle of your own</h2><p class="cx-note">'
            "One .zip, or its .jsonl files together. All or nothing: with one wrong line nothing is loaded, and every problem is "
            "listed.</p>"
        )
    )
    files = st.file_uploader("Bundle", type=["zip", "jsonl"], accept_multiple_files=True, key="bundle", label_visibility="collapsed")
    name = st.text_input("Dataset name", key="bundle_name", placeholder="taken from the file name", max_chars=100)
    if st.button("Load the bundle", key="load_bundle", disabled=not files, width="stretch"):
        data, file_name = _as_one(files)
        _load(file_name, lambda: desk.workbench().load_upload(data, file_name, name.strip() or None))
    with st.popover("What is in a bundle?"):
        rows = [(f"<code>{escape(file)}</code>", escape(fields)) for file, fields in FILES]
        st.html(boxed(table_html(("file", "fields of a line (? may be absent)"), rows)))


def _as_one(files: Sequence[Any]) -> tuple[bytes, str]:
    """Several .jsonl files as one archive in memory; a single file as it is."""
    if len(files) == 1:
        return files[0].getvalue(), files[0].name
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in files:
            archive.writestr(file.name, file.getvalue())
    return packed.getvalue(), "upload.zip"


def _load(what: str, load: Callable[[], LoadReport]) -> None:
    """Load, keep what it said for the next run, and go to the new dataset."""
    try:
        with st.spinner(f"Loading {what} …", show_time=True):
            report = load()
    except CtxasmError as error:
        st.session_state["_report"] = error
        return
    st.session_state["_report"] = report
    st.session_state["_loads"] = st.session_state.get("_loads", 0) + 1
    st.session_state["_asked_for"] = {"data": report.info.name}
    st.session_state.pop("_query_list", None)
    st.rerun()


def _show_report() -> None:
    report = st.session_state.get("_report")
    if isinstance(report, InvalidBundle):
        _show_problems(report)
    elif isinstance(report, CtxasmError):
        show_trouble("Nothing was loaded", str(report), "What was loaded before is untouched.")
    elif report is not None:
        notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
        state = "" if report.changed else " (already loaded, nothing changed)"
        listed = f'<ul style="padding-left:18px">{notes}</ul>' if notes else ""
        st.html(
            boxed(
                f'<div class="cx-panel ok" role="status" id="ctx-report"><h3>Loaded{state}</h3><p>{escape(report.summary)}</p>'
                f"{listed}</div>"
            )
        )


def _show_problems(report: InvalidBundle) -> None:
    rows = [_problem(problem) for problem in report.problems[:MOST_PROBLEMS]]
    more = len(report.problems) - len(rows)
    rest = f'<p class="cx-note">… and {number(more)} more.</p>' if more > 0 else ""
    head = (
        f'<h3>{escape(report.where)}: {plural(len(report.problems), "problem")}, nothing was loaded</h3><p class="cx-mute">'
        "What was loaded before is untouched. Repair the lines below and load again.</p>"
    )
    st.html(
        boxed(
            f'<div class="cx-panel warn" role="alert" id="ctx-problems">{head}</div><div style="height:10px"></div>'
            f"{table_html(('file', 'line', 'field', 'problem', 'got'), rows, (1,))}{rest}"
        )
    )


def _problem(problem: Any) -> tuple[str, ...]:
    line = "" if getattr(problem, "line", None) is None else number(problem.line)
    if not hasattr(problem, "file"):
        return "", "", "", escape(str(problem)), ""
    return (
        escape(problem.file),
        line,
        f"<code>{escape(problem.field)}</code>",
        escape(problem.message),
        f"<code>{escape(problem.value or '')}</code>",
    )


def show_datasets() -> None:
    """The datasets of this store, each with its counts and a delete that asks first."""
    infos = desk.datasets()
    st.html(boxed(f'<h2 class="cx-h" style="margin-top:14px !important">Datasets<small>{number(len(infos))} in this store</small></h2>'))
    if not infos:
        show_empty("No dataset yet", "Load the sample above: one click, no network.")
    for info in infos:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"dataset_{info.dataset_id}"):
            counts = " · ".join(
                (
                    plural(info.documents, "document"),
                    plural(info.chunks, "chunk"),
                    plural(info.queries, "query"),
                    plural(info.answers, "answer"),
                )
            )
            replaced = f" · {plural(info.replaced, 'character')} replaced" if info.replaced else ""
            st.html(
                boxed(
                    f'<b>{escape(info.name)}</b><br><span class="cx-mute">'
                    f"{counts}{replaced} · loaded {info.loaded_at:%Y-%m-%d %H:%M} UTC</span>"
                )
            )
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
    st.session_state["_loads"] = st.session_state.get("_loads", 0) + 1
    for key in ("data", "q", "_query", "_query_list", "_assembly"):
        st.session_state.pop(key, None)
