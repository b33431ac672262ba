"""Killed at a random moment, an enrichment leaves whole batches or none, goes on where it was, and asks for nothing that is kept.

The processes that are killed come from one that has everything imported and only divides: starting Python would take most of the time.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fake_model_server import FakeModel, serving

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.enrich.cache import enrichments, written_for
from ctxasm.store.database import Store
from tests.data.enrich.corpus import COUNTER, long_bundle, numbers_in, told, well_behaved

pytestmark = pytest.mark.system

DOCUMENTS, CHUNKS, PER_CALL = 8, 8, 4
BREEDER = """
import os, sys
import openai, httpx2, ctxasm.llm.batches, ctxasm.llm.transport, ctxasm.store.database, ctxasm.text.tokens
import ctxasm.app.commands.data, ctxasm.data.enrich.enriching, ctxasm.data.enrich.enriching
from ctxasm.__main__ import COMMANDS, command_of, main
for name in COMMANDS:
    command_of(name)
open_counter = ctxasm.text.tokens.open_counter()
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(main(line.split()))
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@pytest.fixture
def server() -> Iterator[FakeModel]:
    with serving() as running:
        yield running


class Breeder:
    """Runs `ctxasm enrich` in a process of its own each time; one at a time."""

    def __init__(self, url: str, server: FakeModel) -> None:
        own = {
            "CTXASM_DATABASE_URL": url,
            "CTXASM_LLM_BASE_URL": server.base_url,
            "CTXASM_LLM_MODEL": "json-ok",
            "CTXASM_LLM_API_KEY": "sk-secret-0123456789abcdef",
        }
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CTXASM_", "OPENAI_"))} | own
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, "-c", BREEDER], env=environment, stderr=subprocess.DEVNULL, **pipes)

    def start(self, *arguments: str) -> int:
        """The process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(("enrich", *arguments)) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def ended(self) -> int:
        """Waits, and gives the exit code."""
        return int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def kill(pid: int) -> None:
    """End a process at once; one that has just ended is no error."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kept_places(workbench: Workbench) -> set[tuple[str, int]]:
    """The chunks whose context and questions are both kept; a chunk with one of them alone is half a batch."""
    written = written_for(workbench.store, "lang")
    chunks = list(workbench.dataset("lang").iter_chunks())
    said = enrichments(workbench, "lang", chunks, written) if written else [None] * len(chunks)
    assert all(one is None or (one.context and one.questions) for one in said)
    return {(chunk.document_id, chunk.chunk_index) for chunk, one in zip(chunks, said, strict=True) if one is not None}


def check_batches(workbench: Workbench, kept: set[tuple[str, int]]) -> None:
    """Every group that one call asks about is there as a whole or not at all, and the ledger counts what is there."""
    groups = Counter((document, index // PER_CALL) for document, index in kept)
    assert set(groups.values()) <= {PER_CALL}
    ledgers = workbench.store.read_kept("enrichment model", ["dataset lang"])
    counted = json.loads(next(iter(ledgers.values()), '{"chunks": 0}'))["chunks"]
    assert counted <= len(kept)


def killed_again_and_again(url: str, server: FakeModel, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    workbench = Workbench(Config(url), Store(url, COUNTER))
    workbench.store.add(long_bundle(DOCUMENTS, CHUNKS))
    done: set[tuple[str, int]] = set()
    asked_for_kept: list[Any] = []
    asking = ("--variant", "model", "--chunks-per-call", str(PER_CALL))

    def judge(body: dict[str, Any]) -> object:
        title = told(body).split("title: ")[1].split("\n")[0]
        asked_for_kept.extend((title, n) for n in numbers_in(body) if (f"d{int(title.split()[1]):03}", n - 1) in done)
        time.sleep(0.02)
        return well_behaved(body)

    server.judge = judge
    breeder = Breeder(url, server)
    for _ in range(kills):
        pid = breeder.start(*asking, "--concurrency", "3")
        asked = len(server.requests)
        until, wanted = time.monotonic() + 20, chance.randrange(0, 6)
        while time.monotonic() < until and len(server.requests) < asked + wanted and is_running(pid):
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.05))
        kill(pid)
        assert breeder.ended() in (-signal.SIGKILL, 0)
        found = kept_places(workbench)
        assert found >= done, "what was kept is gone"
        check_batches(workbench, found)
        done |= found
        if len(done) == DOCUMENTS * CHUNKS:  # start again, so that every kill hits work
            workbench.store.forget("enrichment model")
            done.clear()
    breeder.start(*asking)
    assert breeder.ended() == 0
    breeder.close()
    assert len(kept_places(workbench)) == DOCUMENTS * CHUNKS
    assert asked_for_kept == []
    assert all(document.metadata["summary_made_by"] == "model json-ok" for document in workbench.dataset("lang").documents())
    workbench.close()


def test_killed_it_goes_on_and_asks_for_nothing_that_is_kept(server: FakeModel, tmp_path: Path) -> None:
    killed_again_and_again(f"sqlite:///{tmp_path / 'k.db'}", server, 5, seed=1)


@pytest.mark.slow
def test_killed_fifty_times(server: FakeModel, tmp_path: Path) -> None:
    killed_again_and_again(f"sqlite:///{tmp_path / 'k.db'}", server, 50, seed=2)


@pytest.mark.slow
def test_killed_on_postgresql(server: FakeModel, postgres_url: str) -> None:
    killed_again_and_again(postgres_url, server, 20, seed=3)


@pytest.mark.slow
def test_killed_while_the_rules_write(server: FakeModel, tmp_path: Path) -> None:
    url, chance = f"sqlite:///{tmp_path / 'r.db'}", random.Random(4)
    workbench = Workbench(Config(url), Store(url, COUNTER))
    workbench.store.add(long_bundle(200, 20))
    breeder, before = Breeder(url, server), 0
    for _ in range(20):
        pid = breeder.start()
        time.sleep(chance.uniform(0.1, 1.0))
        kill(pid)
        breeder.ended()
        found = kept_places(workbench)
        assert all(count == 20 for count in Counter(document for document, _ in found).values())
        assert len(found) >= before
        before = len(found)
    breeder.start()
    assert breeder.ended() == 0
    breeder.close()
    assert len(kept_places(workbench)) == 4000
    workbench.close()
