"""A path may be typed only where the browser sits at the server's own machine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ctxasm.app.hosts import HOST_NAMES
from ctxasm.app.ui.frame.browser import is_local, on_this_machine


@pytest.mark.parametrize(
    ("bound_to", "headers", "caller"),
    [
        ("127.0.0.1", {"host": "127.0.0.1:8501", "origin": "http://127.0.0.1:8501"}, None),
        ("localhost", {"host": "localhost:8501", "origin": "http://localhost:8501"}, "127.0.0.1"),
        ("::1", {"host": "[::1]:8501", "origin": "http://[::1]:8501"}, "::1"),
        ("127.0.0.1", {}, None),
    ],
)
def test_at_the_machine_itself(bound_to, headers, caller):
    assert is_local(bound_to, headers, caller)


@pytest.mark.parametrize(
    ("bound_to", "headers", "caller"),
    [
        ("0.0.0.0", {"host": "127.0.0.1:8501", "origin": "http://127.0.0.1:8501"}, None),
        (None, {"host": "127.0.0.1:8501", "origin": "http://127.0.0.1:8501"}, None),
        ("127.0.0.1", {"host": "rebound.example:8501", "origin": "http://rebound.example:8501"}, None),
        ("127.0.0.1", {"host": "127.0.0.1.example", "origin": "http://127.0.0.1.example"}, None),
        ("127.0.0.1", {"host": "localhost", "origin": "http://localhost"}, "10.0.0.7"),
        ("127.0.0.1", {"host": "localhost", "origin": "http://localhost", "x-forwarded-for": "10.0.0.7"}, None),
        ("127.0.0.1", {"host": "127.0.0.1:8501"}, None),
        ("192.168.1.4", {"host": "192.168.1.4", "origin": "http://192.168.1.4"}, "192.168.1.9"),
    ],
)
def test_from_elsewhere(bound_to, headers, caller):
    assert not is_local(bound_to, headers, caller)


@pytest.mark.parametrize(("names", "may_type"), [("", True), ("ctxasm.example", False), ("localhost", False)])
def test_a_server_that_was_given_names_takes_no_paths_however_local_a_request_looks(monkeypatch, names, may_type):
    """As it comes through a proxy that sets neither Host nor X-Forwarded-For."""
    monkeypatch.setenv(HOST_NAMES, names)
    monkeypatch.setattr(
        "ctxasm.app.ui.frame.browser.st.context",
        SimpleNamespace(headers={"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:8501"}, ip_address=None),
    )
    monkeypatch.setattr("ctxasm.app.ui.frame.browser.st.get_option", lambda name: "127.0.0.1")
    assert on_this_machine() is may_type
