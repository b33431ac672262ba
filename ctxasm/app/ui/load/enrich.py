"""Enriching a dataset: by rules or by a model, with what it would take before and what it took after."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.layout import show_problem
from ctxasm.app.ui.frame.models import typed_endpoint
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.work import wait_for
from ctxasm.app.ui.load.jobs import begin, notes_html
from ctxasm.app.ui.markup import boxed, table_html
from ctxasm.app.ui.words import number
from ctxasm.data.enrich.enriching import EnrichReport, Estimate
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from ctxasm.data.enrich.enriching import EnrichOptions
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.retrieval.canonical_questions import MadeQueries

NOTE = (
    "A summary for each document, a situating context and questions for each chunk: they are indexed with the text, so that a search "
    "for enriched text finds more. What is shown and sent stays the stored text; summaries go into the page prefixes."
)
VARIANTS = {"extractive": "By rules · no model", "model": "By a language model"}
MOST_QUESTIONS = 5000
MOST_FAILED = 100


def dollars(cost: float) -> str:
    """A price as short as it can be read: `$0.12`, `under $0.01`."""
    if cost <= 0:
        return "$0"
    return "under $0.01" if cost < 0.01 else f"${cost:,.2f}"


def estimate_words(estimate: Estimate) -> str:
    """What `enrich` would take, as sentences."""
    left = estimate.chunks - estimate.kept
    known = f", {number(estimate.kept)} of them enriched already" if estimate.kept else ""
    chunks = f"{counted(estimate.chunks, 'chunk')}{known}."
    if not left:
        return f"{chunks} There is nothing to do."
    if estimate.variant == "extractive":
        return f"{chunks} By rules: no model, no cost."
    about = "" if estimate.exact else "about "
    tokens = (
        f"{counted(estimate.calls, 'call')} to {estimate.model}: {about}{number(estimate.tokens_in)} tokens in, about "
        f"{number(estimate.tokens_out)} out."
    )
    if estimate.cost is None or estimate.price is None:
        return f"{chunks} {tokens} No price is known for this model: give one below."
    return f"{chunks} {tokens} About {dollars(estimate.cost)} ({estimate.price.source})."


def actual_words(report: EnrichReport) -> str:
    """What a run of a model took; empty for one by rules."""
    if report.variant != "model":
        return ""
    told = "told by the server" if report.counted else "counted here"
    cost = "" if report.cost is None else f", {dollars(report.cost)}"
    return f"{counted(report.calls, 'call')}, {number(report.tokens_in)} tokens in and {number(report.tokens_out)} out ({told}){cost}."


def enrich_panel(info: DatasetInfo, enriched: bool) -> None:
    """What to write and with what; the estimate; the run; and queries from its questions."""
    with st.container(border=True, key="enrich_panel"):
        st.html(boxed(f'<h2 class="cx-h">Enrich {escape(info.name)}</h2><p class="cx-note">{NOTE}</p>'))
        options = _options()
        if options is not None:
            _estimate(info, options)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            label = f"Enrich {counted(info.chunks, 'chunk')}"
            if st.button(label, key="load_enrich", type="primary", disabled=options is None, icon=":material/auto_awesome:"):
                _begin(info, options)
            if enriched:
                _queries(info)
            st.button("Close", key="close_enrich", on_click=close_panel)


def open_panel(name: str) -> None:
    """Show the panel under this dataset (a callback)."""
    session.enriching = name


def close_panel() -> None:
    """Show it no more (a callback)."""
    session.enriching = None


def _options() -> EnrichOptions | None:
    """What the widgets say; None after saying why it cannot be used."""
    from ctxasm.data.enrich.enriching import EnrichOptions

    variant: Any = st.segmented_control(
        "By", tuple(VARIANTS), default="extractive", required=True, format_func=VARIANTS.__getitem__, key="variant", persist_state="session"
    )
    with st.container(horizontal=True, gap="medium"):
        summaries = st.toggle("Summaries", True, key="with_summaries", persist_state="session")
        contexts = st.toggle("Contexts", True, key="with_contexts", persist_state="session")
        questions = st.toggle("Questions", True, key="with_questions", persist_state="session")
    try:
        options = EnrichOptions(variant, summaries, contexts, questions)
        return options if variant == "extractive" else _of_model(options)
    except CtxasmError as error:
        typed = (session.llm_base_url or "").strip()
        show_problem(str(error) if typed else "Name an endpoint and a model first, or enrich by rules.")
        return None


def _of_model(options: EnrichOptions) -> EnrichOptions:
    endpoint = typed_endpoint(server.workbench().config)
    with st.container(horizontal=True, gap="small"):
        price_in = st.number_input(
            "$ per million tokens in", 0.0, 100_000.0, None, key="price_in", persist_state="session", placeholder="as known", width=200
        )
        price_out = st.number_input(
            "$ per million tokens out", 0.0, 100_000.0, None, key="price_out", persist_state="session", placeholder="as known", width=200
        )
    both = price_in is not None and price_out is not None
    return replace(options, endpoint=endpoint, price_in=price_in if both else None, price_out=price_out if both else None)


def _estimate(info: DatasetInfo, options: EnrichOptions) -> None:
    """What it would take: counted on demand for a model, since every prompt is made for it."""
    from ctxasm.data.enrich.enriching import estimate

    wanted = (info.dataset_id, options, session.loads)
    if options.variant == "model" and session.estimated != wanted:
        if not st.button("Estimate the cost", key="estimate", icon=":material/calculate:"):
            return
        session.estimated = wanted
    workbench = server.workbench()
    try:
        found: Estimate = wait_for(
            "estimate", wanted, lambda report, cancelled: estimate(workbench, info.name, options, report, cancelled), "Cancel the estimate"
        )
    except CtxasmError as error:
        show_problem(str(error))
        return
    st.html(boxed(f'<p id="ctx-estimate" role="status">{escape(estimate_words(found))}</p>'))


def _begin(info: DatasetInfo, options: EnrichOptions | None) -> None:
    from ctxasm.data.enrich.enriching import enrich

    workbench = server.workbench()
    begin(
        f"enrich {info.name}",
        f"Enriching {info.name}",
        info.name,
        lambda report, cancelled: enrich(workbench, info.name, options, report, cancelled),
        options,
    )


def _queries(info: DatasetInfo) -> None:
    """The questions as queries with the chunk each was made for as gold evidence."""
    from ctxasm.retrieval.canonical_questions import questions_as_queries

    workbench = server.workbench()
    most = int(st.number_input("Questions", 1, MOST_QUESTIONS, 100, 50, key="most_questions", persist_state="session", width=140))
    if st.button("Save these questions", key="make_queries", icon=":material/quiz:"):
        begin(
            f"questions {info.name}",
            f"Searching for the questions of {info.name}",
            info.name,
            lambda report, cancelled: questions_as_queries(workbench, info.name, most, report=report, cancelled=cancelled),
            most,
        )


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
        caption = f"{counted(len(report.failed), 'batch')} failed: asked again with the next run"
        table = table_html(("batch", "chunks", "why"), rows, (1,), caption)
        st.html(boxed(f'<div class="cx-scroll cx-problems">{table}</div>'))


def show_made(made: MadeQueries) -> None:
    """The queries that were saved."""
    left = f" {counted(made.ambiguous, 'question')} left out: several chunks answer them." if made.ambiguous else ""
    gone = f" {counted(made.removed, 'question')} of an earlier time removed." if made.removed else ""
    heading = "Cancelled: no question was saved" if made.cancelled else f"{counted(len(made.saved), 'question')} saved"
    what = f"Chosen from {counted(made.questions, 'question')}; the chunk that each was made for is its gold evidence.{left}{gone}"
    look = "warn" if made.cancelled else "ok"
    st.html(boxed(f'<div class="cx-panel {look}" role="status" id="ctx-report"><h3>{heading}</h3><p>{what}</p></div>'))
