"""The command line as a process: what only a real one shows."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from ctxasm.data.files import write_bundle
from ctxasm.model.records import Bundle, Chunk, Hit, Query

pytestmark = pytest.mark.system

TEXT = "Café « naïve » — 日本語 🙂. "


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    queries = tuple(Query(f"Où {n}?", (Hit("a", 0, 1.0),), f"q{n}") for n in range(200))
    write_bundle(Bundle("b", chunks=(Chunk("a", 0, TEXT * 200),), queries=queries), tmp_path / "b")
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    return bare | {"CTXASM_DATABASE_URL": f"sqlite:///{tmp_path / 'p.db'}", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def ctxasm(environment: dict[str, str], *argv: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ctxasm", *argv]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_output_is_utf_8_in_the_c_locale(environment: dict[str, str], tmp_path: Path) -> None:
    with ctxasm(environment, "load", str(tmp_path / "b")) as process:
        assert process.communicate()[0] == b"b\n"
    with ctxasm(environment, "assemble", "--query-id", "q0") as process:
        out, err = process.communicate()
    assert TEXT in out.decode("utf-8")
    assert (process.returncode, b"Traceback" in err) == (0, False)
    with ctxasm(environment, "assemble", "--query-id", "caf\u00e9\udcff") as process:
        out, err = process.communicate()
    assert (process.returncode, out, b"Traceback" in err) == (2, b"", False)


def test_a_reader_that_stops_reading_is_fine(environment: dict[str, str], tmp_path: Path) -> None:
    with ctxasm(environment, "load", str(tmp_path / "b")) as process:
        process.communicate()
    with ctxasm(environment, "assemble", "--all", "--format", "jsonl") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=300) == 0


def heed_interrupts() -> None:
    """In a new process: be interrupted as in a terminal, although whoever runs the tests in the background ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="sends an interrupt the POSIX way")
def test_an_interrupt_ends_with_130_and_no_traceback(environment: dict[str, str], tmp_path: Path) -> None:
    with ctxasm(environment, "load", str(tmp_path / "b")) as process:
        process.communicate()
    with ctxasm(environment, "assemble", "--all", "--format", "jsonl", preexec_fn=heed_interrupts) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, b"ctxasm: interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="ends the server the POSIX way")
def test_serve_runs_the_workbench(environment: dict[str, str], tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path / "log").open("wb")
    argv = ["serve", "--port", str(port), "--server.headless", "true"]
    process = subprocess.Popen([sys.executable, "-m", "ctxasm", *argv], env=environment, stdout=log, stderr=log, cwd=tmp_path)
    try:
        health, until = "", time.monotonic() + 300
        while health != "ok" and time.monotonic() < until and process.poll() is None:
            try:
                health = urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).read().decode()
            except OSError:
                time.sleep(0.1)
        assert health == "ok", (tmp_path / "log").read_text()
    finally:
        process.terminate()
        process.wait(timeout=300)
        log.close()


def test_the_installed_command_is_the_same() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"ctxasm": "ctxasm.__main__:main"}
    from ctxasm import __version__

    assert project["project"]["version"] == __version__


# The demo reads files, counts, and holds its data in a database in memory.
@pytest.mark.parametrize(("command", "spared"), [("settings", {"sqlalchemy", "pydantic", "numpy"}), ("demo", set())])
def test_these_import_little_and_leave_no_database(environment: dict[str, str], tmp_path: Path, command: str, spared: set[str]) -> None:
    large = {"streamlit", "pandas", "wordllama"} | spared
    code = f"import sys; from ctxasm.__main__ import main; main(['{command}']); sys.exit(len({large} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert not (tmp_path / "p.db").exists()
