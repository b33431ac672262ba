"""The page: what to try and what it takes, then the sentence, the heatmap, the settings, and what to take."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.awaited_work import awaited
from ctxasm.app.ui.frame.jobs import Job
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.sharing import link_query
from ctxasm.app.ui.frame.title import show_empty, show_problem, show_title
from ctxasm.app.ui.load.load_jobs import PATIENCE_S, REDRAWN_S, job_card
from ctxasm.app.ui.sweep.axes import choose_axes, said
from ctxasm.app.ui.sweep.heatmap import figure_of, heatmap_of
from ctxasm.app.ui.sweep.settings_table import settings_table
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.progress_words import seconds_words
from ctxasm.app.ui.words.words import number, plural
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from ctxasm.app.tuned import Decided, Plan
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.tuning.recommend.recommending import Recommendation
    from ctxasm.tuning.sweep.estimate import SweepEstimate
    from ctxasm.tuning.sweep.results import SweepResult

Axes = dict[str, tuple[Any, ...]]


def show_sweep() -> None:
    """Everything that Sweep draws."""
    show_title(
        "Sweep", "Which settings?", "Every combination on every question: does all of its evidence reach the model, and at how many tokens?"
    )
    info = session.info
    if info is None:
        show_empty("Load a dataset with questions", "Open Load: take the sample with one click, or upload a bundle of your own.")
        return
    _take_ended(info)
    axes = choose_axes(session.now)
    if axes is None or not _offer(info, axes):
        return
    if session.sweep_problem:
        show_problem(session.sweep_problem)
    kept = session.swept
    if kept is not None and kept[0] == _data(info):
        _show(info, kept[1])


def _data(info: DatasetInfo) -> tuple[object, ...]:
    return info.dataset_id, session.loads, session.saves


def _key(info: DatasetInfo) -> str:
    return f"sweep {info.name}"


def _take_ended(info: DatasetInfo) -> None:
    """Keep what the sweep of this dataset came to, where it has ended."""
    job = _job(info)
    if job is None or job.running:
        return
    server.jobs().dismiss(job)
    if isinstance(job.error, CtxasmError):
        session.sweep_problem = str(job.error)
    else:
        session.swept = (_data(info), job.result())


def _job(info: DatasetInfo) -> Job | None:
    return next((job for job in server.jobs().seen() if job.key == _key(info)), None)


def _offer(info: DatasetInfo, axes: Axes) -> bool:
    """What it takes, and Start; or how far it is, and Cancel. Whether there is anything to judge by."""
    job = _job(info)
    if job is not None:
        fragment(_running, run_every=REDRAWN_S, key="running_sweep")(job)
        return True
    plan = _plan(info, axes)
    if plan is None:
        return False
    if plan.estimate is None:
        show_empty(
            "No question says which passages answer it",
            "Load a bundle whose questions have spans or gold (docs/guide/bundles.md). Or on Load, Enrich this dataset, and make a query "
            "set of the questions.",
        )
        return False
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Start", key="start_sweep", type="primary", icon=":material/play_arrow:"):
            _begin(info, session.now, axes)
        st.html(boxed(f'<p class="cx-note" role="status" id="ctx-plan">{escape(plan_words(plan, plan.estimate))}</p>'))
    return True


def _running(job: Job) -> None:
    if not job.running:
        st.rerun()
    job_card(job)


def _plan(info: DatasetInfo, axes: Axes) -> Plan | None:
    """What it would take; None after saying why it cannot be done."""
    from ctxasm.app.tuned import plan_of

    workbench, start = server.workbench(), session.now
    wanted = (_data(info), start, tuple(axes.items()))
    try:
        plan: Plan = awaited("sweep_plan", wanted, lambda report, cancelled: plan_of(workbench, start, axes, info.name))
    except CtxasmError as error:
        show_problem(str(error))
        return None
    return plan


def plan_words(plan: Plan, told: SweepEstimate) -> str:
    """`18 settings, 21 more for the recommendation, × 60 questions (58 labelled): 2 340 assemblies, about 7 s. …`"""
    time = "how long depends on the model" if told.seconds is None else f"about {seconds_words(told.seconds)}"
    return (
        f"{plural(told.settings - plan.more, 'setting')}, {number(plan.more)} more for the recommendation, × "
        f"{plural(told.questions, 'question')} ({number(plan.labelled)} labelled): {number(told.cells)} assemblies, {time}. "
        "What was counted before is not counted again."
    )


def _begin(info: DatasetInfo, start: AssemblySettings, axes: Axes) -> None:
    from ctxasm.app.tuned import decided

    workbench = server.workbench()
    session.sweep_problem = session.swept = None
    try:
        job = server.jobs().start(
            _key(info),
            f"Trying settings on {info.name}",
            info.name,
            lambda report, cancelled: decided(workbench, start, axes, info.name, report, cancelled),
            (start, tuple(axes.items())),
        )
    except CtxasmError as error:
        session.sweep_problem = str(error)
    else:
        with st.spinner("Counting …", show_time=True):
            job.wait(PATIENCE_S)
    st.rerun()


def _show(info: DatasetInfo, decided: Decided) -> None:
    """What it came to; of a cancelled one the questions that were counted."""
    from ctxasm.tuning.sweep.deciding import decide

    found, recommended = decided
    if recommended is None:
        counted = f"{number(len(found.labelled))} labelled questions were counted. Start goes on from there."
        st.html(boxed(f'<div class="cx-panel warn" role="status" id="ctx-cancelled"><h3>Cancelled</h3><p>{counted}</p></div>'))
    if not found.labelled:
        return
    st.html(boxed(f'<p class="cx-decision" role="status" id="ctx-decision">{escape(decide(found).sentence)}</p>'))
    _show_failures(found)
    _show_heatmap(found)
    st.html(settings_table(found, lambda settings: _link(info, settings)))
    st.download_button("Settings as CSV", found.csv, f"sweep-{info.name}.csv", "text/csv", key="sweep_csv", on_click="ignore")
    if recommended is not None:
        _show_recommended(info, recommended)


def _show_failures(found: SweepResult) -> None:
    if found.failures:
        name, why = next(iter(found.failures.items()))
        show_problem(f"{plural(len(found.failures), 'question')} could not be assembled, {name} among them: {why}")


def _show_heatmap(found: SweepResult) -> None:
    policies = found.axes["budget_policy"]
    best = max((row for row in found.rows() if row.settings.budget_policy in policies), key=lambda row: (row.whole, -row.tokens))
    policy: str = best.settings.budget_policy
    if len(policies) > 1:
        policy = st.segmented_control("Budget policy", policies, default=policy, required=True, format_func=said, key="sweep_shown")
    drawn = heatmap_of(found, policy)
    key = f"{plural(len(found.labelled), 'question')}, {said(policy)}; ★ and outlined: the best"
    st.html(boxed(f'<h2 class="cx-h">Share of questions with all their evidence<small>{escape(key)}</small></h2>'))
    st.plotly_chart(figure_of(drawn), key="sweep_heatmap", config={"displayModeBar": False}, alt=drawn.alt)


def _show_recommended(info: DatasetInfo, recommended: Recommendation) -> None:
    sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in recommended.sentences())
    link = f'<a href="{escape(_link(info, recommended.settings))}" target="_blank">Open in Inspect ↗</a>'
    st.html(boxed(f'<div class="cx-panel ok" id="ctx-recommended"><h3>Recommended</h3>{sentences}<p>{link}</p></div>'))


def _link(info: DatasetInfo, settings: AssemblySettings) -> str:
    """The address of the query that is chosen now under these settings."""
    scene = session.scene
    return f"./?{link_query(scene if scene is not None and scene.dataset == info.name else None, settings)}"
