"""The chunks: how each was found, where it stands in its document, and its life, stage by stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.fates import SENT, fate_label, fate_of, fate_sentence
from ctxasm.app.ui.context_marks import Stretch, fate_chip, rewritten_text, shortened_chunks, stretches
from ctxasm.app.ui.frame import state
from ctxasm.app.ui.frame.gold import mark
from ctxasm.app.ui.frame.layout import found_badges, show_empty
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.inspect.evidence import expected
from ctxasm.app.ui.markup import MARK_HELP, SPAN_HELP, UNMARK_HELP, Expected, at_of, boxed, document_of, sign_html, table_html
from ctxasm.app.ui.words import decimal, event_sentence, in_attribute, number, title_of
from ctxasm.model.amounts import counted
from ctxasm.model.events import (
    Absent,
    Event,
    Failed,
    Numbered,
    Ordered,
    Overshot,
    Placed,
    Prefixed,
    Supplemented,
    Unexpanded,
    Yielded,
    stage_name,
)
from ctxasm.model.records import Hit, Query
from ctxasm.model.results import Assembly, Fate, Key, StageRecord

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
    return table_html(heads, rows, (0, *range(2, 3 + len(methods))), "○ marks a chunk as expected")


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


COMPACT_BEYOND = 15
"""From more documents than this, rows are drawn closer and chunks without their number."""


class Edge(NamedTuple):
    """A known edge of a document (`first`, `last`) or a missing index in it (`gap`)."""

    row: int
    chunk_index: int
    kind: Literal["first", "last", "gap"]


@dataclass(frozen=True, slots=True)
class ChunkMap:
    """The candidates of each document in reading order, a row for each document in group order; `titles` and `edges` by row."""

    rows: tuple[tuple[Fate, ...], ...]
    edges: tuple[Edge, ...]
    titles: tuple[str, ...]


def chunk_map(assembly: Assembly) -> ChunkMap:
    """Every candidate, and the document edges that expansion met."""
    order = {document_id: row for row, document_id in enumerate(document_order(assembly))}
    own: defaultdict[str, list[Fate]] = defaultdict(list)
    for fate in sorted(assembly.trace.fates, key=lambda fate: fate.chunk_index):
        own[fate.document_id].append(fate)
    titles = tuple(title_of(assembly.trace.documents, document_id, 48) for document_id in order)
    return ChunkMap(tuple(tuple(own[document_id]) for document_id in order), tuple(_edges(assembly, order)), titles)


def _edges(assembly: Assembly, order: dict[str, int]) -> list[Edge]:
    record = assembly.trace.stage("expand")
    if record is None:
        return []
    gaps = {(e.document_id, e.chunk_index) for e in record.events if isinstance(e, Absent)}
    keys = {(f.document_id, f.chunk_index): f for f in assembly.trace.fates}
    edges = [Edge(order[document_id], index, "gap") for document_id, index in sorted(gaps) if document_id in order]
    for (document_id, index), hit in sorted(keys.items()):
        if index == 0:
            edges.append(Edge(order[document_id], 0, "first"))
        after = (document_id, index + 1)
        if assembly.settings.window and hit.retrieved and hit.reason != "missing" and after not in keys and after not in gaps:
            edges.append(Edge(order[document_id], index, "last"))
    return edges


def document_order(assembly: Assembly) -> tuple[str, ...]:
    """Documents in the order of the group stage; those without a place follow in order of appearance."""
    record = assembly.trace.stage("group")
    placed = sorted((e.position, e.document_id) for e in record.events if isinstance(e, Placed)) if record else []
    order = dict.fromkeys(document_id for _, document_id in placed)
    order.update(dict.fromkeys(fate.document_id for fate in assembly.trace.fates))
    return tuple(order)


def chunk_map_html(rows: ChunkMap, marks: Expected) -> str:
    """A row for each document: filled = found, hatched = a neighbour, crossed = not sent, a break where chunks in between are unread.

    What is expected has a dot.
    """
    compact = len(rows.titles) > COMPACT_BEYOND
    drawn = "".join(_lane(rows, row, compact, marks) for row in range(len(rows.titles)))
    return f'<div class="cx-map{" compact" if compact else ""}" data-documents="{len(rows.titles)}">{drawn}</div>'


def _lane(rows: ChunkMap, row: int, compact: bool, marks: Expected) -> str:
    fates = rows.rows[row]
    gaps = {edge.chunk_index for edge in rows.edges if edge.row == row and edge.kind == "gap"}
    ends = {(edge.chunk_index, edge.kind) for edge in rows.edges if edge.row == row}
    by_index = {fate.chunk_index: fate for fate in fates}
    indexes = sorted({*by_index, *gaps})
    cells = []
    if indexes and indexes[0] > 0:
        cells.append(_break(indexes[0]))
    for before, index in zip([None, *indexes], indexes, strict=False):
        if before is not None and index > before + 1:
            cells.append(_break(index - before - 1))
        cells.append(_cell(by_index[index], ends, compact, marks) if index in by_index else _gap(index))
    if indexes and (indexes[-1], "last") not in ends:
        cells.append('<i class="cx-break" title="the document goes on"></i>')
    title, document = rows.titles[row], document_of(fates[0].document_id)
    return (
        f'<div class="cx-lane" {document}><span dir="auto" title="{in_attribute(title)}">{row + 1} {escape(title)}</span>'
        f'<div class="cx-cells">{"".join(cells)}</div></div>'
    )


def _break(count: int) -> str:
    return f'<i class="cx-break" title="{counted(count, "chunk")} not read"></i>'


def _gap(index: int) -> str:
    return f'<span class="cx-cell gap" title="#{index} is not stored"></span>'


def _cell(fate: Fate, ends: Collection[tuple[int, str]], compact: bool, marks: Expected) -> str:
    origin = (
        f"found at rank {fate.rank}" if fate.retrieved else f"neighbour of {', '.join(f'#{p}' for p in fate.parents) or 'a found chunk'}"
    )
    says = f"#{fate.chunk_index}: {origin}" + ("" if fate.fate == "kept" else f", {fate_label(fate)}")
    key = (fate.document_id, fate.chunk_index)
    says += ", expected" if marks.holds(key) else ""
    look = "k-retrieved" if fate.retrieved else "k-added"
    look += "" if fate.fate in SENT else " gone"
    look += " wanted" if marks.holds(key) else ""
    look += "".join(f" {kind}" for kind in ("first", "last") if (fate.chunk_index, kind) in ends)
    return (
        f'<button class="cx-cell {look}" title="{in_attribute(says)}" data-chunk="{fate.chunk_index}">'
        f"{'' if compact else f'<b>{fate.chunk_index}</b>'}</button>"
    )


def show_expand(assembly: Assembly, marks: Expected) -> None:
    """Which chunks were found, which came as neighbours, and which of them reached the context."""
    st.html(boxed(chunk_map_html(chunk_map(assembly), marks), "ctx-map"))


class LifeStep(NamedTuple):
    """What one stage did. `look` is "" for a change, "quiet" for none, "gone" where the chunk left."""

    stage: str
    sentence: str
    look: str


def chunk_life(assembly: Assembly, key: Key) -> tuple[LifeStep, ...]:
    """Every stage of one candidate, from retrieval to its fate."""
    fate = fate_of(assembly, key)
    if fate is None:
        return (LifeStep("Found", "Neither found nor a neighbour of a found chunk.", "gone"),)
    if fate.retrieved:
        methods = hit_words(assembly.query, key)
        origin = LifeStep("Found", f"Rank {fate.rank}, score {decimal(fate.score)}{f': {methods}' if methods else ''}.", "")
    else:
        origin = LifeStep("Found", "Not found itself.", "quiet")
    last = LifeStep("Fate", fate_sentence(fate), "" if fate.fate in ("kept", "truncated", "merged") else "gone")
    return (origin, *(_step(record, key) for record in assembly.trace.stages), last)


def _together(steps: Sequence[LifeStep]) -> Iterator[LifeStep]:
    """Stages in a row that did nothing to it, as one."""
    for (sentence, look), group in groupby(steps, key=lambda step: (step.sentence, step.look)):
        own = list(group)
        yield from own if look != "quiet" else [LifeStep(", ".join(step.stage for step in own), sentence, look)]


def _step(record: StageRecord, key: Key) -> LifeStep:
    sentences = [event_sentence(event) for event in record.events if _concerns(event, key)]
    was = any((s.document_id, s.chunk_index) == key for s in record.before)
    stays = any((s.document_id, s.chunk_index) == key for s in record.after)
    if sentences:
        return LifeStep(stage_name(record.stage), " ".join(sentences), "gone" if was and not stays else "")
    if not was and not stays:
        return LifeStep(stage_name(record.stage), "No longer here.", "quiet")
    return LifeStep(stage_name(record.stage), "Unchanged.", "quiet")


def _concerns(event: Event, key: Key) -> bool:
    if isinstance(event, (Numbered, Ordered)):
        return event.document_id == key[0] and key[1] in event.chunk_indexes
    if isinstance(event, (Failed, Overshot, Supplemented, Unexpanded)):
        return False
    if isinstance(event, (Placed, Prefixed, Yielded)):
        return event.document_id == key[0]
    return (event.document_id, event.chunk_index) == key


def _text(assembly: Assembly, fate: Fate) -> str:
    """The chunk's text; where only part of it was sent that part, with the whole on demand."""
    pieces = stretches(assembly, fate)
    whole = "".join(escape(piece.text) for piece in pieces)
    left = sum(len(piece.text) for piece in pieces if piece.state == "left")
    sent = rewritten_text(assembly, (fate.document_id, fate.chunk_index)) or "".join(p.text for p in pieces if p.state == "sent")
    if not sent or not left:
        shared = any(piece.state == "shared" for piece in pieces)
        body = "".join(_stretch(piece) for piece in pieces) if shared else whole
        return f"<h3>its text{', the dotted part shown by the chunk before it' if shared else '' if sent else ', left out'}</h3>{body}"
    short = shortened_chunks(assembly).get((fate.document_id, fate.chunk_index))
    how = "cut to fit" if short is None else f"{'rewritten by a model' if short.rewritten else 'shortened'}: {short.words}"
    seen = escape(sent) if short and short.rewritten else _sent(pieces)
    return (
        f'<h3>what is kept of it, {how}</h3>{seen}<details id="ctx-left-out"><summary>Show its whole text, with the '
        f"{counted(left, 'character')} that are left out in grey</summary>{''.join(_stretch(piece) for piece in pieces)}</details>"
    )


def _sent(pieces: Sequence[Stretch]) -> str:
    """What is sent, with a sign where something is left out between."""
    runs = [escape(piece.text) if piece.state == "sent" else '<span class="cx-seg-gap">…</span>' for piece in pieces]
    return " ".join(runs)


def _stretch(piece: Stretch) -> str:
    text = escape(piece.text)
    match piece.state:
        case "sent":
            return text
        case "left":
            return f'<span class="cx-left">{text}</span>'
        case "shared":
            return f'<span class="cx-shared">{text}</span>'


def _all(assembly: Assembly) -> str:
    rows = [
        (
            escape(f"{f.document_id} #{f.chunk_index}"),
            "found" if f.retrieved else "neighbour",
            decimal(f.score),
            str(f.rank),
            number(f.tokens),
            fate_chip(f),
            escape(f.reason or ""),
            number(f.missing_tokens) if f.missing_tokens else "",
        )
        for f in assembly.trace.fates
    ]
    return table_html(("chunk", "origin", "score", "rank", "tokens", "fate", "reason", "needs more"), rows, (2, 3, 4, 7), "All candidates")


def show_life(scene: Scene, assembly: Assembly, marks: Expected) -> None:
    """Choose any candidate; read what every stage did to it, and mark it as expected."""
    keys = [(fate.document_id, fate.chunk_index) for fate in assembly.trace.fates]
    if not keys:
        show_empty("No candidates", "The search found nothing for this question. Choose another one.")
        return
    names = {f"{document_id} #{index}": (document_id, index) for document_id, index in keys}
    labels = {
        f"{f.document_id} #{f.chunk_index}": " · ".join(
            (f"{f.document_id} #{f.chunk_index}", "found" if f.retrieved else "neighbour", fate_label(f))
        )
        for f in assembly.trace.fates
    }
    picked = state.picked_chunk()
    if picked is not None and session.followed != picked and picked in keys:
        session.followed = picked
        session.life = f"{picked[0]} #{picked[1]}"
    if session.life not in names:
        session.life = next(iter(names))
    state.send_again("life", labels.values())
    name = st.selectbox("Chunk", list(names), key="life", format_func=lambda name: labels.get(name, name))
    _offer_mark(scene, names[name], marks)
    _show_one(assembly, names[name])
    with st.expander(f"All {len(keys)} candidates", key="all_candidates"):
        st.html(boxed(_all(assembly), "ctx-fates"))


def _offer_mark(scene: Scene, key: Key, marks: Expected) -> None:
    if key in marks.spanned and key not in marks.marked:
        st.html(boxed(f'<p class="cx-note" id="ctx-spanned">● {SPAN_HELP}</p>'))
        return
    is_marked = key in marks.marked
    label, how, help = ("● Expected: unmark", "remove", UNMARK_HELP) if is_marked else ("○ Mark as expected", "add", MARK_HELP)
    st.button(label, key="mark_expected", on_click=mark, args=(scene, [key], how), help=help)


def _show_one(assembly: Assembly, key: Key) -> None:
    steps = "".join(
        f'<li class="{step.look}"><b>{escape(step.stage)}</b>{escape(step.sentence)}</li>' for step in _together(chunk_life(assembly, key))
    )
    fate = fate_of(assembly, key)
    candidate = assembly.trace.candidates.get(key)
    text = _text(assembly, fate) if candidate and fate else "<h3>its text</h3>This chunk is not stored."
    facts = (
        "" if fate is None else f"{fate_chip(fate)} · score {decimal(fate.score)} · rank {fate.rank} · {number(fate.tokens)} tokens alone"
    )
    title = escape(title_of(assembly.trace.documents, key[0]))
    st.html(
        boxed(
            f'<div class="cx-sides" data-chunk="{escape(key[0])} #{key[1]}"><div><h3 class="cx-h">{title} #{key[1]}</h3>'
            f'<p class="cx-note" style="padding-bottom:10px">{facts}</p>'
            f'<ol class="cx-life">{steps}</ol></div><div class="cx-quote" tabindex="0" role="region" aria-label="Text of the chunk" '
            f'dir="auto">{text}</div></div>',
            "ctx-life",
        )
    )
