"""The door of the server: as ASGI alone, and on real servers, on every route, file and upload and the websocket."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ctxasm.app.hosts import Hosts
from ctxasm.app.ui.guard import HEADERS, MARK, Guard

ROOT = Path(__file__).resolve().parents[3]
NAMED = "ctxasm.example"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Server(NamedTuple):
    port: int
    log: Path

    def ask(self, path: str, *headers: str, method: str = "GET", version: str = "1.1") -> Answer:
        """What a request of these header lines alone is answered."""
        lines = [f"{method} {path} HTTP/{version}", *headers, "Connection: close", "", ""]
        return self._sent("\r\n".join(lines))

    def shake_hands(self, *headers: str) -> Answer:
        """What the handshake of a websocket is answered."""
        upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==", "Sec-WebSocket-Version: 13")
        return self._sent("\r\n".join(["GET /_stcore/stream HTTP/1.1", *upgrade, *headers, "", ""]), to_the_end=False)

    def _sent(self, text: str, to_the_end: bool = True) -> Answer:
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection, connection.makefile("rb") as stream:
            connection.sendall(text.encode())
            status = int(stream.readline().split()[1])
            headers = {}
            while line := stream.readline().strip():
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.lower()] = value.strip()
            return Answer(status, headers, stream.read() if to_the_end or status != 101 else b"")


@contextmanager
def started(folder: Path, *command: str, **environment: str) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CTXASM_", "OPENAI_"))}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *(part.replace("PORT", str(port)) for part in command)],
            cwd=ROOT,
            env={**clean, "CTXASM_DATABASE_URL": f"sqlite:///{folder / 'd.db'}", **environment},
            stdout=log,
            stderr=log,
        )
        server = Server(port, folder / "log")
        try:
            for _ in range(1200):
                assert process.poll() is None, server.log.read_text()
                try:
                    assert server.ask("/_stcore/health", "Host: localhost").body == b"ok"
                    break
                except ConnectionRefusedError:
                    time.sleep(0.1)
            yield server
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module", params=["serve", "uvicorn"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`ctxasm serve`, which becomes `streamlit run app.py`, and `uvicorn app:app`, of a user who has an agent API for other apps."""
    folder = tmp_path_factory.mktemp("server")
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "config.toml").write_text("[server]\nenableAgentApi = true\n")
    if request.param == "serve":
        start = started(
            folder, "-m", "ctxasm", "serve", "--port", "PORT", "--host-name", NAMED, "--server.headless", "true", HOME=str(folder)
        )
    else:
        start = started(folder, "-m", "uvicorn", "app:app", "--port", "PORT", CTXASM_HOST_NAMES=NAMED, HOME=str(folder))
    with start as found:
        yield found


@pytest.fixture(scope="module")
def script(server: Server) -> str:
    """The path of a script that the page loads."""
    found = re.search(rb'src="\./(static/js/[^"]+)"', server.ask("/", "Host: localhost").body)
    assert found is not None
    return f"/{found[1].decode()}"


UPLOAD, COMPONENT = "/_stcore/upload_file/session/file", "/_stcore/bidi-components/ctxasm/x.js"
ROUTES = ("/", "/ask", "/_stcore/health", "/_stcore/host-config", "/media/x.png", "/component/a/index.html", COMPONENT, "/no/such/page")


def own_names(port: int) -> tuple[str, ...]:
    return (
        f"127.0.0.1:{port}",
        "localhost",
        f"LOCALHOST:{port}",
        "localhost.",
        f"[::1]:{port}",
        "127.9.8.7",
        NAMED,
        f"{NAMED.upper()}.:443",
    )


EVIL = (
    "evil.example",
    "127.0.0.1.evil.example",
    "evil.example:PORT",
    "localhost@evil.example",
    "localhost:1:2",
    "localhost, evil.example",
    "",
)


def is_refused(answer: Answer) -> bool:
    return answer.status == 403 and answer.body.startswith(b"This server answers ")


@pytest.mark.system
def test_its_own_names_are_answered(server: Server, script: str) -> None:
    for name in own_names(server.port):
        host = f"Host: {name}"
        assert server.ask("/_stcore/health", host).body == b"ok", name
        assert b"<html" in server.ask("/", host).body, name
        assert server.ask(script, host).status == 200, name
        assert server.shake_hands(host, f"Origin: http://{name}").status == 101, name
        assert not is_refused(server.ask(UPLOAD, host, "Content-Length: 0", method="PUT")), name


@pytest.mark.system
def test_every_other_name_is_refused_on_every_route(server: Server, script: str) -> None:
    for name in EVIL:
        host = f"Host: {name.replace('PORT', str(server.port))}"
        for path in (*ROUTES, script, UPLOAD):
            assert is_refused(server.ask(path, host)), (name, path)
        for method in ("PUT", "POST", "DELETE", "OPTIONS", "HEAD"):
            assert server.ask(UPLOAD, host, "Content-Length: 0", method=method).status == 403, (name, method)
        assert is_refused(server.shake_hands(host, f"Origin: http://{name}")), name
        assert is_refused(server.shake_hands(host, f"Origin: http://{NAMED}")), name


@pytest.mark.system
def test_no_host_and_two_are_refused(server: Server) -> None:
    assert is_refused(server.ask("/", version="1.0"))
    assert server.ask("/").status in (400, 403)
    assert server.ask("/", "Host: localhost", "Host: evil.example").status in (400, 403)
    assert server.shake_hands("Origin: http://localhost").status in (400, 403)


@pytest.mark.system
def test_what_a_proxy_may_say_opens_nothing(server: Server) -> None:
    assert is_refused(server.ask("/", "Host: evil.example", "X-Forwarded-Host: localhost", "Forwarded: host=localhost"))


@pytest.mark.system
def test_a_page_of_another_origin_is_refused(server: Server, script: str) -> None:
    host = f"Host: localhost:{server.port}"
    for origin in ("http://evil.example", f"http://evil.example:{server.port}", "https://localhost.evil.example", "null", "file://", ""):
        assert is_refused(server.shake_hands(host, f"Origin: {origin}")), origin
        for path in ("/", script, "/_stcore/health", UPLOAD):
            assert is_refused(server.ask(path, host, f"Origin: {origin}", "Content-Length: 0", method="PUT")), (origin, path)
    for origin in (f"http://localhost:{server.port + 1}", "http://localhost", f"http://127.0.0.1:{server.port}"):  # somebody else's page
        assert is_refused(server.shake_hands(host, f"Origin: {origin}")), origin
    assert is_refused(server.shake_hands(host))
    assert server.shake_hands(host, "Origin: http://localhost", "Origin: http://evil.example").status in (400, 403)
    assert server.shake_hands(f"Host: {NAMED}", f"Origin: https://{NAMED}").status == 101  # behind a proxy that speaks TLS


@pytest.mark.system
def test_no_program_drives_the_pages_without_a_browser(server: Server) -> None:
    headers = (f"Host: localhost:{server.port}", "Content-Type: application/json", "Content-Length: 2")
    for route in ("interact", "mcp"):
        answer = server.ask(f"/_stcore/agent/{route}", *headers, method="POST")
        assert answer.status in (400, 403)
        assert b"not_available" in answer.body


@pytest.mark.system
def test_every_answer_has_the_headers(server: Server, script: str) -> None:
    for path in (*ROUTES, script, UPLOAD):
        for host in ("localhost", "evil.example"):
            answer = server.ask(path, f"Host: {host}")
            assert {name: answer.headers.get(name.lower()) for name in HEADERS} == HEADERS, (host, path)
    refused = server.shake_hands("Host: evil.example", "Origin: http://evil.example")
    assert {name: refused.headers.get(name.lower()) for name in HEADERS} == HEADERS


@pytest.mark.system
def test_names_that_cannot_be_used_end_the_start_with_a_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "CTXASM_HOST_NAMES": "https://ctxasm.example"}
    for command in (["-m", "uvicorn", "app:app", "--port", "1"], ["-m", "ctxasm", "serve", "--port", "1"]):
        done = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "must be a name or an address alone" in done.stderr
        assert "Traceback" not in done.stderr


def test_streamlit_itself_shows_no_trace_either() -> None:
    """Where its own words stand: an error that comes before the handler of the app, as in a script that cannot be compiled."""
    assert tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["client"]["showErrorDetails"] == "none"


Sent = list[dict[str, Any]]


def passed(app: Any, scope: dict[str, Any]) -> Sent:
    sent: Sent = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    try:
        asyncio.run(Guard(app, Hosts())(scope, receive, send))  # type: ignore[arg-type]
    except ZeroDivisionError:
        sent.append({"type": "raised"})
    return sent


def scope(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "method": "GET", "path": "/", "headers": [(b"host", b"localhost"), (b"origin", b"http://localhost")], **more}


def test_a_fault_behind_it_shows_no_trace_and_reaches_the_log() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError("secret of the server")

    start, body, raised = passed(broken, scope("http"))
    assert (start["status"], body["body"], raised["type"]) == (500, b"Internal Server Error", "raised")
    assert {name.lower().encode() for name in HEADERS} <= {name for name, _ in start["headers"]}
    assert passed(broken, scope("websocket")) == [{"type": "raised"}]


def test_a_fault_in_the_middle_of_an_answer_adds_nothing_to_it() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-frame-options", b"SAMEORIGIN")]})
        raise ZeroDivisionError

    start, raised = passed(broken, scope("http"))
    assert raised["type"] == "raised"
    assert [value for name, value in start["headers"] if name == b"x-frame-options"] == [b"DENY"]


def test_a_websocket_is_refused_by_a_server_that_cannot_say_why() -> None:
    async def reached(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("it was handed on")

    assert passed(reached, scope("websocket", headers=[(b"host", b"evil.example")])) == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("twice", [(b"host", b"localhost"), (b"host", b"evil.example"), (b"origin", b"http://evil.example")])
def test_a_header_that_is_there_twice_is_refused_where_a_server_lets_it_through(twice: tuple[bytes, bytes]) -> None:
    async def reached(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("it was handed on")

    start, _ = passed(reached, scope("http", headers=[*scope("http")["headers"], twice]))
    assert start["status"] == 403


def test_what_came_through_is_marked_and_the_life_of_the_server_passes() -> None:
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append([name.decode() for name, _ in scope.get("headers", [])])

    assert passed(app, scope("websocket")) == passed(app, {"type": "lifespan"}) == []
    assert seen == [["host", "origin", MARK], []]
