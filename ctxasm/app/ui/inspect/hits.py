"""What each retrieval method said of each hit: its rank and its score there, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import found_badges
from ctxasm.app.ui.inspect.evidence import expected
from ctxasm.app.ui.widgets.chunk_clicks import at_of
from ctxasm.app.ui.widgets.context_marks import fate_chip
from ctxasm.app.ui.widgets.expected import Expected, sign_html
from ctxasm.app.ui.widgets.fates import fate_of
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import decimal, number, title_of
from ctxasm.model.records import Hit, Query
from ctxasm.model.results import Assembly, Key

NAMES: Mapping[str, str] = {"bm25": "BM25", "vector": "vector", "rrf": "fused", "rerank": "reranker"}
"""Methods in the order of their columns; others, which a recorded query may bring, follow by their own names."""
RANK = "_rank"
MOST = 200


class Judged(NamedTuple):
    """A hit under one method. `rank` is None where the score has no place of its own: it only fuses the others."""

    method: str
    rank: int | None
    score: float

    @property
    def words(self) -> str:
        """`BM25 rank 2 (12.4)`."""
        place = "" if self.rank is None else f" rank {self.rank}"
        return f"{method_name(self.method)}{place} ({decimal(self.score)})"


class HitRow(NamedTuple):
    """A hit as retrieval returned it, with what each method said of it; a method that did not find it is absent."""

    key: Key
    rank: int
    score: float
    methods: Mapping[str, Judged]


def method_name(method: str) -> str:
    """What a method is called."""
    return NAMES.get(method, method)


def methods_of(query: Query) -> tuple[str, ...]:
    """The methods that scored any hit of a query."""
    said = dict.fromkeys(name for hit in query.retrieved for name in hit.scores if not name.endswith(RANK))
    return tuple(sorted(said, key=lambda name: (list(NAMES).index(name) if name in NAMES else len(NAMES), name)))


def hit_rows(query: Query) -> tuple[HitRow, ...]:
    """The hits, best first. A method that recorded scores without ranks is ranked among these hits."""
    methods = methods_of(query)
    places = {method: _places(query, method) for method in methods}
    ordered = sorted(enumerate(query.retrieved), key=lambda pair: (pair[1].rank or len(query.retrieved) + 1, -pair[1].score, pair[0]))
    return tuple(
        HitRow(
            (hit.document_id, hit.chunk_index),
            hit.rank or place,
            hit.score,
            {method: _judged(hit, method, places[method]) for method in methods if method in hit.scores},
        )
        for place, (_, hit) in enumerate(ordered, 1)
    )


def _judged(hit: Hit, method: str, places: Mapping[float, int]) -> Judged:
    rank: float | None = hit.scores.get(method + RANK)
    if rank is None and method != "rrf":
        rank = places[hit.scores[method]]
    return Judged(method, None if rank is None else int(rank), hit.scores[method])


def _places(query: Query, method: str) -> dict[float, int]:
    """The rank of each score of a method among these hits: one more than the hits that score higher."""
    scores = sorted((hit.scores[method] for hit in query.retrieved if method in hit.scores), reverse=True)
    return {score: place for place, score in reversed(list(enumerate(scores, 1)))}


def hit_words(query: Query, key: Key) -> str:
    """What each method said of one hit, as the end of a sentence; empty where only one score is known."""
    row = next((row for row in hit_rows(query) if row.key == key), None)
    if row is None or not row.methods:
        return ""
    missed = [f"not found by {method_name(name)}" for name in methods_of(query) if name not in row.methods]
    return " · ".join([*(judged.words for judged in row.methods.values()), *missed])


def hits_html(assembly: Assembly, marks: Expected) -> str:
    """Every hit; a method's cell is its rank, with its score beside it. The sign at a hit marks it as expected."""
    query = assembly.query
    methods = methods_of(query)
    rows = [_cells(assembly, row, methods, marks) for row in hit_rows(query)[:MOST]]
    heads = ("rank", "chunk", "score", *(escape(method_name(method)) for method in methods), "fate")
    return table_html(heads, rows, (0, *range(2, 3 + len(methods))), "○ marks a hit as expected")


def _cells(assembly: Assembly, row: HitRow, methods: tuple[str, ...], marks: Expected) -> tuple[str, ...]:
    document_id, index = row.key
    fate = fate_of(assembly, row.key)
    title = title_of(assembly.trace.documents, document_id, 48)
    sign, name = sign_html(marks, row.key), f"<span {at_of(document_id, index)}>{escape(title)}</span>"
    chunk = f'{sign} {name} <span class="cx-mute cx-nowrap">#{number(index)}</span>'
    return (str(row.rank), chunk, decimal(row.score), *(_method(row, method) for method in methods), fate_chip(fate) if fate else "")


def _method(row: HitRow, method: str) -> str:
    judged = row.methods.get(method)
    if judged is None:
        return '<span class="cx-mute" title="not found by this method">–</span>'
    score = decimal(judged.score)
    return score if judged.rank is None else f'<b>{judged.rank}</b> <span class="cx-mute">({score})</span>'


def show_found(scene: Scene, assembly: Assembly) -> None:
    """How the search went, and every hit with its rank under every method."""
    badges = "".join(f'<span class="cx-badge">{badge}</span>' for badge in found_badges(scene))
    head = f'<div class="cx-badges">{badges}</div>' if badges else ""
    st.html(boxed(f"{head}{hits_html(assembly, expected(scene, assembly))}", "ctx-hits"))
