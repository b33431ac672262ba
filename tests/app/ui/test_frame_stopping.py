"""A run that is asked to end is known to every thread of it, and what it stopped half-way is not kept."""

from __future__ import annotations

from threading import Thread
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from ctxasm.app.ui.frame import stopping


@pytest.mark.parametrize("request_it", [ScriptRequests.request_stop, lambda requests: requests.request_rerun(RerunData())])
def test_a_click_ends_what_another_thread_waits_for(monkeypatch, request_it):
    requests = ScriptRequests()
    monkeypatch.setattr(stopping, "get_script_run_ctx", lambda suppress_warning: SimpleNamespace(script_requests=requests))
    ended = stopping.asked_to_end()
    seen: list[bool] = [ended()]
    request_it(requests)
    thread = Thread(target=lambda: seen.append(ended()))
    thread.start()
    thread.join()
    assert seen == [False, True]


def test_without_a_page_nothing_ends():
    assert not stopping.asked_to_end()()
