"""Dragging the limit: what it may touch, and that a release is never lost."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from ctxasm.app.ui.frame import browser, settings_panel, state
from ctxasm.app.ui.frame.state import KeptChunks
from ctxasm.model.ports import Fetched, Window

WINDOWS = [Window("a", 0, 2)]


class Counting:
    """A source that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def fetch(self, windows, encoding):
        self.asked += 1
        return Fetched((), {}, 1, 1, 5.0)


def test_the_same_chunks_are_fetched_once_and_say_that_nothing_was_read():
    source, kept = Counting(), SimpleNamespace(chunks=None)
    first = KeptChunks(source, ("sample", 1), kept).fetch(WINDOWS, "cl100k_base")
    again = KeptChunks(source, ("sample", 1), kept).fetch(WINDOWS, "cl100k_base")
    assert source.asked == 1
    assert (first.statements, first.elapsed_ms) == (1, 5.0)
    assert again == replace(first, statements=0, document_statements=0, elapsed_ms=0.0)


@pytest.mark.parametrize(
    ("version", "encoding", "windows"),
    [
        (("sample", 2), "cl100k_base", WINDOWS),
        (("sample", 1), "o200k_base", WINDOWS),
        (("sample", 1), "cl100k_base", [Window("a", 0, 3)]),
    ],
)
def test_another_load_vocabulary_or_window_is_fetched_anew(version, encoding, windows):
    source, kept = Counting(), SimpleNamespace(chunks=None)
    KeptChunks(source, ("sample", 1), kept).fetch(WINDOWS, "cl100k_base")
    KeptChunks(source, version, kept).fetch(windows, encoding)
    assert source.asked == 2


class Range:
    """The state of the range component as the callbacks read it."""

    def __init__(self, live, settled=None) -> None:
        self.live, self.settled = live, settled


@pytest.fixture
def session(monkeypatch):
    """Callbacks without a server: the session is a dict, a rerun is an exception that names its scope."""
    kept: dict = {"budget_shown": True, "mt": 8000}

    def rerun(scope="app"):
        raise RerunException(RerunData(page_name=scope))

    monkeypatch.setattr(settings_panel.st, "session_state", kept)
    monkeypatch.setattr(settings_panel.st, "rerun", rerun)
    return kept


def scope_of(callback) -> str:
    with pytest.raises(RerunException) as raised:
        callback()
    return raised.value.rerun_data.page_name


def test_a_step_runs_the_bar_alone_and_leaves_the_setting(session):
    session["max_tokens_range"] = Range(live=5000)
    assert scope_of(settings_panel._drag) == "budget"
    assert (session["live"], session["mt"]) == (5000, 8000)


def test_a_release_in_the_same_message_as_a_step_runs_everything(session):
    session["max_tokens_range"] = Range(live=5000, settled=5100)
    assert scope_of(settings_panel._drag) == "budget"
    assert scope_of(settings_panel._release) == "page"
    assert state.session.now.max_tokens == 5100


def test_a_page_without_a_bar_is_left_in_peace(session):
    session["budget_shown"] = False
    session["max_tokens_range"] = Range(live=5000)
    settings_panel._drag()
    assert session["live"] == 5000


def test_the_range_sends_its_last_value_on_release_whatever_is_on_its_way():
    release = (browser.ASSETS / "live_range.js").read_text(encoding="utf-8").split("range.onchange")[1]
    assert "setTriggerValue('settled'" in release
    assert "setTimeout" not in release
