"""Asking a model about an assembled context: pieces as they come, markers as they become certain, one result at the end.

An empty context never reaches a model. A failure keeps what had arrived.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxasm.citations.markers import MarkerEvent, MarkerParser, ResolvedMarker, resolve
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.language import Language, language_of
from ctxasm.model.messages import AnswerModel, Cancel, Message
from ctxasm.model.ports import Clock
from ctxasm.model.results import Assembly
from ctxasm.prompts import build_messages

NOTHING_FOUND: dict[Language, str] = {"nl": "Geen relevante inhoud gevonden.", "en": "No relevant content found."}
_NOTES = {
    "length": "The answer reached the maximum answer length and stops there; raise it for the rest.",
    "content_filter": "The model's content filter ended the answer.",
    "cancelled": "Stopped on request.",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that arrived. `decided` characters of the answer so far may be shown with their markers."""

    text: str
    decided: int


@dataclass(frozen=True, slots=True)
class Marked:
    """Markers that became certain."""

    markers: tuple[ResolvedMarker, ...]


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """A whole answer. `complete` is False when it failed, was cut by a limit or was stopped: `note` or `error` says why.

    `listed` are entries of a source list in the answer, which cite no claim. `called` is False for an empty context.
    """

    text: str
    markers: tuple[ResolvedMarker, ...]
    complete: bool
    model: str
    is_language_model: bool
    elapsed_ms: float
    first_piece_ms: float | None
    note: str | None = None
    error: str | None = None
    listed: tuple[MarkerEvent, ...] = ()
    called: bool = True


AnswerEvent = Piece | Marked | AnswerResult


def ask(
    assembly: Assembly,
    model: AnswerModel,
    *,
    messages: Sequence[Message] | None = None,
    temperature: float = 0.0,
    max_tokens: int = 512,
    cancel: Cancel | None = None,
    clock: Clock = time.perf_counter,
) -> Iterator[AnswerEvent]:
    """Answer the query of `assembly`: any number of Piece and Marked, then exactly one AnswerResult. Never raises ModelUnavailable.

    `messages` default to `build_messages` in the language of the question.
    """
    start, language = clock(), language_of(assembly.query.query)
    if not assembly.citations or not assembly.text:
        spent = (clock() - start) * 1000
        yield AnswerResult(NOTHING_FOUND[language], (), True, model.name, model.is_language_model, spent, None, called=False)
        return
    parser, found = MarkerParser(), list[ResolvedMarker]()
    first_ms: float | None = None
    error: str | None = None
    sent = build_messages(assembly, language=language) if messages is None else tuple(messages)
    stream = model.stream(sent, assembly=assembly, temperature=temperature, max_tokens=max_tokens, cancel=cancel)
    try:
        for text in stream:
            first_ms = (clock() - start) * 1000 if first_ms is None else first_ms
            markers = resolve(parser.feed(text), assembly.citations)
            found += markers
            yield Piece(text, parser.decided)
            if markers:
                yield Marked(markers)
    except ModelUnavailable as failure:
        error = str(failure)
    finally:
        stream.close()
    if last := resolve(parser.finish(), assembly.citations):
        found += last
        yield Marked(last)
    reason = None if error else stream.finish_reason
    yield _result(model, parser, found, error, reason, (clock() - start) * 1000, first_ms)


def _result(
    model: AnswerModel,
    parser: MarkerParser,
    found: list[ResolvedMarker],
    error: str | None,
    reason: str | None,
    elapsed_ms: float,
    first_piece_ms: float | None,
) -> AnswerResult:
    note = _NOTES.get(reason or "")
    return AnswerResult(
        text=parser.text,
        markers=tuple(found),
        complete=error is None and note is None,
        model=model.name,
        is_language_model=model.is_language_model,
        elapsed_ms=elapsed_ms,
        first_piece_ms=first_piece_ms,
        note=note,
        error=error,
        listed=tuple(parser.listed),
    )


def answer(assembly: Assembly, model: AnswerModel, *, temperature: float = 0.0, max_tokens: int = 512) -> AnswerResult:
    """The whole answer at once. A failure is in its `error`."""
    *_, result = ask(assembly, model, temperature=temperature, max_tokens=max_tokens)
    assert isinstance(result, AnswerResult)
    return result
