"""A recommendation starts from its prior, leaves it only on evidence, and reports what it gained where it did not choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ctxasm.model.presets import PRESETS, RECOMMENDED
from ctxasm.model.records import GoldChunk, Hit, Query, Span
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.evidence import labels_of
from ctxasm.tuning.recommend.choosing import chosen, halves, held_out
from ctxasm.tuning.recommend.prior import LIMITS, Corpus, Curated, Prior, curated_settings, shipped_prior
from ctxasm.tuning.recommend.recommending import YOURS, Recommendation, candidates_of, recommend, recommended
from ctxasm.tuning.sweep.results import SweepResult
from ctxasm.tuning.sweep.sweep import grid_of
from tests.tuning.sweeps import new_store, plain_tools, sample_store

START = AssemblySettings()
CURATED = (
    Curated("wide", {"expand_window": 3}, ""),
    Curated("usual", {"expand_window": 1}, ""),
    Curated("narrow", {"expand_window": 0}, ""),
)


def prior_of(**whole: float) -> Prior:
    corpora = (Corpus("other", 100, {name: (value,) for name, value in whole.items()}, dict.fromkeys(whole, (100.0,))),)
    return Prior(CURATED, (4000,), corpora, "1")


USUAL_FIRST = prior_of(usual=0.8, wide=0.7, narrow=0.6)
WIDE_FIRST = prior_of(wide=0.8, usual=0.7, narrow=0.6)


def found_of(prior: Prior, n: int, **holds: Any) -> tuple[SweepResult, Any]:
    """A sweep in which question `at` has its evidence under a candidate where `holds[name](at)`, at every limit."""
    candidates = candidates_of(START, prior)
    tried = [s for _, own in candidates for s in (own, *(own.replace(max_tokens=limit) for limit in prior.limits))]
    grid = grid_of(START, tried, {})
    cells = np.zeros((len(grid.settings), n, 3), dtype=np.int32)
    names = {own.expand_window: name for name, own in candidates}
    for at, settings in enumerate(grid.settings):
        held = holds[names[settings.expand_window]]
        cells[at] = np.array([(100 + 50 * settings.expand_window, bool(held(q)), 1) for q in range(n)]).reshape(n, 3)
    ceiling = np.array([(900, 1, 1)] * n, dtype=np.int32).reshape(n, 3)
    result = SweepResult("d", "x", "1", grid.settings, {}, grid.start, tuple(f"q{at}" for at in range(n)), cells, ceiling)
    return result, candidates


def told(prior: Prior, n: int, **holds: Any) -> Recommendation:
    found, candidates = found_of(prior, n, **holds)
    return recommended(found, candidates, prior)


def test_without_labels_the_prior_speaks() -> None:
    made = told(WIDE_FIRST, 0, wide=bool, usual=bool, narrow=bool)
    assert (made.verdict, made.name, made.held, made.labelled) == ("prior", "wide", None, 0)
    assert made.sentences()[0] == "Take Neighbours 3: no question here is labelled, so this rests on 1 other corpora alone."
    assert "label about" in made.sentences()[1]
    assert told(USUAL_FIRST, 0, wide=bool, usual=bool, narrow=bool).verdict == "keep"


def test_few_questions_do_not_overturn_the_prior() -> None:
    made = told(WIDE_FIRST, 12, wide=lambda at: at % 2, usual=lambda at: at % 2 or at == 0, narrow=lambda at: at % 2)
    assert (made.verdict, made.name) == ("prior", "wide")
    assert made.more > 0
    assert "not shown" in made.sentences()[1]


def test_clear_evidence_overturns_it() -> None:
    made = told(USUAL_FIRST, 80, wide=lambda at: at % 4, usual=lambda at: at % 2, narrow=lambda at: at % 8)
    assert (made.verdict, made.name, made.settings.expand_window) == ("shown", "narrow", 0)
    assert made.held is not None
    assert made.held.p < 0.05
    assert made.held.gain == pytest.approx(0.375, abs=0.05)
    assert made.more == 0
    assert (len(made.gained), made.lost) == (30, ())
    assert made.sentences()[0] == (
        "Take Neighbours 0, the rest as yours: it holds the evidence of 70 of 80 questions, your settings 40 "
        "(the hits with 3 neighbours could give 80)."
    )
    assert "more than chance explains" in made.sentences()[1]
    assert made.sentences()[2] == "It takes 100 tokens a question in place of 150; it gains 30 questions and loses 0 questions."


def test_evidence_against_the_prior_keeps_what_one_has() -> None:
    made = told(WIDE_FIRST, 60, wide=lambda at: at % 4 == 0, usual=lambda at: at % 2, narrow=lambda at: False)
    assert (made.verdict, made.settings) == ("keep", START)
    assert made.sentences()[0].startswith("Keep your settings: they hold the evidence of 30 of 60 questions")


def test_settings_of_ones_own_are_a_candidate() -> None:
    own = START.replace(expand_window=2)
    names = [name for name, _ in candidates_of(own, USUAL_FIRST)]
    assert names == ["usual", "wide", "narrow", YOURS]
    assert [name for name, _ in candidates_of(START, USUAL_FIRST)] == ["usual", "wide", "narrow"]


def test_the_bar_to_leave_the_prior_is_z() -> None:
    pooled = np.zeros((2, 20))
    pooled[1, :2] = 1
    assert chosen(pooled, 0) == 0  # 2 of 20: z = 1.45
    pooled[1, :3] = 1
    assert chosen(pooled, 0) == 1  # 3 of 20: z = 1.83
    assert chosen(pooled[:, :1], 0) == 0
    assert chosen(np.ones((3, 30)), 2) == 2
    always = np.zeros((2, 9))
    always[1] = 1
    assert chosen(always, 0) == 1  # the same gain everywhere has no spread


def test_halves_share_out_what_is_alike() -> None:
    values = np.array([0.0] * 11 + [1.0] * 10)
    for one, other in halves(values, 3, 0):
        assert sorted([*one, *other]) == list(range(21))
        assert abs(int(values[one].sum()) - 5) <= 1
        assert abs(len(one) - len(other)) == 1


def test_choosing_among_noise_promises_nothing() -> None:
    """The mean over many draws without a true difference: the best of many on its own questions, and what is reported."""
    promised, reported = [], []
    for seed in range(120):
        random = np.random.default_rng(seed)
        whole = random.random((9, 50)) < 0.6
        pooled = whole.astype(float)
        promised.append(float(pooled.mean(axis=1).max() - pooled[0].mean()))
        reported.append(held_out(pooled, whole, 0, 0, np.zeros(50), seed=seed, repeats=5).gain)
    assert np.mean(promised) > 0.06
    assert abs(float(np.mean(reported))) < 0.015


def test_the_shipped_prior_is_that_of_the_curated_settings() -> None:
    """Where this fails: python -m ctxasm.app.prior FOLDER …"""
    prior = shipped_prior()
    names = {each.name for each in curated_settings()}
    (own,) = (each for each in curated_settings() if each.name == RECOMMENDED)
    assert own.changes.items() >= PRESETS[RECOMMENDED].items()
    assert prior.limits == LIMITS
    assert len(prior.corpora) >= 4
    for corpus in prior.corpora:
        assert set(corpus.whole) == set(corpus.tokens) == names
        assert all(len(values) == len(LIMITS) for values in corpus.whole.values())
    assert prior.without("andocs").value("runs") != prior.value("runs")
    ranked = [prior.value(each.name) for each in prior.ranked()]
    assert ranked == sorted(ranked, reverse=True)


def test_a_recommendation_over_the_sample_is_the_same_each_time_and_kept() -> None:
    store = new_store()
    dataset = store.dataset()
    queries = dataset.queries()[:4]
    first = recommend(dataset, queries, START, plain_tools(), "1", keep=store)
    again = recommend(sample_store().dataset(), queries, START, plain_tools(), "1")
    assert first.to_dict() == again.to_dict()
    assert first.labelled > 0
    assert first.whole <= first.ceiling
    assert first.to_dict()["sentences"] == list(first.sentences())
    assert first.gold.startswith(f"{first.labelled} questions by spans")


def test_gold_that_only_holds_what_was_retrieved_is_told() -> None:
    inside = Query("a", (Hit("d", 1, 1.0),), "1", (GoldChunk("d", 1),))
    outside = Query("b", (Hit("d", 1, 1.0),), "2", (GoldChunk("d", 2),))
    favours = "1 only among what was retrieved, which favours what retrieved it"
    assert labels_of([inside, outside]) == f"2 questions by gold chunks, {favours}"
    marked = Query("a", (Hit("d", 1, 1.0),), "1", (GoldChunk("d", 1, "hand"),))
    cited = Query("a", (), "3", (GoldChunk("d", 1, "cited"), GoldChunk("d", 2, "hand")))
    made = Query("b", (Hit("d", 1, 1.0),), "2", (GoldChunk("d", 1, "made"),))
    said = "2 marked by hand, 1 approved as cited, 1 made of their chunk, whose words they share"
    assert labels_of([marked, cited, made]) == f"3 questions by gold chunks ({said}), {favours}"
    span = Span("d", 0, 4)
    beside = Query("c", (), "4", (GoldChunk("d", 3), GoldChunk("d", 4, "hand")), (span,))
    assert (
        labels_of([beside, Query("e", (), "5", (GoldChunk("d", 3),), (span,))])
        == "2 questions by spans, 1 question by gold chunks (1 marked by hand)"
    )
    there = Query("f", (Hit("d", 4, 1.0),), "6", (GoldChunk("d", 3), GoldChunk("d", 9, "made"), GoldChunk("d", 4, "cited")), (span,))
    assert labels_of([there]) == f"1 question by spans, 1 question by gold chunks (1 approved as cited), {favours}"
    assert labels_of([]) == "no labels"
