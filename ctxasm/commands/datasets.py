"""`ctxasm datasets`: what is loaded."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from ctxasm.commands.options import add_database, say, workbench_of

SUMMARY = "list the loaded datasets, newest first"


def add_arguments(parser: ArgumentParser) -> None:
    """--format, --db."""
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_database(parser)


def run(args: Namespace) -> int:
    """Print one line a dataset, or a JSON list."""
    found = workbench_of(args).datasets()
    if args.format == "json":
        rows = [
            {
                "name": info.name,
                "documents": info.documents,
                "chunks": info.chunks,
                "queries": info.queries,
                "answers": info.answers,
                "replaced": info.replaced,
                "loaded_at": info.loaded_at.isoformat(),
                "content_hash": info.content_hash,
                "origin": info.origin,
            }
            for info in found
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    if not found:
        say("no dataset is loaded: run `ctxasm load FOLDER` (or `ctxasm load --sample`)")
    for info in found:
        loaded = info.loaded_at.astimezone().strftime("%Y-%m-%d %H:%M")
        print(f"{info.name}\t{info.documents} documents\t{info.chunks} chunks\t{info.queries} queries\t{info.answers} answers\t{loaded}")
    return 0
