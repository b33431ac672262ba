"""`ctxasm label`: which passages a question needs, said after the load, on imported logs as well.

The evidence is kept with the question: results are measured by it, and an export holds it. `ctxasm questions` lists the ids.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxasm.app.commands.common import Command, add_database, require_data, say, show, workbench_of
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import GoldChange, GoldChunk

SHOWN_CHARS = 80


def add_label(parser: ArgumentParser) -> None:
    """QUERY_ID, CHUNK…, --phrase, --any, --data, --remove, --db."""
    parser.add_argument("query_id", metavar="QUERY_ID")
    parser.add_argument("chunk", nargs="*", metavar="DOCUMENT:INDEX", help="a chunk that holds what the question asks for")
    parser.add_argument("--phrase", action="append", default=[], metavar="TEXT", help="words that it needs; repeatable")
    parser.add_argument(
        "--any", action="store_true", help="any one of the chunks named here, and of all passages that hold a phrase, is enough"
    )
    parser.add_argument("--data", metavar="NAME", help="name of the dataset (default: the newest)")
    parser.add_argument("--remove", action="store_true", help="take these from the evidence, lost ones too, instead of adding them")
    add_database(parser)


def run_label(args: Namespace) -> int:
    """Label, and print the evidence, a label a line."""
    from ctxasm.data.labelling import label

    if args.any and args.remove:
        raise InvalidInput("--any and --remove exclude each other: a removed chunk goes from its alternatives")
    workbench = workbench_of(args)
    require_data(workbench)
    how: GoldChange = "remove" if args.remove else "add"
    chunks = [_chunk(text) for text in args.chunk]
    query = label(workbench, args.data, args.query_id, chunks, how, phrases=args.phrase, any_of=args.any)
    say(f"{query.query_id}: {query.query}")
    for gold in query.gold:
        show(label_line(gold))
    return 0


def label_line(gold: GoldChunk) -> str:
    """A label on one line: its chunk, or those of which any one is enough, each with the words that are needed or lost."""
    return " | ".join(map(_place, gold.places))


def _place(gold: GoldChunk) -> str:
    words = f" {shown(gold.text, SHOWN_CHARS)}" if gold.text is not None else ""
    return f"{gold.document_id}:{gold.chunk_index}{' lost' if gold.lost else ''}{words}"


def _chunk(text: str) -> tuple[str, int]:
    document, colon, index = text.rpartition(":")
    if not colon or not document or not index.isascii() or not index.isdecimal() or len(index) > 10:
        raise InvalidInput(f"a chunk must be DOCUMENT:INDEX, such as guide.md:3, got {shown(text)}")
    return document, int(index)


LABEL = Command(
    "say which passages a question needs (gold evidence)",
    """`ctxasm label`: which passages a question needs, said after the load, on imported logs as well.

The evidence is kept with the question: results are measured by it, and an export holds it. `ctxasm questions` lists the ids.
""",
    add_label,
    run_label,
)
