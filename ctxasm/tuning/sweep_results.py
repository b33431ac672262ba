"""What a sweep found: the outcome of every question under every setting, and what is read off it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ctxasm.model.amounts import counted
from ctxasm.model.frames import data_frame
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.counting import WIDEST, Outcome
from ctxasm.tuning.statistics import PairedDifference, paired_difference

if TYPE_CHECKING:
    from ctxasm.model.frames import DataFrame


UNCOUNTED = -1


class SettingRow(NamedTuple):
    """One setting over all questions: `whole` of `labelled` questions have all their evidence in the context.

    `evidence` is the mean share of pieces that are there whole, None without labelled questions; tokens are the mean of all questions.
    """

    settings: AssemblySettings
    changes: Mapping[str, Any]
    whole: int
    labelled: int
    evidence: float | None
    tokens: float
    counted: int


@dataclass(frozen=True, eq=False)
class SweepResult:
    """`outcomes` is an array settings × questions × (tokens, found, needed), -1 where nothing was counted (it was cancelled).

    `ceiling` has the same of every question for the widest window without a limit: what its hits could give at all. `start` is the
    place of the settings that one started from. `reused` cells were there from an earlier sweep.
    `gold` says what the questions are labelled with, and how that was pooled.
    """

    dataset: str
    digest: str
    version: str
    settings: tuple[AssemblySettings, ...]
    axes: Mapping[str, tuple[Any, ...]]
    start: int
    query_ids: tuple[str, ...]
    outcomes: np.ndarray
    ceiling: np.ndarray
    seconds: float = 0.0
    reused: int = 0
    cancelled: bool = False
    failures: Mapping[str, str] = field(default_factory=dict)
    gold: str = ""

    def outcome(self, setting: int, question: int) -> Outcome | None:
        """The outcome of one cell, None where it was not counted."""
        tokens, found, needed = (int(value) for value in self.outcomes[setting, question])
        return None if tokens == UNCOUNTED else Outcome(tokens, found, needed)

    @cached_property
    def labelled(self) -> tuple[int, ...]:
        """The places of the questions with evidence, counted under every setting."""
        counted = (self.outcomes[:, :, 0] != UNCOUNTED).all(axis=0)
        needed = (self.outcomes[:, :, 2] > 0).all(axis=0)
        return tuple(int(at) for at in np.flatnonzero(counted & needed))

    @cached_property
    def whole(self) -> np.ndarray:
        """Booleans settings × labelled questions: whether all evidence of the question is in the context."""
        own = self.outcomes[:, list(self.labelled), :]
        found: np.ndarray = own[:, :, 1] == own[:, :, 2]
        return found

    @cached_property
    def reachable(self) -> np.ndarray:
        """The same of each labelled question for the ceiling."""
        own = self.ceiling[list(self.labelled), :]
        found: np.ndarray = (own[:, 1] == own[:, 2]) & (own[:, 2] > 0)
        return found

    @property
    def reach(self) -> int:
        """How many neighbours on each side of a hit the ceiling has: another sweep may try more, and have a higher one."""
        return max(WIDEST, *(each.window for each in self.settings))

    def first(self, count: int) -> SweepResult:
        """The first `count` settings alone, the start among them."""
        return replace(self, settings=self.settings[:count], outcomes=self.outcomes[:count])

    def tokens(self, setting: int) -> float:
        """The mean tokens of a setting's contexts."""
        counted = self.outcomes[setting, :, 0]
        counted = counted[counted != UNCOUNTED]
        return float(counted.mean()) if counted.size else 0.0

    def rows(self) -> tuple[SettingRow, ...]:
        """One row a setting, in the order of the grid."""
        return tuple(self._row(at, settings) for at, settings in enumerate(self.settings))

    def _row(self, at: int, settings: AssemblySettings) -> SettingRow:
        own = self.outcomes[at][self.outcomes[at, :, 0] != UNCOUNTED]
        labelled = own[own[:, 2] > 0]
        evidence = float((labelled[:, 1] / labelled[:, 2]).mean()) if len(labelled) else None
        changes = {name: getattr(settings, name) for name in self.axes}
        whole = int((labelled[:, 1] == labelled[:, 2]).sum())
        return SettingRow(settings, changes, whole, len(labelled), evidence, self.tokens(at), len(own))

    def differences(self, setting: int, against: int) -> tuple[int, ...]:
        """Of each labelled question: 1 where its evidence is whole under `setting` alone, -1 under `against` alone, else 0."""
        return tuple(int(value) for value in self.whole[setting].astype(int) - self.whole[against].astype(int))

    def flips(self, setting: int, against: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ids of the questions that `setting` gains over `against`, and of those that it loses."""
        pairs = tuple(zip(self.labelled, self.differences(setting, against), strict=True))
        gained = tuple(self.query_ids[at] for at, value in pairs if value > 0)
        return gained, tuple(self.query_ids[at] for at, value in pairs if value < 0)

    def front(self) -> tuple[int, ...]:
        """The settings that no other beats: at most their tokens and more evidence, or as much at fewer. By tokens, ascending."""
        best = -1
        front: list[int] = []
        for at in sorted(range(len(self.settings)), key=lambda at: (self.tokens(at), -int(self.whole[at].sum()), at)):
            if (whole := int(self.whole[at].sum())) > best:
                front.append(at)
                best = whole
        return tuple(front)

    def importance(self) -> dict[str, float]:
        """How much of what varies in evidence each axis explains by itself: from 0 to 1, of the full grid.

        The variance of the axis's means over that of all cells: the first-order term of the additive decomposition (functional
        ANOVA; Hutter, Hoos and Leyton-Brown 2014). What is left to 1 is due to axes together.
        """
        grid = [at for at, row in enumerate(self.rows()) if at != self.start or _is_in(row.settings, self.axes)]
        shares = np.array([self.whole[at].mean() if self.labelled else 0.0 for at in grid])
        total = float(shares.var())
        if not total:
            return dict.fromkeys(self.axes, 0.0)
        found = {}
        for name, values in self.axes.items():
            own = np.array([values.index(getattr(self.settings[at], name)) for at in grid])
            means = np.array([shares[own == value].mean() for value in range(len(values))])
            weights = np.array([(own == value).mean() for value in range(len(values))])
            found[name] = float((weights * (means - shares.mean()) ** 2).sum() / total)
        return found

    def to_pandas(self) -> DataFrame:
        """A row a setting, in the order of the grid: the values of its axes, then `whole` of `labelled` questions whose evidence is all in
        the context, `evidence` (mean share of pieces, from 0 to 1), mean `tokens`, whether it is on the `front`, and where one started.
        """
        front = set(self.front())
        rows = ({**row.changes, **row._asdict(), "front": at in front, "start": at == self.start} for at, row in enumerate(self.rows()))
        return data_frame(rows, (*self.axes, "whole", "labelled", "evidence", "tokens", "front", "start"))

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values; the same bytes whatever engine counted. Elapsed time is left out."""
        return {
            "dataset": self.dataset,
            "digest": self.digest,
            "version": self.version,
            "axes": {name: list(values) for name, values in self.axes.items()},
            "start": self.start,
            "questions": list(self.query_ids),
            "labelled": len(self.labelled),
            "gold": self.gold,
            "cancelled": self.cancelled,
            "failures": dict(self.failures),
            "ceiling": {"whole": int(self.reachable.sum()), "outcomes": self.ceiling.tolist()},
            "importance": {name: round(value, 6) for name, value in self.importance().items()},
            "front": list(self.front()),
            "rows": [self._row_dict(at, row) for at, row in enumerate(self.rows())],
        }

    def _row_dict(self, at: int, row: SettingRow) -> dict[str, Any]:
        return {
            "settings": row.settings.changed(),
            "axes": dict(row.changes),
            "whole": row.whole,
            "labelled": row.labelled,
            "evidence": None if row.evidence is None else round(row.evidence, 6),
            "tokens": round(row.tokens, 3),
            "outcomes": self.outcomes[at].tolist(),
        }

    def to_json(self) -> str:
        """`to_dict` as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, sort_keys=True)


def _is_in(settings: AssemblySettings, axes: Mapping[str, Sequence[Any]]) -> bool:
    """Whether these settings are a point of the grid."""
    return all(getattr(settings, name) in values for name, values in axes.items())


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

    def sentence(self) -> str:
        """Whether a wider window or more hits win."""
        where = f"At equal tokens ({counted(len(self.all), 'comparison')})"
        if not self.result.shown:
            return f"{where} a wider window against more hits: {self.result.sentence()}."
        wins = "a wider window holds more than more hits" if self.result.difference > 0 else "more hits hold more than a wider window"
        return f"{where} {wins}: {self.result.sentence()}."


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
