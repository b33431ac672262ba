"""The same model and prompt asked over the same questions under two settings: what the answers are worth, and what they cost.

Every answer is kept as it comes, so that what was ended goes on, and nothing is paid for twice, nor what Ask was answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import Any, Literal, NamedTuple, Protocol

from ctxasm.answering.asking import ask
from ctxasm.answering.known_answers import KnownAnswer, KnownAnswers, answer_key, messages_to_send
from ctxasm.answering.prompts import GROUNDED, PromptChoice
from ctxasm.answering.sent_tokens import SentTokens
from ctxasm.citations.checking import check
from ctxasm.citations.figures import used_passages
from ctxasm.citations.report import CheckedAnswer, is_declined_answer
from ctxasm.model.errors import InvalidInput
from ctxasm.model.messages import AnswerModel, Message
from ctxasm.model.ports import Shelf, TokenCounter
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.support import Scorer
from ctxasm.tuning.statistics import PairedDifference, paired_difference

FigureName = Literal["support", "citation", "passages", "declined", "sent", "written", "cost"]
FIGURES: Mapping[FigureName, str] = {
    "support": "statements that some source of the context carries",
    "citation": "statements that the sources they cite carry",
    "passages": "expected passages that the answer stands on",
    "declined": "answers that say that the sources do not hold it",
    "sent": "tokens sent",
    "written": "tokens written",
    "cost": "cost",
}
"""What is compared: shares, but for tokens and cost."""
WITHOUT: Mapping[str, str] = {
    "support": "an answer that was cut, declines, or states nothing",
    "citation": "an answer that cites nothing, was cut, or declines",
    "passages": "no evidence is labelled",
}
"""Why a question has no such figure under one of the two; it has the others."""
SHARES: tuple[FigureName, ...] = ("support", "citation", "passages", "declined")


class How(NamedTuple):
    """How everything is asked: by whom, in which words, sampled how."""

    model: AnswerModel
    choice: PromptChoice = GROUNDED
    temperature: float = 0.0
    max_tokens: int = 512


class Prices(NamedTuple):
    """What a million tokens cost, sent and written, in any currency."""

    sent: float = 0.0
    written: float = 0.0

    def of(self, sent: int, written: int) -> float:
        """What so many tokens cost."""
        return (sent * self.sent + written * self.written) / 1e6


FREE = Prices()
GIVEN_UP_AFTER = 3
"""Questions that fail before any is answered, after which no more are asked: the model is not there."""


class AnswerTools(Protocol):
    """What asking needs from outside."""

    def assemble(self, query: Query, settings: AssemblySettings, choice: PromptChoice) -> Assembly:
        """The context of a query that will be asked so. Raises InvalidInput."""
        ...

    def counter(self, encoding: str) -> TokenCounter:
        """The counter of an encoding."""
        ...

    def learn(self, model: str, sent: SentTokens | None) -> None:
        """Take over how the server of a model counts. Raises StoreUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class OneAnswer:
    """An answer, checked against its own context. `sent` and `written` are tokens; `called` is False where nothing was sent."""

    answer: str
    checked: CheckedAnswer
    used: int
    expected: int
    sent: int
    written: int
    called: bool
    complete: bool

    @property
    def declined(self) -> bool:
        """Whether it says that the sources do not hold it."""
        return not self.called or is_declined_answer(self.checked)

    def figure(self, name: FigureName, prices: Prices) -> float | None:
        """One of `FIGURES`; None where there is nothing that it is a share of."""
        match name:
            case "support":
                return self.checked.figures.coverage
            case "citation":
                return self.checked.figures.recall if self.checked.marked else None
            case "passages":
                return self.used / self.expected if self.expected else None
            case "declined":
                return float(self.declined)
            case "sent":
                return float(self.sent)
            case "written":
                return float(self.written)
            case "cost":
                return prices.of(self.sent, self.written)


class AnswerPair(NamedTuple):
    """The answers to one question."""

    query_id: str
    a: OneAnswer
    b: OneAnswer


class FigureDelta(NamedTuple):
    """One figure under both, its means over the questions that have it under both; `result` is B minus A. `without`: how many answered
    questions lack it, for the reason that `WITHOUT` names."""

    name: FigureName
    a: float
    b: float
    result: PairedDifference
    without: int

    def missing(self) -> str:
        """`13 without it: answers without a citation`; empty where no question lacks it."""
        return f"{self.without} without it: {WITHOUT[self.name]}" if self.without else ""


class AnswerEstimate(NamedTuple):
    """What is left to ask: of so many `answers` some are `known` already, the others take so many calls (`asked`), with so many tokens to
    send and at most so many to be written; `cost` at most. (Equal contexts take one call, empty ones and failures none.)
    """

    answers: int
    known: int
    asked: int
    sent: int
    written: int
    cost: float


@dataclass(frozen=True)
class AnswerComparison:
    """B against A over the questions that were answered under both. `failures`: why others were not."""

    a: AssemblySettings
    b: AssemblySettings
    model: str
    prices: Prices
    pairs: tuple[AnswerPair, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    reused: int = 0
    cancelled: bool = False

    @cached_property
    def figures(self) -> tuple[FigureDelta, ...]:
        """All that there is to compare: a figure that no question has under both is left out, and the cost where nothing costs."""
        names = [name for name in FIGURES if name != "cost" or any(self.prices)]
        return tuple(delta for name in names if (delta := self._delta(name)) is not None)

    def _delta(self, name: FigureName) -> FigureDelta | None:
        both = [(each.a.figure(name, self.prices), each.b.figure(name, self.prices)) for each in self.pairs]
        found = [(one, other) for one, other in both if one is not None and other is not None]
        if not found:
            return None
        differences, n = [other - one for one, other in found], len(found)
        span = 1.0 if name in SHARES else max(map(abs, differences)) or 1.0
        a, b = sum(one for one, _ in found) / n, sum(other for _, other in found) / n
        return FigureDelta(name, a, b, paired_difference(differences, span), len(both) - n)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "model": self.model,
            "a": self.a.changed(),
            "b": self.b.changed(),
            "figures": {
                each.name: {
                    "what": FIGURES[each.name],
                    "n": each.result.n,
                    "without": each.missing(),
                    "a": round(each.a, 6),
                    "b": round(each.b, 6),
                    **{name: value for name, value in each.result.figures().items() if name != "level"},
                }
                for each in self.figures
            },
            "prices": self.prices._asdict(),
            "reused": self.reused,
            "cancelled": self.cancelled,
            "failures": dict(self.failures),
            "questions": [{"query_id": each.query_id, "a": _answer_dict(each.a), "b": _answer_dict(each.b)} for each in self.pairs],
        }


def _answer_dict(one: OneAnswer) -> dict[str, Any]:
    figures = {"used": one.used, "expected": one.expected, "sent": one.sent, "written": one.written, "declined": one.declined}
    return {**figures, "check": {name: value for name, value in one.checked.to_dict().items() if name != "elapsed_ms"}}


class _Prepared(NamedTuple):
    """What would be sent, and the key that its answer is kept under; `messages` is empty where the context is."""

    assembly: Assembly
    messages: tuple[Message, ...]
    key: str
    sent: int


@dataclass(frozen=True)
class AnswerDesk:
    """Asks the questions of `queries` one way, and keeps the answers."""

    tools: AnswerTools
    queries: Sequence[Query]
    how: How
    scorer: Scorer
    version: str
    keep: Shelf | None = None

    @property
    def known(self) -> KnownAnswers:
        """Where answers are looked for and kept."""
        return KnownAnswers(self.keep, self.version)

    def estimate(
        self, a: AssemblySettings, b: AssemblySettings, prices: Prices = FREE, report: Report = silent, cancelled: Cancelled = never
    ) -> AnswerEstimate:
        """What `compare` would ask. Asks nothing: contexts are assembled, and what is kept is looked up. Costs only what a model asks."""
        answers, known, began = 0, 0, monotonic()
        asked: dict[str, int] = {}
        for at, query in enumerate(self.queries):
            if cancelled():
                break
            for settings in (a, b):
                answers += 1
                try:
                    prepared = self._prepared(query, settings)
                except InvalidInput:
                    continue  # `compare` says why
                if self.known.find(prepared.key) is not None:
                    known += 1
                elif prepared.messages:
                    asked[prepared.key] = prepared.sent
            report(Progress(at + 1, len(self.queries), "reading contexts", monotonic() - began))
        sent, written = sum(asked.values()), len(asked) * self.how.max_tokens
        return AnswerEstimate(answers, known, len(asked), sent, written, prices.of(sent, written))

    def compare(
        self, a: AssemblySettings, b: AssemblySettings, prices: Prices = FREE, report: Report = silent, cancelled: Cancelled = never
    ) -> AnswerComparison:
        """Ask what is not kept. A question that fails under one of them is among `failures`, and is asked again the next time; where the
        first ones fail, the others are not asked.

        Raises InvalidInput for a prompt of another channel than the settings'; ModelUnavailable where the scorer's model fails.
        """
        pairs: list[AnswerPair] = []
        failures: dict[str, str] = {}
        reused, began = 0, monotonic()
        for at, query in enumerate(self.queries):
            if cancelled() or (len(failures) >= GIVEN_UP_AFTER and not pairs):
                break
            found: list[OneAnswer] = []
            for settings in (a, b):
                try:
                    one, was_kept = self._answer(query, settings, cancelled)
                except (InvalidInput, _Failed) as error:
                    failures[query.query_id] = str(error)
                    break
                found.append(one)
                reused += was_kept
            if len(found) == 2:
                pairs.append(AnswerPair(query.query_id, *found))
            report(Progress(at + 1, len(self.queries), f"asking {self.how.model.name}", monotonic() - began))
        ended = cancelled()
        if ended:
            failures = {name: why for name, why in failures.items() if why != STOPPED}
        return AnswerComparison(a, b, self.how.model.name, prices, tuple(pairs), failures, reused, ended)

    def kept_pair(self, query: Query, a: AssemblySettings, b: AssemblySettings) -> AnswerPair | None:
        """The answers to one question where both are kept; asks nothing."""
        found = []
        for settings in (a, b):
            prepared = self._prepared(query, settings)
            known = self.known.find(prepared.key)
            if known is None:
                return None
            found.append(self._read(prepared, known))
        return AnswerPair(query.query_id, *found)

    def _prepared(self, query: Query, settings: AssemblySettings) -> _Prepared:
        how = self.how
        assembly = self.tools.assemble(query, settings, how.choice)
        messages = messages_to_send(assembly, how.choice)
        sent = sum(self.tools.counter(settings.encoding).count(message.content) for message in messages)
        return _Prepared(assembly, messages, answer_key(how.model, messages, assembly, how.temperature, how.max_tokens), sent)

    def _answer(self, query: Query, settings: AssemblySettings, cancelled: Cancelled) -> tuple[OneAnswer, bool]:
        """An answer, and whether it was kept."""
        prepared, how = self._prepared(query, settings), self.how
        known = self.known.find(prepared.key)
        if known is not None:
            return self._read(prepared, known), True
        stream = ask(
            prepared.assembly,
            how.model,
            how.choice,
            messages=prepared.messages,
            temperature=how.temperature,
            max_tokens=how.max_tokens,
            cancel=cancelled,
        )
        result = stream.result()
        self.tools.learn(result.model, result.sent)
        if cancelled():
            raise _Failed(STOPPED)
        if result.error is not None:
            raise _Failed(result.error)
        given = KnownAnswer(result.text, result.complete, result.called)
        self.known.keep(prepared.key, given)
        return self._read(prepared, given), False

    def _read(self, prepared: _Prepared, given: KnownAnswer) -> OneAnswer:
        assembly, answer = prepared.assembly, given.answer
        checked = check(assembly, answer, self.scorer, cut=not given.complete)
        used, expected = used_passages(assembly, checked)
        written = self.tools.counter(assembly.settings.encoding).count(answer) if given.called else 0
        sent = prepared.sent if given.called else 0
        return OneAnswer(answer, checked, used, expected, sent, written, given.called, given.complete)


STOPPED = "stopped on request"


class _Failed(Exception):
    """A question that was not answered, and why."""
