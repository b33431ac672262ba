"""Prefixes and citations: the token axis of the context, the summaries, the numbered list."""

from __future__ import annotations

from html import escape

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.bars import strip_html
from ctxasm.ui.copy_rows import also_in, fates_by_key
from ctxasm.ui.pictures import boxed, number_chip, prefixes_html, table_html
from ctxasm.ui.stage_rows import prefixes
from ctxasm.ui.words import title_of


def show_prefixes(assembly: Assembly) -> None:
    """Where the tokens of the context are, and what each number means."""
    middle = st.toggle(
        "Shade the middle of the context",
        key="shade_middle",
        persist_state="session",
        help="Position effect, Liu et al. 2024, illustrative.",
    )
    written = prefixes(assembly)
    summaries = prefixes_html(written) if written else '<p class="cx-note">No page summaries in this context.</p>'
    st.html(strip_html(assembly, middle))
    st.html(boxed(f'<div style="display:grid;gap:14px">{_citations(assembly)}{summaries}</div>', "ctx-citations"))


def _citations(assembly: Assembly) -> str:
    rows, fates = [], fates_by_key(assembly)
    for citation in assembly.citations:
        also = "<br>".join(
            f"{escape(place.title)}{f' <span class={chr(34)}cx-mute{chr(34)}>{escape(place.label)}</span>' if place.label else ''}"
            for place in also_in(assembly, citation, fates)
        )
        page = (
            f"page {citation.page_number}"
            if citation.page_number is not None
            else f"row {citation.row_number}"
            if citation.row_number is not None
            else ""
        )
        chunks = ", ".join(f"#{index}" for index in citation.chunk_indexes)
        source = (
            f'{escape(title_of(assembly.trace.documents, citation.document_id))}<br><span class="cx-mute cx-small">'
            f"{escape(citation.ref)} {page}</span>"
        )
        rows.append((number_chip(citation.number), source, chunks, escape(citation.snippet), also))
    heads = ("number", "source", "chunks", "snippet of the best hit", "also in")
    width = len(heads) if any(row[-1] for row in rows) else len(heads) - 1
    return table_html(heads[:width], [row[:width] for row in rows], caption="Citations, built from the rendered blocks")
