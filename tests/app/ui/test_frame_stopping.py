"""A run that is asked to end is known to every thread of it, and what it stopped half-way is not kept."""

from __future__ import annotations

from threading import Thread
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from ctxasm.app.ui.frame import jobs


@pytest.mark.parametrize("request_it", [ScriptRequests.request_stop, lambda requests: requests.request_rerun(RerunData())])
def test_a_click_ends_what_another_thread_waits_for(monkeypatch, request_it):
    requests = ScriptRequests()
    monkeypatch.setattr(jobs, "get_script_run_ctx", lambda suppress_warning: SimpleNamespace(script_requests=requests))
    ended = jobs.asked_to_end()
    seen: list[bool] = [ended()]
    request_it(requests)
    thread = Thread(target=lambda: seen.append(ended()))
    thread.start()
    thread.join()
    assert seen == [False, True]


def test_without_a_page_nothing_ends():
    assert not jobs.asked_to_end()()


@pytest.mark.parametrize(("newer", "asked"), [(False, ["state"]), (True, [])])
def test_a_run_that_is_stopped_is_followed_by_one_that_draws_unless_a_newer_one_is_there(monkeypatch, newer, asked):
    calls: list[str] = []
    runner = SimpleNamespace(_is_in_script_thread=lambda: not newer)
    loop = SimpleNamespace(call_soon_threadsafe=lambda call, *given: call(*given))
    session = SimpleNamespace(_scriptrunner=runner, _event_loop=loop, _client_state="state", request_rerun=calls.append)
    sessions = SimpleNamespace(get_active_session_info=lambda name: SimpleNamespace(session=session) if name == "id" else None)
    monkeypatch.setattr(jobs.Runtime, "_instance", SimpleNamespace(_session_mgr=sessions))
    context = SimpleNamespace(session_id="id")
    monkeypatch.setattr(jobs, "get_script_run_ctx", lambda suppress_warning: context)
    jobs.rerun_after_stop()
    assert calls == asked
    context.session_id = "gone"
    jobs.rerun_after_stop()
    assert calls == asked
