"""Many calls to one model, a few at a time: each brings its JSON object or says why not, and a server that is down ends it all.

Patience is for the single call (`attempt`: it waits and asks again on 429, 5xx and broken connections, and does what Retry-After
says); here is decided when it is not the call's fault. What one call said never reaches another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Event
from typing import Any, NamedTuple

from ctxasm.llm.client import Completion, complete_json
from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.failures import ServerAbsent
from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.messages import Message

MOST_AT_ONCE = 32
GIVE_UP_AFTER = 12
"""Calls that fail in a row before the rest is not asked: more texts than that are not refused one after the other by chance."""
PATIENT_RETRIES, PATIENT_RETRY_AFTER = 5, 60.0
"""Attempts and seconds of a Retry-After that work nobody waits for can spend: 0.5, 1, 2, 4 and 8 seconds between attempts."""
_POLL = 0.1


class Call(NamedTuple):
    """One call. `number` is given back with its outcome; the rest is as `complete_json` takes it."""

    number: int
    messages: Sequence[Message]
    schema: Mapping[str, Any]
    schema_name: str
    max_tokens: int


class Outcome(NamedTuple):
    """What became of a call: its completion, else the failure in one sentence."""

    number: int
    completion: Completion | None
    failure: str = ""


def complete_all(
    endpoint: Endpoint,
    calls: Iterable[Call],
    *,
    concurrency: int = 4,
    cancelled: Callable[[], bool] = lambda: False,
    give_up_after: int = GIVE_UP_AFTER,
) -> Iterator[Outcome]:
    """The outcomes as they come, in any order. `calls` is read as places become free, so it may be long, and be made while it is read.

    Ends early when cancelled, within about 0.1 s: what had come by then is given, what was under way is cut. After `give_up_after`
    failures in a row nothing more is asked: raises ModelUnavailable with the last reason once all outcomes are given. So it does at
    once where nothing answers at the address and nothing has before: a server that goes away later is waited for.
    """
    if not 1 <= concurrency <= MOST_AT_ONCE:
        raise InvalidInput(f"concurrency must be between 1 and {MOST_AT_ONCE} calls, got {shown(concurrency)}")
    return _Batches(patient(endpoint), iter(calls), concurrency, cancelled, give_up_after).outcomes()


def patient(endpoint: Endpoint) -> Endpoint:
    """The endpoint with more attempts, for work that nobody waits for."""
    retries, seconds = max(endpoint.retries, PATIENT_RETRIES), max(endpoint.max_retry_after, PATIENT_RETRY_AFTER)
    return replace(endpoint, retries=retries, max_retry_after=seconds)


class _Batches:
    def __init__(
        self, endpoint: Endpoint, calls: Iterator[Call], concurrency: int, cancelled: Callable[[], bool], give_up_after: int
    ) -> None:
        self._endpoint, self._at_first = endpoint, replace(endpoint, awaits_server=False)
        self._is_there, self._is_absent = Event(), Event()
        self._calls, self._concurrency, self._cancelled = calls, concurrency, cancelled
        self._stopped = Event()
        self._failures, self._why, self._give_up_after = 0, "", give_up_after

    def outcomes(self) -> Iterator[Outcome]:
        with ThreadPoolExecutor(self._concurrency, "batches") as pool:
            under_way: set[Future[Outcome]] = set()
            try:
                while not self._cancelled():
                    self._fill(pool, under_way)
                    if not under_way:
                        break
                    done, under_way = wait(under_way, _POLL, FIRST_COMPLETED)
                    yield from self._seen(done)
                else:
                    self._stopped.set()
                    yield from (one for one in self._seen(wait(under_way).done) if one.completion is not None)
            finally:
                self._stopped.set()
        if self._gave_up:
            raise ModelUnavailable(self._why)

    @property
    def _gave_up(self) -> bool:
        return self._is_absent.is_set() or self._failures >= self._give_up_after

    def _fill(self, pool: ThreadPoolExecutor, under_way: set[Future[Outcome]]) -> None:
        while len(under_way) < self._concurrency and not self._gave_up and not self._cancelled():
            call = next(self._calls, None)
            if call is None:
                return
            under_way.add(pool.submit(self._complete, call))

    def _seen(self, done: Iterable[Future[Outcome]]) -> Iterator[Outcome]:
        for outcome in [future.result() for future in done]:
            self._failures = 0 if outcome.completion is not None else self._failures + 1
            self._why = outcome.failure or self._why
            yield outcome

    def _complete(self, call: Call) -> Outcome:
        try:
            told = complete_json(
                self._endpoint if self._is_there.is_set() else self._at_first,
                call.messages,
                schema=call.schema,
                schema_name=call.schema_name,
                max_tokens=call.max_tokens,
                cancel=self._stopped.is_set,
            )
        except ServerAbsent as error:
            if not self._is_there.is_set():
                self._is_absent.set()
            return Outcome(call.number, None, str(error))
        except ModelUnavailable as error:
            self._is_there.set()
            return Outcome(call.number, None, str(error))
        self._is_there.set()
        return Outcome(call.number, told)
