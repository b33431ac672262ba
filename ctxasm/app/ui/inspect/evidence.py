"""The evidence that a question needs: where it stands or was lost, and the one change of the settings that is shown to help."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.fates import fate_of
from ctxasm.app.ui.context_marks import fate_chip, marked_phrase, number_chip
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.address import compare_address
from ctxasm.app.ui.frame.browser import await_rest
from ctxasm.app.ui.frame.jobs import Job, asked_to_end
from ctxasm.app.ui.frame.layout import show_empty, within
from ctxasm.app.ui.frame.session import Scene, session, take
from ctxasm.app.ui.frame.settings_panel import PAGE
from ctxasm.app.ui.frame.state import of_query
from ctxasm.app.ui.frame.work import cancel_work, find_work, start_work
from ctxasm.app.ui.markup import Expected, boxed, expected_of, sign_html, state_link, table_html
from ctxasm.app.ui.words import plain, title_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.errors import CtxasmError
from ctxasm.model.events import REASONS
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice import Advice, describe_effect
from ctxasm.tuning.engines import needs_this_process
from ctxasm.tuning.evidence import EvidenceState, evidence_text

LIMIT = 100
LONGEST_PHRASE = 300


def _found_row(assembly: Assembly, chunk: FetchedChunk, phrase: str, marks: Expected) -> tuple[int, str, str]:
    key = (chunk.document_id, chunk.chunk_index)
    name = f"{sign_html(marks, key)} <b>{escape(f'{key[0]} #{key[1]}')}</b><br>{marked_phrase(chunk.text, phrase)}"
    fate = fate_of(assembly, key)
    if fate is None:
        return 3, name, '<span class="cx-fate gone">not found</span><br>nor a neighbour of a found chunk'
    sent = fate.fate in ("kept", "truncated", "merged")
    why = f" {number_chip(fate.block)}" if sent and fate.block is not None else f"<br>{escape(REASONS.get(fate.reason or '', ''))}"
    return (0 if sent else 1 if fate.fate == "duplicate_of" else 2), name, f"{fate_chip(fate)}{why}"


def show_find(scene: Scene, assembly: Assembly, marks: Expected, hint: bool = True) -> None:
    """A phrase, and where it went; what was found can be marked as expected. `hint`: an empty one says what it is for."""
    typed = st.text_input("Phrase", key="find_phrase", placeholder="e.g. a name, a number, half a sentence", persist_state="session")
    phrase = within("A phrase", typed, LONGEST_PHRASE)
    if not phrase:
        if hint and phrase is not None:
            told = "Type a phrase: every chunk of the dataset that holds it is listed, with what became of it for this question."
            show_empty("Where did it go?", told)
        return
    found = server.workbench().find_text(scene.dataset, phrase, LIMIT)
    if not found:
        show_empty("Not in this dataset", "No chunk holds this phrase. Case does not matter, spelling does.")
        return
    rows = sorted((_found_row(assembly, chunk, phrase, marks) for chunk in found), key=lambda row: row[0])
    shown = (
        f"{counted(len(found), 'chunk')}{' (the first ' + str(LIMIT) + ')' if len(found) == LIMIT else ''}, "
        f"{sum(row[0] < 2 for row in rows)} of them in the context"
    )
    st.html(boxed(table_html(("chunk", "outcome"), [row[1:] for row in rows], caption=escape(shown)), "ctx-find"))


LOOKS = {
    "found": ("", "in the context"),
    "partly": (" part", "partly"),
    "lost": (" gone", "lost"),
    "unknown": (" gone", "cannot be judged"),
}


def states_of(scene: Scene, assembly: Assembly) -> tuple[EvidenceState, ...]:
    """The state of the query's evidence in an assembly, empty where none is labelled; those of the last two are kept."""
    if not scene.query.is_labelled:
        return ()
    kept = next((states for of, query, states in session.evidence if of is assembly and query == scene.query), None)
    if kept is None:
        kept = server.workbench().evidence(of_query(assembly, scene.query), scene.dataset)
        session.evidence = (*session.evidence[-1:], (assembly, scene.query, kept))
    return kept


def expected(scene: Scene, assembly: Assembly) -> Expected:
    """The chunks that are expected."""
    return expected_of(scene.query, states_of(scene, assembly))


def _row(scene: Scene, assembly: Assembly, state: EvidenceState, marks: Expected) -> tuple[str, ...]:
    look, words = LOOKS[state.state]
    title = escape(title_of(assembly.trace.documents, state.document_id))
    chunks = ", ".join(f"#{index}" for index in state.chunk_indexes)
    where = f"characters {state.place.start}–{state.place.end} · " if state.kind == "span" else ""
    share = percent(state.share) if state.state == "partly" else ""
    lost = " ".join(filter(None, (share, state.where_lost())))
    others = ", ".join(f"{title_of(assembly.trace.documents, name)} #{index}" for name, index in state.others)
    enough = f'<br><span class="cx-mute cx-small">or {escape(others)}: any one is enough</span>' if others else ""
    signs = [sign_html(marks, (state.document_id, index)) for index in state.chunk_indexes] if state.kind == "chunk" else []
    return (
        f'{"".join(signs)} <b>{title}</b> <span class="cx-mute cx-small">{where}{escape(chunks)}</span><br>{_text(scene, state)}{enough}',
        f'<span class="cx-fate{look}">{words}</span><br><span class="cx-small">{lost}</span>',
    )


def _text(scene: Scene, state: EvidenceState) -> str:
    """The first words of the evidence."""
    text = evidence_text(state, server.workbench().document_chunks(state.document_id, scene.dataset))
    return escape(text[:220]) + ("…" if len(text) > 220 else "")


def show_evidence(scene: Scene, assembly: Assembly) -> None:
    """A row per piece of evidence, and the reference answer, or where none is labelled the ways to it; then the passages of a phrase."""
    if scene.query.is_labelled:
        _show_states(scene, assembly, states_of(scene, assembly))
    else:
        offer = "Mark it with its ○: here by a phrase, or at the found chunks."
        others = "Ask approves what an answer cites, and Load makes questions of the dataset."
        st.html(boxed(f'<p class="cx-note" id="ctx-no-gold"><b>What should this question find?</b> {offer} {others}</p>'))
    show_find(scene, assembly, expected(scene, assembly), hint=False)


def _show_states(scene: Scene, assembly: Assembly, states: Sequence[EvidenceState]) -> None:
    found = sum(state.state == "found" for state in states)
    marks = expected(scene, assembly)
    rows = [_row(scene, assembly, state, marks) for state in states]
    table = table_html(("evidence", "state"), rows, caption=f"{found} of {len(states)} pieces of evidence are in the context")
    answer = (
        f'<p class="cx-note" style="padding-top:10px"><b>Reference answer:</b> {escape(scene.query.answer)}</p>'
        if scene.query.answer
        else ""
    )
    st.html(boxed(table + answer, "ctx-evidence"))


ADVICE = "advice"
"""The fragment that runs alone when the page has come to rest, and the name of its work."""
LOOK_S = 0.05
"""Seconds between two looks at whether the work has ended, or anything was clicked."""
NOT_TRIED = "No advice: under these settings every trial would ask an embedder or a model."


@fragment(key=ADVICE)
def show_advice(scene: Scene) -> None:
    """The advice, in a place that keeps its height."""
    scene = replace(scene, settings=session.now)
    assembly = state.assemble_scene(server.workbench(), scene)
    at_rest = take("at_rest")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="advice"):
        if needs_this_process((scene.settings,)):
            _draw(NOT_TRIED)
            return
        job = _ended_job(scene, at_rest)
        if job is None:
            _wait(scene)
        elif isinstance(job.error, CtxasmError):
            _draw(f"No advice: {escape(str(job.error))}")
        elif (advice := job.result()) is None:
            _draw("")
        elif (effect := _effect_here(scene, assembly, advice, at_rest)) is None:
            _wait(scene)
        else:
            _offer(advice, effect)


def _draw(inner: str, kind: str = "none") -> None:
    st.html(
        boxed(f'<p class="cx-advice{" cx-mute" if kind != "offer" else ""}" data-advice="{kind}">{inner}</p>', "ctx-advice"),
        width="stretch",
    )


def _wait(scene: Scene) -> None:
    _draw("…", "waits")
    # Counted, because work that a click interrupted waits for rest once more, with nothing else changed.
    await_rest("advice_rest", f"{state.stamp_of(scene)} {session.rests}", _at_rest)


def _at_rest() -> None:
    session.at_rest = True
    session.rests = session.rests + 1


def cancel_outdated(scene: Scene) -> None:
    """Give up work for settings that are left, before the page is drawn: it would slow that down."""
    if find_work(ADVICE, _wanted(scene)) is None:
        cancel_work(ADVICE)


def _wanted(scene: Scene) -> Hashable:
    info = session.info
    return info and info.dataset_id, scene.dataset, session.loads, session.saves, scene.settings


def _ended_job(scene: Scene, at_rest: bool) -> Job | None:
    """The work for these settings, once it has ended: None until then. It begins when the page is at rest."""
    from ctxasm.app import tuning_runs

    wanted = _wanted(scene)
    job = find_work(ADVICE, wanted)
    if job is not None and not job.running:
        return job
    if not at_rest:
        return None
    workbench = server.workbench()
    job = start_work(ADVICE, wanted, lambda _, cancelled: tuning_runs.advice(workbench, scene.settings, scene.dataset, cancelled=cancelled))
    ended = asked_to_end()
    while not job.wait(LOOK_S):
        if ended():
            return None
    return job


def _effect_here(scene: Scene, assembly: Assembly, advice: Advice, at_rest: bool) -> str | None:
    """What the change does to this question; None where it is still to be tried, when the page is at rest."""
    kept = session.advice
    if kept is None or kept[0] is not assembly or kept[1] is not advice:
        if not at_rest:
            return None
        changed = replace(scene, settings=advice.settings)
        after = states_of(changed, state.assemble_anew(server.workbench(), changed))
        kept = session.advice = assembly, advice, describe_effect(states_of(scene, assembly), after, partial(_advice_text, scene))
    return kept[2]


def _advice_text(scene: Scene, piece: EvidenceState) -> str:
    return evidence_text(piece, server.workbench().document_chunks(piece.document_id, scene.dataset))


def _offer(advice: Advice, effect: str) -> None:
    address = compare_address(advice.decision.start, advice.settings, view="all")
    does = f"{escape(effect)}; " if effect else ""
    _draw(f"<b>{escape(advice.name)}</b>: {does}{state_link(address, advice.questions_text())}, {advice.tokens_text()}", "offer")
    label = plain(f"Apply {advice.name[:1].lower()}{advice.name[1:]}")
    help = plain(" ".join(advice.decision.sentences()[:2]))
    st.button(label, key="apply_advice", on_click=apply_advice, args=(advice.settings,), help=help, icon=":material/check:")


def apply_advice(changed: AssemblySettings) -> None:
    """Apply it (a callback): the whole page runs, not only the advice."""
    state.apply(changed)
    st.rerun(PAGE)
