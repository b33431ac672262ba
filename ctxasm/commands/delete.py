"""`ctxasm delete`: a dataset goes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.commands.options import add_database, say, workbench_of

SUMMARY = "delete a dataset"


def add_arguments(parser: ArgumentParser) -> None:
    """NAME, --db."""
    parser.add_argument("name", metavar="NAME")
    add_database(parser)


def run(args: Namespace) -> int:
    """Delete, and say so."""
    workbench_of(args).delete(args.name)
    say(f"deleted {args.name}")
    return 0
