"""The HTTP client under the openai package: bounded in bytes, follows no redirect, and can be cut off from another thread.

A proxy from the environment is used for https only: there it sees no more than the host. Sent in the clear through a
proxy, the key and the context would reach one more reader.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import math
import os
import re
import socket
import ssl
import time
import urllib.request
import zlib
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import httpx2

from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import Failure
from ctxasm.llm.redaction import HIDDEN, MIN_KEY

MAX_BYTES = 16_000_000
"""The most that one answer may hold, in bytes after decompression: an endless line must not fill the memory."""
_PART = 65_536
_HEADERS = frozenset(("host", "accept", "connection", "content-type", "content-length", "transfer-encoding", "user-agent"))
"""What a request may carry beside the key: the package also sends an organisation, a project and headers from the environment."""
_KNOWN = ("", "identity", "gzip", "x-gzip", "deflate")
"""Encodings of a reply that can be read within bounds. Of a refusal in another one the status has to do."""
_DONE = re.compile(rb"[\r\n]data: ?\[DONE\]")
_ERROR = re.compile(rb"[\r\n](?:error|event: ?error\r?\ndata): ?(\{[^\r\n]*\})")
"""An error in a field of its own, as llama.cpp sends it, or in an event of that name: the package reads neither."""
_TAIL = 4096


class _Bounded(httpx2.SyncByteStream):
    """A reply's bytes, decompressed here because the package inflates whatever comes, at most MAX_BYTES of them."""

    def __init__(self, stream: Any, host: str, encoding: str) -> None:
        self._stream, self._host, self._encoding, self.tail = stream, host, encoding, b"\n"

    def __iter__(self) -> Iterator[bytes]:
        left = MAX_BYTES
        for data in self._inflated() if self._encoding else self._stream:
            left -= len(data)
            if left < 0:
                raise Failure(f"{self._host} sent far more than an answer can hold: check that it is an OpenAI-compatible server")
            self.tail = (self.tail + data)[-_TAIL:]
            yield data

    def _inflated(self) -> Iterator[bytes]:
        if self._encoding not in _KNOWN:
            raise Failure(f"{self._host} compresses its answers although it was asked not to: check the base URL and what stands between")
        inflater = zlib.decompressobj(wbits=47)  # 47: gzip or zlib, whichever it is
        try:
            for data in self._stream:
                while data and not inflater.eof:
                    yield inflater.decompress(data, _PART)
                    data = inflater.unconsumed_tail
        except zlib.error:
            raise Failure(f"{self._host} sent compressed bytes that cannot be read: check that it is OpenAI-compatible") from None

    def close(self) -> None:
        self._stream.close()


class Line(httpx2.HTTPTransport):
    """One transport for one answer. `cut` shuts its sockets at once, so that the server sees that nobody listens."""

    def __init__(self, endpoint: Endpoint) -> None:
        proxy = _proxy_of(endpoint.base_url)
        super().__init__(verify=_tls_of(endpoint.base_url), retries=0, proxy=proxy)
        self.is_proxied = proxy is not None
        self._api_key, self._host = endpoint.api_key, endpoint.host
        self._refuses_local = not (endpoint.may_be_local or self.is_proxied)
        self._streams: list[Any] = []
        self._body: _Bounded | None = None
        self._is_cut = False

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = [(name, value) for name, value in request.headers.items() if name.lower() in _HEADERS]
        headers.append(("Accept-Encoding", "identity"))
        if self._api_key:
            headers.append(("Authorization", f"Bearer {self._api_key}"))
        extensions = {**request.extensions, "trace": self._watch}
        # A new request: the package still reads the headers of the one that it made, and must not see the key.
        sent = httpx2.Request(request.method, request.url, headers=headers, stream=request.stream, extensions=extensions)
        response = super().handle_request(sent)
        encoding = response.headers.get("content-encoding", "").strip().lower()
        self._body = _Bounded(response.stream, self._host, "" if encoding == "identity" else encoding)
        response.stream = self._body if response.is_success or encoding in _KNOWN else httpx2.ByteStream(b"")
        response.headers = httpx2.Headers([pair for pair in self._safe(response.headers) if pair[0] != "content-encoding"])
        return response

    def _safe(self, headers: httpx2.Headers) -> Iterator[tuple[str, str]]:
        """The headers of a reply without the key: some servers send the request's headers back."""
        for name, value in headers.multi_items():
            is_told = len(self._api_key) >= MIN_KEY and self._api_key in value
            yield name.lower(), HIDDEN if is_told else value

    @property
    def said_done(self) -> bool:
        """Whether the last bytes held the `[DONE]` that ends a stream, on a line of its own."""
        return self._body is not None and _DONE.search(self._body.tail) is not None

    @property
    def stated_error(self) -> object:
        """The error that the last bytes hold in a field or an event named so, as JSON; None where they hold none."""
        found = None if self._body is None else _ERROR.search(self._body.tail)
        try:
            return None if found is None else json.loads(found[1])
        except ValueError:
            return None

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
            stream = info["return_value"]
            self._streams.append(stream)
            if self._refuses_local and _is_local(stream.get_extra_info("socket")):
                stream.close()
                where = f"{self._host} is the machine of this server, or is for it alone"
                raise Failure(f"{where}: a browser elsewhere cannot name it; have it configured there in CTXASM_LLM_BASE_URL")
            if self._is_cut:
                self.cut()


def _is_local(connected: socket.socket) -> bool:
    """Whether the other end is this machine, by whatever name or address, or link-local: there clouds tell a machine its secrets.

    Looked at once connected, since a name may lead elsewhere from one look to the next.
    """
    own, other = (ipaddress.ip_address(name[0].partition("%")[0]) for name in (connected.getsockname(), connected.getpeername()))
    return own == other or (getattr(other, "ipv4_mapped", None) or other).is_link_local


def _proxy_of(url: str) -> str | None:
    parts = urlsplit(url)
    if parts.scheme != "https" or urllib.request.proxy_bypass(parts.netloc):
        return None
    named = urllib.request.getproxies()
    return named.get("https") or named.get("all") or None


def _tls_of(url: str) -> ssl.SSLContext | bool:
    if urlsplit(url).scheme != "https":
        return False
    return _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    """What this machine trusts; reading it takes longer than a short answer."""
    return httpx2.create_ssl_context()


def open_client(endpoint: Endpoint) -> tuple[httpx2.Client, Line]:
    """A client for one answer, and its transport. Raises Failure where the environment names a proxy or file of no use."""
    try:
        line = Line(endpoint)
    except OSError:
        raise Failure("the certificates named in SSL_CERT_FILE or SSL_CERT_DIR cannot be read: correct or unset it") from None
    except (ValueError, ImportError, httpx2.InvalidURL):
        raise Failure("the proxy named in HTTPS_PROXY or ALL_PROXY cannot be used: give it as http://host:port, or unset it") from None
    slowest = max(endpoint.first_piece_timeout, endpoint.piece_timeout) + 1
    timeout = httpx2.Timeout(slowest, connect=endpoint.connect_timeout)
    return httpx2.Client(transport=line, timeout=timeout, follow_redirects=False, trust_env=False), line


def retry_after(headers: httpx2.Headers) -> float | None:
    """The seconds that a server asks to wait, from `Retry-After` in seconds or as a date; None where it says nothing usable."""
    told = headers.get("retry-after", "").strip()
    try:
        seconds = float(headers["retry-after-ms"]) / 1000 if "retry-after-ms" in headers else float(told)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(told).timestamp() - time.time()
        except (ValueError, OverflowError, OSError):
            return None
    return min(seconds, 1e9) if not math.isnan(seconds) and seconds > 0 else None
