"""The result of asking why: the two sides, the facts, and in a sentence where each of them went.

Sentences hold text from outside: escape them, or set them as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from ctxasm.citations.report import CheckedAnswer, brackets, clipped, is_declined_answer
from ctxasm.model.amounts import agreeing
from ctxasm.model.events import REASONS, stage_name
from ctxasm.model.records import Recorded
from ctxasm.model.results import Assembly, Key

FactKind = Literal["said", "expected", "reference", "claim"]
"""What the fact is: what somebody says that the answer should have said; a passage that the labels of the question expect; a
statement of its reference answer; a claim of the answer that what was sent does not carry, or that does not cite it."""
FactOutcome = Literal["never_retrieved", "not_sent", "dropped", "contradicted", "wrong_number", "not_cited", "cited"]
OUTCOMES: tuple[FactOutcome, ...] = get_args(FactOutcome)
"""Where a fact can have gone, in the order in which a reader should look. `not_sent`: retrieved, but not (all) in the prompt that was
sent; `dropped`: the same under B, where no prompt is recorded."""
Share = Literal["all", "part", "none", "unknown"]


class Side(NamedTuple):
    """What one side holds of a fact: `number` is its citation. `stage` and `reason` say where B lost it, `missing_tokens` how much more
    limit would have kept it; they are None for A, of which no trace of the assembly is recorded."""

    held: Share
    number: int | None = None
    stage: str | None = None
    reason: str | None = None
    missing_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TracedFact:
    """One fact, and where it went, also in a `sentence`.

    `holder` is the chunk that holds it, None where none was found; `rank` that of the hit, None where no hit holds it. Then `nearest` is
    the rank of the hit that holds a part, `lacks` what it does not have, and `otherwise` what it says instead. `cited` are the numbers
    that the answer cites for the fact, `said` whether it says it at all; `against` the words of the answer and those of the source that
    do not agree.
    """

    text: str
    kind: FactKind
    outcome: FactOutcome
    a: Side
    b: Side
    holder: Key | None = None
    rank: int | None = None
    said: bool = False
    cited: tuple[int, ...] = ()
    against: tuple[str, str] | None = None
    nearest: int | None = None
    lacks: tuple[str, ...] = ()
    otherwise: str | None = None
    sentence: str = ""


class Passage(NamedTuple):
    """A hit in the prompt that was sent: its number there, as much of its text as stands in it, and the share of its characters."""

    document_id: str
    chunk_index: int
    number: int
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Why:
    """A is what production sent (`recorded`, `sent`: the hits in it, in its order), B the `assembly` of the same hits.

    `checked` is the answer held against A; against all hits in their order where no prompt is recorded (`is_recorded` False).
    `facts` are those that were looked for, the worst first; `sentence` says where the worst of them went.
    """

    recorded: Recorded
    is_recorded: bool
    sent: tuple[Passage, ...]
    assembly: Assembly
    checked: CheckedAnswer
    facts: tuple[TracedFact, ...]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; offsets and texts of the answer are those of the JSON of `check`."""
        query = self.assembly.query
        return {
            "query_id": query.query_id,
            "question": query.query,
            "sentence": self.sentence,
            "facts": [
                {
                    "text": fact.text,
                    "kind": fact.kind,
                    "outcome": fact.outcome,
                    "sentence": fact.sentence,
                    "a": fact.a._asdict(),
                    "b": fact.b._asdict(),
                    "holder": None if fact.holder is None else {"document_id": fact.holder[0], "chunk_index": fact.holder[1]},
                    "rank": fact.rank,
                    "said": fact.said,
                    "cited": list(fact.cited),
                    "nearest": fact.nearest,
                    "lacks": list(fact.lacks),
                    "otherwise": fact.otherwise,
                    "against": None if fact.against is None else {"answer": fact.against[0], "source": fact.against[1]},
                }
                for fact in self.facts
            ],
            "a": {
                "recorded": self.is_recorded,
                "model": self.recorded.model,
                "trace_id": self.recorded.trace_id,
                "span_id": self.recorded.span_id,
                "prompt": [{"role": turn.role, "content": turn.content} for turn in self.recorded.prompt],
                "passages": [passage._asdict() for passage in self.sent],
            },
            "b": {
                "settings": self.assembly.settings.changed(),
                "text": self.assembly.text,
                "token_count": self.assembly.token_count,
                "max_tokens": self.assembly.limit,
            },
            "answer": self.checked.answer,
            "summary": self.checked.to_dict()["summary"],
        }


SHOWN_FACT, SHOWN_WORDS = 110, 60
KINDS: dict[FactKind, str] = {
    "said": "what it should have said",
    "expected": "the expected passage",
    "reference": "the reference answer",
    "claim": "its own claim",
}


def why_sentence(facts: Sequence[TracedFact], checked: CheckedAnswer) -> str:
    """The sentence of the worst fact, and how many others there are."""
    if not facts:
        if is_declined_answer(checked):
            return "The answer declines, and nothing says what it should have said: say it as the fact."
        if not checked.claims:
            return "The answer says nothing that could be checked: say what it should have said as the fact."
        return "Every claim of the answer is carried by what was sent, and cited: if it is wrong, say what it should have said as the fact."
    worst, *others = facts
    rest = [fact for fact in others if fact.outcome != "cited"]
    more = f" {len(rest)} more {agreeing(len(rest), 'is not as it', 'are not as they')} should be." if rest else ""
    return f"{worst.sentence}{more}"


def fact_sentence(fact: TracedFact, is_recorded: bool) -> str:
    """Such as `Retrieved at rank 3, but not in the prompt that was sent: “…”; B sends it in [1].`"""
    quoted = f"“{clipped(fact.text, SHOWN_FACT)}”"
    return f"{_where(fact, is_recorded)}: {quoted}; {_under_b(fact)}."


def _where(fact: TracedFact, is_recorded: bool) -> str:
    a, rank = fact.a, f"Retrieved at rank {fact.rank}"
    where = (f"Sent in [{a.number}]" if is_recorded else f"In hit {a.number}") if a.number is not None else "Sent"
    match fact.outcome:
        case "never_retrieved":
            stands = f", though it stands in {fact.holder[0]} #{fact.holder[1]}" if fact.holder is not None else ""
            says = ", and no source carries what the answer says" if fact.kind == "claim" and not stands else ""
            return f"Never retrieved{stands or _nearest(fact)}{says}"
        case "not_sent":
            return f"{rank if fact.rank else 'Retrieved'}, but {'only in part' if a.held == 'part' else 'not'} in the prompt that was sent"
        case "dropped":
            return f"{rank if fact.rank else 'Retrieved'}, but {_where_lost(fact.b)}"
        case "contradicted":
            words = [f"“{clipped(text, SHOWN_WORDS)}”" for text in fact.against or ()]
            other = f" ({words[0]} there, {words[1]} in the source)" if len(words) == 2 else ""
            return f"{where}, but contradicted by the answer{other}"
        case "wrong_number":
            return f"{where}, but cited by the wrong number{f', {brackets(fact.cited)}' if fact.cited else ''}"
        case "not_cited":
            return f"{where}, but not cited{'' if fact.said else ': the answer does not say it'}"
        case "cited":
            return f"{where}, and said{' with its number' if fact.cited else ''}"


def _nearest(fact: TracedFact) -> str:
    if fact.nearest is None:
        return ""
    if fact.otherwise is not None:
        return f" (the hit at rank {fact.nearest} says otherwise: “{clipped(fact.otherwise, SHOWN_WORDS)}”)"
    lacks = ", ".join(f"“{clipped(word, 40)}”" for word in fact.lacks[:4])
    return f" (nearest: the hit at rank {fact.nearest}{f', which lacks {lacks}' if lacks else ''})"


def _where_lost(b: Side) -> str:
    if b.stage is None:
        return "not in the context"
    missing = f" (needs {b.missing_tokens:,} more tokens)" if b.missing_tokens else ""
    reason = f" for this: {REASONS.get(b.reason, b.reason)}{missing}" if b.reason else ""
    return f"{'cut' if b.held == 'part' else 'dropped'} at {stage_name(b.stage)}{reason}"


def _under_b(fact: TracedFact) -> str:
    b = fact.b
    if b.held == "all" and fact.outcome == "never_retrieved":
        return f"B brings it by the neighbours of hits{f', in [{b.number}]' if b.number is not None else ''}"
    if b.held == "all":
        return f"B sends it{f' in [{b.number}]' if b.number is not None else ''}"
    if fact.outcome == "dropped":
        return "no prompt is recorded, so this is said of B"
    if b.held == "unknown":
        return "whether B sends it is not known, for no hit is that source"
    if b.held == "none" and b.stage is None:
        return "B does not reach it either" if fact.outcome in ("never_retrieved", "not_sent") else "B does not hold it"
    return f"B: {_where_lost(b)}"
