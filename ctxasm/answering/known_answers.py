"""Answers that are known already, under all that decides them: what was sent (with it data, query and settings), the model, how it
samples, and the version. Whoever asks, on a page or over all questions, looks here first or leaves its answer here.

What is kept is the answer, never a key.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from ctxasm.answering.prompts import PromptChoice, build_messages
from ctxasm.model.kept import key_of
from ctxasm.model.messages import AnswerModel, Message
from ctxasm.model.ports import Shelf
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.store.records import decoding


class KnownAnswer(NamedTuple):
    """An answer as it was given; `complete` is False where the model ended it early, `called` where nothing was sent."""

    answer: str
    complete: bool
    called: bool


class LastAsked(NamedTuple):
    """How a question was asked last: under which settings, as an address says them, with which prompt, of which models.

    `answers` are the keys of their answers, and `context` is a digest of the context that they were given.
    """

    settings: dict[str, str]
    choice: PromptChoice
    temperature: float
    max_tokens: int
    models: list[tuple[str, bool]]
    answers: list[str]
    context: str


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """Those of a version of ctxasm on this shelf; without one nothing is known, and nothing kept."""

    shelf: Shelf | None
    version: str

    @property
    def name(self) -> str:
        """What the shelf is called."""
        return f"answers {self.version}"

    def find(self, key: str) -> KnownAnswer | None:
        """The answer under a key."""
        kept = self.shelf.read_kept(self.name, [key]) if self.shelf is not None else {}
        with decoding("a kept answer"):
            return KnownAnswer(**json.loads(kept[key])) if key in kept else None

    def keep(self, key: str, known: KnownAnswer) -> None:
        """Keep it in place of an earlier one. Raises StoreUnavailable."""
        if self.shelf is not None:
            self.shelf.keep(self.name, {key: json.dumps(known._asdict())})

    def last_asked(self, dataset: str, query: Query) -> LastAsked | None:
        """How this question of this dataset was asked last."""
        shelf, key = f"asked {self.version}", key_of(dataset, query.query_id, query.query)
        kept = self.shelf.read_kept(shelf, [key]) if self.shelf is not None else {}
        with decoding("how a question was asked last"):
            if key not in kept:
                return None
            found = json.loads(kept[key])
            models = [(name, is_language_model) for name, is_language_model in found["models"]]
            return LastAsked(**{**found, "choice": PromptChoice(**found["choice"]), "models": models})

    def keep_last_asked(self, dataset: str, query: Query, last: LastAsked) -> None:
        """Keep it in place of an earlier one. Raises StoreUnavailable."""
        if self.shelf is not None:
            self.shelf.keep(
                f"asked {self.version}",
                {key_of(dataset, query.query_id, query.query): json.dumps({**last._asdict(), "choice": asdict(last.choice)})},
            )


def messages_to_send(assembly: Assembly, choice: PromptChoice) -> tuple[Message, ...]:
    """What asking sends; nothing of an empty context."""
    return tuple(build_messages(assembly, choice)) if assembly.citations and assembly.text else ()


def answer_key(model: AnswerModel, messages: Sequence[Message], assembly: Assembly, temperature: float, max_tokens: int) -> str:
    """The key of what this model, at its `address` where it has one, answers to these messages."""
    # The key-free model reads the context itself, so the context is named beside the messages that hold it.
    said = json.dumps([list(map(tuple, messages)), assembly.query.query, assembly.text, temperature, max_tokens])
    # A name says the host alone. What another address of that host answers, typed by whoever is here, is not what this one answers.
    return key_of(model.name, getattr(model, "address", ""), said)
