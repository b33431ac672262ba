"""Gold by a click in a real browser: at a found chunk, at what a phrase finds, in the life of a chunk, and on Ask; read by axe."""

from __future__ import annotations

import json
import re

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
TEXTS = [f"Regel {at} van de gids: kamer {at * 7} ligt op verdieping {at}." for at in range(8)]


def loaded(open_page, url: str, folder, name: str, **window):
    """A page over an imported log of one question that nobody labelled."""
    hits = [{"document_id": "gids", "chunk_index": at, "text": text, "score": 1 / (1 + at)} for at, text in enumerate(TEXTS)]
    questions = [("q0", "Op welke verdieping ligt kamer 14?", hits[:4]), ("q1", "Waar is kamer 49?", hits[4:])]
    lines = [{"query_id": query_id, "query": question, "hits": own} for query_id, question, own in questions]
    log = folder / f"{name}.jsonl"
    log.write_text("\n".join(map(json.dumps, lines)))
    page = open_page(f"{url}/load", **window)
    page.locator('input[type="file"]').first.set_input_files(str(log))
    page.get_by_role("button", name=re.compile("Import$")).click()
    expect(page.locator("#ctx-report")).to_contain_text(name)
    page.goto(f"{url}/?data={name}&q=q0&w=0")
    at_rest(page)
    return page


def at_rest(page) -> None:
    expect(page.locator("#ctx-budget")).to_be_visible()
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")


def step(page, name: str):
    return page.locator(".st-key-funnel").get_by_role("radio", name=re.compile(f"^{name}"))


def test_from_no_labels_to_a_passage_that_was_never_found(other_app, open_page, tmp_path):
    page = loaded(open_page, other_app, tmp_path, "zonder")
    page.get_by_role("link", name="Sweep").click()
    page.get_by_role("button", name="Mark passages").click()
    expect(page.locator("#ctx-no-gold")).to_be_visible()
    expect(page).to_have_url(re.compile("data=zonder"))
    page.get_by_label("Phrase").fill("kamer 42")
    page.get_by_label("Phrase").press("Enter")
    page.locator("#ctx-find .cx-expected").click()
    expect(page.locator("#ctx-evidence")).to_contain_text("never retrieved")
    expect(step(page, "found")).to_contain_text("○")
    page.locator("#ctx-evidence .cx-expected").click()
    expect(page.locator("#ctx-no-gold")).to_be_visible()
    expect(step(page, "found")).not_to_contain_text("○")


def test_a_question_without_gold_offers_the_way_to_it(other_app, open_page, tmp_path):
    page = loaded(open_page, other_app, tmp_path, "weg")
    page.locator("#ctx-offer").click()
    expect(page.locator("#ctx-no-gold")).to_be_visible()
    page.get_by_label("Phrase").fill("kamer 14")
    page.get_by_label("Phrase").press("Enter")
    page.locator("#ctx-find .cx-expected").click()
    expect(page.locator("#ctx-evidence")).to_contain_text("in the context")
    expect(page.locator("#ctx-offer")).to_have_count(0)


def test_a_click_in_the_moment_the_page_is_drawn_is_not_lost(other_app, open_page, tmp_path):
    page = loaded(open_page, other_app, tmp_path, "vroeg")
    page.add_init_script(
        """new MutationObserver((_, drawn) => {
            const offer = document.getElementById('ctx-offer');
            if (offer) { drawn.disconnect(); window.heardThen = document.documentElement.dataset.chunkClicks; offer.click(); }
        }).observe(document, { childList: true, subtree: true })"""
    )
    page.reload()
    expect(page.locator("#ctx-no-gold")).to_be_visible()
    assert page.evaluate("window.heardThen") is None


def test_signs_that_are_clicked_in_one_moment_are_all_marked(other_app, open_page, tmp_path):
    page = loaded(open_page, other_app, tmp_path, "vier")
    step(page, "found").click()
    signs = page.locator("#ctx-hits .cx-expected")
    expect(signs).to_have_count(4)
    page.evaluate("document.querySelectorAll('#ctx-hits .cx-expected').forEach(sign => sign.click())")
    for at in range(4):
        expect(signs.nth(at)).to_have_attribute("aria-pressed", "true")
    signs.nth(1).click()
    expect(signs.nth(1)).to_have_attribute("aria-pressed", "false")
    expect(signs.nth(0)).to_have_attribute("aria-pressed", "true")


def test_a_sign_at_a_found_chunk_moves_every_step_and_survives_a_reload(other_app, open_page, tmp_path):
    page = loaded(open_page, other_app, tmp_path, "klik", width=1440, height=900)
    step(page, "found").click()
    signs = page.locator("#ctx-hits .cx-expected")
    expect(signs).to_have_count(4)
    signs.nth(2).click()
    expect(signs.nth(2)).to_have_attribute("aria-pressed", "true")
    for name in ("found", "with neighbours", "sources"):
        expect(step(page, name)).to_contain_text("●")
    page.reload()
    at_rest(page)
    step(page, "with neighbours").click()
    expect(page.locator("#ctx-map .cx-cell.wanted")).to_have_count(1)
    page.locator("#ctx-map .cx-cell.wanted").click()
    page.get_by_role("button", name="Expected: unmark").click()
    expect(page.locator("#ctx-map .cx-cell.wanted")).to_have_count(0)
    expect(page.get_by_role("button", name="Mark as expected")).to_be_visible()


def test_a_cited_passage_is_approved_claim_by_claim_and_taken_back_beside_it(other_app, open_page, tmp_path):
    page = loaded(open_page, other_app, tmp_path, "citaat")
    page.get_by_role("link", name="Ask").click()
    page.locator(".st-key-ask").get_by_role("button").click()
    page.locator("#ctx-reader .line").nth(1).click()
    expected = page.locator("#ctx-reader #expected")
    passage = re.search(r"Is (.*) right for this question", expected.inner_text())[1]
    expected.get_by_role("button", name=f"Yes: {passage}").click()
    expect(expected).to_contain_text(f"{passage} is expected for this question")
    expect(page.locator("#ctx-reader .line").nth(1)).to_have_class(re.compile("current"))
    expect(page.locator("#ctx-reader")).to_contain_text("uses 1 of 1 expected passage")
    expect(page.locator("#ctx-since")).to_have_count(0)
    expected.get_by_role("button", name=f"Undo: {passage}").click()
    expect(expected).to_contain_text(f"Is {passage} right for this question?")
    expect(page.locator("#ctx-reader")).not_to_contain_text("expected passage")


def test_the_count_of_advice_opens_compare_and_its_place_keeps_still(app, open_page):
    page = open_page(f"{app}/?data=sample&mt=2000", width=1440, height=900)
    expect(page.locator("#ctx-advice [data-advice=waits]")).to_be_visible()
    expect(page.locator("#ctx-ledger")).to_be_visible()
    expect(page.locator(".st-key-picture")).to_be_visible()
    height = "() => document.querySelector('.st-key-said').getBoundingClientRect().height"
    expect(page.locator("[data-advice=waits]")).to_be_visible()
    before = page.evaluate(height)
    link = page.locator("#ctx-advice").get_by_role("link", name=re.compile(r"helps \d+ of \d+ questions, hurts \d+"))
    expect(link).to_be_visible()
    expect(page.locator(".st-key-advice").get_by_role("button", name=re.compile("^.*Apply .+"))).to_be_visible()
    assert page.evaluate(height) == before
    helps, hurts = re.search(r"helps (\d+) of \d+ questions, hurts (\d+)", link.inner_text()).groups()
    link.click()
    expect(page.locator('[data-count="win"]')).to_contain_text(helps)
    expect(page.locator('[data-count="loss"]')).to_contain_text(hurts)
    expect(page).to_have_url(re.compile(r"a=mt%3D2000"))


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (820, "dark"), (390, "light")])
def test_axe_finds_nothing_of_ours_and_nothing_is_cut(other_app, open_page, tmp_path, width, scheme):
    page = loaded(open_page, other_app, tmp_path, f"axe{width}", width=width, height=900, scheme=scheme)
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.get_by_role("button", name="Details").click()
    page.locator(".st-key-drawer").get_by_role("radio", name="Evidence").click()
    page.get_by_label("Phrase").fill("kamer")
    page.get_by_label("Phrase").press("Enter")
    expect(page.locator("#ctx-find .cx-expected")).to_have_count(8)
    found = axe.run(page).response["violations"]
    assert [f"{v['id']}: {node['html'][:120]}" for v in found for node in v["nodes"] if "cx-" in node["html"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
