"""The door of the server: who asks under a name that is not its own is refused, on every route and the websocket.

Otherwise any web page could have its own name answered by this machine (DNS rebinding), and read and delete through the browser
of whoever opens it. Every answer forbids frames and guessing of types, and holds no stack trace.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

from ctxasm.app.hosts import HOST_NAMES, Hosts, read_hosts
from ctxasm.model.errors import InvalidInput, shown

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
MARK = "x-ctxasm-guarded"
"""What a request carries inside that came through the door. No web page can put a header into the handshake of a websocket."""
_STARTS = ("http.response.start", "websocket.http.response.start")


def door() -> Middleware:
    """The guard with the names of the environment. Ends the process with a sentence where they cannot be used."""
    try:
        return Middleware(Guard, hosts=read_hosts(os.environ))
    except InvalidInput as error:
        sys.exit(f"ctxasm: {error}")


class Guard:
    """ASGI middleware around everything that Streamlit serves."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on; either way with the headers."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] in _STARTS:
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                headers.update(HEADERS)
            started = True
            await send(message)

        if (refusal := self._refusal(scope)) is not None:
            await _refuse(refusal, scope, receive, answer)
            return
        try:
            await self._app({**scope, "headers": [*scope["headers"], (MARK.encode(), b"yes")]}, receive, answer)
        except Exception:
            if scope["type"] == "http" and not started:
                await PlainTextResponse("Internal Server Error", 500)(scope, receive, answer)
            raise  # the server writes the trace to its own log

    def _refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._hosts.allow(hosts[0]):
            got = ", ".join(shown(host) for host in hosts) or "no Host header"
            remedy = f"To add one, start it with `ctxasm serve --host-name NAME`, or set {HOST_NAMES}."
            return f"This server answers under localhost and the names that it was given, got {got}. {remedy}"
        if not all(self._hosts.allow_origin(origin, hosts[0]) for origin in origins):
            return f"This server answers only to its own pages, got the origin {', '.join(map(shown, origins))}."
        if scope["type"] == "websocket" and not origins:
            return "This server answers only to its own pages, got no Origin header."
        return None


async def _refuse(sentence: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    await PlainTextResponse(f"{sentence}\n", 403)(scope, receive, send)
