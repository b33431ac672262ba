"""A server's own window: what does not fit is named with both sizes, and which limit ended an answer; the server's counts beside ours."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from contexts import make_assembly
from fake_window_server import PLAIN, WindowServer, window_server

from ctxasm.answering.asking import AnswerResult, answer
from ctxasm.answering.prompts import build_messages
from ctxasm.answering.sent_tokens import sent_line
from ctxasm.llm import Endpoint, OpenAIModel
from ctxasm.model.messages import Usage
from ctxasm.model.results import Assembly, Zones
from ctxasm.text.tokens import open_counter

ASSEMBLY = make_assembly()
OURS = sum(open_counter().count(message.content) for message in build_messages(ASSEMBLY))
THEIRS = round(1.15 * OURS)
SMALL = OURS // 2


def asked(server: WindowServer, model: str, assembly: Assembly = ASSEMBLY, **changes: Any) -> AnswerResult:
    return answer(assembly, OpenAIModel(Endpoint(server.base_url, model, retries=0)), **changes)


@pytest.mark.parametrize("model", ["llama.cpp", "llama.cpp-event", "llama-cpp-python", "vllm"])
def test_a_prompt_beyond_the_window_is_named_with_both_sizes(model: str) -> None:
    with window_server(SMALL) as server:
        result = asked(server, model)
    assert f"the prompt is too long for {model}" in (result.error or "")
    assert f"counts {THEIRS} tokens and has a window of {SMALL}" in (result.error or "")
    assert f"{OURS} tokens sent in cl100k_base" in (result.error or "")
    assert result.note is None
    assert result.sent is not None
    assert result.sent.server == (None if model == "llama-cpp-python" else Usage(THEIRS, 0))


def test_where_prompt_and_answer_do_not_fit_together_the_answer_may_be_lowered() -> None:
    with window_server(THEIRS) as server:
        error = asked(server, "vllm").error or ""
    assert "prompt and answer together are too long" in error
    assert "or the maximum answer length" in error


def test_an_empty_answer_names_its_likely_cause_and_the_sizes() -> None:
    zones = Zones("empty", 9_000, ())
    with window_server(SMALL) as server:
        unset, was_set = asked(server, "empty").error or "", asked(server, "empty", dataclasses.replace(ASSEMBLY, zones=zones)).error or ""
    assert "does not fit the window that the model was started with" in unset
    assert f"{OURS} tokens sent in cl100k_base, {THEIRS} by its server" in unset
    assert "model_window is not set here" in unset
    assert "model_window is 9,000 here" in was_set
    assert "ask again" not in unset + was_set


def test_a_full_window_does_not_ask_for_a_longer_answer() -> None:
    with window_server(THEIRS + 5) as server:
        full = asked(server, "any")
        limited = asked(server, "any", max_tokens=4)
        nothing = asked(server, PLAIN, max_tokens=100)
    assert f"{THEIRS} tokens of prompt and 5 of answer" in (full.note or "")
    assert "raise" not in (full.note or "")
    assert (limited.note or "").endswith("raise it for the rest.")
    assert (nothing.note or "").startswith("Most likely the model's window is full")
    assert [full.complete, limited.complete, nothing.complete] == [False] * 3


def test_the_servers_own_counts_stand_beside_ours() -> None:
    with window_server(100_000) as server:
        result = asked(server, "any")
        assert server.requests[-1]["stream_options"] == {"include_usage": True}
    assert result.sent is not None
    assert (result.sent.tokens, result.sent.encoding, result.sent.server) == (OURS, "cl100k_base", Usage(THEIRS, 8))
    assert sent_line(result.sent) == f"{OURS} tokens sent in cl100k_base, {THEIRS} by its server (1.15 times)"
    assert result.complete
    assert result.caution is None


def test_a_server_that_refuses_to_be_asked_for_counts_is_asked_without_from_then_on() -> None:
    with window_server(100_000) as server:
        first, second = asked(server, PLAIN), asked(server, PLAIN)
    assert [("stream_options" in body) for body in server.requests] == [True, False, False]
    for result in (first, second):
        assert result.complete
        assert result.sent is not None
        assert result.sent.server is None
        assert sent_line(result.sent) == f"{OURS} tokens sent in cl100k_base"


def test_a_prompt_that_the_server_cut_without_a_word_is_said() -> None:
    with window_server(SMALL // 2) as server:
        result = asked(server, "ollama")
    assert result.complete
    assert result.caution is not None
    assert re.search(rf"not to have read the whole prompt: {OURS} tokens sent in cl100k_base, {SMALL // 2} by its server", result.caution)
    assert "num_ctx" in result.caution
