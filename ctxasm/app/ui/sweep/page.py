"""The page: what to try and what it takes, then what to ship, the pictures, and the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import (
    KEY,
    LISTED,
    MORE,
    addable,
    compare_address,
    hear_clicks,
    inspect_address,
    is_number,
    options_of,
    read_values,
    settings_written,
)
from ctxasm.app.ui.frame.gold import show_no_gold
from ctxasm.app.ui.frame.layout import report_button, show_empty, show_problem, show_title
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.work import begin_job, job_of, show_job, take_ended, wait_for
from ctxasm.app.ui.markup import boxed, picked_text, state_link
from ctxasm.app.ui.sweep.pictures import cell_html, front_of, heatmap_html, importance_figure, said
from ctxasm.app.ui.words import number, seconds_words
from ctxasm.model.amounts import counted, percent
from ctxasm.model.errors import CtxasmError
from ctxasm.model.frames import as_csv
from ctxasm.model.settings import AssemblySettings, Spec, label_of, spec_of, value_words
from ctxasm.tuning.sweep_figures import best_of, front_alt, heatmap_of, importances, rivals_words, varied

if TYPE_CHECKING:
    from ctxasm.app.tuning_runs import Decided, Plan
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.frames import DataFrame
    from ctxasm.tuning.recommend import Recommendation, Verdict
    from ctxasm.tuning.sweep import SweepEstimate
    from ctxasm.tuning.sweep_results import SweepResult


def choose_axes(start: AssemblySettings) -> dict[str, tuple[Any, ...]] | None:
    """The chosen values by setting; None where a list is empty or has a value that cannot be used, after saying so."""
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="sweep_axes"):
        picked = {name: _picked(spec_of(name)) for name in LISTED}
        added = st.multiselect(
            "Other settings", addable(), key=MORE, format_func=lambda name: label_of(spec_of(name)), persist_state="session", wrap=True
        )
    if added:
        with st.container(horizontal=True, gap="small", vertical_alignment="top", key="sweep_added"):
            picked |= {name: _picked(spec_of(name)) for name in added}
    read = {name: read_values(spec_of(name), values) for name, values in picked.items()}
    if wrong := [problem for _, problems in read.values() for problem in problems]:
        show_problem(wrong[0])
        return None
    if empty := [label_of(spec_of(name)) for name, (values, _) in read.items() if not values]:
        show_problem(f"Choose at least one value: {', '.join(empty)}.")
        return None
    # Without these, nothing of what is tried would have an effect.
    needed: dict[str, Any] = {"enabled": True, "budget_mode": "fixed"}
    chosen = {name: values for name, (values, _) in read.items()}
    return chosen | {name: (value,) for name, value in needed.items() if name not in chosen and getattr(start, name) != value}


def _picked(spec: Spec) -> list[Any]:
    """A list to choose from; a number can be typed."""
    options, before = options_of(spec)
    return st.multiselect(
        label_of(spec),
        options,
        before,
        format_func=lambda value: value_words(spec, value),
        key=f"{KEY}{spec.name}",
        accept_new_options=is_number(spec),
        help=f"Or type one: {spec.allowed}" if is_number(spec) else None,
        persist_state="session",
        select_all=False,
        wrap=True,
    )


def settings_frame(found: SweepResult) -> DataFrame:
    """The settings that were tried, the best first, by the words of the page; numbers stay numbers, so that they sort as such. The index is
    their place in the sweep.
    """
    made = found.to_pandas().round({"tokens": 0})
    marks = {AssemblySettings(): "default", found.settings[found.start]: "yours"}
    made["Mark"] = [marks.get(settings, "") for settings in found.settings]
    names = varied(found)
    for name in names:
        if not is_number(spec_of(name)) or made[name].isna().any():
            made[name] = [said(name, getattr(settings, name)) for settings in found.settings]
    made = made.sort_values(["whole", "tokens"], ascending=[False, True])
    labels = {
        "whole": "Evidence whole",
        "labelled": "of",
        "tokens": "Tokens a question",
        **{name: label_of(spec_of(name)) for name in names},
    }
    return made[[*labels, "Mark"]].rename(columns=labels)


def _show_settings(found: SweepResult, cell: Callable[[int, int, str], str]) -> None:
    """The table. Below it, the row that is picked by a click or the arrow keys, with the links that open it."""
    made = settings_frame(found)
    whole_numbers = ["Tokens a question", *(label_of(spec_of(name)) for name in varied(found) if spec_of(name).kind == "int")]
    config = dict.fromkeys(whole_numbers, st.column_config.NumberColumn(format="%,.0f"))
    picked = st.dataframe(
        made, hide_index=True, column_config=config, key="swept", on_select="rerun", selection_mode=("single-row", "single-cell")
    ).selection
    rows = [*(row for row, _ in picked.cells), *picked.rows]
    if rows and rows[0] < len(made):
        st.html(cell(int(made.index[rows[0]]), found.start, "ctx-row"))


HEADINGS: Mapping[Verdict, str] = {
    "gain": "Shown to hold more evidence",
    "cheaper": "Shown to hold about as much for fewer tokens",
    "prior": "Better on other corpora, not shown on yours",
    "keep": "Nothing better is shown",
}


def shipping_html(
    made: Recommendation, inspect: Callable[[AssemblySettings], str], compare: Callable[[AssemblySettings, AssemblySettings], str]
) -> str:
    """The panel. The links open what the headline proposes; `inspect` and `compare` give addresses."""
    first, *more = made.sentences()
    proposed = made.found.settings[made.proposed]
    links = [state_link(inspect(proposed), "Inspect")]
    if proposed != made.start:
        links.append(state_link(compare(made.start, proposed), "Compare the questions"))
    rows = (
        (("To gain", more.pop(0)),)
        if made.taken == made.found.start
        else (("Gains", made.against_start().sentence()), ("Costs", costs(made)))
    )
    facts = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    facts += f'<dt>Labels</dt><dd id="ctx-gold">{escape(made.gold)}</dd>'
    return boxed(
        f'<div class="cx-panel{" ok" if made.verdict in ("gain", "cheaper") else ""}" id="ctx-recommended">'
        f"<h2>{escape(HEADINGS[made.verdict])}</h2>"
        f'<p class="cx-decision" role="status" id="ctx-decision">{escape(first)}</p><dl class="cx-ship">{facts}</dl>'
        f'<p>{" · ".join(links)}</p><details id="ctx-said"><summary>In full, and how sure</summary>'
        f"{''.join(f'<p>{escape(each)}</p>' for each in more)}</details></div>"
    )


def costs(made: Recommendation) -> str:
    """The tokens of the settings to ship, and the questions that they lose."""
    tokens, before = made.found.tokens(made.taken), made.found.tokens(made.found.start)
    lost = made.flips[1]
    loses = f"the evidence of {counted(len(lost), 'question')}" if lost else "no question"
    return f"{number(tokens)} tokens a question in place of {number(before)}; it loses {loses}"


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
    kept = session.sweep_result
    if (kept is None or kept[0] != _data(info)) and job_of(_key(info)) is None:
        kept = _take_kept(info, axes)
    if kept is not None and kept[0] == _data(info):
        _show(info, kept[1])


def _data(info: DatasetInfo) -> tuple[object, ...]:
    return info.dataset_id, session.loads, session.saves


def _key(info: DatasetInfo) -> str:
    return f"sweep {info.name}"


def _take_ended(info: DatasetInfo) -> None:
    """Keep what the sweep of this dataset came to, where it has ended."""
    if (job := take_ended(_key(info))) is None:
        return
    if isinstance(job.error, CtxasmError):
        session.sweep_problem = str(job.error)
    else:
        session.sweep_result = (_data(info), job.result())


def _take_kept(info: DatasetInfo, axes: Axes) -> tuple[object, Decided] | None:
    """What the database has of these axes, where it has all of it: after a reload, the result that was there."""
    from ctxasm.app.tuning_runs import decided_before

    workbench, start = server.workbench(), session.now
    wanted = (_data(info), start, tuple(axes.items()))
    made: Decided | None = wait_for(
        "sweep_kept", wanted, lambda report, cancelled: decided_before(workbench, start, axes, info.name, report, cancelled)
    )
    if made is not None:
        session.sweep_result = (_data(info), made)
    return session.sweep_result


def _offer(info: DatasetInfo, axes: Axes) -> bool:
    """What it takes, and Start; or how far it is, and Cancel. Whether there is anything to judge by."""
    if show_job(_key(info)):
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
        hint = "What was counted before is not counted again"
        says = escape(plan_words(plan, plan.estimate))
        st.html(boxed(f'<p class="cx-note" role="status" title="{hint}" id="ctx-plan">{says}</p>'))
    return True


def _plan(info: DatasetInfo, axes: Axes) -> Plan | None:
    """What it would take; None after saying why it cannot be done."""
    from ctxasm.app.tuning_runs import plan_of

    workbench, start = server.workbench(), session.now
    wanted = (_data(info), start, tuple(axes.items()))
    try:
        plan: Plan = wait_for("sweep_plan", wanted, lambda report, cancelled: plan_of(workbench, start, axes, info.name))
    except CtxasmError as error:
        show_problem(str(error))
        return None
    return plan


def plan_words(plan: Plan, told: SweepEstimate) -> str:
    """`18 settings, 21 more for the recommendation, × 60 questions (58 labelled): 2,340 assemblies, about 7 s`."""
    time = "how long depends on the model" if told.seconds is None else f"about {seconds_words(told.seconds)}"
    labelled = "" if plan.labelled == told.questions else f" ({number(plan.labelled)} labelled)"
    return (
        f"{counted(told.settings - plan.more, 'setting')}, {number(plan.more)} more for the recommendation, × "
        f"{counted(told.questions, 'question')}{labelled}: {number(told.cells)} assemblies, {time}"
    )


def _begin(info: DatasetInfo, start: AssemblySettings, axes: Axes) -> None:
    from ctxasm.app.tuning_runs import decided

    workbench = server.workbench()
    session.sweep_problem = session.sweep_result = None
    session.sweep_cells = ()
    try:
        begin_job(
            _key(info),
            f"Trying settings on {info.name}",
            info.name,
            lambda report, cancelled: decided(workbench, start, axes, info.name, report, cancelled),
            (start, tuple(axes.items())),
            "Counting",
        )
    except CtxasmError as error:
        session.sweep_problem = str(error)
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
    cell = partial(_cell, info, found)
    if picked := tuple(at for at in session.sweep_cells if at < len(found.settings)):
        st.html(cell(picked[-1], picked[0] if len(picked) > 1 else found.start))
    st.html(boxed(f'<h2 class="cx-h">What evidence costs<small>{escape(rivals_words(found))}</small></h2>'))
    st.plotly_chart(front_of(found), key="sweep_front", config={"displayModeBar": False}, alt=front_alt(found))
    if parts := importances(found):
        st.html(boxed('<h2 class="cx-h">What makes the difference</h2>'))
        said = "; ".join(f"{label} {percent(part)}" for label, part in parts)
        st.plotly_chart(importance_figure(parts), key="sweep_importance", config={"displayModeBar": False}, alt=said)
    fragment(_show_settings, key="swept_rows")(found, cell)
    hear_clicks("cell_clicks", partial(_pick_cell, len(found.settings)))
    with st.container(horizontal=True, gap="small"):
        report_button(partial(_report, decided), f"sweep-{info.name}.html", "sweep_report")
        for kind, written, mime in (("CSV", _csv, "text/csv"), ("Parquet", _parquet, "application/octet-stream")):
            name = f"sweep-{info.name}.{kind.lower()}"
            st.download_button(kind, partial(written, found), name, mime, key=f"sweep_{kind.lower()}", on_click="ignore")


def _report(decided: Decided) -> str:
    from ctxasm.app.report import report_sweep

    return report_sweep(server.workbench(), decided.swept, decided.recommended)


def _csv(found: SweepResult) -> str:
    return as_csv(found.to_pandas())


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
    if st.session_state.get(name, before) not in options:
        st.session_state[name] = before
    return st.selectbox(label, options, index=list(options).index(before), key=name, format_func=words, width=190)


def _pick_cell(count: int, said: str) -> bool:
    """Note the cell that was clicked, and the one before (a callback)."""
    said_at = picked_text(said)
    if said_at is not None and said_at.isdigit() and int(said_at) < count:
        session.sweep_cells = (*(at for at in session.sweep_cells if at != int(said_at)), int(said_at))[-2:]
    return False


def _cell(info: DatasetInfo, found: SweepResult, at: int, against: int, id: str = "ctx-cell") -> str:
    """What the setting at one place holds against that at another, with links."""
    words = {entry.query_id: entry.query for entry in server.query_list(info)}
    settings, other = found.settings[at], found.settings[against]

    def link(query_id: str | None) -> str:
        return compare_address(other, settings, query_id, "question" if query_id is not None else "all")

    return cell_html(found, at, against, words, inspect_address(settings), link, id)
