"""Clicks on pages whose documents are named by markup: none is lost, nothing of a name is executed, and no handler fails."""

from __future__ import annotations

import json
import re

import pytest

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

# What the browser's own cleaning of HTML drops an attribute for, and what an encoding of ours could break on.
NAMES = ("</style><img src=x onerror=window.hacked=1>", "--> 100 %41 ]>", "<textarea>", "plain & 'quoted' \"name\"")


@pytest.fixture
def hostile(other_app, open_page, tmp_path):
    """Inspect on a dataset of these documents; `open_page` fails where a script does."""
    rows = {
        "documents": [{"document_id": name, "title": f"Honden {name}"} for name in NAMES],
        "chunks": [
            {"document_id": name, "chunk_index": at, "text": f"Honden mogen mee, regel {at} {name}."} for name in NAMES for at in (0, 1)
        ],
        "queries": [{"query_id": "hond", "query": f"Mogen honden mee? {NAMES[0]}"}],
        "retrievals": [{"query_id": "hond", "retrieved": [{"document_id": name, "chunk_index": 0, "score": 1.0} for name in NAMES]}],
    }
    folder = tmp_path / "hostile-clicks"
    folder.mkdir()
    for name, lines in rows.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    page = open_page(f"{other_app}/load")
    page.locator('input[type="file"]').first.set_input_files([str(file) for file in folder.iterdir()])
    page.get_by_role("button", name=re.compile("Import$")).click()
    expect(page.locator("#ctx-report")).to_be_visible()
    page.get_by_role("link", name="Inspect").click()
    expect(page.locator("#ctx-title")).to_contain_text("Mogen honden mee")
    return page


def test_every_chunk_of_the_text_is_found_in_the_picture_and_no_click_is_lost(hostile):
    page = hostile
    page.locator(".st-key-funnel").get_by_role("radio", name="found").click()
    expect(page.locator("#ctx-hits")).to_be_visible()
    cards = page.locator("#ctx-text .cx-card")
    expect(cards).to_have_count(len(NAMES))
    for at in range(len(NAMES)):
        chunk = cards.nth(at).locator(".cx-c").first
        # Bringing it into view scrolls the text, which marks what stands at its top: that comes a frame later, and not after the click.
        chunk.scroll_into_view_if_needed()
        page.evaluate(
            "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(drawn))))"
        )
        chunk.click()
        expect(page.locator(".st-key-picture [data-here]")).to_have_count(1)
    page.locator(".st-key-funnel").get_by_role("radio", name="with neighbours").click()
    expect(page.locator("#ctx-map")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-chunk-clicks", "heard")
    picked = page.locator("#ctx-map .cx-cell")
    said = page.evaluate("() => [...document.querySelectorAll('#ctx-map .cx-cell')].map(cell => JSON.parse(ctxasmClicks.said(cell))[0])")
    assert set(said) == set(NAMES)
    picked.first.click()
    expect(page.locator("#ctx-life")).to_be_visible()
    assert page.evaluate("() => window.hacked") is None
