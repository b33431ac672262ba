"""Show me in a real browser: five steps on one page, each a link, each opening its own state; nothing leaves loopback."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
STEPS = 5


def steps(page):
    shown = page.locator("section.cx-step")
    expect(shown).to_have_count(STEPS)
    return shown


def test_the_button_on_the_first_page_leads_there_and_all_steps_stand_under_one_another(app, open_page):
    page = open_page(f"{app}/?data=sample")
    page.get_by_role("link", name="Show me").click()
    expect(page).to_have_url(re.compile("/show-me"))
    tops = [step.bounding_box()["y"] for step in steps(page).all()]
    assert tops == sorted(tops)
    for step in steps(page).all():
        step.scroll_into_view_if_needed()
        expect(step.get_by_role("heading", level=2)).to_be_in_viewport()
    expect(page.get_by_role("link", name="Show me")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
def test_every_part_of_a_page_is_seen_on_its_bar(app, open_page, width):
    page = open_page(f"{app}/show-me", width=width)
    bars = steps(page).nth(2).locator(".cx-track")
    expect(bars).to_have_count(2)
    for bar in bars.all():
        track = bar.bounding_box()
        for part in bar.locator(".cx-part").all():
            box = part.bounding_box()
            assert track["y"] < box["y"] < box["y"] + box["height"] <= track["y"] + track["height"] + 1
        right = 0
        for part in bar.locator(".cx-part").all():
            assert part.bounding_box()["x"] >= right - 1
            right = part.bounding_box()["x"] + part.bounding_box()["width"]


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_a_step_is_a_link(app, open_page, step):
    page = open_page(f"{app}/show-me?step={step}", height=700)
    expect(steps(page).nth(step - 1).get_by_role("heading", level=2)).to_be_in_viewport()
    own = steps(page).nth(step - 1).get_by_role("link", name=f"Link to step {step}")
    assert own.evaluate("link => new URL(link.href).pathname + new URL(link.href).search").endswith(f"/show-me?step={step}")


@pytest.mark.parametrize(("step", "address"), [(1, "on=false"), (2, "q=child-operation-cold"), (3, "mt=")])
def test_a_step_opens_its_state_in_inspect(app, open_page, step, address):
    page = open_page(f"{app}/show-me")
    shown = steps(page).nth(step - 1)
    needs = shown.locator("[data-missing]").get_attribute("data-missing") if step == 3 else None
    shown.get_by_role("link", name="Open in Inspect").click()
    expect(page.locator("#ctx-title")).to_contain_text("When must my daughter stop", timeout=60_000)
    expect(page).to_have_url(re.compile(address))
    if needs:
        expect(page.locator("#ctx-budget")).to_contain_text(f"needs {needs} more")


def test_a_step_opens_its_answer_on_ask_and_back_returns_to_the_step(app, open_page):
    page = open_page(f"{app}/show-me")
    step = steps(page).nth(3)
    (wrong,) = step.locator("del").all_inner_texts()
    step.get_by_role("link", name="Open this answer on Ask").click()
    expect(page).to_have_url(re.compile(r"/ask\?.*q=child-operation-cold"))
    expect(page.locator("#ctx-title")).to_contain_text("When must my daughter stop")
    expect(page.locator("#ctx-asked")).to_contain_text("recorded answer")
    expect(page.get_by_text(wrong, exact=False).first).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(r"/show-me\?.*step=4"))
    expect(steps(page).nth(3).get_by_role("heading", level=2)).to_be_in_viewport()


@pytest.mark.parametrize(("link", "way"), [("Your documents", "Documents"), ("Your log", "Files & paste")])
def test_the_ways_on_open_their_tab_and_back_returns(app, open_page, link, way):
    page = open_page(f"{app}/")
    expect(page).to_have_url(re.compile("/show-me"))  # where a newcomer lands
    expect(page.locator("#ctx-benefit")).to_contain_text("points [")
    page.get_by_role("link", name=link).click()
    expect(page.get_by_role("tab", name=way)).to_have_attribute("aria-selected", "true")
    page.go_back()
    steps(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_is_cut_off_and_axe_finds_nothing_of_ours(app, open_page, width, scheme):
    page = open_page(f"{app}/show-me", width=width, height=900, scheme=scheme)
    steps(page)
    cut = page.evaluate(
        "[...document.querySelectorAll('.cx-step *')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0"
        " && getComputedStyle(e).overflowX !== 'visible' && !e.closest('.cx-track')).map(e => e.className)"
    )
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    ours = [f"{v['id']}: {node['html'][:120]}" for v in found for node in v["nodes"] if "cx-" in node["html"]]
    assert ours == []
