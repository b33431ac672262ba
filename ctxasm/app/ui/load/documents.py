"""Documents of one's own: uploaded, or a folder of this machine; read one by one, cut into chunks, loaded when all are read."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.browser import on_this_machine
from ctxasm.app.ui.frame.layout import show_problem, within
from ctxasm.app.ui.frame.session import Ingest, LoadRequest, session
from ctxasm.app.ui.load.jobs import LONGEST_NAME, begin_load, refuse
from ctxasm.app.ui.load.row_tables import notes_html
from ctxasm.app.ui.widgets.html import boxed, table_html
from ctxasm.app.ui.words.words import number
from ctxasm.data.load_conflicts import Over
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from ctxasm.data.documents.collecting import Source
    from ctxasm.data.documents.ingesting import IngestReport
    from ctxasm.data.documents.options import IngestOptions

KINDS = ["pdf", "docx", "html", "htm", "xhtml", "md", "markdown", "txt", "zip"]
NOTE = "PDF, Word, HTML, Markdown or text. A broken file is reported and skipped."
UPLOAD, FOLDER = "Upload", "Folder on this machine"
MOST_FILES = 500


def _heading(report: IngestReport) -> tuple[str, str]:
    if report.cancelled:
        return "warn", "Cancelled"
    if report.load is None:
        return "warn", "Nothing was loaded"
    if report.broken:
        return "warn", f"Loaded without {counted(len(report.broken), 'broken file')}"
    return "ok", "Loaded" if report.load.changed else "Loaded (already there, nothing changed)"


def show_documents() -> None:
    """Choose documents and how they are cut, and read them."""
    st.html(boxed(f'<p class="cx-note">{NOTE}</p>'))
    left, right = st.columns([3, 2], gap="large")
    with left:
        sources = _sources()
        typed = st.text_input("Dataset name", key="documents_name", placeholder=_name_unless_typed(sources), persist_state="session")
        name = within("A name", typed, LONGEST_NAME)
    with right:
        options = _options()
    if isinstance(options, CtxasmError):
        show_problem(str(options))
    elif name is not None and st.button(
        "Read the documents", key="load_documents", type="primary", disabled=not sources, icon=":material/description:"
    ):
        read(Ingest(sources, options, name or None))


def _name_unless_typed(sources: Sequence[Source]) -> str:
    from ctxasm.data.documents.collecting import default_name

    return default_name(sources) if len(sources) > 1 else "the folder's or file's name"


def _sources() -> Sequence[Source]:
    """The uploads, or the one folder."""
    way = UPLOAD
    if on_this_machine():
        way = st.segmented_control(
            "From",
            (UPLOAD, FOLDER),
            default=UPLOAD,
            required=True,
            key="documents_from",
            label_visibility="collapsed",
            persist_state="session",
        )
    if way == FOLDER:
        path = st.text_input("Folder, document or .zip", key="documents_folder", placeholder="/home/me/manuals", persist_state="session")
        return (path.strip(),) if path.strip() else ()
    most = server.workbench().config.max_upload_mb
    files = st.file_uploader(
        "Documents", KINDS, accept_multiple_files=True, key="documents", max_upload_size=most, label_visibility="collapsed"
    )
    return tuple((file.name, file.getvalue()) for file in files)


def _options() -> IngestOptions | CtxasmError:
    from ctxasm.data.documents.options import IngestOptions

    standard = IngestOptions()
    with st.container(horizontal=True, gap="small"):
        about = "A chunk is a piece of text that search finds as a whole. A token is about ¾ of a word."
        most = st.number_input(
            "Chunk size (tokens)",
            16,
            8192,
            standard.max_tokens,
            50,
            key="chunk_tokens",
            persist_state="session",
            help=about,
            on_change=_overlap_follows,
            args=(int(session.value_of("chunk_tokens", standard.max_tokens)),),
        )
        shared = "What two neighbouring chunks share: a fifth of the chunk size, unless it is changed."
        overlap = st.number_input(
            "Overlap (tokens)", 0, 8191, standard.overlap_tokens, 10, key="overlap_tokens", persist_state="session", help=shared
        )
    pages = st.toggle(
        "A chunk stays on its page",
        standard.pages,
        key="on_pages",
        persist_state="session",
        help="So that the page of a citation is right for all of the chunk.",
    )
    headings = st.toggle(
        "A chunk stays under its heading",
        standard.headings,
        key="under_headings",
        persist_state="session",
        help="Smaller chunks, one subject each.",
    )
    try:
        return IngestOptions(int(most), int(overlap), pages, headings)
    except CtxasmError as error:
        return error


def _overlap_follows(before: int) -> None:
    """Another chunk size than `before`: an overlap that is a fifth of it stays a fifth, as on the command line."""
    if session.value_of("overlap_tokens") == before // 5:
        session.put("overlap_tokens", int(session.value_of("chunk_tokens")) // 5)


def read(ingest: Ingest, part: bool = False, retry: bool = False, over: Over = "new") -> None:
    """Read the documents as a job; `part` reads nothing more and loads what is done, `retry` tries broken ones again."""
    from ctxasm.data.documents.collecting import default_name
    from ctxasm.data.documents.ingesting import ingest as run

    session.ingest = ingest
    try:
        workbench, what = server.workbench(), ingest.name or default_name(ingest.sources)
    except CtxasmError as error:
        refuse(error)
    begin_load(
        LoadRequest(
            "ingest",
            "Reading",
            lambda name, over: (
                lambda report, cancelled: run(
                    workbench, ingest.sources, ingest.options, name, report, cancelled, part=part, retry=retry, over=over
                )
            ),
            (*ingest, part, retry),
        ),
        what,
        over,
    )


def show_ingested(report: IngestReport) -> None:
    """The report of documents."""
    look, heading = _heading(report)
    notes = notes_html(report.notes[:50]) if report.load is not None else ""
    st.html(
        boxed(f'<div class="cx-panel {look}" role="status" id="ctx-report"><h3>{heading}</h3><p>{escape(report.summary)}</p>{notes}</div>')
    )
    if report.cancelled:
        _go_on(report)
    if report.problems:
        _show_files(report)
    ingest = session.ingest
    if report.broken and ingest is not None and st.button("Try the broken files again", key="read_again", icon=":material/refresh:"):
        read(ingest, retry=True)


def _go_on(report: IngestReport) -> None:
    """What was read is kept: read the rest, or load what there is."""
    ingest = session.ingest
    if ingest is None:
        return
    done = report.read + report.reused
    with st.container(horizontal=True, gap="small"):
        if st.button(f"Go on with the other {number(report.waiting)}", key="go_on", type="primary", icon=":material/play_arrow:"):
            read(ingest)
        if done and st.button(f"Load the {counted(done, 'document')} that are read", key="take_part"):
            read(ingest, part=True)


def _show_files(report: IngestReport) -> None:
    rows = [
        (escape(problem.file), '<span class="cx-need">broken</span>' if problem.broken else "left out", escape(problem.reason))
        for problem in sorted(report.problems, key=lambda problem: not problem.broken)[:MOST_FILES]
    ]
    more = len(report.problems) - len(rows)
    rest = f'<p class="cx-note">… and {number(more)} more.</p>' if more > 0 else ""
    table = table_html(("file", "", "why"), rows, caption=f"{counted(len(report.problems), 'file')} not loaded")
    st.html(boxed(f'<div class="cx-scroll cx-problems">{table}</div>{rest}', "ctx-files"))
