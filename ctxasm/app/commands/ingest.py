"""`ctxasm ingest`: documents (PDF, DOCX, HTML, Markdown, plain text) become a dataset.

Folders are read with everything in them. What is done is kept: the same command goes on where it was ended, and reads only
what has changed since; what was added to the dataset in other ways stays. A dataset that holds none of these documents is
replaced with --replace only. Exit code 2 where nothing could be read.
"""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxasm.app.commands.common import (
    INTERRUPTED,
    add_database,
    add_on_conflict,
    cancel_on_interrupt,
    explain_taken_name,
    read_on_conflict,
    say,
    terminal_progress,
    workbench_of,
)
from ctxasm.data.documents.options import IngestOptions
from ctxasm.model.amounts import counted

if TYPE_CHECKING:
    from ctxasm.data.documents.ingesting import FileProblem

SUMMARY = "read documents (PDF, DOCX, HTML, Markdown, text) into a dataset"
MOST_SKIPPED = 10
WIDEST_NAME = 60


def add_arguments(parser: ArgumentParser) -> None:
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


def run(args: Namespace) -> int:
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
