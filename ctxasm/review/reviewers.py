"""How reviewers agree with each other, and the checker with them.

Both count what a reviewer said of an item first: that was said blind, before the checker's verdict and those of others were shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, NamedTuple, get_args

import numpy as np

from ctxasm.model.amounts import counted, percent
from ctxasm.model.runs import CITATION_VERDICTS, Answers, CitationVerdict, Judgement, RunStore, parts_of_item
from ctxasm.review.judging import checker_says, claims_of

LEVEL = 0.95
ROUNDS = 1000
WORDS: Mapping[str, str] = {
    "right": "right",
    "outdated": "right, but outdated",
    "wrong_source": "wrong source",
    "not_there": "not there",
    "wrong_fact": "wrong fact",
}
"""Verdicts as a reader sees them."""


class Estimate(NamedTuple):
    """A figure with its interval at 95 %; None where it is of nothing, or of too little for one."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def words(self) -> str:
        """`0.74 (95 %: 0.46 to 1.00)`."""
        if self.value is None:
            return "–"
        return f"{self.value:.2f}" + (f" (95 %: {self.low:.2f} to {self.high:.2f})" if self.low is not None else "")


class Coefficients(NamedTuple):
    """Percent agreement (of all pairs of reviewers of an item), Krippendorff's alpha for nominal data, Gwet's AC1."""

    percent: float | None
    alpha: float | None
    ac1: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `items` judged by at least two of the `reviewers`. Intervals draw whole answers: what is said of one answer hangs together.

    `differing` are the items that are not judged alike, with what each reviewer said first.
    """

    what: str
    items: int
    runs: int
    reviewers: tuple[str, ...]
    percent: Estimate
    alpha: Estimate
    ac1: Estimate
    differing: tuple[tuple[str, str, Mapping[str, str]], ...]

    def sentence(self) -> str:
        """In one line."""
        who = counted(len(self.reviewers), "reviewer")
        if not self.items:
            return f"{self.what}: no item is judged by two reviewers ({who})."
        figures = f"agreement {self.percent.words()}, Krippendorff's alpha {self.alpha.words()}, Gwet's AC1 {self.ac1.words()}"
        return f"{self.what}: {figures}; n = {counted(self.items, 'item')} of {counted(self.runs, 'answer')}, {who}."

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        figures = {name: getattr(self, name)._asdict() for name in ("percent", "alpha", "ac1")}
        differing = [{"run_id": run_id, "item": item, "said": dict(said)} for run_id, item, said in self.differing]
        return {"what": self.what, "n": self.items, "runs": self.runs, "reviewers": list(self.reviewers), **figures, "differing": differing}


class Precision(NamedTuple):
    """Of items of which the checker said one thing, how many the reviewers confirmed: (confirmed, of how many) for each answer."""

    answers: tuple[tuple[int, int], ...]

    @property
    def n(self) -> int:
        """How many items there are."""
        return sum(of for _, of in self.answers)

    @property
    def confirmed(self) -> int:
        """How many of them are confirmed."""
        return sum(confirmed for confirmed, _ in self.answers)

    @property
    def estimate(self) -> Estimate:
        """The share. Verdicts of one answer hang together, so the interval is Wilson's for as many items as would say as much alone."""
        return clustered(self.answers)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The checker against the reviewers' first verdicts (of several reviewers, what most said; `tied` items are left out).

    `right`: citations that it called right, which reviewers call right. `flagged`: those it called wrong or outdated, which reviewers do
    not call right. Both are of `answers`. `left_open`: it did not say. `differing` are (run_id, item, checker, reviewers).
    """

    right: Precision
    flagged: Precision
    answers: int
    left_open: int
    tied: int
    differing: tuple[tuple[str, str, CitationVerdict, CitationVerdict], ...]

    def sentence(self) -> str:
        """In one line."""
        judged = self.right.n + self.flagged.n
        if not judged:
            return "The checker is not calibrated on this data yet: no citation that it decides on is judged."

        def part(what: str, of: Precision) -> str:
            share = of.estimate
            if share.value is None:
                return f"{what} nothing"
            sure = "no interval of one answer" if share.low is None else f"95 %: {percent(share.low)} to {percent(share.high or 0)}"
            return f"{what} {of.n}, confirmed {of.confirmed} ({percent(share.value)}, {sure})"

        said = f"{part('it called right', self.right)}; {part('it flagged', self.flagged)}"
        where = f"{counted(judged, 'judged citation')} of {counted(self.answers, 'answer')}"
        return f"The checker on this data, over {where} (verdicts of one answer count as connected): {said}."

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""

        def part(of: Precision) -> dict[str, Any]:
            return {"n": of.n, "confirmed": of.confirmed, **of.estimate._asdict()}

        differing = [dict(zip(("run_id", "item", "checker", "reviewers"), each, strict=True)) for each in self.differing]
        own = {
            "right": part(self.right),
            "flagged": part(self.flagged),
            "answers": self.answers,
            "left_open": self.left_open,
            "tied": self.tied,
        }
        return {**own, "differing": differing}


def agreement(store: RunStore, run_ids: Iterable[str]) -> tuple[Agreement, Agreement]:
    """How reviewers agree about the citations of these runs, and about whether answers answer their questions."""
    first = first_given(store.judgements(list(run_ids), history=True))
    citations = {key: each.verdict for key, each in first.items() if each.verdict is not None}
    answers = {key: each.answers for key, each in first.items() if each.answers is not None}
    return _agreement("Citations", citations, CITATION_VERDICTS), _agreement("Answers the question", answers, get_args(Answers))


def calibration(store: RunStore, run_ids: Iterable[str]) -> Calibration:
    """How right the checker is on these runs, by what reviewers say."""
    wanted = list(dict.fromkeys(run_ids))
    said: dict[tuple[str, str], list[CitationVerdict]] = {}
    for (run_id, item, _), each in first_given(store.judgements(wanted, history=True)).items():
        if each.verdict is not None:
            said.setdefault((run_id, item), []).append(each.verdict)
    counts, left_open, tied = dict[str, Counter[tuple[bool, bool]]](), 0, 0
    differing: list[tuple[str, str, CitationVerdict, CitationVerdict]] = []
    claims = {run_id: claims_of(store.run(run_id)) for run_id in {run_id for run_id, _ in said}}
    for (run_id, item), verdicts in sorted(said.items()):
        parts = parts_of_item(item)
        claim = claims[run_id].get(parts[0]) if parts is not None else None
        checker = checker_says(claim, parts[1]) if claim is not None and parts is not None else None
        most = Counter(verdicts).most_common(2)
        if checker is None:
            left_open += 1
        elif len(most) > 1 and most[0][1] == most[1][1]:
            tied += 1
        else:
            counts.setdefault(run_id, Counter())[checker == "right", most[0][0] == "right"] += 1
            if checker != most[0][0]:
                differing.append((run_id, item, checker, most[0][0]))
    right, flagged = (
        Precision(
            tuple((own[says, says], own[says, True] + own[says, False]) for own in counts.values() if own[says, True] + own[says, False])
        )
        for says in (True, False)
    )
    return Calibration(right, flagged, len(counts), left_open, tied, tuple(differing))


def first_given(history: Iterable[Judgement]) -> dict[tuple[str, str, str], Judgement]:
    """What each reviewer said of each item first, by run, item and reviewer. `history` has the versions in order."""
    first: dict[tuple[str, str, str], Judgement] = {}
    for each in history:
        if each.is_given:
            first.setdefault((each.run_id, each.item, each.reviewer), each)
    return first


def _agreement(what: str, said: Mapping[tuple[str, str, str], str], categories: Sequence[str]) -> Agreement:
    items: dict[tuple[str, str], dict[str, str]] = {}
    for (run_id, item, reviewer), label in said.items():
        items.setdefault((run_id, item), {})[reviewer] = label
    reviewers = tuple(sorted({reviewer for _, _, reviewer in said}))
    both = {key: labels for key, labels in items.items() if len(labels) > 1}
    table = np.array([[list(labels.values()).count(one) for one in categories] for labels in items.values()], dtype=float)
    table = table.reshape(len(items), len(categories))
    names = {run_id: at for at, run_id in enumerate(dict.fromkeys(run_id for run_id, _ in items))}
    groups = np.array([names[run_id] for run_id, _ in items], dtype=int)
    estimates = with_intervals(table, groups)
    differing = tuple((*key, labels) for key, labels in both.items() if len(set(labels.values())) > 1)
    return Agreement(what, len(both), len({run_id for run_id, _ in both}), reviewers, *estimates, differing)


def with_intervals(table: np.ndarray, groups: np.ndarray, rounds: int = ROUNDS, seed: int = 0) -> tuple[Estimate, Estimate, Estimate]:
    """The three coefficients of a table items × categories (how many reviewers chose each), with the middle 95 % of draws of groups."""
    found = coefficients(table)
    many = int(groups.max()) + 1 if groups.size else 0
    if many < 2:
        percent, alpha, ac1 = (Estimate(value) for value in found)
        return percent, alpha, ac1
    random = np.random.default_rng(seed)
    drawn = [coefficients(table, random.multinomial(many, [1 / many] * many)[groups]) for _ in range(rounds)]
    percent, alpha, ac1 = (_estimate(value, [each[at] for each in drawn]) for at, value in enumerate(found))
    return percent, alpha, ac1


def _estimate(value: float | None, drawn: Sequence[float | None]) -> Estimate:
    known = [each for each in drawn if each is not None]
    if value is None or not known:
        return Estimate(value)
    low, high = np.quantile(known, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Estimate(value, float(low), float(high))


def coefficients(table: np.ndarray, weights: np.ndarray | None = None) -> Coefficients:
    """Of a table items × categories. None where nothing is judged twice, or where alpha has nothing to expect (one category alone).

    Krippendorff 2011, "Computing Krippendorff's alpha-reliability" (nominal); Gwet 2008, British Journal of Mathematical and
    Statistical Psychology 61:29, for any number of reviewers and items that some did not judge. `weights` count each item so often.
    """
    weight = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=float)
    judged = table.sum(axis=1)
    pairs = judged >= 2
    own, each, twice = table[pairs], judged[pairs], weight[pairs]
    if not twice.sum():
        return Coefficients(None, None, None)
    alike = float((twice * (own * (own - 1)).sum(axis=1) / (each * (each - 1))).sum() / twice.sum())
    totals = (twice[:, None] * own).sum(axis=0)
    n = totals.sum()
    observed = (twice * (own * (each[:, None] - own)).sum(axis=1) / (each - 1)).sum() / n
    expected = (totals * (n - totals)).sum() / (n * (n - 1))
    some = judged >= 1
    shares = (weight[some][:, None] * table[some] / judged[some][:, None]).sum(axis=0) / weight[some].sum()
    chance = float((shares * (1 - shares)).sum() / (table.shape[1] - 1))
    return Coefficients(alike, float(1 - observed / expected) if expected else None, (alike - chance) / (1 - chance))


def clustered(answers: Sequence[tuple[int, int]], level: float = LEVEL) -> Estimate:
    """The share of (confirmed, of how many) over answers, with Wilson's interval for the effective number of items.

    The variance is that of a ratio over answers, with Student's t for few of them (Korn and Graubard 1998, Survey Methodology 24:193).
    Where all are confirmed, or none, it cannot be told, and each answer counts once. Of one answer there is no interval.
    """
    n, many = sum(of for _, of in answers), len(answers)
    if not n:
        return Estimate(None)
    share = sum(confirmed for confirmed, _ in answers) / n
    if many < 2:
        return Estimate(share)
    spread = sum((confirmed - share * of) ** 2 for confirmed, of in answers) * many / (many - 1) / n**2
    z = NormalDist().inv_cdf((1 + level) / 2)
    t = z + (z**3 + z) / (4 * (many - 1))  # Student's, near enough
    effective = min(n, share * (1 - share) / spread * (z / t) ** 2) if spread else n if 0 < share < 1 else many
    return wilson(share * effective, effective, level)


def wilson(confirmed: float, n: float, level: float = LEVEL) -> Estimate:
    """A share with Wilson's score interval (1927)."""
    if not n:
        return Estimate(None)
    z, share = NormalDist().inv_cdf((1 + level) / 2), confirmed / n
    middle, half = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Estimate(share, max(0.0, (middle - half) / (1 + z * z / n)), min(1.0, (middle + half) / (1 + z * z / n)))
