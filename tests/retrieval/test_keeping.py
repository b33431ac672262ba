"""One index is made once, whoever asks for it meanwhile, and what was made is bounded."""

from __future__ import annotations

import threading
import time

import pytest

from ctxasm.retrieval.indexes import MadeOnce, SearchStopped


def test_many_threads_make_one_value() -> None:
    kept: MadeOnce[int] = MadeOnce(100, lambda value: 1)
    made: list[int] = []

    def make() -> int:
        time.sleep(0.05)
        made.append(1)
        return 7

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("k", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [7] * 8
    assert made == [1]


def test_who_waits_for_one_that_fails_makes_it_and_who_is_cancelled_leaves() -> None:
    kept: MadeOnce[int] = MadeOnce(100, lambda value: 1)
    begun, go_on = threading.Event(), threading.Event()
    failures: list[Exception] = []

    def fail() -> int:
        begun.set()
        go_on.wait(5)
        raise ValueError("no")

    def first() -> None:
        try:
            kept.get("k", fail)
        except ValueError as error:
            failures.append(error)

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait(5)
    with pytest.raises(SearchStopped):
        kept.get("k", lambda: 1, cancelled=lambda: True)
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(kept.get("k", lambda: 2)))
    waiting.start()
    go_on.set()
    thread.join(5)
    waiting.join(5)
    assert found == [2]
    assert len(failures) == 1


def test_the_one_used_longest_ago_goes_first_and_the_newest_stays() -> None:
    kept: MadeOnce[int] = MadeOnce(10, lambda value: value)
    for name in "ab":
        kept.get(name, lambda: 4)
    kept.get("a", lambda: 99)
    kept.get("c", lambda: 4)
    assert [kept.peek(name) for name in "abc"] == [4, None, 4]
    kept.get("d", lambda: 50)
    assert (kept.peek("d"), len(kept)) == (50, 1)
