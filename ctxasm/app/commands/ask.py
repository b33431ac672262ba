"""`ctxasm ask`: an answer from the assembled context, streamed, with its markers resolved below it.

Below a spoken answer stand all blocks of its context, unless it declines to answer.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import NamedTuple

from ctxasm.answering.asking import AnswerResult, Piece
from ctxasm.answering.prompts import PROMPT_STYLES, PromptChoice
from ctxasm.answering.sent_tokens import sent_line
from ctxasm.app.commands.assemble import described
from ctxasm.app.commands.common import (
    Command,
    add_dataset,
    add_history,
    add_settings,
    parse_number,
    require_data,
    say,
    say_compression,
    say_zones,
    settings_of,
    show,
    with_history,
    workbench_of,
)
from ctxasm.citations.declined import is_refusal
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.results import Citation

MAX_ANSWER_TOKENS = 32_000


def add_ask(parser: ArgumentParser) -> None:
    """--query-id, --model and how it answers, the prompt, --history, settings, --data, --db."""
    parser.add_argument("--query-id", metavar="ID", required=True, help="the query to answer")
    add_asking(parser)
    parser.add_argument("--keep", action="store_true", help="keep the answer, checked, in the history (`ctxasm history`)")
    parser.add_argument("--author", metavar="NAME", default="", help="with --keep: who keeps it")
    add_history(parser)
    add_settings(parser)
    add_dataset(parser)


def add_asking(parser: ArgumentParser) -> None:
    """--model and how it answers, and the prompt."""
    parser.add_argument(
        "--model", metavar="NAME", help="extractive (no key needed), openai (the configured endpoint), or scripted:MODE, which misbehaves"
    )
    parser.add_argument("--temperature", metavar="T", default="0", help="0 to 2 (default: 0)")
    parser.add_argument("--max-answer-tokens", metavar="N", default="512", help=f"1 to {MAX_ANSWER_TOKENS} (default: 512)")
    parser.add_argument("--prompt", metavar="STYLE", default="grounded", help=f"{', '.join(PROMPT_STYLES)} (default: grounded)")
    parser.add_argument("--answer-first", action="store_true", help="ask for the answer itself in the first sentence")
    parser.add_argument("--instructions", metavar="TEXT", default="", help="your own instructions, added to the rules of the prompt")


class Asked(NamedTuple):
    """What `add_asking` took."""

    choice: PromptChoice
    temperature: float
    max_tokens: int


def asked_of(args: Namespace) -> Asked:
    """How to ask. Raises InvalidInput."""
    temperature = parse_number("temperature", args.temperature, 0, 2)
    longest = int(parse_number("max-answer-tokens", args.max_answer_tokens, 1, MAX_ANSWER_TOKENS))
    return Asked(PromptChoice(args.prompt, args.answer_first, args.instructions), temperature, longest)


def run_ask(args: Namespace) -> int:
    """Print the answer as it comes, then its sources. What had arrived before a failure stays printed."""
    choice, temperature, longest = asked_of(args)
    settings, workbench = settings_of(args), workbench_of(args)
    model = workbench.open_model(args.model)
    require_data(workbench)
    dataset = workbench.dataset(args.data).info.name
    query = with_history(workbench.query(dataset, args.query_id), args.history)
    assembly = workbench.assemble(query, settings, dataset, choice, model)
    say(f"{model.name}: {described(assembly)}")
    say_zones(assembly)
    say_compression(assembly)
    if assembly.zones is not None and longest > (reserved := assembly.zones.tokens_of("answer")):
        say(f"max-answer-tokens is {longest}, more than answer_tokens reserves ({reserved}): set answer_tokens={longest}")
    result: AnswerResult | None = None
    for event in workbench.ask(assembly, model, choice, temperature=temperature, max_tokens=longest):
        if isinstance(event, Piece):
            show(event.text, end="")
        elif isinstance(event, AnswerResult):
            result = event
    assert result is not None, "asking always ends with a result"
    if result.text:
        show("" if result.called else result.text)
    _show_sources(result, assembly.citations)
    for line in (result.note, result.caution, sent_line(result.sent) if result.sent else None):
        if line:
            say(line)
    workbench.zones.ratios.learn(result.model, result.sent)
    if args.keep:
        from ctxasm.app.reviews import keep_answer
        from ctxasm.review.runs import Parameters

        checked = workbench.check(assembly, result.text, cut=not result.complete)
        run = keep_answer(workbench, assembly, result, checked, Parameters(choice, temperature, longest), dataset, author=args.author)
        say(f"kept as run {run.run_id}")
    if result.error:
        raise ModelUnavailable(result.error, result.text)
    return 0


def _show_sources(result: AnswerResult, citations: Iterable[Citation]) -> None:
    """The cited entries in number order (of an answer without markers: all), then the numbers that no source has."""
    cited = {number for marker in result.markers for number in marker.known}
    if not result.marked and not is_refusal(result.text):
        citations = tuple(citations)
        cited = {citation.number for citation in citations}
    unknown = sorted({number for marker in result.markers for number in marker.unknown})
    if cited or unknown:
        show("")
    for citation in citations:
        if citation.number in cited:
            show(f"[{citation.number}] {citation.title or citation.document_id} ({citation.ref})")
            show(f"    {' '.join(citation.snippet.split())}")
    for number in unknown:
        show(f"[{number}] unknown: the context has no source of this number")


ASK = Command(
    "answer a query from its context, and list the sources that the answer cites",
    """`ctxasm ask`: an answer from the assembled context, streamed, with its markers resolved below it.

Below a spoken answer stand all blocks of its context, unless it declines to answer.
""",
    add_ask,
    run_ask,
)
