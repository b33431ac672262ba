"""From a file in the hand to its query in Inspect, by page and by command: `pytest -m bench -s tests/bench/test_shapes.py`.

The page: the file is given to the drop zone, Import is clicked, then Inspect in the sidebar. The command: `ctxasm load FILE`, then the
address of the dataset is opened; its seconds are those of the process and of the page. Then from the paste of a failed answer to the
sentence that says where the fact went. Wall clock on a warm server, medians of some rounds; nothing is asserted of it.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.tables import show
from tests.browser.conftest import CHROMIUM, FLAGS, serving
from tests.browser.test_why_page import TRACE, paste
from tests.data.files.hit_shapes import SHAPES

pytestmark = pytest.mark.bench
api = pytest.importorskip("playwright.sync_api")
VALID = Path(__file__).parents[1] / "data/files/valid"
TEN = {
    "Chroma query results": VALID / "chroma/query.json",
    "Qdrant query points": VALID / "qdrant/query_points.jsonl",
    "LangChain run": VALID / "langchain/retrieval_chain.jsonl",
    "LangSmith runs": VALID / "langsmith/runs.jsonl",
    "LlamaIndex response": VALID / "llamaindex/response.json",
    "Haystack pipeline output": VALID / "haystack/pipeline_output.json",
    "OTLP, OpenInference": VALID / "openinference/otlp.jsonl",
    "OTLP, GenAI": "OTLP spans of GenAI",
    "Ragas dataset": VALID / "ragas/evaluation.jsonl",
    "nested lists of one's own": "deeply nested",
}
"""A file that the tool wrote, or a shape of `hit_shapes`."""
ROUNDS = 3


def written(folder: Path, number: int, shape: Path | str) -> Path:
    """The file under a name of its own, which is that of its dataset."""
    data, ending = (shape.read_bytes(), shape.suffix) if isinstance(shape, Path) else (SHAPES[shape].data, Path(SHAPES[shape].file).suffix)
    path = folder / f"shape{number}{ending}"
    path.write_bytes(data)
    return path


def is_open(page, dataset: str) -> None:
    """Wait until Inspect shows the context of a query of this dataset."""
    page.locator(f'#ctx-title[data-stamp^="{dataset}/"]').wait_for()
    page.locator("#ctx-text").wait_for()


def by_page(page, url: str, file: Path) -> tuple[float, int]:
    """Seconds and clicks."""
    page.goto(f"{url}/load")
    page.get_by_role("button", name="Paste text").wait_for()
    began = time.perf_counter()
    page.locator('input[type="file"]').first.set_input_files(str(file))
    clicks = [page.get_by_role("button", name=re.compile("Import$")), page.get_by_role("link", name="Inspect")]
    clicks[0].click()
    page.locator("#ctx-report").wait_for()
    clicks[1].click()
    is_open(page, file.stem)
    return time.perf_counter() - began, len(clicks)


def by_command(page, url: str, file: Path, database: str) -> float:
    """Seconds of the command and of the page that it makes."""
    began = time.perf_counter()
    name = f"{file.stem}-command"
    command = [sys.executable, "-m", "ctxasm", "load", str(file), "--data", name, "--db", database]
    subprocess.run(command, check=True, capture_output=True, env=dict(os.environ))
    page.goto(f"{url}/?data={name}")
    is_open(page, name)
    return time.perf_counter() - began


def delete(database: str, *names: str) -> None:
    import ctxasm

    with ctxasm.open_store(database) as store:
        for name in names:
            store.delete(name)


def test_ten_shapes_from_the_file_to_its_query(tmp_path: Path) -> None:
    rows: list[list[object]] = []
    database = f"sqlite:///{tmp_path / 'browser.db'}"
    with serving(tmp_path) as url, api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM or None, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        by_page(page, url, written(tmp_path, 99, "deeply nested"))  # the first load of a server is not counted
        for number, (name, shape) in enumerate(TEN.items()):
            file = written(tmp_path, number, shape)
            seconds, commands = [], []
            for _ in range(ROUNDS):
                taken, clicks = by_page(page, url, file)
                seconds.append(taken)
                commands.append(by_command(page, url, file, database))
                delete(database, file.stem, f"{file.stem}-command")
            rows.append([name, f"{statistics.median(seconds):.1f}", clicks, f"{statistics.median(commands):.1f}", 1])
        show("From a file to its query in Inspect", ("shape", "page: s", "clicks", "command: s", "commands"), rows)
        pasted = [sentence(page, url, at) for at in range(2 * ROUNDS)]
        show("From a paste to the sentence", ("what", "s", "most", "clicks"), [["a trace", statistics.median(pasted), max(pasted), 2]])
        browser.close()


def sentence(page, url: str, at: int) -> float:
    """Seconds from the paste to the sentence, the page being open."""
    page.goto(f"{url}/load")
    page.get_by_role("button", name="Paste text").wait_for()
    began = time.perf_counter()
    paste(page, json.dumps([{**json.loads(TRACE)[0], "query_id": f"q{at}"}]))
    page.locator("#ctx-why").wait_for()
    return time.perf_counter() - began
