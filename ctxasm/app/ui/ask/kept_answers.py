"""The answers that a session keeps: one set for each thing that was asked, so that coming back to it costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxasm.app.ui.ask.prompt import asked_how
from ctxasm.app.ui.ask.stream import stopped
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Asked, Asking, Attempt, KeptAnswer, KeptAnswers
from ctxasm.app.ui.frame.state import of_query
from ctxasm.app.ui.frame.title import show_problem
from ctxasm.app.ui.inspect.change import changed_settings
from ctxasm.citations.used_passages import used_passages
from ctxasm.model.errors import StoreUnavailable
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.setting_labels import label_of
from ctxasm.model.settings import spec_of

if TYPE_CHECKING:
    from ctxasm.model.messages import AnswerModel

MOST_ASKED = 20
"""Things asked whose answers are kept, those asked last; each holds on to its context."""
MOST_ATTEMPTS = 5
"""Answers to the same thing to flip between."""
MOST_CHANGES = 2
"""Changes since an answer that are named; the others are counted."""


def answers_to(asked: Asked) -> KeptAnswers | None:
    """What answers this; else the last answer to the same question of the same dataset, asked otherwise."""
    alike = [kept for kept in session.answers if _question(kept.asked) == _question(asked)]
    return next((kept for kept in alike if kept.asked == asked), alike[-1] if alike else None)


def _question(asked: Asked) -> tuple[str, str]:
    return asked.data[0], asked.query.query_id


def keep(asked: Asked, assembly: Assembly, attempts: tuple[Attempt, ...]) -> KeptAnswers:
    """Keep these answers in place of earlier ones to the same."""
    kept = KeptAnswers(asked, assembly, attempts[-MOST_ATTEMPTS:])
    session.answers = (*(other for other in session.answers if other.asked != asked), kept)[-MOST_ASKED:]
    return kept


def settle_in_place(kept: KeptAnswers, settle: Callable[[Attempt, Assembly], Attempt]) -> KeptAnswers:
    """Keep the newest answer as `settle` leaves it; earlier ones keep the check they had, and say whose it is."""
    *earlier, newest = kept.attempts
    settled = kept._replace(attempts=(*earlier, settle(newest, kept.assembly)))
    session.answers = tuple(settled if other is kept else other for other in session.answers)
    return settled


def relabelled(kept: KeptAnswers, query: Query) -> KeptAnswers:
    """The answers as the labels of the question are now: which expected passages they use is told anew."""
    assembly = of_query(kept.assembly, query)
    if assembly is kept.assembly:
        return kept
    attempts = tuple(tuple(_judged(told, assembly) for told in attempt) for attempt in kept.attempts)
    now = kept._replace(assembly=assembly, attempts=attempts)
    session.answers = tuple(now if other is kept else other for other in session.answers)
    return now


def _judged(told: KeptAnswer, assembly: Assembly) -> KeptAnswer:
    check = told.check
    return told if check is None else replace(told, check=replace(check, passages=used_passages(assembly, check)))


def leave_known(assembly: Assembly, models: Sequence[AnswerModel], asking: Asking, attempt: Attempt) -> None:
    """Keep what the models answered where Compare looks before it asks: the same to the same is not asked again."""
    from ctxasm import __version__
    from ctxasm.answering.known_answers import KnownAnswer, KnownAnswers, answer_key, messages_to_send

    known, messages = KnownAnswers(server.workbench().store, __version__), messages_to_send(assembly, asking.choice)
    try:
        for model, told in zip(models, attempt, strict=True):
            server.workbench().zones.ratios.learn(told.model, told.sent)
            if told.error is None:
                key = answer_key(model, messages, assembly, asking.temperature, asking.max_tokens)
                known.keep(key, KnownAnswer(told.text, told.complete, told.called))
        ratio = server.workbench().zones.ratio(assembly.settings)
        session.token_ratio = ratio.upper if ratio is not None else None
    except StoreUnavailable as error:
        show_problem(f"Compare will ask this again: {error}")


def stop_all() -> None:
    """Leave every answer that is coming in as far as it is (a callback)."""
    session.answers = tuple(kept._replace(attempts=tuple(stopped(attempt) for attempt in kept.attempts)) for kept in session.answers)


def changes(before: Asked, now: Asked) -> str:
    """What is not as it was when this was answered: `max tokens 8,000, now 4,000`. Empty where all is the same."""
    found = ["other data, now loaded again"] if before.data != now.data else []
    found += [
        f"{label_of(spec_of(change.name)).lower()} {', now '.join(change.words)}"
        for change in changed_settings(before.settings, now.settings)
    ]
    found += ["other hits or earlier turns"] if before.query != now.query else []
    if before.models != now.models:
        found.append(f"{' and '.join(before.models)}, now {' and '.join(now.models)}")
    if before.asking != now.asking:
        same = asked_how(before.asking) == asked_how(now.asking)
        found.append("another prompt" if same else f"the prompt {asked_how(before.asking)}, now {asked_how(now.asking)}")
    if not found and before.window != now.window:
        found.append("another model window, margin or summary of earlier turns")
    rest = len(found) - MOST_CHANGES
    return "; ".join(found[:MOST_CHANGES]) + (f"; {rest} more changed" if rest > 0 else "")
