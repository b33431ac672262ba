"""The pages under AppTest: frame, URL, notices, undo, presets, states."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from ctxasm.model.presets import PRESETS, preset
from ctxasm.model.settings import AssemblySettings, specs
from ctxasm.model.settings_text import to_url
from tests.ui.pages import MAIN, fine, html


def test_the_start_page_inspects_the_sample(open_app):
    app = fine(open_app())
    assert 'id="ctx-budget"' in html(app)
    assert 'data-balances="true"' in html(app)
    assert app.selectbox(key="data").value == "sample"
    assert len(app.get("plotly_chart")) == 1


def test_the_sidebar_is_there_on_the_second_run(open_app):
    app = open_app()
    first = [box.key for box in app.sidebar.selectbox]
    fine(app.run())
    assert [box.key for box in app.sidebar.selectbox] == first
    assert "q" in first


def test_at_most_seven_settings_lead_and_the_rest_is_one_panel(open_app):
    app = open_app()
    led = [w for kind in (app.sidebar.number_input, app.sidebar.selectbox, app.sidebar.toggle, app.sidebar.text_input) for w in kind]
    shown = {spec.url for spec in specs() if spec.kind != "choice" or len(spec.choices) > 1}
    keys = {widget.key for widget in led} | {group.key for group in app.sidebar.get("button_group")}
    assert shown <= keys
    assert not {spec.url for spec in specs() if spec.kind == "choice" and len(spec.choices) == 1} & keys


CHANGED = {
    "enabled": False, "top_k": 3, "expand_window": 2, "decay": 0.25, "decay_mode": "per_step", "min_overlap_chars": 33,
    "dedup_exact": False,
    "max_tokens": 2500, "budget_scope": "chunks", "oversized": "drop", "encoding": "o200k_base", "summary_prefix": False,
    "summary_template": "[Zie: {summary}]", "citation_unit": "passage", "gap_mark": "***", "marker_collisions": "warn",
    "channel": "voice",
}  # fmt: skip


@pytest.mark.parametrize("name", [spec.name for spec in specs() if spec.kind != "choice" or len(spec.choices) > 1])
def test_a_link_is_a_configuration(open_app, name):
    wanted = AssemblySettings(**{name: CHANGED[name]})
    app = fine(open_app(**to_url(wanted)))
    assert app.session_state["_now"] == wanted
    assert "ctx-notice" not in html(app)


def test_rejected_values_are_named_in_one_notice(open_app):
    app = fine(open_app(mt="99", w="x", cu="chapter", q="nobody"))
    page = html(app)
    assert page.count('id="ctx-notice"') == 1
    for words in ("max_tokens must be", "expand_window must be", "citation_unit must be", "query must be one of"):
        assert words in page
    assert app.session_state["_now"] == AssemblySettings()
    app.button(key="dismiss_notice").click().run()
    assert "ctx-notice" not in html(app)


def test_a_link_names_dataset_and_query_by_id(open_app):
    app = fine(open_app(data="attack", q="none"))
    assert (app.selectbox(key="data").value, app.selectbox(key="q").value) == ("attack", "none")
    assert "Retrieval returned nothing" in html(app)
    assert "The context is empty" in html(app)


def test_previous_and_next_query(open_app):
    app = open_app()
    first = app.selectbox(key="q").value
    assert app.button(key="previous_query").disabled
    fine(app.button(key="next_query").click().run())
    assert app.selectbox(key="q").value != first
    fine(app.button(key="previous_query").click().run())
    assert app.selectbox(key="q").value == first


def test_undo_redo_and_reset(open_app):
    app = open_app()
    assert app.button(key="undo").disabled
    app.number_input(key="mt").set_value(2000).run()
    app.number_input(key="mo").set_value(50).run()
    assert app.session_state["_now"].changed() == {"max_tokens": 2000, "min_overlap_chars": 50}
    assert app.button(key="reset").label == "Reset 2 changes"
    fine(app.button(key="undo").click().run())
    assert app.session_state["_now"].changed() == {"max_tokens": 2000}
    assert app.number_input(key="mo").value == 20
    fine(app.button(key="redo").click().run())
    assert app.number_input(key="mo").value == 50
    fine(app.button(key="reset").click().run())
    assert app.session_state["_now"] == AssemblySettings()
    fine(app.button(key="undo").click().run())
    assert app.number_input(key="mt").value == 2000


@pytest.mark.parametrize("name", list(PRESETS))
def test_presets(open_app, name):
    app = open_app()
    app.selectbox(key="_preset").set_value(name).run()
    assert fine(app).session_state["_now"] == preset(name)


def test_a_template_without_its_place_is_refused_in_words(open_app):
    app = open_app()
    app.text_input(key="pt").set_value("no place").run()
    assert next(error.value for error in app.sidebar.error).startswith("summary_template must be")
    assert app.session_state["_now"] == AssemblySettings()


@pytest.mark.parametrize("page", ["inspect", "ask"])
def test_hostile_text_is_escaped_on_every_page(open_app, page):
    app = open_app(data="attack", q="hostile")
    app.switch_page(f"../../pages/{page}.py").run()
    fine(app)
    assert "<script" not in html(app)
    assert "<img" not in html(app)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html(app)
    assert not any("alert(" in element.value for element in app.markdown)


STAGES = ("Expand", "Deduplicate", "Group", "Budget", "Prefixes & citations")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("parameters", [{}, {"mt": "500"}, {"on": "false"}, {"data": "attack", "q": "none"}, {"mt": "600", "bs": "chunks"}])
def test_every_stage_draws_in_every_state(open_app, stage, parameters):
    app = open_app(**parameters)
    app.session_state["stage"] = stage
    fine(app.run())
    assert len(app.get("plotly_chart")) <= 2


@pytest.mark.parametrize("tab", ["Life of a chunk", "Find text", "Gold evidence", "Latency", "Export"])
def test_every_closer_look_draws(open_app, tab):
    app = open_app()
    app.session_state["closer"] = tab
    fine(app.run())


def test_find_text_shows_chunks_that_were_not_retrieved(open_app):
    app = open_app()
    app.session_state["closer"] = "Find text"
    app.run()
    app.text_input(key="find_phrase").set_value("parkeren").run()
    fine(app)
    assert "not retrieved" in html(app)
    assert "<mark>" in html(app)


def test_overshoot_is_said(open_app):
    page = html(fine(open_app(mt="1400", bs="chunks")))
    assert " over</span>" in page


def test_an_unreachable_database_is_said_on_every_page(monkeypatch, tmp_path):
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path}/file-in-the-way/x.db")
    (tmp_path / "file-in-the-way").write_text("")
    app = AppTest.from_file(str(MAIN), default_timeout=30).run()
    fine(app)
    assert 'id="ctx-error"' in html(app)
    fine(app.switch_page("../../pages/load.py").run())
    assert 'id="ctx-error"' in html(app)
