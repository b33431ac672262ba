"""The page Inspect: the funnel of stages, and below it the picture of the chosen stage beside the text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.answering.prompts import build_messages
from ctxasm.app.fates import FunnelStep, steps
from ctxasm.app.ui.frame import state
from ctxasm.app.ui.frame.address import copy_button, hear_clicks, offer_pin
from ctxasm.app.ui.frame.gold import keep_marks, show_gold_problem
from ctxasm.app.ui.frame.layout import DETAILS, EVIDENCE, drawer, open_drawer, show_empty, show_query_title
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.frame.settings_panel import PAGE, show_controls, show_settings_drawer
from ctxasm.app.ui.frame.sidebar import current_assembly
from ctxasm.app.ui.frame.state import stamp_of
from ctxasm.app.ui.inspect.budget import show_budget, show_prefixes, show_sources
from ctxasm.app.ui.inspect.budget_bar import show_budget_bar
from ctxasm.app.ui.inspect.change import settle, show_before_after, show_context_text, show_ledger
from ctxasm.app.ui.inspect.chunks import show_expand, show_found, show_life
from ctxasm.app.ui.inspect.copies import show_compress, show_deduplicate
from ctxasm.app.ui.inspect.evidence import cancel_outdated, expected, show_advice, show_evidence, show_find, states_of
from ctxasm.app.ui.inspect.order import cache_prefix_panel, show_group, show_order
from ctxasm.app.ui.markup import OFFER, boxed, marked_key, marked_of, offer_html, picked_key, picked_text, table_html
from ctxasm.app.ui.words import number
from ctxasm.model.amounts import counted
from ctxasm.model.events import stage_name
from ctxasm.model.results import Assembly, Key
from ctxasm.text.language import language_of

KEY = "funnel"


def show_funnel(found: Sequence[FunnelStep]) -> FunnelStep:
    """Draw the steps; return the chosen one."""
    named = {step.name: step for step in found}
    chosen = session.step if session.step in named else "widened"
    if st.session_state.get(KEY) != chosen:
        st.session_state[KEY] = chosen
    st.segmented_control(
        "Steps of the assembly",
        list(named),
        key=KEY,
        required=True,
        format_func=lambda name: _label(named[name]) if name in named else str(name),
        on_change=_choose,
        label_visibility="collapsed",
        width="stretch",
    )
    return named[chosen]


def _label(step: FunnelStep) -> str:
    unit = " tokens" if step.name == "found" else ""
    return f"{step.label} **{step.value}** :gray[{number(step.tokens)}{unit}{evidence_mark(step)}]"


def evidence_mark(step: FunnelStep) -> str:
    """A filled sign where all labelled evidence is whole so far, an empty one where not; how much is left, where a step loses some."""
    if not step.labelled:
        return ""
    if step.kept == step.labelled:
        return " ●"
    return f" ○\u202f{step.kept}/{step.labelled}" if step.lost else " ○"


def _choose() -> None:
    session.step = st.session_state[KEY]


def time_html(assembly: Assembly) -> str:
    """The time of each stage, and of reading the store."""
    stages, fetch = assembly.trace.stages, assembly.trace.fetch
    rows = [
        (
            stage_name(stage.stage),
            f"{stage.elapsed_ms:.2f}",
            f"{len(stage.before)} → {len(stage.after)}",
            f"{number(stage.tokens_in)} → {number(stage.tokens_out)}",
        )
        for stage in stages
    ]
    rows.append(("<b>All stages</b>", f"<b>{sum(stage.elapsed_ms for stage in stages):.2f}</b>", "", ""))
    note = (
        f'<p class="cx-note" style="margin-top:8px">Reading the store: {counted(fetch.statements, "statement")} for chunks, '
        f"{counted(fetch.document_statements, 'statement')} for titles, {counted(fetch.rows, 'row')}, {fetch.elapsed_ms:.2f} ms.</p>"
    )
    return table_html(("stage", "ms", "chunks", "tokens"), rows, (1, 2, 3), "Time of each stage") + note


def messages_json(assembly: Assembly) -> str:
    """The messages as an OpenAI-compatible endpoint takes them."""
    messages = build_messages(assembly, language=language_of(assembly.query.query))
    return json.dumps([{"role": m.role, "content": m.content} for m in messages], ensure_ascii=False, indent=1)


def show_export(assembly: Assembly) -> None:
    """Three things to take along, each copied or downloaded."""
    name = assembly.query.query_id or "query"
    context, messages, trace = st.columns(3, gap="medium")
    with context:
        st.markdown("**Context** as the model reads it")
        copy_button("Copy context", assembly.text, "copy_context")
        st.download_button(
            "Download .txt", assembly.text, f"{name}-context.txt", "text/plain", key="download_context", on_click="ignore", width="stretch"
        )
    with messages:
        st.markdown("**Messages** for the model")
        written = messages_json(assembly)
        copy_button("Copy messages", written, "copy_messages")
        st.download_button(
            "Download .json",
            written,
            f"{name}-messages.json",
            "application/json",
            key="download_messages",
            on_click="ignore",
            width="stretch",
        )
    with trace:
        st.markdown("**Trace**: text, segments, stages, fates")
        whole = json.dumps(assembly.to_dict(), ensure_ascii=False, indent=1)
        copy_button("Copy trace", whole, "copy_trace")
        st.download_button(
            "Download trace", whole, f"{name}-trace.json", "application/json", key="download_trace", on_click="ignore", width="stretch"
        )


LIFE = "Chunk"
TABS = (LIFE, "Find", EVIDENCE, "Same start", "Time", "Export")


def follow_chunk(key: Key) -> None:
    """Open the drawer at the life of this chunk (a callback)."""
    state.pick_chunk(key)
    session.details_tab, session.drawer = LIFE, DETAILS


def show_details(scene: Scene, assembly: Assembly) -> None:
    """What else the trace can answer, where the drawer stands open."""
    if session.drawer != DETAILS:
        return
    with drawer("Details"):
        st.segmented_control(
            "Details", TABS, default=LIFE, required=True, key="details_tab", persist_state="session", label_visibility="collapsed"
        )
        match session.details_tab:
            case "Find":
                show_find(scene, assembly, expected(scene, assembly))
            case "Evidence":
                show_evidence(scene, assembly)
            case "Same start":
                cache_prefix_panel(scene)
            case "Time":
                st.html(boxed(time_html(assembly), "ctx-time"))
            case "Export":
                show_export(assembly)
            case _:
                show_life(scene, assembly, expected(scene, assembly))


PICTURES: Mapping[str, Callable[[Scene, Assembly], None]] = {
    "found": show_found,
    "widened": lambda scene, assembly: show_expand(assembly, expected(scene, assembly)),
    "repeats": lambda _, assembly: show_deduplicate(assembly),
    "grouped": lambda _, assembly: show_group(assembly),
    "shortened": lambda _, assembly: show_compress(assembly),
    "fits": lambda _, assembly: show_budget(assembly),
    "ordered": lambda _, assembly: show_order(assembly),
    "prefixed": lambda _, assembly: show_prefixes(assembly),
    "sources": lambda _, assembly: show_sources(assembly),
}


def show_picture(step: FunnelStep, scene: Scene, assembly: Assembly) -> None:
    """What the step did, in a sentence and a picture."""
    if not assembly.trace.fates:
        show_empty(
            "The search found nothing for this question",
            "The context is empty, and no model is called. Choose another question.",
        )
        return
    look = "" if step.kept == step.labelled else " gone"
    evidence = f'<span class="cx-fate{look}" title="labelled evidence that is whole after this step">evidence {step.evidence}</span>'
    note = f'{escape(step.does)} <code title="its name in settings, traces and code">{step.stage}</code>'
    st.html(boxed(f'<p class="cx-note">{note} {evidence if step.evidence else offer_html()}</p>', "ctx-step"))
    PICTURES[step.name](scene, assembly)


@fragment(key=PAGE)
def show_inspect(scene: Scene) -> None:
    """Everything that Inspect draws of a query; a changed setting runs this and nothing of the frame.

    What stands before the advice, a fragment within this one, always fills as many places, and the drawers come last: when a run ends
    another whose elements are still to be sent, Streamlit drops those and yet sends the ones of the inner fragment, to the place that it
    had in that run. An element of the page must not stand there.
    """
    del session.live
    scene = replace(scene, settings=session.now)
    cancel_outdated(scene)
    stamp, assembly = stamp_of(scene), current_assembly(scene)
    if assembly is not None:
        settle(scene, assembly)
    with st.container():
        show_query_title("Inspect", scene, assembly, stamp)
        show_gold_problem()
    show_controls(scene)
    if assembly is None:
        show_budget_bar(scene)
        show_settings_drawer()
        return
    step = show_funnel(steps(assembly, states_of(scene, assembly)))
    show_budget_bar(scene)
    is_changed = show_before_after(scene, assembly, stamp)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="said"):
        show_advice(scene)
        if is_changed:
            offer_pin()
        st.button("Details", key="details", on_click=open_drawer, args=(DETAILS,), icon=":material/search:", type="tertiary")
    with st.container(horizontal=True, gap="small", key="halves"):
        picture = st.container(key="picture", gap="small")
        show_context_text(assembly, stamp)
        with picture:
            show_picture(step, scene, assembly)
    if is_changed:
        show_ledger(assembly)
    hear_clicks("chunk_clicks", partial(_picked, scene))
    show_details(scene, assembly)
    show_settings_drawer()


def _picked(scene: Scene, said: str) -> bool:
    """A chunk was clicked, which opens its life; the sign at one, which marks it as expected, or not, for the whole page; or the way to
    gold (a callback).
    """
    if (key := picked_key(said)) is not None:
        follow_chunk(key)
    elif (key := marked_key(said)) is not None:
        keep_marks(scene, [key], "remove" if key in marked_of(scene.query) else "add")
        return True
    elif picked_text(said) == OFFER:
        session.details_tab, session.drawer = EVIDENCE, DETAILS
    return False
