"""Compare in a real browser: A is pinned on Inspect and survives a reload; a click opens a question; read by axe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)


def test_a_pinned_setting_travels_from_inspect_to_compare_and_over_a_reload(app, open_page):
    page = open_page(f"{app}/?data=sample", width=1440, height=900)
    box = page.locator('input[aria-label^="Max tokens"]').first
    box.fill("4000")
    box.press("Enter")
    page.get_by_role("button", name="Pin as A").click()
    expect(page).to_have_url(re.compile("a=mt%3D4000"))
    box.fill("2000")
    box.press("Enter")
    expect(page).to_have_url(re.compile("mt=2000"))
    page.get_by_role("link", name="Compare").click()
    expect(page.locator("#ctx-versus")).to_contain_text("4,000")
    page.reload()
    expect(page.locator("#ctx-versus")).to_contain_text("2,000")
    expect(page.locator('#ctx-bars [data-side="B"] .cx-limit')).to_have_attribute("data-limit", "2000")


def test_on_a_phone_a_is_pinned_beside_details_and_the_steps_with_a_unit_are_whole(app, open_page):
    page = open_page(f"{app}/?data=sample", width=390, height=844)
    box = page.locator('input[aria-label^="Max tokens"]').first
    box.fill("4000")
    box.press("Enter")
    details = page.get_by_role("button", name="Details")
    expect(page.locator("#ctx-change")).to_be_visible()
    page.get_by_role("button", name="Pin as A").click()
    expect(page).to_have_url(re.compile("a=mt%3D4000"))
    pinned = page.get_by_role("button", name="Pinned as A").bounding_box()
    assert pinned["x"] >= 0
    assert pinned["x"] + pinned["width"] <= details.bounding_box()["x"]
    for step in ("found", "repeated"):
        text = page.locator(".st-key-funnel button p").filter(has_text=step)
        assert text.evaluate("p => p.scrollWidth <= p.clientWidth && p.parentElement.scrollWidth <= p.parentElement.clientWidth"), step


def test_on_a_phone_the_numbers_of_a_document_are_whole_or_not_there(app, open_page):
    page = open_page(f"{app}/?data=sample&on=false", width=390, height=844)
    numbers = page.locator("#ctx-budget .cx-tag b")
    expect(numbers).not_to_have_count(0)
    cut = numbers.evaluate_all(
        "all => all.map(b => [b.textContent, b.getBoundingClientRect(), b.parentElement.getBoundingClientRect()])"
        ".filter(([, b, tag]) => b.width && (b.left < tag.left - 0.5 || b.right > tag.right + 0.5)).map(([text]) => text)"
    )
    assert cut == []


@pytest.mark.parametrize("width", [390, 820, 1000, 1120, 1440])
def test_all_steps_are_in_view_and_the_controls_take_two_lines(app, open_page, width):
    page = open_page(f"{app}/?data=sample&w=2", width=width, height=844)
    expect(page.get_by_role("button", name="Reset 1")).to_be_enabled()
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    steps = page.locator(".st-key-funnel button")
    expect(steps).to_have_count(7)
    cut = steps.evaluate_all(
        "all => all.filter(b => { const box = b.getBoundingClientRect(), p = b.querySelector('p');"
        " return box.left < 0 || box.right > innerWidth + 1 || p.scrollWidth > p.clientWidth }).map(b => b.innerText)"
    )
    assert cut == []
    feet = page.locator(".st-key-controls > *").evaluate_all("all => all.map(e => Math.round(e.getBoundingClientRect().bottom / 30))")
    assert len(set(feet)) <= 2, feet


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (820, "dark"), (390, "dark")])
def test_a_click_opens_a_question_and_axe_finds_nothing_of_ours(app, open_page, width, scheme):
    page = open_page(f"{app}/compare?data=sample&a=default&mt=2000", width=width, height=900, scheme=scheme)
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def read(what: str) -> None:
        expect(page.locator(what)).to_be_visible()
        expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = axe.run(page).response["violations"]
        assert [f"{v['id']}: {node['html'][:120]}" for v in found for node in v["nodes"] if "cx-" in node["html"]] == []

    read("#ctx-chunks")
    page.get_by_role("button", name="Ask both").or_(page.locator("#ctx-answers")).first.click()
    read("#ctx-answers")
    page.get_by_text("Blind review").click()
    read("#ctx-blind")
    shown = page.locator("#ctx-asked").inner_text()
    expect(page).to_have_title("Compare · ctxasm")
    page.get_by_placeholder("Note").fill("=1+1")
    page.get_by_role("button", name="Right").click()
    expect(page.locator("#ctx-asked")).not_to_have_text(shown)
    page.reload()
    expect(page.locator("#ctx-judged")).to_contain_text("1 judged")
    page.get_by_role("button", name="Who is who").click()
    read("#ctx-judgements")
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    assert ",'=1+1," in Path(saved.value.path()).read_text()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#ctx-asked")).to_have_text(shown)
    expect(page.get_by_placeholder("Note")).to_have_count(1)
    expect(page.get_by_placeholder("Note")).to_have_value("=1+1")
    page.get_by_text("All questions", exact=True).click()
    page.locator("#ctx-questions summary").click()
    expect(page.locator('#ctx-questions [data-change="unchanged"]').first).to_be_visible()
    read("#ctx-questions")
    row = page.locator("#ctx-questions a").nth(3)
    words = row.inner_text()
    row.click()
    expect(page.locator("h1")).to_have_text(words.removesuffix("…"))
    expect(page.locator("#ctx-chunks")).to_be_visible()
    page.go_back()
    expect(page.locator("#ctx-questions")).to_be_visible()
    page.reload()
    expect(page.locator("#ctx-questions")).to_be_visible()
