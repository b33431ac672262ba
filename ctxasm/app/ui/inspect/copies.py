"""Rows of what says the same: removed copies and how alike they are, newer editions, where else a source stands. Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from ctxasm.model.events import Duplicate, Likeness, Promoted
from ctxasm.model.results import Assembly, Citation, Fate, Key
from ctxasm.ui.rows import SENT
from ctxasm.ui.words import title_of

_WORDS = re.compile(r"\S+\s*|\s+")
MOST_WORDS = 600
"""Words of either text that are compared: a chunk is seldom longer, and comparing grows with the square."""
AROUND = 12
"""Equal words that stay on either side of a difference."""


class Copy(NamedTuple):
    """A removed duplicate and the chunk that says the same; `similarity` as in the event.

    `superseded`: it is the older edition, and the kept one took over its standing. `returned`: it is in the context after all.
    """

    copy: Key
    kept: Key
    returned: bool
    likeness: Likeness = "exact"
    similarity: float = 1.0
    superseded: bool = False


def copies(assembly: Assembly) -> tuple[Copy, ...]:
    """The duplicates that any stage found, in the order of the stages; the last word on a chunk counts."""
    sent = {(f.document_id, f.chunk_index) for f in assembly.trace.fates if f.fate in SENT}
    events = [event for record in assembly.trace.stages for event in record.events]
    older = {(e.of_document_id, e.of_chunk_index) for e in events if isinstance(e, Promoted)}
    found: dict[Key, Copy] = {}
    for e in events:
        if isinstance(e, Duplicate):
            copy, kept = (e.document_id, e.chunk_index), (e.of_document_id, e.of_chunk_index)
            found[copy] = Copy(copy, kept, copy in sent, e.likeness, e.similarity, copy in older)
    return tuple(found.values())


def likeness_label(likeness: Likeness, similarity: float) -> str:
    """How alike two chunks are, in few words: `nearly the same words 0.94`."""
    match likeness:
        case "exact":
            return "the same text"
        case "near":
            return f"nearly the same words {similarity:.2f}"
        case "semantic":
            return f"same meaning {similarity:.2f}"


class Elsewhere(NamedTuple):
    """Another document that says what a citation says, and how alike; `label` is empty for an exact copy."""

    title: str
    label: str


def also_in(assembly: Assembly, citation: Citation, fates: dict[Key, Fate] | None = None, limit: int = 40) -> tuple[Elsewhere, ...]:
    """Where else the source of a citation stands, each document once, with the weakest likeness among its copies."""
    fates = fates if fates is not None else fates_by_key(assembly)
    found: dict[str, tuple[float, str]] = {}
    for key in citation.also_in:
        fate = fates.get(key)
        likeness, similarity = (fate.likeness or "exact", fate.similarity) if fate is not None else ("exact", None)
        alike = 1.0 if similarity is None else similarity
        label = "" if likeness == "exact" else likeness_label(likeness, alike)
        known = found.get(key[0])
        if known is None or (alike, not label) < (known[0], not known[1]):
            found[key[0]] = (alike, label)
    return tuple(Elsewhere(title_of(assembly.trace.documents, key, limit), label) for key, (_, label) in found.items())


def fates_by_key(assembly: Assembly) -> dict[Key, Fate]:
    """Every fate under the name of its chunk."""
    return {(fate.document_id, fate.chunk_index): fate for fate in assembly.trace.fates}


class Piece(NamedTuple):
    """A run of words of one text beside another: the same in both, only here, or a long equal run left out."""

    kind: Literal["same", "own", "skipped"]
    text: str


class Difference(NamedTuple):
    """Two texts side by side. `clipped`: only the first words of them were compared."""

    copy: tuple[Piece, ...]
    kept: tuple[Piece, ...]
    clipped: bool


def difference(copy: str, kept: str) -> Difference:
    """The words in which two texts differ, case and white space aside; equal words far from any difference are left out."""
    one, other = _WORDS.findall(copy), _WORDS.findall(kept)
    clipped = max(len(one), len(other)) > MOST_WORDS
    one, other = one[:MOST_WORDS], other[:MOST_WORDS]
    matcher = SequenceMatcher(None, [w.strip().casefold() for w in one], [w.strip().casefold() for w in other], autojunk=False)
    left: list[Piece] = []
    right: list[Piece] = []
    codes = matcher.get_opcodes()
    for at, (tag, low, high, other_low, other_high) in enumerate(codes):
        if tag == "equal":
            left += _shortened(one[low:high], at > 0, at + 1 < len(codes))
            right += _shortened(other[other_low:other_high], at > 0, at + 1 < len(codes))
            continue
        left += [Piece("own", "".join(one[low:high]))] if low < high else []
        right += [Piece("own", "".join(other[other_low:other_high]))] if other_low < other_high else []
    return Difference(tuple(left), tuple(right), clipped)


def _shortened(words: list[str], after: bool, before: bool) -> list[Piece]:
    """An equal run: what stands near a difference after or before it, the rest skipped."""
    head, tail = AROUND * after, AROUND * before
    if not (after or before):
        head = 4 * AROUND
    if len(words) <= head + tail + AROUND:
        return [Piece("same", "".join(words))]
    middle = Piece("skipped", f"{len(words) - head - tail} equal words")
    pieces = [Piece("same", "".join(words[:head])), middle, Piece("same", "".join(words[len(words) - tail :]))]
    return [piece for piece in pieces if piece.text]
