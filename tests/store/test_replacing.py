"""Loads beside readers, other loads and sudden death: always the old dataset or the new one, whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from bundles import numbered_bundle

from ctxasm.model.ports import TokenCounter, Window
from ctxasm.store.database import Store, StoredDataset

ENCODING = "cl100k_base"
EVERYTHING = [Window(f"d{d}", 0, 10) for d in range(8)]


def test_a_reader_sees_the_old_or_the_new_dataset(database: Store) -> None:
    database.add(numbered_bundle(8, 6, "version 0"))
    dataset, done, seen, problems = database.dataset(), threading.Event(), Counter[str](), list[object]()

    def read(dataset: StoredDataset) -> None:
        try:
            while not done.is_set():
                texts = [chunk.text for chunk in dataset.fetch(EVERYTHING, ENCODING).chunks]
                texts += [chunk.text for chunk in dataset.find_text("version")]
                texts += [chunk.text for chunk in dataset.bundle().chunks]
                for part in (texts[:48], texts[48:96], texts[96:]):
                    if len(part) != 48 or len(set(part)) != 1:
                        problems.append(Counter(part))
                seen.update(set(texts))
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    readers = [threading.Thread(target=read, args=(one,)) for one in (dataset, dataset, database.dataset())]
    for reader in readers:
        reader.start()
    for number in range(1, 15):
        database.add(numbered_bundle(8, 6, f"version {number}"))
    done.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert len(seen) > 1
    assert {chunk.text for chunk in dataset.fetch(EVERYTHING, ENCODING).chunks} == {"version 14"}
    assert dataset.info == database.dataset().info


def test_another_store_notices_the_replacement(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as one, Store(shared_url, counter) as other:
        one.add(numbered_bundle(2, 2, "old", name="a"))
        dataset = other.dataset("a")
        assert {chunk.text for chunk in dataset.fetch(EVERYTHING, ENCODING).chunks} == {"old"}
        one.add(numbered_bundle(1, 2, "new", name="a"))
        fetched = dataset.fetch(EVERYTHING, ENCODING)
        assert {chunk.text for chunk in fetched.chunks} == {"new"}
        assert list(fetched.documents) == ["d0"]
        one.delete("a")
        with pytest.raises(Exception, match="no dataset 'a'"):
            dataset.fetch(EVERYTHING, ENCODING)


def test_the_newest_dataset_is_the_source_of_a_store(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as one, Store(shared_url, counter) as other:
        one.add(numbered_bundle(1, 1, "first", name="a"))
        one.add(numbered_bundle(1, 1, "second", name="b"))
        assert {chunk.text for chunk in other.fetch(EVERYTHING, ENCODING).chunks} == {"second"}
        one.delete("b")
        assert {chunk.text for chunk in other.fetch(EVERYTHING, ENCODING).chunks} == {"first"}


LOADER = """
import sys
sys.path.insert(0, {tests!r})
from bundles import numbered_bundle
from ctxasm.store.database import Store, StoredDataset
from ctxasm.text.tokens.counter import open_counter
counter = open_counter()
class Telling:
    calls = 0
    def __getattr__(self, name):
        return getattr(counter, name)
    def count_many(self, texts):
        self.calls += 1
        if self.calls == 3:
            print("in the middle", flush=True)
            {pause}
        return counter.count_many(texts)
with Store({url!r}, Telling()) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    store.add(numbered_bundle(400, 3, {text!r}, name="a"))
"""


def loader(url: str, text: str, pause: str = "pass") -> subprocess.Popen[str]:
    script = LOADER.format(tests=str(Path(__file__).parent), url=url, text=text, pause=pause)
    return subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def told(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def start(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


@pytest.mark.system
def test_a_load_killed_half_way_leaves_the_old_dataset(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store:
        before = store.add(numbered_bundle(2, 3, "old", name="a"))
        with loader(shared_url, "new", "import time; time.sleep(60)") as process:
            assert told(process) == "ready"
            start(process)
            assert told(process) == "in the middle"
            assert {chunk.text for chunk in store.dataset("a").bundle().chunks} == {"old"}
            os.kill(process.pid, signal.SIGKILL)
            process.wait(10)
        assert store.datasets() == [before]
        assert {chunk.text for chunk in store.dataset("a").bundle().chunks} == {"old"}
        assert store.add(numbered_bundle(2, 3, "next", name="a")).chunks == 6
    with Store(shared_url, counter) as reopened:
        assert {chunk.text for chunk in reopened.dataset("a").bundle().chunks} == {"next"}


@pytest.mark.system
def test_two_processes_load_the_same_name(shared_url: str, counter: TokenCounter) -> None:
    with loader(shared_url, "one") as one, loader(shared_url, "two") as two:
        for process in (one, two):
            assert told(process) == "ready"
        for process in (one, two):
            start(process)
        assert (one.wait(30), two.wait(30)) == (0, 0)
    with Store(shared_url, counter) as store:
        (info,) = store.datasets()
        assert (info.documents, info.chunks) == (400, 1200)
        texts = {chunk.text for chunk in store.dataset("a").bundle().chunks}
        assert texts in ({"one"}, {"two"})
        with store._connections.reading() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM ctxasm_chunks").scalar_one() == 1200
            assert connection.exec_driver_sql("SELECT count(*) FROM ctxasm_documents").scalar_one() == 400


def test_threads_load_different_names(database: Store) -> None:
    problems: list[Exception] = []

    def load(number: int) -> None:
        try:
            database.add(numbered_bundle(20, 5, f"text {number}", name=f"set {number}"))
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=load, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    for number in range(6):
        chunks = database.dataset(f"set {number}").bundle().chunks
        assert (len(chunks), {chunk.text for chunk in chunks}) == (100, {f"text {number}"})


def test_reads_do_not_wait_for_a_load(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store:
        store.add(numbered_bundle(8, 6, "old", name="a"))
        dataset = store.dataset("a")
        with store._connections.writing() as connection:
            connection.exec_driver_sql("DELETE FROM ctxasm_chunks")
            # In one thread: a read that waited for the load would wait for itself.
            assert {chunk.text for chunk in dataset.fetch(EVERYTHING, ENCODING).chunks} == {"old"}
            connection.exec_driver_sql("SELECT 1")
