"""Review in a real browser: twenty answers by keyboard alone, blind first, hostile texts, read by axe."""

from __future__ import annotations

import re

import pytest

from ctxasm.model.runs import Judgement, Passage, Run, RunSource
from tests.app.test_report import PLAIN
from tests.browser.test_report import downloaded

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)

ANSWERS = 20
EACH = 8
HOSTILE = [" ".join([*PLAIN[at : at + EACH], "[x](javascript:boom(1)) $x$ :red[x] {{7*7}}"]) for at in range(0, len(PLAIN), EACH)]
"""More than 160 payloads, some in each text: all of them stand in every field of some answer."""
# When the focus reaches the next claim after a key, in milliseconds.
WATCH = """() => {
  window.keyed = [];
  const focused = (root = document) => root.activeElement?.shadowRoot ? focused(root.activeElement.shadowRoot) : root.activeElement;
  let keys = 0;
  addEventListener('keydown', (event) => {
    const own = ++keys, began = performance.now(), before = focused()?.closest('.line')?.dataset.at;
    const look = () => {
      const row = focused()?.closest('.line')?.dataset.at;
      if (own !== keys) return;
      if (row !== undefined && row !== before) window.keyed.push(performance.now() - began);
      else if (performance.now() - began < 5000) requestAnimationFrame(look);
    };
    if (/^[1-5]$/.test(event.key)) requestAnimationFrame(look);
  }, true);
}"""


def row(at: int, text: str = "") -> Run:
    first = f"Meals come at {at} {text}"
    answer = f"{first} [1]. Visits end at eight [1][2]."
    wrong, lost = ({"support": support, "citation": "right"} for support in ("contradicted", "not_found"))
    second = {"start": len(first) + 6, "end": len(first) + 26, "text": "Visits end at eight", "kind": "sentence", "markers": [1, 2]}
    claims = [
        {"start": 0, "end": len(first), "text": first, "kind": "sentence", "markers": [1], "axes": wrong},
        second | {"axes": lost},
    ]
    sources = (
        RunSource(
            1, f"Meals come at {at}. {text} Visits end at nine.", f"Guide {text}", f"d{text}", (0,), page_number=at, date="2025-01-01"
        ),
        RunSource(2, f"Visits end at eight. {text}", f"Ward {text}", "e", (0,)),
    )
    return Run(
        f"r{at:02}", f"2026-11-28T10:{at:02}", f"Question {at}? {text}", answer, {"claims": claims}, dataset="sample", author=text,
        model=text, sources=sources, reference=f"Reference {at} {text}",
    )  # fmt: skip


@pytest.fixture
def address(tmp_path, request):
    """A server of its own whose database holds these runs."""
    from ctxasm.app.workbench import Workbench
    from ctxasm.config import read_config
    from tests.browser.conftest import serving

    bench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{tmp_path / 'browser.db'}"}))
    bench.load_sample()
    bench.store.keep_runs([each for each in request.param if isinstance(each, Run)])
    bench.store.add_judgements([each for each in request.param if isinstance(each, Judgement)])
    bench.close()
    with serving(tmp_path) as url:
        yield url


def begin(page) -> None:
    box = page.get_by_label("Your name")
    box.fill("An")
    box.press("Enter")
    expect(page.locator("#verdict-1")).to_have_count(1)
    expect(page.locator(".line.current .claim").first).to_be_focused()  # the keys work at once


@pytest.mark.parametrize("address", [[row(at) for at in range(ANSWERS)]], indirect=True, ids=["twenty"])
def test_twenty_answers_are_reviewed_by_keyboard_alone_and_nothing_is_seen_before(address, open_page):
    page = open_page(f"{address}/review?data=sample", width=1440, height=900)
    begin(page)
    page.evaluate(WATCH)
    keys = page.keyboard
    for at in range(ANSWERS):
        expect(page.locator("#ctx-title")).to_contain_text(f"answer {at + 1} of {ANSWERS}")
        expect(page.locator(".line.current")).to_have_attribute("data-at", "0")
        assert "Checker" not in "".join(page.locator("#ctx-reader").all_inner_texts())
        if at == 0:  # every other key, once
            keys.press("j")
            expect(page.locator(".line.current")).to_have_attribute("data-at", "1")
            keys.press("k")
            expect(page.locator(".line.current .claim").first).to_be_focused()
            keys.press("Enter")
            expect(page.locator(".seg.hit-cited").first).to_be_focused()
            keys.press("Escape")
            keys.press("c")
            expect(page.locator("#review-note")).to_be_focused()
            keys.type("1 note 2 c s")
            keys.press("Escape")
            keys.press("g")
            expect(page.locator("#reference")).to_contain_text("Reference")
            keys.press("3")
            expect(page.locator('.line[data-at="0"] .verdict')).to_contain_text("wrong source")
            keys.press("u")
            expect(page.locator('.line[data-at="0"] .verdict')).to_contain_text("not judged")
            expect(page.locator(".line.current")).to_have_attribute("data-at", "0")
        for key in "512":
            keys.press(key)
        keys.press("1")
        expect(page.locator("#ctx-progress")).to_contain_text(f"{at + 1} of {ANSWERS} answers judged")
        expect(page.locator('.line[data-at="0"] .verdict')).to_contain_text("wrong fact")
        if at + 1 < ANSWERS:
            keys.press("Shift+Enter")
    keys.press("k")
    expect(page.locator("#differences")).to_contain_text("Checker")
    assert "Question 19?" in downloaded(page, "answer-r19.html")  # what was judged may be handed on
    times = sorted(page.evaluate("window.keyed"))
    assert len(times) >= ANSWERS
    print(f"key to next claim focused: p50 {times[len(times) // 2]:.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms, n {len(times)}")
    page.reload()
    expect(page.locator("#ctx-progress")).to_contain_text(f"{ANSWERS} of {ANSWERS} answers judged")


def with_others(runs: list[Run]) -> list[Run | Judgement]:
    """With what another reviewer, of a hostile name, says of each."""
    said = [
        Judgement(run.run_id, item, run.author[:200], "wrong_fact" if item != "answer" else None, run.author,
                  answers="no" if item == "answer" else None, should_cite=(Passage(run.author, 1, run.author),) if item == "answer" else ())
        for run in runs for item in ("0:1", "answer")
    ]  # fmt: skip
    return [*runs, *said]


@pytest.mark.parametrize("address", [with_others([row(at, text) for at, text in enumerate(HOSTILE)])], indirect=True, ids=["hostile"])
def test_of_160_payloads_in_every_field_none_runs_and_nothing_is_asked_for(address, open_page):
    page = open_page("about:blank", width=1440, height=900)
    ran, asked = [], []
    page.expose_function("boom", lambda said: ran.append(said))
    page.on("dialog", lambda dialog: (ran.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/review?data=sample")
    box, name = page.get_by_label("Your name"), HOSTILE[0][:90]
    box.fill(name)
    box.press("Enter")
    expect(page.locator(".line.current .claim").first).to_be_focused()
    keys = page.keyboard
    for at in range(len(HOSTILE)):
        expect(page.locator("#ctx-title")).to_contain_text(f"answer {at + 1} of {len(HOSTILE)}")
        expect(page.locator(".line.current")).to_have_attribute("data-at", "0")
        keys.press("c")
        keys.insert_text(HOSTILE[at])
        keys.press("Escape")
        for key in "1111":
            keys.press(key)
        keys.press("g")
        expect(page.locator("#ctx-progress")).to_contain_text(f"{at + 1} of {len(HOSTILE)} answers judged")
        expect(page.locator("#differences")).to_contain_text("does not")  # of the other reviewer, whose name is hostile too
        if at + 1 < len(HOSTILE):
            keys.press("Shift+Enter")
    page.get_by_text("What should have been cited").click()
    phrase = page.get_by_label("Phrase", exact=True)
    phrase.fill(HOSTILE[1][:190])
    phrase.press("Enter")
    expect(page.get_by_text("Not in this dataset")).to_be_visible()
    page.get_by_text("Agreement and gold", exact=True).click()
    expect(page.locator("#ctx-agreement")).to_be_visible()
    page.get_by_text("History", exact=True).click()
    expect(page.locator("#ctx-runs tbody tr")).to_have_count(len(HOSTILE))
    for at in range(3):
        page.locator(".st-key-history_other input").click()
        page.get_by_role("option").nth(at + 1).click()
        expect(page.locator("#ctx-run-difference")).to_be_visible()
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
    assert ran == []
    assert [url for url in asked if not url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))] == []
    assert [url for url in asked if url.removeprefix(address).partition("?")[0] in ("/x", "/evil.example/x")] == []
    print(f"{len(PLAIN)} payloads in every field of {len(HOSTILE)} answers: {len(ran)} executed, {len(asked)} requests, all our own")


@pytest.mark.parametrize("address", [[row(at) for at in range(2)]], indirect=True, ids=["two"])
def test_two_tabs_one_name_and_the_reviewer_chooses_between_both_texts(address, open_page):
    one, other = (open_page(f"{address}/review?data=sample", width=1440, height=900) for _ in range(2))
    for page in (one, other):
        begin(page)
    one.keyboard.press("1")
    expect(one.locator('.line[data-at="0"] .verdict')).to_contain_text("right")
    other.keyboard.press("5")
    panel = other.locator("#conflicts")
    expect(panel).to_contain_text("Saved there: right")
    expect(panel).to_contain_text("Yours, not saved: wrong fact")
    expect(other.locator('.line[data-at="0"] .verdict')).to_contain_text("right")
    panel.get_by_role("button", name="Save mine").click()
    expect(panel).to_be_hidden()
    expect(other.locator('.line[data-at="0"] .verdict')).to_contain_text("wrong fact")
    one.locator('.line[data-at="0"] .claim').first.click()
    one.keyboard.press("u")  # this tab has not seen what the other one saved: nothing is taken back silently
    expect(one.locator("#conflicts")).to_contain_text("Saved there: wrong fact")
    one.locator("#conflicts").get_by_role("button", name="Leave it").click()
    expect(one.locator("#conflicts")).to_be_hidden()
    other.reload()
    expect(other.locator('.line[data-at="0"] .verdict')).to_contain_text("wrong fact")


@pytest.mark.parametrize("address", [[row(at, text) for at, text in enumerate(HOSTILE[:6])]], indirect=True, ids=["hostile"])
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (820, "dark"), (390, "dark")])
def test_hostile_texts_do_nothing_and_axe_finds_nothing_of_ours(address, open_page, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(f"{address}/review?data=sample", width=width, height=900, scheme=scheme)
    begin(page)
    keys = page.keyboard

    def read(what: str) -> None:
        expect(page.locator(what)).to_have_count(1)  # what was drawn before may still be going
        expect(page.locator(what)).to_be_visible()
        expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = axe.run(page).response["violations"]
        ours = [
            f"{v['id']}: {node['html'][:160]}"
            for v in found
            for node in v["nodes"]
            if re.search("cx-|ctx-|review-|verdict|claim|judge", node["html"])
        ]
        assert ours == []

    read("#judge")
    for at, text in enumerate(HOSTILE[:6]):
        expect(page.locator("#ctx-title")).to_contain_text(f"answer {at + 1} of")
        expect(page.locator('.line[data-at="0"]')).to_contain_text(f"Meals come at {at} ")
        expect(page.locator(".line.current")).to_have_attribute("data-at", "0")
        keys.press("c")
        keys.insert_text(text)
        keys.press("Escape")
        for key in "1111":
            keys.press(key)
        keys.press("g")
        expect(page.locator("#ctx-progress")).to_contain_text(f"{at + 1} of 6 answers judged")
        if at + 1 < 6:
            keys.press("Shift+Enter")
    read("#judge")
    page.get_by_text("Agreement and gold", exact=True).click()
    read("#ctx-agreement")
    page.get_by_text("History", exact=True).click()
    read("#ctx-runs")
