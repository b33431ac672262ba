"""How much of the head of a chunk repeats the chunk before it, and so is written once where the two stand next to each other.

Offsets that the texts bear out say it. Without them the texts do: the longest end of the first with which the second begins, or with
which it goes on behind a header that both begin with. A match of more than half of the first needs a reason besides (`usual_share`):
a repeated table and a licence match as well as an overlap, and repeating text costs less than losing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ctxasm.model.characters import is_visible

NEEDLE = 21
"""First characters looked for in the tail: one more than the default threshold, so shorter matches cost nothing."""
_EXCERPT = re.compile(r"[\s\"'“”„‘’«(\[]*(?:\.\.\.|…)")


class Sliced(Protocol):
    """What overlap needs to know of a chunk."""

    @property
    def text(self) -> str: ...
    @property
    def start(self) -> int | None: ...
    @property
    def end(self) -> int | None: ...


class Overlap(NamedTuple):
    """`chars` of the head of the second are shown by the first, found as `kind` says.

    "offsets" and "text": they are the end of the first. "header": the first `header` of them are its beginning, the others its end.
    "coincidence": they are its end, and never stripped. "none": nothing is shared.
    """

    chars: int
    kind: str
    header: int = 0


NOTHING_SHARED = Overlap(0, "none")


def has_offsets(chunk: Sliced) -> bool:
    """Whether the offsets of a chunk can be trusted as far as it alone tells: they span exactly its text."""
    return chunk.start is not None and chunk.end is not None and chunk.end - chunk.start == len(chunk.text)


def touching(first: Sliced, second: Sliced) -> bool:
    """Whether `second` begins at the very character where `first` ends."""
    return has_offsets(first) and has_offsets(second) and first.end == second.start


def overlap_of(first: Sliced, second: Sliced, usual: float = 0.0, own: float = 0.0) -> Overlap:
    """The overlap of two neighbouring chunks of one document, `second` following `first`.

    With trustworthy offsets (`end - start` equals the text's length, the second does not begin before the first, and the shared
    characters are equal) the offsets say it, otherwise the texts (`matched`).
    """
    return _stated(first, second) or matched(first.text, second.text, usual, own)


def left_behind(first: Sliced, second: Sliced, overlap: Overlap) -> int:
    """How much of `first` goes on behind the text that it shares with `second`: more than 0 where that lies inside it."""
    if overlap.kind != "offsets" or not overlap.chars or first.end is None or second.end is None:
        return 0
    return max(0, first.end - second.end)


def common_head(first: str, second: str) -> int:
    """How many characters both begin with."""
    if first[:1] != second[:1]:
        return 0
    same, more = 0, min(len(first), len(second))
    while more:
        if first.startswith(second[same : same + more], same):
            same += more
            more = min(more, len(first) - same, len(second) - same)
        else:
            more //= 2
    return same


def header_of(first: str, second: str, chars: int) -> int:
    """Of the first `chars` characters of `second`, all shown by `first`, how many are not its end: they are a header."""
    return chars - common_head(first[::-1], second[:chars][::-1])


def matched(first: str, second: str, usual: float = 0.0, own: float = 0.0) -> Overlap:
    """What two texts say of their overlap: the longest end of `first` with which `second` begins. Linear time, also on hostile text.

    A match of more than half of `first` is a coincidence, unless something explains it: `first` begins with an ellipsis, so it is
    printed in part; a header stands before the match, which then is no text of the document: it would part what is one there; or
    the match is at most twice the share of a chunk that neighbours have in common as a rule (`usual`, from 0 to 1). Where a long match
    repeats itself (the rows of a table) its length says nothing: it is the longest of no more than the share that is usual in this very
    document (`own`), else a coincidence.
    Measured on 3,406 real pairs: tests/text/test_overlap.py.
    """
    chars, header = _match(first, second)
    if not chars:
        return NOTHING_SHARED
    behind = len(first) - header
    if chars * 2 > behind:
        shared = second[header : header + chars]
        if _repeats_itself(shared):
            chars = _border_within(shared, int(own * behind))
            if chars < NEEDLE:
                return Overlap(len(shared), "coincidence")
        elif not (header or _EXCERPT.match(first) or chars <= 2 * usual * behind):
            return Overlap(chars, "coincidence")
    if not header:
        return Overlap(chars, "text")
    return Overlap(header + chars, "header", header_of(first, second, header + chars))


def usual_share(pairs: Iterable[tuple[Sliced, Sliced]]) -> float:
    """The share of a chunk (0 to 1) that at least half of the neighbours have in common; 0 where that is none, or fewer than two tell.

    It is their lower median, and text that repeats itself, which matches whatever was cut how, counts as nothing shared: so
    neither a few long coincidences nor a document full of table rows make a rule. A header is not counted on either side.
    """
    shares = sorted(_share(first, second) for first, second in pairs)
    return shares[(len(shares) - 1) // 2] if len(shares) > 1 else 0.0


def _share(first: Sliced, second: Sliced) -> float:
    if stated := _stated(first, second):
        return stated.chars / len(first.text) if first.text else 0.0
    chars, header = _match(first.text, second.text)
    if chars < NEEDLE or _repeats_itself(second.text[header : header + chars]):
        return 0.0
    return chars / (len(first.text) - header)


def _stated(first: Sliced, second: Sliced) -> Overlap | None:
    """What the offsets say; None where they prove nothing: missing, or at odds with the texts or with each other."""
    if not (has_offsets(first) and has_offsets(second)):
        return None
    ahead = (second.start or 0) - (first.start or 0)
    if ahead < 0:
        return None
    shared = first.text[ahead : ahead + len(second.text)]
    return Overlap(len(shared), "offsets") if second.text.startswith(shared) else None


def _match(first: str, second: str) -> tuple[int, int]:
    """How many characters of `second` are the end of `first`, and how many both begin with before those: 0 where it needs no header."""
    chars = _longest(first, second)
    if chars < NEEDLE and (header := common_head(first, second)) and is_visible(second[:header]):
        behind = _longest(first[header:], second[header:])
        if behind >= NEEDLE:
            return behind, header
    return chars, 0


def _longest(first: str, second: str) -> int:
    tail = first[-len(second) :] if len(second) < len(first) else first
    if len(second) >= NEEDLE:
        at, tries = tail.find(second[:NEEDLE]), 0
        while at != -1 and tries < 8:
            if second.startswith(tail[at:]):
                return len(tail) - at
            at, tries = tail.find(second[:NEEDLE], at + 1), tries + 1
        if at != -1:
            return _by_borders(tail, second)
    # Nothing as long as the needle: look at the last few characters only.
    for length in range(min(NEEDLE - 1, len(tail), len(second)), 0, -1):
        if tail.endswith(second[:length]):
            return length
    return 0


def _repeats_itself(shared: str) -> bool:
    """Whether a shorter match lies inside this one."""
    return _longest(shared[1:], shared) >= NEEDLE


def _border_within(shared: str, most: int) -> int:
    """The longest beginning of `shared`, of at most `most` characters, that is also its end."""
    borders = _borders(shared)
    chars = len(shared)
    while chars > most:
        chars = borders[chars - 1]
    return chars


def _by_borders(tail: str, second: str) -> int:
    """Knuth-Morris-Pratt: the prefix of `second` matched when `tail`, which is no longer, ends. For repetitive text only."""
    borders = _borders(second)
    k = 0
    for character in tail:
        while k and character != second[k]:
            k = borders[k - 1]
        k += character == second[k]
    return k


def _borders(text: str) -> list[int]:
    """Of each beginning of `text` the longest shorter one that it ends in."""
    borders = [0] * len(text)
    k = 0
    for i in range(1, len(text)):
        while k and text[i] != text[k]:
            k = borders[k - 1]
        k += text[i] == text[k]
        borders[i] = k
    return borders


LEAST = NEEDLE
"""Shorter matches are chance."""
SHARE = 3
"""Where fewer than one in so many pairs share text, the splitter made no overlap, and what is shared repeats by itself."""


def linked_runs(texts: Sequence[str]) -> list[list[int]]:
    """The texts as runs of positions, each text followed by the one that goes on where it ends; a run of one is linked to nothing.

    Runs stand in the order of their first texts, every position is in one run. Time grows with the characters of all texts.
    """
    following = _links(texts)
    if len(following) * SHARE < len(texts) - 1:
        following = {}
    preceded = set(following.values())
    runs, placed = [], set[int]()
    for first in [at for at in range(len(texts)) if at not in preceded]:
        run = [first]
        while run[-1] in following:
            run.append(following[run[-1]])
        runs.append(run)
        placed.update(run)
    # What is left stands in rings, which no document has: nothing is known of those.
    return sorted([*runs, *([at] for at in range(len(texts)) if at not in placed)], key=min)


def run_indexes(runs: Sequence[Sequence[int]]) -> list[int]:
    """A chunk_index for each text: they follow one another inside a run, and one is left free before each further run.

    A free index keeps expansion and overlap from joining what is not known to belong together.
    """
    indexes = [0] * sum(map(len, runs))
    index = 0
    for run in runs:
        for at in run:
            indexes[at], index = index, index + 1
        index += 1
    return indexes


def _links(texts: Sequence[str]) -> dict[int, int]:
    """For each text the one that follows it, where each is the other's only longest match."""
    heads: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        if len(text) >= LEAST:
            heads.setdefault(text[:LEAST], []).append(at)
    after: dict[int, dict[int, int]] = {}
    before: dict[int, dict[int, int]] = {}
    for one, text in enumerate(texts):
        near = {other for at in range(1, len(text) - LEAST + 1) for other in heads.get(text[at : at + LEAST], ())}
        for other in near - {one}:
            chars = matched(text, texts[other]).chars
            # What stands elsewhere in the text too is a phrase that repeats, such as a heading that a list of contents names.
            if LEAST <= chars < len(text) and text.find(text[-chars:]) == len(text) - chars:
                after.setdefault(one, {})[other] = before.setdefault(other, {})[one] = chars
    return {one: other for one, found in after.items() if len(found) == 1 for other in found if len(before[other]) == 1}
