"""`ctxasm compare`: two settings on the same questions, and whether the difference is more than chance.

A and B are each put together of presets, TOML files and NAME=VALUE, in this order of precedence: the last one wins.

  ctxasm compare --b expand_window=2
  ctxasm compare --a baseline --b settings.toml --b max_tokens=4000
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ctxasm.app.commands.ingest import ended_by_interrupt
from ctxasm.app.commands.options import require_data, say, show, workbench_of
from ctxasm.app.commands.progress import told_on_terminal
from ctxasm.app.commands.tuning_options import add_run, as_json, run_options, settings_named

if TYPE_CHECKING:
    from ctxasm.tuning.compare import Comparison, QuestionDelta

SUMMARY = "compare two settings over all questions: wins, losses, tokens, and how sure"
INTERRUPTED = 130


def add_arguments(parser: ArgumentParser) -> None:
    """--a, --b, --only, and what every run takes."""
    parser.add_argument(
        "--a", metavar="PART", action="append", default=[], help="a preset, TOML file or NAME=VALUE (default: the defaults)"
    )
    parser.add_argument("--b", metavar="PART", action="append", default=[], required=True, help="the same for B; repeatable")
    parser.add_argument("--only", choices=("better", "worse", "unchanged", "unlabelled"), help="list only these questions")
    add_run(parser)


def run(args: Namespace) -> int:
    """Print the sentence and a table of the questions that differ."""
    from ctxasm.app.tuned import compared

    a, b, workbench = settings_named(args.a), settings_named(args.b), workbench_of(args)
    require_data(workbench)
    with told_on_terminal() as report, ended_by_interrupt() as cancelled:
        found = compared(workbench, a, b, report=report, cancelled=cancelled, **run_options(args))
    for query_id, why in found.swept.failures.items():
        say(f"question {query_id}: {why}")
    if args.format == "json":
        print(as_json(found.to_dict()))
    else:
        show(text_of(found, args.only))
    if found.swept.cancelled:
        say("ended before all questions were counted; the same command goes on")
        return INTERRUPTED
    return 0


def text_of(found: Comparison, only: str | None) -> str:
    """The sentence, the counts, and a row a question."""
    rows = [each for each in found.questions if (each.change == only if only else each.change in ("better", "worse"))]
    head = f"{len(found.better)} win, {found.ties} tie, {len(found.worse)} loss"
    width = max([len(each.query_id) for each in rows], default=0)
    return "\n".join([found.sentence(), head, *(_row(each, width) for each in rows)])


def _row(each: QuestionDelta, width: int) -> str:
    return (
        f"{each.change:<10}  {each.query_id:<{width}}  evidence {each.a.found} → {each.b.found} of {each.a.needed}"
        f"  tokens {each.a.tokens:,} → {each.b.tokens:,} ({each.tokens:+,})"
    )
