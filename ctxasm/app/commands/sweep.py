"""`ctxasm sweep`: every combination of some values on every question, as a table.

  ctxasm sweep
  ctxasm sweep --grid expand_window=0,1,2 --grid max_tokens=2000,4000,8000 --out sweep.csv

What was counted before is kept in the database and not counted again: after Ctrl-C the same command goes on.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from ctxasm.app.commands.common import (
    Command,
    INTERRUPTED,
    TABLES,
    add_run,
    add_settings,
    as_json,
    cancel_on_interrupt,
    check_table,
    require_data,
    run_options,
    say,
    settings_of,
    show,
    terminal_progress,
    workbench_of,
    write_table,
)
from ctxasm.model.amounts import counted, percent
from ctxasm.model.settings import spec_of
from ctxasm.model.settings_text import write

if TYPE_CHECKING:
    from ctxasm.tuning.sweep import SweepEstimate
    from ctxasm.tuning.sweep_results import SweepResult

SHOWN = 40
"""Rows that the text shows at most."""


def add_sweep(parser: ArgumentParser) -> None:
    """--grid, --out, --estimate, the settings to start from, and what every run takes."""
    parser.add_argument(
        "--grid",
        metavar="NAME=V,V",
        action="append",
        default=[],
        help="the values of one setting; repeatable (default: window, limit, policy and number of hits)",
    )
    parser.add_argument("--out", metavar="FILE", help=f"write the table there, by its suffix: {', '.join(TABLES)} (a report)")
    parser.add_argument("--estimate", action="store_true", help="say what it would take, and count only for half a second")
    add_settings(parser)
    add_run(parser)


def run_sweep(args: Namespace) -> int:
    """Print (or write) a row a setting, after the sentence of what matters."""
    from ctxasm.app.report.making import report_sweep
    from ctxasm.app.tuning_runs import sweep_estimate, swept
    from ctxasm.tuning.sweep import axes_of

    check_table(args.out)
    start, axes, workbench = settings_of(args), axes_of(args.grid) if args.grid else None, workbench_of(args)
    require_data(workbench)
    if args.estimate:
        show(estimate_words(sweep_estimate(workbench, start, axes, args.data, args.query_id)))
        return 0
    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        found = swept(workbench, start, axes, report=report, cancelled=cancelled, **run_options(args))
    for query_id, why in found.failures.items():
        say(f"question {query_id}: {why}")
    if args.out is not None:
        write_table(args.out, found, described(found), lambda: report_sweep(workbench, found))
    if args.format == "json":
        print(as_json(described(found)))
    else:
        show(text_of(found) if args.out is None else "\n".join(_heads(found)))
    counted = found.outcomes.shape[0] * len(found.query_ids)
    say(f"{counted:,} cells of {found.dataset} in {found.seconds:.1f} s, {found.reused:,} kept from before")
    if found.cancelled:
        say("ended before all questions were counted; the same command goes on")
        return INTERRUPTED
    return 2 if found.failures else 0


def described(found: SweepResult) -> dict[str, Any]:
    """The result with the decision, as JSON values."""
    from ctxasm.tuning.recommend import decide

    return {"decision": decide(found).to_dict(), **found.to_dict()}


def text_of(found: SweepResult) -> str:
    """The decision, what matters, then the best settings; a star marks the front, a > where one started."""
    rows = sorted(enumerate(found.rows()), key=lambda each: (-each[1].whole, each[1].tokens, each[0]))
    names = list(found.axes)
    cells = [["", *names, "whole", "evidence", "tokens"]]
    front = set(found.front())
    own = [each for each in rows[SHOWN:] if each[0] == found.start]  # the start is shown wherever it stands
    for at, row in [*rows[:SHOWN], *own]:
        mark = ("*" if at in front else "") + (">" if at == found.start else "")
        values = [write(spec_of(name), row.changes[name]) for name in names]
        evidence = "" if row.evidence is None else f"{row.evidence:.3f}"
        cells.append([mark, *values, f"{row.whole}/{row.labelled}", evidence, f"{row.tokens:,.0f}"])
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    left = len(rows) - SHOWN - len(own)
    more = [f"… and {left:,} more: --out FILE has all of them"] if left > 0 else []
    return "\n".join([*_heads(found), *lines, *more])


def _heads(found: SweepResult) -> list[str]:
    from ctxasm.tuning.recommend import decide

    said = [*decide(found).sentences(), f"Labels: {found.gold}."]
    if not found.labelled:
        return said
    matters = ", ".join(f"{name} {percent(share)}" for name, share in sorted(found.importance().items(), key=lambda each: -each[1]))
    return [*said, f"What varies in evidence is due to: {matters}."]


def estimate_words(told: SweepEstimate) -> str:
    """What a sweep would take, in a line."""
    cells = f"{counted(told.settings, 'setting')} × {counted(told.questions, 'question')} = {counted(told.cells, 'cell')}"
    if told.seconds is None:
        return f"{cells}; settings ask for an embedder or a model: at most {told.model_chunks:,} chunks go to the model"
    return f"{cells}, about {told.seconds:,.0f} s on one core; no model is asked"


SWEEP = Command(
    "try many settings on all questions: evidence, tokens, and which setting matters",
    """`ctxasm sweep`: every combination of some values on every question, as a table.

  ctxasm sweep
  ctxasm sweep --grid expand_window=0,1,2 --grid max_tokens=2000,4000,8000 --out sweep.csv

What was counted before is kept in the database and not counted again: after Ctrl-C the same command goes on.
""",
    add_sweep,
    run_sweep,
)
