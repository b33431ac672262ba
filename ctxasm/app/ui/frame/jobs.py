"""Long work on behalf of a page: a thread that goes on whatever the page does, says how far it is, and can be cancelled.

The jobs belong to the server and not to a session: a reload, another page or a second tab finds them again. A thread is
killed with the server; the work itself is kept safe by its own transactions, and resumes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillRunning
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from ctxasm.model.errors import CtxasmError, InvalidInput
from ctxasm.model.progress import Cancelled, Progress, Report

MOST_RUNNING = 4
"""Jobs that a server runs at once."""
KEPT_S = 900.0
"""Seconds that a job which has ended can still be seen by sessions that did not start it."""
Work = Callable[[Report, Cancelled], Any]
_LOG = logging.getLogger(__name__)


class Job:
    """One piece of work. `key` names what it works on, `wanted` what is to be done there: of two equal jobs the second is the first."""

    def __init__(self, key: str, title: str, dataset: str, wanted: Hashable = None) -> None:
        self.key, self.title, self.dataset, self.wanted = key, title, dataset, wanted
        self.progress: Progress | None = None
        self.ended_at: float | None = None
        self._began, self._cancel, self._outcome = monotonic(), Event(), Future[Any]()

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._outcome.done()

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to end; it may still be on its way to that."""
        return self._cancel.is_set()

    @property
    def elapsed_s(self) -> float:
        """Seconds that it took, so far."""
        return (self.ended_at or monotonic()) - self._began

    def cancel(self) -> None:
        """Ask it to end after the unit that it is at."""
        self._cancel.set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end for at most so long; whether it has ended."""
        try:
            self._outcome.exception(timeout=seconds)
        except StillRunning:
            return False
        return True

    def result(self) -> Any:
        """What the work returned; raises what it raised. Only of one that has ended."""
        return self._outcome.result(timeout=0)

    @property
    def error(self) -> BaseException | None:
        """What the work raised, None while it runs and where it raised nothing."""
        return self._outcome.exception(timeout=0) if self._outcome.done() else None

    def start(self, work: Work) -> Job:
        """Do the work in a thread of its own."""
        Thread(target=self._run, args=(work,), name=f"ctxasm-{self.key}", daemon=True).start()
        return self

    def _run(self, work: Work) -> None:
        try:
            try:
                result = work(self._tell, self._cancel.is_set)
            finally:
                self.wanted = None  # it may hold whole files
        except BaseException as error:  # noqa: BLE001 (nobody waits in this thread: whoever asks for the result gets it)
            if not isinstance(error, CtxasmError):
                _LOG.exception("%s failed", self.key)
            self.ended_at = monotonic()
            self._outcome.set_exception(error)
        else:
            self.ended_at = monotonic()
            self._outcome.set_result(result)

    def _tell(self, progress: Progress) -> None:
        self.progress = progress


class Jobs:
    """The jobs of one server for one database."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = Lock()

    def start(self, key: str, title: str, dataset: str, work: Work, wanted: Hashable = None) -> Job:
        """Begin the work, or find the running job of this key that does what is wanted.

        Raises InvalidInput where a job of this key does something else, or too many run.
        """
        with self._lock:
            known = self._jobs.get(key)
            if known is not None and known.running:
                if known.wanted != wanted:
                    raise InvalidInput(f"{known.title} is under way already, with other data or options: wait for its end, or cancel it")
                return known
            if sum(job.running for job in self._jobs.values()) >= MOST_RUNNING:
                raise InvalidInput(f"at most {MOST_RUNNING} jobs run at once: wait for one to end, or cancel one")
            job = self._jobs[key] = Job(key, title, dataset, wanted)
        return job.start(work)

    def seen(self) -> list[Job]:
        """All jobs that run or ended not long ago, the newest last."""
        with self._lock:
            old = [key for key, job in self._jobs.items() if job.ended_at is not None and monotonic() - job.ended_at > KEPT_S]
            for key in old:
                del self._jobs[key]
            return list(self._jobs.values())

    def dismiss(self, job: Job) -> None:
        """Show an ended job no more."""
        with self._lock:
            if self._jobs.get(job.key) is job and not job.running:
                del self._jobs[job.key]


def asked_to_end() -> Callable[[], bool]:
    """A function that any thread may call: whether this run is to stop, or to give way to a newer one.

    Streamlit tells only the page's own thread, and only when that draws; so its state is looked at. Without a running page,
    or should that state be called otherwise one day, never.
    """
    context = get_script_run_ctx(suppress_warning=True)
    requests = getattr(context, "script_requests", None)

    def ended() -> bool:
        state = getattr(requests, "_state", None)
        return getattr(state, "value", "CONTINUE") != "CONTINUE"

    return ended


def rerun_after_stop() -> None:
    """Where Streamlit's own Stop ends this run: have the page drawn once more, so that it shows what there is and can be used.

    Streamlit leaves a page as far as it was drawn, and a stopped run can neither draw nor touch its session: only the server's side
    can ask for the next run. A run that gives way to a newer one is stopped as well, and then nothing is to be done. Nor is it
    without a server, or should that be built otherwise one day: then the page stays as it is until it is clicked.
    """
    context = get_script_run_ctx(suppress_warning=True)
    sessions = getattr(Runtime.instance(), "_session_mgr", None) if Runtime.exists() else None
    if context is None or sessions is None:
        return
    info = sessions.get_active_session_info(context.session_id)
    own = getattr(info, "session", None)
    runner, loop, state = (getattr(own, name, None) for name in ("_scriptrunner", "_event_loop", "_client_state"))
    is_this_run = getattr(runner, "_is_in_script_thread", lambda: False)
    if own is not None and loop is not None and is_this_run():
        loop.call_soon_threadsafe(own.request_rerun, state)


def ticker(place: Any, doing: str, paused: Callable[[], None] = lambda: None) -> Callable[[], bool]:
    """Called often while a model is waited for: shows the seconds, and so lets a click on Stop end the run."""
    began = time.monotonic()
    last = [0.0]

    def tick() -> bool:
        now = time.monotonic()
        if now - last[0] > 0.2 and get_script_run_ctx(suppress_warning=True) is not None:
            last[0] = now
            paused()
            place.caption(f"{doing} · {now - began:.0f} s")
        return False

    return tick
