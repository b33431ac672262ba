"""`ctxasm datasets`: what is loaded."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import UTC
from typing import TYPE_CHECKING

from ctxasm.app.commands.common import Command, add_database, as_json, nothing_loaded, say, workbench_of
from ctxasm.model.amounts import counted

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.model.datasets import DatasetInfo



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
    loaded = 0 if _is_linked(info) else info.queries
    queries = counted(loaded, "query") + (f" + {saved:,} saved" if saved else "")
    parts = (counted(info.documents, "document"), counted(info.chunks, "chunk"), queries, counted(info.answers, "answer"))
    return "\t".join((info.name, *parts, f"{info.loaded_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"))


def _saved(workbench: Workbench, info: DatasetInfo) -> int:
    """How many questions were saved to a dataset; one that a later load brought under its id is a loaded one. A link has no others."""
    if _is_linked(info):
        return info.queries
    return len(workbench.query_list(info.name)) - info.queries if workbench.store.saved_queries(info.name) else 0


def _is_linked(info: DatasetInfo) -> bool:
    return info.dataset_id < 0


DATASETS = Command(
    "list the loaded datasets, newest first",
    """`ctxasm datasets`: what is loaded.""",
    add_datasets,
    run_datasets,
)
