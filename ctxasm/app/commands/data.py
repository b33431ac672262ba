"""`ctxasm load`, `ingest`, `enrich`, `datasets`, `delete` and `export`: how data comes in, what there is, and how it goes out."""

from __future__ import annotations

import json
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from ctxasm.app.commands.common import (
    INTERRUPTED,
    Command,
    add_database,
    add_dataset,
    add_on_conflict,
    as_json,
    cancel_on_interrupt,
    explain_taken_name,
    loaded_workbench,
    nothing_loaded,
    parse_mapping,
    read_on_conflict,
    say,
    show,
    terminal_progress,
    workbench_of,
)
from ctxasm.app.workbench import SAMPLE, SAMPLE_NL, Workbench
from ctxasm.config import MODEL
from ctxasm.data.documents.options import IngestOptions
from ctxasm.data.enrich.texts import MAX_CHARS, VARIANTS
from ctxasm.data.files.exporting import FORMATS, export
from ctxasm.data.files.loading import LoadReport, files_at, join_paths, load_paths, one_mapping, preview_files
from ctxasm.data.load_conflicts import NOUNS, Over
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.regular_files import standard_input

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.data.documents.ingesting import FileProblem
    from ctxasm.data.enrich.enriching import EnrichReport, Estimate
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.files.importing import FilePreview
    from ctxasm.model.datasets import DatasetInfo


MOST_PROBLEMS, ROW_CHARS = 50, 200


def add_load(parser: ArgumentParser) -> None:
    """PATH… or --sample or --sample-nl, --data, --replace or --into, --map, --kind, --valid-only, --number-by-order, --preview, --db."""
    parser.add_argument("path", nargs="*", metavar="PATH", help="a folder, .zip or file, several that go together, or - for standard input")
    parser.add_argument("--sample", action="store_const", const=SAMPLE, help="load the sample data that ships with ctxasm instead")
    parser.add_argument("--sample-nl", dest="sample", action="store_const", const=SAMPLE_NL, help="the same hospital in Dutch")
    parser.add_argument(
        "--data",
        "--name",
        dest="name",
        metavar="NAME",
        help="name of the dataset (default: the folder's or file's name)",
    )
    add_on_conflict(parser)
    parser.add_argument(
        "--join", metavar="DATASET", help="add only the questions, with their hits on the chunks of this dataset or linked table"
    )
    parser.add_argument(
        "--map",
        dest="columns",
        metavar="FIELD=PATH",
        action="append",
        default=[],
        help="the column of a field, or a path in JSON; of a list of hits hits=results[*] and hits.text=node.text",
    )
    parser.add_argument("--kind", help="what the rows are: chunks, documents, queries, retrievals or answers (default: guessed)")
    parser.add_argument("--valid-only", action="store_true", help="leave out the rows that fail instead of loading nothing")
    parser.add_argument(
        "--number-by-order",
        action="store_true",
        help="number the chunks of each document 0, 1, 2 … in the order of their indexes, where these have gaps (10, 20, 30)",
    )
    parser.add_argument("--preview", action="store_true", help="show how the files are understood, and load nothing")
    add_database(parser)


def run_load(args: Namespace) -> int:
    """Load, and print the name of the dataset."""
    if (args.sample is not None) == bool(args.path) or (args.sample and (args.name is not None or args.into is not None)):
        raise InvalidInput("load takes either a PATH (with or without --data or --into) or one of --sample and --sample-nl alone")
    name, over = read_on_conflict(args, args.name, "--data")
    if args.join is not None and (args.sample or args.into is not None or args.replace or name is not None):
        raise InvalidInput("--join names the dataset that questions are added to: leave out --sample…, --data, --into and --replace")
    if args.number_by_order and (args.sample or args.join is not None or args.into is not None):
        raise InvalidInput("--number-by-order is for chunks that are loaded by themselves: leave out --sample…, --join and --into")
    workbench = workbench_of(args, makes=True)
    if args.preview:
        return _preview(workbench, args)
    with explain_taken_name(None if args.sample else "--data"):
        report = workbench.load_sample(over, args.sample) if args.sample else _load(workbench, args, name, over)
    for note in report.notes:
        say(f"note: {note}")
    say(report.summary if report.changed else f"{report.summary} (already loaded)")
    print(report.info.name)
    return 0


def _load(workbench: Workbench, args: Namespace, name: str | None, over: Over) -> LoadReport:
    if args.join is not None:
        return join_paths(workbench, args.path, args.join, _mappings(args), args.valid_only, _pasted)
    return load_paths(workbench, args.path, name, _mappings(args), args.valid_only, over, _pasted, args.number_by_order)


def _pasted(most: int) -> bytes:
    return standard_input().read(most)


def _mappings(args: Namespace) -> dict[str, ColumnMapping]:
    """What --map and --kind say, for every file."""
    return one_mapping(parse_mapping(args.columns), args.kind)


def _preview(workbench: Workbench, args: Namespace) -> int:
    if args.sample:
        raise InvalidInput("--preview takes a PATH")
    found = preview_files(workbench, files_at(args.path, workbench.config, _pasted), _mappings(args), args.into, args.join)
    for file in found.files:
        _show_file(file)
    counts = ", ".join(counted(count, NOUNS[kind]) for kind, count in found.counts.items() if count)
    for note in found.notes:
        show(f"note: {note}")
    added = args.into or args.join
    where = f"add to {added}" if added is not None else f"load as {found.name}"
    show(f"would {where}: {counts}" if counts else "would load nothing")
    for problem in found.problems[:MOST_PROBLEMS]:
        say(str(problem))
    if found.problems:
        say(f"{counted(len(found.problems), 'problem')}; --valid-only leaves out the rows that fail")
    return 1 if found.problems else 0


def _show_file(file: FilePreview) -> None:
    show(f"{file.file}: {file.understood}; {counted(file.row_count, 'row')}, {file.failing:,} with a problem")
    if file.mapping is not None:
        for field, column in file.mapping.columns.items():
            show(f"  {field} = {column} ({file.mapping.reasons.get(field, 'as you said')})")
    for note in file.notes:
        show(f"  note: {note}")
    for asked in file.asked:
        show(f"  asks: {_cut(asked.question)} ({counted(asked.hits, 'hit')})")
        if asked.answer is not None:
            show(f"    answered: {_cut(asked.answer)}")
        for text, score in asked.best:
            show(f"    {'' if score is None else f'{score:.4g} '}{_cut(text)}")
    for number, row in file.rows:
        text = json.dumps(row, ensure_ascii=False, default=str)
        show(f"  {file.unit} {number}: {_cut(text)}")


def _cut(text: str) -> str:
    line = " ".join(text[: ROW_CHARS * 2].split())
    return line if len(line) <= ROW_CHARS else line[: ROW_CHARS - 1] + "…"


LOAD = Command(
    "load a bundle, or files of JSON, JSON Lines, CSV or Parquet, as a dataset",
    """`ctxasm load`: files become a dataset.

PATH is a bundle (a folder or .zip), or any files that go together: JSON, JSON Lines, CSV, TSV, Parquet, a .zip of them, or -
for what is pasted into standard input. Columns are guessed; --preview shows how, --map says otherwise.
""",
    add_load,
    run_load,
)


MOST_SKIPPED = 10
WIDEST_NAME = 60


def add_ingest(parser: ArgumentParser) -> None:
    """PATH…, --data, --replace or --into, how to cut, --part, --retry, --db."""
    usual = IngestOptions()
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a document, a folder, or a .zip of documents")
    names = "name of the dataset (default: that of the folder or file); one that holds these documents goes on"
    parser.add_argument("--data", "--name", dest="name", metavar="NAME", help=names)
    add_on_conflict(parser)
    parser.add_argument(
        "--chunk-tokens", type=int, default=usual.max_tokens, metavar="N", help="most tokens of a chunk (default: %(default)s)"
    )
    parser.add_argument("--overlap", type=int, metavar="N", help="most tokens that two chunks share (default: a fifth of --chunk-tokens)")
    switches = (
        ("pages", usual.pages, "a chunk lies on one page"),
        ("sections", usual.headings, "a chunk lies under one heading"),
    )
    for what, default, does in switches:
        words = f"{does} (default: {'yes' if default else 'no'})"
        parser.add_argument(f"--whole-{what}", action=BooleanOptionalAction, default=default, help=words)
    parser.add_argument("--language", metavar="CODE", help="language of documents that do not say their own: nl, en, …")
    parser.add_argument("--part", action="store_true", help="read nothing: load what an ingest that was ended has done")
    parser.add_argument("--retry", action="store_true", help="read again what could not be read before")
    add_database(parser)


def run_ingest(args: Namespace) -> int:
    """Read and load; print the name of the dataset."""
    from ctxasm.data.documents.ingesting import ingest

    overlap = args.chunk_tokens // 5 if args.overlap is None else args.overlap
    options = IngestOptions(args.chunk_tokens, overlap, args.whole_pages, args.whole_sections, language=args.language)
    workbench = workbench_of(args, makes=True)
    name, over = read_on_conflict(args, args.name, "--data")
    with explain_taken_name("--data"), terminal_progress() as report, cancel_on_interrupt() as cancelled:
        done = ingest(workbench, args.paths, options, name, report, cancelled, part=args.part, retry=args.retry, over=over)
    for note in done.notes:
        say(f"note: {note}")
    _say_problems("not read", done.broken, len(done.broken))
    _say_problems("left out", [problem for problem in done.problems if not problem.broken], MOST_SKIPPED)
    say(done.summary)
    if done.cancelled:
        say("run the same command again to go on, or with --part to load what is done")
        return INTERRUPTED
    if done.load is None:
        return 2
    print(done.load.info.name)
    return 0


def _say_problems(title: str, problems: Sequence[FileProblem], most: int) -> None:
    """A table of files and reasons."""
    if not problems:
        return
    say(f"{title}: {counted(len(problems), 'file')}")
    width = min(WIDEST_NAME, max(len(problem.file) for problem in problems[:most]))
    for problem in problems[:most]:
        say(f"  {problem.file:<{width}}  {problem.reason}")
    if len(problems) > most:
        say(f"  … and {len(problems) - most:,} more")


INGEST = Command(
    "read documents (PDF, DOCX, HTML, Markdown, text) into a dataset",
    """`ctxasm ingest`: documents (PDF, DOCX, HTML, Markdown, plain text) become a dataset.

Folders are read with everything in them. What is done is kept: the same command goes on where it was ended, and reads only
what has changed since; what was added to the dataset in other ways stays. A dataset that holds none of these documents is
replaced with --replace only. Exit code 2 where nothing could be read.
""",
    add_ingest,
    run_ingest,
)


MADE_QUERIES = 200
MOST_FAILED = 10


def add_enrich(parser: ArgumentParser) -> None:
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


def run_enrich(args: Namespace) -> int:
    """Enrich, and print the name of the dataset; with --estimate print what it would take."""
    from ctxasm.data.enrich.enriching import EnrichOptions, enrich, estimate

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
    workbench = loaded_workbench(args)
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


ENRICH = Command(
    "write summaries, situating contexts and canonical questions for the index",
    """`ctxasm enrich`: summaries, situating contexts and canonical questions, for the index alone; the stored text never changes.

The variant extractive takes rules and no key, the variant model asks the configured OpenAI-compatible model. Every batch is kept as
it comes: Ctrl-C loses nothing that is done, and the same command goes on where it was. Exit code 1 where batches failed.
""",
    add_enrich,
    run_enrich,
)


def add_datasets(parser: ArgumentParser) -> None:
    """--format, --db."""
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_database(parser)


def run_datasets(args: Namespace) -> int:
    """Print one line a dataset, or a JSON list."""
    workbench = workbench_of(args)
    found = workbench.datasets()
    if args.format == "json":
        rows = [
            {
                "name": info.name,
                "documents": info.documents,
                "chunks": info.chunks,
                "queries": info.queries,
                "saved_queries": _saved(workbench, info),
                "answers": info.answers,
                "replaced": info.replaced,
                "loaded_at": info.loaded_at.isoformat(),
                "content_hash": info.content_hash,
                "origin": info.origin,
            }
            for info in found
        ]
        print(as_json(rows))
        return 0
    if not found:
        say(nothing_loaded(workbench))
    for info in found:
        print(_line(info, _saved(workbench, info)))
    return 0


def _line(info: DatasetInfo, saved: int) -> str:
    loaded = 0 if info.linked else info.queries
    queries = counted(loaded, "query") + (f" + {saved:,} saved" if saved else "")
    parts = (counted(info.documents, "document"), counted(info.chunks, "chunk"), queries, counted(info.answers, "answer"))
    return "\t".join((info.name, *parts, f"{info.loaded_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"))


def _saved(workbench: Workbench, info: DatasetInfo) -> int:
    """How many questions were saved to a dataset; one that a later load brought under its id is a loaded one. A link has no others."""
    if info.linked:
        return info.queries
    return len(workbench.query_list(info.name)) - info.queries if workbench.store.saved_queries(info.name) else 0


DATASETS = Command(
    "list the loaded datasets, newest first",
    """`ctxasm datasets`: what is loaded.""",
    add_datasets,
    run_datasets,
)


def add_delete(parser: ArgumentParser) -> None:
    """NAME, --db."""
    parser.add_argument("name", metavar="NAME")
    add_database(parser)


def run_delete(args: Namespace) -> int:
    """Delete, and say what went."""
    workbench = loaded_workbench(args)
    linked = any(info.name == args.name and info.linked for info in workbench.datasets())
    workbench.delete(args.name)
    say(f"unlinked {args.name}; the table stays" if linked else f"deleted {args.name}")
    return 0


DELETE = Command(
    "delete a dataset, or unlink a table",
    """`ctxasm delete`: a dataset goes, or the link to a table, which stays.""",
    add_delete,
    run_delete,
)


def add_export(parser: ArgumentParser) -> None:
    """NAME, --out, --format, --force, --db."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="dataset (default: the newest)")
    parser.add_argument("--out", required=True, metavar="PATH", help="a folder or .zip; a file for parquet")
    parser.add_argument("--format", default="bundle", metavar="FORMAT", help=f"{', '.join(FORMATS)} (default: bundle)")
    parser.add_argument("--force", action="store_true", help="replace what is there already")
    add_database(parser)


def run_export(args: Namespace) -> int:
    """Write, and print the path."""
    workbench = loaded_workbench(args)
    report = export(workbench, args.name, args.out, args.format, force=args.force)
    counts = ((report.documents, "document"), (report.chunks, "chunk"), (report.queries, "query"), (report.answers, "answer"))
    say(f"{report.name}: {', '.join(counted(count, noun) for count, noun in counts if count)}")
    print(report.path)
    return 0


EXPORT = Command(
    "write a dataset to files: a bundle that loads back equal, or one table of chunks",
    """`ctxasm export`: a dataset as files, with the queries saved to it.

A bundle (a folder or .zip) loads back equal. parquet is one table: a row a chunk, with its document's title, source, summary
and date.
""",
    add_export,
    run_export,
)
