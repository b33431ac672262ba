"""Group and order: ribbons from ranks to documents and from relevance to position, and the start that two prompts share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.app.fates import SENT, fate_label
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.layout import show_empty
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.frame.zones_state import zones_key
from ctxasm.app.ui.inspect.chunks import document_order
from ctxasm.app.ui.widgets.context_marks import number_chip
from ctxasm.app.ui.widgets.html import boxed, pick_of, table_html
from ctxasm.app.ui.words.setting_words import choice_sentence
from ctxasm.app.ui.words.words import decimal, in_attribute, number, title_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.events import Ordered
from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.model.settings import AssemblySettings, Ordering
from ctxasm.text.tokens.common_prefix import Prefix
from ctxasm.tuning.cache_prefix import prefix_by_ordering

ROW, COMPACT_ROW, COMPACT_BEYOND = 21, 11, 15
"""Height of a place in pixels, and where more than so many of them are drawn closer."""
BETWEEN = 4
"""Pixels between two bundles."""
LEAST_BUNDLE = 18
"""The lowest bundle in pixels: its title must be readable."""


class Thread(NamedTuple):
    """A place on the left that belongs to a bundle. `kind` is `found` or `gone`; a thread without a `key` cannot be clicked."""

    label: str
    title: str
    kind: str
    key: Key | None = None


class ThreadBundle(NamedTuple):
    """What stands on the right, and the places (0 = top left) that belong to it."""

    number: str
    title: str
    note: str
    kind: str
    threads: tuple[int, ...]


def bundles_html(threads: Sequence[Thread], bundles: Sequence[ThreadBundle], left: str, right: str, spoken: str) -> str:
    """The picture, as high as its longer side."""
    row = ROW if len(threads) <= COMPACT_BEYOND else COMPACT_ROW
    tops, at = [], 0.0
    for bundle in bundles:
        tops.append(at)
        at += max(row * len(bundle.threads), LEAST_BUNDLE) + BETWEEN
    height = max(at, row * len(threads))
    lines = "".join(_ribbons(bundle, top, row, height, threads) for bundle, top in zip(bundles, tops, strict=True))
    places = "".join(_place_html(thread, index * row, row) for index, thread in enumerate(threads))
    boxes = "".join(_box(bundle, top, row) for bundle, top in zip(bundles, tops, strict=True))
    compact = " compact" if row == COMPACT_ROW else ""
    return (
        f'<div class="cx-bundles-head"><b>{left}</b><b>{right}</b></div>'
        f'<div class="cx-bundles{compact}" role="group" aria-label="{in_attribute(spoken)}" style="height:{height:.0f}px" '
        f'data-threads="{len(threads)}" data-bundles="{len(bundles)}">{lines}{places}{boxes}</div>'
    )


def _ribbons(bundle: ThreadBundle, top: float, row: float, height: float, threads: Sequence[Thread]) -> str:
    box = max(row * len(bundle.threads), LEAST_BUNDLE)
    share = box / max(len(bundle.threads), 1)
    drawn = []
    for place, index in enumerate(bundle.threads):
        y = (index * row + 2, (index + 1) * row - 2, top + (place + 1) * share - 1, top + place * share + 1)
        one, two, three, four = (f"{100 * each / height:.2f}%" for each in y)
        shape = f"polygon(0 {one}, 100% {four}, 100% {three}, 0 {two})"
        drawn.append(f'<i class="cx-ribbon {threads[index].kind}" aria-hidden="true" style="clip-path:{shape}"></i>')
    return "".join(drawn)


def _place_html(thread: Thread, top: float, row: float) -> str:
    at = f'class="cx-place {thread.kind}" style="top:{top:.0f}px;height:{row - 2:.0f}px" title="{in_attribute(thread.title)}"'
    if thread.key is None:
        return f"<span {at}>{escape(thread.label)}</span>"
    return f'<button type="button" {at} {pick_of(thread.key)}>{escape(thread.label)}</button>'


def _box(bundle: ThreadBundle, top: float, row: float) -> str:
    height = max(row * len(bundle.threads), LEAST_BUNDLE)
    return (
        f'<div class="cx-bundle {bundle.kind}" style="top:{top:.0f}px;height:{height:.0f}px" title="{in_attribute(bundle.title)}">'
        f'<b>{escape(bundle.number)}</b><span dir="auto">{escape(bundle.title)}</span><small>{escape(bundle.note)}</small></div>'
    )


class Shift(NamedTuple):
    """A marker of the list built before assembly, and the markers that point to the same document after it."""

    before: int
    document_id: str
    title: str
    after: tuple[int, ...]

    @property
    def wrong(self) -> bool:
        """Whether the old number would point at another source, or at none."""
        return self.before not in self.after


def grouping(assembly: Assembly) -> tuple[tuple[Thread, ...], tuple[ThreadBundle, ...]]:
    """The hits by rank, and the documents in the order of the group stage with the hits that belong to each."""
    hits = sorted((f for f in assembly.trace.fates if f.retrieved), key=lambda f: (f.rank, -f.score, f.document_id, f.chunk_index))
    members: defaultdict[str, list[int]] = defaultdict(list)
    for place, fate in enumerate(hits):
        members[fate.document_id].append(place)
    added: defaultdict[str, int] = defaultdict(int)
    sent: set[str] = set()
    for fate in assembly.trace.fates:
        added[fate.document_id] += not fate.retrieved
        sent |= {fate.document_id} if fate.fate in SENT else set()
    documents = assembly.trace.documents
    bundles = tuple(
        ThreadBundle(
            str(place),
            title_of(documents, key),
            f"+{added[key]}" if added[key] else "",
            "found" if key in sent else "gone",
            tuple(sorted(members[key], key=lambda index: hits[index].chunk_index)),
        )
        for place, key in enumerate((key for key in document_order(assembly) if key in members), 1)
    )
    return tuple(_thread(assembly, fate) for fate in hits), bundles


def _thread(assembly: Assembly, fate: Fate) -> Thread:
    title = f"{title_of(assembly.trace.documents, fate.document_id, 40)} #{fate.chunk_index}"
    says = f"rank {fate.rank}, score {decimal(fate.score)}: {title}, {fate_label(fate)}"
    kind = "found" if fate.fate in SENT else "gone"
    return Thread(f"{fate.rank}", says, kind, (fate.document_id, fate.chunk_index))


def citation_shift(assembly: Assembly) -> tuple[Shift, ...]:
    """`before [2] → after [1]`, an entry for each number of the list built before assembly."""
    after: dict[str, list[int]] = {}
    for citation in assembly.citations:
        for document_id in {citation.document_id, *(key for key, _ in citation.also_in)}:
            after.setdefault(document_id, []).append(citation.number)
    titles = assembly.trace.documents
    return tuple(
        Shift(p.number, p.document_id, title_of(titles, p.document_id), tuple(after.get(p.document_id, ())))
        for p in assembly.trace.before_assembly
    )


def shift_html(shifts: Sequence[Shift]) -> str:
    """`before [2] → after [1]`: what the numbers would have meant if the list had been built before assembly."""
    rows = []
    for shift in shifts:
        after = " ".join(number_chip(n) for n in shift.after) or '<span class="cx-mute">gone</span>'
        mark = '<span class="cx-need">▲ wrong</span>' if shift.wrong else '<span class="cx-mute">● same</span>'
        rows.append((f'<span class="cx-nowrap"><b class="cx-mono">[{shift.before}]</b> → {after}</span>', escape(shift.title), mark))
    wrong = sum(shift.wrong for shift in shifts)
    caption = f"Numbered before assembly, {counted(wrong, 'number')} of {len(shifts)} would be wrong"
    return table_html(("before → after", "source", "old number"), rows, caption=caption)


def show_group(assembly: Assembly) -> None:
    """The hits by rank, and the documents that they go to."""
    threads, bundles = grouping(assembly)
    spoken = f"{counted(len(threads), 'found chunk')} by rank go to {counted(len(bundles), 'document')}."
    st.html(boxed(bundles_html(threads, bundles, "rank", "documents, and the neighbours in them", spoken), "ctx-group"))


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
