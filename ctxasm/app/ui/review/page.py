"""The page Review: who judges, the queue, one answer at a time with its verdicts, and what should have been cited."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import REVIEW, WHERE, hear_clicks, keep_address, run_address
from ctxasm.app.ui.frame.gold import signed_in
from ctxasm.app.ui.frame.layout import report_button, runs_report, show_empty, show_problem, show_title, show_trouble, within
from ctxasm.app.ui.frame.session import session, take
from ctxasm.app.ui.markup import boxed
from ctxasm.app.ui.review.desk import Conflict, desk_data, judgement_words, show_desk
from ctxasm.app.ui.review.history import show_agreement, show_history
from ctxasm.app.ui.words import cut, title_of
from ctxasm.model.amounts import counted
from ctxasm.model.datasets import DatasetInfo
from ctxasm.model.errors import CtxasmError
from ctxasm.model.runs import ANSWER_ITEM, CITATION_VERDICTS, Judgement, Passage, RunFilter
from ctxasm.review.judging import QueueEntry, ReviewItem, item_for, said_before

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

VIEWS = {"review": "Review", "agreement": "Agreement and gold", "history": "History"}
LONGEST_NAME, LONGEST_NOTE, LONGEST_PHRASE = 100, 4000, 200
MOST_PASSAGES = 12
"""Passages with a phrase that are offered."""
LONGEST_PASSAGE, LONGEST_TAB = 220, 60


def show_review() -> None:
    """Draw the page."""
    info = session.info
    if info is None:
        show_title("Review", "No data yet")
        show_empty("Load a dataset", "Open Load: take the sample with one click, or a log with the answers of your own system.")
        return
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="review_head"):
        session.review_view = session.review_view if session.review_view in VIEWS else "review"
        st.segmented_control(
            "Show", tuple(VIEWS), key="review_view", format_func=VIEWS.__getitem__, label_visibility="collapsed", required=True
        )
        reviewer = _reviewer()
    view = session.review_view
    try:
        if view == "history":
            show_history(info, top)
        elif view == "agreement":
            show_agreement(info, reviewer, top)
        else:
            _show_queue(info, reviewer, top)
    except CtxasmError as error:
        show_trouble("This review cannot be shown", str(error), "What was judged is saved. Reload this page when it is fixed.")


def _reviewer() -> str:
    """Who judges: whoever is signed in, else the name that is typed, which the browser keeps."""
    if name := signed_in():
        st.html(boxed(f'<span class="cx-badge" id="ctx-reviewer">{escape(name)}</span>'))
        return name
    typed = st.text_input("Your name", key="reviewer", placeholder="Your name", width=220, persist_state="session")
    return (within("A name", typed or "", LONGEST_NAME) or "").strip()


# The queue


def _batches(info: DatasetInfo) -> dict[str, int]:
    """The names under which answers of a dataset were kept (a log, `ctxasm ask --keep`), and how many stand under each."""
    return dict(Counter(entry.batch for entry in server.workbench().store.runs(RunFilter(dataset=info.name)) if entry.batch))


def _queue(info: DatasetInfo, reviewer: str) -> tuple[QueueEntry, ...]:
    """The kept answers of a dataset or one batch of them, the riskiest first; made anew where there are others, or another reviewer."""
    from ctxasm.app.reviews import review_queue, run_ids_of

    workbench = server.workbench()
    run_ids = run_ids_of(workbench, RunFilter(dataset=info.name, batch=session.review_batch))
    key = info.name, reviewer, tuple(run_ids)
    if session.review_queue is None or session.review_queue[0] != key:
        session.review_queue = key, tuple(review_queue(workbench, reviewer, run_ids))
    return session.review_queue[1]


def _show_queue(info: DatasetInfo, reviewer: str, top: DeltaGenerator) -> None:
    is_other_dataset = session.review_queue is not None and session.review_queue[0][0] != info.name
    batches = _batches(info) if reviewer else {}
    if session.review_batch not in batches:
        session.review_batch = None
    entries = _queue(info, reviewer) if reviewer else ()
    if not reviewer:
        with top:
            show_title(
                "Review", "Judge answers, claim by claim", "What the checker and others say of a claim is shown after your own verdict."
            )
        show_empty("Who reviews?", "Type your name above: every verdict is saved under it.")
        show_desk({"ask": True})
        hear_clicks("review_clicks", _heard)
        return
    if not entries:
        with top:
            show_title("Review", "No answer to review yet")
        show_empty(
            "Answers come from three places", "Keep one on Ask, load a log with its answers, or take those that this dataset records."
        )
        _offer_recorded(info)
        return
    ids = [entry.run_id for entry in entries]
    if session.review_run not in ids:
        if session.review_run is not None and not is_other_dataset and session.review_batch is None:
            show_problem(
                f"run {session.review_run[:60]!r} is none of the {len(ids)} kept answers of {info.name}: the first of the queue is shown"
            )
        session.review_run = next((entry.run_id for entry in entries if not entry.is_done), ids[0])
    labels = {entry.run_id: f"{at} · {cut(entry.question, 80)}" for at, entry in enumerate(entries, 1)}
    run_id = str(session.review_run)
    at = ids.index(run_id)
    said = st.query_params.to_dict()
    keep_address({name: said[name] for name in WHERE if name in said} | run_address(REVIEW))
    st.set_page_config(page_title=f"Review · {cut(entries[at].question, LONGEST_TAB)} · ctxasm")
    with top:
        show_title(f"Review · answer {at + 1} of {len(ids)}", entries[at].question)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="review_steps"):
        for sign, name, to in (("←", "previous", at - 1), ("Next answer", "next", at + 1)):
            there = 0 <= to < len(ids)
            target = ids[to] if there else run_id
            st.button(sign, key=f"{name}_answer", on_click=_open, args=(target,), disabled=not there, help=f"{name.capitalize()} answer")
        st.selectbox("Queue", ids, key="review_run", format_func=lambda key: labels.get(key, str(key)), label_visibility="collapsed")
        if len(batches) > 1 or session.review_batch is not None:
            st.selectbox(
                "Kept as",
                [None, *batches],
                key="review_batch",
                format_func=lambda name: _batch_words(name, batches),
                label_visibility="collapsed",
            )
    _desk(info, reviewer, str(session.review_run), len(ids))
    with st.expander("More answers", key="more_answers", on_change="rerun") as more:
        if more.open:
            _offer_recorded(info)


def _batch_words(name: str | None, batches: Mapping[str, int]) -> str:
    return "All kept answers" if name is None else f"{cut(name, 40)} · {counted(batches.get(name, 0), 'answer')}"


def _open(run_id: str) -> None:
    session.review_run = run_id


def _offer_recorded(info: DatasetInfo) -> None:
    """A button that keeps the answers that the dataset records, so that they can be judged."""
    from ctxasm.app.reviews import keep_recorded

    if st.button(f"Take the recorded answers of {info.name}", key="take_recorded", type="primary"):
        with st.spinner("Checking the recorded answers …"):
            kept = keep_recorded(server.workbench(), info.name)
        if kept.new:
            st.rerun()
        refused = f" {counted(len(kept.refused), 'answer')} could not be checked." if kept.refused else ""
        show_problem(f"{info.name} records no answer that is not kept yet.{refused}")


# One answer


@st.fragment
def _desk(info: DatasetInfo, reviewer: str, run_id: str, of: int) -> None:
    """The answer, its verdicts, and what should have been cited. It runs alone after each verdict."""
    store = server.workbench().store
    try:
        item = item_for(store, run_id, reviewer)
        _count(item)
        _see(item, reviewer)
        entries = session.review_queue[1] if session.review_queue is not None else ()
        done = sum(entry.is_done for entry in entries)
        words = f"<b>{done} of {counted(of, 'answer')} judged</b> · here {item.judged} of {item.items}"
        st.html(f'<div class="cx"><p class="cx-mute cx-small" id="ctx-progress" role="status">{words}</p></div>')
        if item.judged == item.items:  # not before: it says what the checker and others say
            report_button(runs_report([run_id]), f"answer-{run_id}.html", "review_report")
        if problem := take("review_problem"):
            show_problem(problem)
        go, turn = session.review_go
        show_desk(desk_data(item, reviewer, _conflicts(reviewer), go, turn, session.clicks_heard))
        _show_missed(info, item, reviewer)
    except CtxasmError as error:
        show_trouble("This answer cannot be shown", str(error), "What was judged is saved. The other answers still work.")
    hear_clicks("review_clicks", _heard)


def _count(item: ReviewItem) -> None:
    """Let the queue say how far this answer is judged."""
    if session.review_queue is not None:
        of, entries = session.review_queue
        now = tuple(each._replace(judged=item.judged) if each.run_id == item.run_id else each for each in entries)
        session.review_queue = of, now


def _see(item: ReviewItem, reviewer: str) -> None:
    """What is drawn now is what the reviewer has seen."""
    owns = [citation.own for claim in item.claims for citation in claim.citations] + [item.own]
    seen = {(own.run_id, own.item, own.reviewer): own for own in owns if own is not None}
    session.review_seen = {**{key: own for key, own in session.review_seen.items() if key[0] != item.run_id}, **seen}


def _conflicts(reviewer: str) -> list[Conflict]:
    """What was not saved because another page or tab wrote under this name meanwhile: both texts."""
    return [
        Conflict(
            key,
            f"{reviewer} said something else of this meanwhile, in another tab or on another machine.",
            judgement_words(there),
            judgement_words(mine),
        )
        for key, (mine, there) in session.review_conflicts.items()
        if mine.reviewer == reviewer
    ]


# What the desk says


def _heard(said: str) -> bool:
    """A verdict, a note, an undo (a callback): saved at once. Whether the whole page is to run."""
    told = _read(said)
    act, value, run_id, item = (told.get(name, "") for name in ("act", "value", "run", "item"))
    if act == "name" and value.strip() and not session.reviewer:
        session.reviewer = value.strip()[:LONGEST_NAME]
        return True
    reviewer = _current_reviewer()
    entries = session.review_queue[1] if session.review_queue is not None else ()
    if not reviewer or (act not in ("mine", "theirs") and run_id not in {entry.run_id for entry in entries}):
        return False
    try:
        return _act(act, value, run_id, item, reviewer)
    except CtxasmError as error:
        session.review_problem = f"Not saved: {error}"
        return False


def _act(act: str, value: str, run_id: str, item: str, reviewer: str) -> bool:
    if act == "verdict" and value in CITATION_VERDICTS:
        _say(run_id, item, reviewer, lambda own: replace(own, verdict=value))
    elif act == "answer" and (change := _ANSWER.get(value)):
        _say(run_id, ANSWER_ITEM, reviewer, change)
    elif act == "note":
        _say(run_id, item, reviewer, lambda own: replace(own, note=value[:LONGEST_NOTE]))
    elif act in ("mine", "theirs"):
        conflicts = dict(session.review_conflicts)
        mine, there = conflicts.pop(value, (None, None))
        session.review_conflicts = conflicts
        if act == "mine" and mine is not None:
            _write(mine, there.version if there is not None else 0)
    elif act == "undo":
        return _undo(run_id, item, reviewer)
    return False


_ANSWER: Mapping[str, Callable[[Judgement], Judgement]] = {
    "yes": lambda own: replace(own, answers=None if own.answers == "yes" else "yes"),
    "partly": lambda own: replace(own, answers=None if own.answers == "partly" else "partly"),
    "no": lambda own: replace(own, answers=None if own.answers == "no" else "no"),
    "complete": lambda own: replace(own, complete=None if own.complete is True else True),
    "incomplete": lambda own: replace(own, complete=None if own.complete is False else False),
}
"""What is said of an answer as a whole; the same a second time takes it back."""


def _read(said: str) -> dict[str, str]:
    """What the script says; nothing of what a page cannot have said."""
    try:
        told = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    is_record = isinstance(told, dict) and all(isinstance(value, str) for value in told.values())
    return {str(name): value.encode("utf-8", "replace").decode() for name, value in told.items()} if is_record else {}


def _current_reviewer() -> str:
    return session.review_queue[0][1] if session.review_queue is not None else ""


def _say(run_id: str, item: str, reviewer: str, change: Callable[[Judgement], Judgement]) -> None:
    """Save a change to what this page has shown of an item."""
    seen = session.review_seen.get((run_id, item, reviewer))
    now = change(seen or Judgement(run_id, item, reviewer))
    if seen is None or now.content != seen.content:
        _write(now, seen.version if seen is not None else 0)


def _write(now: Judgement, expected: int) -> None:
    key = now.run_id, now.item, now.reviewer
    written = server.workbench().store.judge(now, expected)
    if not written.saved:
        session.review_conflicts = {**session.review_conflicts, f"{now.run_id} {now.item}": (now, written.current)}
        return
    session.review_seen = {**session.review_seen, key: replace(now, version=expected + 1)}
    session.review_past = [*session.review_past, key[:2]][-100:]


def _undo(run_id: str, item: str, reviewer: str) -> bool:
    """Take back the last change of this session, else what is seen of the item that is shown, and go there."""
    past = list(session.review_past)
    where = past.pop() if past else (run_id, item)
    versions = [
        each for each in server.workbench().store.judgements([where[0]], history=True) if (each.item, each.reviewer) == (where[1], reviewer)
    ]
    if not versions:
        return False
    seen = session.review_seen.get((*where, reviewer))
    version = seen.version if seen is not None else 0
    _write(said_before(versions, version), version)
    session.review_past = past
    session.review_go = where[1], session.review_go[1] + 1
    other = where[0] != session.review_run
    session.review_run = where[0]
    return other


# What should have been cited


def _show_missed(info: DatasetInfo, item: ReviewItem, reviewer: str) -> None:
    """The passages that should have been cited: found by a phrase, picked and taken back by a click."""
    own = item.own
    picked = own.should_cite if own is not None else ()
    with st.expander("What should have been cited", key=f"missed_{item.run_id}", on_change="rerun") as place:
        if not place.open:
            return
        typed = st.text_input("Phrase", key="cite_phrase", placeholder="Words of the passage, as they stand in the data")
        phrase = within("A phrase", typed or "", LONGEST_PHRASE)
        named = {(passage.document_id, passage.chunk_index): passage for passage in picked}
        found = server.workbench().find_text(info.name, phrase, MOST_PASSAGES) if phrase else []
        offered = {(chunk.document_id, chunk.chunk_index): Passage(chunk.document_id, chunk.chunk_index, chunk.text) for chunk in found}
        if phrase and not offered:
            show_empty("Not in this dataset", "No chunk holds this phrase. Case does not matter, spelling does.")
        for at, (key, passage) in enumerate((named | offered).items()):
            with st.container(horizontal=True, vertical_alignment="top", gap="small"):
                st.button(
                    "Take back" if key in named else "Should be cited",
                    key=f"cite_{at}",
                    on_click=_pick,
                    args=(item.run_id, reviewer, passage),
                    width=140,
                )
                words = f"<b>{escape(title_of({}, key[0]))}</b> #{key[1]}<br>{escape(cut(passage.text, LONGEST_PASSAGE))}"
                st.html(f'<div class="cx cx-small" data-passage="{at}">{words}</div>')


def _pick(run_id: str, reviewer: str, passage: Passage) -> None:
    """Add a passage to those that should have been cited, or take it from them (a callback)."""

    def change(own: Judgement) -> Judgement:
        others = tuple(
            each for each in own.should_cite if (each.document_id, each.chunk_index) != (passage.document_id, passage.chunk_index)
        )
        return replace(own, should_cite=others if len(others) < len(own.should_cite) else (*others, passage))

    try:
        _say(run_id, ANSWER_ITEM, reviewer, change)
    except CtxasmError as error:
        session.review_problem = f"Not saved: {error}"
