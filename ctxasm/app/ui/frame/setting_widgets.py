"""The widget of one setting, by its kind: bound to the URL, marked where it differs from the default, disabled where it is idle.

Max tokens has a range under its box that moves the page while it is dragged; the threshold of the same meaning a slider over
the useful region, unbound because it cannot be empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.widgets.live_range import live_range
from ctxasm.app.ui.words.setting_words import help_of, label_of
from ctxasm.llm.embedding.local import embedder_name
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.model.specs import LARGEST, MAX_TEXT, Spec

SMALLEST = 0.001
"""The lowest number that a widget takes where the bound itself is excluded."""
EMPTY = {"summary_template": "by the language of the data", "block_separator": "a blank line"}
"""What an empty text box stands for, where that is not nothing."""
MOST_SEGMENTS = 4
"""Choices that stand side by side; more of them fold into a list."""
STEP = 100
"""Tokens that one step of the range is worth."""


class Look(NamedTuple):
    """How the settings are about to be drawn: their values, and the idle ones with the reason."""

    settings: AssemblySettings
    idle: Mapping[str, str]

    def marked(self, spec: Spec) -> str:
        """The label of a setting, which says where it differs from its default: in plain words, because it is the accessible name too."""
        return f"{label_of(spec)}, changed" if self.is_changed(spec) else label_of(spec)

    def is_changed(self, spec: Spec) -> bool:
        """Whether a setting differs from its default."""
        return bool(getattr(self.settings, spec.name) != spec.default)

    def bound(self, spec: Spec) -> dict[str, Any]:
        """What every bound widget is told. A disabled one still binds."""
        why = self.idle.get(spec.name)
        return {"key": spec.url, "bind": "query-params", "help": help_of(spec, why), "disabled": why is not None}


def _step(spec: Spec) -> int:
    """How far one click goes: a hundred tokens where there are thousands, else one."""
    if spec.name == "max_chars":
        return 500
    return 100 if spec.name.endswith("_tokens") and spec.name != "min_chunk_tokens" else 1


def meaning_sentence(threshold: float | None, embedder: str | None) -> str:
    """What shows as the same from this cosine on, to the embedder that is used; None: its own threshold."""
    from ctxasm.llm.embedding.regions import meaning_of, threshold_of

    cosine = threshold_of(embedder or "") if threshold is None else threshold
    whose = f"{embedder or 'the embedder'}'s own threshold, " if threshold is None else ""
    return f"From {whose}{cosine:g} on: {meaning_of(cosine, embedder)}."


def setting_widget(spec: Spec, look: Look) -> None:
    """Draw the widget of a setting. A format function would write its words into the URL: values are shown as they are."""
    label, bound = look.marked(spec), look.bound(spec)
    match spec.kind:
        case "bool":
            st.toggle(label, spec.default, **bound)
        case "int" if spec.low is not None and spec.high is not None and spec.high - spec.low < MOST_SEGMENTS:
            _segmented(label, list(range(int(spec.low), int(spec.high) + 1)), spec, bound)
        case "int" | "float":
            number_widget(spec, look)
        case "choice" if len(spec.choices) <= MOST_SEGMENTS:
            _segmented(label, list(spec.choices), spec, bound)
        case "choice":
            st.selectbox(label, spec.choices, index=spec.choices.index(spec.default), **bound)
        case "text":
            empty = EMPTY.get(spec.name, "none") if not spec.default else None
            st.text_input(label, spec.default, max_chars=MAX_TEXT, placeholder=empty, **bound)


def note_below(sentence: str, pull: int = 10) -> None:
    """A sentence under a widget, as text and not as markdown, `pull` pixels closer to it than widgets stand apart."""
    st.html(f'<div class="cx cx-side cx-mute" style="margin-top:-{pull}px;line-height:1.4">{escape(sentence)}</div>')


def _segmented(label: str, options: list[Any], spec: Spec, bound: dict[str, Any]) -> None:
    st.segmented_control(label, options, default=spec.default, required=True, width="stretch", **bound)


def number_widget(spec: Spec, look: Look) -> None:
    """A number box. An optional number may be empty; the box then says what stands for it."""
    bound = look.bound(spec) | ({"placeholder": spec.none} if spec.optional else {})
    # Without a bound of its own the widget would take an infinity from a link, and fail on it.
    low, high = -LARGEST if spec.low is None else spec.low, LARGEST if spec.high is None else spec.high
    bounds: dict[str, Any]
    if spec.kind == "int":
        bounds = {"min_value": int(low), "max_value": int(high), "step": _step(spec)}
    else:
        lowest = SMALLEST if spec.open_low else float(low)
        bounds = {"min_value": lowest, "max_value": float(high), "step": 0.01 if high - lowest <= 0.5 else 0.05, "format": "%g"}
    st.number_input(look.marked(spec), value=spec.default, **bounds, **bound)


def limit_widget(spec: Spec, look: Look) -> None:
    """The box, and the range where the limit is this number at all."""
    low, high = int(spec.low or 1), int(spec.high or 16000)
    st.number_input(look.marked(spec), low, high, spec.default, STEP, **look.bound(spec))
    del session.settled
    if spec.name not in look.idle:
        _hand(low, high)


@fragment(key="max_tokens_hand")
def _hand(low: int, high: int) -> None:
    """The range under the hand; a fragment, so that the page is not told of a new run with every step."""
    live_range(session.value_of(spec_of("max_tokens").url), low, high, STEP, Session.limit_range.key, _drag, _release)


def _drag() -> None:
    """While dragged: only the fragment of the budget bar runs, where there is one."""
    hand = session.limit_range
    if hand is None or int(hand.live) == session.released_at:
        return
    session.live, session.released_at = int(hand.live), None
    if session.budget_shown:
        st.rerun("budget")


def _release() -> None:
    """Let go: everything runs, and outweighs a step that was sent just before."""
    hand = session.limit_range
    if hand is not None and hand.settled is not None:
        # Not into the number box here: the run of this callback ends before the box is drawn, and it would not be told.
        session.settled = int(hand.settled)
        # The last step of the drag may still be on its way; it is over now, and must not be drawn after the release.
        session.released_at = int(hand.live)
        st.rerun()


def threshold_widget(spec: Spec, look: Look) -> None:
    """The box; where it has an effect, the slider and what the chosen region means."""
    number_widget(spec, look)
    if spec.name in look.idle:
        return
    from ctxasm.llm.embedding.regions import SLIDER, threshold_of

    threshold, embedder, (low, high) = look.settings.semantic_threshold, embedder_name(), SLIDER
    session.semantic_threshold = min(max(threshold_of(embedder or "") if threshold is None else threshold, low), high)
    st.slider(
        "Cosine of the same meaning",
        low,
        high,
        step=0.01,
        key=Session.semantic_threshold.key,
        on_change=_into_box,
        args=(spec.url,),
        label_visibility="collapsed",
    )
    note_below(meaning_sentence(threshold, embedder))


def _into_box(key: str) -> None:
    session.put(key, round(float(session.semantic_threshold), 2))
