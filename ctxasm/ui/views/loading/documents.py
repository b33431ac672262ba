"""Documents of one's own: uploaded, or a folder of this machine; read one by one, cut into chunks, loaded when all are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.outcome import begin, refuse
from ctxasm.ui.views.title import show_problem
from ctxasm.ui.whose_machine import on_this_machine

if TYPE_CHECKING:
    from ctxasm.ingest.collecting import Source
    from ctxasm.ingest.options import IngestOptions

KINDS = ["pdf", "docx", "html", "htm", "xhtml", "md", "markdown", "txt", "zip"]
NOTE = (
    "PDF, DOCX, HTML, Markdown and plain text, or a .zip of them. Pages, headings and tables are kept; one broken file is reported and "
    "skipped. Ask your own questions of them afterwards."
)
UPLOAD, FOLDER = "Upload", "Folder on this machine"


class Ingest(NamedTuple):
    """What is to be read, and how: kept by the session, so that what was cancelled can go on."""

    sources: Sequence[Source]
    options: IngestOptions
    name: str | None


def show_documents() -> None:
    """Choose documents and how they are cut, and read them."""
    st.html(boxed(f'<p class="cx-note">{NOTE}</p>'))
    left, right = st.columns([3, 2], gap="large")
    with left:
        sources = _sources()
        name = st.text_input(
            "Dataset name", key="documents_name", placeholder="the folder's or file's name", max_chars=100, persist_state="session"
        )
    with right:
        options = _options()
    if isinstance(options, CtxasmError):
        show_problem(str(options))
    elif st.button("Read the documents", key="load_documents", type="primary", disabled=not sources, icon=":material/description:"):
        read(Ingest(sources, options, name.strip() or None))


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
    most = desk.workbench().config.max_upload_mb
    files = st.file_uploader(
        "Documents", KINDS, accept_multiple_files=True, key="documents", max_upload_size=most, label_visibility="collapsed"
    )
    return tuple((file.name, file.getvalue()) for file in files)


def _options() -> IngestOptions | CtxasmError:
    from ctxasm.ingest.options import IngestOptions

    standard = IngestOptions()
    with st.container(horizontal=True, gap="small"):
        most = st.number_input("Chunk size (tokens)", 16, 8192, standard.max_tokens, 50, key="chunk_tokens", persist_state="session")
        overlap = st.number_input("Overlap (tokens)", 0, 8191, standard.overlap_tokens, 10, key="overlap_tokens", persist_state="session")
    sentences = st.toggle(
        "Whole sentences",
        standard.sentences,
        key="whole_sentences",
        persist_state="session",
        help="A sentence is cut only where it alone is longer than a chunk.",
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
        return IngestOptions(int(most), int(overlap), sentences, pages, headings)
    except CtxasmError as error:
        return error


def read(ingest: Ingest, part: bool = False, retry: bool = False) -> None:
    """Read the documents as a job; `part` reads nothing more and loads what is done, `retry` tries broken ones again."""
    from ctxasm.ingest.collecting import default_name
    from ctxasm.ingesting import ingest as run

    st.session_state["_ingest"] = ingest
    try:
        workbench, what = desk.workbench(), ingest.name or default_name(ingest.sources)
    except CtxasmError as error:
        refuse(error)
    begin(
        f"ingest {what}",
        f"Reading {what}",
        what,
        lambda report, cancelled: run(workbench, ingest.sources, ingest.options, ingest.name, report, cancelled, part=part, retry=retry),
        (*ingest, part, retry),
    )
