"""The wheel, as a user gets it: built, installed into an environment of its own, and used from somewhere else.

Building takes a network (pip fetches the build backend), so this is a slow test: `pytest -m slow tests/test_wheel.py`.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ctxasm.config import SHIPPED

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="installs and ends programs the POSIX way")]
ROOT = Path(__file__).parents[1]
START_SECONDS = 300


class Installed(NamedTuple):
    """An environment that has the wheel; `home` is a folder far from the source tree."""

    wheel: Path
    python: Path
    home: Path

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CTXASM_", "CONTEXT_", "PYTHON", "XDG_"))}
        return {**kept, "HOME": str(self.home), "CTXASM_DATABASE_URL": f"sqlite:///{self.home}/data/ctxasm.db"}

    def command(self, *arguments: str) -> list[str]:
        return [str(self.python.with_name("ctxasm")), *arguments]

    def run(self, *arguments: str) -> str:
        """Standard output of `ctxasm …`, which must succeed."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.home,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def must(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in a new environment, which borrows the dependencies of this one but never its ctxasm."""
    base = tmp_path_factory.mktemp("wheel")
    must(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", base / "dist", ROOT)
    (wheel,) = (base / "dist").glob("*.whl")
    must(sys.executable, "-m", "venv", "--without-pip", base / "venv")
    python = base / "venv" / "bin" / "python"
    must(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    (packages,) = (base / "venv" / "lib").glob("python*/site-packages")
    # A plain line is appended to sys.path; the .pth files of that folder, an editable ctxasm among them, are not read.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n" + sysconfig.get_path("platlib") + "\n")
    (base / "home").mkdir()
    return Installed(wheel, python, base / "home")


def test_what_the_wheel_carries(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = archive.namelist()
    tracked = subprocess.run(["git", "ls-files", "ctxasm"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    assert set(tracked) <= set(names)
    for part in SHIPPED:
        assert [name for name in names if name == f"ctxasm/_shipped/{part}" or name.startswith(f"ctxasm/_shipped/{part}/")], part
    for file in ("documents", "chunks", "queries", "retrievals"):
        assert {f"ctxasm/_shipped/sample_data/hospital-{language}/{file}.jsonl" for language in ("en", "nl")} <= set(names)
    assert {"ctxasm/py.typed", "ctxasm/app/ui/assets/workbench.css"} <= set(names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"ctxasm"}
    assert [name for name in names if "test" in name or "secrets" in name or name.endswith((".pyc", ".db"))] == []


def test_the_commands_of_an_installed_wheel(installed: Installed) -> None:
    where = [str(installed.python), "-c", "import ctxasm; print(ctxasm.__file__)"]
    found = subprocess.run(where, cwd=installed.home, env=installed.environment(), capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()).is_relative_to(installed.python.parents[1])
    assert "expand_window" in installed.run("settings")
    assert "recommended gains" in installed.run("demo")
    assert not (installed.home / "data").exists()
    assert installed.run("load", "--sample") == "sample\n"
    lines = installed.run("assemble", "--all", "--format", "jsonl").splitlines()
    assemblies = [json.loads(line) for line in lines]
    assert len(assemblies) >= 26
    assert all(one["exact"] and one["token_count"] <= one["max_tokens"] for one in assemblies)
    assert any("[1]" in one["text"] for one in assemblies)
    assert (installed.home / "data" / "ctxasm.db").is_file()


def test_the_pages_of_an_installed_wheel(installed: Installed) -> None:
    code = (
        "from pathlib import Path; import ctxasm.app.ui; from streamlit.testing.v1 import AppTest; "
        "app = AppTest.from_file(str(Path(ctxasm.app.ui.__file__).parent / 'main.py'), default_timeout=300); "
        "app.query_params['data'] = 'sample'; app.run(); "
        "print([error.value for error in app.exception], ' '.join(str(html.proto.body) for html in app.get('html')))"
    )
    done = subprocess.run(
        [str(installed.python), "-c", code], cwd=installed.home, env=installed.environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("[] "), done.stdout[:500] + done.stderr[-2000:]
    assert "ctx-budget" in done.stdout


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def server(installed: Installed, port: int) -> Iterator[subprocess.Popen[bytes]]:
    with (installed.home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            installed.command("serve", "--port", str(port), "--server.headless", "true"),
            cwd=installed.home,
            env=installed.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    yield process
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(20)


def fetched(port: int, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_serve_from_an_installed_wheel(installed: Installed, server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    health: tuple[int, bytes] | None = None
    while health is None:
        assert server.poll() is None, (installed.home / "server.log").read_text()
        assert time.monotonic() < deadline, (installed.home / "server.log").read_text()
        try:
            health = fetched(port, "/_stcore/health")
        except OSError:
            time.sleep(0.1)
    assert health == (200, b"ok")
    status, page = fetched(port, "/")
    assert status == 200
    assert b"<html" in page
    # The configuration that ships is in force: the workbench is not offered to the network.
    assert f"http://127.0.0.1:{port}" in (installed.home / "server.log").read_text()
