"""A typed question in a real browser: searched for, inspected, answered, saved, and the same again from its link."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
QUESTION = "Mag mijn partner blijven slapen?"


def ask(page, question: str) -> None:
    box = page.get_by_label("Ask your own question").first
    box.fill(question)
    box.press("Enter")
    expect(page.locator("#ctx-title")).to_contain_text(question)


def test_from_question_to_link_and_back(app, open_page):
    page = open_page(f"{app}/?w=2&qn=10")
    expect(page.locator("#ctx-budget")).to_be_visible()
    ask(page, QUESTION)
    expect(page.locator(".st-key-funnel").get_by_role("radio", name="found")).to_contain_text("10")
    title = page.locator("#ctx-title")
    expect(title).to_contain_text("not saved")
    page.locator(".st-key-funnel").get_by_role("radio", name="found").click()
    for badge in ("hybrid", "by words (BM25)", "closest in meaning"):
        expect(page.locator("#ctx-hits")).to_contain_text(badge)
    expect(page).to_have_url(re.compile(r"(?=.*ask=Mag)(?=.*w=2)(?=.*qn=10)"))
    tokens = page.locator("#ctx-budget").get_attribute("data-tokens")
    again = open_page(page.url)
    expect(again.locator("#ctx-title")).to_contain_text(QUESTION)
    expect(again.locator("#ctx-budget")).to_have_attribute("data-tokens", tokens)
    expect(page.locator("#ctx-hits tbody tr")).to_have_count(10)
    expect(page.locator("#ctx-hits thead")).to_contain_text("BM25")
    page.get_by_role("link", name="Ask").click()
    expect(page.locator("#ctx-title")).to_contain_text(QUESTION)
    page.get_by_role("button", name=re.compile("^Ask")).first.click()
    expect(page.get_by_role("button", name=re.compile("^Ask again"))).to_be_visible()


def test_saved_it_is_a_query_of_the_set_until_it_is_deleted(app, open_page):
    page = open_page(f"{app}/?data=sample")
    expect(page.locator("#ctx-budget")).to_be_visible()
    ask(page, "Hoe betaal ik mijn parkeerticket?")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile(r"q=typed-[0-9a-f]+"))
    expect(page.locator("#ctx-title")).not_to_contain_text("not saved")
    page.reload()
    expect(page.locator("#ctx-title")).to_contain_text("Hoe betaal ik mijn parkeerticket?")
    page.get_by_role("button", name="Unsave", exact=True).click()
    expect(page).to_have_url(re.compile(r"ask=Hoe"))
    expect(page.locator("#ctx-title")).to_contain_text("not saved")


def test_a_question_that_attacks_stays_text(app, open_page):
    page = open_page(f"{app}/?data=sample")
    expect(page.locator("#ctx-budget")).to_be_visible()
    ask(page, "<img src=x onerror=alert(1)> ![a](https://outside.example/x.png) parkeren?")
    assert page.locator("img[src=x], img[src*=outside]").count() == 0


def test_a_phone_asks_too(app, open_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(f"{app}/?ask=Wat kost parkeren?", width=390)
    expect(page.locator("#ctx-title")).to_contain_text("Wat kost parkeren?")
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth + 1")
    serious = [v for v in axe.run(page).response["violations"] if v["impact"] == "critical"]
    assert [(v["id"], v["nodes"][0]["html"][:160]) for v in serious] == []
