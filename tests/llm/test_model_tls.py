"""Certificates nobody trusts, http where https is meant and the other way round, and proxies named in the environment."""

from __future__ import annotations

import logging
import socket
import threading

import pytest
from contexts import make_assembly
from fake_wire import CERTIFICATE, DONE, Wire, chunk, reply, said, tunnel, wire

from ctxasm.llm import Endpoint, OpenAIModel
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.messages import Message

KEY = "sk-secret-0123456789abcdef"
SOUND = reply(said("Open ", "tot negen") + chunk({}, "stop") + DONE)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in (*PROXIES, "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def ask(url: str) -> str:
    where = Endpoint(url, "m", KEY, connect_timeout=30.0, first_piece_timeout=30.0, piece_timeout=30.0, retries=0)
    return "".join(OpenAIModel(where).stream((Message("user", "Hoe laat?"),), assembly=make_assembly()))


def failure(url: str) -> str:
    with pytest.raises(ModelUnavailable) as caught:
        ask(url)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert KEY not in str(caught.value) + str(vars(caught.value))
    return str(caught.value)


def test_a_self_signed_certificate_gets_no_key() -> None:
    with wire(SOUND, tls=True) as line:
        error = failure(line.base_url)
        assert line.requests == []
    assert error == (
        f"the certificate of 127.0.0.1:{line.port} is not trusted (self-signed certificate): "
        "correct it, or name the file of its issuer in SSL_CERT_FILE"
    )


def test_a_certificate_that_the_user_trusts_is_taken(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with wire(SOUND, tls=True) as line:
        assert ask(line.base_url) == "Open tot negen"
        assert f"Bearer {KEY}".encode() in line.requests[0]
    with wire(SOUND, tls=True, host="127.0.0.2") as line:
        error = failure(line.base_url)
        assert line.requests == []
    assert "is not trusted (ip address mismatch)" in error
    assert KEY not in caplog.text


def test_a_file_of_certificates_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/at/all.pem")
    assert "SSL_CERT_FILE or SSL_CERT_DIR cannot be read" in failure("https://127.0.0.1:9/v1")


def test_https_to_a_server_that_speaks_http() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        error = failure(f"https://127.0.0.1:{listening.getsockname()[1]}/v1")
        thread.join()
    assert "speaks no TLS or another version; check http or https" in error


def test_http_to_a_server_that_speaks_tls() -> None:
    with wire(SOUND, tls=True) as line:
        assert "whether it begins with http or https" in failure(line.base_url.replace("https:", "http:"))


def through(monkeypatch: pytest.MonkeyPatch, proxy: Wire, secret: str = "") -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    monkeypatch.setenv("HTTPS_PROXY", f"http://{secret}127.0.0.1:{proxy.port}")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")


def test_https_goes_through_the_proxy_that_sees_only_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    with wire(SOUND, tls=True) as line, wire(tunnel) as proxy:
        through(monkeypatch, proxy)
        assert ask(line.base_url) == "Open tot negen"
        (seen,) = proxy.requests
        assert seen.startswith(f"CONNECT 127.0.0.1:{line.port} ".encode())
        assert KEY.encode() not in seen
        assert b"Hoe laat" not in seen
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert ask(line.base_url) == "Open tot negen"
        assert proxy.connections == 1


def test_plain_http_never_goes_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with wire(SOUND) as line, wire(tunnel) as proxy:
        through(monkeypatch, proxy)
        assert ask(line.base_url) == "Open tot negen"
        assert proxy.connections == 0


@pytest.mark.parametrize("status", [b"407 Proxy Authentication Required", b"403 Forbidden", b"502 Bad Gateway"])
def test_a_proxy_that_refuses_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: bytes
) -> None:
    with wire(SOUND, tls=True) as line, wire(reply(b"", status=status)) as proxy:
        through(monkeypatch, proxy, "user:hunter2@")
        error = failure(line.base_url)
    assert "the proxy named in HTTPS_PROXY does not connect to 127.0.0.1" in error
    assert "hunter2" not in error + caplog.text


def test_a_proxy_that_is_not_there_or_no_proxy_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
    assert "the proxy named in HTTPS_PROXY does not connect" in failure("https://127.0.0.1:9/v1")
    for nonsense in ("ftp://127.0.0.1:1", "socks5://127.0.0.1:1", "http://[::1", "http://127.0.0.1:x"):
        monkeypatch.setenv("HTTPS_PROXY", nonsense)
        assert "the proxy named in HTTPS_PROXY or ALL_PROXY cannot be used" in failure("https://127.0.0.1:9/v1")
