"""One request to a model server, tried a bounded number of times: bounded in time, cancellable at once.

A worker thread reads the reply into a queue, because only so can a read that blocks be abandoned the moment the user
stops it, and can a first piece and a later piece have different time limits. Retries are made here, not in the package:
its own wait cannot be cancelled.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import Failure, of_connection, of_content, of_status, too_slow
from ctxasm.llm.pieces import Produce
from ctxasm.model.messages import Cancel

_POLL = 0.03
"""Seconds between two looks at `cancel`."""
_FIRST_WAIT = 0.5
"""Seconds before the second attempt; doubled for each further one."""
_WAITING = 1000
"""Pieces that may wait to be taken; a faster server is held up."""

Request = Mapping[str, Any]
"""The body of a chat request, as `chat.completions.create` takes it."""


class Reply(Protocol):
    """What comes back on one attempt. `texts` runs in the worker, `ended` after it, in the caller's thread."""

    def texts(self, client: Any, request: Request) -> Iterator[str]:
        """Send the request and yield its text; an empty string is a sign of life. Raises Failure, or what the package raises."""
        ...

    def ended(self, began: bool, said_done: bool) -> str:
        """The finish reason. Raises Failure where this is no proper end."""
        ...


class _Item(NamedTuple):
    kind: Literal["piece", "alive", "end", "failed"]
    text: str = ""
    failure: Failure | None = None


def without(request: Request, setting: str | None) -> Request | None:
    """The request for a model that refused `setting`, or None where nothing can be changed."""
    if setting not in ("max_tokens", "temperature") or setting not in request:
        return None
    changed = {name: value for name, value in request.items() if name != setting}
    return {**changed, "max_completion_tokens": request["max_tokens"]} if setting == "max_tokens" else changed


def attempts(
    endpoint: Endpoint,
    request: Request,
    open_reply: Callable[[], Reply],
    cancel: Cancel,
    change: Callable[[Request, str | None], Request | None] = without,
) -> Produce:
    """Ask, and ask again where that may help and nothing has arrived. Yields text, returns the finish reason ("cancelled").

    `change` gives the request for a server that refused a setting, or None. Raises ModelUnavailable with what had arrived.
    """
    left, wait = endpoint.retries, _FIRST_WAIT
    arrived: list[str] = []
    while True:
        attempt = _Attempt(endpoint, request, open_reply())
        try:
            return (yield from attempt.pieces(cancel, arrived))
        except Failure as caught:
            failure = caught
        finally:
            attempt.end()
        changed = None if arrived else change(request, failure.drop)
        if changed is not None:
            request = changed
            continue
        asked = failure.wait or 0.0
        if arrived or not failure.retry or not left or asked > endpoint.max_retry_after:
            raise failure.as_error("".join(arrived))
        if _slept(max(asked, wait * random.uniform(0.75, 1.0)), cancel):  # noqa: S311 (spreads retries, guards nothing)
            return "cancelled"
        left, wait = left - 1, wait * 2


def _slept(seconds: float, cancel: Cancel) -> bool:
    """Wait; True as soon as cancelled."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if cancel():
            return True
        time.sleep(min(_POLL, left))
    return cancel()


class _Attempt:
    """One attempt: the worker reads the reply, `pieces` takes what it read."""

    def __init__(self, endpoint: Endpoint, request: Request, reply: Reply) -> None:
        import openai  # here, so that loading the package does not count as the server's time

        from ctxasm.llm.transport import open_client

        self._openai, self._endpoint, self._request, self._reply = openai, endpoint, request, reply
        self._client, self._cut, self._said_done = open_client(endpoint)
        self._items: queue.Queue[_Item] = queue.Queue(_WAITING)
        self._stopped = threading.Event()
        self._began = False

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
                return self._reply.ended(bool(arrived), self._said_done())
            if item.failure is not None:
                raise item.failure
            deadline = time.monotonic() + self._endpoint.piece_timeout if arrived or item.text else deadline
            if item.text:
                arrived.append(item.text)
                yield item.text

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
            # The package never gets the key: the transport adds it to what goes to the server.
            client = self._openai.OpenAI(api_key="none", base_url=self._endpoint.base_url, max_retries=0, http_client=self._client)
            for text in self._reply.texts(client, self._request):
                self._began = self._began or bool(text)
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

    def _judge(self, error: Exception) -> Failure:
        from ctxasm.llm.transport import TooMuch

        openai = self._openai
        if isinstance(error, TooMuch):
            return Failure(f"{self._endpoint.host} sent far more than an answer can hold: check that it is an OpenAI-compatible server")
        if isinstance(error, openai.APIStatusError):
            return of_status(self._endpoint, error.status_code, error.body, _retry_after(error.response.headers))
        if (
            isinstance(error, openai.APIConnectionError)
            or type(error).__module__.startswith(("httpx2", "httpcore"))
            or isinstance(error, OSError)
        ):
            return of_connection(self._endpoint, error, self._began)
        if isinstance(error, openai.APIError):
            return of_status(self._endpoint, 500, error.body, None)
        return of_content(self._endpoint, error)


def _retry_after(headers: Any) -> float | None:
    try:
        seconds = float(headers.get("retry-after-ms", "")) / 1000 if "retry-after-ms" in headers else float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 < seconds < 1e9 else None
