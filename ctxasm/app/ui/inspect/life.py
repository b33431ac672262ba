"""The life of one chunk, stage by stage, in words; and the table of all candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.frame import state
from ctxasm.app.ui.frame.gold import mark
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_empty
from ctxasm.app.ui.inspect.hits import hit_words
from ctxasm.app.ui.widgets.context_marks import Stretch, fate_chip, rewritten_text, shortened_chunks, stretches
from ctxasm.app.ui.widgets.expected import MARK_HELP, SPAN_HELP, UNMARK_HELP, Expected
from ctxasm.app.ui.widgets.fates import fate_of
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.event_words import event_sentence
from ctxasm.app.ui.words.words import decimal, fate_label, fate_sentence, number, title_of
from ctxasm.model.amounts import counted
from ctxasm.model.events import Event, Failed, Numbered, Ordered, Overshot, Placed, Prefixed, Supplemented, Unexpanded, Yielded
from ctxasm.model.results import Assembly, Fate, Key, StageRecord
from ctxasm.model.stage_labels import stage_name


class Step(NamedTuple):
    """What one stage did. `look` is "" for a change, "quiet" for none, "gone" where the chunk left."""

    stage: str
    sentence: str
    look: str


def chunk_life(assembly: Assembly, key: Key) -> tuple[Step, ...]:
    """Every stage of one candidate, from retrieval to its fate."""
    fate = fate_of(assembly, key)
    if fate is None:
        return (Step("Retrieved", "Neither retrieved nor reached by expansion for this query.", "gone"),)
    if fate.retrieved:
        methods = hit_words(assembly.query, key)
        origin = Step("Retrieved", f"Rank {fate.rank}, score {decimal(fate.score)}{f': {methods}' if methods else ''}.", "")
    else:
        origin = Step("Retrieved", "Not retrieved itself.", "quiet")
    last = Step("Fate", fate_sentence(fate), "" if fate.fate in ("kept", "truncated", "merged") else "gone")
    return (origin, *(_step(record, key) for record in assembly.trace.stages), last)


def _together(steps: Sequence[Step]) -> Iterator[Step]:
    """Stages in a row that did nothing to it, as one."""
    for (sentence, look), group in groupby(steps, key=lambda step: (step.sentence, step.look)):
        own = list(group)
        yield from own if look != "quiet" else [Step(", ".join(step.stage for step in own), sentence, look)]


def _step(record: StageRecord, key: Key) -> Step:
    sentences = [event_sentence(event) for event in record.events if _concerns(event, key)]
    was = any((s.document_id, s.chunk_index) == key for s in record.before)
    stays = any((s.document_id, s.chunk_index) == key for s in record.after)
    if sentences:
        return Step(stage_name(record.stage), " ".join(sentences), "gone" if was and not stays else "")
    if not was and not stays:
        return Step(stage_name(record.stage), "No longer here.", "quiet")
    return Step(stage_name(record.stage), "Unchanged.", "quiet")


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
        return f"<h3>its text{', the dotted part shown by the chunk before it' if shared else '' if sent else ', not sent'}</h3>{body}"
    short = shortened_chunks(assembly).get((fate.document_id, fate.chunk_index))
    how = "cut to fit" if short is None else f"{'rewritten by a model' if short.rewritten else 'shortened'}: {short.words}"
    seen = escape(sent) if short and short.rewritten else _sent(pieces)
    return (
        f'<h3>what is sent of it, {how}</h3>{seen}<details id="ctx-left-out"><summary>Show its whole text, with the '
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
            "retrieved" if f.retrieved else "added",
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
        show_empty("No candidates", "Retrieval returned nothing for this query; choose another one.")
        return
    names = {f"{document_id} #{index}": (document_id, index) for document_id, index in keys}
    labels = {
        f"{f.document_id} #{f.chunk_index}": " · ".join(
            (f"{f.document_id} #{f.chunk_index}", "retrieved" if f.retrieved else "added", fate_label(f))
        )
        for f in assembly.trace.fates
    }
    picked = state.picked_chunk()
    if picked is not None and session.followed != picked and picked in keys:
        session.followed = picked
        session.life = f"{picked[0]} #{picked[1]}"
    if session.life not in names:
        session.life = next(iter(names))
    state.send_again(Session.life.key, labels.values())
    name = st.selectbox("Chunk", list(names), key=Session.life.key, format_func=lambda name: labels.get(name, name))
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
