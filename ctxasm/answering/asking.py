"""Asking a model about an assembled context: pieces as they come, markers as they become certain, one result at the end.

An empty context never reaches a model. A failure keeps what had arrived. An answer that is asked for no markers (channel
voice, or a format whose blocks show no number) is not parsed: whatever it holds is text, and its sources are the blocks.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from ctxasm.answering.prompts import GROUNDED, PromptChoice, SettledChoice, build_messages
from ctxasm.answering.sent_tokens import LENGTH_REACHED, SentTokens, cut_note, length_note, sent_tokens, window_sizes_line
from ctxasm.citations.markers import MarkerEvent, MarkerParser, ResolvedMarker, resolve
from ctxasm.model.errors import InvalidInput, ModelUnavailable, WindowExceeded
from ctxasm.model.messages import AnswerModel, Cancel, Message, ModelReply, ReportsUsage, Usage
from ctxasm.model.ports import Clock
from ctxasm.model.results import Assembly
from ctxasm.model.settings import Channel
from ctxasm.text.formats import expects_markers
from ctxasm.text.language import NOTHING_FOUND, Language
from ctxasm.text.tokens import open_counter

__all__ = ["NOTHING_FOUND", "AnswerEvent", "AnswerResult", "AnswerStream", "Marked", "Piece", "answer", "ask"]

_NOTES = {
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
    `marked` is False where no markers were asked for (a spoken answer, a format without numbers): then there are neither
    markers nor listed entries, and every block is a source. `choice` and `language` are those of the prompt. `sent` is what a language
    model was sent, in tokens; `caution` says of a whole answer that its server seems not to have read all of that.
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
    channel: Channel = "text"
    marked: bool = True
    choice: PromptChoice = GROUNDED
    language: Language = "nl"
    sent: SentTokens | None = None
    caution: str | None = None


AnswerEvent = Piece | Marked | AnswerResult


class AnswerStream(Iterator[AnswerEvent]):
    """An answer as it comes: any number of Piece and Marked, then exactly one AnswerResult."""

    def __init__(self, events: Generator[AnswerEvent]) -> None:
        self._events = events
        self._last: AnswerEvent | None = None

    def __next__(self) -> AnswerEvent:
        self._last = next(self._events)
        return self._last

    def result(self) -> AnswerResult:
        """The whole answer: waits for what has not come yet."""
        for _ in self:
            pass
        if not isinstance(self._last, AnswerResult):
            raise InvalidInput("the answer was closed before its end: ask again")
        return self._last

    def close(self) -> None:
        """Ask for no more: the model's reply is let go of."""
        self._events.close()


def ask(
    assembly: Assembly,
    model: AnswerModel,
    choice: PromptChoice = GROUNDED,
    *,
    messages: Sequence[Message] | None = None,
    temperature: float = 0.0,
    max_tokens: int = 512,
    cancel: Cancel | None = None,
    clock: Clock = time.perf_counter,
) -> AnswerStream:
    """Answer the query of `assembly`, once the stream is read. Its result keeps a failure: reading never raises ModelUnavailable.

    `messages` default to those that `build_messages` makes of `choice`; where they are given, `choice` says how they were
    made. Reading raises InvalidInput for a choice of another channel than the assembly's.
    """
    return AnswerStream(_events(assembly, model, choice, messages, temperature, max_tokens, cancel, clock))


def _events(
    assembly: Assembly,
    model: AnswerModel,
    choice: PromptChoice,
    messages: Sequence[Message] | None,
    temperature: float,
    max_tokens: int,
    cancel: Cancel | None,
    clock: Clock,
) -> Generator[AnswerEvent]:
    started, settled = clock(), choice.settled(assembly)
    reading = _Reading(assembly, settled, model)
    if not assembly.citations or not assembly.text:
        yield reading.uncalled((clock() - started) * 1000)
        return
    sent = build_messages(assembly, choice) if messages is None else tuple(messages)
    stream = model.stream(sent, assembly=assembly, temperature=temperature, max_tokens=max_tokens, cancel=cancel)
    beyond: WindowExceeded | None = None
    try:
        for text in stream:
            reading.first_piece_ms = (clock() - started) * 1000 if reading.first_piece_ms is None else reading.first_piece_ms
            markers = reading.feed(text)
            yield Piece(text, reading.decided)
            if markers:
                yield Marked(markers)
    except WindowExceeded as failure:
        beyond = failure
    except ModelUnavailable as failure:
        reading.error = str(failure)
    finally:
        stream.close()
    if last := reading.finish():
        yield Marked(last)
    elapsed_ms = (clock() - started) * 1000
    if model.is_language_model:
        counted = Usage(beyond.prompt, 0) if beyond is not None and beyond.prompt is not None else _usage(stream)
        reading.sent = sent_tokens(sent, open_counter(assembly.encoding))._replace(server=counted)
        if beyond is not None:
            window = assembly.zones.window if assembly.zones is not None else None
            reading.error = f"{beyond} ({window_sizes_line(reading.sent, max_tokens, window)})"
    yield reading.result(stream.finish_reason, elapsed_ms, max_tokens)


def _usage(stream: ModelReply) -> Usage | None:
    return stream.usage if isinstance(stream, ReportsUsage) else None


class _Reading:
    """An answer as it is read: through the marker parser, or as plain text where no markers are expected."""

    def __init__(self, assembly: Assembly, settled: SettledChoice, model: AnswerModel) -> None:
        self._citations, self._settled, self._model = assembly.citations, settled, model
        self._parser = MarkerParser(reading="strict") if expects_markers(assembly.settings) else None
        self._plain, self._found = list[str](), list[ResolvedMarker]()
        self.decided = 0
        self.first_piece_ms: float | None = None
        self.error: str | None = None
        self.sent: SentTokens | None = None

    def feed(self, text: str) -> tuple[ResolvedMarker, ...]:
        """The markers that became certain with this piece."""
        if self._parser is None:
            self._plain.append(text)
            self.decided += len(text)
            return ()
        found = self._keep(self._parser.feed(text))
        self.decided = self._parser.decided
        return found

    def finish(self) -> tuple[ResolvedMarker, ...]:
        """The markers in what was still undecided."""
        return () if self._parser is None else self._keep(self._parser.finish())

    def _keep(self, markers: tuple[MarkerEvent, ...]) -> tuple[ResolvedMarker, ...]:
        resolved = resolve(markers, self._citations)
        self._found += resolved
        return resolved

    def result(self, reason: str | None, elapsed_ms: float, max_tokens: int) -> AnswerResult:
        """The answer as it stands, with why it is not whole where it is not."""
        text = "".join(self._plain) if self._parser is None else self._parser.text
        note = None if self.error else _NOTES.get(reason or "")
        if reason == "length" and not self.error:
            note = LENGTH_REACHED if self.sent is None else length_note(self.sent, max_tokens, open_counter(self.sent.encoding).count(text))
        return self._made(text, elapsed_ms, note)

    def uncalled(self, elapsed_ms: float) -> AnswerResult:
        """The answer to an empty context."""
        return self._made(NOTHING_FOUND[self._settled.language], elapsed_ms, None, called=False)

    def _made(self, text: str, elapsed_ms: float, note: str | None, called: bool = True) -> AnswerResult:
        return AnswerResult(
            text=text,
            markers=tuple(self._found),
            complete=self.error is None and note is None,
            model=self._model.name,
            is_language_model=self._model.is_language_model,
            elapsed_ms=elapsed_ms,
            first_piece_ms=self.first_piece_ms,
            note=note,
            error=self.error,
            listed=tuple(self._parser.listed) if self._parser else (),
            called=called,
            channel=self._settled.channel,
            marked=self._parser is not None,
            choice=self._settled.choice,
            language=self._settled.language,
            sent=self.sent,
            caution=cut_note(self.sent) if self.sent is not None and self.error is None else None,
        )


def answer(
    assembly: Assembly, model: AnswerModel, choice: PromptChoice = GROUNDED, *, temperature: float = 0.0, max_tokens: int = 512
) -> AnswerResult:
    """The whole answer at once. A failure is in its `error`."""
    return ask(assembly, model, choice, temperature=temperature, max_tokens=max_tokens).result()
