"""Order: from relevance to position in the context, and what each ordering leaves of the prefix that a server has cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_empty
from ctxasm.app.ui.frame.zones_state import zones_key
from ctxasm.app.ui.inspect.bundles import Thread, ThreadBundle, bundles_html
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.setting_words import choice_sentence
from ctxasm.app.ui.words.words import decimal, number, title_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.events import Ordered
from ctxasm.model.results import Assembly, Key
from ctxasm.model.settings import AssemblySettings, Ordering
from ctxasm.tuning.cache_prefix import Prefix, prefix_by_ordering

MOST_BLOCKS = 30
"""Blocks that the picture of the order draws: the most relevant ones."""
NOTE = (
    "A server keeps what it worked out for a prompt up to the first token that differs. Counted here: the tokens with which this context "
    "begins like the context of the question before it in this dataset, both under the same settings and the same ordering. In the prompt "
    "of Ask only the system message and one line stand before the context: both are shared too, between questions in one language. "
    "Earlier turns stand between them, and end the sharing where they differ."
)


class Place(NamedTuple):
    """A block: its place by relevance and its position in the context, 1 = first; its best score and that chunk's rank; its first chunk."""

    label: str
    relevance: int
    position: int
    score: float
    rank: int
    first: Key


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


def block_order(assembly: Assembly) -> tuple[Place, ...]:
    """The blocks by relevance (best score, then rank), each with its position in the context."""
    record = assembly.trace.stage("order")
    placed = [event for event in record.events if isinstance(event, Ordered)] if record else []
    best_first = sorted(placed, key=lambda event: (-event.score, event.rank, event.document_id, event.chunk_indexes))
    documents = assembly.trace.documents
    return tuple(
        Place(
            f"{title_of(documents, e.document_id, 30)} {_span(e.chunk_indexes)}",
            relevance,
            e.position,
            e.score,
            e.rank,
            (e.document_id, min(e.chunk_indexes)),
        )
        for relevance, e in enumerate(best_first, 1)
    )


def _span(indexes: tuple[int, ...]) -> str:
    low, high = min(indexes), max(indexes)
    return f"#{low}" if low == high else f"#{low}–{high}"


def at_the_ends(places: tuple[Place, ...]) -> int:
    """How many of the two best blocks stand first or last."""
    return sum(place.position in (1, len(places)) for place in places[:2])


def order_html(places: Sequence[Place]) -> str:
    """The blocks by relevance on the left, in the order of the context on the right."""
    drawn = places[:MOST_BLOCKS]
    threads = [Thread(str(place.relevance), f"{place.label}, best score {decimal(place.score)}", "found", place.first) for place in drawn]
    by_position = sorted(enumerate(drawn), key=lambda pair: pair[1].position)
    bundles = [ThreadBundle(f"[{place.position}]", place.label, "", "found", (index,)) for index, place in by_position]
    spoken = f"{counted(len(places), 'block')} by relevance, and where each stands in the context."
    return bundles_html(threads, bundles, "relevance", "position in the context", spoken)


def prefix_html(found: Mapping[Ordering, Prefix], chosen: str, earlier: str) -> str:
    """The orderings with the tokens they share with the question before, the chosen one marked."""
    rows = []
    for ordering, prefix in found.items():
        mark = " ● chosen" if ordering == chosen else ""
        name = f'<span data-ordering="{ordering}">{escape(ordering)}<span class="cx-mute">{mark}</span></span>'
        rows.append((name, number(prefix.tokens), percent(prefix.share)))
    caption = f"Tokens in common with the context of {escape(earlier)}"
    return table_html(("ordering", "tokens in common", "share of this context"), rows, (1, 2), caption)


def show_order(assembly: Assembly) -> None:
    """The blocks by relevance, and where each of them stands."""
    places = block_order(assembly)
    more = f" The {MOST_BLOCKS} most relevant of {len(places)} are drawn." if len(places) > MOST_BLOCKS else ""
    note = f"{choice_sentence('ordering', assembly.settings.ordering)} {_ends(places)}{more}"
    st.html(boxed(f'<p class="cx-note">{note}</p>{order_html(places)}', "ctx-order"))


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
    key = (scene.dataset, scene.query, settings, earlier, session.loads, zones_key(settings))
    kept = session.prefixes
    if kept is None or kept[0] != key:
        kept = (key, _by_ordering(scene, earlier))
        session.prefixes = kept
    found: Mapping[Ordering, Prefix] = kept[1]
    return found


def _by_ordering(scene: Scene, earlier: str) -> Mapping[Ordering, Prefix]:
    workbench = server.workbench()
    other = replace(scene, query=workbench.query(scene.dataset, earlier))

    def assemble_with(settings: AssemblySettings) -> Assembly:
        return state.assemble_anew(workbench, replace(scene, settings=settings))

    def before(settings: AssemblySettings) -> str:
        return state.assemble_anew(workbench, replace(other, settings=settings)).text

    return prefix_by_ordering(before, scene.settings, assemble_with, workbench.counter(scene.settings.encoding))


def _question_before(scene: Scene) -> str | None:
    """The id of the question before this one in its dataset, None for the first."""
    ids = [entry.query_id for entry in server.workbench().query_list(scene.dataset)]
    at = ids.index(scene.query.query_id) if scene.query.query_id in ids else 0
    return ids[at - 1] if at else None
