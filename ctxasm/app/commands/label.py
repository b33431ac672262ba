"""`ctxasm label`: which chunks a question needs, said after the load, on imported logs as well.

The evidence is kept with the question: results are measured by it, and an export holds it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.options import add_database, require_data, say, workbench_of
from ctxasm.model.errors import InvalidInput, shown

SUMMARY = "say which chunks a question needs (gold evidence)"


def add_arguments(parser: ArgumentParser) -> None:
    """QUERY_ID, CHUNK…, --data, --remove, --db."""
    parser.add_argument("query_id", metavar="QUERY_ID")
    parser.add_argument("chunk", nargs="*", metavar="DOCUMENT:INDEX", help="a chunk that holds what the question asks for")
    parser.add_argument("--data", metavar="NAME", help="name of the dataset (default: the newest)")
    parser.add_argument("--remove", action="store_true", help="take these from the evidence instead of adding them")
    add_database(parser)


def run(args: Namespace) -> int:
    """Label, and print the evidence, a chunk a line."""
    from ctxasm.data.labelling import label

    workbench = workbench_of(args)
    require_data(workbench)
    query = label(workbench, args.data, args.query_id, [_chunk(text) for text in args.chunk], "remove" if args.remove else "add")
    say(f"{query.query_id}: {query.query}")
    for gold in query.gold:
        print(f"{gold.document_id}:{gold.chunk_index}")
    return 0


def _chunk(text: str) -> tuple[str, int]:
    document, colon, index = text.rpartition(":")
    if not colon or not document or not index.isascii() or not index.isdecimal() or len(index) > 10:
        raise InvalidInput(f"a chunk must be DOCUMENT:INDEX, such as guide.md:3, got {shown(text)}")
    return document, int(index)
