"""Agreement of scores with labels: figures against brute force, and which labels count."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.citations.agreement import (
    AtThreshold,
    Bin,
    Judged,
    auc,
    bare_claim,
    bootstrap_auc,
    is_label,
    label_scores,
    precision_recall,
    reliability,
)
from ctxasm.model.messages import Cancel
from ctxasm.model.records import Answer
from ctxasm.model.support import Comparison, Conflict, Found, Match, Source, Spent


class Words:
    """A scorer by share of shared words, which remembers what it was asked. "not" in the claim is a conflict."""

    name, threshold, partly = "words", 0.6, 0.3

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[str, ...], str]] = []

    def compare(self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None) -> Comparison:
        self.asked.append((tuple(claims), question))
        return Compared(claims, sources)


class Compared:
    spent = Spent()

    def __init__(self, claims: Sequence[str], sources: Sequence[Source]) -> None:
        self.claims, self.sources = claims, sources

    def each(self, claim: int) -> list[Match]:
        return [self.together(claim, [at]) for at in range(len(self.sources))]

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        wanted = set(self.claims[claim].lower().split())
        text = " ".join(self.sources[at].text for at in sources).lower().split()
        score = len(wanted & set(text)) / len(wanted)
        conflict = Conflict("negation", "not", "", self.sources[sources[0]].number, 0, 0) if "not" in wanted else None
        return Match(score, (Found(self.sources[sources[0]].number, 0, 1, score),) if score else (), (), conflict)


SOURCES = ({"n": 1, "text": "the desk opens at seven"}, {"n": 7, "text": "parking costs two euro"})


def label(claim: str, cites: list[int], attributable: bool = True) -> dict[str, object]:
    return {"claim": claim, "cites": cites, "support": "attributable" if attributable else "not attributable"}


def test_labels_are_scored_against_their_cited_sources_together() -> None:
    labels = (
        label("The desk opens [1]", [1]),
        label("the desk costs two euro [1][7].", [1, 7]),
        label("nobody cites", []),
        label("parking is cheap [7]", [7, 7], False),
        label("no such source [3]", [3], False),
        label("not seven [1]", [1], False),
        label("the desk opens [1, 7]", [1, 7]),
        {"claim": "another form", "label": 3},
    )
    scorer = Words()
    judged = label_scores([Answer("q", "…", SOURCES, labels), Answer("none", "…", SOURCES)], scorer, {"q": "When?"})
    assert judged == [
        Judged(1.0, True, "q"),
        Judged(0.8, True, "q"),  # "euro." is no word of the source
        Judged(pytest.approx(1 / 3), False, "q", True),  # below the threshold
        Judged(0.0, False, "q", True),
        Judged(0.5, False, "q", True),
        Judged(0.5, True, "q", True),  # all of it is in 1, nothing in 7: the mean of both, and refused
    ]
    ((claims, question),) = scorer.asked
    assert claims == ("The desk opens", "the desk costs two euro.", "parking is cheap", "no such source", "not seven", "the desk opens")
    assert question == "When?"
    assert precision_recall(judged, 0.3) == AtThreshold(1.0, 2 / 3, 2, 3)
    assert precision_recall(judged, 0.9) == AtThreshold(1.0, 1 / 3, 1, 3)
    assert precision_recall(judged, 1.1) == AtThreshold(None, 0.0, 0, 3)
    false = [item._replace(refused=False) for item in judged]
    assert precision_recall(false, 0.3) == AtThreshold(3 / 5, 1.0, 5, 3)
    assert precision_recall([], 0.5) == AtThreshold(None, None, 0, 0)


@pytest.mark.parametrize(
    "label",
    [
        {},
        {"claim": "x", "cites": [1]},
        {"claim": 3, "cites": [1], "support": "attributable"},
        {"claim": "x", "cites": "1", "support": "attributable"},
        {"claim": "x", "cites": ["1"], "support": "attributable"},
        {"claim": "x", "cites": [True], "support": "attributable"},
        {"claim": "x", "cites": [1], "support": "yes"},
        {"claim": "x", "cites": [1], "support": ["attributable"]},
    ],
)
def test_other_labels_are_not_compared(label: dict[str, object]) -> None:
    assert not is_label(label)
    assert label_scores([Answer("q", "…", SOURCES, (label,))], Words()) == []


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("It opens [1][2].", "It opens."),
        ("It opens. [1]", "It opens."),
        ("In context [1], it\n opens", "In context, it opens"),
        ("arr[1] stays", "arr[1] stays"),
        ("[1]", ""),
    ],
)
def test_a_claim_without_its_markers(text: str, bare: str) -> None:
    assert bare_claim(text) == bare


scored = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.booleans(), st.sampled_from("abc")), max_size=30)


@given(scored)
def test_auc_is_the_share_of_pairs_in_order(items: list[tuple[float, bool, str]]) -> None:
    high = [score for score, says, _ in items if says]
    low = [score for score, says, _ in items if not says]
    pairs = [1.0 if h > o else 0.5 if h == o else 0.0 for h in high for o in low]
    found = auc([score for score, _, _ in items], [says for _, says, _ in items])
    assert found == (pytest.approx(sum(pairs) / len(pairs)) if pairs else None)


@given(scored)
def test_the_interval_is_inside_0_and_1_and_the_same_every_time(items: list[tuple[float, bool, str]]) -> None:
    judged = [Judged(score, says, group) for score, says, group in items]
    interval = bootstrap_auc(judged, rounds=20)
    assert interval == bootstrap_auc(judged, rounds=20)
    if auc([item.score for item in judged], [item.attributable for item in judged]) is None:
        assert interval is None
    if interval is not None:
        assert 0 <= interval[0] <= interval[1] <= 1


def test_the_interval_holds_the_figure_and_draws_whole_answers() -> None:
    judged = [Judged((at * 37 % 100) / 100 + (0.3 if at % 2 else 0), bool(at % 2), str(at)) for at in range(200)]
    figure = auc([item.score for item in judged], [item.attributable for item in judged])
    interval = bootstrap_auc(judged, rounds=200)
    assert interval is not None
    assert figure is not None
    assert interval[0] < figure < interval[1]
    assert 0.05 < interval[1] - interval[0] < 0.2
    assert bootstrap_auc(judged, rounds=200, seed=1) != interval
    # Ten copies of each claim in one answer say nothing new; as answers of their own they would narrow the interval.
    copied = [item for item in judged for _ in range(10)]
    assert bootstrap_auc(copied, rounds=200) == pytest.approx(interval)
    separate = bootstrap_auc([item._replace(query_id=str(at)) for at, item in enumerate(copied)], rounds=200)
    assert separate is not None
    assert separate[1] - separate[0] < (interval[1] - interval[0]) / 2


@given(scored, st.integers(1, 12))
def test_bins_hold_every_score_once(items: list[tuple[float, bool, str]], bins: int) -> None:
    found = reliability([Judged(*item) for item in items], bins)
    assert sum(bin.count for bin in found) == len(items)
    assert [(bin.low, bin.high) for bin in found] == [(at / bins, (at + 1) / bins) for at in range(bins)]
    assert sum((bin.share or 0) * bin.count for bin in found) == pytest.approx(sum(says for _, says, _ in items))


def test_the_last_bin_holds_1() -> None:
    judged = [Judged(1.0, True, "q"), Judged(0.5, False, "q"), Judged(0.99, False, "q")]
    assert reliability(judged, 2) == [Bin(0.0, 0.5, 0, None), Bin(0.5, 1.0, 3, 1 / 3)]
