"""`ctxasm delete`: a dataset goes, or the link to a table, which stays."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.common import Command, add_database, require_data, say, workbench_of



def add_delete(parser: ArgumentParser) -> None:
    """NAME, --db."""
    parser.add_argument("name", metavar="NAME")
    add_database(parser)


def run_delete(args: Namespace) -> int:
    """Delete, and say what went."""
    workbench = workbench_of(args)
    require_data(workbench)
    linked = any(info.name == args.name and info.dataset_id < 0 for info in workbench.datasets())
    workbench.delete(args.name)
    say(f"unlinked {args.name}; the table stays" if linked else f"deleted {args.name}")
    return 0


DELETE = Command(
    "delete a dataset, or unlink a table",
    """`ctxasm delete`: a dataset goes, or the link to a table, which stays.""",
    add_delete,
    run_delete,
)
