"""The blind review: two contexts or answers beside each other, chunk by chunk, without their names. What was preferred is kept in the
database; the names come at the end, or on request.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from html import escape
from itertools import groupby
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.ui.compare.answers import unmarked
from ctxasm.app.ui.compare.differences import chip, marked_sides, sent_texts, settings_html, sides_of
from ctxasm.app.ui.compare.questions import compared_set, question_words
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.layout import show_empty, show_problem
from ctxasm.app.ui.frame.server import data_key
from ctxasm.app.ui.frame.session import Scene, session, take
from ctxasm.app.ui.markup import boxed, table_html
from ctxasm.app.ui.words import title_of
from ctxasm.model.amounts import counted
from ctxasm.model.characters import harmless_cell
from ctxasm.model.errors import CtxasmError
from ctxasm.model.kept import key_of
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.review.blind import LONGEST_NOTE, Judgement, Preferred, Review
from ctxasm.tuning.statistics import PairedDifference, paired_difference

Button = Literal["left", "same", "right"]
BUTTONS: dict[Button, str] = {"left": "← Left", "same": "No difference", "right": "Right →"}
SAID = {"A": chip("A"), "B": chip("B"), "same": "neither"}
CONTEXTS, ANSWERS = "contexts", "answers"
ALL = "all"
"""The key of a text that is not made of chunks."""


class Part(NamedTuple):
    """A chunk of a context with the title of its document, or a whole answer. `own`: its text without what the chunk before shows too."""

    title: str
    text: str
    own: str


Parts = Mapping[Hashable, Part]
PartsOf = Callable[[str], tuple[Parts, Parts]]
"""What is judged of a question, under A and B. Raises CtxasmError."""


def shuffled(query_ids: Sequence[str], secret: str) -> list[str]:
    """The questions in an order that only the secret decides."""
    return sorted(query_ids, key=lambda query_id: key_of("order", secret, query_id))


def is_a_left(query_id: str, secret: str) -> bool:
    """Whether A stands on the left: a coin that falls alike for the same secret."""
    return int(key_of("side", secret, query_id), 16) % 2 == 0


def preferred(a_left: bool, side: Button) -> Preferred:
    """Whose text a click preferred."""
    if side == "same":
        return "same"
    return "A" if a_left == (side == "left") else "B"


class Verdict(NamedTuple):
    """What the judgements come to: `result` is by how much more often B was preferred than A."""

    a: int
    b: int
    same: int
    result: PairedDifference

    @property
    def sentence(self) -> str:
        """In words."""
        judged = self.a + self.b + self.same
        counts = f"Of {counted(judged, 'question')} B was preferred for {self.b}, A for {self.a}, neither for {self.same}"
        return f"{counts}: {self.result.sentence()}."


def verdict(judged: Sequence[Preferred]) -> Verdict:
    """Count them."""
    counts = Counter(judged)
    differences = [1] * counts["B"] + [-1] * counts["A"] + [0] * counts["same"]
    return Verdict(counts["A"], counts["B"], counts["same"], paired_difference(differences))


def show_blind_review(scene: Scene, pinned: AssemblySettings) -> None:
    """The next question that nobody has judged; at the end, or on request, who was who."""
    found = compared_set(scene.dataset, pinned, session.now)
    if found is None:
        return
    if problem := take("blind_problem"):
        show_problem(problem)
    # Another order of the same chunks differs in neither tokens nor evidence: then every question is looked at.
    query_ids = [each.query_id for each in found.questions if each.a != each.b] or [each.query_id for each in found.questions]
    answers = _answers(scene, pinned)
    what = CONTEXTS
    if answers:
        what = st.segmented_control(
            "Judge", [CONTEXTS, ANSWERS], default=ANSWERS, key="blind_what", format_func=str.capitalize, required=True
        )
    query_ids = list(answers) if what == ANSWERS else query_ids
    review = Review(server.workbench().store, _review_key(scene, pinned, answers if what == ANSWERS else {}), scene.dataset)
    try:
        secret, kept = review.secret(), review.judgements(query_ids)
        done = _judged(kept)
        shown = _next(review, answers.__getitem__ if what == ANSWERS else _contexts_of(scene, pinned), shuffled(query_ids, secret), done)
    except CtxasmError as error:
        show_problem(str(error))
        return
    is_early = bool(st.session_state.get("blind_reveal")) and shown is not None
    if shown is None and not done:
        show_empty("Nothing to choose between", f"The {what} of every question are the same under A and B, to the letter.")
    elif shown is None or is_early:
        _show_names(review, scene, pinned, kept, is_early)
    else:
        rest = len(query_ids) - len(done) - len(session.blind_alike.get(review.key, ()))
        _show_question(review, *shown, is_a_left(shown[0], secret), kept, rest)


def _review_key(scene: Scene, pinned: AssemblySettings, answers: Mapping[str, tuple[Parts, Parts]]) -> str:
    content = session.info.content_hash if session.info is not None else ""
    settings = [json.dumps(each.changed(), sort_keys=True) for each in (pinned, session.now)]
    texts = [text for query_id in sorted(answers) for text in (query_id, *(parts[ALL].text for parts in answers[query_id]))]
    return key_of(scene.dataset, content, *settings, *texts)


def _show_question(review: Review, query_id: str, a: Parts, b: Parts, a_left: bool, kept: Mapping[str, Judgement], rest: int) -> None:
    st.html(boxed(f'<p class="cx-decision" dir="auto" id="ctx-asked">{escape(question_words().get(query_id, query_id))}</p>'))
    done, before = _judged(kept), kept.get(query_id, Judgement(query_id, "", "", ""))
    note = f"blind_note/{review.key}/{query_id}/{before.at}"
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="blind_choice"):
        for side, label in BUTTONS.items():
            st.button(label, key=f"blind_{side}", on_click=_judge, args=(review, query_id, preferred(a_left, side), note))
        st.text_input("Note", before.note, LONGEST_NOTE, note, placeholder="Note", label_visibility="collapsed", width=260)
        st.button("Undo", key="blind_undo", disabled=not done, on_click=_undo, args=(review, *[*done.values()][-1:]))
        st.html(boxed(f'<span class="cx-note" role="status" id="ctx-judged">{len(done)} judged, {rest} to go</span>'))
        short = st.toggle("Only what differs", True, key="blind_short")
        st.button("Who is who", key="blind_reveal", disabled=not done, type="tertiary")
    st.html(pairs_html(a, b, short) if a_left else pairs_html(b, a, short))


def _judged(kept: Mapping[str, Judgement]) -> dict[str, Judgement]:
    """Without those that were taken back."""
    return {query_id: each for query_id, each in kept.items() if each.preferred}


def _change(write: Callable[[], None]) -> None:
    """Write to the database (a callback)."""
    try:
        write()
    except CtxasmError as error:
        session.blind_problem = str(error)


def _judge(review: Review, query_id: str, who: Preferred, note: str) -> None:
    _change(lambda: review.judge(query_id, who, str(st.session_state.get(note) or "")))


def _undo(review: Review, last: Judgement) -> None:
    """Take a judgement back; its note stands in the box again."""
    _change(lambda: review.judge(last.query_id, "", last.note))


def _start_again(review: Review, query_ids: Sequence[str]) -> None:
    _change(lambda: review.forget(query_ids))


def _answers(scene: Scene, pinned: AssemblySettings) -> dict[str, tuple[Parts, Parts]]:
    """The answers under A and B by question, where all were asked for, without their markers."""
    kept = session.answered
    if kept is None or (kept[1].a, kept[1].b) != (pinned, session.now) or kept[0][0] != data_key(scene.dataset):
        return {}

    def parts(answer: str) -> Parts:
        return _whole(unmarked(answer))

    return {pair.query_id: (parts(pair.a.answer), parts(pair.b.answer)) for pair in kept[1].pairs}


def _contexts_of(scene: Scene, pinned: AssemblySettings) -> PartsOf:
    def chunks(assembly: Assembly) -> Parts:
        own: dict[Hashable, str] = {}
        for segment in assembly.segments:
            if segment.kind == "chunk":
                key = (segment.document_id, segment.chunk_index)
                own[key] = own.get(key, "") + assembly.text[segment.start : segment.end]
        documents = assembly.trace.documents
        return {key: Part(title_of(documents, key[0]), text, own.get(key, "")) for key, text in sent_texts(assembly).items()}

    def parts_of(query_id: str) -> tuple[Parts, Parts]:
        a, b = sides_of(replace(scene, query=server.workbench().query(scene.dataset, query_id)), pinned)
        one, other = chunks(a), chunks(b)
        # The same chunks may be written in another way: then the contexts are shown as they are.
        alike = [(key, each.text) for key, each in one.items()] == [(key, each.text) for key, each in other.items()]
        return (_whole(a.text), _whole(b.text)) if alike else (one, other)

    return parts_of


def _whole(text: str) -> Parts:
    return {ALL: Part("", text, text)}


def _next(review: Review, parts_of: PartsOf, order: Sequence[str], done: Mapping[str, Judgement]) -> tuple[str, Parts, Parts] | None:
    """The first question that is still to be judged; None after the last. Those that are the same under both are passed over."""
    alike = session.blind_alike.get(review.key, frozenset())
    for query_id in order:
        if query_id in done or query_id in alike:
            continue
        try:
            a, b = parts_of(query_id)
        except CtxasmError as error:
            show_problem(f"{query_id}: {error}")
            continue
        if [*a] != [*b] or any(a[key].text != b[key].text for key in a):
            return query_id, a, b
        alike |= {query_id}
        session.blind_alike = {**session.blind_alike, review.key: alike}
    return None


def pairs_html(left: Parts, right: Parts, short: bool) -> str:
    """Both, each chunk beside itself; `short`: without the chunks that are the same. Sentences that only one side has are marked."""
    rows: list[tuple[Part | None, Part | None]] = []
    for tag, low, high, other_low, other_high in SequenceMatcher(None, [*left], [*right], autojunk=False).get_opcodes():
        one, other = [*left.values()][low:high], [*right.values()][other_low:other_high]
        rows += zip(one, other, strict=True) if tag == "equal" else [*((each, None) for each in one), *((None, each) for each in other)]
    drawn, title = [], ""
    for is_same, group in groupby(rows, key=lambda row: row[0] is not None and row[1] is not None and row[0].text == row[1].text):
        pairs = list(group)
        if is_same and short:
            drawn.append(f'<p class="cx-mute">{counted(len(pairs), "equal chunk")}</p>')
            title = ""
            continue
        for pair in pairs:
            head = next(each.title for each in pair if each is not None)
            drawn.append((f"<h2>{escape(head)}</h2>" if head != title else "") + _pair_html(*pair))
            title = head
    sides = '<div class="cx-pair cx-pair-head"><b>Left</b><b>Right</b></div>'
    return boxed(f'<div class="cx-blind" tabindex="0" role="region" aria-label="Left and right">{sides}{"".join(drawn)}</div>', "ctx-blind")


def _pair_html(left: Part | None, right: Part | None) -> str:
    if left is None or right is None:
        cells = [escape(each.own) if each is not None else "" for each in (left, right)]
    else:
        cells = [*marked_sides(left.text, right.text)]
    drawn = "".join(
        f'<div class="cx-quote" data-at="{side}" dir="auto">{cell}</div>' if cell else f'<div data-at="{side}" class="cx-mute">–</div>'
        for side, cell in zip(("Left", "Right"), cells, strict=True)
    )
    return f'<div class="cx-pair">{drawn}</div>'


def _show_names(review: Review, scene: Scene, pinned: AssemblySettings, kept: Mapping[str, Judgement], is_early: bool) -> None:
    """Who was who; on request (`is_early`) with the way back to the questions that are still to be judged."""
    done = _judged(kept)
    says, words = verdict([each.preferred for each in done.values()]).sentence, question_words()
    beside = {"dataset": scene.dataset, "a": json.dumps(pinned.changed()), "b": json.dumps(session.now.changed())}
    rows = [{**each._asdict(), "question": words.get(each.query_id, each.query_id), **beside} for each in done.values()]
    st.html(boxed(f'<p class="cx-decision" role="status" id="ctx-unblinded">{escape(says)}</p>'))
    st.html(settings_html(pinned, session.now))
    cells = [(escape(row["question"]), SAID[row["preferred"]], escape(row["note"])) for row in rows]
    caption = f"{counted(len(done), 'question')} judged"
    st.html(boxed(table_html(("Question", "preferred", "note"), cells, caption=caption), "ctx-judgements"))
    with st.container(horizontal=True, gap="small"):
        if is_early:
            st.button("Go on", key="blind_go_on")
        for kind, text, mime in (("CSV", judgements_csv(rows), "text/csv"), ("JSON", judgements_json(rows, says), "application/json")):
            st.download_button(kind, text, f"blind-review.{kind.lower()}", mime, key=f"blind_{kind.lower()}", on_click="ignore")
        with st.popover("Start again", key="blind_over"):
            label = f"Delete {counted(len(done), 'judgement')} and shuffle"
            st.button(label, key="blind_again", on_click=_start_again, args=(review, [*kept]))


def judgements_csv(rows: Sequence[Mapping[str, str]]) -> str:
    """The judgements as cells that no spreadsheet takes for formulas."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerows([list(rows[0]), *(map(harmless_cell, row.values()) for row in rows)])
    return written.getvalue()


def judgements_json(rows: Sequence[Mapping[str, str]], says: str) -> str:
    """The judgements, and what they come to."""
    return json.dumps({"says": says, "judgements": rows}, ensure_ascii=False, indent=1)
