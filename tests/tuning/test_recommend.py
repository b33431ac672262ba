"""What a recommendation tries, and the prior that it starts from; what follows from it stands in `test_decision`."""

from __future__ import annotations

import pytest

from ctxasm.model.presets import PRESETS, RECOMMENDED
from ctxasm.model.records import GoldChunk, Hit, Query, Span
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.evidence import labels_of
from ctxasm.tuning.recommend import LIMITS, Corpus, Curated, Prior, curated_settings, recommend, settings_tried, shipped_prior
from tests.tuning.sweeps import context, new_store, sample_store

START = AssemblySettings()
CURATED = (
    Curated("wide", {"expand_window": 3}, ""),
    Curated("usual", {"expand_window": 1}, ""),
    Curated("narrow", {"expand_window": 0}, ""),
)


def prior_of(**whole: float) -> Prior:
    corpora = (Corpus("other", 100, {name: (value,) for name, value in whole.items()}, dict.fromkeys(whole, (100.0,))),)
    return Prior(CURATED, (4000,), corpora, "1")


WIDE_FIRST = prior_of(wide=0.8, usual=0.7, narrow=0.6)


def test_curated_settings_are_tried_at_ones_own_limit_and_below() -> None:
    tried = settings_tried(START.replace(max_tokens=2000), WIDE_FIRST)
    assert {each.max_tokens for each in tried} == {2000}
    tried = settings_tried(START, shipped_prior())
    assert {each.max_tokens for each in tried} == {1000, 2000, 4000, 8000}
    assert len(tried) == len(set(tried)) == 4 * len(curated_settings())
    assert {each.max_tokens for each in settings_tried(START.replace(budget_mode="window"), shipped_prior())} == {8000}


def test_the_choice_of_other_corpora_stands_on_ones_own_settings() -> None:
    queries = sample_store().dataset().queries()[:2]
    made = recommend(context(queries), START.replace(gap_mark="[..]", max_tokens=1_000), prior=WIDE_FIRST)
    assert made.prior is not None
    best = made.found.settings[made.prior.at]
    assert (best.expand_window, best.gap_mark, best.max_tokens) == (3, "[..]", 1000)
    assert made.prior.gain == pytest.approx(0.1)
    own = recommend(context(queries), START.replace(expand_window=2), prior=WIDE_FIRST)
    assert own.prior is not None
    assert own.prior.gain is None  # no corpus was counted with these settings


def test_the_shipped_prior_is_that_of_the_curated_settings() -> None:
    """Where this fails: python -m tests.tuning.make_prior FOLDER …"""
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
    queries = sample_store().dataset().queries()[:4]
    first = recommend(context(queries, keep=new_store()), START)
    again = recommend(context(queries), START)
    assert first.to_dict() == again.to_dict()
    assert first.labelled > 0
    assert max(first.whole) <= int(first.found.reachable.sum())
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
    judged = Query(
        "g", (), "7", (GoldChunk("d", 1, "cited", votes=(2, 2)), GoldChunk("d", 2, "hand", votes=(1, 2)), GoldChunk("d", 3, "cited"))
    )
    votes = "1 approved as cited, 1 cited and approved by 2 of 2 reviewers"
    assert labels_of([judged]) == f"1 question by gold chunks (1 named by 1 of 2 reviewers, {votes})"
