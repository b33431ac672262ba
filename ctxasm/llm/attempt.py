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
from ctxasm.llm.failures import USAGE_OPTION, Failure, chain, of_connection, of_content, of_status, of_stream_error, too_slow
from ctxasm.llm.pieces import Produce
from ctxasm.llm.secrecy import Veil, out_of_logs
from ctxasm.llm.surrogates import Halves
from ctxasm.model.messages import Cancel

_POLL = 0.03
"""Seconds between two looks at `cancel`."""
_FIRST_WAIT = 0.5
"""Seconds before the second attempt; doubled for each further one."""
_LAST_WAIT = 2.0
"""Seconds for the end of the stream once the finish reason is known."""
_WAITING = 1000
"""Pieces that may wait to be taken; a faster server is held up."""

Request = Mapping[str, Any]
"""The body of a chat request, as `chat.completions.create` takes it."""


class Reply(Protocol):
    """What comes back on one attempt. `texts` runs in the worker, `ended` after it, in the caller's thread.

    `is_finished`: the server gave its finish reason. `has_thought`: it sent reasoning. Both may be read at any time.
    """

    @property
    def is_finished(self) -> bool: ...
    @property
    def has_thought(self) -> bool: ...

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
    if setting not in ("max_tokens", "temperature", USAGE_OPTION) or setting not in request:
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
    arrived, halves, veil = list[str](), Halves(), Veil(endpoint.api_key)
    while True:
        attempt, failure = None, None
        try:
            attempt = _Attempt(endpoint, request, open_reply())
            reason = yield from attempt.pieces(cancel, arrived, lambda text: veil.feed(halves.feed(text)))
        except Failure as caught:
            failure = caught
        finally:
            if attempt is not None:
                attempt.end()
        if rest := veil.feed(halves.rest()) + veil.rest():
            arrived.append(rest)
            yield rest
        if failure is None:
            return reason
        changed = None if arrived else change(request, failure.drop)
        if changed is not None:
            request = changed
            continue
        asked = failure.wait or 0.0
        may_retry = failure.retry and (endpoint.awaits_server or not failure.absent)
        if arrived or not may_retry or not left or asked > endpoint.max_retry_after:
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
        self._client, self._line = open_client(endpoint)
        self._items: queue.Queue[_Item] = queue.Queue(_WAITING)
        self._stopped = threading.Event()
        self._began = False

    def pieces(self, cancel: Cancel, arrived: list[str], shown: Callable[[str], str]) -> Produce:
        """Yield what `shown` gives of what arrives, keeping it in `arrived`. Raises Failure; returns the finish reason.

        Only text buys time: a stream of empty events must end too.
        """
        threading.Thread(target=self._read, name="ctxasm-answer", daemon=True).start()
        deadline = time.monotonic() + self._endpoint.first_piece_timeout
        while True:
            if cancel():
                return "cancelled"
            if self._reply.is_finished:
                deadline = min(deadline, time.monotonic() + _LAST_WAIT)
            try:
                item = self._items.get(timeout=max(0.001, min(_POLL, deadline - time.monotonic())))
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue
                item = self._late(bool(arrived))
            if item.kind == "end":
                if not self._reply.is_finished and (body := self._line.stated_error) is not None:
                    raise of_stream_error(self._endpoint, body, bool(arrived))
                return self._reply.ended(bool(arrived), self._line.said_done)
            if item.failure is not None:
                raise item.failure
            if item.text:
                deadline = time.monotonic() + self._endpoint.piece_timeout
                if text := shown(item.text):
                    arrived.append(text)
                    yield text
            elif time.monotonic() >= deadline:
                raise too_slow(self._endpoint, bool(arrived), self._reply.has_thought)

    def _late(self, began: bool) -> _Item:
        """What it means that nothing came in time: an end, where the finish reason is known."""
        if self._reply.is_finished:
            return _Item("end")
        return _Item("failed", failure=too_slow(self._endpoint, began, self._reply.has_thought))

    def end(self) -> None:
        """Cut the connection; the worker ends by itself."""
        self._stopped.set()
        self._line.cut()

    def _put(self, item: _Item) -> None:
        while not self._stopped.is_set():
            try:
                self._items.put(item, timeout=0.2)
                return
            except queue.Full:
                continue

    def _read(self) -> None:
        try:
            with out_of_logs(self._endpoint.api_key):
                self._take()
            self._put(_Item("end"))
        except Failure as failure:
            self._put(_Item("failed", failure=failure))
        except Exception as error:  # noqa: BLE001 (whatever a server provokes becomes one sentence)
            is_end = self._reply.is_finished and self._began
            self._put(_Item("end") if is_end else _Item("failed", failure=self._judge(error)))
        finally:
            self._client.close()

    def _take(self) -> None:
        # The package never gets the key: the transport adds it to what goes to the server.
        client = self._openai.OpenAI(api_key="none", base_url=self._endpoint.base_url, max_retries=0, http_client=self._client)
        for text in self._reply.texts(client, self._request):
            self._began = self._began or bool(text)
            self._put(_Item("piece" if text else "alive", text))
            if self._stopped.is_set():
                return

    def _judge(self, error: Exception) -> Failure:
        from ctxasm.llm.transport import retry_after

        openai, where = self._openai, self._endpoint
        if stated := [cause for cause in chain(error) if isinstance(cause, Failure)]:
            return stated[0]
        if isinstance(error, openai.APIStatusError):
            return of_status(where, error.status_code, error.body, retry_after(error.response.headers))
        if (
            isinstance(error, openai.APIConnectionError)
            or type(error).__module__.startswith(("httpx2", "httpcore"))
            or isinstance(error, OSError)
        ):
            return of_connection(where, error, self._began, self._line.is_proxied)
        if isinstance(error, openai.APIError):
            return of_stream_error(where, error.body, self._began)
        return of_content(where, error)
