"""A chat server on loopback whose model has a window and a vocabulary of its own; the model's name says what it does beyond the window.

It counts `times` as many tokens as cl100k_base. In tests: `with window_server(2048) as server:`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fake_model_server import DONE, event, running
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ctxasm.text.tokens import open_counter

PLAIN = "no-usage"
"""Knows no `stream_options` and refuses them."""


@dataclass
class WindowServer:
    """Its window and vocabulary, and every request that it was sent. `answer` is what it says, `tokens` how many that are."""

    window: int
    times: float = 1.15
    answer: str = "De balie is open [1]."
    tokens: int = 8
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def count(self, body: dict[str, Any]) -> int:
        return round(self.times * sum(open_counter().count(message["content"]) for message in body["messages"]))


def refusal(name: str, prompt: int, wanted: int, window: int) -> Response | None:
    """What servers of these kinds say of a prompt that does not fit."""
    match name:
        case "llama.cpp":
            message = f"request ({prompt} tokens) exceeds the available context size ({window} tokens), try increasing it"
            error = {"code": 400, "message": message, "type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": window}
            return JSONResponse({"error": error}, 400)
        case "llama.cpp-event":
            error = {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"}
            line = f"error: {json.dumps({**error, 'n_prompt_tokens': prompt, 'n_ctx': window})}\n\n"
            return Response(line, media_type="text/event-stream")
        case "llama-cpp-python":
            message = f"Requested tokens ({prompt}) exceed context window of {window}"
            return JSONResponse({"error": {"message": message, "type": "internal_server_error", "code": None}}, 500)
        case "vllm":
            message = (
                f"This model's maximum context length is {window} tokens. However, you requested {prompt + wanted} tokens "
                f"({prompt} in the messages, {wanted} in the completion). Please reduce the length of the messages or completion."
            )
            return JSONResponse({"object": "error", "message": message, "type": "BadRequestError", "code": 400}, 400)
    return None


async def streamed(server: WindowServer, body: dict[str, Any], prompt: int) -> AsyncIterator[bytes]:
    room = server.window - prompt
    is_empty = body["model"] == "empty" and room <= 0
    ended = "length" if body["max_tokens"] < server.tokens or room < server.tokens else "stop"
    written = 0 if is_empty else max(0, min(server.tokens, body["max_tokens"], room if body["model"] != "ollama" else server.tokens))
    if body["model"] == "ollama":
        prompt, ended = min(prompt, server.window), "stop"
    if written:
        yield event(server.answer)
    yield event(finish="stop" if is_empty else ended)
    if "stream_options" in body:
        usage = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
        yield f"data: {json.dumps({'id': 'x', 'object': 'chat.completion.chunk', 'choices': [], 'usage': usage})}\n\n".encode()
    yield DONE


@contextmanager
def window_server(window: int, **changes: Any) -> Iterator[WindowServer]:
    """The server as it runs; ends with the block."""
    server = WindowServer(window, **changes)

    async def chat(request: Request) -> Response:
        body = await request.json()
        server.requests.append(body)
        if body["model"] == PLAIN and "stream_options" in body:
            problem = {"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}
            return JSONResponse({"detail": [problem]}, 422)
        prompt = server.count(body)
        if prompt + 1 > window and (refused := refusal(body["model"], prompt, body["max_tokens"], window)):
            return refused
        return StreamingResponse(streamed(server, body, prompt), media_type="text/event-stream")

    with running(Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])) as server.base_url:
        yield server
