"""Sharing out a window: the zones add up, a reserve takes from the context, and what cannot be is named."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.answering.zones import ZONE_PROFILES, Counted, outgrown, share_out
from ctxasm.model.errors import InvalidInput
from ctxasm.model.presets import PRESETS
from ctxasm.model.results import ZONE_NAMES
from ctxasm.model.settings import AssemblySettings

TOKENS = st.integers(0, 20_000)
RESERVED = st.none() | TOKENS
COUNTED = st.builds(Counted, TOKENS, TOKENS, TOKENS)
WINDOWS = st.integers(1, 2_000_000)
SETTINGS = st.builds(
    AssemblySettings,
    budget_mode=st.sampled_from(["fixed", "window"]),
    max_tokens=st.integers(500, 16_000),
    system_tokens=RESERVED,
    question_tokens=RESERVED,
    history_tokens=RESERVED,
    answer_tokens=TOKENS,
    overhead_tokens=st.integers(0, 500),
    safety_margin=st.floats(0, 0.5),
)


def shared(settings: AssemblySettings, window: int, counted: Counted) -> object:
    try:
        return share_out(settings, window, counted)
    except InvalidInput as error:
        return str(error)


@given(SETTINGS, WINDOWS, COUNTED)
def test_the_zones_add_up_to_the_window(settings: AssemblySettings, window: int, counted: Counted) -> None:
    zones = shared(settings, window, counted)
    if isinstance(zones, str):
        assert settings.budget_mode == "window"
        assert any(name in zones for name in ("system", "question", "history", "answer", "overhead", "margin"))
        return
    assert sum(zone.tokens for zone in zones.zones) == window + zones.over
    assert all(zone.tokens >= 0 for zone in zones.zones)
    assert [zone.name for zone in zones.zones] == [name for name in ZONE_NAMES if name in {zone.name for zone in zones.zones}]
    if settings.budget_mode == "window":
        assert zones.context >= 1
        assert zones.over == 0
    else:
        assert zones.context == settings.max_tokens
        assert not (zones.over and zones.tokens_of("free"))
    for name, sent in (("system", counted.system), ("question", counted.question), ("history", counted.history)):
        assert zones.tokens_of(name) >= sent


@given(SETTINGS, WINDOWS, COUNTED, st.sampled_from(["answer_tokens", "overhead_tokens", "system_tokens", "history_tokens"]), TOKENS)
def test_more_in_reserve_never_leaves_more(settings: AssemblySettings, window: int, counted: Counted, name: str, more: int) -> None:
    settings = settings.replace(budget_mode="window")
    before = shared(settings, window, counted)
    after = shared(settings.replace(**{name: (getattr(settings, name) or 0) + more}), window, counted)
    if isinstance(before, str):
        assert isinstance(after, str)
    elif not isinstance(after, str):
        assert after.context <= before.context


@given(SETTINGS, WINDOWS, COUNTED, st.integers(1, 100_000))
def test_a_larger_window_never_leaves_less(settings: AssemblySettings, window: int, counted: Counted, more: int) -> None:
    settings = settings.replace(budget_mode="window")
    before, after = shared(settings, window, counted), shared(settings, window + more, counted)
    if not isinstance(before, str):
        assert not isinstance(after, str)
        assert after.context >= before.context


@given(COUNTED, st.integers(0, 9_000), st.floats(0, 0.5))
def test_one_token_left_is_enough_and_none_is_not(counted: Counted, answer: int, margin: float) -> None:
    settings = AssemblySettings(budget_mode="window", answer_tokens=answer, safety_margin=margin)
    least = next(w for w in _windows(counted, settings) if not isinstance(shared(settings, w, counted), str))
    assert share_out(settings, least, counted).context == 1
    if least > 1:
        assert isinstance(shared(settings, least - 1, counted), str)


def _windows(counted: Counted, settings: AssemblySettings) -> range:
    fixed = sum(counted) + settings.answer_tokens + settings.overhead_tokens
    return range(max(1, int(fixed / (1 - settings.safety_margin)) - 2), 200_000)


def test_the_sum_of_the_token_budget_guide() -> None:
    # window - system - query - output - overhead, its own numbers: a window of 8,192, an answer of 1,024, an overhead of 64.
    zones = share_out(AssemblySettings(budget_mode="window", model_name="mistral"), 8_192, Counted(300, 20, 0))
    assert zones.context == 8_192 - 300 - 20 - 1_024 - 64


def test_the_margin_is_a_share_of_the_window_rounded_up() -> None:
    def margin(share: float, window: int) -> int:
        settings = AssemblySettings(budget_mode="window", safety_margin=share, answer_tokens=0, overhead_tokens=0)
        return share_out(settings, window, Counted(0, 0, 0)).tokens_of("margin")

    assert (margin(0.05, 8_192), margin(0.07, 100), margin(0.05, 128_000), margin(0.5, 3)) == (410, 7, 6_400, 2)


@pytest.mark.parametrize(
    ("changes", "counted", "named"),
    [
        ({"answer_tokens": 9_000}, Counted(238, 45, 0), "the largest is answer: lower answer_tokens below 7,845,"),
        ({"history_tokens": 9_000}, Counted(238, 45, 0), "the largest is history: lower history_tokens below"),
        ({}, Counted(238, 45, 9_000), "the largest is history: set history_tokens or history_summarise_after,"),
        ({}, Counted(9_000, 45, 0), "the largest is system: shorten the system prompt,"),
        ({}, Counted(238, 9_000, 0), "the largest is question: shorten the question,"),
        ({"system_tokens": 100}, Counted(9_000, 45, 0), "the largest is system: shorten the system prompt,"),
        ({"safety_margin": 0.5, "answer_tokens": 4_000}, Counted(238, 45, 0), "the largest is margin: lower safety_margin,"),
        ({"overhead_tokens": 8_000}, Counted(238, 45, 0), "the largest is overhead: lower overhead_tokens below 6,885,"),
    ],
)
def test_the_zone_that_is_too_large_is_named(changes: dict[str, object], counted: Counted, named: str) -> None:
    settings = AssemblySettings(budget_mode="window").replace(**changes)
    with pytest.raises(InvalidInput, match=re.escape(named)) as caught:
        share_out(settings, 8_192, counted)
    assert "at least 1 token of the window of 8,192" in str(caught.value)


@pytest.mark.parametrize("name", ["answer_tokens", "history_tokens", "overhead_tokens"])
def test_the_named_remedy_is_enough(name: str) -> None:
    settings = AssemblySettings(budget_mode="window").replace(**{name: 50_000})
    with pytest.raises(InvalidInput) as caught:
        share_out(settings, 8_192, Counted(238, 45, 0))
    below = int(re.search(rf"lower {name} below ([\d,]+)", str(caught.value))[1].replace(",", ""))  # type: ignore[index]
    assert share_out(settings.replace(**{name: below - 1}), 8_192, Counted(238, 45, 0)).context == 1


def test_a_zone_that_outgrew_its_reserve_says_so() -> None:
    settings = AssemblySettings(budget_mode="window", system_tokens=100, question_tokens=1_000)
    zones = share_out(settings, 8_192, Counted(238, 45, 0))
    assert {zone.name: (zone.tokens, zone.how) for zone in zones.zones if zone.name in ("system", "question")} == {
        "system": (238, "counted"),
        "question": (1_000, "reserved"),
    }
    assert outgrown(settings, zones) == ("The system prompt takes 238 tokens, more than system_tokens reserves (100).",)


def test_the_starting_zones_of_the_bookend_guide() -> None:
    # 4,000 system, 32,000 retrieved, 8,000 conversation, 1,000 query, 4,000 generation, 1,000 buffer.
    zones = share_out(AssemblySettings().replace(**ZONE_PROFILES["starting_zones"].changes), 50_000, Counted(300, 50, 200))
    assert {zone.name: zone.tokens for zone in zones.zones if zone.tokens} == {
        "system": 4_000,
        "context": 32_000,
        "history": 8_000,
        "question": 1_000,
        "answer": 4_000,
        "margin": 1_000,
    }


def test_the_three_profiles_move_tokens_between_history_and_context() -> None:
    left = {
        name: share_out(AssemblySettings().replace(**profile.changes), 50_000, Counted(300, 50, 0)).context
        for name, profile in ZONE_PROFILES.items()
    }
    assert left["analytical_zones"] > left["starting_zones"] > left["support_chat_zones"]
    assert left["single_turn_zones"] == left["starting_zones"] + 8_000
    for name, profile in ZONE_PROFILES.items():
        assert left[name] + profile.changes["history_tokens"] == 40_000
        assert profile.help
        assert profile.figures
        assert name not in PRESETS or PRESETS[name] == dict(profile.changes)
