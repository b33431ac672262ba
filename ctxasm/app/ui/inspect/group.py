"""Group: hits by rank bundled into documents, and what that does to citation numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.inspect.bundles import Thread, ThreadBundle, bundles_html
from ctxasm.app.ui.inspect.expand import document_order
from ctxasm.app.ui.widgets.context_marks import number_chip
from ctxasm.app.ui.widgets.fates import SENT
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import decimal, fate_label, title_of
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly, Fate


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
    spoken = f"{counted(len(threads), 'hit')} by rank go to {counted(len(bundles), 'document')}."
    st.html(boxed(bundles_html(threads, bundles, "rank", "documents, and the neighbours in them", spoken), "ctx-group"))
