"""The guard of `conftest.py` guards."""

from __future__ import annotations

import socket

import pytest


def test_an_outside_address_is_refused(outside_attempts: list[object]) -> None:
    with socket.socket() as sock, pytest.raises(OSError, match="off loopback"):
        sock.connect(("192.0.2.1", 80))
    with pytest.raises(socket.gaierror):
        socket.create_connection(("example.invalid", 80))
    assert outside_attempts == [("192.0.2.1", 80), "example.invalid"]
    outside_attempts.clear()


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()
