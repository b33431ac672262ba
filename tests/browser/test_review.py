"""Review in a real browser: twenty answers by keyboard alone, blind first, hostile texts, read by axe."""

from __future__ import annotations

import re

import pytest

from ctxasm.model.runs import Run, RunSource

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)

ANSWERS = 20
PAYLOADS = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "</style><svg onload=window.hacked=1>",
    "\"'><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "[x](javascript:window.hacked=1) $x$ :red[x] {{7*7}}",
    "</textarea><details open ontoggle=window.hacked=1>",
]
# When the focus reaches the next claim after a key, in milliseconds.
WATCH = """() => {
  window.keyed = [];
  const focused = (root = document) => root.activeElement?.shadowRoot ? focused(root.activeElement.shadowRoot) : root.activeElement;
  let keys = 0;
  addEventListener('keydown', (event) => {
    const own = ++keys, began = performance.now(), before = focused()?.closest('.line')?.dataset.at;
    const look = () => {
      const row = focused()?.closest('.line')?.dataset.at;
      if (own !== keys) return;
      if (row !== undefined && row !== before) window.keyed.push(performance.now() - began);
      else if (performance.now() - began < 5000) requestAnimationFrame(look);
    };
    if (/^[1-5]$/.test(event.key)) requestAnimationFrame(look);
  }, true);
}"""


def row(at: int, text: str = "") -> Run:
    first = f"Meals come at {at} {text}"
    answer = f"{first} [1]. Visits end at eight [1][2]."
    wrong, lost = ({"support": support, "citation": "right"} for support in ("contradicted", "not_found"))
    second = {"start": len(first) + 6, "end": len(first) + 26, "text": "Visits end at eight", "kind": "sentence", "markers": [1, 2]}
    claims = [
        {"start": 0, "end": len(first), "text": first, "kind": "sentence", "markers": [1], "axes": wrong},
        second | {"axes": lost},
    ]
    sources = (
        RunSource(
            1, f"Meals come at {at}. {text} Visits end at nine.", f"Guide {text}", f"d{text}", (0,), page_number=at, date="2025-01-01"
        ),
        RunSource(2, f"Visits end at eight. {text}", f"Ward {text}", "e", (0,)),
    )
    return Run(
        f"r{at:02}", f"2026-11-28T10:{at:02}", f"Question {at}? {text}", answer, {"claims": claims}, dataset="sample", author=text,
        model=text, sources=sources, reference=f"Reference {at} {text}",
    )  # fmt: skip


@pytest.fixture
def address(tmp_path, request):
    """A server of its own whose database holds these runs."""
    from ctxasm.app.workbench import Workbench
    from ctxasm.config import read_config
    from tests.browser.conftest import serving

    bench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{tmp_path / 'browser.db'}"}))
    bench.load_sample()
    bench.store.keep_runs(request.param)
    bench.close()
    with serving(tmp_path) as url:
        yield url


def begin(page) -> None:
    box = page.get_by_label("Your name")
    box.fill("An")
    box.press("Enter")
    expect(page.locator("#verdict-1")).to_have_count(1)
    expect(page.locator(".line.current .claim").first).to_be_focused()  # the keys work at once


@pytest.mark.parametrize("address", [[row(at) for at in range(ANSWERS)]], indirect=True, ids=["twenty"])
def test_twenty_answers_are_reviewed_by_keyboard_alone_and_nothing_is_seen_before(address, open_page):
    page = open_page(f"{address}/review?data=sample", width=1440, height=900)
    begin(page)
    page.evaluate(WATCH)
    keys = page.keyboard
    for at in range(ANSWERS):
        expect(page.locator("#ctx-title")).to_contain_text(f"answer {at + 1} of {ANSWERS}")
        expect(page.locator(".line.current")).to_have_attribute("data-at", "0")
        assert "Checker" not in page.locator("#ctx-reader").inner_text()
        if at == 0:  # every other key, once
            keys.press("j")
            expect(page.locator(".line.current")).to_have_attribute("data-at", "1")
            keys.press("k")
            expect(page.locator(".line.current .claim").first).to_be_focused()
            keys.press("Enter")
            expect(page.locator(".seg.hit-cited").first).to_be_focused()
            keys.press("Escape")
            keys.press("c")
            expect(page.locator("#review-note")).to_be_focused()
            keys.type("1 note 2 c s")
            keys.press("Escape")
            keys.press("g")
            expect(page.locator("#reference")).to_contain_text("Reference")
            keys.press("3")
            expect(page.locator('.line[data-at="0"] .verdict')).to_contain_text("wrong source")
            keys.press("u")
            expect(page.locator('.line[data-at="0"] .verdict')).to_contain_text("not judged")
            expect(page.locator(".line.current")).to_have_attribute("data-at", "0")
        for key in "512":
            keys.press(key)
        keys.press("1")
        expect(page.locator("#ctx-progress")).to_contain_text(f"{at + 1} of {ANSWERS} answers judged")
        expect(page.locator('.line[data-at="0"] .verdict')).to_contain_text("wrong fact")
        if at + 1 < ANSWERS:
            keys.press("Shift+Enter")
    keys.press("k")
    expect(page.locator("#differences")).to_contain_text("Checker")
    times = sorted(page.evaluate("window.keyed"))
    assert len(times) >= ANSWERS
    print(f"key to next claim focused: p50 {times[len(times) // 2]:.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms, n {len(times)}")
    page.reload()
    expect(page.locator("#ctx-progress")).to_contain_text(f"{ANSWERS} of {ANSWERS} answers judged")


@pytest.mark.parametrize("address", [[row(at, text) for at, text in enumerate(PAYLOADS)]], indirect=True, ids=["hostile"])
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (820, "dark"), (390, "dark")])
def test_hostile_texts_do_nothing_and_axe_finds_nothing_of_ours(address, open_page, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(f"{address}/review?data=sample", width=width, height=900, scheme=scheme)
    begin(page)
    keys = page.keyboard

    def read(what: str) -> None:
        expect(page.locator(what)).to_have_count(1)  # what was drawn before may still be going
        expect(page.locator(what)).to_be_visible()
        expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("window.hacked") is None
        found = axe.run(page).response["violations"]
        ours = [
            f"{v['id']}: {node['html'][:160]}"
            for v in found
            for node in v["nodes"]
            if re.search("cx-|ctx-|review-|verdict|claim|judge", node["html"])
        ]
        assert ours == []

    read("#judge")
    for at, text in enumerate(PAYLOADS):
        expect(page.locator("#ctx-title")).to_contain_text(f"answer {at + 1} of")
        expect(page.locator('.line[data-at="0"]')).to_contain_text(f"Meals come at {at} ")
        expect(page.locator(".line.current")).to_have_attribute("data-at", "0")
        keys.press("c")
        keys.insert_text(text)
        keys.press("Escape")
        for key in "1111":
            keys.press(key)
        keys.press("g")
        expect(page.locator("#ctx-progress")).to_contain_text(f"{at + 1} of {len(PAYLOADS)} answers judged")
        if at + 1 < len(PAYLOADS):
            keys.press("Shift+Enter")
    read("#judge")
    page.get_by_text("Agreement and gold", exact=True).click()
    read("#ctx-agreement")
    page.get_by_text("History", exact=True).click()
    read("#ctx-runs")
