"""An ingest that is killed at any moment: what was finished is there whole, nothing else is, and the next run goes on to the same end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.documents.ingesting import read_written

pytestmark = [pytest.mark.system, pytest.mark.skipif(os.name != "posix", reason="kills a process by a signal")]

DOCUMENTS = 30
SEED = 20261122
OWN_SECONDS = 3571
"""A time limit that nobody else sets, to know the readers of this test by."""
SENTENCES = (
    "De balie opent om zeven uur.",
    "Bezoek mag na twaalf uur.",
    "Parkeren kost twee euro.",
    "Wie jonger is dan twaalf, komt met een ander.",
)


class Run(NamedTuple):
    folder: Path
    environment: dict[str, str]

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "ctxasm", "ingest", str(self.folder), "--data", "d", "--chunk-tokens", "40", "--overlap", "10"]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self) -> str:
        """Run to the end; the content hash."""
        with self.start() as process:
            _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        return self.state()[1]

    def state(self) -> tuple[int, str]:
        """The documents of the dataset and its content hash; how many are kept is checked on the way: each of them is whole."""
        workbench = Workbench(Config(self.environment["CTXASM_DATABASE_URL"]))
        try:
            for mark, text in workbench.store.read_kept("ingest d").items():
                made = read_written(text)
                assert made.document.metadata["ingest"] == mark
                assert made.chunks[-1].end == made.document.metadata["characters"]
                assert [chunk.chunk_index for chunk in made.chunks] == list(range(len(made.chunks)))
            found = [info for info in workbench.datasets() if info.name == "d"]
            return (found[0].documents, found[0].content_hash) if found else (0, "")
        finally:
            workbench.close()


def prepared(tmp_path: Path, database: str) -> Run:
    folder = tmp_path / "documenten"
    if not folder.exists():
        chance = random.Random(SEED)
        folder.mkdir()
        for number in range(DOCUMENTS):
            text = " ".join(chance.choice(SENTENCES) for _ in range(60))
            kinds = {".txt": text, ".md": f"# Blad {number}\n\n{text}", ".html": f"<h1>Blad {number}</h1><p>{text}"}
            ending = chance.choice(sorted(kinds))
            (folder / f"{number:02}{ending}").write_text(kinds[ending])
    changed = {"CTXASM_DATABASE_URL": f"sqlite:///{tmp_path / database}", "CTXASM_INGEST_SECONDS": str(OWN_SECONDS)}
    return Run(folder, {**os.environ, **changed})


def own_readers() -> list[str]:
    """The processes that read documents for this test."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = place.read_bytes()
        except OSError:
            continue
        if f'"seconds": {OWN_SECONDS}'.encode() in command:
            found.append(place.parts[2])
    return found


def killed_and_restarted(tmp_path: Path, kills: int, kills_a_database: int) -> None:
    undisturbed = prepared(tmp_path, "whole.db")
    began = time.perf_counter()
    whole = undisturbed.finish()
    seconds = time.perf_counter() - began
    assert undisturbed.state() == (DOCUMENTS, whole)
    chance = random.Random(SEED)
    hits = 0
    for number in range(kills):
        run = prepared(tmp_path, f"killed{number // kills_a_database}.db")
        process = run.start()
        time.sleep(seconds * chance.uniform(0.1, 1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        hits += process.returncode == -signal.SIGKILL
        # One that was done already: the first run was held up by others on the machine.
        seconds *= 1 if process.returncode == -signal.SIGKILL else 0.5
        assert run.state() in ((0, ""), (DOCUMENTS, whole))
        if (number + 1) % kills_a_database == 0:
            assert run.finish() == whole
            assert run.state() == (DOCUMENTS, whole)
    assert hits >= kills // 2
    until = time.perf_counter() + 300
    while own_readers() and time.perf_counter() < until:
        time.sleep(0.1)
    assert own_readers() == []


def test_killed_three_times(tmp_path: Path) -> None:
    killed_and_restarted(tmp_path, 3, 3)


@pytest.mark.slow
def test_killed_fifty_times(tmp_path: Path) -> None:
    killed_and_restarted(tmp_path, 50, 5)
