"""The history of the answers that are kept, how reviewers agree, and gold from their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import FLAGGED, compare_address, hear_clicks, review_address
from ctxasm.app.ui.frame.layout import report_button, runs_report, show_empty, show_title
from ctxasm.app.ui.frame.session import DATASET, QUERY_ID, session, take
from ctxasm.app.ui.markup import boxed, state_link, table_html
from ctxasm.app.ui.words import cut, number
from ctxasm.model.amounts import counted
from ctxasm.model.datasets import DatasetInfo
from ctxasm.model.errors import CtxasmError, InvalidSetting
from ctxasm.model.runs import Run, RunEntry, RunFilter
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import to_url

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from ctxasm.app.workbench import Workbench
    from ctxasm.review.gold import GoldReport, UndoReport

MOST_RUNS = 100
"""Runs that are listed; a link or the command opens older ones."""
NONE_CHOSEN = ""


def show_history(info: DatasetInfo, top: DeltaGenerator) -> None:
    """The kept answers of a dataset, the newest first; one of them opened, compared with another, or deleted."""
    entries = server.workbench().store.runs(RunFilter(dataset=info.name, limit=MOST_RUNS))
    with top:
        show_title("Review · history", "Answers that were kept", "Each as it arrived, with the settings that made it. None is made again.")
    _offer_restore()
    if not entries:
        show_empty("No answer is kept yet", "Keep one on Ask, or take the recorded answers of this dataset under Review.")
        return
    rows = [_row(info, entry) for entry in entries]
    more = f"{counted(len(rows), 'answer')}{', the newest' if len(rows) == MOST_RUNS else ''}"
    labels = {entry.run_id: f"{_time(entry.kept_at)} · {cut(entry.question, 60)}" for entry in entries}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox("Answer", list(labels), key="history_run", format_func=lambda key: labels.get(key, key))
        others = [NONE_CHOSEN, *(run_id for run_id in labels if run_id != chosen)]
        other = st.selectbox("Compare with", others, key="history_other", format_func=lambda key: labels.get(key, "nothing"))
        report_button(runs_report([chosen, other] if other else [chosen]), f"answer-{chosen}.html", "history_report")
    run = server.workbench().store.run(chosen)
    st.html(_run_html(info, run))
    if other:
        from ctxasm.review.runs import difference_of

        said = "".join(f"<li>{escape(sentence)}</li>" for sentence in difference_of(run, server.workbench().store.run(other)).sentences())
        st.html(boxed(f'<h2 class="cx-h">What differs in the other answer</h2><ul class="cx-findings">{said}</ul>', "ctx-run-difference"))
    with st.popover("Delete", key="delete_run"):
        st.markdown("It is hidden with its verdicts. You can undo that here; `ctxasm history --purge` removes it for good.")
        st.button("Delete this answer", key="delete_run_now", on_click=_delete, args=(chosen,), type="primary")
    st.html(boxed(table_html(("kept", "question", "model", "by"), rows, caption=more), "ctx-runs"))
    hear_clicks("question_clicks")


def _row(info: DatasetInfo, entry: RunEntry) -> tuple[str, ...]:
    link = state_link(review_address(info.name, entry.run_id), cut(entry.question, 90))
    return escape(_time(entry.kept_at)), link, escape(entry.model or "recorded"), escape(entry.author or "–")


def _time(kept_at: str) -> str:
    return kept_at[:16].replace("T", " ")


def _run_html(info: DatasetInfo, run: Run) -> str:
    """One run: the answer as it arrived, what it took, and the ways on."""
    took = [f"{number(value)} tokens {name}" for name, value in _tokens(run).items()]
    took += [f"cost {run.cost:.4f}"] if run.cost is not None else []
    took += ["incomplete"] if not run.complete else []
    changed = ", ".join(f"{name} {value}" for name, value in sorted(run.settings.items())) or "defaults"
    ways = [state_link(review_address(info.name, run.run_id), "Review it")]
    settings = settings_of(run)
    if settings is not None:
        where = {DATASET: info.name, **({QUERY_ID: run.query_id} if run.query_id else {})}
        ways.append(state_link(f"./?{urlencode({**where, **to_url(settings)})}", "Restore its settings"))
    about = " · ".join([run.model or "recorded", *took, f"settings: {changed}"])
    return boxed(
        f'<p class="cx-note" dir="auto" id="ctx-run-answer">{escape(run.answer)}</p><p class="cx-mute cx-small">{escape(about)}</p>'
        f"<p>{' · '.join(ways)}</p>",
        "ctx-run",
    )


def _tokens(run: Run) -> Mapping[str, int]:
    counts = {"of context": run.context_tokens, "sent": run.sent_tokens, "written": run.written_tokens}
    return {name: value for name, value in counts.items() if value is not None}


def settings_of(run: Run) -> AssemblySettings | None:
    """The settings that made a run; None where this version does not know them, or the run came without a context of ours."""
    try:
        return AssemblySettings.from_dict(run.settings)
    except (InvalidSetting, CtxasmError):
        return None


def _delete(run_id: str) -> None:
    server.workbench().store.delete_runs([run_id])
    session.runs_deleted = (run_id,)
    if session.review_run == run_id:
        session.review_run = None


def _offer_restore() -> None:
    if session.runs_deleted:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="deleted_run"):
            st.html(boxed('<p class="cx-note" role="status">Deleted, with its verdicts.</p>'))
            st.button("Undo", key="restore_run", on_click=_restore)


def _restore() -> None:
    server.workbench().store.delete_runs(take("runs_deleted"), undo=True)


# Agreement and gold


def show_agreement(info: DatasetInfo, reviewer: str, top: DeltaGenerator) -> None:
    """How reviewers agree and how right the checker is, in sentences with n and interval; gold from verdicts; the flagged questions."""
    from ctxasm.app.reviews import agreement_dict, run_ids_of

    workbench = server.workbench()
    run_ids = run_ids_of(workbench, RunFilter(dataset=info.name))
    with top:
        show_title(
            "Review · agreement and gold", "What the verdicts say", "Counted is what each reviewer said first, before anything was shown."
        )
    said = "".join(f"<li>{escape(sentence)}</li>" for sentence in agreement_dict(workbench, run_ids)["sentences"])
    st.html(boxed(f'<ul class="cx-findings">{said}</ul>', "ctx-agreement"))
    _show_gold(info)
    _show_flagged(info, run_ids, reviewer)
    st.html(boxed(f"<p>{state_link(review_address(info.name), 'Link for a reviewer')}</p>", "ctx-hand-over"))
    hear_clicks("question_clicks")


def _show_gold(info: DatasetInfo) -> None:
    """A button that makes gold of the verdicts, what that came to, and its undo."""
    from ctxasm.review.gold import approve, can_undo, undo_approval

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="review_gold"):
        st.button("Make gold of the verdicts", key="make_gold", on_click=_change_gold, args=(info.name, approve), type="primary")
        if session.gold_made is not None and session.gold_made[0] == info.name:
            st.html(boxed(f'<p class="cx-note" role="status" id="ctx-gold-report">{escape(session.gold_made[1])}</p>'))
        if can_undo(server.workbench(), info.name):
            st.button("Undo", key="undo_gold", on_click=_change_gold, args=(info.name, undo_approval), help="The labels from before")


def _change_gold(dataset: str, change: Callable[[Workbench, str], GoldReport | UndoReport]) -> None:
    """Make gold, or undo it (a callback)."""
    try:
        session.gold_made = dataset, change(server.workbench(), dataset).sentence()
    except CtxasmError as error:
        session.gold_made = dataset, f"Not all labels were changed: {error}"
    server.forget_queries()


def _show_flagged(info: DatasetInfo, run_ids: list[str], reviewer: str) -> None:
    """The link to the questions whose answers a reviewer found something wrong with: as they were answered, against the settings of now."""
    from ctxasm.review.judging import flagged_runs

    store = server.workbench().store
    # Of others only where nobody reviews: what they flag must not be seen before one's own verdict.
    runs = [store.run(run_id) for run_id in flagged_runs(store, run_ids, reviewer)]
    questions = {run.query_id for run in runs if run.query_id}
    if questions:
        a = next(filter(None, map(settings_of, runs)), session.now)
        link = state_link(compare_address(a, session.now, view="all", only=FLAGGED), counted(len(questions), "flagged question"))
        st.html(boxed(f"<p>{link}, to look at on Compare: A is as the newest was answered, B as now</p>", "ctx-flagged"))
