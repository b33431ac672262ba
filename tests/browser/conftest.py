"""A real browser on a real server: Playwright with Debian's chromium, or with its own browser where that is installed.

Every request off loopback is noted, and fails the test that caused it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fake_model_server import FakeModel
from tests.fake_model_server import serving as serving_models

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = (
    os.environ.get("CTXASM_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[str]:
    """A fresh `streamlit run app.py` with its own database; yields its address."""
    port = free_port()
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CTXASM_", "OPENAI_", "CONTEXT_ASSEMBLY_"))}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", "--server.address=127.0.0.1"]
    command += [f"--server.port={port}", "--server.fileWatcherType=none"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**clean, "CTXASM_DATABASE_URL": f"sqlite:///{folder / 'browser.db'}", **environment},
        )
        try:
            _wait(process, f"http://127.0.0.1:{port}", folder / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(60)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    for _ in range(3000):
        if process.poll() is not None:
            raise RuntimeError(log.read_text())
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {log.read_text()}")


@pytest.fixture(scope="session")
def model_server() -> Iterator[FakeModel]:
    """The local model endpoint that misbehaves by model name."""
    with serving_models() as server:
        yield server


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory, model_server: FakeModel) -> Iterator[str]:
    """The workbench, with the misbehaving endpoint configured."""
    settings = {
        "CTXASM_LLM_BASE_URL": model_server.base_url,
        "CTXASM_LLM_MODEL": "ok",
        "CTXASM_LLM_API_KEY": "sk-browser-secret",
    }
    with serving(tmp_path_factory.mktemp("app"), **settings) as url:
        yield url


@pytest.fixture(scope="session")
def other_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A workbench for tests that bring data: with more than the sample every page has one control more."""
    with serving(tmp_path_factory.mktemp("other")) as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'")
    with api.sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path).exists()
        if not CHROMIUM and not own:
            if os.environ.get("CTXASM_REQUIRE_BROWSER"):
                pytest.fail("CTXASM_REQUIRE_BROWSER is set and there is no chromium")
            pytest.skip("no chromium: apt-get install chromium, or playwright install chromium")
        started = playwright.chromium.launch(executable_path=CHROMIUM if CHROMIUM else None, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser) -> Iterator[Callable[..., object]]:
    """Open an address in a fresh context: `open_page(url, width=1400, scheme="light")`. Nothing may leave loopback."""
    contexts, outside, errors = [], [], []

    def open_one(url: str, width: int = 1400, height: int = 1000, scheme: str = "light"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on(
            "request",
            lambda r: outside.append(r.url) if not r.url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")) else None,
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert outside == []
    assert errors == []
