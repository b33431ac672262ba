"""`ctxasm load`: a folder or .zip becomes a dataset."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.commands.options import add_database, say, workbench_of
from ctxasm.model.errors import InvalidInput

SUMMARY = "load a bundle (a folder or .zip of JSON Lines) as a dataset"


def add_arguments(parser: ArgumentParser) -> None:
    """PATH or --sample, --data, --db."""
    parser.add_argument("path", nargs="?", metavar="PATH", help="the folder or .zip")
    parser.add_argument("--sample", action="store_true", help="load the sample data that ships with ctxasm instead")
    parser.add_argument(
        "--data",
        "--name",
        dest="name",
        metavar="NAME",
        help="name of the dataset (default: the folder's or file's name); one of that name is replaced",
    )
    add_database(parser)


def run(args: Namespace) -> int:
    """Load, and print the name of the dataset."""
    if args.sample == (args.path is not None) or (args.sample and args.name is not None):
        raise InvalidInput("load takes either a PATH (with or without --data) or --sample alone")
    workbench = workbench_of(args)
    report = workbench.load_sample() if args.sample else workbench.load(args.path, args.name)
    for note in report.notes:
        say(f"note: {note}")
    say(report.summary if report.changed else f"{report.summary} (already loaded)")
    print(report.info.name)
    return 0
