"""Many calls at a time over real HTTP: bounded, patient, ended at once, and given up when the server takes nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fake_model_server import FakeModel, serving

from ctxasm.llm import Endpoint
from ctxasm.llm.batches import GIVE_UP_AFTER, PATIENT_RETRIES, Call, Outcome, _Batches, complete_all, patient
from ctxasm.llm.client import _taken
from ctxasm.llm.failures import ServerAbsent, of_connection
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.messages import Message

KEY = "sk-secret-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"], "additionalProperties": False}


@pytest.fixture(scope="module")
def server() -> Iterator[FakeModel]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(server: FakeModel) -> Iterator[None]:
    _taken.clear()
    server.requests.clear()
    yield
    server.judge = lambda body: {"said": body["messages"][-1]["content"]}


def calls(number: int) -> Iterator[Call]:
    return (Call(n, (Message("user", f"vraag {n}"),), SCHEMA, "said", 50) for n in range(number))


def at(server: FakeModel, model: str = "json-ok", **changes: Any) -> Endpoint:
    return Endpoint(server.base_url, model, **{"api_key": KEY, "first_piece_timeout": 5.0, **changes})


def told(outcomes: Iterator[Outcome]) -> dict[int, str]:
    return {one.number: one.completion.data["said"] if one.completion else one.failure for one in outcomes}


def test_each_call_gets_its_own_answer(server: FakeModel) -> None:
    server.judge = lambda body: {"said": body["messages"][-1]["content"]}
    assert told(complete_all(at(server), calls(20))) == {n: f"vraag {n}" for n in range(20)}
    assert len(server.requests) == 20


def test_no_more_than_so_many_at_a_time(server: FakeModel) -> None:
    now, most, lock = [0], [0], threading.Lock()

    def judge(body: dict[str, Any]) -> dict[str, Any]:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1
        return {"said": "x"}

    server.judge = judge
    read: list[int] = []

    def watched() -> Iterator[Call]:
        for call in calls(12):
            read.append(call.number)
            yield call

    given = 0
    for _ in complete_all(at(server), watched(), concurrency=3):
        given += 1
        assert len(read) <= given + 3
    assert given == 12
    assert most[0] <= 3


def test_one_call_that_fails_costs_no_other(server: FakeModel) -> None:
    server.judge = lambda body: {"said": "x"} if body["messages"][0]["content"] != "vraag 2" else {"nothing": 1}
    found = told(complete_all(at(server), calls(5)))
    assert {n for n, said in found.items() if said == "x"} == {0, 1, 3, 4}
    assert "gave no JSON that fits, twice" in found[2]


def test_too_many_requests_are_waited_for(server: FakeModel, monkeypatch: pytest.MonkeyPatch, first_wait: float) -> None:
    """The server says when (Retry-After of 0.2 s), and is asked again then."""
    seen: list[float] = []
    monkeypatch.setattr("ctxasm.llm.client._FIRST_WAIT", first_wait)
    monkeypatch.setattr("ctxasm.llm.client._slept", lambda seconds, cancel: seen.append(seconds) or cancel())
    outcomes = list(complete_all(at(server, "429"), calls(1)))
    assert "takes no more requests for now (429)" in outcomes[0].failure
    assert len(server.requests) == PATIENT_RETRIES + 1
    assert len(seen) == PATIENT_RETRIES
    assert seen[0] >= 0.05
    assert seen[-1] > 5


def test_patience_never_takes_patience_away() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", "m", retries=9, max_retry_after=120.0)
    assert patient(endpoint) == endpoint
    assert patient(Endpoint("http://127.0.0.1:9/v1", "m")).retries == PATIENT_RETRIES


@pytest.mark.parametrize(
    "model", ["401", "404", "json-refusal", "json-huge", "json-garbage", "html", "json-length", "json-filter", "quota"]
)
def test_a_server_that_takes_nothing_is_given_up(server: FakeModel, model: str) -> None:
    outcomes: list[Outcome] = []
    with pytest.raises(ModelUnavailable) as raised:
        outcomes.extend(complete_all(at(server, model), calls(200), concurrency=4))
    assert GIVE_UP_AFTER <= len(server.requests) <= 3 * (GIVE_UP_AFTER + 4)
    assert KEY not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_all_outcomes_are_given_before_it_gives_up(server: FakeModel) -> None:
    found: list[Outcome] = []
    with pytest.raises(ModelUnavailable, match="did not accept the API key"):
        found.extend(complete_all(at(server, "401"), calls(50), concurrency=2))
    assert GIVE_UP_AFTER <= len(found) == len(server.requests) <= GIVE_UP_AFTER + 2
    assert all("401" in outcome.failure for outcome in found)


def test_an_address_without_a_server_is_given_up_at_once() -> None:
    outcomes: list[Outcome] = []
    with pytest.raises(ModelUnavailable, match="nothing answers at"):
        outcomes.extend(complete_all(Endpoint("http://127.0.0.1:9/v1", "m"), calls(200), concurrency=4))
    assert 1 <= len(outcomes) <= 8


def test_a_name_that_is_not_known_is_no_server() -> None:
    failure = of_connection(Endpoint("http://host.invalid/v1", "m"), socket.gaierror(-2, "Name or service not known"), began=False)
    assert isinstance(failure.as_error(""), ServerAbsent)
    assert not failure.retry


def test_a_server_that_goes_away_later_is_waited_for(server: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("ctxasm.llm.client._slept", lambda seconds, cancel: waited.append(seconds) or cancel())
    batches = _Batches(patient(at(server)), calls(0), 1, lambda: False, GIVE_UP_AFTER)
    assert batches._complete(next(calls(1))).completion is not None
    batches._endpoint = patient(Endpoint("http://127.0.0.1:9/v1", "m"))
    assert "nothing answers" in batches._complete(next(calls(1))).failure
    assert len(waited) == PATIENT_RETRIES
    assert not batches._gave_up


def test_few_failures_are_no_reason_to_give_up(server: FakeModel) -> None:
    assert all("(401)" in said for said in told(complete_all(at(server, "401"), calls(GIVE_UP_AFTER - 1))).values())


def test_cancelled_it_ends_at_once_and_gives_what_had_come(server: FakeModel) -> None:
    stop = threading.Event()

    def judge(body: dict[str, Any]) -> dict[str, Any]:
        return {"said": "x"}

    server.judge = judge
    found = []
    for outcome in complete_all(at(server), calls(1000), concurrency=2, cancelled=stop.is_set):
        found.append(outcome)
        if len(found) == 5:
            stop.set()
    assert 5 <= len(found) <= 9
    assert all(outcome.completion for outcome in found)


def test_cancelled_while_the_server_is_silent(server: FakeModel) -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert list(complete_all(at(server, "hang", first_piece_timeout=600.0), calls(8), cancelled=stop.is_set)) == []


def test_left_early_it_ends_its_calls(server: FakeModel) -> None:
    before = threading.active_count()
    for _ in complete_all(at(server), calls(100)):
        break
    for _ in range(600):
        if threading.active_count() <= before + 1:
            return
        time.sleep(0.1)
    pytest.fail(f"threads are left: {threading.enumerate()}")


def test_how_many_at_a_time_is_checked(server: FakeModel) -> None:
    with pytest.raises(InvalidInput, match="between 1 and 32 calls, got 0"):
        complete_all(at(server), calls(1), concurrency=0)
    assert list(complete_all(at(server), iter(()))) == []
