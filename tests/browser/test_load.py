"""Every way in, in a real browser: files with a mapping, problems and the valid part; documents with Cancel; a table of a team."""

from __future__ import annotations

import json
import re
import sqlite3

import pytest

from tests.browser.conftest import ROOT, serving

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=60_000)
SPANS = ROOT / "tests/data/files/valid/openinference/llamaindex_spans.jsonl"
HOSTILE = "<img src=x onerror=alert(1)> ![a](https://outside.example/x.png) [1] $x$"
ROWS = ["doc;nr;tekst", "gids;0;De receptie is elke dag open van 8 tot 20 uur.", "gids;1;Parkeren kost twee euro per uur in de garage."]


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A server with a connection to a SQLite file of somebody's own."""
    folder = tmp_path_factory.mktemp("team")
    with sqlite3.connect(folder / "team.db") as base:
        base.execute("CREATE TABLE pages (id TEXT PRIMARY KEY, page_title TEXT, url TEXT)")
        base.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, page_id TEXT, chunk_index INTEGER, content TEXT, metadata TEXT)")
        base.execute(f'CREATE TABLE "{HOSTILE}" (a TEXT)')
        base.executemany("INSERT INTO pages VALUES (?, ?, ?)", [(f"p{n}", f"Pagina {n} {HOSTILE}", "x") for n in range(20)])
        rows = [(f"p{n // 10}", n % 10, f"Zaal {n}: parkeren en bezoek. {HOSTILE}", json.dumps({"page_number": n})) for n in range(200)]
        base.executemany("INSERT INTO chunks (page_id, chunk_index, content, metadata) VALUES (?, ?, ?, ?)", rows)
    base.close()
    with serving(folder, CTXASM_CONNECTION_TEAM=f"sqlite:///{folder / 'team.db'}") as url:
        yield url


def drop(page, *files) -> None:
    page.locator('input[type="file"]').first.set_input_files([str(file) for file in files])


def written(folder, name: str, *rows: str):
    path = folder / name
    path.write_text("\n".join((*ROWS, *rows)) + "\n")
    return path


def choose(page, label: str, option: str) -> None:
    box = page.get_by_role("combobox", name=re.compile(f"^{label}")).first
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).click()


def fits(page) -> bool:
    return page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth + 1")


def test_a_table_is_mapped_looked_at_and_imported(team, open_page, tmp_path):
    page = open_page(f"{team}/load")
    drop(page, written(tmp_path, "gids.csv"))
    card = page.locator('[data-file="gids.csv"]')
    expect(card).to_contain_text("chunks, by its columns")
    expect(page.locator(".cx-preview")).to_contain_text("Parkeren kost twee euro")
    choose(page, "title", "nr")
    expect(card).to_contain_text("mapped by you")
    expect(page.locator(".cx-preview th").filter(has_text="→ title")).to_be_visible()
    page.get_by_role("button", name=re.compile("Import$")).click()
    expect(page.locator("#ctx-report")).to_contain_text("gids")
    expect(page.get_by_role("combobox", name=re.compile("Dataset")).first).to_have_value("gids")


def test_after_an_import_the_picker_shows_the_query_of_the_new_dataset(team, open_page):
    page = open_page(f"{team}/load?data=sample")
    query = page.get_by_role("combobox", name=re.compile("Question")).first
    expect(query).to_have_value(re.compile("^visiting-ordinary"))
    drop(page, SPANS)
    page.get_by_role("button", name=re.compile("Import$")).click()
    expect(page.get_by_role("combobox", name=re.compile("Dataset")).first).to_have_value("llamaindex_spans")
    expect(query).to_have_value(re.compile("^0x"))
    page.get_by_role("link", name="Inspect").click()
    expect(page.locator("#ctx-budget")).to_be_visible()
    expect(query).to_have_value(re.compile("^0x"))


def test_what_came_of_an_import_is_in_view(team, open_page, tmp_path):
    page = open_page(f"{team}/load", width=390, height=600)
    drop(page, written(tmp_path, "klein.csv"))
    page.get_by_role("button", name=re.compile("Import$")).click()
    expect(page.locator("#ctx-report")).to_contain_text("klein")
    expect(page.locator("#ctx-report")).to_be_in_viewport(ratio=0.9)


def test_a_long_name_without_a_space_stays_inside_the_report(team, open_page, tmp_path):
    page = open_page(f"{team}/load", width=390)
    drop(page, written(tmp_path, f"{'n' * 90}.csv"))
    page.get_by_role("button", name=re.compile("Import$")).click()
    report = page.locator("#ctx-report")
    expect(report).to_contain_text("n" * 90)
    assert report.evaluate("panel => panel.scrollWidth <= panel.clientWidth")


def test_on_a_phone_every_cell_of_a_problem_is_seen(team, open_page, tmp_path):
    page = open_page(f"{team}/load", width=390, height=900)
    drop(page, written(tmp_path, "half.csv", "gids;2;"))
    cells = page.locator("#ctx-problems tbody tr").first.locator("td")
    expect(cells).to_have_count(5)
    for cell in cells.all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    field = cells.nth(2).locator("code")
    assert field.evaluate("code => code.getClientRects().length") == 1


def test_problems_are_listed_and_the_valid_part_is_a_choice_of_its_own(team, open_page, tmp_path):
    page = open_page(f"{team}/load")
    drop(page, written(tmp_path, "half.csv", "gids;2;", "gids;3;", "park;0;Een goede rij, die zeker blijft staan."))
    expect(page.locator("#ctx-problems tbody tr")).to_have_count(2)
    expect(page.get_by_role("button", name=re.compile("Import$"))).to_be_disabled()
    with page.expect_download() as saved:
        page.get_by_role("button", name="All of them as CSV").click()
    assert saved.value.suggested_filename == "problems.csv"
    page.get_by_role("button", name=re.compile(r"valid part only \(3 of 5 rows\)")).click()
    expect(page.locator("#ctx-report")).to_contain_text("left out 2 rows with a problem")


def test_reading_documents_can_be_cancelled_and_gone_on_with(team, open_page, tmp_path):
    folder = tmp_path / "handboek"
    folder.mkdir()
    text = "\n\n".join(f"Alinea {n} van het handboek over de werking van de afdeling en het bezoekuur." for n in range(9000))
    for n in range(60):
        (folder / f"deel{n:02}.md").write_text(f"# Deel {n}\n\n{text} {n}")
    page = open_page(f"{team}/load")
    page.get_by_role("tab", name="Documents").click()
    page.get_by_text("Folder on this machine").click()
    page.get_by_label("Folder, document or .zip").fill(str(folder))
    page.get_by_label("Folder, document or .zip").press("Enter")
    page.get_by_role("button", name="Read the documents").click()
    job = page.locator('[data-job="ingest handboek"]')
    expect(job).to_contain_text(re.compile(r"\d+ of 60"))
    expect(job).to_contain_text("left")
    page.get_by_role("link", name="Inspect").click()
    expect(page.locator("#ctx-budget")).to_be_visible()
    page.get_by_role("link", name="Load").click()
    expect(job).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    report = page.locator("#ctx-report")
    expect(report).to_contain_text("Cancelled")
    expect(report).to_contain_text("kept for the next time")
    page.get_by_role("button", name=re.compile("that are read")).click()
    expect(report).to_contain_text("handboek: ")
    expect(page.get_by_role("combobox", name=re.compile("Dataset")).first).to_have_value("handboek")


def test_a_table_of_a_team_is_linked_and_asked(team, open_page):
    page = open_page(f"{team}/load?w=2")
    page.get_by_role("tab", name="Your tables").click()
    choose(page, "Table", "chunks · 200 rows")
    expect(page.locator("#ctx-table-check")).to_have_attribute("data-usable", "200")
    expect(page.locator("pre", has_text="CREATE INDEX")).to_be_visible()
    page.get_by_text("The SQL that will run").click()
    # The expander is still opening, and the button moves with it.
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-script-state", "notRunning")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("pre", has_text=re.compile("SCAN|SEARCH")).first).to_be_visible()
    page.get_by_role("button", name="Link the table").click()
    expect(page.locator('[data-kind="linked"]')).to_be_visible()
    page.get_by_label("Ask your own question").fill("Waar kan ik parkeren?")
    page.get_by_label("Ask your own question").press("Enter")
    expect(page.locator("#ctx-title")).to_contain_text("Waar kan ik parkeren?")
    expect(page.locator("#ctx-budget")).to_be_visible()
    expect(page).to_have_url(re.compile(r"(?=.*w=2)(?=.*data=chunks)(?=.*ask=)"))
    expect(page.locator(".st-key-w").get_by_role("radio", name="2")).to_be_checked()


def test_names_and_values_that_attack_stay_text(team, open_page, tmp_path):
    attack = tmp_path / "gids ![x](https:outside.example) <img src=x onerror=alert(1)>.csv".replace("/", "-")
    head = f'doc;"{HOSTILE}";tekst'
    attack.write_text(f'{head}\n"{HOSTILE}";"=1+1";"{HOSTILE} en nog wat langere tekst"\na;b;\n')
    page = open_page(f"{team}/load")
    drop(page, attack)
    expect(page.locator("#ctx-problems")).to_be_visible()
    assert page.locator("img[src=x], img[src*=outside]").count() == 0
    page.get_by_role("button", name=re.compile("valid part only")).click()
    expect(page.locator("#ctx-report")).to_be_visible()
    page.get_by_role("tab", name="Your tables").click()
    expect(page.get_by_role("button", name="Read again")).to_be_visible()
    assert page.locator("img[src=x], img[src*=outside]").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("way", ["Files & paste", "Documents", "Your tables", "Sample"])
def test_every_way_is_accessible_and_fits_a_phone(team, open_page, tmp_path, way, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(f"{team}/load", width=390, height=1400, scheme=scheme)
    page.get_by_role("tab", name=way).click()
    if way == "Files & paste":
        drop(page, written(tmp_path, "smal.csv", "gids;2;"))
        page.get_by_label("Dataset name").fill("sample")
        page.keyboard.press("Enter")
        expect(page.locator("#ctx-taken")).to_contain_text("sample is there already")
        page.get_by_role("radio", name="Replace it").or_(page.get_by_role("button", name="Replace it")).first.click()
        expect(page.locator("#ctx-left-rows")).to_be_visible()
    if way == "Your tables":
        choose(page, "Table", "chunks · 200 rows")
        expect(page.locator("#ctx-table-check")).to_be_visible()
    expect(page.get_by_role("button", name="Enrich").first).to_be_visible()
    assert fits(page)
    serious = [v for v in axe.run(page).response["violations"] if v["impact"] == "critical"]
    assert [(v["id"], v["nodes"][0]["html"][:160]) for v in serious] == []


def test_a_dataset_is_enriched_by_rules_and_deleted(team, open_page, tmp_path):
    page = open_page(f"{team}/load")
    drop(page, written(tmp_path, "weg.csv"))
    page.get_by_role("button", name=re.compile("Import$")).click()
    expect(page.get_by_role("combobox", name=re.compile("Dataset")).first).to_have_value("weg")
    card = page.locator('[class*="st-key-dataset_"]').filter(has=page.get_by_role("button", name="weg", exact=True))
    card.get_by_role("button", name="Enrich").click()
    expect(page.locator("#ctx-estimate")).to_contain_text("no cost")
    page.get_by_role("button", name=re.compile("Enrich 2 chunks")).click()
    expect(page.locator("#ctx-report")).to_contain_text("2 of 2 chunks enriched")
    expect(card).to_contain_text("enriched")
    card.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it").click()
    expect(card).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 390])
def test_the_name_of_a_dataset_opens_it_in_inspect(app, open_page, width):
    page = open_page(f"{app}/load", width=width)
    name = page.get_by_role("button", name="sample", exact=True)
    expect(name).to_be_visible()
    # The sample was there first: it stands last.
    buttons = page.get_by_role("button", name="Export").last.bounding_box()
    words = page.locator(".cx-dataset").last.bounding_box()
    assert words["x"] + words["width"] <= buttons["x"] or words["y"] + words["height"] <= buttons["y"]
    name.click()
    expect(page.locator("#ctx-text")).to_be_visible()
    expect(page).to_have_url(re.compile(r"data=sample"))
