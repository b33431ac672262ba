"""Plain words that every picture uses: numbers, names of stages and documents, the fate of a chunk. Pure.

`event_words` says what a stage did, `settings_words` what a configuration is. Every sentence may hold titles and ids from
outside: escape it before it becomes HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from ctxasm.model.progress import Progress
from ctxasm.model.records import Document

GLOSSARY: Mapping[str, str] = {
    "question": "What is asked of a dataset: one that came with it, or one that you typed.",
    "found": "A chunk that the search returned for the question.",
    "neighbour": "A chunk next to a found one in its document, fetched with it.",
    "repeated": "Text that the context already has from another chunk. It is kept once.",
    "kept": "A chunk whose text is in the context that the model reads.",
    "left out": "A chunk that is not in the context, for a reason that is named.",
    "limit": "The most tokens that the context may have.",
}
"""What the pages call things, and the help that says so. The guide has the same table."""
LEFT_OUT: Mapping[str, str] = {
    "budget": "no room",
    "outbid": "worth less than others",
    "crowded_out": "no room beside better ones",
    "no_value": "no found chunk in it",
    "oversized": "document over the limit",
    "no_room": "limit too small",
    "floor": "score too low",
    "top_k": "rank beyond top_k",
    "degenerate": "too small",
    "irrelevant": "not about the question",
    "empty": "empty",
    "parent_duplicate": "neighbour of a repeated chunk",
    "missing": "not stored",
    "already_sent": "sent in an earlier message",
}
"""Why a chunk is left out, in a few words; `REASONS` says it in a sentence."""
MOST_CELL = 160
"""Characters of a value that a cell shows."""


def number(value: float) -> str:
    """A whole number with its thousands apart: 12,345."""
    return f"{value:,.0f}"


def too_long(what: str, text: str, most: int, remedy: str = "shorten it") -> str | None:
    """What is wrong with a text of more than `most` characters, which `what` names ("A question"); None where nothing is.

    Said by us: a box that has `max_chars` itself drops a longer text that is pasted, without a word.
    """
    return f"{what} has at most {number(most)} characters, this one {number(len(text))}: {remedy}." if len(text) > most else None


def cut(text: str, most: int = MOST_CELL) -> str:
    """One line of at most `most` characters."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most and len(text) <= most * 4 else line[: most - 1].rstrip() + "…"


def in_attribute(text: str) -> str:
    """A text that a person reads as the value of an attribute (`title`, `aria-label`), escaped.

    With ‹ and › for its angle brackets: the browser drops an attribute in which `</style>` or `-->` stands, escaped or not.
    """
    return escape(text.replace("<", "‹").replace(">", "›"))


def decimal(value: float) -> str:
    """A score, as short as it can be read."""
    return f"{value:.3g}"


def title_of(documents: Mapping[str, Document], document_id: str, limit: int = 60) -> str:
    """A document's title, else its source, else its id: one line, at most `limit` characters."""
    document = documents.get(document_id)
    name = (document.title or document.source if document else None) or document_id
    line = " ".join(name.split()) or document_id
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$:~&@/=^\"'])")


def plain(text: str) -> str:
    """`text` on one line, with every sign of markdown (and of addresses, which markdown links by itself) taken as itself."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def seconds_words(seconds: float) -> str:
    """A time as a person says it: `under a second`, `8 s`, `2 min 10 s`, `1 h 05 min`."""
    whole = round(seconds)
    if whole < 1:
        return "under a second"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def progress_words(progress: Progress | None, elapsed_s: float) -> str:
    """`34 of 120 · 2 min 10 s left · reading manual.pdf`."""
    if progress is None:
        return f"starting · {seconds_words(elapsed_s)}"
    parts = [number(progress.done) if progress.total is None else f"{number(progress.done)} of {number(progress.total)}"]
    left = progress.left_s
    parts.append(f"{seconds_words(left)} left" if left is not None else f"{seconds_words(elapsed_s)} so far")
    return " · ".join((*parts, " ".join(progress.what.split())[:120]))
