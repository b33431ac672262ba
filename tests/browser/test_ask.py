"""Ask as a reviewer uses it: from a citation to its span and back, without the server, by mouse, by keyboard, on a phone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
SHOTS = Path(__file__).resolve().parents[2] / ".github" / "screenshots"
QUERY = "/ask?q=bezoek-gewone-afdeling&k=8"
READER, HITS = "#ctx-reader", ".seg.hit:not(.hit-also)"


def pick(page, key: str, label: str) -> None:
    run = run_of(page)
    page.locator(f".st-key-{key} input").first.click()
    page.get_by_role("option", name=label).first.click()
    expect(page.locator(f".st-key-{key} input").first).to_have_value(re.compile(re.escape(label)))
    # While a page is redrawn the old reader may stand beside the new one for a moment.
    expect(page.locator(f"{READER}[data-run='{run}']")).to_have_count(0)
    expect(page.locator(READER)).to_have_count(1)


def ask(page, model: str | None = None) -> None:
    expect(page.locator("#ctx-sources .card").first).to_be_visible()
    if model:
        pick(page, "model", model)
    page.get_by_role("button", name=re.compile("^Ask")).click()
    expect(page.locator("#ctx-answer")).to_have_attribute("data-done", "true")
    expect(page.get_by_role("button", name="Regenerate")).to_be_visible()


def run_of(page) -> str:
    return page.locator(READER).get_attribute("data-run")


def focused(page) -> str:
    """The classes of what has the focus, inside the component."""
    return page.evaluate(
        "() => { let at = document.activeElement; while (at.shadowRoot) at = at.shadowRoot.activeElement; return at.className; }"
    )


def in_pane(page, locator) -> bool:
    """Whether this is inside the visible part of the context pane."""
    box, pane = locator.bounding_box(), page.locator("#ctx-sources").bounding_box()
    return box["y"] >= pane["y"] - 1 and box["y"] + box["height"] <= pane["y"] + pane["height"] + 1


def test_a_chip_shows_its_span_without_a_rerun(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    page.wait_for_load_state("networkidle")
    run, sent = run_of(page), []
    page.evaluate(
        """() => { window.sent = 0; const send = WebSocket.prototype.send;
        WebSocket.prototype.send = function (...given) { window.sent++; return send.apply(this, given); }; }"""
    )
    page.on("request", lambda request: sent.append(request.url))
    for at in range(page.locator(".chip[data-marker]").count()):
        chip = page.locator(".chip[data-marker]").nth(at)
        chip.click()
        expect(page.locator(HITS).first).to_be_in_viewport()
        assert in_pane(page, page.locator(HITS).first)
        number = chip.get_attribute("data-marker")
        assert page.locator(f"#ctx-source-{number} {HITS}").count() >= 1
        expect(page.locator("#note")).to_contain_text(f"[{number}]")
        assert "seg" in focused(page)
    assert run_of(page) == run
    assert page.evaluate("() => window.sent") == 0
    assert sent == []


@pytest.mark.parametrize("late", ["Button", "BidiComponent"])
def test_ctrl_enter_counts_from_when_the_question_can_be_read(app, open_page, late):
    page, script = open_page("about:blank"), re.compile(rf"/static/js/{late}\.")
    page.route(script, lambda route: None)
    page.goto(f"{app}{QUERY}")
    expect(page.locator("#ctx-title h1")).to_be_visible()
    if late == "Button":
        expect(page.get_by_role("button", name=re.compile("^Ask"))).to_have_count(0)
    page.keyboard.press("Control+Enter")
    # Lets go of what is held back, and holds nothing back any more.
    page.unroute(script)
    expect(page.get_by_role("button", name="Regenerate")).to_be_visible()
    expect(page.locator("#ctx-answer")).to_have_count(1)


def test_ctrl_enter_asks_once_and_on_ask_alone(app, open_page):
    page = open_page(f"{app}/load")
    expect(page.locator('[data-kind="sample"]')).to_be_visible()
    page.keyboard.press("Control+Enter")
    page.get_by_role("link", name="Ask").click()
    expect(page.locator("#ctx-sources .card").first).to_be_visible()
    expect(page.locator("#ctx-answer")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Regenerate")).to_be_visible()
    expect(page.get_by_role("button", name="Answer 2")).to_have_count(0)


def test_an_endpoint_that_is_not_typed_is_no_error_and_its_button_can_be_read(open_page, tmp_path):
    from tests.browser.conftest import serving

    with serving(tmp_path) as url:
        page = open_page(f"{url}{QUERY}")
        expect(page.locator("#ctx-sources .card").first).to_be_visible()
        pick(page, "model", "OpenAI-compatible endpoint")
        expect(page.get_by_text("No endpoint yet")).to_be_visible()
        expect(page.locator("#ctx-error")).to_have_count(0)
        button = page.get_by_role("button", name=re.compile("^Ask"))
        expect(button).to_be_disabled()
        words = button.locator("p").evaluate("e => getComputedStyle(e).color")
        assert words == page.get_by_role("button", name="↶").locator("p").evaluate("e => getComputedStyle(e).color")
        assert words != "rgb(255, 255, 255)"


def test_what_is_marked_is_the_quoted_sentence(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    sentence = page.locator(".claim").first.inner_text().strip(" .\u00a0")
    page.locator(".chip").first.click()
    assert sentence in "".join(page.locator(HITS).all_inner_texts())


def test_from_chip_to_span_and_back_by_keyboard(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    for key in ("Enter", "Space"):
        page.locator(".chip").nth(1).focus()
        page.keyboard.press(key)
        expect(page.locator(HITS).first).to_be_visible()
        assert "hit" in focused(page)
        page.keyboard.press("Escape")
        expect(page.locator(HITS)).to_have_count(0)
        expect(page.locator("#note")).to_be_hidden()
        expect(page.locator(".chip").nth(1)).to_be_focused()


def test_a_claim_says_its_verdict_on_focus_and_shows_its_span_by_key(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · wrong number")
    claim = page.locator('.claim:not([data-verdict="supported"])').first
    claim.focus()
    expect(page.locator("#tip")).to_be_visible()
    expect(page.locator("#tip .verdict")).not_to_have_text("")
    page.keyboard.press("Enter")
    expect(page.locator("#note")).to_be_visible()


def test_below_the_threshold_nothing_is_marked_and_the_head_is_shown(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · range")
    chip = page.locator('.chip[data-verdict="unsupported"], .chip[data-verdict="elsewhere"]').first
    number = chip.get_attribute("data-marker")
    chip.click()
    expect(page.locator("#note")).to_contain_text(re.compile(rf"Not found in \[{number}\]|\[{number}\].* nothing of it"))
    assert page.locator(f"#ctx-source-{number} {HITS}").count() == 0
    expect(page.locator(f"#ctx-source-{number} > header")).to_be_in_viewport()
    assert in_pane(page, page.locator(f"#ctx-source-{number} > header"))


def test_a_claim_that_points_elsewhere_leads_there(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · wrong number")
    page.locator('.chip[data-verdict="elsewhere"]').first.click()
    page.locator("#note").get_by_role("button", name=re.compile("^Show in")).click()
    expect(page.locator(f"{HITS}.hit-better").first).to_be_in_viewport()


def test_unknown_markers_say_so(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · out of range")
    chip = page.locator(".chip[data-unknown]").first
    chip.click()
    expect(page.locator("#note")).to_contain_text("no source of this context")
    assert page.locator(HITS).count() == 0


def test_the_table_filters_and_goes_to_the_claim(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · wrong number")
    run, rows = run_of(page), page.locator("#ctx-claims tbody tr")
    total = rows.count()
    page.locator('[data-filter="only problems"]').click()
    assert 0 < rows.count() < total
    expect(page.locator('#ctx-claims tr[data-verdict="supported"]')).to_have_count(0)
    expect(page.locator('[data-filter="only problems"]')).to_be_focused()
    page.locator('[data-filter="all"]').click()
    expect(rows).to_have_count(total)
    rows.last.locator("[data-go]").click()
    claim = page.locator(f'.claim[data-claim="{total - 1}"]').first
    expect(claim).to_be_in_viewport()
    expect(claim).to_be_focused()
    assert run_of(page) == run


def test_before_assembly_crosses_the_chips_that_would_be_wrong(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    run = run_of(page)
    page.get_by_label("If citations had been built before assembly").check()
    expect(page.locator("#would")).to_contain_text("would be wrong")
    expect(page.locator("#would")).to_contain_text("would have pointed to")
    wrong = page.locator(".chip.stale")
    assert wrong.count() >= 1
    assert "would have pointed to" in wrong.first.get_attribute("aria-label")
    expect(wrong.first).to_contain_text("wrong")
    page.get_by_label("If citations had been built before assembly").uncheck()
    expect(page.locator(".chip.stale")).to_have_count(0)
    assert run_of(page) == run


def test_regenerate_keeps_the_answer_before_and_flips_without_a_rerun(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · none")
    pick(page, "model", "Extractive")
    page.get_by_role("button", name="Regenerate").click()
    expect(page.get_by_role("button", name="Answer 2")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".chip").first).to_be_visible()
    run = run_of(page)
    page.get_by_role("button", name="Answer 1").click()
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator(".summary")).to_contain_text("uncited")
    assert run_of(page) == run


def test_two_models_stand_against_the_same_context(app, open_page):
    page = open_page(f"{app}{QUERY}")
    expect(page.locator("#ctx-sources .card").first).to_be_visible()
    pick(page, "second_model", "Scripted · wrong number")
    ask(page)
    expect(page.locator("#ctx-answer-2")).to_have_attribute("data-done", "true")
    expect(page.locator(".summary")).to_have_count(2)
    page.locator('.chip[data-pane="1"]').last.click()
    expect(page.locator("#note")).to_be_visible()


def test_on_a_phone_the_click_goes_down_to_the_span_and_back(app, open_page):
    page = open_page(f"{app}{QUERY}", width=390, height=844)
    ask(page)
    chip = page.locator(".chip").nth(1)
    chip.click()
    expect(page.locator(HITS).first).to_be_in_viewport()
    expect(page.locator("#note")).to_be_in_viewport()
    page.get_by_role("button", name="Back to the answer").click()
    expect(chip).to_be_in_viewport()
    expect(chip).to_be_focused()
    expect(page.locator(HITS)).to_have_count(0)
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth + 1")


def test_a_spoken_answer_names_its_sources(app, open_page):
    page = open_page(f"{app}{QUERY}&ch=voice")
    ask(page)
    expect(page.locator(".chip")).to_have_count(0)
    page.locator("[data-attribution]").first.click()
    expect(page.locator(HITS).first).to_be_in_viewport()


def test_the_check_is_a_file(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Check as JSON").click()
    check = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert check["query_id"] == "bezoek-gewone-afdeling"
    assert check["claims"]


def test_a_stalled_answer_is_stopped_and_kept(app, open_page):
    page = open_page(f"{app}{QUERY}")
    expect(page.locator("#ctx-sources .card").first).to_be_visible()
    pick(page, "model", "Scripted · stall")
    page.get_by_role("button", name=re.compile("^Ask")).click()
    # All that had arrived is on the page before the model fell silent, not only its first word.
    expect(page.locator("#ctx-answer")).to_contain_text("verpleegafdelingen bent u elke dag welkom")
    page.get_by_role("button", name="Stop answering").click()
    expect(page.locator("#ctx-incomplete")).to_contain_text("Stopped on request.")
    expect(page.locator("#ctx-answer")).not_to_have_text("")


def test_hostile_sources_are_text_and_can_still_be_marked(app, open_page, tmp_path):
    attack = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
    folder = tmp_path / "attack-ask"
    folder.mkdir()
    rows = {
        "documents": {"document_id": "a", "title": f"Honden {attack}"},
        "chunks": {"document_id": "a", "chunk_index": 0, "text": f"Honden mogen mee op {attack} bezoek \U0001f415 in de tuin."},
        "queries": {"query_id": "hond", "query": "Mogen honden mee op bezoek in de tuin?"},
        "retrievals": {"query_id": "hond", "retrieved": [{"document_id": "a", "chunk_index": 0, "score": 1.0}]},
    }
    for name, row in rows.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    page = open_page(f"{app}/load")
    page.locator('input[type="file"]').first.set_input_files([str(file) for file in folder.iterdir()])
    page.get_by_role("button", name=re.compile("Import$")).click()
    expect(page.locator("#ctx-report")).to_be_visible()
    page.get_by_role("link", name="Ask").click()
    expect(page.locator("#ctx-title")).to_contain_text("Mogen honden mee")
    ask(page)
    page.locator(".chip").first.click()
    expect(page.locator(HITS).first).to_contain_text("<img src=x")
    assert page.evaluate("() => window.hacked") is None


def test_against_a_real_endpoint_the_key_stays_secret(app, open_page, model_server):
    page = open_page(f"{app}{QUERY}")
    ask(page, "OpenAI-compatible endpoint")
    assert "sk-browser-secret" not in page.content()
    assert "sk-browser-secret" not in page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_in_both_themes(app, open_page, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(f"{app}{QUERY}", scheme=scheme)
    ask(page, "Scripted · wrong number")
    page.locator(".chip").first.click()
    found = axe.run(page).response["violations"]
    own = [
        (v["id"], node["html"][:140])
        for v in found
        for node in v["nodes"]
        if v["impact"] == "critical" or (v["impact"] == "serious" and len(node["target"][0]) > 1 and isinstance(node["target"][0], list))
    ]
    assert own == []


@pytest.mark.parametrize(
    ("name", "width", "scheme", "model"),
    [
        ("ask-light", 1400, "light", "Scripted · wrong number"),
        ("ask-dark", 1400, "dark", "Scripted · wrong number"),
        ("ask-phone", 390, "light", "Scripted · wrong number"),
    ],
)
def test_screenshots_for_the_readme(app, open_page, name, width, scheme, model):
    page = open_page(f"{app}{QUERY}", width=width, height=1250 if width > 500 else 1500, scheme=scheme)
    page.emulate_media(reduced_motion="reduce", color_scheme=scheme)
    ask(page, model)
    page.locator(".chip").first.click()
    expect(page.locator(HITS).first).to_be_in_viewport()
    page.mouse.move(5, 5)
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth + 1")
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SHOTS / f"{name}.png"))
