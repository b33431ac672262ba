"""`ctxasm converse`: conversations turn by turn."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxasm.answering.conversation import LAYOUTS, Conversation, Price, Turn
from ctxasm.app.commands.common import Command, add_dataset, add_settings, as_json, require_data, say, settings_of, show, workbench_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import Hit, Query
from ctxasm.model.regular_files import read_text
from ctxasm.retrieval import search


def add_converse(parser: ArgumentParser) -> None:
    """FILE, --layout, --window, --answer-tokens, --receipts, --price, --format, the settings, --data, --db."""
    parser.add_argument("file", metavar="FILE", help="conversations, one JSON object a line")
    parser.add_argument("--layout", choices=LAYOUTS, default="rebuild", help="one block of evidence a turn, or messages that stay")
    parser.add_argument("--window", type=int, default=8_000, metavar="TOKENS", help="the most that prompt and answer take (default: 8000)")
    parser.add_argument("--answer-tokens", type=int, default=512, metavar="TOKENS", help="kept free for the answer (default: 512)")
    parser.add_argument("--receipts", action="store_true", help="a line in the place of evidence that left (layout append)")
    parser.add_argument("--price", metavar="IN:CACHED:OUT", help="money for a million tokens of prompt, cached prompt and answer")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_settings(parser)
    add_dataset(parser)


def run_converse(args: Namespace) -> int:
    """Print every turn."""
    price = price_of(args.price) if args.price else None
    workbench = workbench_of(args)
    require_data(workbench)
    dataset = workbench.store.dataset(args.data)
    empty = Conversation(settings_of(args), args.layout, args.window, args.answer_tokens, args.receipts)
    counter = workbench.counter(empty.settings.encoding)
    for name, questions in conversations_of(args.file):
        conversation, turns, cost = empty, list[Turn](), 0.0
        for query, answer in questions:
            found = query if query.retrieved else replace(query, retrieved=search(workbench, query.query, dataset.info.name).retrieved)
            turn = conversation.ask(found, dataset, counter)
            turns.append(turn)
            cost += turn.cost(price, counter.count(answer)) if price else 0.0
            conversation = turn.answered(answer)
        if args.format == "json":
            show(as_json({"conversation_id": name, "turns": [turn_record(turn) for turn in turns], "cost": cost if price else None}, None))
            continue
        show(f"{name}: {counted(len(turns), 'turn')}")
        for turn in turns:
            show("\n".join(turn_lines(turn)))
        sent, cached = sum(turn.window.prompt for turn in turns), sum(turn.cached_tokens for turn in turns)
        money = f", cost {cost:.4f}" if price else ""
        say(f"{name}: {sent:,} tokens sent, {cached:,} of them as before ({percent(cached / max(1, sent))}){money}")
    return 0


def price_of(text: str) -> Price:
    """A price from `2.50:0.25:10`. Raises InvalidInput."""
    try:
        price = Price(*(float(part) for part in text.split(":")))
    except (TypeError, ValueError):
        price = None
    if price is None or not all(0 <= part < float("inf") for part in price):
        raise InvalidInput(f"--price is written IN:CACHED:OUT, three amounts of money for a million tokens, got {shown(text)}")
    return price


def turn_lines(turn: Turn) -> Iterator[str]:
    """What a turn did, in words."""
    window = turn.window
    yield (
        f"  {turn.number}. {window.prompt:,} tokens: evidence {window.evidence:,}, history {window.history:,}; "
        f"{turn.cached_tokens:,} as before, {turn.new_tokens:,} new"
    )
    for word, numbers in (("came", turn.came_numbers), ("stayed", turn.stayed_numbers)):
        if numbers:
            yield f"     {word}: {' '.join(f'[{number}]' for number in numbers)}"
    for entry in turn.left:
        yield f"     [{entry.number}] {entry.sentence}"
    if turn.forgotten:
        yield f"     {counted(turn.forgotten, 'earlier question')} not sent any more"


def turn_record(turn: Turn) -> dict[str, Any]:
    """A turn as JSON."""
    return {
        "turn": turn.number,
        "question": turn.assembly.query.query,
        "window": turn.window._asdict(),
        "cached_tokens": turn.cached_tokens,
        "new_tokens": turn.new_tokens,
        "sources": [
            {"number": block.number, "document_id": block.document_id, "chunk_indexes": list(block.chunk_indexes), "tokens": block.tokens}
            for block in turn.standing
        ],
        "came": turn.came_numbers,
        "stayed": turn.stayed_numbers,
        "left": [entry._asdict() for entry in turn.left],
        "forgotten": turn.forgotten,
    }


def conversations_of(path: str) -> Iterator[tuple[str, list[tuple[Query, str]]]]:
    """Each conversation of a file with its questions and recorded answers. Raises InvalidInput naming the line."""
    text = read_text(path, "the conversations", "give a file of JSON Lines")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                record = json.loads(line)
                name = str(record.get("conversation_id") or f"conversation {number}")
                questions = [_question(turn, f"{name}-t{at}") for at, turn in enumerate(record["turns"], 1)]
            except (ValueError, KeyError, TypeError, AttributeError) as failure:
                message = f"{path}, line {number}: a line must be an object with turns, each with a question, got {shown(line)}: {failure}"
                raise InvalidInput(message) from failure
            yield name, questions


def _question(turn: Mapping[str, Any], query_id: str) -> tuple[Query, str]:
    hits = tuple(
        Hit(str(hit["document_id"]), hit["chunk_index"], hit.get("score", 0.0), hit.get("rank")) for hit in turn.get("retrieved") or ()
    )
    return Query(turn["question"], hits, query_id), str(turn.get("answer") or "")


CONVERSE = Command(
    "replay conversations: what each turn sends, keeps and drops, and its cost",
    """`ctxasm converse`: the turns of conversations one after another: what each sends, what came, what left and why, and what it costs.

ctxasm converse conversations.jsonl --data manuals --layout append --window 8000
ctxasm converse conversations.jsonl --price 2.50:0.25:10 --format json

A line of the file is {"turns": [{"question", "answer"?, "retrieved"?: [{"document_id", "chunk_index", "score"}]}]}, with a
conversation_id where there is one. A turn without `retrieved` is searched in the dataset. Numbers in an answer say what it cites.
""",
    add_converse,
    run_converse,
)
