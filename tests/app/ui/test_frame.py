"""The pages under AppTest: frame, URL, notices, undo, presets, states."""

from __future__ import annotations

import runpy
import sys

import pytest

from ctxasm.app.ui.frame.settings_panel import EMPTY, GROUPS, LEADING, group_name
from ctxasm.app.ui.idle import idle
from ctxasm.app.ui.inspect.page import PICTURES, TABS
from ctxasm.llm.embedding import SLIDER, threshold_of
from ctxasm.llm.embedding.local import embedder_name
from ctxasm.model.presets import PRESETS, preset
from ctxasm.model.settings import AssemblySettings, spec_of, specs, value_words
from ctxasm.model.settings_text import from_url, to_url
from tests.app.ui.pages import MAIN, at, fine, html, kept, opened, with_settings
from tests.examples import few, in_turn


def test_the_start_page_inspects_the_sample(open_app):
    app = fine(open_app())
    assert 'id="ctx-budget"' in html(app)
    assert 'data-balances="true"' in html(app)
    assert app.selectbox(key="dataset_name").value == "sample"
    assert 'id="ctx-map"' in html(app)


def test_the_sidebar_is_there_on_the_second_run(open_app):
    app = open_app()
    first = [box.key for box in app.sidebar.selectbox]
    fine(app.run())
    assert [box.key for box in app.sidebar.selectbox] == first
    assert "query_id" in first


def test_the_script_takes_its_folder_off_the_import_path(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(MAIN.parent), *sys.path])
    monkeypatch.setattr("ctxasm.app.ui.frame.shell.run", lambda: None)
    runpy.run_path(str(MAIN), run_name="__main__")
    assert str(MAIN.parent) not in sys.path


KINDS = ("number_input", "selectbox", "toggle", "text_input", "button_group")
SETTING_KEYS = {spec.url for spec in specs()}


def widgets(app) -> dict[str, object]:
    """The widgets of settings by key."""
    return {element.key: element for kind in KINDS for element in app.get(kind) if element.key in SETTING_KEYS}


def test_three_settings_stand_at_the_top_and_the_others_in_a_drawer_that_is_drawn_while_it_is_open(open_app):
    app = open_app()
    leading = {spec_of(name).url for name in LEADING}
    assert widgets(app).keys() == leading
    assert app.button(key="all_settings").label == f"All settings ({len(specs()) - len(leading)})"
    fine(app.button(key="all_settings").click().run())
    assert widgets(app).keys() == leading
    assert widgets(with_settings(app)).keys() == SETTING_KEYS
    fine(app.button(key="close_drawer").click().run())
    assert widgets(app).keys() == leading


@pytest.mark.parametrize("page", ["load", "ask"])
def test_ask_has_the_controls_and_load_has_none(open_app, page):
    app = fine(open_app(mt="3000").switch_page(f"../../../pages/{page}.py").run())
    assert (widgets(app).keys() == {spec_of(name).url for name in LEADING}) is (page == "ask")
    assert app.session_state["now"].max_tokens == 3000


def test_a_setting_is_found_by_a_word_of_its_help_or_its_choices(open_app):
    app = fine(open_app().button(key="all_settings").click().run())
    fine(app.text_input(key="find_setting").set_value("documents leave").run())
    assert widgets(app).keys() - {spec_of(name).url for name in LEADING} == {"pk", "pku"}
    fine(app.text_input(key="find_setting").set_value("xyzzy").run())
    assert "No setting is called so" in html(app)


def test_the_groups_follow_the_pipeline_and_count_what_differs(open_app):
    app = with_settings(at(dn="true", nt="0.8", za="500"))
    labels = [group.label for group in app.expander if group.key in {f"settings_{stage}" for stage in GROUPS}]
    assert [label.split(" · ")[0].removeprefix(":gray[").rstrip("]") for label in labels] == [group_name(stage) for stage in GROUPS]
    assert {stage for stage, label in zip(GROUPS, labels, strict=True) if "changed" in label} == {"deduplicate", "zones"}
    assert "· 2 changed" in labels[GROUPS.index("deduplicate")]
    assert [label for label in labels if "no effect now" in label] == []
    off = [group.label for group in with_settings(at(on="false")).expander][: len(GROUPS)]
    assert {stage for stage, label in zip(GROUPS, off, strict=True) if "no effect now" in label} == {
        "deduplicate",
        "compress",
        "order",
        "summarise",
        "supplement",
    }


@pytest.mark.parametrize("changes", [{}, {"enabled": False}, {"budget_policy": "pack", "dedup_near": True, "compression": "extractive"}])
def test_exactly_the_idle_settings_are_disabled_and_say_why(open_app, changes):
    settings = AssemblySettings(**changes)
    shown = widgets(with_settings(at(**to_url(settings))))
    why = idle(settings)
    assert {spec.name for spec in specs() if shown[spec.url].proto.disabled} == set(why)
    for spec in specs():
        assert (f"**No effect now**: {why.get(spec.name)}." in shown[spec.url].proto.help) == (spec.name in why)


def test_a_disabled_setting_keeps_its_value(open_app):
    app = with_settings(at(dn="true", nt="0.8"))
    app.toggle(key="dn").set_value(False).run()
    assert fine(app).session_state["now"] == AssemblySettings(near_threshold=0.8)
    assert app.number_input(key="nt").disabled


def test_the_name_of_a_changed_setting_is_plain(open_app):
    app = with_settings(at(mt="3000", w="2", dn="true"))
    assert app.number_input(key="mt").label == "Max tokens, changed"
    labels = [widget.proto.label for widget in widgets(app).values()]
    assert sum(label.endswith(", changed") for label in labels) == 3
    assert [label for label in labels if ":blue" in label or "●" in label] == []


def test_the_settings_can_be_copied_in_three_notations(open_app):
    app = with_settings(at(mt="3000"))
    assert len(app.code) == 0
    fine(app.button(key="settings_written").click().run())
    assert [block.language for block in app.code] == ["toml", "python", "bash"]
    assert all("3000" in block.value for block in app.code)


def test_an_empty_box_says_what_stands_for_it(open_app):
    app = with_settings(at())
    for spec in specs():
        if spec.optional:
            box = app.text_input(key=spec.url) if spec.kind == "text" else app.number_input(key=spec.url)
            assert (box.value, box.placeholder) == (None, EMPTY.get(spec.name, value_words(spec, None)))


def test_the_slider_of_meaning_writes_into_the_box(open_app):
    app = with_settings(at(ds="true"))
    slider = app.slider(key="semantic_threshold")
    assert (slider.value, slider.min, slider.max) == (threshold_of(embedder_name() or ""), *SLIDER)
    assert app.session_state["now"] == AssemblySettings(dedup_semantic=True)
    fine(slider.set_value(0.86).run())
    assert app.session_state["now"] == AssemblySettings(dedup_semantic=True, semantic_threshold=0.86)
    assert app.number_input(key="st").value == 0.86
    fine(app.number_input(key="st").set_value(0.5).run())
    assert app.slider(key="semantic_threshold").value == 0.85
    assert app.session_state["now"].semantic_threshold == 0.5


@pytest.mark.parametrize("written", ["grouped", "minimal", "numbered", "source", "xml"])
def test_a_format_without_markers_is_called_unsafe(open_app, written):
    page = html(fine(open_app(fmt=written)))
    assert ('data-boundaries="false"' in page) == (written in ("grouped", "minimal"))


PARTS = 8
"""In so many links every setting is changed once."""


def other(spec):
    """A value of a setting that is not its default."""
    match spec.kind:
        case "bool":
            return not spec.default
        case "choice":
            return next(choice for choice in spec.choices if choice != spec.default)
        case "text":
            return "[Zie: {summary}]" if spec.name == "summary_template" else "iets <b>anders</b>, [2]"
        case "float":
            return -1.5 if spec.low is None else 0.33 if spec.high and spec.high < 0.9 else 0.77
        case "int":
            low, high = int(spec.low or 1), int(spec.high or 3000)
            return low + 1 if low + 1 != spec.default else high


@pytest.mark.parametrize("part", range(PARTS))
def test_a_link_is_a_configuration(open_app, part):
    is_a_configuration(open_app, specs()[part::PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("spec", specs(), ids=lambda spec: spec.name)
def test_a_link_of_one_setting_is_a_configuration(open_app, spec):
    is_a_configuration(open_app, [spec])


def is_a_configuration(open_app, changed):
    wanted = AssemblySettings(**{spec.name: other(spec) for spec in changed})
    app = fine(open_app(**to_url(wanted)))
    assert app.session_state["now"] == wanted
    assert "ctx-notice" not in html(app)
    said = {key: value if isinstance(value, str) else value[0] for key in app.query_params for value in [app.query_params[key]]}
    assert said == to_url(wanted) | {"data": "sample", "q": app.selectbox(key="query_id").value}


@pytest.mark.parametrize("hostile", ["", "-1e999", "nan", "<script>alert(1)</script>", "9" * 40, "\u202e[1]", "None; DROP TABLE"])
def test_hostile_values_fall_back_with_one_notice(open_app, hostile):
    read, rejected = from_url({spec.url: hostile for spec in specs()})
    app = fine(open_app(**{spec.url: hostile for spec in specs()}))
    assert app.session_state["now"] == read
    assert html(app).count('id="ctx-notice"') == 1
    assert html(app).count("<li>") >= len(rejected)
    assert "<script" not in html(app)


def test_rejected_values_are_named_in_one_notice(open_app):
    app = fine(open_app(mt="99", w="x", cu="chapter", q="nobody"))
    page = html(app)
    assert page.count('id="ctx-notice"') == 1
    for words in ("max_tokens must be", "expand_window must be", "citation_unit must be", "question must be one of"):
        assert words in page
    assert app.session_state["now"] == AssemblySettings()
    app.button(key="dismiss_notice").click().run()
    assert "ctx-notice" not in html(app)


def test_a_number_that_is_refused_is_not_read_in_part(open_app):
    app = fine(open_app(mt="2500.7", dn="true"))
    assert app.session_state["now"] == AssemblySettings(dedup_near=True)
    assert app.number_input(key="mt").value == 8000
    assert "mt" not in app.query_params
    assert "max_tokens must be" in html(app)


def test_a_link_names_dataset_and_query_by_id(open_app):
    app = fine(open_app(data="attack", q="none"))
    assert (app.selectbox(key="dataset_name").value, app.selectbox(key="query_id").value) == ("attack", "none")
    assert "The search found nothing" in html(app)
    assert "The context is empty" in html(app)


def test_previous_and_next_query(open_app):
    app = open_app()
    first = app.selectbox(key="query_id").value
    assert app.button(key="previous_query").disabled
    fine(app.button(key="next_query").click().run())
    assert app.selectbox(key="query_id").value != first
    fine(app.button(key="previous_query").click().run())
    assert app.selectbox(key="query_id").value == first


def test_undo_redo_and_reset(open_app):
    app = with_settings(at())
    assert app.button(key="undo").disabled
    assert app.button(key="reset").disabled
    app.number_input(key="mt").set_value(2000).run()
    app.number_input(key="mo").set_value(50).run()
    assert app.session_state["now"].changed() == {"max_tokens": 2000, "min_overlap_chars": 50}
    assert app.button(key="reset").label == "Reset 2"
    fine(app.button(key="undo").click().run())
    assert app.session_state["now"].changed() == {"max_tokens": 2000}
    assert app.number_input(key="mo").value == 20
    fine(app.button(key="redo").click().run())
    assert app.number_input(key="mo").value == 50
    fine(app.button(key="reset").click().run())
    assert app.session_state["now"] == AssemblySettings()
    fine(app.button(key="undo").click().run())
    assert app.number_input(key="mt").value == 2000


def test_presets(open_app):
    app = with_settings(at())
    for name in few(list(PRESETS)):
        app.selectbox(key="preset").set_value(name).run()
        assert fine(app).session_state["now"] == preset(name)


def test_a_template_that_is_emptied_goes_by_the_language_again(open_app):
    app = with_settings(at(pt="[Zie: {summary}]"))
    assert app.session_state["now"].summary_template == "[Zie: {summary}]"
    fine(app.text_input(key="pt").set_value("").run())
    assert app.session_state["now"] == AssemblySettings()


def test_a_template_without_its_place_is_refused_in_words(open_app):
    app = with_settings(at())
    app.text_input(key="pt").set_value("no place").run()
    assert "summary_template must be" in html(fine(app))
    assert app.text_input(key="pt").value == "no place"
    assert app.session_state["now"] == AssemblySettings()


@pytest.mark.parametrize("page", ["inspect", "ask"])
def test_hostile_text_is_escaped_on_every_page(open_app, page):
    app = open_app(data="attack", q="hostile")
    app.switch_page(f"../../../pages/{page}.py").run()
    fine(app)
    assert "<script" not in html(app)
    assert "<img" not in html(app)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html(app)
    assert not any("alert(" in element.value for element in app.markdown)


STATES = [{}, {"mt": "500"}, {"on": "false"}, {"data": "attack", "q": "none"}, {"mt": "600", "bs": "chunks"}]


@pytest.mark.parametrize("state", range(len(STATES)))
def test_every_step_draws_in_every_state(open_app, state):
    app = open_app(**STATES[state], cp="extractive", ord="bookend")
    for step in in_turn(list(PICTURES), state, 3):
        app.session_state["step"] = step
        fine(app.run())
        assert "<script" not in html(app)


def test_every_detail_draws(open_app):
    app = open_app()
    app.session_state["drawer"] = "details"
    for tab in TABS:
        app.session_state["details_tab"] = tab
        fine(app.run())


def test_find_text_shows_chunks_that_were_not_retrieved(open_app):
    app = open_app()
    app.session_state["drawer"], app.session_state["details_tab"] = "details", "Find"
    app.run()
    app.text_input(key="find_phrase").set_value("fistula").run()
    fine(app)
    assert "not found" in html(app)
    assert "<mark>" in html(app)


def test_a_chosen_step_stays_while_settings_change(open_app):
    app = open_app()
    (funnel,) = (group for group in app.get("button_group") if group.key == "funnel")
    funnel.set_value("fits").run()
    assert 'id="ctx-budget-table"' in html(fine(app))
    fine(app.number_input(key="mt").set_value(3000).run())
    assert 'id="ctx-budget-table"' in html(app)


def test_overshoot_is_said(open_app):
    page = html(fine(open_app(mt="1800", bs="chunks")))
    assert " over</span>" in page


def test_an_unreachable_database_is_said_on_every_page(monkeypatch, tmp_path):
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path}/file-in-the-way/x.db")
    (tmp_path / "file-in-the-way").write_text("")
    app = opened()
    fine(app)
    assert 'id="ctx-error"' in html(app)
    fine(app.switch_page("../../../pages/load.py").run())
    assert 'id="ctx-error"' in html(app)


def test_search_options_of_a_link_that_cannot_be_used_are_named_and_the_others_stand(open_app):
    app = fine(open_app(qm="bm25", qx="loud", qn="201", ql="nl", qe="<b>"))
    assert [kept(app, f"search_{name}") for name in ("method", "text", "limit", "language", "embedder")] == [
        "bm25", "raw", 20, "nl", "default",
    ]  # fmt: skip
    said = html(app).split('id="ctx-notice"')[1]
    assert "qx must be one of raw, title, enriched, got &#x27;loud&#x27;" in said
    assert "qn must be a whole number from 1 to 200, got &#x27;201&#x27;" in said
    assert "got &#x27;&lt;b&gt;&#x27;" in said
    assert {name: app.query_params.get(name) for name in ("qm", "qx", "qn", "ql", "qe")} == {
        "qm": "bm25", "qx": None, "qn": None, "ql": "nl", "qe": None,
    }  # fmt: skip
