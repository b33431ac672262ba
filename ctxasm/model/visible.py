"""What counts as text at all."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u00ad\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0]*\Z")


def is_visible(text: str) -> bool:
    """Whether `text` has at least one character that a reader would see."""
    return text[:1].isalnum() or not _INVISIBLE.match(text)


def has_mark(text: str) -> bool:
    """Whether `text` holds a visible character that is neither letter nor digit, in whatever width it is written."""
    return any(not char.isalnum() and is_visible(char) for char in unicodedata.normalize("NFKC", text))
