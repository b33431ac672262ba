"""An OpenAI-compatible chat server on loopback that answers from the context it is given and misbehaves by model name.

`python tests/fake_model_server.py --port 8099`, then any name of FAULTS or JUDGES as the model; every other name answers well.
In tests: `with serving() as server:` and `server.base_url`, `server.requests`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fake_judge import JUDGES, judged
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

STATUSES = {"400": 400, "401": 401, "403": 403, "404": 404, "408": 408, "413": 413, "429": 429, "500": 500, "503": 503}
FAULTS = (
    *STATUSES,
    *("split", "wrong", "out-of-range", "range", "none", "think", "too-long", "quota", "429-once", "429-long", "503-twice"),
    *("slow", "silent", "ping", "stall", "cut", "cut-clean", "garbage", "odd", "html", "json", "latin1", "empty", "hang"),
    *("huge", "huge-line", "length", "filter", "error-event", "redirect", "echo-key", "multibyte", "halves"),
    *("wants-completion-tokens", "no-temperature"),
)


@dataclass
class FakeModel:
    """The server's memory: every chat request as (headers, body), and how many answers were abandoned by the client.

    `judge` gives the object that a model of JUDGES replies with, `answer` what every other one says, from the body of the request.
    """

    requests: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    abandoned: int = 0
    base_url: str = ""
    judge: Callable[[dict[str, Any]], object] = field(default=lambda body: {"verdict": "supported", "score": 0.9})
    answer: Callable[[dict[str, Any]], str] = field(default=lambda body: answer_from(body))

    def attempts(self, model: str) -> int:
        return sum(body["model"] == model for _, body in self.requests)


def answer_from(body: dict[str, Any]) -> str:
    """The first words of the first two blocks of the prompt's context, each with its marker."""
    blocks = re.findall(
        r"^\[(\d+)\] Source:[^\n]*\n(.*?)(?=^\[\d+\] Source:|\Z)", body["messages"][-1]["content"], re.MULTILINE | re.DOTALL
    )
    parts = [f"{' '.join(text.split()[:12])} [{number}]." for number, text in blocks[:2]]
    return " ".join(parts) or "Open tot negen uur [1]. Bel ons [2]."


def event(text: str | None = None, finish: str | None = None, ascii_only: bool = False) -> bytes:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fake", "choices": [choice]}
    return f"data: {json.dumps(data, ensure_ascii=ascii_only)}\n\n".encode()


def code_units(text: str) -> list[str]:
    """`text` as some servers stream it: an emoji in two events, each with one half of its surrogate pair."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


DONE = b"data: [DONE]\n\n"


def spoiled(name: str, answer: str) -> str:
    count = len(set(re.findall(r"\[\d+\]", answer)))
    match name:
        case "wrong":
            return re.sub(r"\[(\d+)\]", lambda m: f"[{int(m[1]) % max(2, count) + 1}]", answer)
        case "out-of-range":
            return re.sub(r"\[(\d+)\]", "[99]", answer)
        case "range":
            return re.sub(r"\[(\d+)\]", "[1-2]", answer)
        case "none":
            return re.sub(r" ?\[\d+\]", "", answer)
        case "think":
            return f"<think>block [7] may fit</think>{answer}"
    return answer


async def streamed(name: str, answer: str) -> AsyncIterator[bytes]:
    """The events of one answer."""
    yield event("")
    if name in ("slow", "silent"):
        await asyncio.sleep(0.1 if name == "slow" else 30)
    if name == "ping":
        for _ in range(300):
            yield b": keep-alive\n\n"
            await asyncio.sleep(0.1)
    if name == "error-event":
        yield b'data: {"error": {"message": "worker died", "code": "oops"}}\n\n'
    if name == "huge":
        for _ in range(400):
            yield event("x" * 1000)
    if name == "huge-line":
        yield b"data: "
        for _ in range(400):
            yield b"x" * 50_000
    if name == "odd":
        for odd in (
            b"data: 5\n\n",
            b'data: {"choices": null}\n\n',
            b'data: {"choices": [{"delta": {"content": [1]}}]}\n\n',
        ):
            yield odd
    pieces = code_units(answer) if name == "halves" else list(answer) if name == "split" else re.findall(r"\S+\s*", answer)
    for place, piece in enumerate([] if name == "empty" else pieces):
        if place == 2 and name in ("stall", "garbage", "latin1", "length", "filter", "cut-clean"):
            break
        data = event(piece, ascii_only=name == "halves")
        if name == "multibyte":
            for byte in data:
                yield bytes([byte])
        else:
            yield data
        if name == "split":
            await asyncio.sleep(0)
    match name:
        case "stall":
            await asyncio.sleep(30)
        case "garbage":
            yield b"data: {not json\n\n"
        case "latin1":
            yield b'data: {"choices": [{"delta": {"content": "caf\xe9"}}]}\n\n'
        case "length":
            yield event(finish="length")
        case "filter":
            yield event(finish="content_filter")
        case "cut-clean":
            return
        case _:
            yield event(finish="stop")
    yield DONE


class Broken(Response):
    """Stops after two pieces, without an end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": event("Open ") + event("tot "), "more_body": True})


def refused(name: str, request: Request, body: dict[str, Any], attempt: int) -> Response | None:
    """The answer of a model that refuses, or None."""
    key = request.headers.get("authorization", "").removeprefix("Bearer ")
    message, code, status, headers = "no", "", STATUSES.get(name, 0), {}
    if name == "429":
        headers = {"retry-after": "0.05"}
    if name == "429-once" and attempt == 1:
        status, headers = 429, {"retry-after": "0.2"}
    elif name == "429-long":
        status, headers = 429, {"retry-after": "3600"}
    elif name == "503-twice" and attempt <= 2:
        status = 503
    elif name == "quota":
        status, code = 429, "insufficient_quota"
    elif name == "too-long":
        status, message, code = 400, "This model's maximum context length is 4096 tokens", "context_length_exceeded"
    elif name == "echo-key":
        status, message = 400, f"bad key {key} or {key[:8]}"
    elif name == "wants-completion-tokens" and "max_tokens" in body:
        status, message = 400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    elif name == "no-temperature" and "temperature" in body:
        status, message = 400, "Unsupported value: 'temperature' does not support 0 with this model."
    if not status:
        return None
    return JSONResponse({"error": {"message": message, "code": code}}, status, headers=headers)


def make_app(memory: FakeModel) -> Starlette:
    async def chat(request: Request) -> Response:
        body = await request.json()
        memory.requests.append((dict(request.headers), body))
        name = body["model"]
        if refusal := refused(name, request, body, memory.attempts(name)):
            return refusal
        if name in JUDGES:
            return judged(name, body, memory.attempts(name), memory.judge, request.headers.get("authorization", "").removeprefix("Bearer "))
        if name == "hang":
            await asyncio.sleep(30)
        if name == "cut":
            return Broken()
        if name == "redirect":
            return RedirectResponse("http://127.0.0.1:9/v1/chat/completions")
        if name == "html":
            return Response("<html>Welcome</html>", media_type="text/html")
        answer = spoiled(name, memory.answer(body))
        if name == "json":
            return JSONResponse({"choices": [{"message": {"role": "assistant", "content": answer}}]})

        async def watched() -> AsyncIterator[bytes]:
            try:
                async for data in streamed(name, answer):
                    yield data
            except asyncio.CancelledError:
                memory.abandoned += 1
                raise

        return StreamingResponse(watched(), media_type="text/event-stream")

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"} for name in ("ok", *FAULTS, *JUDGES)]})

    async def calls(_: Request) -> Response:
        return PlainTextResponse(str(len(memory.requests)))

    routes = [Route("/v1/chat/completions", chat, methods=["POST"]), Route("/v1/models", models), Route("/calls", calls)]
    return Starlette(routes=routes)


class Server(uvicorn.Server):
    """Ends at once, where uvicorn looks ten times a second whether it should and then waits for its connections."""

    def __init__(self, app: Starlette) -> None:
        super().__init__(uvicorn.Config(app, log_level="critical", lifespan="off"))
        self.is_up, self._end = threading.Event(), asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self._loop = asyncio.get_running_loop()
        self.is_up.set()
        await self._end.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in self.servers:
            listening.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)


@contextmanager
def running(app: Starlette, port: int = 0) -> Iterator[str]:
    """The address of a running server on a free loopback port (or `port`); ends with the block."""
    with socket.create_server(("127.0.0.1", port)) as sock:
        server = Server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        assert server.is_up.wait(60)
        try:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}/v1"
        finally:
            server.end()
            thread.join(5)


@contextmanager
def serving(port: int = 0) -> Iterator[FakeModel]:
    """The server as it runs; ends with the block."""
    memory = FakeModel()
    with running(make_app(memory), port) as memory.base_url:
        yield memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8099)
    with serving(parser.parse_args().port) as server:
        print(f"serving {server.base_url}; models: ok, {', '.join(FAULTS)}", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
