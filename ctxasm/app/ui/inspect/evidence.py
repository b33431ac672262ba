"""Gold evidence: each span that the query needs, whether it is in the context, and the stage that lost it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_empty
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import title_of
from ctxasm.model.results import Assembly
from ctxasm.model.stage_labels import stage_name
from ctxasm.tuning.evidence import EvidenceState

LOOKS = {
    "found": ("", "in the context"),
    "partly": (" part", "partly"),
    "lost": (" gone", "lost"),
    "unknown": (" gone", "cannot be judged"),
}


class Level(NamedTuple):
    """What is left after a stage. `evidence` counts the pieces of which nothing is lost so far, `lost` those that it lost."""

    stage: str
    hits: int
    neighbours: int
    tokens: int
    evidence: int
    lost: int


def flow(assembly: Assembly, evidence: Sequence[EvidenceState] = ()) -> tuple[Level, ...]:
    """From what retrieval brought to what is written, a level for every stage that ran."""
    hits = {(fate.document_id, fate.chunk_index) for fate in assembly.trace.fates if fate.retrieved}
    stages = assembly.trace.stages
    ran = {record.stage for record in stages}
    # Evidence that no stage of this run lost was never brought: cannot be judged, or not retrieved.
    alive = [state for state in evidence if state.state != "unknown"]
    missing = sum(state.stage is not None and state.stage not in ran for state in alive)
    left = len(alive) - missing
    levels = [Level("retrieved", len(hits), 0, stages[0].tokens_in if stages else 0, left, missing)]
    for record in stages:
        lost = sum(state.stage == record.stage for state in alive)
        left -= lost
        own = {(shown.document_id, shown.chunk_index) for shown in record.after}
        levels.append(Level(record.stage, len(own & hits), len(own - hits), record.tokens_out, left, lost))
    return tuple(levels)


def states_of(scene: Scene, assembly: Assembly) -> tuple[EvidenceState, ...]:
    """The state of the query's evidence in an assembly, empty where none is labelled; those of the last two are kept."""
    if not (scene.query.spans or scene.query.gold):
        return ()
    kept = next((states for of, states in session.evidence if of is assembly), None)
    if kept is None:
        kept = server.workbench().evidence(assembly, scene.dataset)
        session.evidence = (*session.evidence[-1:], (assembly, kept))
    return kept


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
    for chunk in server.workbench().document_chunks(state.document_id, scene.dataset):
        if chunk.chunk_index in wanted and state.start is not None and chunk.start is not None:
            low = max(0, state.start - chunk.start)
            text = chunk.text[low : max(low, (state.end or 0) - chunk.start)]
            return escape(text[:220]) + ("…" if len(text) > 220 else "")
        if chunk.chunk_index in wanted:
            return escape(chunk.text[:220]) + "…"
    return ""


def show_evidence(scene: Scene, assembly: Assembly) -> None:
    """A row per piece of evidence, and the reference answer."""
    if not (scene.query.spans or scene.query.gold):
        show_empty(
            "No evidence is labelled for this query", "Add `spans` or `gold` to its line in queries.jsonl and load the bundle again."
        )
        return
    states = states_of(scene, assembly)
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
