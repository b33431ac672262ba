"""A path may be typed only where the browser sits at the server's own machine."""

from __future__ import annotations

import pytest

from ctxasm.app.ui.frame.local_browser import is_local


@pytest.mark.parametrize(
    ("bound_to", "headers", "caller"),
    [
        ("127.0.0.1", {"host": "127.0.0.1:8501"}, None),
        ("localhost", {"host": "localhost:8501"}, "127.0.0.1"),
        ("::1", {"host": "[::1]:8501"}, "::1"),
        ("127.0.0.1", {}, None),
    ],
)
def test_at_the_machine_itself(bound_to, headers, caller):
    assert is_local(bound_to, headers, caller)


@pytest.mark.parametrize(
    ("bound_to", "headers", "caller"),
    [
        ("0.0.0.0", {"host": "127.0.0.1:8501"}, None),
        (None, {"host": "127.0.0.1:8501"}, None),
        ("127.0.0.1", {"host": "rebound.example:8501"}, None),
        ("127.0.0.1", {"host": "127.0.0.1.example"}, None),
        ("127.0.0.1", {"host": "localhost"}, "10.0.0.7"),
        ("127.0.0.1", {"host": "localhost", "x-forwarded-for": "10.0.0.7"}, None),
        ("192.168.1.4", {"host": "192.168.1.4"}, "192.168.1.9"),
    ],
)
def test_from_elsewhere(bound_to, headers, caller):
    assert not is_local(bound_to, headers, caller)
