"""A model server written byte by byte, for faults that a web framework will not commit: on loopback, with TLS or as a proxy.

`with wire(reply(events("Open ", "tot"))) as line:` sends these bytes on every request; a callable gets the socket instead.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

CERTIFICATE = Path(__file__).parent / "llm" / "self_signed.pem"
"""A certificate for localhost and its key, made for these tests and trusted by nobody."""
DONE = b"data: [DONE]\n\n"
Act = Callable[[socket.socket, bytes], None]


@dataclass
class Wire:
    """What arrived: every request whole, and the number of connections."""

    port: int
    scheme: str
    host: str = "127.0.0.1"
    requests: list[bytes] = field(default_factory=list, repr=False)
    connections: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def base_url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}/v1"


def chunk(delta: dict[str, object] | None, finish: str | None = None, **more: object) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fake", "choices": [choice], **more}
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


def said(*texts: str) -> bytes:
    return b"".join(chunk({"content": text}) for text in texts)


def escaped(*texts: str) -> bytes:
    """As `said`, in ASCII: half of a surrogate pair can be sent only so."""
    return b"".join(f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}}]})}\n\n".encode() for text in texts)


def reply(body: bytes, head: bytes = b"", status: bytes = b"200 OK", kind: bytes = b"text/event-stream") -> bytes:
    """A reply that ends with its connection."""
    return b"HTTP/1.1 " + status + b"\r\ncontent-type: " + kind + b"\r\nconnection: close\r\n" + head + b"\r\n" + body


def sized(body: bytes, size: int | None = None, kind: bytes = b"application/json") -> bytes:
    """A reply of a stated length, true or not."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: " + kind + b"\r\ncontent-length: %d\r\n\r\n" % (len(body) if size is None else size)
    return head + body


@contextmanager
def wire(act: bytes | Act, *, tls: bool = False, host: str = "127.0.0.1") -> Iterator[Wire]:
    """A server that reads one request on each connection and does `act`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with socket.create_server((host, 0)) as listening:
        line = Wire(listening.getsockname()[1], "https" if tls else "http", host)
        threads: list[threading.Thread] = []

        def serve(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                connection.settimeout(10)
                inner = context.wrap_socket(connection, server_side=True) if tls else connection
                with inner:
                    request = request_of(inner)
                    line.requests.append(request)
                    if isinstance(act, bytes):
                        inner.sendall(act)
                    else:
                        act(inner, request)
                    if tls:
                        inner.unwrap()

        def accept() -> None:
            while not line.stopping.is_set():
                with suppress(OSError):
                    connection, _ = listening.accept()
                    line.connections += 1
                    threads.append(threading.Thread(target=serve, args=(connection,), daemon=True))
                    threads[-1].start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield line
        finally:
            line.stopping.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)  # ends the waiting accept
            accepting.join(5)
            for thread in threads:
                thread.join(5)


def request_of(connection: socket.socket) -> bytes:
    """One request with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += (part := connection.recv(65536))
        if not part:
            return data
    head, _, body = data.partition(b"\r\n\r\n")
    sizes = [int(row.partition(b":")[2]) for row in head.lower().split(b"\r\n") if row.startswith(b"content-length:")]
    while sizes and len(body) < sizes[0]:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def tunnel(connection: socket.socket, request: bytes) -> None:
    """Be a proxy: open what CONNECT names and pass bytes both ways."""
    host, _, port = request.split()[1].decode().rpartition(":")
    with socket.create_connection((host, int(port))) as there:
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        threads = [threading.Thread(target=pass_on, args=pair, daemon=True) for pair in ((connection, there), (there, connection))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)


def pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
