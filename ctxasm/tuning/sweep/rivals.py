"""A wider window against its rival, more hits, at equal tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations
from math import inf
from typing import NamedTuple

from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.statistics.pairs import Interval, mean_interval, sign_flip_p
from ctxasm.tuning.sweep.results import SweepResult

NEAR = 0.1
"""Tokens are equal that differ by at most this part of the larger."""


class Rivals(NamedTuple):
    """`pairs` are places of settings alike but in these two, at equal tokens: a wider window over fewer hits, then a narrower over more.

    They are chosen by their tokens alone and all of them count, so that there is one test and nothing to adjust it for. `difference` is the
    mean over labelled questions of the share of pairs whose first side alone holds their evidence, less that of the second.
    """

    pairs: tuple[tuple[int, int], ...]
    difference: float
    interval: Interval
    p: float


def rivals(found: SweepResult) -> Rivals | None:
    """None where the grid has no such pair, or no question is labelled."""
    pairs = tuple(_pairs(found))
    if not pairs or not found.labelled:
        return None
    whole = found.whole.astype(float)
    wider, more = (whole[list(side)] for side in zip(*pairs, strict=True))
    differences = (wider - more).mean(axis=0).tolist()
    return Rivals(pairs, sum(differences) / len(differences), mean_interval(differences), sign_flip_p(differences))


def _pairs(found: SweepResult) -> Iterator[tuple[int, int]]:
    alike: defaultdict[AssemblySettings, list[int]] = defaultdict(list)
    for at, settings in enumerate(found.settings):
        if settings.enabled:
            alike[settings.replace(expand_window=0, top_k=None)].append(at)
    tokens = [found.tokens(at) for at in range(len(found.settings))]
    hits = [inf if settings.top_k is None else settings.top_k for settings in found.settings]
    for places in alike.values():
        for one, other in permutations(places, 2):
            wider = found.settings[one].expand_window > found.settings[other].expand_window and hits[one] < hits[other]
            if wider and abs(tokens[one] - tokens[other]) <= NEAR * max(tokens[one], tokens[other]):
                yield one, other
