"""Before and after: the last settled assembly of the same query beside the one that is shown, and the way back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from ctxasm.model.results import Assembly, Key
from ctxasm.ui import desk, state
from ctxasm.ui.before_after_html import strip_html
from ctxasm.ui.before_after_rows import Comparison, Moved, compare, sent_chunks
from ctxasm.ui.pictures import boxed, fate_chip
from ctxasm.ui.rows import fate_of
from ctxasm.ui.state import Scene
from ctxasm.ui.words import fate_sentence, plural

MOST_CHUNKS = 8
"""Chunks that are named on either side; the others are counted."""
LIFE = "Life of a chunk"
"""The tab that tells what every stage did to one chunk."""
_MARKUP = re.compile(r"([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Settled:
    """What this session has settled on for one query: the assembly now, and the one before the last change of a setting."""

    about: tuple[object, ...]
    now: Assembly
    before: Assembly | None = None


def settle(scene: Scene, assembly: Assembly) -> None:
    """Keep the assembly of a whole run; what was shown under other settings becomes what it is compared with.

    A limit that is only dragged never gets here: it runs the budget bar alone.
    """
    about = (scene.dataset, scene.query.query_id, st.session_state.get("_loads", 0))
    kept = _kept()
    if kept is None or kept.about != about:
        st.session_state["_compared"] = Settled(about, assembly)
    elif kept.now.settings != assembly.settings:
        st.session_state["_compared"] = Settled(about, assembly, kept.now)
    elif kept.now is not assembly:
        st.session_state["_compared"] = Settled(about, assembly, kept.before)


def _kept() -> Settled | None:
    kept: Settled | None = st.session_state.get("_compared")
    return kept


def fresh_chunks(assembly: Assembly) -> frozenset[Key]:
    """The chunks of this context that were not in the one it is compared with; none where nothing was changed.

    While a limit is dragged that is the context before the hand took it.
    """
    kept = _kept()
    if kept is None or kept.now.query.query_id != assembly.query.query_id:
        return frozenset()
    base = kept.before if kept.now.settings == assembly.settings else kept.now
    return sent_chunks(assembly) - sent_chunks(base) if base is not None else frozenset()


def show_before_after(scene: Scene, assembly: Assembly, stamp: str) -> None:
    """The strip under the budget bar; nothing where no setting was changed since the query was opened."""
    kept = _kept()
    if kept is None or kept.before is None:
        return
    compared = _comparison(scene, kept.before, assembly)
    with st.container(border=True, key="before_after", gap="small"):
        with st.container(horizontal=True, vertical_alignment="top", gap="small"):
            st.html(strip_html(compared, stamp), width="stretch")
            st.button(
                "Put back",
                key="before_after_back",
                icon=":material/swap_horiz:",
                on_click=state.apply,
                args=(kept.before.settings,),
                help="Back to the settings before this change. Press again to see the change once more.",
            )
        with st.container(gap="xxsmall"):
            _moves("came in", "came", compared.came)
            _moves("went out", "went", compared.went)
        _show_picked(assembly, {moved.key: moved for moved in (*compared.came, *compared.went)})


def _comparison(scene: Scene, before: Assembly, now: Assembly) -> Comparison:
    """The comparison of these two; the last one of the session is kept."""
    kept = st.session_state.get("_comparison")
    if kept is None or kept[0] is not before or kept[1] is not now:
        workbench, labelled = desk.workbench(), scene.query.spans or scene.query.gold
        states = (workbench.evidence(before, scene.dataset), workbench.evidence(now, scene.dataset)) if labelled else ((), ())
        kept = (before, now, compare(before, now, workbench.counter(now.settings.encoding), states))
        st.session_state["_comparison"] = kept
    compared: Comparison = kept[2]
    return compared


def _moves(words: str, name: str, moved: Sequence[Moved]) -> None:
    """The chunks as pills: one that is chosen is followed through the stages."""
    if not moved:
        return
    shown = {f"{each.key[0]} #{each.key[1]}": each for each in moved[:MOST_CHUNKS]}
    key = f"_{name}"
    if st.session_state.get(key) not in shown:
        st.session_state.pop(key, None)
    rest = f" · {plural(len(moved) - len(shown), 'more chunk')}" if len(moved) > len(shown) else ""
    st.pills(
        f"{plural(len(moved), 'chunk')} {words}{rest}",
        list(shown),
        key=key,
        format_func=lambda option: plain_label(shown[option].name) if option in shown else str(option),
        on_change=_follow,
        args=(key, {option: each.key for option, each in shown.items()}),
    )


def _follow(key: str, keys: dict[str, Key]) -> None:
    """The chosen chunk is the one whose life is told (a callback)."""
    chosen = st.session_state.get(key)
    if chosen in keys:
        for other in {"_came", "_went"} - {key}:
            st.session_state[other] = None
        state.pick_chunk(keys[chosen])
        st.session_state["closer"] = LIFE


def _show_picked(assembly: Assembly, moved: dict[Key, Moved]) -> None:
    key = next((each.key for each in moved.values() if f"{each.key[0]} #{each.key[1]}" in (_chosen("_came"), _chosen("_went"))), None)
    fate = fate_of(assembly, key) if key is not None else None
    if fate is not None:
        says = f"{fate_chip(fate)} {escape(moved[fate.document_id, fate.chunk_index].name)}: {escape(fate_sentence(fate))}"
        st.html(boxed(f'<p class="cx-note">{says} <a href="#ctx-life">Every stage of it</a></p>', "ctx-change-chunk"))


def _chosen(key: str) -> str | None:
    chosen: str | None = st.session_state.get(key)
    return chosen


def plain_label(text: str) -> str:
    """Text from outside as a widget's label shows it: labels are markdown, so every mark in it is escaped."""
    return _MARKUP.sub(r"\\\1", text)
