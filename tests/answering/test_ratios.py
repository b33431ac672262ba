"""What servers count for one token of ours: learned from answers, kept, and the margin of the next plan."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from fake_window_server import window_server

from ctxasm.__main__ import main
from ctxasm.answering.sent_tokens import SentTokens
from ctxasm.answering.windows import MOST_MODELS, MOST_READINGS, SHELF, TokenRatios, upper_end
from ctxasm.answering.zones import ZonePlanner
from ctxasm.llm import Endpoint, OpenAIModel
from ctxasm.model.messages import Usage
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from tests.strategies import COUNTER

WINDOW = AssemblySettings(budget_mode="window", model_window=8_000, model_name="m", answer_tokens=500)
QUERY = Query("Hoe laat?")


def sent(tokens: int, server: int | None, *, exact: bool = True, chars: int | None = None) -> SentTokens:
    usage = None if server is None else Usage(server, 10)
    return SentTokens(tokens, "cl100k_base", exact, 4 * tokens if chars is None else chars, usage)


@pytest.mark.parametrize(
    ("ratios", "upper"), [((1.1,), 1.1), ((1.1, 1.1), 1.1), ((1.0, 1.2), 1.4), ((1.07, 1.1, 1.22), 1.3), ((0.8, 0.801), 0.81)]
)
def test_the_upper_end_lies_beyond_the_highest_by_what_the_spread_suggests(ratios: tuple[float, ...], upper: float) -> None:
    assert upper_end(ratios) == upper


def test_ratios_are_known_by_the_models_name_on_whatever_host_and_outlast_the_process() -> None:
    store = MemoryStore()
    ratios = TokenRatios(lambda: store)
    for tokens, server in ((1000, 1070), (1000, 1220), (2000, 2240)):
        ratios.learn("org/m:latest at host:8080", sent(tokens, server))
    for known in (ratios, TokenRatios(lambda: store)):
        found = known.find("m", "cl100k_base")
        assert found is not None
        assert (found.low, found.high, found.prompts, found.upper) == (1.07, 1.22, 3, 1.3)
        assert known.find("org/m:latest at host:8080", "cl100k_base") == found
        assert known.find("m", "o200k_base") is None
        assert known.find("other", "cl100k_base") is None


@pytest.mark.parametrize(
    "reading", [sent(1000, None), sent(50, 90), sent(1000, 1200, exact=False), sent(1000, 256), sent(1000, 0)], ids=str
)
def test_what_says_nothing_of_the_vocabulary_is_not_learned(reading: SentTokens) -> None:
    ratios = TokenRatios()
    ratios.learn("m at host", reading)
    assert ratios.find("m", "cl100k_base") is None


def test_what_is_kept_is_bounded_and_holds_neither_key_nor_address() -> None:
    store = MemoryStore()
    ratios = TokenRatios(lambda: store)
    model = OpenAIModel(Endpoint("http://host:1/secret-path/v1", "m", "sk-secret-0123456789"))
    for at in range(MOST_READINGS + 5):
        ratios.learn(model.name, sent(1000, 1000 + at))
    for at in range(MOST_MODELS):
        ratios.learn(f"m{at} at host", sent(1000, 1100))
    kept = store.read_kept(SHELF)
    assert len(kept) == MOST_MODELS
    assert ratios.find("m", "cl100k_base") is None
    ratios.learn(model.name, sent(1000, 1100))
    assert "secret" not in json.dumps(store.read_kept(SHELF))
    assert len(store.read_kept(SHELF)) == MOST_MODELS


@pytest.mark.parametrize("safety", [0.0, 0.2])
def test_what_is_sent_fits_the_window_by_the_servers_own_count(safety: float) -> None:
    planner, settings = ZonePlanner(), WINDOW.replace(safety_margin=safety)
    before = planner.plan(QUERY, settings, COUNTER)
    for server in (1070, 1220):
        planner.ratios.learn("m at host", sent(1000, server))
    after = planner.plan(QUERY, settings, COUNTER)
    assert before.limit is not None
    assert after.limit is not None
    assert after.zones is not None
    assert sum(zone.tokens for zone in after.zones.zones) == 8_000
    ours = sum(after.zones.tokens_of(name) for name in ("system", "question", "history", "context"))
    assert math.ceil(1.37 * ours) <= 8_000 - 500 - 64
    assert after.limit < before.limit
    says = next(hint for hint in after.zones.hints if "counted" in hint)
    margin = after.zones.tokens_of("margin")
    assert says == (
        f"m counted 1.07 to 1.22 times as many tokens as cl100k_base, over 2 prompts: "
        f"the margin is {margin:,} tokens, for up to 1.37 times."
    )


def test_a_model_that_counts_fewer_tokens_gets_no_smaller_margin_and_a_larger_safety_margin_stays() -> None:
    planner = ZonePlanner()
    before = planner.plan(QUERY, WINDOW, COUNTER).limit
    planner.ratios.learn("m at host", sent(1000, 800))
    assert planner.plan(QUERY, WINDOW, COUNTER).limit == before
    planner.ratios.learn("n at host", sent(1000, 1010))
    wide = planner.plan(QUERY, WINDOW.replace(model_name="n", safety_margin=0.1), COUNTER).zones
    assert wide is not None
    assert wide.tokens_of("margin") == 800


def test_with_a_fixed_limit_the_margin_is_what_all_that_is_sent_may_take_more() -> None:
    planner, settings = ZonePlanner(), WINDOW.replace(budget_mode="fixed", max_tokens=4_000)
    planner.ratios.learn("m at host", sent(1000, 1100))
    zones = planner.plan(QUERY, settings, COUNTER).zones
    assert zones is not None
    ours = sum(zones.tokens_of(name) for name in ("system", "question", "history", "context"))
    assert zones.tokens_of("margin") == math.ceil(0.1 * ours)
    assert zones.over == 0


def test_where_the_settings_name_no_model_the_one_that_answers_is_meant() -> None:
    planner = ZonePlanner(served="m")
    planner.ratios.learn("m at host", sent(1000, 1100))
    unnamed = WINDOW.replace(model_name="")
    assert planner.plan(QUERY, unnamed, COUNTER).limit == planner.plan(QUERY, WINDOW, COUNTER).limit
    assert planner.plan(QUERY, unnamed, COUNTER).limit < ZonePlanner().plan(QUERY, unnamed, COUNTER).limit  # type: ignore[operator]


def test_asking_by_command_learns_and_the_next_context_fits_by_the_servers_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without what was learned, the window filled by our count is too small by the server's."""
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'd.db'}")
    assert main(["load", "--sample"]) == 0
    with window_server(2_048, times=1.2) as server:
        monkeypatch.setenv("CTXASM_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("CTXASM_LLM_MODEL", "llama.cpp")
        window = ["--set", "budget_mode=window", "--set", "model_window=2048", "--set", "answer_tokens=256"]
        window += ["--set", "budget_policy=greedy"]
        ask = ["ask", "--query-id", "visiting-ordinary-ward", "--max-answer-tokens", "256"]
        assert main([*ask, *window]) != 0
        refused = capsys.readouterr().err
        assert "too long for llama.cpp" in refused
        assert "no room is kept for that (safety_margin=0)" in refused
        assert "by its server (1.20 times)" in refused
        assert main([*ask, *window]) == 0
        fits = capsys.readouterr().err
        assert "The model counted 1.20 times as many tokens as cl100k_base, over one prompt" in fits
        assert "by its server (1.20 times)" in fits
        assert "exact" not in refused + fits
        assert server.count(server.requests[-1]) + 256 <= 2_048
