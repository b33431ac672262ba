"""Any OpenAI-compatible endpoint through the openai package, as a stream of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ctxasm.llm.attempt import Request, attempts, without
from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import USAGE_OPTION, broke_off, empty_answer, instead_of, of_finish, of_stream_error, plain, too_many_chars
from ctxasm.llm.pieces import Pieces, usage_in
from ctxasm.model.kept import Kept, key_of
from ctxasm.model.messages import Cancel, Message, Usage
from ctxasm.model.results import Assembly

_STREAMS = ("text/event-stream", "text/plain", "application/octet-stream", "")
"""Content types under which servers send a stream; some name none."""
_REASONS = {
    **dict.fromkeys(("model_length", "max_tokens", "max_length"), "length"),
    **dict.fromkeys(("safety", "SAFETY", "RECITATION", "content-filter"), "content_filter"),
    **dict.fromkeys(("eos", "eos_token", "stop_sequence", "end_turn", "STOP"), "stop"),
    "null": "",
}
"""What some servers write instead of the reasons of the standard."""
_counts_nothing: Kept[bool] = Kept(64)
"""The models at a base URL that refuse to be asked for their counts, in this process. Never the key."""


class OpenAIModel:
    """A language model behind an OpenAI-compatible endpoint."""

    is_language_model = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @property
    def name(self) -> str:
        return f"{self._endpoint.model} at {self._endpoint.host}"

    @property
    def address(self) -> str:
        """The whole base URL, to tell servers of one host apart. Never shown: a key may hide in it."""
        return self._endpoint.base_url

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name})"

    def stream(
        self,
        messages: Sequence[Message],
        *,
        assembly: Assembly,
        temperature: float = 0.0,
        max_tokens: int = 512,
        cancel: Cancel | None = None,
    ) -> Pieces:
        """Ask. Nothing is sent until the first piece is taken. Iterating raises ModelUnavailable with `partial`."""
        return stream_reply(self._endpoint, messages, temperature=temperature, max_tokens=max_tokens, cancel=cancel)


def stream_reply(
    endpoint: Endpoint, messages: Sequence[Message], *, temperature: float = 0.0, max_tokens: int = 512, cancel: Cancel | None = None
) -> Pieces:
    """The reply to some messages as it comes; as `OpenAIModel.stream`, for questions that are about no assembly."""
    request: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "temperature": temperature,
        "max_tokens": max_tokens,
        "stream": True,
    }
    place = key_of(endpoint.base_url, endpoint.model)
    if not _counts_nothing.get(place):
        request[USAGE_OPTION] = {"include_usage": True}
    replies: list[_Streamed] = []

    def open_reply() -> _Streamed:
        replies.append(_Streamed(endpoint))
        return replies[-1]

    def change(refused: Request, setting: str | None) -> Request | None:
        if setting == USAGE_OPTION:
            _counts_nothing.put(place, True)
        return without(refused, setting)

    produce = attempts(endpoint, request, open_reply, cancel or (lambda: False), change)
    return Pieces(produce, read_usage=lambda: replies[-1].usage if replies else None)


class _Streamed:
    """A streamed reply: the text of the first choice."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._chars, self._reason = 0, ""
        self.has_thought = False
        self.usage: Usage | None = None

    @property
    def is_finished(self) -> bool:
        return bool(self._reason)

    def texts(self, client: Any, request: Request) -> Iterator[str]:
        stream = client.chat.completions.create(**request)
        kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _STREAMS:
            raise instead_of(self._endpoint, kind, "a stream")
        for chunk in stream:
            if getattr(chunk, "object", "") == "error":
                raise of_stream_error(self._endpoint, chunk.model_dump(), self._chars > 0)
            self._take_usage(getattr(chunk, "usage", None))
            yield self._text_of(getattr(chunk, "choices", None))

    def _take_usage(self, usage: object) -> None:
        self.usage = usage_in(usage.model_dump() if hasattr(usage, "model_dump") else usage) or self.usage

    def _text_of(self, choices: object) -> str:
        first = (one for one in choices if getattr(one, "index", None) in (0, None)) if isinstance(choices, list) else iter(())
        choice = next(first, None)
        delta = getattr(choice, "delta", None)
        reason = plain(str(getattr(choice, "finish_reason", None) or ""))
        self._reason = _REASONS.get(reason, reason) or self._reason
        self.has_thought = self.has_thought or any(getattr(delta, name, None) for name in ("reasoning_content", "reasoning"))
        text = getattr(delta, "content", None)
        text = text if isinstance(text, str) else ""
        self._chars += len(text)
        if self._chars > self._endpoint.max_answer_chars:
            raise too_many_chars(self._endpoint)
        return text

    def ended(self, began: bool, said_done: bool) -> str:
        if failure := of_finish(self._endpoint, self._reason):
            raise failure
        if not self._reason and not said_done:
            raise broke_off(self._endpoint) if began else empty_answer(self._endpoint, retry=True)
        if not began and self._reason in ("", "stop"):
            raise empty_answer(self._endpoint)
        return self._reason or "stop"
