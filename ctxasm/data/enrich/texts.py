"""What enrichment says of a chunk, and the text that an index gets of it.

The text is the one of the record on contextual embeddings: the situating context, the canonical questions and the original, each
on a line of its own, up to 3,000 characters. It is only ever indexed: what is stored, shown and cited stays the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Variant = Literal["extractive", "model"]
VARIANTS: tuple[Variant, ...] = ("extractive", "model")
"""Who says it: rules that need no key, or a language model."""
MAX_CHARS = 3000
LEAST_TOKENS, MOST_TOKENS = 50, 100
"""The size of a situating context."""
MOST_QUESTIONS = 2


@dataclass(frozen=True, slots=True)
class Enrichment:
    """What is said of one chunk. Either may be empty, where it was not asked for or is not there yet."""

    context: str = ""
    questions: tuple[str, ...] = ()


def enriched_text(context: str, questions: Sequence[str], text: str, max_chars: int = MAX_CHARS) -> str:
    """Context, questions and original in this order, a line each, at most `max_chars` characters.

    What is too much goes from the end of the original, at a word's end. Context and questions stay whole, unless they alone are
    too long: then they are cut the same way and nothing of the original is left.
    """
    head = "\n".join(part for part in (context, *questions) if part)
    room = max_chars - len(head) - 1
    if not head:
        return cut_at_word(text, max_chars)
    kept = cut_at_word(text, room) if room > 0 and len(head) <= max_chars else ""
    return f"{head}\n{kept}" if kept else cut_at_word(head, max_chars)


def cut_at_word(text: str, max_chars: int) -> str:
    """The beginning of `text` up to the last end of a word within `max_chars` characters; a longer word is cut inside."""
    if len(text) <= max_chars:
        return text
    at = max(0, max_chars)
    while at and not text[at].isspace():
        at -= 1
    kept = text[:at].rstrip()
    return kept or text[: max(0, max_chars)].rstrip()
