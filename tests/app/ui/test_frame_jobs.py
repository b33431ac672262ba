"""Long work in a thread of its own: what it tells, how it ends, and that nothing of an error is lost."""

from __future__ import annotations

import re
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.ui.frame import jobs
from ctxasm.app.ui.frame.jobs import MOST_RUNNING, Jobs
from ctxasm.app.ui.words import progress_words, seconds_words
from ctxasm.model.errors import InvalidInput
from ctxasm.model.progress import Progress

SOON = 10.0


def test_a_job_tells_how_far_it_is_and_ends_with_its_result():
    told, go = Event(), Event()

    def work(report, cancelled):
        report(Progress(3, 12, "third.pdf", 6.0))
        told.set()
        assert go.wait(SOON)
        return "all of it"

    job = Jobs().start("read", "Reading", "books", work)
    assert told.wait(SOON)
    assert (job.running, job.progress.done, job.error) == (True, 3, None)
    assert not job.wait(0.01)
    go.set()
    assert job.wait(SOON)
    assert (job.running, job.result(), job.error) == (False, "all of it", None)


def test_cancel_is_seen_by_the_work():
    seen = Event()

    def work(report, cancelled):
        while not cancelled():
            seen.wait(0.005)
        return "half of it"

    job = Jobs().start("read", "Reading", "books", work)
    job.cancel()
    assert job.wait(SOON)
    assert job.result() == "half of it"


@pytest.mark.parametrize("error", [InvalidInput("no"), ValueError("a bug"), SystemExit(3)])
def test_what_the_work_raised_is_raised_again(error):
    def work(report, cancelled):
        raise error

    job = Jobs().start("read", "Reading", "books", work)
    assert job.wait(SOON)
    assert job.error is error
    with pytest.raises(type(error)):
        job.result()


def test_two_jobs_of_one_key_are_one_and_their_number_is_limited():
    server, go = Jobs(), Event()

    def work(report, cancelled):
        assert go.wait(SOON)

    first = server.start("0", "Reading", "books", work)
    assert server.start("0", "Reading", "books", work) is first
    with pytest.raises(InvalidInput, match="Reading is under way already, with other data or options: wait for its end"):
        server.start("0", "Reading", "books", work, wanted=("other.pdf", b"%PDF"))
    others = [server.start(str(at), "Reading", "books", work) for at in range(1, MOST_RUNNING)]
    with pytest.raises(InvalidInput, match="jobs run at once"):
        server.start("more", "Reading", "books", work)
    assert server.seen() == [first, *others]
    server.dismiss(first)
    assert first in server.seen()
    go.set()
    assert all(job.wait(SOON) for job in server.seen())
    assert server.start("0", "Reading", "books", work) is not first


def test_what_has_ended_is_forgotten_after_a_while(monkeypatch):
    server = Jobs()
    job = server.start("read", "Reading", "books", lambda report, cancelled: None)
    assert job.wait(SOON)
    assert server.seen() == [job]
    monkeypatch.setattr(jobs, "KEPT_S", -1.0)
    assert server.seen() == []


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_longer_time_never_reads_shorter(first, second):
    def seconds(words: str) -> int:
        return sum(int(n) * {"s": 1, "min": 60, "h": 3600}[unit] for n, unit in re.findall(r"(\d+) (s|min|h)\b", words))

    low, high = sorted((first, second))
    assert seconds(seconds_words(low)) <= seconds(seconds_words(high))


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (None, "starting · 4 s"),
        (Progress(0, 120, "a.pdf", 0.2), "0 of 120 · 4 s so far · a.pdf"),
        (Progress(40, 120, "b.pdf", 65.0), "40 of 120 · 2 min 10 s left · b.pdf"),
        (Progress(12000, None, "rows\nof <b>", 9.0), "12,000 · 4 s so far · rows of <b>"),
    ],
)
def test_progress_in_words(progress, words):
    assert progress_words(progress, 4.0) == words
