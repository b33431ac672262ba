"""The recommendation: what to ship, what it gains on questions that it was not chosen on, what it costs, and what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ctxasm.model.amounts import counted, interval, signed
from ctxasm.model.datasets import Dataset
from ctxasm.model.ports import Shelf
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.records import Query
from ctxasm.model.setting_labels import named
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.recommend.choosing import HeldOut, chosen, held_out, whole_rows
from ctxasm.tuning.recommend.prior import Prior, shipped_prior
from ctxasm.tuning.statistics.many import cheapest_no_worse
from ctxasm.tuning.statistics.pairs import p_words
from ctxasm.tuning.statistics.sizes import questions_needed
from ctxasm.tuning.sweep.counting import Tools
from ctxasm.tuning.sweep.results import SweepResult
from ctxasm.tuning.sweep.sweep import LimitOf, grid_of, sweep
from ctxasm.tuning.sweep.work import Engine

DELTA = 0.05
"""What may be lost where something cheaper is taken, and the gain that must not be missed: five points."""
SURE = 0.05
YOURS = "yours"
"""The name of the settings that one started from, where they are none of the curated."""
Verdict = Literal["shown", "leaning", "prior", "keep"]
"""shown: better on the questions that it was not chosen on, by more than chance. leaning: the questions prefer it, which is not shown yet.
prior: other corpora say so, and the questions do not speak against it. keep: the settings that one has."""


class CheaperSetting(NamedTuple):
    """Fewer tokens at almost the same evidence: `bound` is the most that it loses (negative), adjusted for all that were tried."""

    settings: AssemblySettings
    tokens: float
    difference: float
    bound: float


@dataclass(frozen=True)
class Recommendation:
    """`settings` are what to ship, `name` that of the curated change. Counts are of `labelled` questions at one's own limit.

    `held` is what choosing gained on questions that were not chosen on, None without labelled ones. `gained` and `lost` are ids of
    questions. `more` is how many more labelled questions would show a gain of `delta`. `prior_gain` is that of other corpora.
    """

    dataset: str
    digest: str
    version: str
    verdict: Verdict
    name: str
    settings: AssemblySettings
    start: AssemblySettings
    labelled: int
    whole: int
    whole_start: int
    ceiling: int
    reach: int
    tokens: float
    tokens_start: float
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    held: HeldOut | None
    prior_gain: float | None
    corpora: int
    more: int
    delta: float
    cheaper: CheaperSetting | None
    gold: str
    seed: int
    failures: int

    def sentences(self) -> tuple[str, ...]:
        """What a colleague would want to know: what to ship, how sure that is, what it costs."""
        return tuple(text for text in (self._what(), self._sure(), self._costs(), self._cheaper()) if text)

    def _what(self) -> str:
        changes = named(self._changes())
        if not self.labelled:
            if self.verdict == "keep":
                return "Keep your settings: no question is labelled, and no curated setting did better on other corpora."
            return f"Take {changes}: no question here is labelled, so this rests on {self.corpora} other corpora alone."
        hits = f"(the hits with {self.reach} neighbours could give {self.ceiling})"
        has = f"the evidence of {self.whole} of {counted(self.labelled, 'question')}"
        if self.verdict == "keep":
            return f"Keep your settings: they hold {has} {hits}."
        return f"Take {changes}, the rest as yours: it holds {has}, your settings {self.whole_start} {hits}."

    def _sure(self) -> str:
        label = f"label about {counted(self.more, 'more question')} to show a gain of {self.delta * 100:.0f} points" if self.more else ""
        if self.held is None:
            return f"To know, {label}." if label else ""
        low, high = self.held.interval.low * 100, self.held.interval.high * 100
        gain = f"{signed(self.held.gain * 100, 1)} points {interval(low, high, 1)} (n = {self.held.n})"
        measured = f"On questions that it was not made on, the choice gained {gain}"
        match self.verdict:
            case "shown":
                return f"{measured}: more than chance explains ({p_words(self.held.p)})."
            case "prior":
                return f"{measured}: not shown; it rests on {self.corpora} other corpora. {_sentence(label)}".strip()
            case "leaning":
                return f"{measured}: not shown yet. {_sentence(label)}".strip()
            case "keep":
                return f"{measured}: nothing better is shown. {_sentence(label)}".strip()

    def _costs(self) -> str:
        if self.verdict == "keep":
            return ""
        tokens = f"It takes {self.tokens:,.0f} tokens a question in place of {self.tokens_start:,.0f}"
        if not self.labelled:
            return f"{tokens}."
        if not self.gained and not self.lost:
            return f"{tokens}; no question changes."
        return f"{tokens}; it gains {counted(len(self.gained), 'question')} and loses {counted(len(self.lost), 'question')}."

    def _cheaper(self) -> str:
        if self.cheaper is None:
            return ""
        changes = named(_changed(self.cheaper.settings, self.settings))
        return (
            f"Cheaper, and shown to lose at most {-min(0.0, self.cheaper.bound) * 100:.1f} points: {changes}, "
            f"{self.cheaper.tokens:,.0f} tokens a question ({signed(self.cheaper.difference * 100, 1)} points here)."
        )

    def _changes(self) -> dict[str, Any]:
        return _changed(self.settings, self.start)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        held, cheaper = self.held, self.cheaper
        return {
            "dataset": self.dataset,
            "digest": self.digest,
            "version": self.version,
            "seed": self.seed,
            "verdict": self.verdict,
            "name": self.name,
            "sentences": list(self.sentences()),
            "changes": self._changes(),
            "settings": self.settings.changed(),
            "start": self.start.changed(),
            "labelled": self.labelled,
            "gold": self.gold,
            "whole": {"recommended": self.whole, "start": self.whole_start, "ceiling": self.ceiling},
            "tokens": {"recommended": round(self.tokens, 3), "start": round(self.tokens_start, 3)},
            "gained": list(self.gained),
            "lost": list(self.lost),
            "held_out": None
            if held is None
            else {
                "gain": round(held.gain, 6),
                "interval": [round(held.interval.low, 6), round(held.interval.high, 6)],
                "level": held.interval.level,
                "p": round(held.p, 6),
                "n": held.n,
            },
            "prior": {"gain": None if self.prior_gain is None else round(self.prior_gain, 6), "corpora": self.corpora},
            "more_questions": self.more,
            "delta": self.delta,
            "cheaper": None
            if cheaper is None
            else {
                "settings": cheaper.settings.changed(),
                "tokens": round(cheaper.tokens, 3),
                "difference": round(cheaper.difference, 6),
                "bound": round(cheaper.bound, 6),
            },
            "failures": self.failures,
        }


def recommend(
    dataset: Dataset,
    queries: Sequence[Query],
    start: AssemblySettings,
    tools: Tools,
    version: str,
    *,
    prior: Prior | None = None,
    delta: float = DELTA,
    seed: int = 0,
    keep: Shelf | None = None,
    engine: Engine | None = None,
    limit_of: LimitOf | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Recommendation:
    """What to ship in place of `start`. Deterministic for a `seed`, which cuts the questions into halves. Raises as `sweep`."""
    prior = prior or shipped_prior()
    candidates = candidates_of(start, prior)
    tried = settings_tried(candidates, prior)
    found = sweep(
        dataset,
        queries,
        grid_of(start, tried, {}),
        tools,
        version,
        keep=keep,
        engine=engine,
        limit_of=limit_of,
        report=report,
        cancelled=cancelled,
    )
    return recommended(found, candidates, prior, delta, seed)


Candidates = Sequence[tuple[str, AssemblySettings]]
"""Names with settings, the prior's best first; the settings that one started from are among them."""


def candidates_of(start: AssemblySettings, prior: Prior) -> Candidates:
    """The curated changes on top of `start`, and `start` itself."""
    own = {each.on(start): each.name for each in reversed(prior.ranked())}
    named = [(name, settings) for settings, name in reversed(own.items())]
    return named if start in own else [*named, (YOURS, start)]


def settings_tried(candidates: Candidates, prior: Prior) -> list[AssemblySettings]:
    """All candidates at all limits."""
    return [settings for _, own in candidates for settings in _at_limits(own, prior.limits)]


def _at_limits(settings: AssemblySettings, limits: Sequence[int]) -> list[AssemblySettings]:
    return [settings, *(settings.replace(budget_mode="fixed", max_tokens=limit) for limit in limits)]


def recommended(found: SweepResult, candidates: Candidates, prior: Prior, delta: float = DELTA, seed: int = 0) -> Recommendation:
    """The recommendation that follows from what a sweep found of all candidates at all limits."""
    place = {settings: at for at, settings in enumerate(found.settings)}
    start = found.settings[found.start]
    own = [place[settings] for _, settings in candidates]
    at_start = own.index(found.start)
    whole = found.whole[own]
    pooled = np.array([found.whole[[place[each] for each in _at_limits(s, prior.limits)[1:]]].mean(axis=0) for _, s in candidates])
    n = len(found.labelled)
    prior_gain = _prior_gain(prior, candidates, at_start)
    taken, verdict, held = _decided(pooled, whole, at_start, found.reachable, prior_gain, seed)
    differing = float((whole[taken if taken != at_start else 0] != whole[at_start]).mean()) if n else 0.25
    better, lost = found.flips(own[taken], found.start)
    name, settings = candidates[taken]
    return Recommendation(
        found.dataset,
        found.digest,
        found.version,
        verdict,
        name,
        settings,
        start,
        n,
        int(whole[taken].sum()),
        int(whole[at_start].sum()),
        int(found.reachable.sum()),
        found.reach,
        found.tokens(own[taken]),
        found.tokens(found.start),
        better,
        lost,
        held,
        prior_gain,
        len(prior.corpora),
        0 if verdict == "shown" else max(0, questions_needed(differing, delta) - n),
        delta,
        _cheapest(found, own[taken], delta) if n else None,
        found.gold,
        seed,
        len(found.failures),
    )


TRUST = 30
"""The prior's gain counts as so many questions when it is weighed against one's own."""


def _decided(
    pooled: np.ndarray, whole: np.ndarray, start: int, strata: np.ndarray, prior_gain: float | None, seed: int
) -> tuple[int, Verdict, HeldOut | None]:
    first, n = 0, pooled.shape[1]
    if n < 2:
        worth = prior_gain is None or prior_gain > 0
        return (first, "prior", None) if first != start and worth else (start, "keep", None)
    taken, held = chosen(pooled, first), held_out(pooled, whole, start, first, strata, seed=seed)
    if taken == start:
        return start, "keep", held
    if held.p <= SURE and held.gain > 0:
        return taken, "shown", held
    expected = n * held.gain + TRUST * (prior_gain or 0.0) if taken == first else held.gain
    if expected <= 0:
        return start, "keep", held
    return taken, "prior" if taken == first else "leaning", held


def _prior_gain(prior: Prior, candidates: Candidates, start: int) -> float | None:
    """What the prior's best gained on other corpora over settings like those at `start`; None for settings that it does not know."""
    name = candidates[start][0]
    return None if name == YOURS else prior.value(candidates[0][0]) - prior.value(name)


def _cheapest(found: SweepResult, reference: int, delta: float) -> CheaperSetting | None:
    costs = [found.tokens(at) for at in range(len(found.settings))]
    cheaper = cheapest_no_worse(whole_rows(found.whole), costs, reference, delta)
    if cheaper is None:
        return None
    return CheaperSetting(found.settings[cheaper.at], costs[cheaper.at], cheaper.difference, cheaper.bound)


def _changed(settings: AssemblySettings, against: AssemblySettings) -> dict[str, Any]:
    own, other = settings.to_dict(), against.to_dict()
    return {name: value for name, value in own.items() if value != other[name]}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
