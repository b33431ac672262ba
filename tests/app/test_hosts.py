"""Under which names a server may be asked: what a Host and an Origin header may say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.hosts import HOST_NAMES, Hosts, read_hosts
from ctxasm.model.errors import InvalidInput

HOSTS = read_hosts({HOST_NAMES: " Ctxasm.Example.org. ,192.168.1.20,"}, ["[FE80:0::1]", "bücher.example"])


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:8501", "LOCALHOST", "LocalHost:1", "localhost.", "localhost.:8501", "localhost:"),
        *("127.0.0.1", "127.0.0.1:8501", "127.8.9.10:80", "127.0.0.1.:80", "[::1]", "[::1]:8501", "[0:0:0:0:0:0:0:1]:8501"),
        *("ctxasm.example.org", "CTXASM.example.ORG.:443", "192.168.1.20:8501", "[fe80::1]:80", "xn--bcher-kva.example"),
    ],
)
def test_its_own_names_are_allowed(host: str) -> None:
    assert HOSTS.allow(host)
    assert HOSTS.allow_origin(f"http://{host}", host)
    assert HOSTS.allow_origin(f"https://{host}", host)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "evil.example:8501",
            "localhost.evil.example",
            "evil.example.localhost",
            "127.0.0.1.evil.example",
            "notlocalhost",
        ),
        *("ctxasm.example.org.evil.example", "sub.ctxasm.example.org", "example.org", "192.168.1.21", "0.0.0.0", "[::]", "[fe80::2]"),
        *("", ".", "..", ":8501", "localhost..", ".localhost", "localhost:99999", "localhost:8501:1", "localhost:+1", "localhost:８０"),
        *("user@localhost", "localhost@evil.example", "localhost/", "localhost?", "localhost#", "localhost\\", "local host", " localhost"),
        *("localhost\t", "localhost\n", "localhost,evil.example", "localhost\0", "ｌocalhost", "127.1", "127.0.0.01", "0x7f.0.0.1"),
        *(
            "2130706433",
            "[127.0.0.1]",
            "::1",
            "[::1",
            "::1]",
            "[::1]evil.example",
            "[::1%eth0]",
            "[::ffff:10.0.0.1]",
            "[]",
            "http://localhost",
        ),
    ],
)
def test_every_other_name_and_what_is_none_is_refused(host: str) -> None:
    assert not HOSTS.allow(host)
    assert not HOSTS.allow_origin(f"http://{host}", host)


@pytest.mark.parametrize(
    "origin",
    [
        *("null", "", "localhost", "//localhost", "ftp://localhost", "file://localhost", "chrome-extension://localhost"),
        *("http://localhost/", "http://localhost/x", "http://localhost http://evil.example", "http://user@localhost", "http:localhost"),
        *("http://[::1", "http://localhost?a", "https://evil.example", "javascript://localhost"),
    ],
)
def test_an_origin_is_a_scheme_and_an_allowed_host_alone(origin: str) -> None:
    assert not HOSTS.allow_origin(origin, "localhost")


@pytest.mark.parametrize(
    "origin",
    [
        *("http://localhost:3000", "http://localhost", "https://localhost:443", "http://127.0.0.1:8501", "http://127.0.0.2:8501"),
        *("http://[::1]:8501", "http://localhost:8502"),
    ],
)
def test_what_another_port_or_address_of_this_machine_serves_is_another_page(origin: str) -> None:
    assert HOSTS.allow_origin("http://localhost:8501", "localhost:8501")
    assert not HOSTS.allow_origin(origin, "localhost:8501")
    assert read_hosts({}, ["localhost", "127.0.0.1", "127.0.0.2", "::1"]).allow_origin(origin, "localhost:8501")


def test_a_page_of_a_given_name_may_ask_whatever_host_the_proxy_writes() -> None:
    assert HOSTS.allow_origin("https://ctxasm.example.org", "127.0.0.1:8501")


@given(st.text(max_size=30))
def test_no_text_is_allowed_by_chance_or_breaks_it(text: str) -> None:
    for said in (text, f"localhost{text}", f"[{text}]", f"evil.example:{text}"):
        if HOSTS.allow(said):
            bare = said.lower().rpartition(":")[0] if not said.endswith("]") and ":" in said else said.lower()
            assert bare.rstrip(".").startswith(("localhost", "127.", "[", "ctxasm.example.org", "192.168.1.20"))
        HOSTS.allow_origin(said, said)


@pytest.mark.parametrize(
    "name", ["*", "*.example.org", "https://example.org", "example.org:8501", "a b", "a/b", "a@b", "..", "ä" * 80, "a,b"]
)
def test_what_names_no_host_is_said(name: str) -> None:
    with pytest.raises(InvalidInput, match="must be a name or an address alone"):
        read_hosts({}, [name])


def test_nothing_named_is_loopback_alone() -> None:
    assert read_hosts({}) == read_hosts({HOST_NAMES: " , "}) == Hosts()
    assert not Hosts().allow("ctxasm.example.org")
