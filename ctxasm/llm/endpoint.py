"""Where an OpenAI-compatible model lives: validated once, and never shown with its key."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ctxasm.model.errors import InvalidInput, shown

MAX_KEY = 4096


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server. Timeouts are seconds; `api_key` may be empty for a server that asks for none.

    `first_piece_timeout` runs from the request to the first text, `piece_timeout` between two pieces. `retries` counts
    further attempts, made only while nothing has arrived; a server's Retry-After is obeyed up to `max_retry_after`.
    `awaits_server`: also a refused connection is tried again, as a server that is being started refuses it.
    `may_be_local`: False refuses what turns out, once connected, to be this machine itself or an address of its link alone.
    Raises InvalidInput naming what is wrong, without the key and without a password from the URL.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    connect_timeout: float = 5.0
    first_piece_timeout: float = 60.0
    piece_timeout: float = 30.0
    retries: int = 2
    max_retry_after: float = 10.0
    max_answer_chars: int = 200_000
    awaits_server: bool = True
    may_be_local: bool = True

    def __post_init__(self) -> None:
        _check_url(self.base_url)
        if not self.model.strip() or len(self.model) > 200 or not self.model.isprintable():
            raise InvalidInput(f"model must be a name of 1 to 200 printable characters, got {shown(self.model)}")
        if self.api_key and (
            len(self.api_key) > MAX_KEY or not (self.api_key.isascii() and self.api_key.isprintable() and self.api_key.strip())
        ):
            raise InvalidInput(f"the API key must be at most {MAX_KEY} printable ASCII characters without line breaks: copy it again")
        for name in ("connect_timeout", "first_piece_timeout", "piece_timeout", "max_retry_after"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and 0 < seconds <= 3600):
                raise InvalidInput(f"{name} must be a number of seconds above 0 and at most 3600, got {shown(seconds)}")
        if not 0 <= self.retries <= 10:
            raise InvalidInput(f"retries must be between 0 and 10, got {shown(self.retries)}")

    @property
    def host(self) -> str:
        """Host and port, as they may stand in a message."""
        parts = urlsplit(self.base_url)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        return f"{host}:{parts.port}" if parts.port else host


def _check_url(url: str) -> None:
    """Refuse what is not a plain http(s) address. The message never repeats the URL: a key may hide in it."""
    example = "the base URL must look like https://host/v1"
    if not url or len(url) > 2000 or any(char.isspace() or not char.isprintable() for char in url) or "\\" in url:
        raise InvalidInput(f"{example}: at most 2000 characters, without spaces or control characters")
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise InvalidInput(f"{example}: its host or port cannot be read") from None
    if parts.scheme not in ("http", "https"):
        raise InvalidInput(f"{example}: the scheme must be http or https, got {shown(parts.scheme)}")
    if "@" in parts.netloc:
        raise InvalidInput(f"{example}: without a name or password in it; give the key separately")
    if not host or port == 0:
        raise InvalidInput(f"{example}: it names no host")
    if parts.query or parts.fragment:
        raise InvalidInput(f"{example}: without a query (?…) or fragment (#…); give the key separately")
