"""What counts as text at all, and when two texts are the same."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

SHORT = 512
"""Titles, sources and summaries up to this length are kept on one line once made, so that a query makes none."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def duplicate_key(text: str) -> bytes:
    """Equal for texts that differ only in white space (16 bytes)."""
    return hashlib.blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def one_line(text: str) -> str:
    """`text` with every run of white space and control characters collapsed to one blank."""
    return _short_line(text) if len(text) <= SHORT else _line(text)


def _line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


_short_line = lru_cache(maxsize=4096)(_line)


def encodable(text: str) -> str:
    """`text` of the same length in which every character can be written as UTF-8: tokenizers refuse lone surrogates."""
    return text.encode("utf-8", "replace").decode()
