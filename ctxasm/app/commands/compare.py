"""`ctxasm compare`: two settings on the same questions, and whether the difference is more than chance.

A and B are each put together of presets, TOML files and NAME=VALUE, in this order of precedence: the last one wins.

  ctxasm compare --b expand_window=2
  ctxasm compare --a baseline --b settings.toml --b max_tokens=4000
  ctxasm compare --a enabled=false --b enabled=true --answers --model openai --estimate

With --answers the same model is asked under both, and what its answers are worth is compared; --estimate says what that would take.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ctxasm.app.commands.ask import add_asking, asked_of
from ctxasm.app.commands.common import (
    Command,
    INTERRUPTED,
    TABLES,
    add_run,
    as_json,
    cancel_on_interrupt,
    check_table,
    parse_number,
    require_data,
    run_options,
    say,
    settings_named,
    show,
    terminal_progress,
    workbench_of,
    write_table,
)
from ctxasm.model.amounts import counted, interval, signed
from ctxasm.model.errors import InvalidInput

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.tuning.compare import Comparison, QuestionDelta
    from ctxasm.tuning.compare_answers import AnswerComparison, AnswerEstimate, FigureDelta



def add_compare(parser: ArgumentParser) -> None:
    """--a, --b, --only, --answers and how to ask, and what every run takes."""
    parser.add_argument(
        "--a", metavar="PART", action="append", default=[], help="a preset, TOML file or NAME=VALUE (default: the defaults)"
    )
    parser.add_argument("--b", metavar="PART", action="append", default=[], required=True, help="the same for B; repeatable")
    parser.add_argument("--only", choices=("better", "worse", "unchanged", "unlabelled"), help="list only these questions")
    parser.add_argument("--out", metavar="FILE", help=f"write it there, by its suffix: {', '.join(TABLES)} (a report)")
    parser.add_argument("--answers", action="store_true", help="ask the model under both, and compare its answers")
    parser.add_argument("--estimate", action="store_true", help="with --answers: only say what there is to ask, and what it costs at most")
    parser.add_argument("--price-sent", metavar="P", default="0", help="what a million tokens cost that are sent (default: 0)")
    parser.add_argument("--price-written", metavar="P", default="0", help="what a million tokens cost that are written (default: 0)")
    add_asking(parser)
    add_run(parser)


def run_compare(args: Namespace) -> int:
    """Print the sentence and a table of the questions that differ."""
    from ctxasm.app.report.making import report_comparison
    from ctxasm.app.tuning_runs import compared

    check_table(args.out)
    if args.answers and args.out is not None:
        raise InvalidInput("--out takes a comparison of contexts: leave out --answers, or take --format json")
    a, b, workbench = settings_named(args.a), settings_named(args.b), workbench_of(args)
    require_data(workbench)
    if args.answers:
        return _run_answers(args, workbench, a, b)
    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        found = compared(workbench, a, b, report=report, cancelled=cancelled, **run_options(args))
    for query_id, why in found.swept.failures.items():
        say(f"question {query_id}: {why}")
    if args.out is not None:
        write_table(args.out, found, found.to_dict(), lambda: report_comparison(workbench, found))
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
    counts = (counted(len(found.better), "win"), counted(found.ties, "tie"), counted(len(found.worse), "loss"))
    head = [f"By all evidence: {', '.join(counts)}"] if found.labelled else []
    width = max([len(each.query_id) for each in rows], default=0)
    return "\n".join([found.sentence(), f"Labels: {found.swept.gold}.", *head, *(_row(each, width) for each in rows)])


def _row(each: QuestionDelta, width: int) -> str:
    return (
        f"{each.change:<10}  {each.query_id:<{width}}  evidence {each.a.found} → {each.b.found} of {each.a.needed}"
        f"  tokens {each.a.tokens:,} → {each.b.tokens:,} ({signed(each.tokens)})"
    )


MOST = 1_000_000


def _run_answers(args: Namespace, workbench: Workbench, a: AssemblySettings, b: AssemblySettings) -> int:
    """Print the figures of the answers, or what asking would take."""
    from ctxasm.app.tuning_runs import answer_desk
    from ctxasm.tuning.compare_answers import How, Prices

    how = How(workbench.open_model(args.model), *asked_of(args))
    prices = Prices(*(parse_number(name, getattr(args, name.replace("-", "_")), 0, MOST) for name in ("price-sent", "price-written")))
    desk = answer_desk(workbench, how, args.data, args.query_id, keep=not args.no_keep)
    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        if args.estimate:
            told = desk.estimate(a, b, prices, report, cancelled)
            show(as_json(told._asdict()) if args.format == "json" else estimate_text(told, how.model.name))
            return 0
        found = desk.compare(a, b, prices, report, cancelled)
    for query_id, why in found.failures.items():
        say(f"question {query_id}: {why}")
    show(as_json(found.to_dict()) if args.format == "json" else answers_text(found))
    if found.cancelled:
        say("ended before all questions were asked; the same command goes on")
        return INTERRUPTED
    return 0 if found.pairs else 1


def estimate_text(told: AnswerEstimate, model: str) -> str:
    """What is left to ask, in a line."""
    cost = f", at most {told.cost:.2f}" if told.cost else ""
    known = f"{told.known} of {told.answers} answers known already, {counted(told.asked, 'call')}"
    return f"{model}: {known}, {told.sent:,} tokens to send, at most {told.written:,} written{cost}"


def answers_text(found: AnswerComparison) -> str:
    """A line a figure, with its interval."""
    n = len(found.pairs)
    head = f"{found.model}: {counted(n, 'question')} answered under both, {found.reused} of {counted(2 * n, 'answer')} known already"
    return "\n".join([head, *map(_figure, found.figures)])


def _figure(each: FigureDelta) -> str:
    from ctxasm.tuning.compare_answers import FIGURES, SHARES

    scale, unit = (100, " %") if each.name in SHARES else (1, "")
    low, high, difference = (scale * value for value in (each.result.interval.low, each.result.interval.high, each.result.difference))
    digits = 4 if each.name == "cost" else 1
    values = f"{scale * each.a:,.{digits}f}{unit} → {scale * each.b:,.{digits}f}{unit}"
    numbers = f"{signed(difference, digits)} {interval(low, high, digits)}"
    missing = f" ({each.missing()})" if each.without else ""
    return f"{each.name:<9} {values:<22} {numbers}  {each.result.certainty()}  n = {each.result.n}{missing}  {FIGURES[each.name]}"


COMPARE = Command(
    "compare two settings over all questions: wins, losses, tokens, and how sure",
    """`ctxasm compare`: two settings on the same questions, and whether the difference is more than chance.

A and B are each put together of presets, TOML files and NAME=VALUE, in this order of precedence: the last one wins.

  ctxasm compare --b expand_window=2
  ctxasm compare --a baseline --b settings.toml --b max_tokens=4000
  ctxasm compare --a enabled=false --b enabled=true --answers --model openai --estimate

With --answers the same model is asked under both, and what its answers are worth is compared; --estimate says what that would take.
""",
    add_compare,
    run_compare,
)
