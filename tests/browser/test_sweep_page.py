"""Sweep in a real browser: from Start to the recommendation, read by axe; a link and a row open Inspect, here or in a tab of their own."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_start_leads_to_the_recommendation_and_axe_finds_nothing_of_ours(app, open_page, width, scheme):
    page = open_page(f"{app}/sweep?data=sample", width=width, height=900, scheme=scheme)
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#ctx-recommended")).to_contain_text("n = ")
    expect(page.locator("#ctx-decision")).to_be_visible()
    behind = page.locator("#ctx-said p").first
    expect(behind).to_be_hidden()
    page.locator("#ctx-said summary").click()
    expect(behind).to_be_visible()
    expect(page.locator(".cx-heat-cell")).to_have_count(9)
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    page.locator(".cx-heat-cell").nth(2).click()
    expect(page.locator("#ctx-cell")).to_contain_text("Against your settings")
    expect(page.locator('.cx-heat-cell[aria-pressed="true"]')).to_have_count(1)
    frame, picture = page.locator(".cx-heat-cell").nth(2).bounding_box(), page.locator("#ctx-heatmap").bounding_box()
    assert frame["x"] + frame["width"] + 4 <= picture["x"] + picture["width"]  # its frame is 4 px wide
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    ours = [f"{v['id']}: {node['html'][:120]}" for v in found for node in v["nodes"] if "cx-" in node["html"]]
    assert ours == []
    table = page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    expect(table.locator("tr").nth(1)).to_contain_text("82")  # of so many questions: what is out of view is not drawn
    with page.context.expect_page() as opened:
        page.locator("#ctx-recommended").get_by_role("link", name="Inspect").click(modifiers=["ControlOrMeta"])
    expect(opened.value.locator("#ctx-budget")).to_be_visible()
    expect(opened.value).to_have_url(re.compile("data=sample"))
    opened.value.close()
    page.locator("#ctx-cell").get_by_role("link", name="Compare").click()
    expect(page.locator("#ctx-comparison")).to_be_visible()
    expect(page).to_have_url(re.compile("/compare.*a=.*view=all"))
    page.go_back()
    expect(page.locator("#ctx-cell")).to_contain_text("Against your settings")
    page.locator("#ctx-recommended").get_by_role("link", name="Inspect").click()
    expect(page.locator("#ctx-budget")).to_be_visible()
    assert len(page.context.pages) == 1


@pytest.mark.parametrize("width", [1440, 390])
def test_a_row_is_picked_by_mouse_and_keys_and_opens_in_this_tab(app, open_page, width):
    page = open_page(f"{app}/sweep?data=sample&grid=budget_policy=segments", width=width, height=900)
    page.get_by_role("button", name="Start").click()
    table, row = page.get_by_test_id("stDataFrame"), page.locator("#ctx-row")
    expect(table.locator("tr").nth(1)).to_contain_text("82")
    table.scroll_into_view_if_needed()
    at = table.bounding_box()
    first = table.locator("#glide-cell-3-0")
    best = first.inner_text()
    page.mouse.click(at["x"] + 90, at["y"] + 17)  # the head sorts
    expect(first).not_to_have_text(best)
    page.mouse.click(at["x"] + 90, at["y"] + 52)
    expect(row).to_contain_text(f"{float(first.inner_text()):,.0f} tokens each")
    before = row.inner_text()
    page.keyboard.press("ArrowDown")
    expect(row).not_to_have_text(before)
    link = row.get_by_role("link", name="Inspect")
    for _ in range(12):
        page.keyboard.press("Tab")
        if link.evaluate("a => a === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("#ctx-budget")).to_be_visible()
    expect(page).to_have_url(re.compile("pk=segments"))
    assert len(page.context.pages) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chosen_values_are_read_in_both_themes(app, open_page, scheme):
    page = open_page(f"{app}/sweep?data=sample", width=1440, height=900, scheme=scheme)
    expect(page.locator(".st-key-sweep_axes").get_by_text("drop documents")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    options = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    found = axe.run(page, context=".st-key-sweep_axes", options=options).response
    assert [node["html"][:120] for rule in found["violations"] for node in rule["nodes"]] == []
    assert any("drop documents" in node["html"] for rule in found["passes"] for node in rule["nodes"])
