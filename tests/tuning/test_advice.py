"""Advice: which changes are tried, and that it offers only what the one test shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ctxasm.model.presets import PRESETS, RECOMMENDED, preset
from ctxasm.model.settings import MEASURED_AGAINST, AssemblySettings
from ctxasm.tuning import advice
from ctxasm.tuning.advice import Advice, advise, decide_advice, describe_effect, settings_to_try
from ctxasm.tuning.compare import compare
from ctxasm.tuning.evidence import EvidenceState, Place
from ctxasm.tuning.statistics import FEWEST, SIGNIFICANCE, max_t_p, paired_difference
from tests.examples import examples
from tests.tuning.sweeps import context, sample
from tests.tuning.test_decision import first, table

START = AssemblySettings(max_tokens=2000)
DRAWS = 300


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine must not end a count early."""
    monkeypatch.setattr(advice, "PATIENCE_S", 1e9)


def differing(one: AssemblySettings, other: AssemblySettings) -> dict[str, object]:
    return {name: value for name, value in one.to_dict().items() if value != getattr(other, name)}


@pytest.mark.parametrize("start", [START, AssemblySettings(), preset(RECOMMENDED), preset("literal_source"), preset("wide_window")])
def test_each_change_is_one_setting_or_the_recommended_choice(start: AssemblySettings) -> None:
    tried = settings_to_try(start)
    assert len(set(tried)) == len(tried)
    assert start not in tried
    assert 8 <= len(tried) <= 16
    for each in tried:
        changes = differing(each, start)
        assert len(changes) == 1 or changes.items() <= PRESETS[RECOMMENDED].items()
        assert not changes.items() & MEASURED_AGAINST.keys()
    higher = [each.max_tokens > start.max_tokens for each in tried]
    assert higher == sorted(higher)


@pytest.mark.parametrize(
    ("start", "name", "values"),
    [
        (START, "max_tokens", {4000}),
        (AssemblySettings(max_tokens=3000), "max_tokens", {2000, 4000}),
        (AssemblySettings(), "expand_window", {0, 2}),
        (AssemblySettings(), "top_k", {10}),
        (AssemblySettings(top_k=7), "top_k", {5, 10}),
        (AssemblySettings(top_k=10), "top_k", {5, None}),
        (preset(RECOMMENDED), "pool_window", {5, 7}),
        (AssemblySettings(dedup_near=True), "dedup_near", {False}),
        (AssemblySettings(), "dedup_near", set()),
    ],
)
def test_a_change_is_one_step(start: AssemblySettings, name: str, values: set[object]) -> None:
    alone = [changes for each in settings_to_try(start) if len(changes := differing(each, start)) == 1]
    assert {changes[name] for changes in alone if name in changes} == values


def test_with_assembly_off_it_is_switched_on_and_nothing_else() -> None:
    assert settings_to_try(AssemblySettings(enabled=False)) == (AssemblySettings(),)


def on_the_sample(start: AssemblySettings) -> Advice | None:
    return advise(context(sample().queries), start)


def test_what_is_offered_is_what_compare_says_of_the_same_two_settings() -> None:
    offered = on_the_sample(START)
    assert offered is not None
    assert offered.settings in settings_to_try(START)
    compared = compare(context(sample().queries), START, offered.settings)
    assert offered.result == compared.result
    assert offered.result.shown
    assert offered.questions_text() == f"helps {len(compared.better)} of {compared.labelled} questions, hurts {len(compared.worse)}"
    assert any(compared.result.sentence() in sentence for sentence in offered.decision.sentences())
    assert not offered.sampled


@given(
    st.integers(FEWEST, 60).flatmap(
        lambda n: st.lists(st.tuples(st.lists(st.integers(0, 1), min_size=n, max_size=n), st.integers(100, 9000)), min_size=2, max_size=6)
    )
)
@hypothesis_settings(max_examples=examples(200), deadline=None)
def test_what_is_offered_is_never_beaten_by_keeping(rows: list[tuple[list[int], int]]) -> None:
    found = table([whole for whole, _ in rows], [tokens for _, tokens in rows])
    made = decide_advice(found)
    if made is None:
        return
    whole = found.whole.sum(axis=1)
    if made.verdict == "gain":
        adjusted = max_t_p((found.whole.astype(float) - found.whole[0]).T.tolist())
        assert whole[made.taken] > whole[0]
        assert paired_difference(found.differences(made.taken, 0)).shown
        assert adjusted[made.taken] <= SIGNIFICANCE
    else:
        assert whole[made.taken] >= whole[0]
        assert found.tokens(made.taken) <= 0.95 * found.tokens(0)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_without_a_gain_nothing_is_offered_in_at_most_one_of_twenty_draws(share: float) -> None:
    offers = 0
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        flips = random.random((13, 50)) < share
        whole = np.where(flips, random.integers(0, 2, (13, 50)), random.integers(0, 2, 50))
        found = table(whole.tolist(), [1000] * 13)
        raised = replace(found.settings[0], max_tokens=16000)
        offers += decide_advice(replace(found, settings=(*found.settings[:-1], raised))) is not None
    assert offers <= 0.05 * DRAWS


def test_a_higher_limit_is_offered_only_where_nothing_within_the_limit_gains() -> None:
    own, gains, noise = first(40, 20), first(40, 30), first(40, 21)
    for within, taken in ((gains, 1), (noise, 2)):
        found = table([own, within, first(40, 38)], [1000, 1100, 2000])
        raised = (*found.settings[:2], found.settings[0].replace(max_tokens=16000))
        made = decide_advice(replace(found, settings=raised))
        assert made is not None
        assert made.taken == taken


def test_a_saving_that_nobody_would_notice_is_not_offered() -> None:
    for tokens, taken in ((999, None), (900, 1)):
        made = decide_advice(table([first(200, 150), first(200, 150)], [1000, tokens]))
        assert (made and made.taken) == taken


def test_few_labels_and_a_cancelled_count_offer_nothing() -> None:
    few = [query for query in sample().queries if query.is_labelled][: FEWEST - 1]
    assert advise(context(few), START) is None
    assert advise(context(sample().queries, cancelled=lambda: True), START) is None


def test_of_many_questions_some_are_counted_and_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    labelled = sum(query.is_labelled for query in sample().queries)
    monkeypatch.setattr(advice, "MOST_COUNTED", labelled - 5)
    offered = on_the_sample(START)
    assert offered is not None
    assert f"of {labelled - 5} sampled questions" in offered.questions_text()
    monkeypatch.setattr(advice, "PATIENCE_S", 0.0)
    monkeypatch.setattr(advice, "LEAST_COUNTED", labelled - 8)
    offered = on_the_sample(START)
    assert offered is not None
    assert offered.result.n == labelled - 8
    assert offered.sampled


def piece(state: str) -> EvidenceState:
    return EvidenceState(Place("a", None, None, (), ()), state, float(state == "found"), None if state == "found" else "budget")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("", "", ""),
        ("+-", "+-", "same evidence here"),
        ("+-", "++", "brings “A single room costs…” back"),
        ("---", "-++", "brings 2 pieces of evidence back"),
        ("+-", "-+", "brings “A single room costs…” back, loses “A single room costs…”"),
        ("+", "-", "loses “A single room costs…”"),
    ],
)
def test_what_it_does_here(before: str, after: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "QUOTED", 20)
    states = [[piece("found" if sign == "+" else "lost") for sign in signs] for signs in (before, after)]
    assert describe_effect(*states, lambda _: "A single  room\ncosts 62 euro a night") == said
