"""`ctxasm export`: a dataset as files, with the queries saved to it.

A bundle (a folder or .zip) loads back equal. parquet is one table: a row a chunk, with its document's title, source, summary
and date.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.common import add_database, require_data, say, workbench_of
from ctxasm.data.files.exporting import FORMATS, export
from ctxasm.model.amounts import counted

SUMMARY = "write a dataset to files: a bundle that loads back equal, or one table of chunks"


def add_arguments(parser: ArgumentParser) -> None:
    """NAME, --out, --format, --force, --db."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="dataset (default: the newest)")
    parser.add_argument("--out", required=True, metavar="PATH", help="a folder or .zip; a file for parquet")
    parser.add_argument("--format", default="bundle", metavar="FORMAT", help=f"{', '.join(FORMATS)} (default: bundle)")
    parser.add_argument("--force", action="store_true", help="replace what is there already")
    add_database(parser)


def run(args: Namespace) -> int:
    """Write, and print the path."""
    workbench = workbench_of(args)
    require_data(workbench)
    report = export(workbench, args.name, args.out, args.format, force=args.force)
    counts = ((report.documents, "document"), (report.chunks, "chunk"), (report.queries, "query"), (report.answers, "answer"))
    say(f"{report.name}: {', '.join(counted(count, noun) for count, noun in counts if count)}")
    print(report.path)
    return 0
