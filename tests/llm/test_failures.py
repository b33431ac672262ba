"""What servers really say when a prompt, an answer or a setting does not fit, and the sentence that it becomes."""

from __future__ import annotations

import pytest

from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import of_status, window_sizes

WHERE = Endpoint("http://host/v1", "m")
LONG, ANSWER, SETTING = "the prompt is too long for m", "gives no answer of that length", "refused the request"


@pytest.mark.parametrize(
    ("message", "words", "drop"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", LONG, None),
        ("the request exceeds the available context size. try increasing the context size", LONG, None),
        ("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", LONG, None),
        ("prompt is too long: 210000 tokens > 200000 maximum", LONG, None),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).", LONG, None),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", LONG, None),
        ("max_tokens is too large: 90000. This model supports at most 16384 completion tokens.", ANSWER, None),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", SETTING, "max_tokens"),
        ("Unsupported value: 'temperature' does not support 0 with this model.", SETTING, "temperature"),
        ("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", SETTING, "response_format"),
        ("Failed to parse grammar", SETTING, "response_format"),
        ("'messages' must contain the word 'json' in some form, to use 'response_format'", SETTING, "response_format"),
        ("model not found", SETTING, None),
    ],
)
def test_a_refused_request(message: str, words: str, drop: str | None) -> None:
    failure = of_status(WHERE, 400, {"message": message}, None)
    assert words in failure.sentence
    assert failure.drop == drop
    assert not failure.retry


@pytest.mark.parametrize(
    ("message", "sizes"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", (9000, 8192)),
        (
            "However, you requested 2600 tokens (2088 in the messages, 512 in the completion). Maximum context length is 2,048.",
            (2088, 2048),
        ),
        ("'max_tokens' is too large: 512. The maximum context length is 2048 and your request has 1800 input tokens", (1800, 2048)),
        ("request (2100 tokens) exceeds the available context size (2048 tokens), try increasing it", (2100, 2048)),
        ("the request exceeds the available context size. try increasing the context size", (None, None)),
        ("Requested tokens (2312) exceed context window of 2048", (2312, 2048)),
        ("Requested token count exceeds the context length of 2048. A total of 2600: 2088 tokens from the input messages", (2088, 2048)),
        ("The input (2100 tokens) is longer than the model's context length (2048 tokens).", (2100, 2048)),
        ("Trying to keep the first 5000 tokens when the context overflows; it has a context length of only 4096 tokens", (5000, 4096)),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3900 `inputs` tokens and 512 `max_new_tokens`", (3900, 4096)),
        ("prompt is too long: 210000 tokens > 200000 maximum", (210_000, 200_000)),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).", (1_200_000, 1_048_575)),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", (40_000, 32_768)),
    ],
)
def test_the_sizes_that_a_server_names(message: str, sizes: tuple[int | None, int | None]) -> None:
    assert window_sizes({"message": message}) == sizes
    sentence = of_status(WHERE, 400, {"message": message}, None).sentence
    assert all(f"{size:,}" in sentence for size in sizes if size is not None)
    assert ("together" in sentence) == (None not in sizes and sizes[0] <= sizes[1])  # type: ignore[operator]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (400, {"code": "content_filter", "message": "flagged"}, "the content filter of host refused the question"),
        (429, {"type": "insufficient_quota"}, "no quota left"),
        (422, {"detail": [{"loc": ["body"]}]}, SETTING),
        (400, None, SETTING),
        (400, [1], SETTING),
        (400, "plain words", "plain words"),
        (400, {"error": {"message": "two\nlines\x1b[31m and \u202e more" + "x" * 500}}, "two lines [31m and more"),
        (418, {"message": "teapot"}, 'status 418 (it says: "teapot")'),
        (599, {}, "problem of its own (599)"),
    ],
)
def test_a_body_of_any_shape_becomes_one_line(status: int, body: object, words: str) -> None:
    sentence = of_status(WHERE, status, body, None).sentence
    assert words in sentence
    assert sentence.isprintable()
    assert len(sentence) < 300
