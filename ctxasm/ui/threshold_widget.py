"""The threshold of the same meaning: a number box that is bound to the URL, a slider over the useful region, what it means.

The box takes any cosine and may be empty (the embedder's own threshold); the slider, which cannot be empty, is unbound and
writes into the box. What a cosine means belongs to the embedder (`ctxasm/embedding/regions.py`).
"""

from __future__ import annotations

import streamlit as st

from ctxasm.meaning import embedder_name
from ctxasm.model.specs import Spec
from ctxasm.ui.setting_widgets import Look, note_below, number_widget

SLIDER_KEY = "_semantic_threshold"


def meaning_sentence(threshold: float | None, embedder: str | None) -> str:
    """What shows as the same from this cosine on, to the embedder that is used; None: its own threshold."""
    from ctxasm.embedding.regions import meaning_of, threshold_of

    cosine = threshold_of(embedder or "") if threshold is None else threshold
    whose = f"{embedder or 'the embedder'}'s own threshold, " if threshold is None else ""
    return f"From {whose}{cosine:g} on: {meaning_of(cosine, embedder)}."


def threshold_widget(spec: Spec, look: Look) -> None:
    """The box; where it has an effect, the slider and what the chosen region means."""
    number_widget(spec, look)
    if spec.name in look.idle:
        return
    from ctxasm.embedding.regions import SLIDER, threshold_of

    threshold, embedder, (low, high) = look.settings.semantic_threshold, embedder_name(), SLIDER
    st.session_state[SLIDER_KEY] = min(max(threshold_of(embedder or "") if threshold is None else threshold, low), high)
    st.slider(
        "Cosine of the same meaning",
        low,
        high,
        step=0.01,
        key=SLIDER_KEY,
        on_change=_into_box,
        args=(spec.url,),
        label_visibility="collapsed",
    )
    note_below(meaning_sentence(threshold, embedder))


def _into_box(key: str) -> None:
    st.session_state[key] = round(float(st.session_state[SLIDER_KEY]), 2)
