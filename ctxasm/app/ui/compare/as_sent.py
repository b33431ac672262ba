"""The prompt that was sent (A) beside what the settings of now would send (B): where the fact went, then only what differs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.answering.prompts import build_messages
from ctxasm.app.explained import LONGEST_FACT
from ctxasm.app.fates import fate_label, fate_sentence, fates_by_key
from ctxasm.app.ui.compare.differences import ChunkRow, bars_html, chip, chunk_row, chunks_html, figures_html, sent_texts
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.layout import show_empty, within
from ctxasm.app.ui.frame.recorded_answers import data_key, recorded_answers
from ctxasm.app.ui.frame.session import FACT, Scene, session
from ctxasm.app.ui.frame.sidebar import show_failure
from ctxasm.app.ui.frame.work import awaited
from ctxasm.app.ui.frame.zones_state import asked_choice, zones_key
from ctxasm.app.ui.inspect.budget_bar import FAR, Bar, BarDocument, Part, budget_bar
from ctxasm.app.ui.inspect.change import Delta, sent_chunks
from ctxasm.app.ui.widgets.html import boxed
from ctxasm.app.ui.words.words import number, title_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from ctxasm.model.messages import Message
    from ctxasm.model.ports import TokenCounter
    from ctxasm.model.records import Answer, Turn
    from ctxasm.tuning.why_results import Passage, Why

LONGEST_SHOWN = 20_000
"""Characters of a message, and of an answer, that are shown."""
NOT_SENT = "Not in the prompt that was sent."
NO_HIT = "No hit: the settings bring it as a neighbour."


def show_as_sent(scene: Scene) -> None:
    """Draw it, or say that the dataset records no answer to the question."""
    answer = recorded_answers(scene.dataset).get(scene.query.query_id)
    if answer is None:
        hint = "On Load, paste a trace, or a prompt with its answer, and ask “Why this answer?”; or pick a question that has one."
        show_empty("No answer to this question is recorded", hint)
        return
    key = f"{FACT}{scene.dataset}/{scene.query.query_id}"
    fact = within("The fact", str(session.value_of(key) or ""), LONGEST_FACT)
    try:
        why = _why(scene, answer, fact or None)
    except CtxasmError as error:
        show_failure("Where the fact went cannot be said", error, scene)
        return
    st.html(said_html(why))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "What the answer should have said",
            key=key,
            placeholder="A sentence, as a source would say it",
            persist_state="session",
        )
        _offer_annotations(why)
    if why.is_recorded:
        counter = server.workbench().counter(why.assembly.encoding)
        st.html(sides_html(why))
        st.html(bars_html(*bars(why, counter), state.stamp_of(scene)))
        st.html(figures_html(deltas(why, counter)) or boxed("", "ctx-figures"))
        rows = sent_rows(why)
        st.html(chunks_html(rows) if rows else boxed('<p class="cx-note">Both hold the same hits.</p>', "ctx-chunks"))
        st.html(prompts_html(why.recorded.prompt, build_messages(why.assembly, asked_choice()), counter))


def _why(scene: Scene, answer: Answer, fact: str | None) -> Why:
    from ctxasm.app.explained import Case, explained

    workbench = server.workbench()
    b, source = state.assemble_scene(workbench, scene), workbench.dataset(scene.dataset)
    wanted = (data_key(scene.dataset), scene.query, scene.settings, zones_key(scene.settings), fact)
    case = Case(scene.query, answer)
    found: Why = awaited(
        "why",
        wanted,
        lambda report, cancelled: explained(workbench, case, scene.settings, source, scene.dataset, fact, assembly=b),
    )
    return found


def said_html(why: Why) -> str:
    """The sentence, what else is not as it should be, and the answer."""
    rest = [fact.sentence for fact in why.facts[1:] if fact.outcome != "cited"]
    listed = "".join(f'<li dir="auto">{escape(sentence)}</li>' for sentence in rest)
    more = f'<details><summary>{counted(len(rest), "more")}</summary><ul class="cx-facts">{listed}</ul></details>' if rest else ""
    outcome = why.facts[0].outcome if why.facts else "none"
    return boxed(
        f'<p class="cx-decision" role="status" id="ctx-why" data-outcome="{outcome}" dir="auto">{escape(why.sentence)}</p>{more}'
        f'<div class="cx-quote cx-said" tabindex="0" role="region" aria-label="The answer"><h3>Answer</h3>{_text(why.checked.answer)}</div>'
    )


def _offer_annotations(why: Why) -> None:
    """The verdicts for the span that gave the answer, where it came with one."""
    from ctxasm.citations.phoenix import annotations_body, annotations_of, fact_annotation, otel_span_id

    span = otel_span_id(why.recorded.span_id)
    if span is None:
        return
    facts = [fact_annotation(span, fact.outcome, fact.sentence, fact.text, at) for at, fact in enumerate(why.facts)]
    text = json.dumps(annotations_body([*annotations_of(why.checked, span), *facts]), ensure_ascii=False, allow_nan=False)
    help = "The verdicts as annotations of the span, as Phoenix takes them (POST /v1/span_annotations)"
    data = text.encode("utf-8", "replace")
    st.download_button("Annotations", data, "annotations.json", "application/json", key="annotations_json", on_click="ignore", help=help)


def sides_html(why: Why) -> str:
    """What A and B are."""
    how = ", ".join(filter(None, (why.recorded.model, counted(len(why.recorded.prompt), "message") if why.recorded.prompt else "")))
    a = f"as sent{f' ({escape(how)})' if how else ''}"
    return boxed(f'<ul class="cx-versus"><li>{chip("A")} {a}</li><li>{chip("B")} these settings</li></ul>', "ctx-versus")


def bars(why: Why, counter: TokenCounter) -> tuple[Bar, Bar]:
    """The hits in the prompt that was sent, whose limit is not known, and B; its limit where it is not far beyond both."""
    documents = why.assembly.trace.documents
    runs = tuple(
        BarDocument(
            key, title_of(documents, key), True, tuple(_part(one, counter) for one in own), tuple({one.number: None for one in own})
        )
        for key, group in groupby(why.sent, key=lambda one: one.document_id)
        for own in (list(group),)
    )
    used = sum(run.tokens for run in runs)
    a, b = Bar(runs, used, None, max(used, 1), runs=runs), budget_bar(why.assembly)
    held = max(used, sum(document.tokens for document in b.documents), 1)
    return a, b if why.assembly.limit <= FAR * held else replace(b, limit=None, axis=held)


def _part(passage: Passage, counter: TokenCounter) -> Part:
    return Part("retrieved", counter.count(passage.text), passage.chunk_index, f"#{passage.chunk_index}")


def deltas(why: Why, counter: TokenCounter) -> tuple[Delta, ...]:
    """The figures of both."""
    b, hits = why.assembly, len(why.assembly.query.retrieved)
    kept = {(hit.document_id, hit.chunk_index) for hit in b.query.retrieved} & sent_chunks(b)
    return (
        Delta("tokens", "tokens", sum(counter.count(one.text) for one in why.sent), b.token_count),
        Delta("blocks", "sources", len({one.number for one in why.sent}), len(b.citations)),
        Delta("hits", "found chunks sent", len({one[:2] for one in why.sent}), len(kept), of=hits),
    )


def sent_rows(why: Why) -> tuple[ChunkRow, ...]:
    """What is only in A, what is only in B, and what one of them holds in part; each by rank."""
    b = why.assembly
    fates, in_b = fates_by_key(b), sent_texts(b)
    sent = {(one.document_id, one.chunk_index): one for one in why.sent}
    order = sorted(fates, key=lambda key: (fates[key].rank, key))
    only_a = [chunk_row(b, key, "A", fate_sentence(fates[key])) for key in order if key in sent and key not in in_b]
    only_b = [chunk_row(b, key, "B", NOT_SENT if fates[key].retrieved else NO_HIT) for key in order if key in in_b and key not in sent]
    both = [key for key in order if key in sent and key in in_b and sent[key].text.split() != in_b[key].split()]
    changed = [
        chunk_row(b, key, "changed", f"A: {percent(sent[key].share)} of it. B: {fate_label(fates[key])}.")._replace(
            text=sent[key].text, other=in_b[key]
        )
        for key in both
    ]
    return (*only_a, *only_b, *changed)


def prompts_html(a: Sequence[Turn], b: Sequence[Message], counter: TokenCounter) -> str:
    """Both prompts in full, beside each other; nothing where only the sources of the answer are recorded."""
    if not a:
        return ""
    tokens = [sum(counter.count(turn.content) for turn in turns) for turns in (a, b)]
    heading = f"Both prompts: A {number(tokens[0])} tokens, B {number(tokens[1])}"
    return boxed(
        f'<details><summary>{heading}</summary><div class="cx-sides">{_prompt("A", a)}{_prompt("B", b)}</div></details>', "ctx-prompts"
    )


def _prompt(side: str, turns: Sequence[Turn | Message]) -> str:
    said = "".join(f"<h3>{escape(turn.role)}</h3>{_text(turn.content)}\n\n" for turn in turns)
    return f'<div class="cx-quote cx-diff" tabindex="0" role="region" aria-label="The prompt of {side}" dir="auto">{chip(side)}{said}</div>'


def _text(text: str) -> str:
    rest = len(text) - LONGEST_SHOWN
    return escape(text) if rest <= 0 else f"{escape(text[:LONGEST_SHOWN])}… <small>and {counted(rest, 'more character')}</small>"
