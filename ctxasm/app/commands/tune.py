"""`ctxasm demo`, `compare`, `sweep`, `recommend` and `fit`: which settings are better, by how much, and how sure that is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.app.commands.common import (
    INTERRUPTED,
    TABLES,
    Command,
    add_database,
    add_run,
    add_settings,
    as_json,
    cancel_on_interrupt,
    check_table,
    loaded_workbench,
    parse_number,
    run_options,
    say,
    settings_named,
    settings_of,
    show,
    snippet_url,
    terminal_progress,
    write_table,
)
from ctxasm.app.commands.query import add_asking, asked_of
from ctxasm.app.integrations.settings_forms import FORMS, FRAMEWORKS, written_as
from ctxasm.app.workbench import ENCODING, Workbench
from ctxasm.config import VALUE_WEIGHTS, read_config
from ctxasm.model.amounts import counted, interval, percent, signed
from ctxasm.model.errors import InvalidInput
from ctxasm.model.presets import RECOMMENDED, preset
from ctxasm.model.regular_files import write_file
from ctxasm.model.settings import spec_of
from ctxasm.model.settings_text import write

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.tuning.compare import Comparison, QuestionDelta
    from ctxasm.tuning.compare_answers import AnswerComparison, AnswerEstimate, FigureDelta
    from ctxasm.tuning.sweep import SweepEstimate
    from ctxasm.tuning.sweep_results import SweepResult


LIMIT, LISTED = 2_000, 3
"""Tokens of a context, and how many of the questions that are gained are listed."""
FIVE_STAGES = "five_stage"
_AT = f"max_tokens={LIMIT}"
NEXT: Mapping[str, str] = {
    "to ship it": f"ctxasm settings --preset {RECOMMENDED} --set {_AT} --format toml",
    "to count again": f"ctxasm load --sample && ctxasm compare --a {FIVE_STAGES} --a {_AT} --b {RECOMMENDED} --b {_AT}",
    "to look": "ctxasm serve",
}
"""What one may do now, and the command."""


class LostFact(NamedTuple):
    """A piece of evidence that the five stages lost: its document, its text, and where it was lost, in words."""

    document_id: str
    text: str
    lost: str


class GainedQuestion(NamedTuple):
    """A question whose evidence only `recommended` holds whole, with what the five stages lost of it."""

    query_id: str
    question: str
    facts: tuple[LostFact, ...]


def add_demo(parser: ArgumentParser) -> None:
    """--format."""
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run_demo(args: Namespace) -> int:
    """Load the sample into memory, compare, and print."""
    from ctxasm.app.api import compare
    from ctxasm.store.database import MemoryStore
    from ctxasm.text.tokens import open_counter

    workbench = Workbench(read_config({}), MemoryStore(open_counter(ENCODING)))
    workbench.load_sample()
    a, b = (preset(name).replace(max_tokens=LIMIT) for name in (FIVE_STAGES, RECOMMENDED))
    found = compare(a, b, workbench, keep=False)
    gained = [_gained(workbench, found, query_id) for query_id in found.better[:LISTED]]
    if args.format == "json":
        questions = [each._asdict() | {"facts": [fact._asdict() for fact in each.facts]} for each in gained]
        print(as_json({"comparison": found.to_dict(), "gained": questions, "next": dict(NEXT)}))
    else:
        show(demo_text(found, gained))
    return 0


def _gained(workbench: Workbench, found: Comparison, query_id: str) -> GainedQuestion:
    from ctxasm.tuning.evidence import evidence_text

    query = workbench.query(None, query_id)
    lost = [state for state in workbench.evidence(workbench.assemble(query, found.a)) if state.stage is not None]
    facts = [LostFact(e.document_id, evidence_text(e, workbench.document_chunks(e.document_id)), e.where_lost()) for e in lost]
    return GainedQuestion(query_id, query.query, tuple(facts))


def demo_text(found: Comparison, gained: Sequence[GainedQuestion]) -> str:
    """The two counts, their difference, the questions that are gained, and what one may do now."""
    rows = (("five stages", found.whole_a, found.tokens_a), (RECOMMENDED, found.whole_b, found.tokens_b))
    losses = f"{len(found.worse)} ({', '.join(found.worse)})" if found.worse else "none"
    lines = [
        f"The sample's {found.labelled} labelled questions, at most {LIMIT:,} tokens each; whole: all its evidence is in the context.",
        "",
        *(f"{name:<15} {whole} of {found.labelled} whole, {tokens:,.0f} tokens a question" for name, whole, tokens in rows),
        f"{'difference':<15} {found.result.sentence()}",
        "",
        f"{RECOMMENDED} gains {counted(len(found.better), 'question')} and loses {losses}.",
        f"The first {len(gained)} that it gains, and where the five stages lost each missing fact:",
    ]
    lines += [line for each in gained for line in _lines(each)]
    return "\n".join([*lines, "", *(f"{what:<15} {command}" for what, command in NEXT.items())])


def _lines(each: GainedQuestion) -> list[str]:
    from ctxasm.citations.report import clipped

    facts = [f"    lost {fact.lost}: “{clipped(fact.text)}” ({fact.document_id})" for fact in each.facts]
    return [f"  {each.question} ({each.query_id})", *facts]


DEMO = Command(
    "count on the sample what the preset recommended gains over the five stages; needs no database",
    """`ctxasm demo`: what settings are worth, counted now on the English sample: the preset `recommended` beside the five stages.

It needs no key, no network and no database, and leaves no file. Settings of the environment are not read:
the figures are the same everywhere.
""",
    add_demo,
    run_demo,
)


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
    from ctxasm.app.api import compare
    from ctxasm.app.report import report_comparison

    check_table(args.out)
    if args.answers and args.out is not None:
        raise InvalidInput("--out takes a comparison of contexts: leave out --answers, or take --format json")
    a, b, workbench = settings_named(args.a), settings_named(args.b), loaded_workbench(args)
    if args.answers:
        return _run_answers(args, workbench, a, b)
    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        found = compare(a, b, workbench, report=report, cancelled=cancelled, **run_options(args))
    for query_id, why in found.swept.failures.items():
        say(f"question {query_id}: {why}")
    if args.out is not None:
        write_table(args.out, found, found.to_dict(), lambda: report_comparison(workbench, found))
    if args.format == "json":
        print(as_json(found.to_dict()))
    else:
        show(comparison_text(found, args.only))
    if found.swept.cancelled:
        say("ended before all questions were counted; the same command goes on")
        return INTERRUPTED
    return 0


def comparison_text(found: Comparison, only: str | None) -> str:
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
    from ctxasm.app.api import sweep
    from ctxasm.app.report import report_sweep
    from ctxasm.app.tuning_runs import sweep_estimate
    from ctxasm.tuning.sweep import axes_of

    check_table(args.out)
    start, axes, workbench = settings_of(args), axes_of(args.grid) if args.grid else None, loaded_workbench(args)
    if args.estimate:
        show(estimate_words(sweep_estimate(workbench, start, axes, args.data, args.query_id)))
        return 0
    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        found = sweep(axes, workbench, settings=start, report=report, cancelled=cancelled, **run_options(args))
    for query_id, why in found.failures.items():
        say(f"question {query_id}: {why}")
    if args.out is not None:
        write_table(args.out, found, described(found), lambda: report_sweep(workbench, found))
    if args.format == "json":
        print(as_json(described(found)))
    else:
        show(sweep_text(found) if args.out is None else "\n".join(_heads(found)))
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


def sweep_text(found: SweepResult) -> str:
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


def add_recommend(parser: ArgumentParser) -> None:
    """--delta, --seed, the settings to start from, and what every run takes."""
    parser.add_argument(
        "--delta", type=float, metavar="SHARE", help="what something cheaper may lose, and the gain not to be missed (default: 0.05)"
    )
    add_settings(parser)
    add_run(parser, *FORMS)


def run_recommend(args: Namespace) -> int:
    """Print the sentences and the settings."""
    from ctxasm.app.api import recommend

    start, workbench = settings_of(args), loaded_workbench(args)
    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        found = recommend(workbench, settings=start, delta=args.delta, report=report, cancelled=cancelled, **run_options(args))
        if cancelled():
            say("ended before all questions were counted; the same command goes on")
            return INTERRUPTED
    if args.format == "json":
        print(as_json(found.to_dict()))
    elif args.format == "text":
        show("\n".join([*found.sentences(), f"Labels: {found.gold}."]))
        show(f"\n{written_as(found.settings, 'toml', origin=found.origin())}", end="")
    else:
        for sentence in (*found.sentences(), f"Labels: {found.gold}."):
            say(sentence)
        url = snippet_url(args) if args.format in FRAMEWORKS else None
        show(written_as(found.settings, args.format, found.found.dataset, found.origin(), url), end="")
    return 0


RECOMMEND = Command(
    "recommend settings for a dataset, with the gain, its interval, the cost and what is lost",
    """`ctxasm recommend`: which settings to ship for a dataset, and how sure that is.

It tries curated settings at your limit and below beside yours, and proposes another one only where your labelled questions show that it
holds more, or as much for fewer tokens; with few labels also where other corpora say so and your questions agree.
--format toml, environment, link, python, langchain or llamaindex writes the settings down.
""",
    add_recommend,
    run_recommend,
)


def add_fit(parser: ArgumentParser) -> None:
    """--data (repeatable), --out, --db."""
    parser.add_argument("--data", metavar="NAME", action="append", help="dataset with labelled questions; repeatable (default: the newest)")
    parser.add_argument("--out", metavar="FILE", help="where to write the weights (default: standard output)")
    add_database(parser)


def run_fit(args: Namespace) -> int:
    """Print or write the weights; what they gain goes to standard error."""
    from ctxasm.tuning.fit import LIMITS, Labelled, fit, weights_toml

    workbench = loaded_workbench(args)
    datasets = [workbench.dataset(name) for name in args.data or [None]]
    labelled = [
        Labelled(query, dataset, dataset.document_chunks)
        for dataset in datasets
        for query in dataset.queries()
        if query.retrieved and query.is_labelled
    ]
    fitted = fit(labelled, workbench.counter("cl100k_base"), workbench.weights())
    names, gain = ", ".join(dataset.info.name for dataset in datasets), fitted.gain
    limits = ", ".join(f"{limit:,}" for limit in LIMITS)
    told = (
        f"Fitted by `ctxasm fit` on {counted(fitted.questions, 'question')} of {names}: the half of even SHA-256 of their ids.",
        f"On the other {gain.questions}, at {limits} tokens, all evidence is in {gain.after:.3f} of the contexts, {signed(gain.gain, 3)} "
        f"{interval(gain.low, gain.high, 3)} against the weights before.",
    )
    text = weights_toml(fitted.weights, told)
    for line in told:
        say(line)
    if args.out is None:
        print(text, end="")
        return 0
    write_file("--out", args.out, text)
    if gain.low > 0:
        say(f"{args.out} written. To use it: {VALUE_WEIGHTS}={args.out}")
    else:
        say(f"{args.out} written. The interval does not exclude that nothing is gained: the weights before are the safer choice.")
    return 0


FIT = Command(
    "fit the weights of budget_policy=learned on labelled questions, and say what that gains",
    """`ctxasm fit`: the weights of budget_policy=learned, fitted on the labelled questions of your own datasets.

One half of the questions fits, by a digest of their ids; of the other half it is said how many more have all their evidence
in the context than with the weights before, with a 95 % interval. Nothing is used before you say so: CTXASM_VALUE_WEIGHTS=FILE.
""",
    add_fit,
    run_fit,
)
