"""How well a scorer agrees with people: its scores of labelled claims against what annotators said of them.

A label is `{claim, cites, support}` with `support` "attributable" or "not attributable" (as in HAGRID and AttributionBench);
one without references cannot be judged by its sources and is left out. Pure, and deterministic: the interval resamples
with a fixed seed. Whole answers are resampled, because the labels of one answer are not independent.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, NamedTuple

import numpy as np

from ctxasm.citations.answer_text import without_markers
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.markers import parse_markers
from ctxasm.citations.weighing import weigh
from ctxasm.model.records import Answer
from ctxasm.model.support import Scorer

ATTRIBUTABLE, NOT_ATTRIBUTABLE = "attributable", "not attributable"


class Judged(NamedTuple):
    """The score of a labelled claim against the sources that it cites (see `weighing`), and what the annotator said.

    `refused`: it would not be shown as supported: below the threshold, in conflict, or with a source that carries nothing.
    """

    score: float
    attributable: bool
    query_id: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores from `low` to below `high` (the last bin holds `high`): how many, and the share that is attributable."""

    low: float
    high: float
    count: int
    share: float | None


class AtThreshold(NamedTuple):
    """Of the claims called supported, how many are attributable (`precision`); of these, how many are found (`recall`).

    None where nothing is counted. `called` claims reach the threshold, `attributable` claims are labelled so.
    """

    precision: float | None
    recall: float | None
    called: int
    attributable: int


def is_label(label: Mapping[str, Any]) -> bool:
    """Whether a label has the form that can be compared: a claim, the numbers it cites, and one of the two words."""
    cites = label.get("cites")
    return (
        isinstance(label.get("claim"), str)
        and isinstance(cites, list | tuple)
        and all(type(number) is int for number in cites)
        and label.get("support") in (ATTRIBUTABLE, NOT_ATTRIBUTABLE)
    )


def label_scores(records: Iterable[Answer], scorer: Scorer, questions: Mapping[str, str] | None = None) -> list[Judged]:
    """Every label with references, scored against the sources it cites, in order. `questions` are by query_id.

    A reference that the record has no source for adds nothing; a label with no source at all scores 0 and is refused.
    Raises ModelUnavailable where the scorer does.
    """
    found: list[Judged] = []
    for record in records:
        labels = [label for label in record.labels if is_label(label) and label["cites"]]
        if not labels:
            continue
        sources = grounds_of_sources(record.sources).sources
        positions = {source.number: position for position, source in enumerate(sources)}
        texts = [bare_claim(label["claim"]) for label in labels]
        comparison = scorer.compare(texts, sources, (questions or {}).get(record.query_id, ""))
        for at, label in enumerate(labels):
            cited = {number: positions[number] for number in label["cites"] if number in positions}
            says = label["support"] == ATTRIBUTABLE
            if not cited:
                found.append(Judged(0.0, says, record.query_id, True))
                continue
            weighed = weigh(comparison, scorer, at, cited)
            found.append(Judged(weighed.score, says, record.query_id, not weighed.carried))
    return found


def bare_claim(text: str) -> str:
    """What a claim says: its markers taken out, white space collapsed."""
    return " ".join(without_markers(text, parse_markers(text)).split())


def auc(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    """The chance that an attributable claim scores above one that is not, a tie counting half (Mann-Whitney by ranks).

    None where one of the two kinds is absent.
    """
    order, starts, positive = _ranked(scores, labels)
    return _weighted_auc(np.ones(len(order)), starts, positive)


def bootstrap_auc(judged: Sequence[Judged], rounds: int = 1000, seed: int = 0) -> tuple[float, float] | None:
    """The middle 95 % of the AUC over `rounds` draws of whole answers (by query_id) with replacement.

    A draw with one kind only is left out; None where no draw has both.
    """
    groups = {query_id: at for at, query_id in enumerate(dict.fromkeys(item.query_id for item in judged))}
    order, starts, positive = _ranked([item.score for item in judged], [item.attributable for item in judged])
    group = np.array([groups[item.query_id] for item in judged], dtype=int)[order]
    random, drawn = Random(seed), list[float]()  # noqa: S311 (a fixed seed is the point)
    for _ in range(rounds if groups else 0):
        weights = np.bincount(random.choices(range(len(groups)), k=len(groups)), minlength=len(groups))
        if (value := _weighted_auc(weights[group], starts, positive)) is not None:
            drawn.append(value)
    low, high = np.quantile(drawn, (0.025, 0.975)) if drawn else (0.0, 0.0)
    return (float(low), float(high)) if drawn else None


def reliability(judged: Sequence[Judged], bins: int = 10) -> list[Bin]:
    """The share of attributable claims by score: `bins` of equal width over 0 to 1, empty ones included."""
    edges = [at / bins for at in range(bins)]
    inside: list[list[bool]] = [[] for _ in range(bins)]
    for item in judged:
        inside[min(bins, max(1, bisect_right(edges, item.score))) - 1].append(item.attributable)
    return [Bin(at / bins, (at + 1) / bins, len(labels), sum(labels) / len(labels) if labels else None) for at, labels in enumerate(inside)]


def precision_recall(judged: Sequence[Judged], threshold: float) -> AtThreshold:
    """Precision and recall of "supported" at a threshold; a refused claim is never called supported."""
    called = [item.attributable for item in judged if item.score >= threshold and not item.refused]
    positive = sum(item.attributable for item in judged)
    right = sum(called)
    return AtThreshold(right / len(called) if called else None, right / positive if positive else None, len(called), positive)


def agreement_dict(judged: Sequence[Judged], threshold: float, labels: int) -> dict[str, Any]:
    """The agreement as JSON: `labels` there were, `compared` of them had references and the right form. A figure of nothing is None."""
    interval = bootstrap_auc(judged)
    at = precision_recall(judged, threshold)
    return {
        "labels": labels,
        "compared": len(judged),
        "auc": auc([item.score for item in judged], [item.attributable for item in judged]),
        "auc_low": interval[0] if interval else None,
        "auc_high": interval[1] if interval else None,
        "threshold": threshold,
        **at._asdict(),
        "reliability": [asdict(bin) for bin in reliability(judged)],
    }


def _ranked(scores: Sequence[float], labels: Sequence[bool]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The claims by score: their order, where each score begins in it, and in that order whether a claim is attributable."""
    found = np.asarray(scores, dtype=float)
    order = np.argsort(found, kind="stable")
    starts = np.flatnonzero(np.diff(found[order], prepend=-np.inf) != 0)
    return order, starts, np.asarray(labels, dtype=bool)[order]


def _weighted_auc(weights: np.ndarray, starts: np.ndarray, positive: np.ndarray) -> float | None:
    positives, negatives = float(weights[positive].sum()), float(weights[~positive].sum())
    if not positives or not negatives:
        return None
    here, others = (np.add.reduceat(weights * kind, starts) for kind in (positive, ~positive))
    below = np.cumsum(others) - others
    return float((here * (below + others / 2)).sum() / (positives * negatives))
