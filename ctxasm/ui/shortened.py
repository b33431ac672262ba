"""What of a chunk's own text reached the context, and what compression, a cut or a neighbour left out. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple

from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.ui.rows import SENT
from ctxasm.ui.words import plural


class Stretch(NamedTuple):
    """Characters of a chunk's text: sent, left out, or shown by the chunk before it."""

    text: str
    state: Literal["sent", "left", "shared"]


class Shortened(NamedTuple):
    """A compressed chunk: the share of its tokens that is left, and whether a model put it in other words."""

    share: float
    tokens: int
    rewritten: bool

    @property
    def words(self) -> str:
        """`31 % of 1 240 tokens`."""
        return f"{100 * self.share:.0f}\u202f% of {plural(self.tokens, 'token')}"


def shortened_chunks(assembly: Assembly) -> dict[Key, Shortened]:
    """Every compressed chunk of the context."""
    rewritten = rewritten_chunks(assembly)
    return {
        key: Shortened(fate.compressed, fate.tokens, key in rewritten)
        for fate in assembly.trace.fates
        if fate.compressed is not None and fate.fate in SENT
        for key in [(fate.document_id, fate.chunk_index)]
    }


def rewritten_chunks(assembly: Assembly) -> frozenset[Key]:
    """Chunks of which the context holds words that a model wrote."""
    return frozenset(
        (s.document_id, s.chunk_index) for s in assembly.segments if s.rewritten and s.document_id is not None and s.chunk_index is not None
    )


def stretches(assembly: Assembly, fate: Fate) -> tuple[Stretch, ...]:
    """A chunk's whole text by what became of it; empty where it is not stored. The texts join to the chunk's text."""
    key = (fate.document_id, fate.chunk_index)
    candidate = assembly.trace.candidates.get(key)
    if candidate is None or not candidate.chunk.text:
        return ()
    text = candidate.chunk.text
    if fate.fate == "merged":
        return (Stretch(text, "shared"),)
    states: list[Literal["sent", "left", "shared"]] = ["left"] * len(text)
    shared = fate.stripped_chars if fate.compressed is None else 0
    states[:shared] = ["shared"] * min(shared, len(text))
    for segment in assembly.segments:
        if (segment.document_id, segment.chunk_index) == key and segment.chunk_start is not None and segment.chunk_end is not None:
            states[segment.chunk_start : segment.chunk_end] = ["sent"] * (segment.chunk_end - segment.chunk_start)
    edges = [0, *(at for at in range(1, len(text)) if states[at] != states[at - 1]), len(text)]
    return tuple(Stretch(text[low:high], states[low]) for low, high in pairwise(edges))


def rewritten_text(assembly: Assembly, key: Key) -> str:
    """What a model wrote in place of a chunk; empty where it stands in its own words."""
    own = (s for s in assembly.segments if s.rewritten and (s.document_id, s.chunk_index) == key)
    return "".join(assembly.text[s.start : s.end] for s in own)
