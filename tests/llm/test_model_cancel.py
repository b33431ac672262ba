"""Stopping an answer: at once in every state of the connection, seen by the server, and leaving no thread behind."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from contexts import make_assembly
from fake_wire import Wire, reply, said, wire

from ctxasm.llm import Endpoint, OpenAIModel
from ctxasm.llm.client import complete_json
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.messages import Cancel, Message

ASKED = (Message("user", "Hoe laat?"),)
PATIENCE = 60.0
"""Seconds after which another outcome would come; nothing waits so long where all is well."""
CONNECT = 0.2
"""Seconds until a connection that is not taken is given up: no wish to stop ends that sooner, and its thread ends with it."""
SOON = 0.05
"""Seconds that a state has lasted when somebody wishes to stop."""
MOST_ASKED = 4
"""How often a wish that is already there is asked for again, until the answer has ended."""
"""Seconds from the wish to stop to the end of the answer."""


@contextmanager
def deaf() -> Iterator[str]:
    """The URL of a host that completes no connection: its queue is full."""
    with ExitStack() as open_until_the_end:
        listening = open_until_the_end.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            waiting = open_until_the_end.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        time.sleep(0.05)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def until_closed(first: bytes, saw: threading.Event, reached: Callable[[], None]) -> Callable[[socket.socket, bytes], None]:
    def act(connection: socket.socket, _: bytes) -> None:
        connection.sendall(first)
        reached()
        try:
            gone = connection.recv(1) == b""
        except ConnectionError:
            gone = True
        if gone:
            saw.set()

    return act


@contextmanager
def stuck(state: str, saw: threading.Event, wanted: threading.Event | None = None) -> Iterator[str]:
    """The URL of a server that gets stuck in this state; `saw` is set when it sees the connection close.

    `wanted` is set soon after the server has come there.
    """

    def reached() -> None:
        if wanted is not None:
            threading.Timer(SOON, wanted.set).start()

    if state == "connect":
        saw.set()
        with deaf() as url:
            reached()
            yield url
        return
    first = {"first byte": b"", "headers": b"HTTP/1.1 200", "stream": reply(b""), "stall": reply(said("Open ", "tot "))}
    line: Wire
    if state == "retry":
        saw.set()

        def busy(connection: socket.socket, _: bytes) -> None:
            connection.sendall(reply(b"{}", b"retry-after: 9\r\n", status=b"503 Busy"))
            reached()

        with wire(busy) as line:
            yield line.base_url
        return
    with wire(until_closed(first[state], saw, reached)) as line:
        yield line.base_url


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ctxasm-answer"]


def wait_for(done: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        time.sleep(0.005)
    return done()


def counted(wanted: threading.Event, heard: list[int]) -> Cancel:
    """A wish to stop, and how often it was told: once it is heard, nothing is left to ask for."""

    def cancel() -> bool:
        heard[0] += wanted.is_set()
        return wanted.is_set()

    return cancel


STATES = ("connect", "first byte", "headers", "stream", "stall", "retry")


@pytest.mark.parametrize("state", STATES)
def test_cancel_ends_the_answer_at_once(state: str) -> None:
    saw, wanted, heard = threading.Event(), threading.Event(), [0]
    with stuck(state, saw, None if state == "stall" else wanted) as url:
        where = Endpoint(url, "m", connect_timeout=CONNECT, first_piece_timeout=PATIENCE, piece_timeout=PATIENCE, retries=5)
        stream = OpenAIModel(where).stream(ASKED, assembly=make_assembly(), cancel=counted(wanted, heard))
        pieces = []
        for piece in stream:
            pieces.append(piece)
            if "".join(pieces) == "Open tot ":
                wanted.set()
        assert heard[0] <= MOST_ASKED
        assert ("".join(pieces), stream.finish_reason) == ("Open tot " if state == "stall" else "", "cancelled")
        assert saw.wait(PATIENCE)
        assert wait_for(lambda: not threads())


@pytest.mark.parametrize("state", ["connect", "first byte", "headers", "retry"])
def test_cancel_ends_a_question_for_json_at_once(state: str) -> None:
    saw, wanted, heard = threading.Event(), threading.Event(), [0]
    with stuck(state, saw, wanted) as url:
        where = Endpoint(url, "m", connect_timeout=CONNECT, first_piece_timeout=PATIENCE, retries=5)
        with pytest.raises(ModelUnavailable, match="was stopped on request"):
            complete_json(where, ASKED, schema={}, schema_name="x", max_tokens=9, cancel=counted(wanted, heard))
        assert heard[0] <= MOST_ASKED
        assert saw.wait(PATIENCE)
        assert wait_for(lambda: not threads())


def test_a_host_that_takes_no_connection_is_given_up() -> None:
    with deaf() as url:
        where = Endpoint(url, "m", connect_timeout=0.1, retries=0)
        with pytest.raises(ModelUnavailable, match=r"did not take the connection within 0.1 seconds: check that it runs"):
            list(OpenAIModel(where).stream(ASKED, assembly=make_assembly()))


@pytest.mark.parametrize("state", ["stall", "stream"])
def test_closing_early_leaves_no_thread_and_no_connection(state: str) -> None:
    saw = threading.Event()
    with stuck(state, saw) as url:
        where = Endpoint(url, "m", first_piece_timeout=0.2 if state == "stream" else PATIENCE, piece_timeout=PATIENCE, retries=0)
        stream = OpenAIModel(where).stream(ASKED, assembly=make_assembly())
        if state == "stall":
            assert next(stream) == "Open "
            stream.close()
            stream.close()
        else:
            with pytest.raises(ModelUnavailable, match="sent nothing"):
                next(stream)
        assert saw.wait(PATIENCE)
        assert wait_for(lambda: not threads())


def test_a_stream_that_nobody_reads_sends_nothing() -> None:
    with wire(b"") as line:
        OpenAIModel(Endpoint(line.base_url, "m")).stream(ASKED, assembly=make_assembly()).close()
        time.sleep(0.05)
        assert line.connections == 0
