"""`ctxasm enrich`: summaries, situating contexts and canonical questions, for the index alone; the stored text never changes.

The variant extractive takes rules and no key, the variant model asks the configured OpenAI-compatible model. Every batch is kept as
it comes: Ctrl-C loses nothing that is done, and the same command goes on where it was. Exit code 1 where batches failed.
"""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from typing import TYPE_CHECKING

from ctxasm.app.commands.common import INTERRUPTED, add_dataset, cancel_on_interrupt, require_data, say, terminal_progress, workbench_of
from ctxasm.config import MODEL
from ctxasm.data.enrich.texts import MAX_CHARS, VARIANTS
from ctxasm.model.amounts import counted
from ctxasm.model.errors import ModelUnavailable

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.data.enrich import EnrichReport, Estimate

SUMMARY = "write summaries, situating contexts and canonical questions for the index"
MADE_QUERIES = 200
MOST_FAILED = 10


def add_arguments(parser: ArgumentParser) -> None:
    """What to write and how, what it may cost, --questions-as-queries, --data, --db."""
    parser.add_argument("--variant", choices=VARIANTS, default=VARIANTS[0], help="who writes: rules (default), or the configured model")
    for what in ("summaries", "contexts", "questions"):
        parser.add_argument(f"--{what}", action=BooleanOptionalAction, default=True, help=f"write {what} (default: yes)")
    parser.add_argument("--limit", type=int, metavar="N", help="only documents until N chunks are reached: to try it out")
    parser.add_argument("--chunks-per-call", type=int, default=8, metavar="N", help="chunks of one document a call (default: %(default)s)")
    parser.add_argument("--concurrency", type=int, default=4, metavar="N", help="calls at a time (default: %(default)s)")
    parser.add_argument(
        "--max-chars", type=int, default=MAX_CHARS, metavar="N", help="most characters of an indexed text (default: %(default)s)"
    )
    parser.add_argument("--estimate", action="store_true", help="say what it would take, and send nothing")
    parser.add_argument("--price-in", type=float, metavar="USD", help="dollars per million tokens of the prompts")
    parser.add_argument("--price-out", type=float, metavar="USD", help="dollars per million tokens of the replies")
    parser.add_argument(
        "--questions-as-queries",
        type=int,
        nargs="?",
        const=MADE_QUERIES,
        metavar="N",
        help=f"save N of the questions as queries with their chunk as gold (default: {MADE_QUERIES})",
    )
    add_dataset(parser)


def run(args: Namespace) -> int:
    """Enrich, and print the name of the dataset; with --estimate print what it would take."""
    from ctxasm.data.enrich import EnrichOptions, enrich, estimate

    options = EnrichOptions(
        variant=args.variant,
        summaries=args.summaries,
        contexts=args.contexts,
        questions=args.questions,
        chunks_per_call=args.chunks_per_call,
        concurrency=args.concurrency,
        max_chars=args.max_chars,
        limit=args.limit,
        price_in=args.price_in,
        price_out=args.price_out,
    )
    workbench = workbench_of(args)
    require_data(workbench)
    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        if args.estimate:
            print(estimate_words(estimate(workbench, args.data, options, report, cancelled)))
            return INTERRUPTED if cancelled() else 0
        done = enrich(workbench, args.data, options, report, cancelled)
    _tell(done)
    if done.cancelled:
        say("run the same command again to go on")
        return INTERRUPTED
    if args.questions_as_queries is not None and not _make_queries(workbench, done.dataset, args.questions_as_queries):
        return INTERRUPTED
    print(done.dataset)
    return 1 if done.failed or done.stopped else 0


def _tell(done: EnrichReport) -> None:
    for note in done.notes:
        say(f"note: {note}")
    for batch in done.failed[:MOST_FAILED]:
        say(f"not written: {batch.what}: {batch.reason}")
    if len(done.failed) > MOST_FAILED:
        say(f"  … and {len(done.failed) - MOST_FAILED:,} more")
    if done.calls:
        say(spent_words(done))
    if done.stopped and not done.chunks:
        raise ModelUnavailable(done.stopped)
    say(done.summary)
    if done.stopped:
        say(f"given up, because too many calls failed in a row: {done.stopped}")


def _make_queries(workbench: Workbench, dataset: str, limit: int) -> bool:
    """Save questions as queries; False where it was ended before."""
    from ctxasm.retrieval.canonical_questions import questions_as_queries

    with terminal_progress() as report, cancel_on_interrupt() as cancelled:
        made = questions_as_queries(workbench, dataset, limit, report=report, cancelled=cancelled)
    if made.cancelled:
        say("no query was saved")
        return False
    words = f"{len(made.saved):,} of {counted(made.questions, 'question')} saved as queries of {dataset}, each with its chunk as gold"
    say(f"{words}; {made.removed:,} made before removed" if made.removed else words)
    return True


def estimate_words(told: Estimate) -> str:
    """What a run would take, in a line or two."""
    open_chunks = f"{told.dataset}: {told.chunks - told.kept:,} of {counted(told.chunks, 'chunk')} to enrich"
    if told.variant == "extractive":
        return f"{told.dataset}: {counted(told.chunks, 'chunk')}, by rules on this machine: no calls, no cost"
    how = "counted" if told.exact else "estimated, no vocabulary"
    model = told.model or "a model that is not named yet"
    tokens = f"{counted(told.calls, 'call')} to {model}, {told.tokens_in:,} tokens in ({how}), about {told.tokens_out:,} out"
    if told.price is None or told.cost is None:
        named = f"no price is known for {told.model}: " if told.model else f"no price is known without a model: set {MODEL[0]}, or "
        cost = f"{named}give --price-in and --price-out"
    else:
        price = f"{told.price.tokens_in:g} in and {told.price.tokens_out:g} out per million, {told.price.source}"
        cost = f"about ${told.cost:,.4f} ({price})"
    return f"{open_chunks}\n{tokens}\n{cost}"


def spent_words(done: EnrichReport) -> str:
    """What a run took."""
    how = "as the server told" if done.counted else "counted here, the server told no usage"
    words = f"{counted(done.calls, 'call')} to {done.model}: {done.tokens_in:,} tokens in, {done.tokens_out:,} out ({how})"
    return words if done.cost is None else f"{words}, ${done.cost:,.4f}"
