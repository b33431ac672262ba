"""The threshold of the same meaning: a number box that is bound to the URL, a slider over the useful region, what it means.

The box takes any cosine and may be empty (the embedder's own threshold); the slider, which cannot be empty, is unbound and
writes into the box. Regions as contextual embeddings describe them.
"""

from __future__ import annotations

import streamlit as st

from ctxasm.model.specs import Spec
from ctxasm.ui.setting_widgets import Look, note_below, number_widget

LOW, HIGH, USUAL = 0.85, 0.98, 0.92
"""Where the slider begins and ends, and where it stands while the box is empty."""
SLIDER = "_semantic_threshold"


def meaning_of(threshold: float | None) -> str:
    """What shows as the same at this cosine, as a sentence."""
    if threshold is None:
        return "The embedder's own threshold; move the slider to set one."
    if threshold < 0.88:
        return "Below .88: passages on the same subject merge, too; what only one of them says is lost."
    if threshold <= 0.94:
        return "From .88 to .94: paraphrases merge."
    return "Above .94: only near copies merge."


def threshold_widget(spec: Spec, look: Look) -> None:
    """The box; where it has an effect, the slider and what the chosen region means."""
    number_widget(spec, look)
    if spec.name in look.idle:
        return
    threshold = look.settings.semantic_threshold
    st.session_state[SLIDER] = min(max(USUAL if threshold is None else threshold, LOW), HIGH)
    st.slider(
        "Cosine of the same meaning", LOW, HIGH, step=0.01, key=SLIDER, on_change=_into_box, args=(spec.url,), label_visibility="collapsed"
    )
    note_below(meaning_of(threshold))


def _into_box(key: str) -> None:
    st.session_state[key] = round(float(st.session_state[SLIDER]), 2)
