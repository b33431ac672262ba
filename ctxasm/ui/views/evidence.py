"""Gold evidence: each span that the query needs, whether it is in the context, and the stage that lost it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui import desk
from ctxasm.ui.flow_picture import flow_html
from ctxasm.ui.flow_rows import flow
from ctxasm.ui.pictures import boxed, table_html
from ctxasm.ui.state import Scene
from ctxasm.ui.views.title import show_empty
from ctxasm.ui.words import stage_name, title_of

if TYPE_CHECKING:
    from ctxasm.evaluation.evidence import EvidenceState

LOOKS = {
    "found": ("", "in the context"),
    "partly": (" part", "partly"),
    "lost": (" gone", "lost"),
    "unknown": (" gone", "cannot be judged"),
}


def show_evidence(scene: Scene, assembly: Assembly) -> None:
    """A row per piece of evidence, and the reference answer."""
    if not (scene.query.spans or scene.query.gold):
        show_empty("No gold evidence for this query", "Add `spans` or `gold` to its line in queries.jsonl and load the bundle again.")
        return
    states = desk.workbench().evidence(assembly, scene.dataset)
    found = sum(state.state == "found" for state in states)
    rows = [_row(scene, assembly, state) for state in states]
    table = table_html(
        ("evidence", "text", "state", "share", "lost at"), rows, (3,), f"{found} of {len(states)} pieces of evidence are in the context"
    )
    answer = (
        f'<p class="cx-note" style="padding-top:10px"><b>Reference answer:</b> {escape(scene.query.answer)}</p>'
        if scene.query.answer
        else ""
    )
    st.html(boxed(table + answer, "ctx-evidence"))
    st.html(boxed(flow_html(flow(assembly, states)), "ctx-flow"))


def _row(scene: Scene, assembly: Assembly, state: EvidenceState) -> tuple[str, ...]:
    look, words = LOOKS[state.state]
    title = escape(title_of(assembly.trace.documents, state.document_id))
    chunks = ", ".join(f"#{index}" for index in state.chunk_indexes)
    where = f"characters {state.start}–{state.end}" if state.start is not None else "chunk"
    lost = "" if state.stage is None else "never retrieved" if state.stage == "retrieve" else stage_name(state.stage)
    return (
        f'{title}<br><span class="cx-mute cx-small">{where} · {escape(chunks)}</span>',
        _text(scene, state),
        f'<span class="cx-fate{look}">{words}</span>',
        f"{100 * state.share:.0f} %",
        lost,
    )


def _text(scene: Scene, state: EvidenceState) -> str:
    """The first words of the evidence, from the stored chunks."""
    wanted = set(state.chunk_indexes)
    for chunk in desk.workbench().document_chunks(state.document_id, scene.dataset):
        if chunk.chunk_index in wanted and state.start is not None and chunk.start is not None:
            low = max(0, state.start - chunk.start)
            text = chunk.text[low : max(low, (state.end or 0) - chunk.start)]
            return escape(text[:220]) + ("…" if len(text) > 220 else "")
        if chunk.chunk_index in wanted:
            return escape(chunk.text[:220]) + "…"
    return ""
