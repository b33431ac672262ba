"""`ctxasm demo`: what settings are worth, counted now on the English sample: the preset `recommended` beside the five stages.

It needs no key, no network and no database, and leaves no file. Settings of the environment are not read:
the figures are the same everywhere.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.app.commands.common import as_json, show
from ctxasm.app.workbench import ENCODING, Workbench
from ctxasm.config import read_config
from ctxasm.model.amounts import counted
from ctxasm.model.presets import RECOMMENDED, preset

if TYPE_CHECKING:
    from ctxasm.tuning.compare import Comparison

SUMMARY = "count on the sample what the preset recommended gains over the five stages; needs no database"
LIMIT, LISTED = 2_000, 3
"""Tokens of a context, and how many of the questions that are gained are listed."""
FIVE_STAGES = "five_stage"
_AT = f"max_tokens={LIMIT}"
NEXT: Mapping[str, str] = {
    "to ship it": f"ctxasm settings --preset {RECOMMENDED} --set {_AT} --format toml",
    "to count again": f"ctxasm load --sample && ctxasm compare --a {FIVE_STAGES} --a {_AT} --b {RECOMMENDED} --b {_AT}",
    "to look": "ctxasm serve",
}
"""What one may do now, and the command."""


class LostFact(NamedTuple):
    """A piece of evidence that the five stages lost: its document, its text, and where it was lost, in words."""

    document_id: str
    text: str
    lost: str


class GainedQuestion(NamedTuple):
    """A question whose evidence only `recommended` holds whole, with what the five stages lost of it."""

    query_id: str
    question: str
    facts: tuple[LostFact, ...]


def add_arguments(parser: ArgumentParser) -> None:
    """--format."""
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: Namespace) -> int:
    """Load the sample into memory, compare, and print."""
    from ctxasm.app.tuned import compared
    from ctxasm.store.database import MemoryStore
    from ctxasm.text.tokens import open_counter

    workbench = Workbench(read_config({}), MemoryStore(open_counter(ENCODING)))
    workbench.load_sample()
    a, b = (preset(name).replace(max_tokens=LIMIT) for name in (FIVE_STAGES, RECOMMENDED))
    found = compared(workbench, a, b, keep=False)
    gained = [_gained(workbench, found, query_id) for query_id in found.better[:LISTED]]
    if args.format == "json":
        questions = [each._asdict() | {"facts": [fact._asdict() for fact in each.facts]} for each in gained]
        print(as_json({"comparison": found.to_dict(), "gained": questions, "next": dict(NEXT)}))
    else:
        show(text_of(found, gained))
    return 0


def _gained(workbench: Workbench, found: Comparison, query_id: str) -> GainedQuestion:
    from ctxasm.tuning.evidence import evidence_text

    query = workbench.query(None, query_id)
    lost = [state for state in workbench.evidence(workbench.assemble(query, found.a)) if state.stage is not None]
    facts = [LostFact(e.document_id, evidence_text(e, workbench.document_chunks(e.document_id)), e.where_lost()) for e in lost]
    return GainedQuestion(query_id, query.query, tuple(facts))


def text_of(found: Comparison, gained: Sequence[GainedQuestion]) -> str:
    """The two counts, their difference, the questions that are gained, and what one may do now."""
    rows = (("five stages", found.whole_a, found.tokens_a), (RECOMMENDED, found.whole_b, found.tokens_b))
    losses = f"{len(found.worse)} ({', '.join(found.worse)})" if found.worse else "none"
    lines = [
        f"The sample's {found.labelled} labelled questions, at most {LIMIT:,} tokens each; whole: all its evidence is in the context.",
        "",
        *(f"{name:<15} {whole} of {found.labelled} whole, {tokens:,.0f} tokens a question" for name, whole, tokens in rows),
        f"{'difference':<15} {found.result.sentence()}",
        "",
        f"{RECOMMENDED} gains {counted(len(found.better), 'question')} and loses {losses}.",
        f"The first {len(gained)} that it gains, and where the five stages lost each missing fact:",
    ]
    lines += [line for each in gained for line in _lines(each)]
    return "\n".join([*lines, "", *(f"{what:<15} {command}" for what, command in NEXT.items())])


def _lines(each: GainedQuestion) -> list[str]:
    from ctxasm.citations.report import clipped

    facts = [f"    lost {fact.lost}: “{clipped(fact.text)}” ({fact.document_id})" for fact in each.facts]
    return [f"  {each.question} ({each.query_id})", *facts]
