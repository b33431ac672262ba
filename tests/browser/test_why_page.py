"""Yesterday's failure in one paste, in a real browser: from the paste to the sentence, with no click more than two; read by axe."""

from __future__ import annotations

import json
import re

import pytest

from tests.tuning.test_why import FACT, record

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
TRACE = json.dumps([record("I do not know.", (0, 2), reference_answer=FACT)])
PLAIN = """Cite your sources as [n].

[1] Mooring for a day costs twelve euros.

[2] The museum opens at ten.

Question: What does mooring cost?
Answer: Mooring for a day costs fifteen euros [1]."""


def paste(page, text: str) -> None:
    """Two clicks: the popover, and its second button."""
    page.get_by_role("button", name="Paste text").click()
    page.locator('[data-testid="stPopoverBody"] textarea').fill(text)
    page.get_by_role("button", name="Why this answer?").click()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (820, "dark"), (390, "light")])
def test_a_paste_opens_with_the_sentence_beside_what_was_sent(other_app, open_page, width, scheme):
    page = open_page(f"{other_app}/load", width=width, height=900, scheme=scheme)
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    paste(page, TRACE)
    expect(page.locator("#ctx-why")).to_contain_text(f"Retrieved at rank 2, but not in the prompt that was sent: “{FACT}”")
    expect(page).to_have_url(re.compile("a=sent"))
    expect(page.locator('#ctx-bars [data-side="A"] .cx-part')).to_have_count(2)
    expect(page.locator('#ctx-bars [data-side="A"] .cx-limit')).to_have_count(0)
    expect(page.locator("#ctx-chunks")).to_contain_text("1 only in B")
    page.locator("#ctx-prompts summary").click()
    expect(page.locator("#ctx-prompts")).to_contain_text("Answer from the context, and cite [n].")
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.run(page).response["violations"]
    assert [f"{v['id']}: {node['html'][:120]}" for v in found for node in v["nodes"] if "cx-" in node["html"]] == []
    page.reload()
    expect(page.locator("#ctx-why")).to_contain_text("Retrieved at rank 2")
    box = page.get_by_label("What the answer should have said")
    box.fill("The harbour museum opens at ten in the morning.")
    box.press("Enter")
    expect(page.locator("#ctx-why")).to_contain_text("Sent in [1], but not cited")


def test_a_plain_prompt_with_its_answer_is_enough_and_what_is_none_stays_in_the_box(other_app, open_page):
    page = open_page(f"{other_app}/load")
    paste(page, "Fifteen euros.")
    expect(page.locator(".cx-problems")).to_contain_text("after a line that begins with `Answer:`")
    box = page.locator('[data-testid="stPopoverBody"] textarea')
    expect(box).to_have_value("Fifteen euros.")
    box.fill(PLAIN)
    page.get_by_role("button", name="Why this answer?").click()
    expect(page.locator("#ctx-why")).to_contain_text(
        "Sent in [1], but contradicted by the answer (“fifteen euros” there, “twelve euros” in the source)"
    )
