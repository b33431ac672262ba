"""The HTTP client under the openai package: bounded in bytes, follows no redirect, and can be cut off from another thread."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any

import httpx2

from ctxasm.llm.endpoint import Endpoint

MAX_BYTES = 16_000_000
"""The most that one answer may send, in bytes: an endless line must not fill the memory."""
_HEADERS = frozenset(
    ("host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding", "user-agent")
)
"""What a request may carry beside the key: the package also sends an organisation, a project and headers from the environment."""


class TooMuch(Exception):
    """The server sent more than MAX_BYTES."""


class _Counted(httpx2.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream, self.tail = stream, b""

    def __iter__(self) -> Iterator[bytes]:
        left = MAX_BYTES
        for data in self._stream:
            left -= len(data)
            if left < 0:
                raise TooMuch
            self.tail = (self.tail + data)[-64:]
            yield data

    def close(self) -> None:
        self._stream.close()


class Line(httpx2.HTTPTransport):
    """One transport for one answer. `cut` shuts its sockets at once, so that the server sees that nobody listens."""

    def __init__(self, api_key: str) -> None:
        super().__init__(retries=0)
        self._api_key = api_key
        self._streams: list[Any] = []
        self._body: _Counted | None = None
        self._is_cut = False

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = [(name, value) for name, value in request.headers.items() if name.lower() in _HEADERS]
        if self._api_key:
            headers.append(("Authorization", f"Bearer {self._api_key}"))
        extensions = {**request.extensions, "trace": self._watch}
        # A new request: the package still reads the headers of the one that it made, and must not see the key.
        sent = httpx2.Request(request.method, request.url, headers=headers, stream=request.stream, extensions=extensions)
        response = super().handle_request(sent)
        self._body = _Counted(response.stream)
        response.stream = self._body
        return response

    @property
    def said_done(self) -> bool:
        """Whether the last bytes were the `[DONE]` that ends a stream."""
        return self._body is not None and b"[DONE]" in self._body.tail

    def cut(self) -> None:
        """Shut every socket that this transport opened."""
        self._is_cut = True
        for stream in self._streams:
            raw = stream.get_extra_info("socket")
            if raw is not None:
                with contextlib.suppress(OSError):
                    raw.shutdown(socket.SHUT_RDWR)

    def _watch(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._streams.append(info["return_value"])
            if self._is_cut:
                self.cut()


def open_client(endpoint: Endpoint) -> tuple[httpx2.Client, Callable[[], None], Callable[[], bool]]:
    """A client for one answer, a function that cuts it off, and one that tells whether the stream ended properly."""
    line = Line(endpoint.api_key)
    slowest = max(endpoint.first_piece_timeout, endpoint.piece_timeout) + 1
    timeout = httpx2.Timeout(slowest, connect=endpoint.connect_timeout)
    client = httpx2.Client(transport=line, timeout=timeout, follow_redirects=False)
    return client, line.cut, lambda: line.said_done
