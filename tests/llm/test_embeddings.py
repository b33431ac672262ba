"""Embeddings over real HTTP from a server that can misbehave."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fake_model_server import running
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ctxasm.llm.embedding.endpoint_vectors import BATCH, MOST_CHARS, EndpointEmbedder
from ctxasm.llm.endpoint import Endpoint
from ctxasm.model.errors import ModelUnavailable

KEY = "sk-very-secret-0123456789"


class Served:
    """The server's memory. `reply` makes the answer of each request from its number and its body."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.base_url = ""
        self.reply: Callable[[int, dict[str, Any]], Response] = lambda number, body: JSONResponse(vectors_of(body))


def vector(text: str) -> list[float]:
    return [3.0 * len(text), 4.0 * len(text) + text.count("a"), 1.0]


def vectors_of(body: dict[str, Any]) -> dict[str, Any]:
    data = [{"object": "embedding", "index": place, "embedding": vector(text)} for place, text in enumerate(body["input"])]
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture(scope="module")
def served_once() -> Iterator[Served]:
    memory = Served()

    async def embed(request: Request) -> Response:
        memory.bodies.append(json.loads(await request.body()))
        memory.keys.append(request.headers.get("authorization", ""))
        return memory.reply(len(memory.bodies), memory.bodies[-1])

    with running(Starlette(routes=[Route("/v1/embeddings", embed, methods=["POST"])])) as memory.base_url:
        yield memory


@pytest.fixture
def served(served_once: Served) -> Served:
    served_once.bodies.clear()
    served_once.keys.clear()
    served_once.reply = lambda number, body: JSONResponse(vectors_of(body))
    return served_once


def embedder(served: Served, **more: Any) -> EndpointEmbedder:
    return EndpointEmbedder(Endpoint(served.base_url, "embed-1", KEY, first_piece_timeout=60.0, **more))


def test_texts_come_back_as_unit_vectors_in_their_order(served: Served) -> None:
    texts = [f"{'a' * (number % 7)}{number}" for number in range(BATCH + 6)]
    made = embedder(served).embed_passages(texts)
    wanted = np.array([vector(text) for text in texts])
    assert made.dtype == np.float32
    assert np.allclose(made, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
    assert [len(body["input"]) for body in served.bodies] == [BATCH, 6]
    assert {body["model"] for body in served.bodies} == {"embed-1"}
    assert served.keys == [f"Bearer {KEY}"] * 2


def test_a_question_is_one_vector_and_no_texts_are_none(served: Served) -> None:
    own = embedder(served)
    assert own.embed_query("abc").shape == (3,)
    assert own.embed_passages([]).shape == (0, 3)
    assert len(served.bodies) == 1


def test_what_is_too_long_is_cut_and_what_is_empty_is_sent_as_a_blank(served: Served) -> None:
    embedder(served).embed_passages(["x" * (MOST_CHARS + 5), ""])
    assert [len(text) for text in served.bodies[0]["input"]] == [MOST_CHARS, 1]


def test_a_busy_server_is_asked_again(served: Served) -> None:
    served.reply = lambda number, body: JSONResponse({}, 503) if number == 1 else JSONResponse(vectors_of(body))
    assert embedder(served).embed_passages(["a"]).shape == (1, 3)
    assert len(served.bodies) == 2


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (JSONResponse({"error": {"message": f"bad key {KEY}"}}, 401), "did not accept the API key"),
        (JSONResponse({"data": []}), "0 vectors for 2 texts"),
        (JSONResponse({"data": "no"}), "0 vectors for 2 texts"),
        (JSONResponse([1]), "0 vectors for 2 texts"),
        (JSONResponse({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}), "no lists of one length"),
        (JSONResponse({"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]}), "no lists of one length"),
        (JSONResponse({"data": [{"embedding": [1, True]}, {"embedding": [1, 2]}]}), "finite numbers"),
        (JSONResponse({"data": [{"embedding": [0, 0]}, {"embedding": [1, 2]}]}), "length zero"),
        (Response('{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}', media_type="application/json"), "finite numbers"),
        (Response("<html>hello</html>", media_type="text/html"), "text/html instead of JSON"),
        (Response("{not json", media_type="application/json"), "not valid JSON"),
        (JSONResponse({"error": {"message": "worker died"}}), "reported an error"),
    ],
)
def test_every_fault_is_a_sentence_without_the_key(served: Served, reply: Response, said: str, caplog: pytest.LogCaptureFixture) -> None:
    served.reply = lambda number, body: reply
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelUnavailable, match=said) as caught:
        embedder(served, retries=0).embed_passages(["one", "two"])
    shown = f"{caught.value} {caught.getrepr()} {caplog.text}"
    assert KEY not in shown
    assert KEY[:8] not in str(caught.value)


def test_dimensions_must_not_change(served: Served) -> None:
    served.reply = lambda number, body: JSONResponse({"data": [{"embedding": [1.0] * (2 + number)}]})
    own = embedder(served)
    own.embed_query("a")
    with pytest.raises(ModelUnavailable, match="vectors of 4 numbers after some of 3"):
        own.embed_query("b")


def test_a_search_that_is_stopped_ends_the_request(served: Served) -> None:
    stopped = EndpointEmbedder(Endpoint("http://127.0.0.1:9/v1", "m", KEY, retries=5), cancelled=lambda: True)
    with pytest.raises(ModelUnavailable, match="stopped on request"):
        stopped.embed_query("a")
