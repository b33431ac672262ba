"""A switched policy in a real browser: the strip that says what it did, the way back, and the new chunks on the bar."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
STRIP = "#ctx-change"
WAITS, READY = "[data-advice=waits]", "[data-advice]:not([data-advice=waits])"


def switch_policy(page, policy: str) -> None:
    page.get_by_role("button", name="All settings").click()
    page.get_by_label("Find a setting").fill("whole documents leave")
    page.keyboard.press("Enter")
    box = page.get_by_role("combobox", name=re.compile("^Budget policy")).first
    box.click()
    box.fill(policy)
    page.get_by_role("option", name=policy, exact=True).click()


def test_a_switched_policy_says_what_it_changed_and_can_be_undone(app, open_page):
    page = open_page(f"{app}/?q=private-room-cost&mt=2000")
    expect(page.locator("#ctx-ledger")).to_be_visible()
    expect(page.locator(STRIP)).to_have_count(0)
    before = page.locator("#ctx-budget").get_attribute("data-tokens")
    switch_policy(page, "greedy")
    tokens = page.locator(f'{STRIP} [data-delta="tokens"]')
    expect(page.locator(f'{STRIP} [data-setting="budget_policy"]')).to_contain_text("drop documents → greedy")
    expect(tokens).to_have_attribute("data-before", before)
    expect(tokens).to_have_attribute("data-now", page.locator("#ctx-budget").get_attribute("data-tokens"))
    page.get_by_role("button", name="Close").click()
    came = page.locator(f'{STRIP} [data-moved="came in"]')
    expect(page.locator("#ctx-budget .cx-part.new").first).to_be_visible()
    expect(page.locator("#ctx-ledger [data-new]")).to_have_attribute("data-new", came.get_attribute("data-count"))
    index = re.search(r"#(\d+)", came.get_by_role("button").first.inner_text()).group()
    expect(page.locator("html")).to_have_attribute("data-chunk-clicks", "heard")
    came.get_by_role("button").first.click()
    expect(page.locator("#ctx-life h3").first).to_contain_text(index)
    page.get_by_role("button", name="Close").click()
    page.locator(".st-key-undo button").first.click()
    expect(page.locator(f'{STRIP} [data-setting="budget_policy"]')).to_contain_text("greedy → drop documents")
    expect(page.locator("#ctx-budget")).to_have_attribute("data-tokens", before)
    expect(page).not_to_have_url(re.compile(r"pk="))


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_the_strip_fits_its_page(app, open_page, width, scheme):
    page = open_page(f"{app}/?q=private-room-cost&mt=2000", width=width, scheme=scheme)
    apply = page.locator(".st-key-advice").get_by_role("button", name="Apply").first
    expect(apply).to_be_visible()
    apply.click()
    expect(page.locator(STRIP)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_click_at_the_moment_the_page_comes_to_rest_is_not_lost(app, open_page):
    page = open_page(f"{app}/?q=private-room-cost&mt=2000")
    expect(page.locator(READY).first).to_be_visible()
    page.locator("[class*=st-key-] [role=radio]").filter(has_text=re.compile("^2$")).first.click()
    expect(page.locator(WAITS)).to_be_visible()
    # Both reach the server while it draws a third: then it answers them as one.
    page.evaluate("""() => {
        const send = WebSocket.prototype.send, pressed = key => document.querySelector(key).click(), held = [];
        WebSocket.prototype.send = function (sent) {
            held.push(sent);
            if (held.length === 1) setTimeout(pressed, 0, '.st-key-details button');
            if (held.length === 2) setTimeout(pressed, 0, '.st-key-funnel [role=radio][aria-checked=false]');
            if (held.length < 3) return;
            WebSocket.prototype.send = send;
            for (const each of [held[2], held[0], held[1]]) send.call(this, each);
        };
    }""")
    expect(page.get_by_role("button", name="Close")).to_be_visible()
    expect(page.locator(WAITS)).to_have_count(0)


def test_the_page_comes_to_no_rest_while_it_is_touched(app, open_page):
    page = open_page(f"{app}/?q=private-room-cost&mt=2000")
    expect(page.locator(READY).first).to_be_visible()
    page.evaluate("""() => {
        window.touches = setInterval(() => document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true })), 50);
        const send = WebSocket.prototype.send;
        window.sent = [];
        WebSocket.prototype.send = function (sent) { window.sent.push(new TextDecoder().decode(sent)); return send.call(this, sent); };
    }""")
    page.locator("[class*=st-key-] [role=radio]").filter(has_text=re.compile("^2$")).first.click()
    expect(page.locator(WAITS)).to_be_visible()
    page.wait_for_timeout(2000)
    assert not page.evaluate("window.sent.some(each => each.includes('advice_rest'))")
    page.evaluate("clearInterval(window.touches)")
    expect(page.locator(WAITS)).to_have_count(0)
    assert page.evaluate("window.sent.some(each => each.includes('advice_rest'))")
