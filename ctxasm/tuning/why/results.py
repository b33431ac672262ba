"""What came of asking why: the two sides, the facts, and where each of them went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.model.recorded import Recorded
from ctxasm.model.results import Assembly, Key

FactKind = Literal["said", "expected", "reference", "claim"]
"""What the fact is: what somebody says that the answer should have said; a passage that the labels of the question expect; a
statement of its reference answer; a claim of the answer that what was sent does not carry, or that does not cite it."""
Outcome = Literal["never_retrieved", "not_sent", "dropped", "contradicted", "wrong_number", "not_cited", "cited"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""Where a fact can have gone, in the order in which a reader should look. `not_sent`: retrieved, but not (all) in the prompt that was
sent; `dropped`: the same under B, where no prompt is recorded."""
Held = Literal["all", "part", "none", "unknown"]


class Side(NamedTuple):
    """What one side holds of a fact: `number` is its citation. `stage` and `reason` say where B lost it, `missing_tokens` how much more
    limit would have kept it; they are None for A, of which no trace of the assembly is recorded."""

    held: Held
    number: int | None = None
    stage: str | None = None
    reason: str | None = None
    missing_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Traced:
    """One fact, and where it went, also in a `sentence`.

    `holder` is the chunk that holds it, None where none was found; `rank` that of the hit, None where no hit holds it. Then `nearest` is
    the rank of the hit that holds a part, `lacks` what it does not have, and `otherwise` what it says instead. `cited` are the numbers
    that the answer cites for the fact, `said` whether it says it at all; `against` the words of the answer and those of the source that
    do not agree.
    """

    text: str
    kind: FactKind
    outcome: Outcome
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
    facts: tuple[Traced, ...]
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
