"""Setting change → everything updated, in a real browser: `pytest -m bench -s tests/bench/test_latency.py`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bench.tables import show
from tests.browser.conftest import CHROMIUM, FLAGS, _wait, free_port, serving

pytestmark = pytest.mark.bench
api = pytest.importorskip("playwright.sync_api")
ROUNDS = 30
# Milliseconds until every place that shows the limit shows the wanted one, and until the script run is over as well.
CHANGE = """
async ([key, wanted, places]) => {
  const box = document.querySelector('input[aria-label^="Max tokens"]');
  const says = e => e && (e.dataset.stamp || e.dataset.limit || '').includes(wanted);
  const over = () => document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning';
  const shown = () => places.every(p => says(document.querySelector(p)));
  const began = performance.now();
  box.focus();
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  set.call(box, wanted); box.dispatchEvent(new Event('input', {bubbles: true}));
  box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', code: 'Enter', bubbles: true}));
  const until = async (what) => {
    while (!what() && performance.now() - began < 10000) await new Promise(r => requestAnimationFrame(r));
    return performance.now() - began;
  };
  return [await until(shown), await until(() => shown() && over())];
}
"""


@contextmanager
def empty(folder: Path):
    port = free_port()
    script = str(Path(__file__).with_name("minimal_page.py"))
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.headless=true", "--server.address=127.0.0.1"]
    with (folder / "empty.log").open("w") as log:
        process = subprocess.Popen([*command, f"--server.port={port}", "--server.fileWatcherType=none"], stdout=log, stderr=log, cwd=folder)
        try:
            _wait(process, f"http://127.0.0.1:{port}", folder / "empty.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(15)


def measure(pages, rounds: int = ROUNDS) -> list[list[tuple[float, float]]]:
    """Milliseconds of each change, the pages in turn."""
    times: list[list[tuple[float, float]]] = [[] for _ in pages]
    for number in range(-3, rounds):
        for place, (page, places) in enumerate(pages):
            wanted = str(3000 + 100 * ((number + 3) % 40))
            took = page.evaluate(CHANGE, ["Enter", wanted, places])
            page.wait_for_timeout(350)
            if number >= 0:
                times[place].append(tuple(took))
    return times


def test_a_setting_change_against_a_minimal_page(tmp_path, capsys):
    rows = []
    with serving(tmp_path) as app, empty(tmp_path) as blank, api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for step in ("fits", "with neighbours"):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{app}/?q=private-room-cost")
            page.locator("#ctx-budget").wait_for()
            page.locator(".st-key-funnel").get_by_role("radio", name=step).click()
            yardstick = browser.new_page(viewport={"width": 1440, "height": 900})
            yardstick.goto(blank)
            yardstick.locator("#done").wait_for(state="attached")
            page.wait_for_timeout(3000)
            ours, bare = measure([(page, ["#ctx-title", "#ctx-budget", "#ctx-text"]), (yardstick, ["#ctx-budget", "#done"])])
            for name, pick in (("p50", statistics.median), ("p95", lambda t: sorted(t)[int(len(t) * 0.95) - 1])):
                for which, what in enumerate(("bar and text", "run over")):
                    minimal_ms, ours_ms = (pick([took[which] for took in times]) for times in (bare, ours))
                    rows.append((step, what, name, minimal_ms, ours_ms, ours_ms / minimal_ms))
            page.close()
            yardstick.close()
        browser.close()
    with capsys.disabled():
        show(
            f"Setting change → everything updated, milliseconds ({ROUNDS} changes, in turns)",
            ("step", "until", "", "minimal", "ours", "ratio"),
            rows,
        )


# Notes when the bar shows another limit; one watcher a page, however often it is asked to start again.
DRAG = """
() => { window.seen = []; let last = null;
  if (window.watching) return;
  window.watching = true;
  const look = () => { const b = document.getElementById('ctx-budget'); const v = b && b.dataset.limit;
    if (v !== last) { last = v; window.seen.push([performance.now(), v]); } requestAnimationFrame(look); }; look(); }
"""


def test_dragging_the_limit(tmp_path, capsys):
    with serving(tmp_path) as app, api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(f"{app}/?q=pack-for-stay")
        page.locator("#ctx-budget").wait_for()
        page.wait_for_timeout(3000)
        rows = [drag(page) for _ in range(3)]
        browser.close()
    with capsys.disabled():
        show("Dragging max tokens for 3 s", ("pictures", "per second", "settled after release, ms", "final in bar", "final in box"), rows)


def drag(page) -> tuple[object, ...]:
    handle = page.locator('input[type="range"]').first
    box = handle.bounding_box()
    y = box["y"] + box["height"] / 2
    page.evaluate(DRAG)
    page.mouse.move(box["x"] + box["width"] * 0.5, y)
    page.mouse.down()
    began = time.monotonic()
    while (gone := time.monotonic() - began) < 3:
        page.mouse.move(box["x"] + box["width"] * (0.5 + 0.35 * ((gone % 1.0) - 0.5)), y)
        page.wait_for_timeout(16)
    during = page.evaluate("() => window.seen.length")
    released = page.evaluate("() => performance.now()")
    page.mouse.up()
    final = handle.input_value()
    page.wait_for_timeout(2000)
    seen = page.evaluate("() => window.seen")
    shown = page.locator("#ctx-budget").get_attribute("data-limit")
    boxed = page.locator('input[aria-label^="Max tokens"]').first.input_value()
    return during, during / 3, max(0.0, seen[-1][0] - released), f"{shown} of {final}", boxed


def test_first_useful_picture(tmp_path, capsys):
    """From the start of the process to the budget bar in the browser: with an empty database, and again."""
    rows = []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for label in ("first start (loads the sample)", "second start"):
            began = time.monotonic()
            with serving(tmp_path) as app:
                healthy = time.monotonic() - began
                page = browser.new_page(viewport={"width": 1400, "height": 1000})
                page.goto(f"{app}/?data=sample")
                page.locator("#ctx-text").wait_for()
                rows.append((label, healthy, time.monotonic() - began))
                page.close()
        browser.close()
    with capsys.disabled():
        show("First useful picture, seconds from process start", ("", "server healthy", "budget bar and text drawn"), rows)
