"""A report in a browser, from its file: nothing runs, nothing is asked for, and nothing stands beside its column."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest

from ctxasm.app.report.page import LIMIT, POLICY, Writer
from ctxasm.app.report.runs import Funnel, runs_html
from tests.app.test_report import PAYLOADS, hostile_run, said_of

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)


def test_no_payload_runs_and_nothing_is_asked_for(browser, tmp_path):
    file = tmp_path / "r.html"
    runs = [hostile_run(payload, f"r{at}") for at, payload in enumerate(PAYLOADS)]
    asked, ran = [], []
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.expose_function("boom", lambda said: ran.append(said))
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (ran.append(dialog.message), dialog.dismiss()))
    shown = 0
    while shown < len(runs):
        some = runs[shown : shown + 12]
        said = [each for run, payload in zip(some, PAYLOADS[shown:], strict=False) for each in said_of(run, payload)]
        file.write_text(
            runs_html(some, said, {run.run_id: Funnel(None, (), run.question) for run in some}, Writer(), "0"), encoding="utf-8"
        )
        page.goto(file.as_uri())
        page.mouse.move(100, 300)
        drawn = page.locator("section").count()
        assert drawn >= 1
        shown += drawn
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("document.querySelectorAll('script,iframe,object,img,a,form,[onload],[onerror]').length") == 0
    page.close()
    assert ran == []
    assert {url.partition(":")[0] for url in asked} == {"file"}
    assert set(asked) == {file.as_uri()}


def downloaded(page, name: str | None = None) -> str:
    """What the button writes: a whole report. `name` is that of its file."""
    with page.expect_download() as started:
        page.get_by_role("button", name="Report", exact=True).click()
    assert name in (None, started.value.suggested_filename)
    text = Path(started.value.path()).read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert POLICY in text
    assert "<script" not in text
    assert len(text.encode()) <= LIMIT
    return text


def test_the_button_of_compare_writes_the_report(app, open_page):
    page = open_page(f"{app}/compare?data=sample&a=default&mt=2000&view=all")
    expect(page.locator("#ctx-comparison")).to_be_visible()
    said = page.locator("#ctx-comparison").inner_text()
    assert escape(said) in downloaded(page, "comparison.html")


def test_the_button_of_sweep_writes_the_report(app, open_page):
    page = open_page(f"{app}/sweep?data=sample&grid=expand_window=1;max_tokens=1000,3000;budget_policy=segments")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#ctx-recommended")).to_contain_text("n = ", timeout=180_000)
    assert "max tokens" in downloaded(page, "sweep-sample.html").lower()
