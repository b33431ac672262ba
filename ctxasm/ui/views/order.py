"""Order: from relevance to position in the context, and what each ordering leaves of the prefix that a server has cached."""

from __future__ import annotations

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.cache_prefix import cache_prefix_panel
from ctxasm.ui.order_rows import MOST_BLOCKS, Place, at_the_ends, block_order
from ctxasm.ui.pictures import boxed
from ctxasm.ui.setting_words import choice_sentence
from ctxasm.ui.state import Scene
from ctxasm.ui.views.charts import show_chart
from ctxasm.ui.views.title import show_empty
from ctxasm.ui.words import plural


def show_order(scene: Scene, assembly: Assembly) -> None:
    """The slope of the blocks with the U of attention, and the orderings beside it."""
    places = block_order(assembly)
    if not assembly.settings.enabled:
        show_empty("Assembly is off", "The baseline keeps the order of retrieval. Turn Assembly on in the sidebar.")
        return
    if not places:
        show_empty("Nothing to order", "No block is in the context: raise max tokens.")
        return
    left, right = st.columns([4, 3], gap="medium")
    with left:
        _show_slope(assembly, places)
    with right:
        cache_prefix_panel(scene)


def _show_slope(assembly: Assembly, places: tuple[Place, ...]) -> None:
    from ctxasm.ui.figures import order_figure

    moved = sum(place.relevance != place.position for place in places)
    more = f" The {MOST_BLOCKS} most relevant of {len(places)} are drawn." if len(places) > MOST_BLOCKS else ""
    note = (
        f"{choice_sentence('ordering', assembly.settings.ordering)} {_ends(places)} Models read both ends of a long context best "
        f"(position effect, Liu et al. 2024, illustrative).{more}"
    )
    st.html(boxed(f'<p class="cx-note">{note}</p>', "ctx-order"))
    alt = f"Order of {plural(len(places), 'block')} from relevance to position in the context; {moved} stand elsewhere than by relevance."
    show_chart(order_figure(places), "order", alt, clickable=False)


def _ends(places: tuple[Place, ...]) -> str:
    if len(places) < 2:
        return "There is one block."
    return {
        0: "Neither of the two best blocks stands at an end.",
        1: f"One of the two best blocks stands at an end, the other at position {_inner(places)} of {len(places)}.",
        2: "The two best blocks stand at the two ends.",
    }[at_the_ends(places)]


def _inner(places: tuple[Place, ...]) -> int:
    return next((place.position for place in places[:2] if place.position not in (1, len(places))), 1)
