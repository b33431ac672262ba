"""Ask as a reviewer uses it: from a citation to its span and back, without the server, by mouse, by keyboard, on a phone."""

from __future__ import annotations

import json
import re
from html import escape
from itertools import pairwise
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
SHOTS = Path(__file__).resolve().parents[2] / ".github" / "screenshots"
QUERY = "/ask?q=visiting-ordinary-ward&k=8&model=extractive"
"""The endpoint is configured, and would answer."""
READER, HITS = "#ctx-reader", ".seg.hit"
MOST_WORDS, MOST_CONTROLS = 90, 30
"""What a visitor sees of Ask with an answer, beside the answer itself, its sources and the sidebar."""


def pick(page, key: str, label: str) -> None:
    run = run_of(page)
    change = page.get_by_role("button", name="Change", exact=True)
    change.click()
    page.locator(f".st-key-{key} input").first.click()
    page.get_by_role("option", name=label).first.click()
    expect(page.locator(f".st-key-{key} input").first).to_have_value(re.compile(re.escape(label)))
    # While a page is redrawn the old reader may stand beside the new one for a moment.
    expect(page.locator(f"{READER}[data-run='{run}']")).to_have_count(0)
    expect(page.locator(READER)).to_have_count(1)
    change.click()
    expect(page.locator(f".st-key-{key}")).to_have_count(0)


def ask(page, model: str | None = None) -> None:
    ready(page)
    if model:
        pick(page, "model", model)
    run = run_of(page)
    page.get_by_role("button", name=re.compile("^Ask")).click()
    # An answer may be there already: the recorded one, or that of another test.
    expect(page.locator(f"{READER}[data-run='{run}']")).to_have_count(0)
    expect(page.locator("#ctx-answer")).to_have_attribute("data-done", "true")
    expect(page.get_by_role("button", name=re.compile("^Ask again"))).to_be_visible()


def ready(page) -> None:
    """The reader is drawn."""
    expect(page.locator("#ctx-sources summary")).to_be_visible()


def run_of(page) -> str:
    return page.locator(READER).get_attribute("data-run")


def focused(page) -> str:
    """The classes of what has the focus, inside the component."""
    return page.evaluate(
        "() => { let at = document.activeElement; while (at.shadowRoot) at = at.shadowRoot.activeElement; return at.className; }"
    )


def below_the_head(page) -> float:
    """Pixels from the head of the source to the mark, which are both in view."""
    mark, head = page.locator(HITS).first, page.locator("#head")
    expect(mark).to_be_in_viewport(ratio=0.9)
    expect(head).to_be_in_viewport(ratio=0.9)
    title = head.bounding_box()
    return mark.bounding_box()["y"] - title["y"] - title["height"]


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
        number = chip.get_attribute("data-marker")
        expect(page.locator("#title")).to_contain_text(f"[{number}]")
        assert 0 <= below_the_head(page) < 200
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
    expect(page.get_by_role("button", name="Answer 2")).to_be_visible()
    expect(page.get_by_role("button", name="Answer 3")).to_have_count(0)


def test_ctrl_enter_asks_once_and_on_ask_alone(app, open_page):
    page = open_page(f"{app}/load")
    expect(page.locator('[data-kind="sample"]')).to_be_visible()
    page.keyboard.press("Control+Enter")
    page.get_by_role("link", name="Ask").click()
    expect(page.locator("#ctx-answer")).to_be_visible()
    expect(page.get_by_role("button", name="Answer 2")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Answer 2")).to_be_visible()
    expect(page.get_by_role("button", name="Answer 3")).to_have_count(0)


def test_an_endpoint_that_is_not_typed_is_no_error_and_its_button_can_be_read(open_page, tmp_path):
    from tests.browser.conftest import serving

    with serving(tmp_path) as url:
        page = open_page(f"{url}{QUERY}")
        ready(page)
        pick(page, "model", "OpenAI-compatible endpoint")
        expect(page.get_by_text("No endpoint yet")).to_be_visible()
        expect(page.locator("#ctx-error")).to_have_count(0)
        button = page.get_by_role("button", name=re.compile("^Ask"))
        expect(button).to_be_disabled()
        words = button.locator("p").evaluate("e => getComputedStyle(e).color")
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
        expect(page.locator(".chip").nth(1)).to_be_focused()


def test_the_first_claim_that_needs_a_look_is_open_from_the_start(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · wrong number")
    line = page.locator(".line:has(.says)").first
    expect(line).to_have_class(re.compile("current"))
    expect(line.locator(".says")).not_to_have_text("")
    assert 0 <= below_the_head(page) < 200


def test_every_claim_is_a_line_and_its_sentence_stands_under_the_head_of_its_source(app, open_page):
    page = open_page(f"{app}{QUERY}", width=1440, height=900)
    ask(page)
    far = []
    for at in range(page.locator(".line").count()):
        page.locator(".line").nth(at).click()
        expect(page.locator(".line").nth(at)).to_have_class(re.compile("current"))
        far.append(round(below_the_head(page)))
        passage = page.locator("#passage").inner_text()
        page.get_by_role("button", name="Whole source").click()
        far.append(round(below_the_head(page)))
        assert len(page.locator("#passage").inner_text()) > len(passage)
    print(f"pixels from the head of a source to the sentence, passage and whole source in turn: {far}")
    assert max(far) < 200


def test_below_the_threshold_nothing_is_marked_and_the_source_is_shown(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · range")
    chip = page.locator('.chip[data-part="not_found"], .chip[data-part="wrong_number"]').first
    number = chip.get_attribute("data-marker")
    chip.click()
    expect(page.locator("#note")).to_contain_text(f"the claim is not found in [{number}]")
    expect(page.locator(HITS)).to_have_count(0)
    expect(page.locator("#title")).to_contain_text(f"[{number}]")
    expect(page.locator("#head")).to_be_in_viewport()


def test_a_claim_that_points_elsewhere_leads_there(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · wrong number")
    page.locator('.chip[data-part="wrong_number"]').first.click()
    page.locator("#note").get_by_role("button", name=re.compile("^Show in")).click()
    expect(page.locator(f"{HITS}.hit-better").first).to_be_in_viewport()


def test_unknown_markers_say_so(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page, "Scripted · out of range")
    chip = page.locator(".chip[data-unknown]").first
    chip.click()
    expect(page.locator("#note")).to_contain_text("not a source in this context")
    assert page.locator(HITS).count() == 0


def test_the_head_line_filters_the_claims(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    run, lines = run_of(page), page.locator(".line:visible")
    total = lines.count()
    carried = page.locator('[data-filter="full"]')
    carried.click()
    expect(carried).to_have_attribute("aria-pressed", "true")
    expect(page.locator('.line:not([data-parts~="full"]):visible')).to_have_count(0)
    assert 0 < lines.count() < total
    carried.click()
    expect(lines).to_have_count(total)
    assert run_of(page) == run


def test_any_source_can_be_read_whole(app, open_page):
    page = open_page(f"{app}/ask?q=child-operation-cold&k=3&answer=recorded")
    page.locator("#ctx-sources summary").click()
    page.locator("#ctx-sources .card").first.click()
    expect(page.locator("#title")).to_contain_text("[1]")
    expect(page.locator(HITS)).to_have_count(0)
    expect(page.locator("#note")).to_be_hidden()
    expect(page.locator("#whole-source")).to_be_hidden()


def test_from_the_first_claim_to_the_next_query_is_one_key_and_its_answer_is_kept(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    page.locator(".claim").first.focus()
    page.keyboard.press("n")
    expect(page.locator("#ctx-title")).not_to_contain_text("visiting-ordinary-ward", ignore_case=True)
    expect(page.get_by_role("button", name=re.compile("^Ask"))).not_to_contain_text("again")
    expect(page.locator("#ctx-answer")).to_have_count(0)
    page.keyboard.press("p")
    expect(page.locator("#ctx-title")).to_contain_text("visiting-ordinary-ward", ignore_case=True)
    expect(page.locator(".line").first).to_be_visible()
    expect(page.locator("#ctx-since")).to_have_count(0)


def test_claims_and_their_sources_by_key_without_a_rerun(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    page.wait_for_load_state("networkidle")
    run, lines = run_of(page), page.locator(".line")
    last = lines.count() - 1
    assert last >= 2
    for _ in range(last):
        page.keyboard.press("k")  # the reader opens with the first claim that needs a look
    for key, at in (*(("j", at) for at in range(1, last + 1)), ("j", last), ("k", last - 1)):
        page.keyboard.press(key)
        expect(lines.nth(at)).to_have_class(re.compile("current"))
        expect(lines.nth(at).locator(".claim").first).to_be_focused()
        expect(lines.nth(at).locator("[aria-current]")).to_have_count(1)
        assert 0 <= below_the_head(page) < 200
    page.keyboard.press("o")
    expect(page.locator("#whole-source")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("o")
    expect(page.locator("#whole-source")).to_have_attribute("aria-pressed", "false")
    assert run_of(page) == run


def test_no_key_is_taken_while_typing_nor_with_a_modifier(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    current = page.locator(".line.current")
    at = current.get_attribute("data-at")
    box = page.locator(".st-key-_question input")
    box.click()
    page.keyboard.type("njkop?1f")
    expect(box).to_have_value("njkop?1f")
    expect(page.locator(".cx-shortcuts")).to_have_count(0)
    expect(current).to_have_attribute("data-at", at)
    page.locator(".claim").first.focus()
    for key in ("Control+j", "Alt+j", "Meta+j"):
        page.keyboard.press(key)
        expect(current).to_have_attribute("data-at", at)
    expect(page.locator("#ctx-title")).to_contain_text("visiting-ordinary-ward", ignore_case=True)


def test_the_sheet_of_keys_opens_closes_and_switches_single_keys_off(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    current = page.locator(".line.current")
    at = current.get_attribute("data-at")
    page.get_by_role("button", name="Keys").click()
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_be_visible()
    expect(sheet).to_contain_text("Next query")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.keyboard.press("?")
    expect(sheet).to_be_visible()
    sheet.get_by_label("Keys without Ctrl are on").uncheck()
    sheet.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    expect(current).to_have_attribute("data-at", at)
    page.keyboard.press("?")
    sheet.get_by_label("Keys without Ctrl are on").check()
    sheet.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    expect(current).not_to_have_attribute("data-at", at)


def test_steps_find_and_undo_by_key_on_inspect(app, open_page):
    page = open_page(f"{app}/?q=visiting-ordinary-ward&k=8")
    steps = page.locator(".st-key-funnel").get_by_role("radio")
    expect(steps.nth(3)).to_be_visible()
    page.keyboard.press("4")
    expect(steps.nth(3)).to_be_checked()
    page.keyboard.press("1")
    expect(steps.nth(0)).to_be_checked()
    page.keyboard.press("f")
    expect(page.locator(".st-key-find_phrase input")).to_be_focused()
    expect(page.locator(".st-key-find_phrase input")).to_have_value("")


def test_undo_and_redo_by_key(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    page.get_by_role("radio", name="2", exact=True).click()
    expect(page.locator("#ctx-since")).to_contain_text("Answered with")
    expect(page.locator("#ctx-since")).to_contain_text("1, now 2")
    page.locator(".claim").first.focus()
    page.keyboard.press("Control+z")
    expect(page.locator("#ctx-since")).to_have_count(0)
    page.keyboard.press("Control+Shift+z")
    expect(page.locator("#ctx-since")).to_contain_text("1, now 2")


def test_few_words_and_controls_and_the_answer_first_on_a_phone(app, open_page):
    page = open_page(f"{app}{QUERY}", width=1440, height=900)
    ask(page, "Scripted · wrong number")
    seen = page.evaluate(SEEN)
    print(f"Ask with an answer, the sidebar and texts of answer and sources aside: {seen['words']} words, {seen['controls']} controls")
    assert seen["words"] <= MOST_WORDS
    assert seen["controls"] <= MOST_CONTROLS
    phone = open_page(f"{app}{QUERY}", width=390, height=844)
    ask(phone)
    above = phone.evaluate(SEEN)["above"]
    print(f"controls above the answer at 390 px: {above}")
    assert above < 9
    expect(phone.locator(".line").first).to_be_in_viewport(ratio=0.5)


SEEN = """() => {
  const isSeen = node => node.checkVisibility({checkVisibilityCSS: true}) && node.getBoundingClientRect().width > 1;
  const all = root => [...root.querySelectorAll('*')].flatMap(node => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
  const nodes = all(document.querySelector('[data-testid="stMain"]')).filter(isSeen);
  const isText = node => node.closest('.words, .from, #passage, #reference p, h1, .card, #title, style, script');
  const own = node => [...node.childNodes].filter(child => child.nodeType === 3).map(child => child.textContent).join(' ');
  const words = nodes.filter(node => !isText(node)).flatMap(node => own(node).match(/[\\p{L}\\p{N}][^\\s]*/gu) ?? []);
  const controls = nodes.filter(node => node.matches('button, input, [role=button], summary, [role=combobox]') && !isText(node));
  const first = nodes.find(node => node.matches('.line')).getBoundingClientRect().top;
  const above = controls.filter(node => node.getBoundingClientRect().top < first && node.getBoundingClientRect().top > 60);
  return {words: words.length, controls: controls.length, above: above.length};
}""".replace("\\\\", "\\")


def test_before_assembly_crosses_the_chips_that_would_be_wrong(app, open_page):
    page = open_page(f"{app}{QUERY.replace('visiting-ordinary-ward', 'fasting-operation')}")
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


def test_asking_again_keeps_the_answer_before_and_flips_without_a_rerun(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    ask(page)
    answers = page.locator("[data-attempt]")
    expect(answers.last).to_have_attribute("aria-pressed", "true")
    run = run_of(page)
    page.get_by_role("button", name="Answer 1").click()
    expect(page.get_by_role("button", name="Answer 1")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Answer 1")).to_be_focused()
    expect(page.locator(".line").first).to_be_visible()
    assert run_of(page) == run


def test_two_models_stand_against_the_same_context(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ready(page)
    pick(page, "second_model", "Scripted · wrong number")
    ask(page)
    expect(page.locator("#ctx-answer-2")).to_have_attribute("data-done", "true")
    expect(page.locator(".headline")).to_have_count(2)
    page.locator('.line[data-pane="1"] .chip').last.click()
    expect(page.locator('.line[data-pane="1"]').last).to_have_class(re.compile("current"))
    expect(page.locator("#head")).to_be_in_viewport()


@pytest.mark.parametrize("width", [390, 820])
def test_on_a_narrow_page_the_source_opens_under_its_claim(app, open_page, width):
    page = open_page(f"{app}{QUERY}", width=width, height=844)
    ask(page)
    chip = page.locator(".chip").nth(1)
    chip.click()
    assert 0 <= below_the_head(page) < 250
    assert page.locator(".line").nth(1).locator("#desk").count() == 1
    page.keyboard.press("Escape")
    expect(chip).to_be_in_viewport()
    expect(chip).to_be_focused()
    expect(page.locator(HITS)).to_have_count(0)
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth + 1")
    boxes = [page.locator(".line").nth(at).bounding_box() for at in range(3)]
    assert all(one["y"] + one["height"] <= two["y"] + 1 for one, two in pairwise(boxes))


def test_a_spoken_answer_names_its_sources(app, open_page):
    page = open_page(f"{app}{QUERY}&ch=voice")
    ask(page)
    expect(page.locator(".chip")).to_have_count(0)
    page.locator("[data-attribution]").first.click()
    expect(page.locator(HITS).first).to_be_in_viewport()


def test_the_check_is_a_file(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ask(page)
    page.get_by_text("Prompt and export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Check as JSON").click()
    check = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert check["query_id"] == "visiting-ordinary-ward"
    assert check["claims"]


def test_a_stalled_answer_is_stopped_and_kept(app, open_page):
    page = open_page(f"{app}{QUERY}")
    ready(page)
    pick(page, "model", "Scripted · stall")
    page.get_by_role("button", name=re.compile("^Ask")).click()
    # All that had arrived is on the page before the model fell silent, not only its first word.
    expect(page.locator("#ctx-answer")).to_contain_text("one companion may come as far as the waiting room")
    page.get_by_role("button", name="Stop answering").click()
    expect(page.locator("#ctx-incomplete")).to_contain_text("Stopped on request.")
    expect(page.locator("#ctx-answer")).not_to_have_text("")


def test_streamlits_own_stop_ends_the_answer_and_the_page_goes_on(app, open_page):
    page = open_page(f"{app}{QUERY.partition('&model')[0]}&model=scripted%3Astall")
    ready(page)
    page.get_by_role("button", name=re.compile("^Ask")).click()
    expect(page.locator("#ctx-answer[aria-busy]")).to_contain_text("one companion may come as far as the waiting room")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("#ctx-incomplete")).to_contain_text("The page was stopped, or changed")
    expect(page.locator("#ctx-answer")).to_contain_text("one companion may come as far as the waiting room")
    expect(page.get_by_role("button", name=re.compile("^Ask again"))).to_be_enabled()
    expect(page.get_by_role("button", name="Stop answering")).to_have_count(0)


@pytest.mark.parametrize("button", ["Stop checking", "Stop"])
def test_a_check_that_hangs_is_stopped_and_the_page_is_whole(open_page, tmp_path, model_server, button):
    from tests.browser.conftest import serving

    with serving(tmp_path, CTXASM_LLM_BASE_URL=model_server.base_url, CTXASM_LLM_MODEL="hang") as url:
        page = open_page(f"{url}{QUERY}")
        ask(page)
        page.get_by_role("button", name="Change", exact=True).click()
        page.locator(".st-key-scorer_name input").first.click()
        page.get_by_role("option", name="a language model (llm)").click()
        expect(page.get_by_text("checking by llm")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.locator("[data-unchecked]")).to_contain_text("The check was stopped.")
        expect(page.locator(".line").first).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("^Ask again"))).to_be_enabled()
        expect(page.get_by_role("button", name="Stop checking")).to_have_count(0)


def test_a_link_opens_the_answer_and_leads_by_key_to_the_passage_that_it_does_not_use(app, open_page):
    page = open_page(f"{app}/ask?q=visiting-ordinary-ward&answer=recorded")
    expect(page.locator("#ctx-answer .line")).to_have_count(1)
    expect(page.locator("#reference")).to_contain_text("two visitors at a time")
    uses = page.get_by_role("button", name="uses 0 of 1 expected passages")
    run = run_of(page)
    uses.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#note")).to_contain_text("Expected, not used.")
    expect(page.locator(f"{HITS}.hit-unused").first).to_be_in_viewport()
    assert "hit-unused" in focused(page)
    page.keyboard.press("Escape")
    expect(uses).to_be_focused()
    assert run_of(page) == run


def test_a_declined_answer_is_beside_the_nearest_passage(app, open_page):
    for width in (1440, 390):
        page = open_page(f"{app}/ask?q=dental-implant&answer=recorded", width=width)
        expect(page.locator(f"{HITS}.hit-nearest").first).to_be_visible()
        expect(page.get_by_role("button", name="nearest passage")).to_be_visible()


def test_the_title_of_a_source_leads_to_what_claims_stand_on_in_it(app, open_page):
    page = open_page(f"{app}/ask?q=child-operation-cold&answer=recorded")
    page.locator("#ctx-sources summary").click()
    page.locator("#ctx-sources .card").nth(1).click()
    expect(page.locator("#title")).to_contain_text("[2]")
    expect(page.locator(HITS).first).to_be_in_viewport()
    expect(page.locator("#note")).to_be_hidden()


def test_hostile_sources_are_text_and_can_still_be_marked(other_app, open_page, tmp_path):
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
    page = open_page(f"{other_app}/load")
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
        if isinstance(node["target"][0], list) or any(ours in node["html"] for ours in ("cx", "ctx"))
    ]
    assert own == []


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("ask-light", 1400, "light"), ("ask-dark", 1400, "dark"), ("ask-phone", 390, "light")],
)
def test_screenshots_for_the_readme(app, open_page, name, width, scheme):
    page = open_page(
        f"{app}/ask?q=child-operation-cold&k=3&answer=recorded", width=width, height=860 if width > 500 else 1250, scheme=scheme
    )
    page.emulate_media(reduced_motion="reduce", color_scheme=scheme)
    expect(page.locator(".line").nth(1)).to_be_visible()
    page.locator(".chip").nth(1).click()
    expect(page.locator(HITS).first).to_be_in_viewport()
    page.mouse.move(5, 5)
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth + 1")
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SHOTS / f"{name}.png"))


def test_an_answer_is_kept_and_is_there_to_review_and_in_the_history(open_page, tmp_path):
    from tests.browser.conftest import serving
    from tests.browser.test_report import downloaded

    with serving(tmp_path) as url:
        page = open_page(f"{url}{QUERY}")
        ask(page)
        page.get_by_role("button", name="Keep", exact=True).click()
        link = page.locator("#ctx-kept a")
        expect(link).to_contain_text("review it")
        question = page.locator("#ctx-title").inner_text().splitlines()[-1]
        assert escape(question) in downloaded(page)
        expect(page.get_by_role("button", name="Keep", exact=True)).to_have_count(0)
        link.click()
        expect(page.locator("#ctx-title")).to_contain_text("Review")
        box = page.get_by_label("Your name")
        box.fill("An")
        box.press("Enter")
        expect(page.locator("#ctx-title")).to_contain_text("answer 1 of 1")
        expect(page.locator(".line.current .claim").first).to_be_focused()
        expect(page.get_by_role("button", name="Report", exact=True)).to_have_count(0)  # it would say what the checker says
        page.get_by_text("History", exact=True).click()
        expect(page.locator("#ctx-runs tbody tr")).to_have_count(1)
        assert escape(question) in downloaded(page)
