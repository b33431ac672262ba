"""What an enrichment came to, and the queries that were made of its questions."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.ui.enrich_words import actual_words
from ctxasm.ui.load_tables import notes_html
from ctxasm.ui.pictures import boxed, table_html
from ctxasm.ui.words import number, plural

if TYPE_CHECKING:
    from ctxasm.enriched_queries import MadeQueries
    from ctxasm.enrichment.reports import EnrichReport

MOST_FAILED = 100


def show_enriched(report: EnrichReport) -> None:
    """The report of a run."""
    whole = not (report.cancelled or report.stopped or report.failed)
    heading = "Enriched" if whole else "Cancelled" if report.cancelled else "Enriched in part"
    stopped = f'<p class="cx-need">{escape(report.stopped)}</p>' if report.stopped else ""
    st.html(
        boxed(
            f'<div class="cx-panel {"ok" if whole else "warn"}" role="status" id="ctx-report"><h3>{heading}</h3>'
            f"<p>{escape(report.summary)}</p><p>{escape(actual_words(report))}</p>{stopped}{notes_html(report.notes)}</div>"
        )
    )
    if report.failed:
        rows = [(escape(batch.what), number(batch.chunks), escape(batch.reason)) for batch in report.failed[:MOST_FAILED]]
        caption = f"{plural(len(report.failed), 'batch').replace('batchs', 'batches')} failed: asked again with the next run"
        table = table_html(("batch", "chunks", "why"), rows, (1,), caption)
        st.html(boxed(f'<div class="cx-scroll cx-problems">{table}</div>'))


def show_made(made: MadeQueries) -> None:
    """The queries that were saved."""
    left = f" {plural(made.ambiguous, 'question')} left out: several chunks answer them." if made.ambiguous else ""
    gone = f" {plural(made.removed, 'query')} of an earlier time removed." if made.removed else ""
    heading = "Cancelled: no query was saved" if made.cancelled else f"{plural(len(made.saved), 'query')} saved"
    what = f"Chosen from {plural(made.questions, 'question')}; the chunk that each was made for is its gold evidence.{left}{gone}"
    look = "warn" if made.cancelled else "ok"
    st.html(boxed(f'<div class="cx-panel {look}" role="status" id="ctx-report"><h3>{heading}</h3><p>{what}</p></div>'))
