"""How much of this context a server's prefix cache could take over from the question before it, ordering by ordering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape

import streamlit as st

from ctxasm.evaluation.cache_prefix import Prefix, prefix_by_ordering
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings, Ordering
from ctxasm.ui import desk, state
from ctxasm.ui.pictures import boxed, table_html
from ctxasm.ui.state import Scene
from ctxasm.ui.views.title import show_empty
from ctxasm.ui.words import number
from ctxasm.ui.zones_state import zones_key

NOTE = (
    "A server keeps what it worked out for a prompt up to the first token that differs. Counted here: the tokens with which this context "
    "begins like the context of the question before it in this dataset, both under the same settings and the same ordering. In the prompt "
    "of Ask only the system message and one line stand before the context: both are shared too, between questions in one language. "
    "Earlier turns stand between them, and end the sharing where they differ."
)


def cache_prefix_panel(scene: Scene) -> None:
    """A table of the six orderings; a hint where there is no question before this one."""
    earlier = _question_before(scene)
    if earlier is None:
        show_empty("No question before this one", "This is the first of its dataset: choose a later one to see what both contexts share.")
        return
    drawn = prefix_html(_found(scene, earlier), scene.settings.ordering, earlier)
    st.html(boxed(f'{drawn}<p class="cx-note cx-small" style="padding-top:8px">{NOTE}</p>', "ctx-cache-prefix"))


def _found(scene: Scene, earlier: str) -> Mapping[Ordering, Prefix]:
    """What every ordering shares with the question before; the last finding of the session holds whichever of them is chosen."""
    settings = scene.settings.replace(ordering="document_first")
    key = (scene.dataset, scene.query, settings, earlier, st.session_state.get("_loads", 0), zones_key(settings))
    kept = st.session_state.get("_prefixes")
    if kept is None or kept[0] != key:
        kept = (key, _by_ordering(scene, earlier))
        st.session_state["_prefixes"] = kept
    found: Mapping[Ordering, Prefix] = kept[1]
    return found


def _by_ordering(scene: Scene, earlier: str) -> Mapping[Ordering, Prefix]:
    workbench = desk.workbench()
    other = replace(scene, query=workbench.query(scene.dataset, earlier))

    def assemble_with(settings: AssemblySettings) -> Assembly:
        return state.assemble_anew(workbench, replace(scene, settings=settings))

    def before(settings: AssemblySettings) -> str:
        return state.assemble_anew(workbench, replace(other, settings=settings)).text

    return prefix_by_ordering(before, scene.settings, assemble_with, workbench.counter(scene.settings.encoding))


def prefix_html(found: Mapping[Ordering, Prefix], chosen: str, earlier: str) -> str:
    """The orderings with the tokens they share with the question before, the chosen one marked."""
    rows = []
    for ordering, prefix in found.items():
        mark = " ● chosen" if ordering == chosen else ""
        name = f'<span data-ordering="{ordering}">{escape(ordering)}<span class="cx-mute">{mark}</span></span>'
        rows.append((name, number(prefix.tokens), f"{100 * prefix.share:.0f} %"))
    caption = f"Tokens in common with the context of {escape(earlier)}"
    return table_html(("ordering", "tokens in common", "share of this context"), rows, (1, 2), caption)


def _question_before(scene: Scene) -> str | None:
    """The id of the question before this one in its dataset, None for the first."""
    ids = [entry.query_id for entry in desk.workbench().query_list(scene.dataset)]
    at = ids.index(scene.query.query_id) if scene.query.query_id in ids else 0
    return ids[at - 1] if at else None
