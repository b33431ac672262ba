"""How much stands on Inspect, how much a change sends, and whether the page keeps still: bounds, and the figures with `-s`.

Counted is what can be seen in a window of 1440×900, without the text that is quoted from sources and Streamlit's own menu. A control is
what can be used now; a group of choices of which one is taken (window, funnel), and all chunks of the picture, are one.
"""

from __future__ import annotations

import itertools
import json
import re

import pytest

from tests.browser.test_workbench import settled

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
MOST_WORDS, MOST_MESSAGES, MOST_BYTES, MOST_SHIFT = 150, 40, 40_000, 0.05
SEEN = """
() => {
  const seen = e => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    return box.width > 1 && box.height > 1 && box.bottom > 0 && box.top < innerHeight && box.left < innerWidth && box.right > 0
      && style.visibility !== 'hidden' && style.opacity !== '0'
      && e.checkVisibility() && !e.closest('.cx-text, [data-testid=stIconMaterial]');
  };
  const words = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode, parent = at.parentElement;
    if (['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(parent.tagName) || !seen(parent)) continue;
    const range = document.createRange(), picture = parent.closest('.st-key-picture');
    const edge = parent.getBoundingClientRect(), foot = Math.min(innerHeight, picture?.getBoundingClientRect().bottom ?? innerHeight);
    for (const word of at.textContent.matchAll(/\\S*\\p{L}\\S*/gu)) {
      range.setStart(at, word.index); range.setEnd(at, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      // What is cut off with an ellipsis, or lies below the edge of its box, cannot be read.
      if (box.top < foot && box.left < edge.right && box.right <= edge.right + 2) words.push(word[0]);
    }
  }
  const groups = new Set(), controls = [];
  const roots = [document, ...[...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(root => root)];
  const all = roots.flatMap(root => [...root.querySelectorAll('button, input, select, textarea, a[href], summary, [role=combobox]')]);
  for (const e of all) {
    if ((!seen(e) && e.type !== 'checkbox') || e.disabled || e.closest('[data-testid=stMainMenu]')) continue;
    if (e.closest('[role=combobox]') !== e && e.closest('[role=combobox]')) continue;
    const group = e.closest('[role=radiogroup], .cx-cells, [data-testid=stSelectbox]');
    const whole = e.closest('.cx-cells') ? e.closest('.cx-map') : group;
    if (whole) { if (groups.has(whole)) continue; groups.add(whole); }
    controls.push(e.getAttribute('aria-label') || e.innerText || e.type);
  }
  return { words, controls };
}
"""
SHIFT = """
() => { window.shift = 0; new PerformanceObserver(list => { for (const entry of list.getEntries()) window.shift += entry.value; })
  .observe({ type: 'layout-shift', buffered: false }); }
"""
PLACES = """
() => [document.querySelector('.st-key-picture').scrollTop, document.getElementById('ctx-text').getBoundingClientRect().top]
"""


@pytest.mark.parametrize(("changed", "most"), [("", 19), ("&k=6", 22)])
def test_a_stranger_has_little_to_read(app, open_page, capsys, changed, most):
    """First where no advice is offered; then with an offer, its link to Compare, and the way back to the defaults."""
    page = open_page(f"{app}/?data=sample{changed}", width=1440, height=900)
    settled(page, 8000)
    expect(page.locator("[data-advice]:not([data-advice=waits])")).to_have_count(1)
    expect(page.locator("#ctx-ledger")).to_be_in_viewport(ratio=1)
    expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0)
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    found = page.evaluate(SEEN)
    with capsys.disabled():
        print(f"\nInspect at 1440x900: {len(found['words'])} words, {len(found['controls'])} controls")
        print(json.dumps(found["controls"], ensure_ascii=False))
    assert len(found["words"]) <= MOST_WORDS, " ".join(found["words"])
    assert len(found["controls"]) <= most, found["controls"]


def test_a_change_of_max_tokens_sends_little_and_moves_nothing(app, open_page, capsys):
    received: list[int] = []
    page = open_page(f"{app}/?data=sample", width=1440, height=900)
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    page.reload()
    settled(page, 8000)
    expect(page.locator("[data-advice]:not([data-advice=waits])")).to_have_count(1)
    expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0)
    page.evaluate(SHIFT)
    page.locator(".st-key-picture").evaluate("e => { e.scrollTop = 60; }")
    top = page.evaluate(PLACES)
    received.clear()
    box = page.locator('input[aria-label^="Max tokens"]').first
    box.fill("3000")
    box.press("Enter")
    settled(page, 3000)
    expect(page.locator("#ctx-change")).to_be_visible()
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
    sent, size = len(received), sum(received)
    expect(page.locator("[data-advice=waits]")).to_have_count(0)
    shift = page.evaluate("() => window.shift")
    with capsys.disabled():
        print(f"\nChange of max tokens: {sent} messages, {size} bytes, layout shift {shift:.3f}; with the advice {len(received)} messages")
    assert sent <= MOST_MESSAGES
    assert size <= MOST_BYTES
    assert shift <= MOST_SHIFT
    now = page.evaluate(PLACES)
    assert now == top


STAYS = "#ctx-title h1, .st-key-mt, .st-key-on, .st-key-reset, .st-key-copy_link, .st-key-funnel, .cx-plot, .st-key-said, #ctx-text"
BOXES = """
stays => [...document.querySelectorAll(stays)].map(one => one.getBoundingClientRect()).map(box => [box.left, box.top, box.width])
"""
VOID = """
() => document.querySelector('#ctx-text').getBoundingClientRect().top - document.querySelector('#ctx-map').getBoundingClientRect().bottom
"""


def places(page) -> list[list[float]]:
    """Where these elements stand, once two looks in a row agree."""
    looks = [page.evaluate(BOXES, STAYS)]
    while len(looks) < 2 or (looks[-1] != looks[-2] and len(looks) < 60):
        page.wait_for_timeout(500)
        looks.append(page.evaluate(BOXES, STAYS))
    return looks[-1]


def test_a_preset_moves_nothing_and_names_the_neighbours_by_value(app, open_page):
    page = open_page(f"{app}/?data=sample", width=1440, height=900)
    settled(page, 8000)
    page.get_by_role("button", name="All settings").click()
    expect(page.get_by_label("Find a setting")).to_be_visible()
    drawer, text = page.locator(".st-key-drawer").bounding_box(), page.locator("#ctx-text").bounding_box()
    assert text["x"] + text["width"] <= drawer["x"]
    before = places(page)
    page.locator(".st-key-preset").get_by_role("combobox").click()
    page.get_by_role("option", name="recommended").click()
    expect(page.get_by_role("combobox", name="Neighbours, changed")).to_have_value("up to 6, by value")
    expect(page.locator("#ctx-change")).to_be_visible()
    expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0)
    assert places(page) == before


@pytest.mark.parametrize("width", [390, 820])
def test_a_narrow_page_shows_the_whole_question_and_the_way_to_the_next(app, open_page, width):
    page = open_page(f"{app}/?data=sample", width=width, height=900)
    settled(page, 8000)
    heading = page.locator("#ctx-title h1")
    assert heading.evaluate("heading => heading.scrollHeight <= heading.clientHeight + 1")
    assert page.evaluate(VOID) < 60
    ticks = page.locator("#ctx-budget .cx-axis span:visible").evaluate_all("all => all.map(one => one.getBoundingClientRect())")
    assert all(one["right"] + 4 < other["left"] for one, other in itertools.pairwise(ticks))
    page.locator(".st-key-next_question button" if width < 769 else ".st-key-next_query button").filter(visible=True).first.click()
    expect(page).to_have_url(re.compile("q="))
    expect(heading).not_to_have_text("What are the visiting hours on an ordinary ward, and how many of us can come at once?")
