"""The code on the lines around material in a prompt, so that no text between them can hold the closing line."""

from __future__ import annotations

import hashlib


def fence_code(text: str, *others: str) -> str:
    """16 hex digits that stand in none of the texts: a digest of `text`, hashed again while they do.

    It depends on `others` only then, so that prompts with the same `text` begin alike.
    """
    code = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    while any(code in each for each in (text, *others)):
        code = hashlib.sha256(code.encode()).hexdigest()[:16]
    return code
