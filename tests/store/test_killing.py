"""A load killed at any moment leaves the old dataset or the new one, whole, and can be done again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bundles import numbered_bundle

from ctxasm.model.ports import TokenCounter
from ctxasm.store.database import Store

pytestmark = pytest.mark.system

OLD = numbered_bundle(20, 5, "old {0} {1}", name="a")
NEW_DOCUMENTS, NEW_CHUNKS = 150, 20
LOADER = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from bundles import numbered_bundle
from ctxasm.store import chunk_facts, load
from ctxasm.store.database import Store
from ctxasm.text.tokens.counter import open_counter
chunk_facts.START_CHUNKS, load.BATCH_CHUNKS = (1000 if sys.argv[3] == "helped" else 10**9), 50
bundle = numbered_bundle({NEW_DOCUMENTS}, {NEW_CHUNKS}, "new {{0}} {{1}} " + "and some more text " * 5, name="a")
order = list(bundle.chunks)
if sys.argv[2] == "mixed":
    order = order[::2] + order[1::2]
counter = open_counter()
counter.count("ready")
with Store(sys.argv[1], counter) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    store.add_stream("a", bundle.documents, order, bundle.queries)
    print("done", flush=True)
"""


@contextmanager
def loader(url: str, order: str, helped: bool) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", LOADER, url, order, "helped" if helped else "alone"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        yield process
        process.kill()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("go\n")
    process.stdin.flush()


def children(process: int) -> list[int]:
    """The processes that it started."""
    if not sys.platform.startswith("linux"):
        return []
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def whole(store: Store) -> str:
    """Which of the two datasets there is; it must be one of them, with nothing beside it."""
    dataset = store.dataset("a")
    texts = [chunk.text for chunk in dataset.iter_chunks()]
    (word,) = {text.split()[0] for text in texts}
    expected = len(OLD.chunks) if word == "old" else NEW_DOCUMENTS * NEW_CHUNKS
    assert len(texts) == len(set(texts)) == expected == dataset.info.chunks
    assert len(dataset.documents()) == dataset.info.documents
    assert len(dataset.info.content_hash) == 32
    with store._connections.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM ctxasm_chunks").scalar_one() == expected
        assert connection.exec_driver_sql("SELECT count(*) FROM ctxasm_documents").scalar_one() == dataset.info.documents
        assert connection.exec_driver_sql("SELECT count(*) FROM ctxasm_datasets").scalar_one() == 1
    return word


def kill_at_random(url: str, counter: TokenCounter, times: int, seed: int) -> None:
    order = random.Random(seed)
    with Store(url, counter) as store:
        with loader(url, "mixed", helped=False) as process:
            go(process)
            began = time.monotonic()
            assert process.stdout is not None
            assert process.stdout.readline() == "done\n"
            takes = time.monotonic() - began
        assert whole(store) == "new"
        found = {"old": 0, "new": 0}
        for number in range(times):
            store.add(OLD)
            with loader(url, "mixed" if number % 2 else "straight", helped=number % 4 == 0) as process:
                go(process)
                time.sleep(order.uniform(0, 1.1 * takes))
                helpers = children(process.pid) if process.poll() is None else []
                process.kill()
                process.wait(300)
            state = whole(store)
            found[state] += 1
            takes *= 0.5 if state == "new" else 1
            deadline = time.monotonic() + 300
            while any(map(is_alive, helpers)):
                assert time.monotonic() < deadline, "a helper outlived the load"
                time.sleep(0.02)
        assert found["old"] > 0
        assert store.add(numbered_bundle(3, 3, "old {0} {1}", name="b")).chunks == 9
        store.delete("b")
        store.add(OLD)
        assert whole(store) == "old"


def test_killed_at_random_moments(shared_url: str, counter: TokenCounter) -> None:
    kill_at_random(shared_url, counter, 3, 1)


@pytest.mark.slow
def test_killed_at_many_random_moments(shared_url: str, counter: TokenCounter) -> None:
    kill_at_random(shared_url, counter, 50, 2)
