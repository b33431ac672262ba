"""Foreign text inside a label that Streamlit reads as markdown: shown as it is, and never an image, a link or a colour."""

from __future__ import annotations

import re

_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$:~&@/=^\"'])")


def plain(text: str) -> str:
    """`text` on one line, with every sign of markdown (and of addresses, which markdown links by itself) taken as itself."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))
