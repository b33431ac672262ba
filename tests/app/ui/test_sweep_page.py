"""Sweep: what the page says and draws is what `ctxasm.sweep` and `ctxasm.recommend` give, worked out here once more."""

from __future__ import annotations

import csv
import io
import re
import shutil
import time
from dataclasses import replace
from html import escape, unescape
from unittest.mock import ANY
from urllib.parse import parse_qsl

import pyarrow.parquet
import pytest
from streamlit.testing.v1 import AppTest

import ctxasm
from ctxasm.app import tuning_runs
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import read_pinned, read_values
from ctxasm.app.ui.sweep import page
from ctxasm.app.ui.sweep.page import HEADINGS, shipping_html
from ctxasm.app.ui.sweep.pictures import cell_html, front_of, heatmap_html, importance_figure
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config, shipped
from ctxasm.data.files.reading import load_bundle
from ctxasm.model.settings import label_of, spec_of
from ctxasm.model.settings_text import from_toml, from_url
from ctxasm.tuning.compare import compared
from ctxasm.tuning.engines import InProcess
from ctxasm.tuning.recommend import PriorChoice
from ctxasm.tuning.sweep_figures import BRIGHT, best_of, ceiling, colour_of, front_alt, heatmap_of, importances, rivals_words, share
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import at, fine, html, problems

AXES = {"expand_window": (0, 1), "max_tokens": (1000, 8000), "budget_policy": ("drop_documents", "segments")}
SOON = 60.0
FEW = 3


@pytest.fixture(scope="module")
def sample_file(tmp_path_factory):
    """In place of the whole sample its first questions: a page has no more to show for sixty."""
    path = tmp_path_factory.mktemp("few") / "few.db"
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{path}"}))
    sample = load_bundle(shipped("sample_data/hospital-nl"), "few")
    labelled = [query for query in sample.queries if query.is_labelled]
    bench.store.add(replace(sample, queries=tuple(labelled[:FEW])))
    bench.close()
    return path


@pytest.fixture(autouse=True)
def one_question_tells_the_pace(monkeypatch):
    """What a sweep takes is worked out on its first question, where a page in use gives it half a second."""
    monkeypatch.setattr("ctxasm.tuning.sweep.TRIED_S", 0.0)


def sweep_page(address: dict[str, str] | None = None, **values) -> AppTest:
    """The page opened by a link with these axes: what it takes is worked out for each choice."""
    grid = ";".join(f"{name}={','.join(map(str, chosen))}" for name, chosen in (AXES | values).items())
    return fine(at("sweep", **{"data": "few", "grid": grid} | (address or {})).run())


def running() -> list:
    return [job for job in server.jobs().seen() if job.key.startswith("sweep ")]


def ended(app: AppTest) -> AppTest:
    """The page once nothing runs any more: drawn at its end, and not all the while."""
    for job in running():
        job.wait(SOON)
        assert not job.running
    return fine(app.run())


def by_id(app: AppTest, name: str) -> str:
    """The words of the element of this id."""
    (body,) = re.findall(rf'id="{name}">(.*?)</(?:p|div|dd)>', html(app), re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.fixture(scope="module")
def found(sample_file):
    """What the page counts and decides of this grid, counted anew."""
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{sample_file}"}))
    yield tuning_runs.decided(bench, ctxasm.AssemblySettings(), AXES, "few", keep=False)
    bench.close()


@pytest.fixture(scope="module")
def counted_file(sample_file, tmp_path_factory):
    """The same questions with what a page counts of this grid kept, so that a page that begins with it draws at once."""
    path = shutil.copy(sample_file, tmp_path_factory.mktemp("counted") / "counted.db")
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": f"sqlite:///{path}"}))
    tuning_runs.decided(bench, ctxasm.AssemblySettings(), AXES, "few")
    bench.close()
    return path


@pytest.fixture
def counted_url(own_copy, counted_file):
    """The address of a copy of it."""
    return own_copy(counted_file)


def test_sentence_heatmap_table_and_recommendation_are_those_of_the_doors(found, own_url):
    swept, recommended = found
    with ctxasm.open_store(own_url) as store:
        alone = ctxasm.sweep(AXES, store, "few", keep=False)
    assert alone.rows() == swept.rows()
    assert set(alone.settings) < set(recommended.found.settings)
    app = ended(fine(sweep_page().button(key="start_sweep").click().run()))
    assert by_id(app, "ctx-decision") == recommended.sentences()[0]
    assert by_id(app, "ctx-gold") == swept.gold
    rows = swept.rows()
    for policy in AXES["budget_policy"]:
        fine(app.selectbox(key="sweep_at_budget_policy").set_value(policy).run())
        expected = {tuple(row.changes.values()): at for at, row in enumerate(rows)}
        places = [expected[window, limit, policy] for window in AXES["expand_window"] for limit in AXES["max_tokens"]]
        cells = re.findall(r'data-at="(\d+)".*?>(★ )?(\d+ %) <small>(.*?)</small>', html(app))
        assert [int(at) for at, *_ in cells] == places
        assert [said for _, _, said, _ in cells] == [f"{100 * share(rows[at]):.0f} %" for at in places]
        (best,) = [int(at) for at, star, *_ in cells if star]
        assert rows[best].whole == max(rows[at].whole for at in places)
    drawn = html(app)
    assert [sentence in unescape(drawn) for sentence in recommended.sentences()] == [True] * len(recommended.sentences())
    table = app.dataframe[0].value
    assert sorted(zip(table["Evidence whole"], table["of"], strict=True)) == sorted((row.whole, row.labelled) for row in swept.rows())


@pytest.mark.parametrize("verdict", HEADINGS)
def test_every_verdict_says_what_it_gains_and_costs_and_opens_what_it_proposes(found, verdict):
    table = found.recommended.found
    at = next(at for at in range(len(table.settings)) if at != table.start)
    kept = verdict == "keep"
    made = replace(found.recommended, verdict=verdict, taken=table.start if kept else at, same=None, prior=PriorChoice(at, 0.05, 4))
    opened = []

    def link(*settings):
        opened.append(settings)
        return HOSTILE

    drawn = shipping_html(made, link, link)
    assert HEADINGS[verdict] in drawn
    if kept:
        assert escape(made.sentences()[1]) in drawn
    else:
        assert escape(compared(table, table.start, at).result.sentence()) in drawn
        assert f"{table.tokens(at):,.0f} tokens a question in place of {table.tokens(table.start):,.0f}" in unescape(drawn)
    assert "<script" not in drawn
    assert opened == [(made.settings,)] + ([] if kept else [(made.start, made.settings)])


def test_the_proposed_settings_are_copied_with_where_they_come_from(found, counted_url):
    recommended = found.recommended
    proposed = recommended.found.settings[recommended.proposed]
    app = ended(fine(sweep_page().button(key="start_sweep").click().run()))
    fine(app.button(key="proposed_written").click().run())
    toml, python, _ = (block.value for block in app.code)
    assert from_toml(toml) == proposed
    assert eval(python, {"AssemblySettings": ctxasm.AssemblySettings}) == proposed
    assert f"# ctxasm {ctxasm.__version__}, data few {recommended.found.digest[:12]}, {FEW} labelled questions" in toml


@pytest.mark.parametrize("at", range(4))
def test_the_origin_of_a_setting_is_its_gain_as_compare_says_it(found, at):
    made, table = found.recommended, found.recommended.found
    gain = compared(table, table.start, at).result.sentence()
    said = made._headline(), made._gain()
    assert made.origin(at)[1:] == (said if at == table.start else (f"against the defaults: {gain}",))


def test_a_second_sweep_counts_nothing_anew(own_url, monkeypatch):
    results = []

    def noted(*args, **options):
        results.append(real(*args, **options))
        return results[-1]

    real = tuning_runs.decided
    monkeypatch.setattr(tuning_runs, "decided", noted)
    app = sweep_page()
    for _ in range(2):
        ended(fine(app.button(key="start_sweep").click().run()))
    first, second = (each.recommended.found for each in results)
    assert first.reused == 0
    assert second.reused == first.outcomes.shape[0] * len(first.query_ids) + len(first.query_ids)
    assert second.rows() == first.rows()
    assert results[1].swept.to_json() == results[0].swept.to_json()


def test_what_it_takes_is_said_before_it_runs(own_url):
    app = sweep_page()
    said = re.sub(r"(?<=\d) (?=\d{3})", "", by_id(app, "ctx-plan"))
    own, more, questions, cells = map(int, re.match(r"(\d+) settings, (\d+) more .*? (\d+) questions.*?: (\d+) assemblies", said).groups())
    assert own == 8  # with the settings that one starts from among them
    assert cells == (own + more) * questions
    assert not app.get("plotly_chart")


def test_cancel_keeps_what_was_counted_and_start_goes_on(own_url, monkeypatch):
    def slow(*args):
        while not args[-1]():
            time.sleep(0.005)
        return real(*args)

    real = tuning_runs.decided
    monkeypatch.setattr(tuning_runs, "decided", slow)
    monkeypatch.setattr("ctxasm.app.ui.frame.work.PATIENCE_S", 0.01)
    app = sweep_page()
    app = fine(app.button(key="start_sweep").click().run())
    assert running()
    assert "start_sweep" not in {button.key for button in app.button}
    app = ended(fine(app.button(key="cancel_sweep few").click().run()))
    assert "Cancelled" in by_id(app, "ctx-cancelled")
    assert 'id="ctx-recommended"' not in html(app)
    monkeypatch.setattr(tuning_runs, "decided", real)
    app = ended(fine(app.button(key="start_sweep").click().run()))
    (panel,) = re.findall(r'id="ctx-recommended"><h2>(.*?)</h2>.*?<p>(<a .*?)</p><details', html(app))
    recommended = app.session_state["sweep_result"][1].recommended
    assert panel[0] == HEADINGS[recommended.verdict]
    assert ("view=all" in panel[1]) == (recommended.proposed != recommended.found.start)
    assert 'id="ctx-cancelled"' not in html(app)


def test_without_labelled_questions_it_says_what_is_missing(open_app):
    app = sweep_page({"data": "attack"})
    assert "No question says which passages answer it" in html(app)
    assert "start_sweep" not in {button.key for button in app.button}


def test_an_empty_list_says_which(own_url):
    app = fine(sweep_page().multiselect(key="sweep_max_tokens").set_value([]).run())
    assert problems(app) == ["Choose at least one value: Max tokens."]


def test_of_settings_that_are_off_the_grid_is_on(counted_url):
    app = ended(fine(sweep_page({"on": "false"}).button(key="start_sweep").click().run()))
    assert len(set(re.findall(r">(?:★ )?(\d+ %) <small>", html(app)))) > 1


def test_a_row_that_is_picked_links_its_settings(found, counted_url):
    swept, _ = found
    app = sweep_page()
    assert len(app.get("plotly_chart")) == 2
    assert 'id="ctx-row"' not in html(app)
    table = app.dataframe[0].value
    order = sorted(swept.rows(), key=lambda row: (-row.whole, row.tokens))
    assert list(table["Evidence whole"]) == [row.whole for row in order]
    assert list(table["Max tokens"]) == [row.settings.max_tokens for row in order]
    assert set(table["Budget policy"]) == {"drop documents", "segments"}
    assert list(table["Mark"]).count("yours") == 1
    for place, picked in ((2, {"rows": [2]}), (5, {"cells": [(5, "of")]})):
        app.session_state["swept"] = {"selection": {"rows": [], "columns": [], "cells": []} | picked}
        drawn = html(fine(app.run())).split('id="ctx-row"')[1]
        address = dict(parse_qsl(unescape(re.search(r'href="\./\?([^"]*)"', drawn)[1])))
        assert (address.pop("data"), address.pop("q")) == ("few", ANY)
        assert from_url(address)[0] == order[place].settings


def test_the_csv_is_the_table(found):
    swept, _ = found
    rows = list(csv.DictReader(io.StringIO(page._csv(swept))))
    assert list(rows[0]) == [*AXES, "whole", "labelled", "evidence", "tokens", "front", "start"]
    assert [int(row["whole"]) for row in rows] == [row.whole for row in swept.rows()]
    table = pyarrow.parquet.read_table(io.BytesIO(page._parquet(swept))).to_pylist()
    assert [row["whole"] for row in table] == [row.whole for row in swept.rows()]
    assert list(table[0]) == list(rows[0])


def test_the_best_cell_is_the_cheapest_of_those_that_hold_most(found):
    swept, _ = found
    drawn = heatmap_of(swept, "expand_window", "max_tokens", {"budget_policy": "segments"})
    cells = [swept.rows()[at] for row in drawn.cells for at in row]
    best = swept.rows()[drawn.best]
    assert {cell.settings.budget_policy for cell in cells} == {"segments"}
    assert best.whole == max(cell.whole for cell in cells)
    assert best.tokens == min(cell.tokens for cell in cells if cell.whole == best.whole)
    assert {swept.rows()[best_of(swept)].whole} == {max(row.whole for row in swept.rows())}
    pressed = re.findall(r'data-at="(\d+)" aria-pressed="true"', heatmap_html(swept, drawn, (drawn.best,)))
    assert pressed == [str(drawn.best)]


def test_black_and_white_are_read_on_everycolour_of():
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for step in range(101):
        ink, ground = (0.0 if step / 100 >= BRIGHT else 1.0), light(colour_of(step / 100))
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5, step


def test_a_cell_says_the_questions_that_flip_and_links_them_to_compare(found):
    swept, _ = found
    at = next(at for at in range(len(swept.settings)) if all(swept.flips(at, 0)) or any(swept.flips(at, 0)))
    linked = []

    def link(query_id):
        linked.append(query_id)
        return f"./{HOSTILE}"

    drawn = cell_html(swept, at, 0, {}, f"./?{HOSTILE}", link)
    gained, lost = swept.flips(at, 0)
    assert {what: int(count) for what, count in re.findall(r'data-flips="(\w+)" data-count="(\d+)"', drawn)} == {
        "gains": len(gained),
        "loses": len(lost),
    }
    assert sorted(linked, key=lambda name: name is not None) == [None, *gained[:12], *lost[:12]]
    assert "<script" not in drawn


def test_a_click_on_a_cell_is_kept_and_the_one_before(counted_url):
    app = ended(fine(sweep_page().button(key="start_sweep").click().run()))
    app.session_state["sweep_cells"] = (0, 3)
    drawn = html(fine(app.run()))
    assert len(re.findall('aria-pressed="true"', drawn)) in (1, 2)
    assert 'id="ctx-cell"' in drawn
    addresses = [dict(parse_qsl(unescape(query))) for query in re.findall(r'href="\./compare\?([^"]*)"', drawn.split('id="ctx-cell"')[1])]
    swept = app.session_state["sweep_result"][1].swept
    assert {from_url(said)[0] for said in addresses} == {swept.settings[3]}
    assert {read_pinned(said)[0] for said in addresses} == {swept.settings[0]}
    gained, lost = swept.flips(3, 0)
    assert [said["q"] for said in addresses if said.get("view") != "all"] == [*gained, *lost]
    assert [said["view"] for said in addresses if "view" in said] == ["all"]


def test_the_front_and_what_makes_the_difference_are_those_of_the_sweep(found):
    swept, _ = found
    figure = front_of(swept)
    named = {trace.name: trace for trace in figure.data}
    assert list(named["front"].x) == [swept.rows()[at].tokens for at in swept.front()]
    assert list(named["yours"].y) == [share(swept.rows()[swept.start])]
    assert figure.layout.xaxis.tickformat == ",d"  # 4,000, as everywhere
    assert ceiling(swept) == float(swept.reachable.mean())
    assert f"{100 * ceiling(swept):.0f} %" in front_alt(swept)
    parts = dict(importances(swept))
    own = {label_of(spec_of(name)): part for name, part in swept.importance().items()}
    together = {"settings together": pytest.approx(1 - sum(own.values()))} if sum(own.values()) < 0.995 else {}
    assert parts == own | together
    (bars,) = importance_figure(list(parts.items())).data
    assert (bars.y, bars.x) == (tuple(parts), tuple(parts.values()))
    assert bars.text == tuple(f"{100 * part:.0f} %" for part in parts.values())


def test_a_line_for_each_window_goes_along_the_number_of_hits(own_url):
    axes = {"expand_window": (0, 1), "max_tokens": (1000, 8000), "top_k": (3, 5, None)}
    with ctxasm.open_store(own_url) as store:
        swept = ctxasm.sweep(axes, store, "few", keep=False)
    rows, best = swept.rows(), swept.settings[best_of(swept)]
    place = {tuple(row.changes.values()): row for row in rows}
    named = {trace.name: trace for trace in front_of(swept).data}
    for window in axes["expand_window"]:
        line = [place[window, best.max_tokens, hits] for hits in axes["top_k"]]
        assert list(named[f"Neighbours {window}"].x) == [row.tokens for row in line]
        assert list(named[f"Neighbours {window}"].y) == [share(row) for row in line]
    assert f"Max tokens {best.max_tokens:,}" in rivals_words(swept)


def test_without_both_rivals_there_are_no_lines(found):
    swept, _ = found
    assert rivals_words(swept) == ""
    assert {trace.name for trace in front_of(swept).data} <= {"tried", "front", "yours", "default"}


def test_another_setting_becomes_an_axis_and_two_are_chosen_to_be_drawn(own_url):
    app = sweep_page(max_tokens=(2000,), budget_policy=("segments",))
    app.multiselect(key="sweep_more").set_value(["ordering", "decay"])
    fine(app.run())
    app.multiselect(key="sweep_ordering").set_value(["document_first", "bookend"])
    fine(app.multiselect(key="sweep_decay").set_value(["0.5", "2"]).run())
    assert [each.split(",")[0] for each in problems(app)] == ["decay must be a number above 0 and at most 1"]
    app = fine(app.multiselect(key="sweep_decay").set_value(["0.5", "0.8"]).run())
    app = ended(fine(app.button(key="start_sweep").click().run()))
    assert "<th" in html(app)
    assert len(re.findall("data-at=", html(app))) == 4
    fine(app.selectbox(key="sweep_at_down").set_value("decay").run())
    assert re.search(r'<th scope="row">0\.5</th>', html(app))


def test_axes_are_in_the_address_and_a_reload_has_them_again(own_url):
    app = fine(at("sweep", data="few").run())
    assert "grid" not in app.query_params
    app.multiselect(key="sweep_max_tokens").set_value([2000, "3,000"])
    app.multiselect(key="sweep_more").set_value(["decay"])
    app = fine(app.run())
    fine(app.multiselect(key="sweep_decay").set_value(["0.8", "0.5"]).run())
    grid = app.query_params["grid"]
    assert grid == "max_tokens=2000,3000;decay=0.5,0.8"
    again = fine(at("sweep", data="few", grid=grid).run())
    assert read_values(spec_of("max_tokens"), again.multiselect(key="sweep_max_tokens").value)[0] == (2000, 3000)
    assert read_values(spec_of("decay"), again.multiselect(key="sweep_decay").value)[0] == (0.5, 0.8)
    assert again.query_params["grid"] == grid
    assert by_id(again, "ctx-plan").partition(", about")[0] == by_id(app, "ctx-plan").partition(", about")[0]
    fine(again.switch_page("../../../pages/load.py").run())
    assert "grid" not in again.query_params


@pytest.mark.parametrize("grid", ["max_tokens=many", "max_tokens", "nothing=1", "separator=a,b", "decay=1;decay=0", "budget_policy=;"])
def test_axes_of_an_address_that_cannot_be_used_are_named_once(own_url, grid):
    app = fine(at("sweep", data="few", grid=grid).run())
    (notice,) = re.findall(r'id="ctx-notice".*?</ul>', html(app), re.DOTALL)
    assert notice.count("<li>grid: ") == 1
    assert app.multiselect(key="sweep_max_tokens").value == [2000, 4000, 8000]


def test_a_reload_shows_what_was_counted_and_counts_nothing(found, counted_url, monkeypatch):
    monkeypatch.setattr(InProcess, "run", lambda *_: pytest.fail("something was counted"))
    app = sweep_page()
    assert by_id(app, "ctx-decision") == found.recommended.sentences()[0]
    assert app.button(key="start_sweep")


def test_a_reload_with_something_left_to_count_waits_for_start(counted_url):
    app = sweep_page(max_tokens=(1000, 7000))
    assert 'id="ctx-recommended"' not in html(app)
    assert app.button(key="start_sweep")


def test_another_sweep_has_other_policies_to_show(counted_url):
    app = ended(fine(sweep_page().button(key="start_sweep").click().run()))
    fine(app.selectbox(key="sweep_at_budget_policy").set_value("segments").run())
    app.multiselect(key="sweep_budget_policy").set_value(["drop_documents", "greedy"])
    app = ended(fine(app.button(key="start_sweep").click().run()))
    assert list(app.selectbox(key="sweep_at_budget_policy").options) == ["drop documents", "greedy"]
    assert app.selectbox(key="sweep_at_budget_policy").value in ("drop_documents", "greedy")


def test_progress_is_one_count_that_ends_at_its_total(own_url):
    told = []
    start = ctxasm.AssemblySettings()
    tuning_runs.decided(server.workbench(), start, AXES, "few", told.append)
    done = [each.done for each in told]
    assert done == sorted(done)
    assert {each.total for each in told} == {done[-1]}
