"""Files of one's own."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from ctxasm.ui import desk
from ctxasm.ui.pictures import boxed, table_html
from ctxasm.ui.views.loading.outcome import begin

FILES = (
    ("documents.jsonl", "document_id, title?, source?, summary?, date?"),
    ("chunks.jsonl", "document_id, chunk_index, text, start?, end?, page_number?, section?"),
    ("queries.jsonl", "query_id, query, gold?, spans?, answer?, history?"),
    ("retrievals.jsonl", "query_id, retrieved: [document_id, chunk_index, score, rank?], search_method?, bm25_matches?"),
    ("answers.jsonl", "query_id, answer (optional file)"),
)


def show_files() -> None:
    """A bundle: one archive or its files."""
    st.html(
        boxed(
            '<p class="cx-note">One .zip, or its .jsonl files together. All or nothing: with one wrong line nothing is loaded, and every '
            "problem is listed.</p>"
        )
    )
    files = st.file_uploader("Bundle", type=["zip", "jsonl"], accept_multiple_files=True, key="bundle", label_visibility="collapsed")
    name = st.text_input("Dataset name", key="bundle_name", placeholder="taken from the file name", max_chars=100)
    if st.button("Load the bundle", key="load_bundle", disabled=not files, type="primary"):
        data, file_name = _as_one(files)
        workbench, dataset = desk.workbench(), name.strip() or None
        begin(
            f"load {dataset or file_name}",
            f"Loading {file_name}",
            dataset or "",
            lambda report, cancelled: workbench.load_upload(data, file_name, dataset),
        )
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
