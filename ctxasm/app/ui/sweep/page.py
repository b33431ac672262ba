"""The page: what to try and what it takes, then what to ship, the heatmap, and the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.awaited_work import awaited
from ctxasm.app.ui.frame.gold import show_no_gold
from ctxasm.app.ui.frame.jobs import Job
from ctxasm.app.ui.frame.links import compare_address, hear_clicks, inspect_address
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.sharing import settings_written
from ctxasm.app.ui.frame.title import show_empty, show_problem, show_title
from ctxasm.app.ui.load.load_jobs import PATIENCE_S, REDRAWN_S, job_card
from ctxasm.app.ui.sweep.axes import choose_axes, said
from ctxasm.app.ui.sweep.cell import cell_html
from ctxasm.app.ui.sweep.front import front_alt, front_of, importance_html, rivals_words
from ctxasm.app.ui.sweep.heatmap import best_of, heatmap_html, heatmap_of, varied
from ctxasm.app.ui.sweep.settings_table import show_settings
from ctxasm.app.ui.sweep.shipping import shipping_html
from ctxasm.app.ui.widgets.chunk_clicks import picked_text
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.progress_words import seconds_words
from ctxasm.app.ui.words.words import in_attribute, number
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.setting_labels import label_of
from ctxasm.model.settings import spec_of

if TYPE_CHECKING:
    from ctxasm.app.tuned import Decided, Plan
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.tuning.sweep import SweepEstimate
    from ctxasm.tuning.sweep_results import SweepResult

Axes = dict[str, tuple[Any, ...]]


def show_sweep() -> None:
    """Everything that Sweep draws."""
    show_title("Sweep", "Which settings hold most evidence for their tokens?")
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
    if (kept is None or kept[0] != _data(info)) and _job(info) is None:
        kept = _take_kept(info, axes)
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


def _take_kept(info: DatasetInfo, axes: Axes) -> tuple[object, Decided] | None:
    """What the database has of these axes, where it has all of it: after a reload, the result that was there."""
    from ctxasm.app.tuned import decided_before

    workbench, start = server.workbench(), session.now
    wanted = (_data(info), start, tuple(axes.items()))
    made: Decided | None = awaited(
        "sweep_kept", wanted, lambda report, cancelled: decided_before(workbench, start, axes, info.name, report, cancelled)
    )
    if made is not None:
        session.swept = (_data(info), made)
    return session.swept


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
        show_no_gold()
        return False
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Start", key="start_sweep", type="primary", icon=":material/play_arrow:"):
            _begin(info, session.now, axes)
        says, more = plan_words(plan, plan.estimate)
        st.html(boxed(f'<p class="cx-note" role="status" title="{in_attribute(more)}" id="ctx-plan">{escape(says)}</p>'))
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


def plan_words(plan: Plan, told: SweepEstimate) -> tuple[str, str]:
    """`18 settings, 21 more for the recommendation, × 60 questions (58 labelled): 2,340 assemblies, about 7 s`, and its tooltip."""
    time = "how long depends on the model" if told.seconds is None else f"about {seconds_words(told.seconds)}"
    labelled = "" if plan.labelled == told.questions else f" ({number(plan.labelled)} labelled)"
    return (
        f"{counted(told.settings - plan.more, 'setting')}, {number(plan.more)} more for the recommendation, × "
        f"{counted(told.questions, 'question')}{labelled}: {number(told.cells)} assemblies, {time}",
        "What was counted before is not counted again",
    )


def _begin(info: DatasetInfo, start: AssemblySettings, axes: Axes) -> None:
    from ctxasm.app.tuned import decided

    workbench = server.workbench()
    session.sweep_problem = session.swept = None
    session.sweep_cells = ()
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
    found, recommended = decided
    if found.cancelled:
        counted = f"{number(len(found.labelled))} labelled questions were counted. Start goes on from there."
        st.html(boxed(f'<div class="cx-panel warn" role="status" id="ctx-cancelled"><h3>Cancelled</h3><p>{counted}</p></div>'))
    if not found.labelled:
        return
    st.html(shipping_html(recommended, inspect_address, partial(compare_address, view="all")))
    settings_written(recommended.found.settings[recommended.proposed], recommended.origin(recommended.proposed), "proposed_written")
    _show_failures(found)
    _show_heatmap(found)
    _show_cell(info, found)
    st.html(boxed(f'<h2 class="cx-h">What evidence costs<small>{escape(rivals_words(found))}</small></h2>'))
    st.plotly_chart(front_of(found), key="sweep_front", config={"displayModeBar": False}, alt=front_alt(found))
    st.html(importance_html(found) or boxed(""))
    show_settings(found, inspect_address)
    hear_clicks(Session.cell_clicks, partial(_pick_cell, len(found.settings)))
    with st.container(horizontal=True, gap="small"):
        for kind, written, mime in (("CSV", _csv, "text/csv"), ("Parquet", _parquet, "application/octet-stream")):
            name = f"sweep-{info.name}.{kind.lower()}"
            st.download_button(kind, partial(written, found), name, mime, key=f"sweep_{kind.lower()}", on_click="ignore")


def _csv(found: SweepResult) -> str:
    text: str = found.to_pandas().to_csv(index=False)
    return text


def _parquet(found: SweepResult) -> bytes:
    data: bytes = found.to_pandas().to_parquet(index=False)
    return data


def _show_failures(found: SweepResult) -> None:
    if found.failures:
        name, why = next(iter(found.failures.items()))
        show_problem(f"{counted(len(found.failures), 'question')} could not be assembled, {name} among them: {why}")


def _show_heatmap(found: SweepResult) -> None:
    """Two of the settings that were tried, chosen where there are more; the others stand at what the best has."""
    names = varied(found)
    if not names:
        return
    best = found.settings[best_of(found)]
    down, across = names[0], names[min(1, len(names) - 1)]
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="sweep_shown"):
        if len(names) > 2:
            down = _choice("Down", names, down, "down", _label)
            across = _choice(
                "Across", tuple(name for name in names if name != down), across if across != down else names[0], "across", _label
            )
        others = {
            name: _choice(_label(name), found.axes[name], getattr(best, name), name, partial(said, name))
            for name in names
            if name not in (down, across)
        }
    drawn = heatmap_of(found, down, across, others)
    key = "tokens below; ★ the best. Click one cell or two."
    st.html(boxed(f'<h2 class="cx-h">Share of questions with all their evidence<small>{key}</small></h2>'))
    st.html(heatmap_html(found, drawn, session.sweep_cells))


def _label(name: str) -> str:
    return label_of(spec_of(name))


def _choice(label: str, options: Sequence[Any], before: Any, key: str, words: Callable[[Any], str]) -> Any:
    """A select box that keeps what was chosen as long as that is among the options."""
    name = f"sweep_at_{key}"
    if session.value_of(name, before) not in options:
        session.put(name, before)
    return st.selectbox(label, options, index=list(options).index(before), key=name, format_func=words, width=190)


def _pick_cell(count: int, said: str) -> bool:
    """Note the cell that was clicked, and the one before (a callback)."""
    said_at = picked_text(said)
    if said_at is not None and said_at.isdigit() and int(said_at) < count:
        session.sweep_cells = (*(at for at in session.sweep_cells if at != int(said_at)), int(said_at))[-2:]
    return False


def _show_cell(info: DatasetInfo, found: SweepResult) -> None:
    picked = tuple(at for at in session.sweep_cells if at < len(found.settings))
    if not picked:
        return
    words = {entry.query_id: entry.query for entry in server.query_list(info)}

    at, against = picked[-1], picked[0] if len(picked) > 1 else found.start
    settings, other = found.settings[at], found.settings[against]

    def link(query_id: str | None) -> str:
        return compare_address(other, settings, query_id, "question" if query_id is not None else "all")

    st.html(cell_html(found, at, against, words, inspect_address(settings), link))
