"""Enriching a dataset: by rules or by a model, with what it would take before and what it took after."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk
from ctxasm.ui.awaiting import awaited
from ctxasm.ui.enrich_words import estimate_words
from ctxasm.ui.models import typed_endpoint
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.outcome import begin
from ctxasm.ui.views.title import show_problem
from ctxasm.ui.words import plural

if TYPE_CHECKING:
    from ctxasm.enriching import EnrichOptions
    from ctxasm.enrichment.reports import Estimate
    from ctxasm.store.listing import DatasetInfo

NOTE = (
    "A summary for each document, a situating context and questions for each chunk: they are indexed with the text, so that a search "
    "for enriched text finds more. What is shown and sent stays the stored text; summaries go into the page prefixes."
)
VARIANTS = {"extractive": "By rules · no model", "model": "By a language model"}
MOST_QUESTIONS = 5000


def enrich_panel(info: DatasetInfo, enriched: bool) -> None:
    """What to write and with what; the estimate; the run; and queries from its questions."""
    with st.container(border=True, key="enrich_panel"):
        st.html(boxed(f'<h2 class="cx-h">Enrich {escape(info.name)}</h2><p class="cx-note">{NOTE}</p>'))
        options = _options()
        if options is not None:
            _estimate(info, options)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            label = f"Enrich {plural(info.chunks, 'chunk')}"
            if st.button(label, key="load_enrich", type="primary", disabled=options is None, icon=":material/auto_awesome:"):
                _begin(info, options)
            if enriched:
                _queries(info)
            st.button("Close", key="close_enrich", on_click=close_panel)


def open_panel(name: str) -> None:
    """Show the panel under this dataset (a callback)."""
    st.session_state["_enriching"] = name


def close_panel() -> None:
    """Show it no more (a callback)."""
    st.session_state["_enriching"] = None


def _options() -> EnrichOptions | None:
    """What the widgets say; None after saying why it cannot be used."""
    from ctxasm.enriching import EnrichOptions

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
        typed = str(st.session_state.get("_llm_base_url") or "").strip()
        show_problem(str(error) if typed else "Name an endpoint and a model first, or enrich by rules.")
        return None


def _of_model(options: EnrichOptions) -> EnrichOptions:
    endpoint = typed_endpoint(desk.workbench().config)
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
    from ctxasm.enriching import estimate

    wanted = (info.dataset_id, options, st.session_state.get("_loads", 0))
    if options.variant == "model" and st.session_state.get("_estimated") != wanted:
        if not st.button("Estimate the cost", key="estimate", icon=":material/calculate:"):
            return
        st.session_state["_estimated"] = wanted
    workbench = desk.workbench()
    try:
        found: Estimate = awaited(
            "estimate", wanted, lambda report, cancelled: estimate(workbench, info.name, options, report, cancelled), "Cancel the estimate"
        )
    except CtxasmError as error:
        show_problem(str(error))
        return
    st.html(boxed(f'<p id="ctx-estimate" role="status">{escape(estimate_words(found))}</p>'))


def _begin(info: DatasetInfo, options: EnrichOptions | None) -> None:
    from ctxasm.enriching import enrich

    workbench = desk.workbench()
    begin(
        f"enrich {info.name}",
        f"Enriching {info.name}",
        info.name,
        lambda report, cancelled: enrich(workbench, info.name, options, report, cancelled),
        options,
    )


def _queries(info: DatasetInfo) -> None:
    """The questions as queries with the chunk each was made for as gold evidence."""
    from ctxasm.enriching import questions_as_queries

    workbench = desk.workbench()
    most = int(st.number_input("Questions", 1, MOST_QUESTIONS, 100, 50, key="most_questions", persist_state="session", width=140))
    if st.button("Make a query set of the questions", key="make_queries", icon=":material/quiz:"):
        begin(
            f"questions {info.name}",
            f"Searching for the questions of {info.name}",
            info.name,
            lambda report, cancelled: questions_as_queries(workbench, info.name, most, report=report, cancelled=cancelled),
            most,
        )
