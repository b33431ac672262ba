"""A wider window against its rival, more hits, at equal tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.statistics.pairs import PairedDifference, paired_difference
from ctxasm.tuning.sweep.results import SweepResult


class Rival(NamedTuple):
    """The place of a setting with a wider window, and what has narrower ones and more hits at exactly its tokens: the line between the
    setting of these that is next `below` it in tokens and that next `above`, of which `share` is taken from `above`.
    """

    wider: int
    below: int
    above: int
    share: float


class Rivals(NamedTuple):
    """They are chosen by their tokens alone and all of them count, so that there is one test and nothing to adjust it for. `result` is of
    the share of them whose wider window holds a question's evidence, less that of more hits.
    """

    all: tuple[Rival, ...]
    result: PairedDifference


def rivals(found: SweepResult) -> Rivals | None:
    """None where the grid has none at equal tokens, or no question is labelled."""
    paired = tuple(_paired(found))
    if not paired or not found.labelled:
        return None
    whole = found.whole.astype(float)
    more = [(1 - each.share) * whole[each.below] + each.share * whole[each.above] for each in paired]
    differences = (whole[[each.wider for each in paired]] - more).mean(axis=0).tolist()
    return Rivals(paired, paired_difference(differences))


def _paired(found: SweepResult) -> Iterator[Rival]:
    alike: defaultdict[AssemblySettings, list[int]] = defaultdict(list)
    for at, settings in enumerate(found.settings):
        if settings.enabled:
            alike[settings.replace(expand_window=0, top_k=None)].append(at)
    tokens = [found.tokens(at) for at in range(len(found.settings))]
    windows = [settings.expand_window for settings in found.settings]
    hits = [inf if settings.top_k is None else settings.top_k for settings in found.settings]
    for places in alike.values():
        for wider in places:
            others = [at for at in places if windows[at] < windows[wider] and hits[at] > hits[wider]]
            below = max((at for at in others if tokens[at] <= tokens[wider]), key=lambda at: tokens[at], default=None)
            above = min((at for at in others if tokens[at] >= tokens[wider]), key=lambda at: tokens[at], default=None)
            if below is not None and above is not None:
                apart = tokens[above] - tokens[below]
                yield Rival(wider, below, above, (tokens[wider] - tokens[below]) / apart if apart else 0.0)
