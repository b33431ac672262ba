"""How well a scorer agrees with people: its scores of labelled claims against what annotators said of them.

A label is `{claim, cites, support}` with `support` "attributable" or "not attributable" (as in HAGRID and AttributionBench);
one without references cannot be judged by its sources and is left out. Pure, and deterministic: the interval resamples
with a fixed seed. Whole answers are resampled, because the labels of one answer are not independent.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from random import Random
from typing import Any, NamedTuple

from ctxasm.citations.effects import remove
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
        texts = [without_markers(label["claim"]) for label in labels]
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


def without_markers(text: str) -> str:
    """What a claim says: its markers taken out, white space collapsed."""
    return " ".join(remove(text, parse_markers(text)).text.split())


def auc(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    """The chance that an attributable claim scores above one that is not, a tie counting half (Mann-Whitney by ranks).

    None where one of the two kinds is absent.
    """
    return _weighted_auc(_in_order(scores, labels, [0] * len(scores)), [1])


def bootstrap_auc(judged: Sequence[Judged], rounds: int = 1000, seed: int = 0) -> tuple[float, float] | None:
    """The middle 95 % of the AUC over `rounds` draws of whole answers (by query_id) with replacement.

    A draw with one kind only is left out; None where no draw has both.
    """
    groups = {query_id: at for at, query_id in enumerate(dict.fromkeys(item.query_id for item in judged))}
    ties = _in_order([item.score for item in judged], [item.attributable for item in judged], [groups[item.query_id] for item in judged])
    random, drawn = Random(seed), list[float]()  # noqa: S311 (a fixed seed is the point)
    for _ in range(rounds):
        weights = [0] * len(groups)
        for at in random.choices(range(len(groups)), k=len(groups)) if groups else ():
            weights[at] += 1
        if (value := _weighted_auc(ties, weights)) is not None:
            drawn.append(value)
    drawn.sort()
    return (_quantile(drawn, 0.025), _quantile(drawn, 0.975)) if drawn else None


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


class _Tie(NamedTuple):
    """The claims of one score: the group of each attributable one, and of each other one."""

    attributable: list[int]
    other: list[int]


def _in_order(scores: Sequence[float], labels: Sequence[bool], groups: Sequence[int]) -> list[_Tie]:
    ordered = sorted(zip(scores, labels, groups, strict=True))
    ties = [list(items) for _, items in groupby(ordered, key=lambda item: item[0])]
    return [_Tie([g for _, label, g in items if label], [g for _, label, g in items if not label]) for items in ties]


def _weighted_auc(ties: Sequence[_Tie], weights: Sequence[int]) -> float | None:
    below, won, positives = 0, 0.0, 0
    for tie in ties:
        here = sum(weights[group] for group in tie.attributable)
        others = sum(weights[group] for group in tie.other)
        won += here * (below + others / 2)
        positives += here
        below += others
    return won / (positives * below) if positives and below else None


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between the two nearest, like numpy's default."""
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
