"""HTML."""

from __future__ import annotations

import re


def read_fragment(html: str) -> str:
    """The visible text of a piece of HTML."""
    return re.sub(r"<[^>]*>", "", html)
