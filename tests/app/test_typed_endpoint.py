"""An address that somebody typed: which key goes there, and where it may lie."""

from __future__ import annotations

import socket

import pytest
from contexts import make_assembly
from fake_wire import DONE, chunk, reply, said, wire

from ctxasm.answering.asking import answer
from ctxasm.app.parts import endpoint_at
from ctxasm.config import Config
from ctxasm.llm import OpenAIModel
from ctxasm.llm.transport import _is_local

KEY = "sk-secret-0123456789abcdef"
ANSWERS = reply(said("Goed.") + chunk({}, "stop") + DONE)


@pytest.mark.parametrize(
    "address",
    ["https://models.example/v1/", "http://models.example/v1", "https://models.example:8443/v1", "https://evil.example/v1"],
)
def test_the_configured_key_goes_to_the_configured_address_alone(address: str) -> None:
    config = Config("sqlite://", llm_base_url="https://models.example/v1", llm_api_key=KEY)
    assert endpoint_at(config, "https://models.example/v1", "m", "").api_key == KEY
    assert endpoint_at(config, address, "m", "").api_key == ""
    assert endpoint_at(config, address, "m", "own key").api_key == "own key"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_from_elsewhere_nothing_of_this_machine_is_asked_by_whatever_name(host: str) -> None:
    with wire(ANSWERS) as line:
        typed = f"http://{host}:{line.port}/v1"
        result = answer(make_assembly(), OpenAIModel(endpoint_at(Config("sqlite://"), typed, "m", KEY)))
        assert "is the machine of this server" in (result.error or "")
        assert not any(line.requests)
        assert answer(make_assembly(), OpenAIModel(endpoint_at(Config("sqlite://"), typed, "m", KEY, from_here=True))).text == "Goed."
        configured = Config("sqlite://", llm_base_url=typed, llm_model="m")
        assert answer(make_assembly(), OpenAIModel(endpoint_at(configured, typed, "m", ""))).text == "Goed."


class Connected(socket.socket):
    """As a socket that connects these two addresses."""

    def __init__(self, own: str, other: str) -> None:
        self.ends = own, other

    def getsockname(self) -> tuple[str, int]:
        return self.ends[0], 50_000

    def getpeername(self) -> tuple[str, int]:
        return self.ends[1], 80


@pytest.mark.parametrize(
    ("own", "other", "local"),
    [
        *(("10.0.0.4", "10.0.0.4", True), ("10.0.0.4", "169.254.169.254", True), ("fe80::1%eth0", "fe80::2%eth0", True)),
        *(("::ffff:10.0.0.4", "::ffff:169.254.169.254", True), ("10.0.0.4", "10.0.0.5", False), ("2001:db8::1", "2001:db8::2", False)),
    ],
)
def test_what_is_local(own: str, other: str, local: bool) -> None:
    assert _is_local(Connected(own, other)) is local
