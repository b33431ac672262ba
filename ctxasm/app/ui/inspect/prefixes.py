"""Prefixes and citations: the token axis of the context, the summaries, the numbered list."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.inspect.budget_bar import strip_html
from ctxasm.app.ui.inspect.group import citation_shift, shift_html
from ctxasm.app.ui.widgets.chunk_clicks import at_of
from ctxasm.app.ui.widgets.context_marks import also_in, number_chip
from ctxasm.app.ui.widgets.fates import fates_by_key
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import number, title_of
from ctxasm.model.events import Prefixed
from ctxasm.model.results import Assembly


class PrefixRow(NamedTuple):
    """A page summary in the context and the tokens it costs."""

    document_id: str
    title: str
    summary: str
    tokens: int


def prefixes(assembly: Assembly) -> tuple[PrefixRow, ...]:
    """The page summaries that were written, in context order."""
    documents = assembly.trace.documents
    written = [event for stage in assembly.trace.stages for event in stage.events if isinstance(event, Prefixed)]
    return tuple(
        PrefixRow(e.document_id, title_of(documents, e.document_id), documents[e.document_id].summary or "", e.tokens)
        for e in written
        if e.document_id in documents
    )


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
            f"<span {at_of(citation.document_id, citation.chunk_indexes[0])}>"
            f'{escape(title_of(assembly.trace.documents, citation.document_id))}</span><br><span class="cx-mute cx-small">'
            f"{escape(citation.ref)} {page}</span>"
        )
        rows.append((number_chip(citation.number), source, chunks, escape(citation.snippet), also))
    heads = ("number", "source", "chunks", "snippet of the best hit", "also in")
    width = len(heads) if any(row[-1] for row in rows) else len(heads) - 1
    return table_html(heads[:width], [row[:width] for row in rows], caption="Citations")


def prefixes_html(rows: Sequence[PrefixRow]) -> str:
    """The page summaries in the context, each once."""
    return table_html(
        ("document", "page summary", "tokens"),
        [(f"<span {at_of(r.document_id)}>{escape(r.title)}</span>", escape(r.summary), number(r.tokens)) for r in rows],
        (2,),
        "Page summaries",
    )


def show_prefixes(assembly: Assembly) -> None:
    """Where the tokens of the context are, and the page summaries among them."""
    middle = st.toggle(
        "Shade the middle of the context",
        key="shade_middle",
        persist_state="session",
        help="Position effect, Liu et al. 2024, illustrative.",
    )
    written = prefixes(assembly)
    summaries = prefixes_html(written) if written else '<p class="cx-note">No page summaries in this context.</p>'
    st.html(f"{strip_html(assembly, middle)}{boxed(summaries, 'ctx-prefixes')}")


def show_sources(assembly: Assembly) -> None:
    """What each number means, and what it would have meant before assembly."""
    shift = shift_html(citation_shift(assembly))
    st.html(boxed(f'<div style="display:grid;gap:14px">{_citations(assembly)}<div id="ctx-shift">{shift}</div></div>', "ctx-citations"))
