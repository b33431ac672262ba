"""What is taken out of a server's text before anybody sees it: keys, and halves of surrogate pairs."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import quote, quote_plus

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")


def joined(text: str) -> str:
    """`text` with the two halves of a character as that character, and a half alone as U+FFFD."""
    if not _HALF.search(text):
        return text
    return _HALF.sub("\ufffd", _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text))


class SurrogateJoiner:
    """`joined` for a text that comes in pieces: a first half at the end of a piece waits for the next one."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """What of the text so far is certain and was not given yet."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return joined(text[: len(text) - len(self._half)])

    def rest(self) -> str:
        """What was held when the text ended."""
        held, self._half = self._half, ""
        return joined(held)


HIDDEN = "[API key]"
MIN_KEY = 16
_HELD = 4
"""Characters that must agree before text is held back: a piece that ends in `s` may pass, whatever the key begins with."""
_SHARED = 5
_SHORTEST = 4
_LOGIN = re.compile(r"(?<=://)[^\s'\"<>]*(?=@)")
_LOGGERS = (
    *("httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy", "httpcore2.socks"),
    *("openai", "openai._base_client", "openai._response", "openai._legacy_response"),
)
_here = threading.local()


def redacted(text: str, key: str) -> str:
    """`text` with every occurrence of a real key replaced."""
    return text.replace(key, HIDDEN) if len(key) >= MIN_KEY else text


def shares(text: str, key: str) -> bool:
    """Whether any 5 characters of the key stand in `text`: servers like to repeat the beginning of a key."""
    return bool(key) and (key in text or any(key[at : at + _SHARED] in text for at in range(max(1, len(key) - _SHARED + 1))))


class StreamRedactor:
    """`redacted` for a text that comes in pieces: an end that may begin the key is held until it is decided."""

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= MIN_KEY else ""
        self._end, self._shown = "", 0

    def feed(self, text: str) -> str:
        """What of the text so far may be shown now and was not yet."""
        if not self._key:
            return text
        text, shown, out = self._end + text, self._shown, ""
        while (at := text.find(self._key)) >= 0:
            out += text[shown:at] + HIDDEN
            text, shown = text[at + len(self._key) :], 0
        begun = next(size for size in range(min(len(text), len(self._key) - 1), -1, -1) if text.endswith(self._key[:size]))
        until = len(text) - (begun if begun >= _HELD else 0)
        out += text[shown:until]
        self._end, self._shown = text[len(text) - begun :], max(0, max(shown, until) - (len(text) - begun))
        return out

    def rest(self) -> str:
        """What was held when the text ended."""
        held, long = self._end[self._shown :], len(self._end) >= 2 * _HELD
        self._end, self._shown = "", 0
        return HIDDEN if held and long else held


class _KeyFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        key: str = getattr(_here, "key", "")
        if len(key) >= MIN_KEY:
            text = record.getMessage()
            record.msg, record.args = text.replace(key, HIDDEN).replace(repr(key)[1:-1], HIDDEN), ()
        return True


_filter = _KeyFilter()


@contextmanager
def out_of_logs(key: str) -> Iterator[None]:
    """Within the block, what the HTTP packages log in this thread shows no key: a server may send it back in a header."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_filter)  # adding it twice changes nothing
    _here.key = key
    try:
        yield
    finally:
        _here.key = ""


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """`text` for a file that stays: none of these in it, as they are, as Python writes them or as a URL does, nor what logs in in a URL.

    Shorter keys than elsewhere are taken out too: a word too many that is hidden does no harm there.
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        for form in (secret, repr(secret)[1:-1], quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(form, HIDDEN) if len(secret) >= _SHORTEST else text
    return _LOGIN.sub(HIDDEN, text)
