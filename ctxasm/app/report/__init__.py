"""Makes a report over a workbench: looks up the questions, makes the contexts of runs again, and finds where facts were lost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ctxasm import __version__
from ctxasm.app.faults import secret_values
from ctxasm.app.report.page import Writer
from ctxasm.app.report.runs import Funnel
from ctxasm.app.workbench import Workbench
from ctxasm.model.errors import CtxasmError, InvalidInput
from ctxasm.model.regular_files import write_file
from ctxasm.model.runs import Run
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.tuning.compare import Comparison
    from ctxasm.tuning.recommend import Recommendation
    from ctxasm.tuning.sweep_results import SweepResult

MOST_ASSEMBLED = 60
"""Changed questions of a comparison whose contexts are made again to say where facts were lost."""


def report_on(
    workbench: Workbench, what: str | Sequence[str] | SweepResult | Recommendation | Comparison, path: str | os.PathLike[str] | None = None
) -> str:
    """The report of whatever it is, also written to `path`. Raises InvalidInput, NotFound."""
    from ctxasm.tuning.compare import Comparison
    from ctxasm.tuning.recommend import Recommendation
    from ctxasm.tuning.sweep_results import SweepResult

    if isinstance(what, Comparison):
        made = report_comparison(workbench, what)
    elif isinstance(what, Recommendation):
        made = report_sweep(workbench, what.found, what)
    elif isinstance(what, SweepResult):
        made = report_sweep(workbench, what)
    else:
        made = report_runs(workbench, [what] if isinstance(what, str) else what)
    if path is not None:
        write_file("the report", path, made)
    return made


def report_runs(workbench: Workbench, run_ids: Sequence[str]) -> str:
    """The report of runs as HTML. Raises InvalidInput without any, NotFound."""
    from ctxasm.app.report.runs import runs_html
    from ctxasm.review.reviewers import agreement, calibration

    wanted = list(dict.fromkeys(run_ids))
    if not wanted:
        raise InvalidInput("a report needs at least one run: `ctxasm history` lists those that are kept")
    runs = [workbench.store.run(run_id) for run_id in wanted]
    judgements = workbench.store.judgements(wanted)
    summary: list[str] = []
    if any(each.is_given for each in judgements):
        summary = [each.sentence() for each in (*agreement(workbench.store, wanted), calibration(workbench.store, wanted))]
    funnels = {run.run_id: funnel_of(workbench, run) for run in runs}
    return runs_html(runs, judgements, funnels, _writer(workbench), __version__, summary)


def report_sweep(workbench: Workbench, swept: SweepResult, made: Recommendation | None = None) -> str:
    """The report of a sweep as HTML; `made` is what was decided on it (default: `decide`)."""
    from ctxasm.app.report.tuning import sweep_html
    from ctxasm.tuning.recommend import decide

    words = _questions(workbench, swept.dataset)
    return sweep_html(made or decide(swept), swept, words, _writer(workbench), __version__, database_of(workbench))


def report_comparison(workbench: Workbench, found: Comparison) -> str:
    """The report of a comparison as HTML."""
    from ctxasm.app.report.tuning import comparison_html

    words = _questions(workbench, found.swept.dataset)
    return comparison_html(found, words, lost_facts(workbench, found), _writer(workbench), __version__, database_of(workbench))


def funnel_of(workbench: Workbench, run: Run) -> Funnel:
    """The context of a run made again from the same data and settings; why not, where that is not possible or gives another one."""
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.app.fates import steps

    if not run.dataset:
        return Funnel(None, why="The answer came without a dataset, so no context was assembled here.")
    try:
        dataset, settings = workbench.dataset(run.dataset), AssemblySettings.from_dict(run.settings)
        query = dataset.query(run.query_id)
        if dataset.info.content_hash != run.digest:
            return Funnel(None, why=f"The data of {run.dataset} changed since the answer was kept, so its context cannot be made again.")
        if settings.compression == "model":
            return Funnel(None, why="A model shortened the chunks of this context; it is not asked again for a report.")
        asked: dict[str, Any] = {"style": run.parameters["prompt"]} if "prompt" in run.parameters else {}
        choice = PromptChoice(
            **asked, answer_first=run.parameters.get("answer_first") is True, extra=str(run.parameters.get("instructions") or "")
        )
        assembly = workbench.assemble(query, settings, run.dataset, choice)
    except CtxasmError as error:
        return Funnel(None, why=f"The context of this answer cannot be made again: {error}")
    if run.context_tokens is not None and assembly.token_count != run.context_tokens:
        tokens = f"{assembly.token_count:,} tokens in place of {run.context_tokens:,}"
        return Funnel(None, why=f"Made again, the context has {tokens}, so it is not shown as that of the answer.")
    return Funnel(assembly, steps(assembly, workbench.evidence(assembly, run.dataset) if query.is_labelled else ()))


def lost_facts(workbench: Workbench, found: Comparison) -> dict[str, str]:
    """Of the questions that changed: where facts were lost under the side that holds less. Nothing where a model would be asked."""
    if "model" in (found.a.compression, found.b.compression):
        return {}
    said: dict[str, str] = {}
    for each in [each for each in found.questions if each.change in ("better", "worse")][:MOST_ASSEMBLED]:
        side, settings, outcome = ("A", found.a, each.a) if each.change == "better" else ("B", found.b, each.b)
        try:
            query = workbench.query(found.swept.dataset, each.query_id)
            assembly = workbench.assemble(query, settings, found.swept.dataset)
            states = workbench.evidence(assembly, found.swept.dataset)
        except CtxasmError as error:
            said[each.query_id] = f"cannot be looked up: {error}"
            continue
        where = dict.fromkeys(filter(None, (state.where_lost() for state in states)))
        is_same = assembly.token_count == outcome.tokens
        said[each.query_id] = f"in {side} {', '.join(where)}" if is_same else "the data changed since"
    return said


def database_of(workbench: Workbench) -> str:
    """Which database, without who logs in, with what, and in which folder a file is."""
    address = urlsplit(workbench.config.database_url)
    name = address.path.lstrip("/") if address.hostname else PurePath(address.path).name
    return f"{address.scheme.partition('+')[0]} {address.hostname or ''} {name}".replace("  ", " ")


def _questions(workbench: Workbench, dataset: str) -> dict[str, str]:
    return {entry.query_id: entry.query for entry in workbench.query_list(dataset)}


def _writer(workbench: Workbench) -> Writer:
    """What writes texts without the secrets of this environment and of the connections."""
    config = workbench.config
    own = (config.llm_api_key, config.embed_api_key)
    return Writer({*(key for key in own if key), *secret_values((), config.connections)})
