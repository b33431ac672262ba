"""The workbench as a person uses it, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / ".github" / "screenshots"
BAR, TEXT = "#ctx-budget", "#ctx-text"


def limit(page):
    return page.locator(BAR)


def settled(page, tokens: int):
    """The whole page speaks of this limit."""
    expect(page.locator(BAR)).to_have_attribute("data-limit", str(tokens))
    stamp = page.locator(BAR).get_attribute("data-stamp")
    expect(page.locator("#ctx-title")).to_have_attribute("data-stamp", stamp)


def numbers(page) -> str:
    return page.locator('input[aria-label^="Max tokens"]').first.input_value()


def test_a_deep_link_on_a_fresh_server_is_the_configuration(tmp_path, open_page):
    from tests.browser.conftest import serving

    with serving(tmp_path) as url:
        page = open_page(f"{url}/inspect?mt=2000&w=2&q=pack-for-stay")
        expect(page.locator(BAR)).to_have_attribute("data-limit", "2000")
        expect(page.locator(".st-key-w").get_by_role("radio", name="2")).to_be_checked()
        expect(page.locator("#ctx-title")).to_contain_text("pack-for-stay", ignore_case=True)
        expect(page.get_by_role("link", name="Ask")).to_be_visible()
        page.reload()
        expect(page.locator(BAR)).to_have_attribute("data-limit", "2000")
        expect(page.get_by_role("link", name="Load")).to_be_visible()


def test_the_path_of_the_default_page_is_that_page(app, open_page):
    page = open_page(f"{app}/inspect?mt=2000&w=2&q=pack-for-stay")
    settled(page, 2000)
    expect(page).to_have_url(re.compile(r"(?=.*mt=2000)(?=.*w=2)(?=.*q=pack-for-stay)"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    settled(page, 2000)


def test_a_changed_setting_has_a_plain_name(app, open_page):
    page = open_page(f"{app}/?mt=3000&w=2&dn=true")
    settled(page, 3000)
    expect(page.get_by_label("Max tokens, changed", exact=True)).to_be_visible()
    assert page.locator('[aria-label*=":blue"]').count() == 0


@pytest.mark.parametrize("width", [1440, 390])
def test_settings_to_copy_have_room(app, open_page, width):
    page = open_page(f"{app}/?mt=3000", width=width, height=900)
    settled(page, 3000)
    page.get_by_role("button", name="All settings").click()
    page.get_by_role("button", name="Copy settings as").click()
    blocks = page.get_by_role("dialog").locator("pre")
    expect(blocks).to_have_count(3)
    for at in range(3):
        expect(blocks.nth(at)).to_be_in_viewport(ratio=0.9)


TEN = "w=2&d=0.7&mo=50&dn=true&nt=0.8&pk=pack&mt=3000&ord=bookend&px=false&fmt=xml"


def says_all_ten(page):
    """The address holds each of the ten settings once."""
    expect(page).to_have_url(re.compile("".join(f"(?=.*[?&]{pair}(&|$))(?!.*[?&]{pair}.*[?&]{pair}(&|$))" for pair in TEN.split("&"))))


def test_ten_settings_of_a_link_survive_pages_drawer_back_and_reload(app, open_page):
    page = open_page(f"{app}/?{TEN}")
    settled(page, 3000)
    says_all_ten(page)
    page.get_by_role("link", name="Ask").click()
    expect(page.locator("#ctx-sources")).to_be_visible()
    says_all_ten(page)
    page.go_back()
    settled(page, 3000)
    says_all_ten(page)
    page.get_by_role("link", name="Load").click()
    expect(page.locator('[data-kind="sample"]')).to_be_visible()
    expect(page.locator(".st-key-controls")).to_have_count(0)
    page.get_by_role("link", name="Inspect").click()
    settled(page, 3000)
    page.get_by_role("button", name="All settings").click()
    expect(page.get_by_label("Find a setting")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_label("Find a setting")).to_have_count(0)
    page.get_by_role("link", name="Ask").click()
    expect(page.locator("#ctx-sources")).to_be_visible()
    page.reload()
    expect(page.locator("#ctx-sources")).to_be_visible()
    says_all_ten(page)
    expect(page.get_by_role("button", name="Reset 10")).to_be_visible()


def test_the_back_button_goes_back_a_setting(app, open_page):
    page = open_page(f"{app}/?mt=3000")
    settled(page, 3000)
    page.locator(".st-key-w").get_by_role("radio", name="2").click()
    expect(page).to_have_url(re.compile(r"w=2"))
    page.go_back()
    expect(page).not_to_have_url(re.compile(r"w=2"))
    expect(page.locator(".st-key-w").get_by_role("radio", name="1")).to_be_checked()


def test_a_budget_change_updates_bar_header_and_text(app, open_page):
    page = open_page(f"{app}/?q=pack-for-stay")
    settled(page, 8000)
    before = page.locator(TEXT).inner_text()
    box = page.locator('input[aria-label^="Max tokens"]').first
    box.fill("1500")
    box.press("Enter")
    settled(page, 1500)
    expect(page).to_have_url(re.compile(r"mt=1500"))
    assert int(page.locator(BAR).get_attribute("data-tokens")) <= 1500
    expect(page.locator("#ctx-ledger")).to_have_attribute("data-tokens", page.locator(BAR).get_attribute("data-tokens"))
    assert len(page.locator(TEXT).inner_text()) < len(before)
    expect(page.locator("#ctx-ledger")).to_have_attribute("data-balances", "true")


def test_rejected_values_in_the_link_are_named_once_and_fall_back(app, open_page):
    page = open_page(f"{app}/?mt=99&w=banana&cu=<script>alert(1)</script>")
    settled(page, 8000)
    notice = page.locator("#ctx-notice")
    expect(notice).to_have_count(1)
    for word in ("max_tokens", "expand_window", "citation_unit"):
        expect(notice).to_contain_text(word)


STEPS = {
    "found": "#ctx-hits",
    "with neighbours": "#ctx-map",
    "repeated": "#ctx-seams",
    "grouped": "#ctx-group",
    "fits": "#ctx-budget-table",
    "summaries": "#ctx-prefixes",
    "sources": "#ctx-citations",
}


def test_every_step_of_the_funnel_has_a_picture(app, open_page):
    page = open_page(f"{app}/?q=contrast-allergy&mt=3000")
    settled(page, 3000)
    for step, picture in STEPS.items():
        page.locator(".st-key-funnel").get_by_role("radio", name=step).click()
        expect(page.locator(picture)).to_be_visible()
        expect(page.locator(".st-key-picture")).to_contain_text("evidence 1 of 1")


HERE = """
() => [...document.querySelectorAll('[data-here]')].map(e => e.dataset.pick ?? e.dataset.at
  ?? JSON.stringify([e.closest('[data-document]').dataset.document, Number(e.dataset.chunk)]))
"""


def test_picture_and_text_come_to_the_same_chunk_and_the_server_hears_nothing(app, open_page):
    sent: list[object] = []
    page = open_page(f"{app}/?q=private-room-cost&w=3&mt=16000", width=1440, height=900)
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.reload()
    settled(page, 16000)
    page.locator(".st-key-funnel").get_by_role("radio", name="found").click()
    expect(page.locator("#ctx-hits")).to_be_visible()
    # The advice asks for its count when the page has come to rest.
    expect(page.locator("#ctx-advice p:not([data-advice='waits'])")).to_have_count(1)
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
    text, picture = page.locator(TEXT), page.locator(".st-key-picture")
    sent.clear()
    text.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('.st-key-picture').scrollTop > 0")
    last = page.locator("#ctx-hits [data-at]").last
    last.click()
    expect(last).to_have_attribute("data-here", "")
    there = page.evaluate(HERE)
    assert len(there) == 2
    assert len({where.replace(" ", "") for where in there}) == 1
    expect(text.locator("[data-here]")).to_be_in_viewport()
    found = text.locator(".cx-c:not([data-added])").first
    found.scroll_into_view_if_needed()
    found.click()
    expect(picture.locator("[data-here]")).to_be_in_viewport()
    assert len({where.replace(" ", "") for where in page.evaluate(HERE)}) == 1
    assert sent == []


def test_a_page_is_one_step_of_the_back_button(app, open_page):
    page = open_page(f"{app}/?mt=3000")
    settled(page, 3000)
    before = page.evaluate("() => history.length")
    page.evaluate("() => { history.pushState({}, '', '/ask'); history.pushState({}, '', '/ask?data=sample'); }")
    assert page.evaluate("() => history.length") == before + 1
    page.evaluate("() => history.pushState({}, '', '/ask?data=sample&w=2')")
    assert page.evaluate("() => history.length") == before + 2
    # The address of the next page, written while the path is still that of this one, is no step; a change of this page's own is.
    page.evaluate("() => { history.pushState({}, '', '/ask?data=sample&w=3'); history.pushState({}, '', '/compare?data=sample&w=3'); }")
    assert page.evaluate("() => [history.length, location.pathname]") == [before + 3, "/compare"]
    page.evaluate("() => { history.pushState({}, '', '/compare?data=sample&w=1'); history.pushState({}, '', '/ask?data=sample'); }")
    assert page.evaluate("() => history.length") == before + 5


def test_the_steps_are_walked_by_the_arrow_keys(app, open_page):
    page = open_page(f"{app}/?q=contrast-allergy&mt=3000")
    settled(page, 3000)
    page.locator(".st-key-funnel").get_by_role("radio", name="with neighbours").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#ctx-seams")).to_be_visible()


def test_a_click_on_a_chunk_opens_its_life_and_escape_closes_it(app, open_page):
    page = open_page(f"{app}/?q=contrast-allergy&mt=3000")
    settled(page, 3000)
    expect(page.locator("html")).to_have_attribute("data-chunk-clicks", "heard")
    cell = page.locator(".cx-cell").nth(2)
    title = cell.evaluate("cell => cell.closest('.cx-lane').firstElementChild.title")
    cell.click()
    expect(page.locator("#ctx-life h3").first).to_have_text(f"{title} #{cell.get_attribute('data-chunk')}")
    expect(page.locator(BAR)).to_be_visible()
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
    page.keyboard.press("Escape")
    expect(page.locator("#ctx-life")).to_have_count(0)


def test_undo_and_redo(app, open_page):
    page = open_page(f"{app}/?data=sample")
    settled(page, 8000)
    box = page.locator('input[aria-label^="Max tokens"]').first
    box.fill("4000")
    box.press("Enter")
    settled(page, 4000)
    page.locator(".st-key-undo button").or_(page.get_by_role("button", name=re.compile("Undo|↶"))).first.click()
    settled(page, 8000)
    page.locator(".st-key-redo button").or_(page.get_by_role("button", name=re.compile("Redo|↷"))).first.click()
    settled(page, 4000)


def test_dragging_the_budget_moves_the_bar_while_it_is_dragged(app, open_page):
    page = open_page(f"{app}/?q=pack-for-stay")
    settled(page, 8000)
    handle = page.locator('input[type="range"]').first
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    page.evaluate(
        """() => { window.seen = new Set(); new MutationObserver(() => { const b = document.getElementById('ctx-budget');
        if (b) window.seen.add(b.dataset.limit); }).observe(document.body, {subtree: true, childList: true, attributes: true}); }"""
    )
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.49, y)
    page.mouse.down()
    for step in range(12):
        page.mouse.move(box["x"] + box["width"] * (0.49 - step * 0.03), y)
        page.wait_for_timeout(90)
    during = page.evaluate("() => window.seen.size")
    page.mouse.up()
    final = handle.input_value()
    settled(page, int(final))
    assert int(final) < 4000
    assert during >= 4
    expect(page.locator('input[aria-label^="Max tokens"]').first).to_have_value(final)


def test_an_empty_context_never_calls_the_model(other_app, open_page, tmp_path):
    page = open_page(f"{other_app}/load")
    folder = tmp_path / "leeg"
    folder.mkdir()
    (folder / "documents.jsonl").write_text('{"document_id": "a", "title": "A <script>alert(1)</script>"}\n')
    (folder / "chunks.jsonl").write_text('{"document_id": "a", "chunk_index": 0, "text": "<b>vet</b> [1] $x$ :red[x]"}\n')
    (folder / "queries.jsonl").write_text('{"query_id": "leeg", "query": "Niets gevonden?"}\n')
    page.locator('input[type="file"]').first.set_input_files([str(f) for f in folder.iterdir()])
    page.get_by_label("Dataset name").fill("leeg")
    page.keyboard.press("Enter")  # the proposed name may be that of a dataset which another test brought: then nothing is imported
    page.get_by_role("button", name=re.compile("Import$")).click()
    expect(page.locator("#ctx-report")).to_be_visible()
    page.get_by_role("link", name="Ask").click()
    expect(page.locator("#ctx-title")).to_contain_text("Niets gevonden?")
    page.get_by_role("button", name=re.compile("^Ask")).click()
    expect(page.locator("#ctx-not-called")).to_be_visible()


def test_a_bad_bundle_lists_its_problems_and_changes_nothing(app, open_page, tmp_path):
    page = open_page(f"{app}/load")
    bad = tmp_path / "chunks.jsonl"
    bad.write_text('{"document_id": "a", "chunk_index": -1, "text": "x"}\n{"document_id": "a", "chunk_index": "2", "text": 7}\nnot json\n')
    page.locator('input[type="file"]').first.set_input_files(str(bad))
    problems = page.locator("#ctx-problems")
    expect(problems).to_be_visible()
    for word in ("chunk_index", "text", "not valid JSON"):
        expect(page.locator("body")).to_contain_text(word)
    page.get_by_role("link", name="Inspect").click()
    expect(page.locator(BAR)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_in_both_themes(app, open_page, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(f"{app}/?q=contrast-allergy&mt=3000", scheme=scheme)
    settled(page, 3000)
    expect(page.locator(".st-key-advice").get_by_role("button").first).to_be_visible()
    for step, picture in STEPS.items():
        page.locator(".st-key-funnel").get_by_role("radio", name=step).click()
        expect(page.locator(picture)).to_be_visible()
        # The list of pages is Streamlit's own, and no valid list.
        found = axe.run(page, context={"exclude": [["[data-testid=stSidebarNav]"]]}).response["violations"]
        assert [(step, v["id"], v["nodes"][0]["html"][:120]) for v in found] == []


@pytest.mark.parametrize(
    ("name", "path", "width", "scheme"),
    [
        ("inspect-light", "/?q=stitches-family&mt=2000", 1440, "light"),
        ("inspect-dark", "/?q=stitches-family&mt=2000", 1440, "dark"),
        ("inspect-phone", "/?q=stitches-family&mt=2000", 390, "light"),
        ("load-light", "/load", 1400, "light"),
    ],
)
def test_screenshots_for_the_readme(app, open_page, name, path, width, scheme):
    page = open_page(f"{app}{path}", width=width, height=900 if width > 500 else 1500, scheme=scheme)
    if name.startswith("inspect"):
        settled(page, 2000)
        expect(page.locator("#ctx-map")).to_be_visible()
        expect(page.get_by_role("button", name="Apply")).to_be_visible()
    else:
        expect(page.locator('[data-kind="sample"]')).to_be_visible()
    # Parts that the browser still fetches are grey boxes.
    expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0)
    expect(page.get_by_role("button", name="Copy link", include_hidden=True)).to_have_count(1 if name.startswith("inspect") else 0)
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth + 1")
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SHOTS / f"{name}.png"))


def test_the_address_stays_a_link_to_what_is_shown(app, open_page):
    page = open_page(f"{app}/ask?data=sample&q=dog-visit&w=2")
    expect(page.locator("#ctx-title")).to_contain_text("dog-visit", ignore_case=True)
    expect(page).to_have_url(re.compile(r"q=dog-visit"))
    page.get_by_role("button", name="→").click()
    expect(page).not_to_have_url(re.compile(r"q=dog-visit(&|$)"))
    expect(page).to_have_url(re.compile(r"q=[\w-]+(&|$)"))
    page.get_by_role("button", name="←").click()
    expect(page).to_have_url(re.compile(r"q=dog-visit"))
    page.reload()
    expect(page).to_have_url(re.compile(r"(?=.*q=dog-visit)(?=.*w=2)"))
    expect(page.locator("#ctx-title")).to_contain_text("dog-visit", ignore_case=True)


def test_titles_stand_at_one_height(app, open_page):
    page = open_page(f"{app}/load?data=sample", width=1440, height=900)
    tops = []
    for path in ("load", "compare", "sweep", "ask", "show-me"):
        page.goto(f"{app}/{path}?data=sample")
        tops.append(page.locator(".cx-title").first.bounding_box()["y"])
    assert max(tops) - min(tops) <= 1, tops
