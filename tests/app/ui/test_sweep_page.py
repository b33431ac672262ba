"""Sweep: what the page says and draws is what `ctxasm.sweep` and `ctxasm.recommend` give, worked out here once more."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import time
from dataclasses import replace
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

import ctxasm
from ctxasm.app import tuned
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.sweep.heatmap import figure_of, heatmap_of, share
from ctxasm.app.ui.sweep.settings_table import settings_table
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config, shipped
from ctxasm.data.files.reading import load_bundle
from ctxasm.model.settings_text import from_url
from ctxasm.tuning.sweep.deciding import decide
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import MAIN, fine, html, problems

AXES = {"expand_window": (0, 1), "max_tokens": (1000, 8000), "budget_policy": ("drop_documents", "segments")}
SOON = 60.0
FEW = 8


@pytest.fixture(scope="module")
def few_file(tmp_path_factory):
    """A database with the first questions of the sample: a page has no more to show for sixty."""
    path = tmp_path_factory.mktemp("few") / "few.db"
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{path}"}))
    sample = load_bundle(shipped("sample_data/hospital"), "few")
    labelled = [query for query in sample.queries if query.gold or query.spans]
    bench.store.add(replace(sample, queries=tuple(labelled[:FEW])))
    bench.close()
    return path


@pytest.fixture
def own_url(tmp_path, monkeypatch, few_file):
    """The address of a database of this test's own; the pages read it."""
    url = f"sqlite:///{shutil.copy(few_file, tmp_path / 'own.db')}"
    monkeypatch.setenv("CTXASM_DATABASE_URL", url)
    return url


def sweep_page(app: AppTest, **values) -> AppTest:
    """The page with these values chosen."""
    fine(app.switch_page("../../../pages/sweep.py").run())
    for name, chosen in (AXES | values).items():
        app.multiselect(key=f"sweep_{name}").set_value(list(chosen))
    return fine(app.run())


def running() -> list:
    return [job for job in server.jobs().seen() if job.key.startswith("sweep ")]


def ended(app: AppTest) -> AppTest:
    """The page once nothing runs any more."""
    until = time.monotonic() + SOON
    while running():
        assert time.monotonic() < until
        time.sleep(0.05)
        fine(app.run())
    return app


def opened(**address: str) -> AppTest:
    app = AppTest.from_file(str(MAIN), default_timeout=300)
    for name, value in ({"data": "few"} | address).items():
        app.query_params[name] = value
    return app.run()


def by_id(app: AppTest, name: str) -> str:
    """The words of the element of this id."""
    (body,) = re.findall(rf'id="{name}">(.*?)</(?:p|div)>', html(app), re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.fixture
def found(own_url):
    """What the doors give for the same grid, counted anew."""
    with ctxasm.open_store(own_url) as store:
        yield ctxasm.sweep(AXES, store, "few", keep=False), ctxasm.recommend(store, "few", keep=False)


def test_sentence_heatmap_table_and_recommendation_are_those_of_the_doors(found):
    swept, recommended = found
    app = ended(fine(sweep_page(opened()).button(key="start_sweep").click().run()))
    assert by_id(app, "ctx-decision") == decide(swept).sentence
    for policy in AXES["budget_policy"]:
        fine(app.segmented_control(key="sweep_shown").set_value(policy).run())
        spec = json.loads(app.get("plotly_chart")[0].proto.spec)
        expected = {tuple(row.changes.values()): row for row in swept.rows()}
        shares = {
            (window, limit): expected[window, limit, policy].whole / len(swept.labelled)
            for window in AXES["expand_window"]
            for limit in AXES["max_tokens"]
        }
        texts = {(note["y"], note["x"]): note["text"] for note in spec["layout"]["annotations"]}
        assert [texts[y, x].removeprefix("★ ") for y in (0, 1) for x in (0, 1)] == [f"{value:.0%}" for value in shares.values()]
        (best,) = [at for at, text in texts.items() if text.startswith("★")]
        assert shares[AXES["expand_window"][best[0]], AXES["max_tokens"][best[1]]] == max(shares.values())
    drawn = html(app)
    assert [sentence in unescape(drawn) for sentence in recommended.sentences()] == [True] * len(recommended.sentences())
    assert f"(n = {recommended.held.n})" in drawn
    rows = re.findall(r"(\d+) of (\d+)</td>", drawn)
    assert sorted(rows) == sorted((str(row.whole), str(row.labelled)) for row in swept.rows())


def test_a_second_sweep_counts_nothing_anew(own_url, monkeypatch):
    results = []

    def noted(*args, **options):
        results.append(real(*args, **options))
        return results[-1]

    real = tuned.swept
    monkeypatch.setattr(tuned, "swept", noted)
    app = sweep_page(opened())
    for _ in range(2):
        ended(fine(app.button(key="start_sweep").click().run()))
    first, second = results
    assert first.reused == 0
    assert second.reused == first.outcomes.shape[0] * len(first.query_ids) + len(first.query_ids)
    assert second.to_json() == first.to_json()


def test_what_it_takes_is_said_before_it_runs(own_url):
    app = sweep_page(opened())
    said = re.sub(r"(?<=\d) (?=\d{3})", "", by_id(app, "ctx-plan"))
    own, more, questions, cells = map(int, re.match(r"(\d+) settings, (\d+) more .*? (\d+) questions .*?: (\d+) assemblies", said).groups())
    assert own == 8  # with the settings that one starts from among them
    assert cells == (own + more) * questions
    assert not app.get("plotly_chart")


def test_cancel_keeps_what_was_counted_and_start_goes_on(own_url, monkeypatch):
    def slow(*args, cancelled, **options):
        while not cancelled():
            time.sleep(0.005)
        return real(*args, cancelled=cancelled, **options)

    real = tuned.swept
    monkeypatch.setattr(tuned, "swept", slow)
    monkeypatch.setattr("ctxasm.app.ui.sweep.page.PATIENCE_S", 0.01)
    app = sweep_page(opened())
    app = fine(app.button(key="start_sweep").click().run())
    assert running()
    assert "start_sweep" not in {button.key for button in app.button}
    app = ended(fine(app.button(key="cancel_sweep few").click().run()))
    assert "Cancelled" in by_id(app, "ctx-cancelled")
    assert 'id="ctx-recommended"' not in html(app)
    monkeypatch.setattr(tuned, "swept", real)
    app = ended(fine(app.button(key="start_sweep").click().run()))
    assert 'id="ctx-recommended"' in html(app)
    assert 'id="ctx-cancelled"' not in html(app)


def test_without_labelled_questions_it_says_what_is_missing(open_app):
    app = sweep_page(open_app(data="attack"))
    assert "No question says which passages answer it" in html(app)
    assert "start_sweep" not in {button.key for button in app.button}


def test_an_empty_list_says_which(own_url):
    app = sweep_page(opened(), max_tokens=())
    assert problems(app) == ["Choose at least one value: Max tokens."]


def test_of_settings_that_are_off_the_grid_is_on(own_url):
    app = ended(fine(sweep_page(opened(on="false")).button(key="start_sweep").click().run()))
    spec = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert len({note["text"] for note in spec["layout"]["annotations"]}) > 1


def test_a_row_opens_inspect_with_its_settings(found):
    swept, _ = found
    addresses = []

    def link(settings):
        addresses.append(settings)
        return f"./?data={HOSTILE}"

    drawn = settings_table(swept, link)
    assert sorted(map(str, addresses)) == sorted(map(str, swept.settings))
    assert "<script" not in drawn
    app = ended(fine(sweep_page(opened()).button(key="start_sweep").click().run()))
    hrefs = re.findall(r'href="\./\?([^"]*)" target="_blank" aria-label', html(app))
    queries = [dict(pair.split("=", 1) for pair in unescape(href).split("&")) for href in hrefs]
    assert {query["data"] for query in queries} == {"few"}
    opening = {from_url({k: v for k, v in query.items() if k not in ("data", "q")})[0] for query in queries}
    assert opening == set(swept.settings)


def test_the_csv_is_the_table(found):
    swept, _ = found
    rows = list(csv.DictReader(io.StringIO(swept.csv())))
    assert [int(row["whole"]) for row in rows] == [row.whole for row in swept.rows()]


def test_the_picture_says_every_share_and_outlines_the_cheapest_best(found):
    drawn = heatmap_of(found[0], "segments")
    best = drawn.cells[drawn.best[0]][drawn.best[1]]
    cells = [cell for row in drawn.cells for cell in row]
    assert best.whole == max(cell.whole for cell in cells)
    assert best.tokens == min(cell.tokens for cell in cells if cell.whole == best.whole)
    assert all(f"{share(cell):.0%}" in drawn.alt for cell in cells)
    assert len(figure_of(drawn).layout.shapes) == 2


def test_another_sweep_has_other_policies_to_show(own_url):
    app = ended(fine(sweep_page(opened()).button(key="start_sweep").click().run()))
    fine(app.segmented_control(key="sweep_shown").set_value("segments").run())
    app.multiselect(key="sweep_budget_policy").set_value(["drop_documents", "greedy"])
    app = ended(fine(app.button(key="start_sweep").click().run()))
    assert list(app.segmented_control(key="sweep_shown").options) == ["drop documents", "greedy"]
    assert app.segmented_control(key="sweep_shown").value in ("drop_documents", "greedy")


def test_progress_is_one_count_that_ends_at_its_total(own_url):
    told = []
    start = ctxasm.AssemblySettings()
    tuned.decided(server.workbench(), start, AXES, "few", told.append)
    done = [each.done for each in told]
    assert done == sorted(done)
    assert {each.total for each in told} == {done[-1]}
