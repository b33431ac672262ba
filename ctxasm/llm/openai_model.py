"""Any OpenAI-compatible endpoint through the openai package: streamed, bounded, cancellable at once.

A worker thread reads the stream into a queue, because only so can a read that blocks be abandoned the moment the user
stops it, and can a first piece and a later piece have different time limits. Retries are made here, not in the package:
its own wait cannot be cancelled.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import Failure, of_connection, of_content, of_status, too_slow
from ctxasm.llm.pieces import Pieces, Produce
from ctxasm.model.messages import Cancel, Message
from ctxasm.model.results import Assembly

_POLL = 0.03
"""Seconds between two looks at `cancel`."""
_FIRST_WAIT = 0.5
"""Seconds before the second attempt; doubled for each further one."""
_WAITING = 1000
"""Pieces that may wait to be taken; a faster server is held up."""


class _Item(NamedTuple):
    kind: Literal["piece", "alive", "end", "failed"]
    text: str = ""
    failure: Failure | None = None


class OpenAIModel:
    """A language model behind an OpenAI-compatible endpoint."""

    is_language_model = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @property
    def name(self) -> str:
        return f"{self._endpoint.model} at {self._endpoint.host}"

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
        request = {
            "model": self._endpoint.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": temperature,
            "max_tokens": max_tokens,
            "stream": True,
        }
        return Pieces(_attempts(self._endpoint, request, cancel or (lambda: False)))


def _attempts(endpoint: Endpoint, request: dict[str, Any], cancel: Cancel) -> Produce:
    left, wait = endpoint.retries, _FIRST_WAIT
    arrived: list[str] = []
    while True:
        attempt = _Attempt(endpoint, request)
        try:
            return (yield from attempt.pieces(cancel, arrived))
        except Failure as caught:
            failure = caught
        finally:
            attempt.end()
        changed = None if arrived else _without(request, failure.drop)
        if changed is not None:
            request = changed
            continue
        asked = failure.wait or 0.0
        if arrived or not failure.retry or not left or asked > endpoint.max_retry_after:
            raise failure.as_error("".join(arrived))
        if _slept(max(asked, wait * random.uniform(0.75, 1.0)), cancel):  # noqa: S311 (spreads retries, guards nothing)
            return "cancelled"
        left, wait = left - 1, wait * 2


def _without(request: dict[str, Any], setting: str | None) -> dict[str, Any] | None:
    """The request for a model that refused `setting`, or None where nothing can be changed."""
    if setting is None or setting not in request:
        return None
    changed = {name: value for name, value in request.items() if name != setting}
    return {**changed, "max_completion_tokens": request["max_tokens"]} if setting == "max_tokens" else changed


def _slept(seconds: float, cancel: Cancel) -> bool:
    """Wait; True as soon as cancelled."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if cancel():
            return True
        time.sleep(min(_POLL, left))
    return cancel()


class _Attempt:
    """One request: the worker reads it, `pieces` takes what it read."""

    def __init__(self, endpoint: Endpoint, request: dict[str, Any]) -> None:
        import openai  # here, so that loading the package does not count as the server's time

        from ctxasm.llm.transport import open_client

        self._openai, self._endpoint, self._request = openai, endpoint, request
        self._client, self._cut, self._said_done = open_client(endpoint)
        self._items: queue.Queue[_Item] = queue.Queue(_WAITING)
        self._stopped = threading.Event()
        self._chars, self._reason = 0, ""

    def pieces(self, cancel: Cancel, arrived: list[str]) -> Produce:
        """Yield what arrives, keeping it in `arrived`. Raises Failure; returns the finish reason."""
        threading.Thread(target=self._read, name="ctxasm-answer", daemon=True).start()
        deadline = time.monotonic() + self._endpoint.first_piece_timeout
        while True:
            if cancel():
                return "cancelled"
            try:
                item = self._items.get(timeout=max(0.001, min(_POLL, deadline - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    raise too_slow(self._endpoint, began=bool(arrived)) from None
                continue
            if item.kind == "end":
                return self._ended(bool(arrived))
            if item.failure is not None:
                raise item.failure
            deadline = time.monotonic() + self._endpoint.piece_timeout if arrived or item.text else deadline
            if item.text:
                arrived.append(item.text)
                yield item.text

    def _ended(self, began: bool) -> str:
        where = self._endpoint.host
        if not self._reason and not self._said_done():
            if began:
                raise Failure(f"{where} broke off in the middle of its answer: ask again")
            raise Failure(
                f"{where} sent an empty answer: ask again, or check that {self._endpoint.model} answers chat requests", retry=True
            )
        if not began and self._reason in ("", "stop"):
            raise Failure(f"{where} sent an empty answer: ask again, or check that {self._endpoint.model} answers chat requests")
        return self._reason or "stop"

    def end(self) -> None:
        """Cut the connection; the worker ends by itself."""
        self._stopped.set()
        self._cut()

    def _put(self, item: _Item) -> None:
        while not self._stopped.is_set():
            try:
                self._items.put(item, timeout=0.2)
                return
            except queue.Full:
                continue

    def _read(self) -> None:
        try:
            for text in self._texts():
                self._put(_Item("piece" if text else "alive", text))
                if self._stopped.is_set():
                    return
            self._put(_Item("end"))
        except Failure as failure:
            self._put(_Item("failed", failure=failure))
        except Exception as error:  # noqa: BLE001 (whatever a server provokes becomes one sentence)
            self._put(_Item("failed", failure=self._judge(error)))
        finally:
            self._client.close()

    def _texts(self) -> Iterator[str]:
        client = self._openai.OpenAI(
            api_key=self._endpoint.api_key or "none", base_url=self._endpoint.base_url, max_retries=0, http_client=self._client
        )
        stream = client.chat.completions.create(**self._request)
        kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in ("text/event-stream", "text/plain", "application/octet-stream", ""):
            raise Failure(
                f"{self._endpoint.host} answered with {_plain(kind)} instead of a stream: check the base URL; it usually ends in /v1"
            )
        for chunk in stream:
            choices = getattr(chunk, "choices", None)
            choice = choices[0] if isinstance(choices, list) and choices else None
            text = getattr(getattr(choice, "delta", None), "content", None)
            self._reason = _plain(str(getattr(choice, "finish_reason", None) or "")) or self._reason
            text = text if isinstance(text, str) else ""
            self._chars += len(text)
            if self._chars > self._endpoint.max_answer_chars:
                raise Failure(
                    f"{self._endpoint.host} sent more than {self._endpoint.max_answer_chars} characters: lower the maximum answer length"
                )
            yield text

    def _judge(self, error: Exception) -> Failure:
        from ctxasm.llm.transport import TooMuch

        openai, began = self._openai, self._chars > 0
        if isinstance(error, TooMuch):
            return Failure(f"{self._endpoint.host} sent far more than an answer can hold: check that it is an OpenAI-compatible server")
        if isinstance(error, openai.APIStatusError):
            return of_status(self._endpoint, error.status_code, error.body, _retry_after(error.response.headers))
        if (
            isinstance(error, openai.APIConnectionError)
            or type(error).__module__.startswith(("httpx2", "httpcore"))
            or isinstance(error, OSError)
        ):
            return of_connection(self._endpoint, error, began)
        if isinstance(error, openai.APIError):
            return of_status(self._endpoint, 500, error.body, None)
        return of_content(self._endpoint, error)


def _retry_after(headers: Any) -> float | None:
    try:
        seconds = float(headers.get("retry-after-ms", "")) / 1000 if "retry-after-ms" in headers else float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 < seconds < 1e9 else None


def _plain(text: str) -> str:
    return "".join(char for char in text[:60] if char.isprintable())
