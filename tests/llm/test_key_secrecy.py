"""A server gets the key and may send it back in any place: it must show up in none of ours."""

from __future__ import annotations

import logging
import re
import traceback

import pytest
from contexts import make_assembly
from fake_wire import DONE, chunk, reply, said, sized, wire
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.answering.asking import answer
from ctxasm.llm import Endpoint, OpenAIModel
from ctxasm.llm.client import complete_json
from ctxasm.llm.redaction import HIDDEN, StreamRedactor, redacted, shares
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.messages import Message
from tests.examples import examples

KEY = "sk-secret-0123456789abcdef"
K = KEY.encode()
ASKED = (Message("user", "Hoe laat?"),)
STOP = chunk({}, "stop") + DONE
REFUSED = b"400 Bad Request"
ECHOES = {
    "header": reply(said("Goed.") + STOP, b"x-echo: Bearer " + K + b"\r\n"),
    "reason phrase": reply(said("Goed.") + STOP, status=b"200 " + K),
    "content type": reply(said("Goed.") + STOP, kind=b"text/" + K),
    "content encoding": reply(said("Goed.") + STOP, b"content-encoding: " + K + b"\r\n"),
    "retry after": reply(b"{}", b"retry-after: " + K + b"\r\n", status=b"429 " + K),
    "location": reply(b"", b"location: http://127.0.0.1:9/" + K + b"\r\n", status=b"302 " + K),
    "error body": reply(b'{"error": {"message": "bad key %s", "code": "%s", "param": "%s"}}' % (K, K, K), status=REFUSED),
    "half of it in an error": reply(b'{"error": {"message": "bad key %s****"}}' % K[:12], status=REFUSED),
    "error body as text": reply(b"<p>" + K, status=REFUSED, kind=b"text/html"),
    "error code of a stream": reply(b'data: {"error": {"message": "%s", "code": "%s"}}\n\n' % (K, K)),
    "error after text": reply(said("Goed.") + b'data: {"error": "%s"}\n\n' % K),
    "answer": reply(said(f"Uw sleutel is {KEY}.") + STOP),
    "answer in pieces": reply(said(*f"Uw sleutel is {KEY}.") + STOP),
    "answer cut in the key": reply(said("Uw sleutel is ", KEY[:-1])),
    "finish reason": reply(said("Goed.") + chunk({}, KEY) + DONE),
    "malformed event": reply(said("Goed.") + b"data: {" + K + b"\n\n"),
    "model and id": reply(chunk({"content": "Goed."}, id=KEY, model=KEY, system_fingerprint=KEY) + STOP),
    "status line": b"HTTP/1.1 " + K + b" OK\r\n\r\n",
    "header without a colon": b"HTTP/1.1 200 OK\r\n" + K + b"\r\n\r\n",
}


@pytest.mark.parametrize("name", ECHOES)
def test_a_key_that_comes_back_is_shown_nowhere(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with wire(ECHOES[name]) as line:
        where = Endpoint(line.base_url, "m", KEY, first_piece_timeout=2.0, piece_timeout=1.0, retries=0)
        model = OpenAIModel(where)
        result = answer(make_assembly(), model)
        assert K in line.requests[0]
    seen = caplog.text + repr(result) + repr(where) + repr(model) + str([vars(record) for record in caplog.records])
    assert KEY not in seen
    assert KEY[:12] not in (result.error or "")
    assert result.error or result.text in ("Goed.", f"Uw sleutel is {HIDDEN}.", f"Uw sleutel is sk-{HIDDEN}.")
    assert len(caplog.records) > 5


@pytest.mark.parametrize("name", ["header", "error body", "error body as text", "status line"])
def test_nor_where_the_reply_is_whole(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with wire(ECHOES[name]) as line:
        where = Endpoint(line.base_url, "m", KEY, first_piece_timeout=2.0, retries=0)
        with pytest.raises(ModelUnavailable) as caught:
            complete_json(where, ASKED, schema={}, schema_name="x", max_tokens=9)
    assert KEY not in caplog.text + "".join(traceback.format_exception(caught.value)) + str(vars(caught.value))


def test_a_judge_that_repeats_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    body = b'{"model": "%s", "choices": [{"message": {"content": "{\\"why\\": \\"%s\\"}"}}]}' % (K, K)
    with wire(sized(body)) as line:
        done = complete_json(Endpoint(line.base_url, "m", KEY), ASKED, schema={}, schema_name="x", max_tokens=9)
    assert (done.data, done.model) == ({"why": HIDDEN}, "m")
    assert KEY not in caplog.text


def test_the_package_itself_never_holds_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    import openai

    made: list[str] = []

    class Watched(openai.OpenAI):
        def __init__(self, **given: object) -> None:
            super().__init__(**given)  # type: ignore[arg-type]
            made.append(str(self.api_key) + str(self.default_headers))

    monkeypatch.setattr(openai, "OpenAI", Watched)
    with wire(ECHOES["header"]) as line:
        assert answer(make_assembly(), OpenAIModel(Endpoint(line.base_url, "m", KEY))).text == "Goed."
    assert len(made) == 1
    assert KEY not in made[0]


KEYS = st.sampled_from(["aaaaaaaaaaaaaaaa", "abababababababab", "sk-secret-0123456789abcdef", "aabaabaabaabaabaab"])


@given(KEYS, st.data())
@settings(max_examples=examples(300))
def test_a_veiled_text_is_the_redacted_text_however_it_is_split(key: str, data: st.DataObject) -> None:
    part = st.one_of(st.just(key), st.integers(0, len(key)).map(lambda size: key[:size]), st.text(f"{key[:3]}x é", max_size=5))
    text = "".join(data.draw(st.lists(part, max_size=8))) + "."
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[low:high] for low, high in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    veil = StreamRedactor(key)
    shown = "".join([veil.feed(piece) for piece in pieces])
    shown += veil.rest()
    assert key not in shown
    if key.startswith("sk-"):  # up to three characters of it may be shown before it was certain
        plain = re.escape(redacted(text, key)).replace(re.escape(HIDDEN), f"(?:s|sk|sk-)?{re.escape(HIDDEN)}")
        assert re.fullmatch(plain, shown)


def test_short_stand_ins_are_no_secret() -> None:
    veil = StreamRedactor("ollama")
    assert veil.feed("ollama is a server") + veil.rest() == "ollama is a server"
    assert redacted("ollama", "ollama") == "ollama"
    assert shares("your key sk-sec*** is wrong", KEY)
    assert not shares("your request is wrong", KEY)
    assert not shares("anything", "")


@pytest.mark.parametrize(("end", "shown"), [("ends", "ends"), ("sk-s", "sk-s"), (KEY[:9], HIDDEN)])
def test_what_is_held_at_the_end_is_given_back_or_hidden(end: str, shown: str) -> None:
    veil = StreamRedactor(KEY)
    assert veil.feed(end) + veil.rest() == shown
    assert veil.rest() == ""
