"""Faults on the wire, one server each: one sentence, what arrived is kept, and nothing waits longer than its limit."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import time
import traceback
import tracemalloc
from collections.abc import Callable
from email.utils import formatdate

import pytest
from contexts import make_assembly
from fake_wire import DONE, Wire, chunk, escaped, reply, said, sized, wire

from ctxasm.llm import Endpoint, OpenAIModel
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.messages import Message

KEY = "sk-secret-0123456789abcdef"
ASKED = (Message("user", "Hoe laat?"),)
HALF = said("Open ", "tot ")
CALM = {"connect_timeout": 60.0, "first_piece_timeout": 60.0, "piece_timeout": 60.0, "retries": 0, "api_key": KEY}


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxasm.llm.client._LAST_WAIT", 0.1)


def ask(line: Wire, model: str = "m", **changes: object) -> tuple[str, str | None, str]:
    """The text that arrived, the finish reason, and the error."""
    where = Endpoint(line.base_url, model, **{**CALM, **changes})  # type: ignore[arg-type]
    stream, pieces = OpenAIModel(where).stream(ASKED, assembly=make_assembly()), list[str]()
    try:
        pieces.extend(stream)
    except ModelUnavailable as caught:
        error = caught
    else:
        return "".join(pieces), stream.finish_reason, ""
    assert (error.__cause__, error.__context__) == (None, None)
    frames = traceback.TracebackException.from_exception(error, capture_locals=True)
    assert KEY not in "".join(frames.format()) + str(vars(error)) + repr(error)
    assert f"127.0.0.1:{line.port}" in str(error)
    assert "\n" not in str(error)
    assert len(str(error)) < 300
    return error.partial, stream.finish_reason, str(error)


def drip(connection: socket.socket, part: bytes, seconds: float = 300.0) -> None:
    """Send the same bytes again and again; ends when nobody listens."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        connection.sendall(part)
        time.sleep(0.05)


def hanging(first: bytes, then: bytes = b"") -> Callable[[socket.socket, bytes], None]:
    def act(connection: socket.socket, _: bytes) -> None:
        connection.sendall(first)
        if then:
            drip(connection, then)
        connection.recv(1)

    return act


def in_pieces(data: bytes) -> Callable[[socket.socket, bytes], None]:
    def act(connection: socket.socket, _: bytes) -> None:
        for at in range(len(data)):
            connection.sendall(data[at : at + 1])

    return act


ERROR = b'data: {"error": {"message": "worker died", "code": %s}}\n\n'
STOP = chunk({}, "stop")
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
SOUND = {
    "comments": b": hello\n\n" + HALF + b": ping\n\n:\n\n" + said("negen") + STOP + DONE,
    "reasoning": chunk({"reasoning_content": "Hm."}) + chunk({"reasoning": "So."}) + HALF + said("negen") + STOP + DONE,
    "null deltas": chunk(None) + chunk({"content": None}) + HALF + chunk({"content": ""}) + said("negen") + STOP + DONE,
    "second choice": HALF
    + chunk({}, choices=[{"index": 1, "delta": {"content": "FOUT"}, "finish_reason": "length"}])
    + chunk({}, choices=[{"index": 1, "delta": {"content": "FOUT"}}, {"index": 0, "delta": {"content": "negen"}}])
    + STOP
    + DONE,
    "no [DONE]": HALF + said("negen") + STOP,
    "no reason": HALF + said("negen") + DONE,
    "usage at the end": HALF + said("negen") + STOP + chunk({}, choices=[], usage={"prompt_tokens": 3}) + DONE,
    "line ends": (HALF + said("negen") + STOP + DONE).replace(b"\n", b"\r\n"),
    "another word for stop": HALF + said("negen") + chunk({}, "eos_token") + DONE,
    "after the end": HALF + said("negen") + STOP + DONE + said("te veel"),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_sound_servers_send_beside_the_text_is_ignored(name: str) -> None:
    with wire(reply(SOUND[name])) as line:
        assert ask(line) == ("Open tot negen", "stop", "")


def test_characters_split_between_packets_arrive_whole() -> None:
    text = "Café — 时间 🙂 é"
    with wire(in_pieces(reply(said(text) + STOP + DONE))) as line:
        assert ask(line) == (text, "stop", "")
    with wire(reply(gzip.compress(said(text) + STOP + DONE), b"content-encoding: gzip\r\n")) as line:
        assert ask(line) == (text, "stop", "")


HALVES: list[tuple[tuple[str, ...], str]] = [
    (("\ud83d", "\ude00"), "😀"),
    (("Open \ud83d", "\ude00 tot"), "Open 😀 tot"),
    (("\ud83d", "", "\ude00"), "😀"),
    (("\ud83d", "tot"), "\ufffdtot"),
    (("\ude00", "\ud83d"), "\ufffd\ufffd"),
    (("\ud83d\ud83d", "\ude00\ude00"), "\ufffd😀\ufffd"),
    (("a\ud83d",), "a\ufffd"),
]


@pytest.mark.parametrize(("texts", "expected"), HALVES)
def test_halves_of_a_character_are_joined_and_a_half_alone_is_marked(texts: tuple[str, ...], expected: str) -> None:
    for key in (KEY, ""):
        with wire(reply(escaped(*texts) + STOP + DONE)) as line:
            assert ask(line, api_key=key) == (expected, "stop", "")


def test_a_half_that_came_before_a_fault_is_kept() -> None:
    with wire(reply(HALF + escaped("\ud83d") + b"data: {\n\n")) as line:
        assert ask(line)[0] == "Open tot \ufffd"


def test_a_known_end_does_not_wait_for_the_connection_to_close() -> None:
    with wire(hanging(reply(HALF + STOP))) as line:
        assert ask(line, piece_timeout=600.0) == ("Open tot ", "stop", "")
    with wire(CHUNKED + b"%x\r\n" % len(HALF + STOP) + HALF + STOP) as line:
        assert ask(line) == ("Open tot ", "stop", "")


FAULTS: dict[str, tuple[bytes | Callable[[socket.socket, bytes], None], str, str]] = {
    "no answer at all": (b"", "closed the connection without an answer", ""),
    "no first byte": (hanging(b"HTTP/1.1"), "sent nothing within 0.1 seconds", ""),
    "endless headers": (hanging(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"), "sent nothing within 0.1 seconds", ""),
    "only comments": (hanging(reply(b""), b": ping\n\n"), "sent nothing within 0.1 seconds", ""),
    "only thoughts": (hanging(reply(b""), chunk({"reasoning_content": "Hm."})), "was still thinking after 0.3 seconds", ""),
    "only empty deltas after text": (hanging(reply(HALF), chunk({"content": ""})), "stopped sending for 0.1 seconds", "Open tot "),
    "stall": (hanging(reply(HALF)), "stopped sending for 0.1 seconds", "Open tot "),
    "stall inside a character": (hanging(reply(HALF + said("é")[:-80])), "stopped sending", "Open tot "),
    "cut inside an event": (reply(HALF + said("negen")[:-9]), "broke off in the middle", "Open tot "),
    "cut inside a chunk": (CHUNKED + b"%x\r\n" % (len(HALF) + 50) + HALF, "broke off in the middle", "Open tot "),
    "cut that quotes the end": (reply(HALF + said("data: [DONE]")), "broke off in the middle", "Open tot data: [DONE]"),
    "not HTTP": (b"220 mail ESMTP\r\n\r\n", "does not answer in HTTP", ""),
    "malformed event": (reply(HALF + b"data: {\n\n"), "not valid JSON", "Open tot "),
    "bytes that are no UTF-8": (reply(HALF + b'data: {"choices": "\xff"}\n\n'), "not UTF-8", "Open tot "),
    "deeply nested event": (reply(HALF + b"data: " + b"[" * 100_000 + b"\n\n"), "cannot be read", "Open tot "),
    "error after text": (reply(HALF + ERROR % b"500" + DONE), "in the middle of its answer (it says: ", "Open tot "),
    "error with a code": (reply(ERROR % b"429"), "takes no more requests for now (429)", ""),
    "error with another code": (reply(ERROR % b'"context_length_exceeded"'), "the prompt is too long", ""),
    "error without a wrapper": (reply(HALF + b'data: {"object": "error", "message": "oom"}\n\n' + DONE), '"oom"', "Open tot "),
    "tool call": (reply(chunk({"tool_calls": [{"index": 0}]}) + chunk({}, "tool_calls") + DONE), "wants to call a tool", ""),
    "tool call after text": (reply(HALF + chunk({}, "tool_calls") + DONE), "wants to call a tool", "Open tot "),
    "error as a reason": (reply(HALF + chunk({}, "error") + DONE), "ended its answer with an error", "Open tot "),
    "empty answer": (reply(STOP + DONE), "sent an empty answer", ""),
    "only [DONE]": (reply(DONE), "sent an empty answer", ""),
    "wrong content type": (reply(b"\x89PNG", kind=b"image/png"), "image/png instead of a stream", ""),
    "strange content type": (reply(b"", kind=b"<script>alert(1)</script>"), "something else instead of a stream", ""),
    "strange compression": (reply(b"\x28\xb5", b"content-encoding: zstd\r\n"), "compresses its answers", ""),
    "broken compression": (reply(b"no gzip", b"content-encoding: gzip\r\n"), "compressed bytes that cannot be read", ""),
    "cut compression": (reply(gzip.compress(said("Open") * 9)[:-8], b"content-encoding: gzip\r\n"), "broke off", "Open" * 9),
    "409": (reply(b"{}", status=b"409 Conflict"), "conflicts with this one (409)", ""),
    "402": (reply(b"{}", status=b"402 Payment Required"), "no credit left (402)", ""),
    "500 as a page": (reply(b"<html>caf\xe9", status=b"500 Oops", kind=b"text/html"), "a problem of its own (500)", ""),
    "401 in a strange compression": (reply(b"?", b"content-encoding: br\r\n", status=b"401 No"), "did not accept the API key", ""),
    "wrong length": (sized(HALF, 900, b"text/event-stream"), "broke off in the middle", "Open tot "),
}


TIMES: dict[str, dict[str, float]] = {
    **{key: {"first_piece_timeout": 0.1} for key in ("no first byte", "endless headers", "only comments")},
    "only thoughts": {"first_piece_timeout": 0.3},  # one must have come by then
    **{key: {"piece_timeout": 0.1} for key in ("only empty deltas after text", "stall", "stall inside a character")},
}
"""Of the faults that are a silence. The others are told by what comes, however late that is."""


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_on_the_wire_is_one_sentence(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    act, words, partial = FAULTS[name]
    with wire(act) as line:
        text, reason, error = ask(line, **TIMES.get(name, {}))
    assert words in error
    assert (text, reason) == (partial, None)
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("length", "length"), ("model_length", "length"), ("content_filter", "content_filter"), ("SAFETY", "content_filter")],
)
def test_a_limit_or_a_filter_is_a_finish_reason_not_an_error(reason: str, expected: str) -> None:
    with wire(reply(HALF + chunk({}, reason) + DONE)) as line:
        assert ask(line) == ("Open tot ", expected, "")


def retried(after: str) -> tuple[int, str]:
    """Attempts and error where a server sends this Retry-After with a 429."""
    head = f"retry-after: {after}\r\n".encode() if after else b""
    with wire(reply(b"{}", head, status=b"429 Slow")) as line:
        _, _, error = ask(line, retries=1, max_retry_after=2.0)
        return line.connections, error


@pytest.mark.parametrize(
    ("after", "attempts", "words"),
    [
        ("", 2, "ask again in a minute"),
        ("0.1", 2, "ask again after 2 seconds"),
        ("20", 1, "ask again after 20 seconds"),
        ("99999999999999", 1, "ask again in some hours, or choose another model"),
        ("1e400", 1, "ask again in some hours"),
        ("nan", 2, "ask again in a minute"),
        ("-5", 2, "ask again in a minute"),
        ("soon", 2, "ask again in a minute"),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 2, "ask again in a minute"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 1, "ask again in some hours"),
    ],
)
def test_retry_after_is_obeyed_within_bounds(after: str, attempts: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("ctxasm.llm.client._slept", lambda seconds, cancel: waited.append(seconds) or cancel())
    made, error = retried(after)
    assert (made, words in error) == (attempts, True), error
    assert len(waited) == attempts - 1
    assert all(seconds < 1.5 for seconds in waited)


def test_retry_after_may_be_a_date() -> None:
    made, error = retried(formatdate(time.time() + 50, usegmt=True))
    assert made == 1
    assert any(f"after {seconds} seconds" in error for seconds in range(3, 51)), error


@pytest.mark.parametrize("encoding", [b"", b"content-encoding: gzip\r\n"])
def test_an_endless_answer_fills_no_memory(encoding: bytes) -> None:
    body = b"data: " + b"x" * 30_000_000
    with wire(reply(gzip.compress(body * 3, 1) if encoding else body, encoding)) as line:
        tracemalloc.start()
        try:
            _, _, error = ask(line, first_piece_timeout=10.0)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert "far more than an answer can hold" in error
    assert peak < 60_000_000


def test_a_redirect_takes_neither_the_key_nor_the_question_along() -> None:
    with wire(reply(HALF + DONE)) as other:
        for status in (b"301 Moved", b"302 Found", b"307 Temporary Redirect", b"308 Permanent Redirect"):
            with wire(reply(b"", f"location: {other.base_url}\r\n".encode(), status=status)) as line:
                assert "sends requests on to another address" in ask(line)[2]
        assert other.connections == 0


def test_each_answer_has_its_own_connection() -> None:
    """What a server appends to one reply must not become the next one."""
    right = {"content": "goed"}
    body = chunk(right, "stop") + DONE
    planted = sized(said("FOUT") + DONE, kind=b"text/event-stream")
    with wire(sized(body, kind=b"text/event-stream") + planted) as line:
        assert [ask(line)[0] for _ in range(3)] == ["goed"] * 3
        assert line.connections == 3
        assert json.loads(line.requests[0].partition(b"\r\n\r\n")[2])["model"] == "m"
