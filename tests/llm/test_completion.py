"""One question, one JSON object: over real HTTP, against servers that take less than they should and models that babble."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from fake_model_server import FakeModel, serving

from ctxasm.llm import Endpoint
from ctxasm.llm.client import Completion, NotValid, _taken, complete_json, object_in, problem_of
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.messages import Message
from tests.growth import is_linear

KEY = "sk-secret-0123456789abcdef"
RIGHT = {"verdict": "supported", "score": 0.9}
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["supported", "unsupported"]}, "score": {"type": "number", "maximum": 1}},
    "required": ["verdict", "score"],
    "additionalProperties": False,
}
ASKED = (Message("system", "Judge."), Message("user", "Does it carry the claim?"))


@pytest.fixture(scope="module")
def server() -> Iterator[FakeModel]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _nothing_learned(server: FakeModel) -> None:
    _taken.clear()
    server.requests.clear()


def judge(server: FakeModel, model: str, messages: tuple[Message, ...] = ASKED, cancel: Any = None, **changes: Any) -> Completion:
    where = Endpoint(server.base_url, model, **{"api_key": KEY, "retries": 0, "first_piece_timeout": 5.0, **changes})
    return complete_json(where, messages, schema=SCHEMA, schema_name="my verdict", max_tokens=64, cancel=cancel)


def test_the_schema_is_asked_for_strictly_and_usage_comes_back(server: FakeModel) -> None:
    assert judge(server, "json-ok") == Completion(RIGHT, 100, 20, "fake-judge-1", 1, True)
    ((headers, body),) = server.requests
    assert body["response_format"] == {"type": "json_schema", "json_schema": {"name": "my_verdict", "schema": SCHEMA, "strict": True}}
    assert (body["stream"], body["max_tokens"], body["temperature"]) == (False, 64, 0.0)
    assert [message["content"] for message in body["messages"]] == ["Judge.", "Does it carry the claim?"]
    assert headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("model", ["json-in-fence", "json-after-thought"])
def test_words_around_the_object_do_not_matter(server: FakeModel, model: str) -> None:
    assert judge(server, model).data == RIGHT
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("model", "forms"),
    [("json-no-schema", ["json_schema", "json_object"]), ("json-refused-format", ["json_schema", "json_object", None])],
)
def test_a_refused_form_is_replaced_by_a_laxer_one_and_remembered(server: FakeModel, model: str, forms: list[str | None]) -> None:
    assert judge(server, model) == Completion(RIGHT, 100, 20, "fake-judge-1", 1, True)
    assert judge(server, model).data == RIGHT
    assert [body.get("response_format", {}).get("type") for _, body in server.requests] == [*forms, forms[-1]]
    assert json.dumps(SCHEMA) in server.requests[-1][1]["messages"][0]["content"]
    assert KEY not in str(_taken)


def test_without_a_system_message_the_schema_stands_with_the_question(server: FakeModel) -> None:
    judge(server, "json-refused-format", ASKED[1:])
    (message,) = server.requests[-1][1]["messages"]
    assert message["role"] == "user"
    assert message["content"].startswith("Does it carry")
    assert "JSON schema" in message["content"]


def test_a_reply_that_does_not_fit_is_sent_back_once(server: FakeModel) -> None:
    assert judge(server, "json-second-try") == Completion(RIGHT, 200, 40, "fake-judge-1", 2, True)
    roles = [message["role"] for message in server.requests[-1][1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "there is no JSON object in it" in server.requests[-1][1]["messages"][-1]["content"]


def test_usage_that_is_not_told_is_marked(server: FakeModel) -> None:
    assert judge(server, "json-no-usage") == Completion(RIGHT, 0, 0, "fake-judge-1", 1, False)


SENTENCES = {
    "json-garbage": ("gave no JSON that fits, twice (there is no JSON object in it)", 2),
    "json-wrong-fields": ("twice (the reply lacks the field score)", 2),
    "json-deep": ("twice (there is no JSON object in it)", 2),
    "json-echo-key": ("gave no JSON that fits, twice", 2),
    "json-length": ("reached 64 tokens before its JSON was complete", 1),
    "json-window": ("100 tokens of prompt and 20 of its reply fill the window", 1),
    "json-filter": ("the content filter of json-filter at", 1),
    "json-refusal": ("declined to answer", 1),
    "json-tool-call": ("wants to call a tool", 1),
    "json-empty": ("empty answer", 1),
    "json-no-choices": ("empty answer", 1),
    "json-error-body": ("reported an error instead of an answer", 1),
    "json-broken-body": ("not valid JSON", 1),
    "json-latin1-body": ("not UTF-8", 1),
    "json-stream": ("text/event-stream instead of JSON", 1),
    "json-huge": ("more than 200000 characters", 1),
    "401": ("did not accept the API key", 1),
    "429": ("no more requests", 1),
    "503": ("problem of its own (503)", 1),
    "too-long": ("too long for", 1),
    "html": ("text/html instead of JSON", 1),
    "redirect": ("sends requests on", 1),
    "echo-key": ("refused the request", 1),
}


@pytest.mark.parametrize(("model", "expected"), SENTENCES.items())
def test_every_fault_is_one_sentence_without_the_key(server: FakeModel, model: str, expected: tuple[str, int]) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        judge(server, model)
    message = str(caught.value)
    assert expected[0] in message
    assert "127.0.0.1" in message
    assert "\n" not in message
    assert len(message) < 300
    assert len(server.requests) == expected[1]
    assert KEY[:8] not in "".join(traceback.format_exception(caught.value)) + str(vars(caught.value))


def test_a_setting_that_the_model_refuses_is_left_out(server: FakeModel) -> None:
    with pytest.raises(ModelUnavailable, match="instead of JSON"):
        judge(server, "wants-completion-tokens")
    body = server.requests[-1][1]
    assert (body["max_completion_tokens"], body["response_format"]["type"]) == (64, "json_schema")


@pytest.mark.parametrize("model", ["hang", "503"])
def test_cancel_ends_the_wait(server: FakeModel, model: str) -> None:
    server.requests.clear()
    with pytest.raises(ModelUnavailable, match="was stopped on request"):
        judge(server, model, cancel=lambda: bool(server.requests), retries=5, first_piece_timeout=20.0)
    assert len(server.requests) == 1


def test_a_server_that_never_replies_is_given_up(server: FakeModel) -> None:
    with pytest.raises(ModelUnavailable, match=r"sent nothing within 0.1 seconds"):
        judge(server, "hang", first_piece_timeout=0.1)


@pytest.mark.parametrize(
    ("text", "schema", "problem"),
    [
        ("[1, 2]", {}, "no JSON object"),
        ('{"a": NaN}', {}, "no JSON object"),
        ('{"a": 1' + "0" * 5000 + "}", {}, "no JSON object"),
        ('{"a": true}', {"properties": {"a": {"type": "integer"}}}, "the reply.a must be integer, got True"),
        ('{"a": null}', {"properties": {"a": {"type": ["string", "number"]}}}, "must be string or number, got None"),
        ('{"a": [1, "x"]}', {"properties": {"a": {"items": {"type": "number"}}}}, r"the reply.a\[1\] must be number"),
        ('{"a": [1]}', {"properties": {"a": {"minItems": 2}}}, "at least 2 items"),
        ('{"a": "xy"}', {"properties": {"a": {"maxLength": 1}}}, "at most 1 characters"),
        ('{"a": 1.5}', {"properties": {"a": {"maximum": 1}}}, "at most 1, got 1.5"),
        ('{"a": 1}', {"properties": {"a": {"const": True}}}, "must be one of True"),
        ('{"a": 1}', {"properties": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/T"}]}}, "$defs": {"T": {"enum": [2]}}}, "none of"),
        ('{"a": {}}', {"$defs": {"T": {"required": ["b"]}}, "properties": {"a": {"$ref": "#/$defs/T"}}}, "the reply.a lacks the field b"),
    ],
)
def test_what_does_not_fit_is_named_with_its_path(text: str, schema: dict[str, Any], problem: str) -> None:
    with pytest.raises(NotValid, match=problem):
        object_in(text, schema)


def test_the_first_object_that_fits_is_taken() -> None:
    schema = {"type": "object", "required": ["b"]}
    assert object_in('{x} {"a": {"b": 1}} {"b": 2} {"b": 3}', schema) == {"b": 2}
    assert object_in("{" * 90 + '{"b": 1}', schema) == {"b": 1}


def test_a_schema_that_refers_to_itself_ends() -> None:
    loop: dict[str, Any] = {"$defs": {"T": {"anyOf": [{"$ref": "#/$defs/T"}]}}, "$ref": "#/$defs/T"}
    assert problem_of({}, loop)
    assert problem_of({}, {"$defs": {"T": {"$ref": "#/$defs/T"}}, "$ref": "#/$defs/T"}) == ""


def test_a_reply_full_of_braces_is_read_in_linear_time() -> None:
    def read(text: str) -> None:
        with pytest.raises(NotValid):
            object_in(text, {})

    assert is_linear(read, '{"a":' * 40_000)
