"""In which order chunks of one document follow one another, found from the text that they share: where nothing else tells.

A splitter that lets chunks overlap writes the end of each again at the beginning of the next. Two chunks are linked where the end of the
one is the beginning of the other by at least `LEAST` characters, and neither shares so much with any third. What is ambiguous (a header
that repeats, a page that says a thing twice) stays unlinked.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.text.overlap import NEEDLE, matched

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
