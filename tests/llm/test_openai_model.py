"""The real openai package over real HTTP against a server that misbehaves: one sentence for each fault, what arrived is kept."""

from __future__ import annotations

import logging
import socket
import threading
import time
import traceback
from collections.abc import Iterator

import pytest
from contexts import make_assembly
from fake_model_server import FakeModel, serving

from ctxasm.answering.asking import NOTHING_FOUND, AnswerResult, Piece, answer, ask
from ctxasm.llm import Endpoint, OpenAIModel
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.messages import Message

KEY = "sk-secret-0123456789abcdef"
ASKED = (Message("system", "Answer."), Message("user", "[1] Source: A\nOpen tot negen uur.\n\n[2] Source: B\nBel ons gerust.\n"))
FIRST = "Open tot negen uur. [1]. Bel ons gerust. [2]."


@pytest.fixture(scope="module")
def server() -> Iterator[FakeModel]:
    with serving() as running:
        yield running


def endpoint(server: FakeModel, model: str, **changes: object) -> Endpoint:
    values: dict[str, object] = {"connect_timeout": 3.0, "first_piece_timeout": 5.0, "piece_timeout": 5.0, "retries": 1, "api_key": KEY}
    return Endpoint(server.base_url, model, **{**values, **changes})  # type: ignore[arg-type]


def run(server: FakeModel, model: str, **changes: object) -> tuple[str, str | None]:
    stream = OpenAIModel(endpoint(server, model, **changes)).stream(ASKED, assembly=make_assembly(), max_tokens=50)
    return "".join(stream), stream.finish_reason


def failure(where: Endpoint) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as caught:
        list(OpenAIModel(where).stream(ASKED, assembly=make_assembly()))
    return caught.value


@pytest.mark.parametrize("model", ["ok", "split", "slow", "odd", "multibyte"])
def test_a_sound_stream_arrives_whole(server: FakeModel, model: str) -> None:
    assert run(server, model) == (FIRST, "stop")


def test_an_answer_cut_through_its_characters_is_the_whole_answer(server: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "answer", lambda body: "Open 😀 tot 👩‍👩‍👧 negen uur. [1] \ud83d")
    where, whole = OpenAIModel(endpoint(server, "halves")), "Open 😀 tot 👩‍👩‍👧 negen uur. [1] \ufffd"
    *events, result = ask(make_assembly(), where)
    assert isinstance(result, AnswerResult)
    assert (result.text, [marker.known for marker in result.markers], result.error) == (whole, [(1,)], None)
    assert "".join(event.text for event in events if isinstance(event, Piece)) == whole
    for event in events:
        repr(event).encode()


def test_length_and_filter_are_finish_reasons_not_errors(server: FakeModel) -> None:
    assert run(server, "length") == ("Open tot ", "length")
    assert run(server, "filter") == ("Open tot ", "content_filter")


def test_the_request_carries_what_was_asked_and_the_key_in_one_header_only(server: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "foreign")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Foreign: foreign")
    server.requests.clear()
    run(server, "ok")
    ((headers, body),) = server.requests
    assert headers["authorization"] == f"Bearer {KEY}"
    assert [name for name, value in headers.items() if KEY in value or "foreign" in value] == ["authorization"]
    assert KEY not in str(body)
    assert (body["model"], body["max_tokens"], body["temperature"], body["stream"]) == ("ok", 50, 0.0, True)
    assert body["messages"][1] == {"role": "user", "content": ASKED[1].content}


def test_without_a_key_no_authorization_is_sent(server: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "foreign")
    server.requests.clear()
    run(server, "ok", api_key="")
    assert "authorization" not in server.requests[0][0]


FAULTS = {
    "400": ("refused the request", ""),
    "401": ("did not accept the API key", ""),
    "403": ("does not allow this key", ""),
    "404": ("does not know the model 404", ""),
    "408": ("gave up waiting", ""),
    "413": ("too long for", ""),
    "too-long": ("too long for", ""),
    "429": ("no more requests", ""),
    "429-long": ("after 3600 seconds", ""),
    "quota": ("no quota left", ""),
    "500": ("problem of its own (500)", ""),
    "503": ("problem of its own (503)", ""),
    "silent": ("sent nothing within 0.1 seconds", ""),
    "ping": ("sent nothing within 0.1 seconds", ""),
    "stall": ("stopped sending for 0.2 seconds", "Open tot "),
    "cut": ("broke off in the middle", "Open tot "),
    "cut-clean": ("broke off in the middle", "Open tot "),
    "garbage": ("not valid JSON", "Open tot "),
    "latin1": ("not UTF-8", "Open tot "),
    "html": ("text/html instead of a stream", ""),
    "json": ("application/json instead of a stream", ""),
    "empty": ("empty answer", ""),
    "error-event": ("reported an error instead of an answer", ""),
    "redirect": ("sends requests on", ""),
    "echo-key": ("refused the request: check", ""),
    "huge-line": ("far more than an answer can hold", ""),
}


SHORT = {"silent": {"first_piece_timeout": 0.1}, "ping": {"first_piece_timeout": 0.1}, "stall": {"piece_timeout": 0.2}}


@pytest.mark.parametrize(("model", "expected"), FAULTS.items())
def test_each_fault_is_one_sentence_that_keeps_what_arrived(
    server: FakeModel, model: str, expected: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    words, partial = expected
    caplog.set_level(logging.DEBUG)
    where = endpoint(server, model, **SHORT.get(model, {}))
    error = failure(where)
    message = str(error)
    assert words in message
    assert where.host in message
    assert "\n" not in message
    assert len(message) < 300
    assert error.partial == partial
    seen = "".join(traceback.format_exception(error)) + caplog.text + repr(where) + repr(OpenAIModel(where)) + str(vars(error))
    assert KEY not in seen
    assert KEY[:8] not in seen
    assert (error.__cause__, error.__context__) == (None, None)


def test_a_huge_answer_is_bounded_and_kept(server: FakeModel) -> None:
    error = failure(endpoint(server, "huge", max_answer_chars=20_500))
    assert "more than 20500 characters" in str(error)
    assert error.partial == "x" * 20_000


def test_refused_unknown_and_untrusted_hosts(server: FakeModel, outside_attempts: list[object]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    quick = {"retries": 0, "connect_timeout": 0.3, "first_piece_timeout": 0.5}
    assert f"nothing answers at 127.0.0.1:{port}" in str(failure(Endpoint(f"http://127.0.0.1:{port}/v1", "ok", KEY, **quick)))  # type: ignore[arg-type]
    assert "cannot be found" in str(failure(Endpoint("http://nowhere.invalid/v1", "ok", KEY, **quick)))  # type: ignore[arg-type]
    assert outside_attempts
    outside_attempts.clear()
    assert "no secure connection" in str(failure(Endpoint(server.base_url.replace("http:", "https:"), "ok", KEY, **quick)))  # type: ignore[arg-type]


def test_a_server_that_hangs_up_before_it_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            connection, _ = listening.accept()
            connection.recv(100_000)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        error = failure(Endpoint(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", "ok", KEY, retries=0))
        thread.join()
    assert "closed the connection without an answer" in str(error)


def test_busy_servers_are_asked_again_a_bounded_number_of_times(server: FakeModel) -> None:
    server.requests.clear()
    start = time.monotonic()
    assert run(server, "429-once")[0] == FIRST
    assert time.monotonic() - start >= 0.2
    assert run(server, "503-twice", retries=2)[0] == FIRST
    failure(endpoint(server, "429", retries=1))
    failure(endpoint(server, "429-long", retries=1))
    failure(endpoint(server, "401", retries=1))
    failure(endpoint(server, "cut", retries=1))
    counts = {name: server.attempts(name) for name in ("429-once", "503-twice", "429", "429-long", "401", "cut")}
    assert counts == {"429-once": 2, "503-twice": 3, "429": 2, "429-long": 1, "401": 1, "cut": 1}


@pytest.mark.parametrize(("model", "absent"), [("wants-completion-tokens", "max_tokens"), ("no-temperature", "temperature")])
def test_a_setting_that_the_model_refuses_is_left_out(server: FakeModel, model: str, absent: str) -> None:
    assert run(server, model)[0] == FIRST
    body = server.requests[-1][1]
    assert absent not in body
    assert absent != "max_tokens" or body["max_completion_tokens"] == 50


def test_an_empty_context_makes_no_call(server: FakeModel) -> None:
    server.requests.clear()
    result = answer(make_assembly(blocks=()), OpenAIModel(endpoint(server, "ok")))
    assert (result.text, result.called, result.complete, server.requests) == (NOTHING_FOUND["nl"], False, True, [])


def test_asking_over_http_keeps_what_arrived_and_resolves_its_markers(server: FakeModel) -> None:
    assembly = make_assembly()
    sound = answer(assembly, OpenAIModel(endpoint(server, "split")))
    assert [marker.known for marker in sound.markers] == [(1,), (2,)]
    assert sound.complete
    assert sound.is_language_model
    unknown = answer(assembly, OpenAIModel(endpoint(server, "out-of-range")))
    assert [marker.unknown for marker in unknown.markers] == [(99,), (99,)]
    *_, broken = ask(assembly, OpenAIModel(endpoint(server, "cut")))
    assert isinstance(broken, AnswerResult)
    assert (broken.text, broken.complete, broken.note) == ("Open tot ", False, None)
    assert "broke off" in (broken.error or "")
    assert answer(assembly, OpenAIModel(endpoint(server, "length"))).note
    assert [m.known for m in answer(assembly, OpenAIModel(endpoint(server, "think"))).markers] == [(1,), (2,)]


@pytest.mark.parametrize(
    "url",
    *[
        [
            "",
            "ftp://x/v1",
            "x/v1",
            "http://",
            "http://u:hunter2@x/v1",
            "http://x/v1?key=hunter2",
            "http://x\n/v1",
            "http://x:99999/v1",
            "http://[::1/v1",
        ]
    ],
)
def test_a_base_url_that_cannot_be_used_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidInput, match="base URL must look like") as caught:
        Endpoint(url, "m")
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("changes", [{"model": " "}, {"api_key": "a\nb"}, {"api_key": "é"}, {"connect_timeout": 0}, {"retries": 99}])
def test_other_fields_of_an_endpoint_are_checked(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Endpoint(**{"base_url": "http://x/v1", "model": "m", **changes})  # type: ignore[arg-type]
    assert "a\nb" not in str(caught.value)
