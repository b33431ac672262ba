"""What every test stands on: no connection leaves the machine."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["postgres", "user_tables"] if (Path(__file__).parent / "postgres.py").exists() else []

_LOCAL_NAMES = {"", "localhost", "localhost.localdomain", "ip6-localhost", socket.gethostname()}


def _is_local(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or name in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(str(name).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture
def outside_attempts() -> Iterator[list[object]]:
    """Every attempt to leave the machine. A test that provokes one on purpose asks for this and clears it."""
    return []


@pytest.fixture(autouse=True)
def no_outside(monkeypatch: pytest.MonkeyPatch, outside_attempts: list[object]) -> Iterator[None]:
    """Connections and name lookups off loopback fail as on a machine without a network, and fail the test."""
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def refuse(sock: socket.socket, address: Any) -> None:
        if sock.family != socket.AF_UNIX and not _is_local(address[0]):
            outside_attempts.append(address)
            raise OSError(101, f"tests reach nothing off loopback, got {address!r}")

    def guarded(sock: socket.socket, address: Any) -> None:
        refuse(sock, address)
        connect(sock, address)

    def guarded_ex(sock: socket.socket, address: Any) -> int:
        refuse(sock, address)
        return connect_ex(sock, address)

    def looked_up(host: Any, *rest: Any, **more: Any) -> Any:
        if not _is_local(host):
            outside_attempts.append(host)
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return getaddrinfo(host, *rest, **more)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_ex)
    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    yield
    assert outside_attempts == [], "a test tried to leave the machine"
