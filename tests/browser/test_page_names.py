"""What the browser calls each page, and that a link to each of them opens it."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

LINK = "q=contrast-allergie&mt=3000"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("", "Inspect"),
        ("inspect", "Inspect"),
        ("ask", "Ask"),
        ("review", "Review"),
        ("compare", "Compare"),
        ("load", "Load"),
        ("sweep", "Sweep"),
        ("show-me", "Show me"),
        ("show_me", "Show me"),
    ],
)
def test_a_link_to_a_page_opens_it_under_its_name(app, open_page, path, name):
    page = open_page(f"{app}/{path}?{LINK}")
    expect(page.locator("#ctx-title")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("dialog")).to_have_count(0)
    about = r" · \S.{5,60} · ctxasm$" if name in ("Inspect", "Ask", "Compare") else " · ctxasm$"
    expect(page).to_have_title(re.compile(f"^{name}{about}"), timeout=60_000)


def test_the_name_follows_the_question_and_the_page_without_a_reload(app, open_page):
    page = open_page(f"{app}/?{LINK}")
    expect(page).to_have_title(re.compile("^Inspect · .+ · ctxasm$"), timeout=60_000)
    first = page.title()
    page.evaluate("window.sameDocument = true")
    page.locator(".st-key-next_query button").first.click()
    expect(page).not_to_have_title(first)
    expect(page).to_have_title(re.compile("^Inspect · .+ · ctxasm$"))
    question = page.title().removeprefix("Inspect")
    page.get_by_role("link", name="Ask").click()
    expect(page).to_have_title(f"Ask{question}")
    page.get_by_role("link", name="Load").click()
    expect(page).to_have_title("Load · ctxasm")
    assert page.evaluate("window.sameDocument") is True
