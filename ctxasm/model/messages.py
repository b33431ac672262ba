"""What goes to an answering model and what comes back, as ports: nothing here knows a vendor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from ctxasm.model.results import Assembly

Role = Literal["system", "user", "assistant"]
Cancel = Callable[[], bool]
"""Whether the answer is no longer wanted, like `threading.Event().is_set`. Asked often: it must be quick."""


class Message(NamedTuple):
    """One message of a chat."""

    role: Role
    content: str


class ModelReply(Protocol):
    """An answer as it comes. `finish_reason` is known when it is exhausted: stop, length, content_filter, cancelled or other.

    Iterating raises ModelUnavailable, whose `partial` keeps what had arrived. `close` ends the answer at once.
    """

    @property
    def finish_reason(self) -> str | None: ...
    def __iter__(self) -> Iterator[str]: ...
    def __next__(self) -> str: ...
    def close(self) -> None: ...


class Usage(NamedTuple):
    """Tokens as a model's own server counts them: of what was sent, and of what it wrote."""

    prompt: int
    answer: int


@runtime_checkable
class ReportsUsage(Protocol):
    """A reply whose server may say what it counted. `usage` is known when the reply is exhausted; None: it does not say."""

    @property
    def usage(self) -> Usage | None: ...


class AnswerModel(Protocol):
    """Something that answers from an assembled context. `is_language_model` is False for the key-free default."""

    @property
    def name(self) -> str: ...
    @property
    def is_language_model(self) -> bool: ...
    def stream(
        self,
        messages: Sequence[Message],
        *,
        assembly: Assembly,
        temperature: float = 0.0,
        max_tokens: int = 512,
        cancel: Cancel | None = None,
    ) -> ModelReply:
        """Start an answer of at most `max_tokens` tokens."""
        ...


class JsonReply(Protocol):
    """A reply: an object of the schema, and what it took. One that counts `calls` may have taken several."""

    @property
    def data(self) -> Mapping[str, Any]: ...
    @property
    def tokens_in(self) -> int: ...
    @property
    def tokens_out(self) -> int: ...


class AskForJson(Protocol):
    """Asks a model for one JSON object of a schema. Raises ModelUnavailable. May be called by several threads."""

    def __call__(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any], schema_name: str, max_tokens: int, cancel: Cancel | None
    ) -> JsonReply: ...
