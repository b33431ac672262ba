"""All questions of the dataset under A and B: who wins, how sure that is, and a table that opens each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import EVERY, FLAGGED, compare_address, hear_clicks
from ctxasm.app.ui.frame.gold import show_no_gold, signed_in
from ctxasm.app.ui.frame.layout import report_button, show_problem
from ctxasm.app.ui.frame.server import data_key
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.frame.work import wait_for
from ctxasm.app.ui.markup import boxed, state_link, table_html
from ctxasm.app.ui.words import number
from ctxasm.model.amounts import counted, signed
from ctxasm.model.errors import CtxasmError
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.compare import Comparison, QuestionDelta

if TYPE_CHECKING:
    from ctxasm.tuning.compare import Comparison

CHANGES = {"worse": "▼ B holds less", "better": "▲ B holds more", "unchanged": "unchanged", "unlabelled": "not labelled"}
"""What can become of a question, in the order in which questions are listed."""
CHANGED = ("worse", "better")
MOST_ROWS = 200
"""Questions that are listed at once; the others are counted."""
LONGEST = 160
WON = "B wins a question of which only B holds all the evidence"


def filters(found: Comparison, flagged: Collection[str] = ()) -> dict[str, str]:
    """The labels of the filter by what each lists: those that occur, with their counts. `flagged` are questions by id."""
    counts = Counter(each.change for each in found.questions)
    counts[FLAGGED] = len(listed(found, FLAGGED, flagged))
    labels = CHANGES | {FLAGGED: "⚑ flagged by reviewers"}
    return {EVERY: f"All {len(found.questions)}"} | {name: f"{said} {counts[name]}" for name, said in labels.items() if counts[name]}


def listed(found: Comparison, only: str, flagged: Collection[str] = ()) -> list[QuestionDelta]:
    """The questions of a filter: by what became of them, then by how far their evidence and their tokens are apart."""
    order = list(CHANGES)
    rows = [each for each in found.questions if only in (EVERY, each.change) or (only == FLAGGED and each.query_id in flagged)]
    return sorted(rows, key=lambda each: (order.index(each.change), -abs(each.b.found - each.a.found), -abs(each.tokens)))


def counts_html(found: Comparison) -> str:
    """How many questions B wins, holds as A does, and loses; what came of it, with how sure that is."""
    badges = (("win", f"▲ B wins {len(found.better)}"), ("tie", f"ties {found.ties}"), ("loss", f"▼ B loses {len(found.worse)}"))
    drawn = "".join(f'<span class="cx-badge" data-count="{name}">{said}</span>' for name, said in badges) if found.labelled else ""
    gold = f'<p class="cx-note" id="ctx-gold">Labels: {escape(found.swept.gold)}.</p>'
    says = f'<p class="cx-decision" role="status" id="ctx-comparison">{escape(found.sentence())}</p>'
    return boxed(f'{says}<div class="cx-badges" title="{WON}">{drawn}</div>{gold}')


def table(rows: Sequence[QuestionDelta], words: Mapping[str, str], link_of: Callable[[str], str], only: str = EVERY) -> str:
    """A row a question. `words` are the questions by id, `link_of` gives the address of one. Where no filter is chosen (`only`), those that
    hold as much under both, or are not labelled, stand behind one line with their number.
    """
    changed = [each for each in rows if each.change in CHANGED]
    others = [each for each in rows if each.change not in CHANGED]
    if only != EVERY or all(each.change == "unlabelled" for each in rows):
        return boxed(_listed(rows, "Questions", words, link_of), "ctx-questions")
    first = (
        _listed(changed, f"{counted(len(changed), 'question')} changed", words, link_of)
        if changed
        else '<p class="cx-note">No question holds more or less evidence under B.</p>'
    )
    return boxed(first + _folded(others, words, link_of), "ctx-questions")


def _folded(rows: Sequence[QuestionDelta], words: Mapping[str, str], link_of: Callable[[str], str]) -> str:
    """The questions of which no change is known, to open."""
    if not rows:
        return ""
    counts = Counter(each.change for each in rows)
    said = ", ".join(f"{number(counts[name])} {CHANGES[name]}" for name in ("unchanged", "unlabelled") if counts[name])
    return f'<details class="cx-fold"><summary>{said}</summary>{_listed(rows, "Questions", words, link_of)}</details>'


def _listed(rows: Sequence[QuestionDelta], caption: str, words: Mapping[str, str], link_of: Callable[[str], str]) -> str:
    heads = ("Question", "B against A", "Evidence A → B", "Tokens A → B", "B − A")
    cells = [_cells(each, words.get(each.query_id, ""), link_of(each.query_id)) for each in rows[:MOST_ROWS]]
    rest = f'<p class="cx-note">and {counted(len(rows) - MOST_ROWS, "more question")}</p>' if len(rows) > MOST_ROWS else ""
    return table_html(heads, cells, (2, 3, 4), caption) + rest


def _cells(each: QuestionDelta, words: str, address: str) -> tuple[str, ...]:
    line = " ".join(words.split()) or each.query_id
    said = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    evidence = f"{each.a.found} → {each.b.found} of {each.a.needed}" if each.a.needed else "–"
    look = "good" if each.change == "better" else "warn" if each.change == "worse" else "mute"
    return (
        state_link(address, said),
        f'<span class="cx-{look}" data-change="{each.change}">{CHANGES[each.change]}</span>',
        evidence,
        f"{number(each.a.tokens)} → {number(each.b.tokens)}",
        signed(each.tokens),
    )


AT_ONCE = 300
"""Questions up to which nobody has to ask for it: a second or two."""
SET = "compare_set"


def show_all_questions(scene: Scene, pinned: AssemblySettings) -> None:
    """Count them, or offer to where that takes long or costs calls; then draw what came of it."""
    found = compared_set(scene.dataset, pinned, session.now)
    if found is None:
        return
    for query_id, why in list(found.swept.failures.items())[:1]:
        show_problem(f"{counted(len(found.swept.failures), 'question')} could not be assembled, {query_id} among them: {why}")
    st.html(counts_html(found))
    if not found.labelled:
        show_no_gold()
    flagged = _flagged(scene.dataset)
    named = filters(found, flagged)
    session.compare_filter = session.compare_filter if session.compare_filter in named else EVERY
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        only = st.segmented_control(
            "List", list(named), key="compare_filter", format_func=named.__getitem__, required=True, label_visibility="collapsed"
        )
        text = json.dumps(found.to_dict(), ensure_ascii=False)
        report_button(partial(_report, found), "comparison.html", "comparison_report")
        st.download_button("JSON", text, "comparison.json", "application/json", key="comparison_json", on_click="ignore")
    shown = only or EVERY
    st.html(table(listed(found, shown, flagged), question_words(), partial(compare_address, pinned, session.now), shown))
    hear_clicks("question_clicks")


def _flagged(dataset: str) -> set[str]:
    """The questions whose answers a reviewer found something wrong with: whoever looks, else anybody."""
    from ctxasm.model.runs import RunFilter
    from ctxasm.review.judging import flagged_runs

    store = server.workbench().store
    questions = {entry.run_id: entry.query_id for entry in store.runs(RunFilter(dataset=dataset))}
    return {questions[run_id] for run_id in flagged_runs(store, [*questions], signed_in() or session.reviewer.strip())}


def _report(found: Comparison) -> str:
    from ctxasm.app.report import report_comparison

    return report_comparison(server.workbench(), found)


def question_words() -> dict[str, str]:
    """The questions of the dataset by id."""
    info = session.info
    return {entry.query_id: entry.query for entry in server.query_list(info)} if info is not None else {}


def compared_set(dataset: str, a: AssemblySettings, b: AssemblySettings) -> Comparison | None:
    """The comparison; None where it waits to be asked for, or cannot be had, which is said."""
    from ctxasm.app.api import compare

    info, workbench = session.info, server.workbench()
    wanted = (data_key(dataset), a, b)
    count = server.stored_queries(info) if info else 0
    calls = any(each.enabled and each.compression == "model" for each in (a, b))
    if (count > AT_ONCE or calls) and session.compare_started != wanted:
        cost = " A model shortens chunks: that costs calls." if calls else ""
        st.button(
            f"Compare {counted(count, 'question')}", key="start_compare", on_click=_start, args=(wanted,), type="primary", help=cost or None
        )
        return None
    try:
        found: Comparison = wait_for(
            SET,
            wanted,
            lambda report, cancelled: compare(a, b, workbench, dataset, report=report, cancelled=cancelled),
            "Cancel" if count > AT_ONCE else "",
        )
    except CtxasmError as error:
        show_problem(str(error))
        return None
    return found


def _start(wanted: Hashable) -> None:
    session.compare_started = wanted
