"""The context as cards of small pieces, cut wherever a marked stretch begins or ends, so that a page marks whole pieces only. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from ctxasm.app.ui.widgets.context_marks import Run, also_in, runs
from ctxasm.app.ui.words.words import title_of
from ctxasm.model.results import Assembly


class Piece(NamedTuple):
    """Characters `start` to `end` of the context, of one look. `opens`: its chunk begins here."""

    start: int
    end: int
    text: str
    kind: str
    chunk: int | None = None
    added: bool = False
    opens: bool = False


class Card(NamedTuple):
    """A block of the context. `number` None: text that no marker names. `about`: its date, and what else says the same."""

    number: int | None
    title: str
    about: str
    pieces: tuple[Piece, ...]


def context_cards(assembly: Assembly, cuts: Iterable[int] = ()) -> tuple[Card, ...]:
    """All blocks in order; the texts of all pieces join to the text of the context but for blanks between blocks.

    Every cut is an edge of a piece.
    """
    edges = sorted(set(cuts))
    blocks: list[tuple[int | None, list[Piece]]] = []
    at = 0
    for run in runs(assembly):
        if not blocks or (run.block is not None and run.block != blocks[-1][0]):
            blocks.append((run.block, []))
        blocks[-1][1].extend(_pieces(run, at, edges))
        at += len(run.text)
    return tuple(_card(assembly, block, pieces) for block, pieces in blocks)


def _pieces(run: Run, at: int, edges: Sequence[int]) -> list[Piece]:
    inner = edges[bisect_right(edges, at) : bisect_left(edges, at + len(run.text))]
    bounds = [at, *inner, at + len(run.text)]
    return [
        Piece(low, high, run.text[low - at : high - at], run.kind, run.chunk_index, run.added, run.opens and low == at)
        for low, high in pairwise(bounds)
    ]


def _card(assembly: Assembly, block: int | None, pieces: Sequence[Piece]) -> Card:
    while len(pieces) > 1 and not pieces[-1].text.strip():
        pieces = pieces[:-1]
    citation = next((citation for citation in assembly.citations if citation.number == block), None)
    if citation is None:
        return Card(None, "Beside the sources", "", tuple(pieces))
    documents = assembly.trace.documents
    document = documents.get(citation.document_id)
    about = [document.date] if document is not None and document.date else []
    about += [f"also in {place.title}{f' ({place.label})' if place.label else ''}" for place in also_in(assembly, citation)]
    return Card(citation.number, title_of(documents, citation.document_id, 90), " · ".join(about), tuple(pieces))


def block_starts(assembly: Assembly) -> dict[int, int]:
    """Where each block begins in the context."""
    starts: dict[int, int] = {}
    for segment in assembly.segments:
        if segment.block is not None:
            starts.setdefault(segment.block, segment.start)
    return starts


def sources_html(cards: Sequence[Card]) -> str:
    """The sources by number and title, for the time in which an answer comes in."""
    items = "".join(f"<li><b>{card.number}</b> {escape(card.title)}</li>" for card in cards if card.number is not None)
    return f'<div class="cx"><ul class="cx-sources" aria-label="Sources">{items}</ul></div>'
