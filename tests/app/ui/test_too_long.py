"""What is too long for a box stays there, and a sentence says so: a box with `max_chars` drops a longer text that is pasted."""

from __future__ import annotations

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

import ctxasm.app.ui
from ctxasm.app.ui.frame.session import FACT
from ctxasm.app.ui.load import files
from ctxasm.app.ui.words import too_long
from ctxasm.app.why import LONGEST_FACT
from tests.app.ui.pages import at, fine, html, problems, with_settings
from tests.app.ui.test_compare_as_sent import compare, load, paste, trace  # noqa: F401 (load is a fixture)
from tests.app.ui.test_load_dropped_files import app, csv, drop  # noqa: F401 (app is a fixture)
from tests.app.ui.test_load_tables import app as tables  # noqa: F401 (a fixture)
from tests.app.ui.test_load_tables import team  # noqa: F401 (a fixture)
from tests.app.ui.test_load_taken_name import gids  # noqa: F401 (a fixture)

NAME, AT_MOST = "z" * 101, "z" * 100
SAID = "A name has at most 100 characters, this one 101: shorten it."


def buttons(app: AppTest) -> set[str | None]:  # noqa: F811
    return {button.key for button in app.button}


def test_no_box_has_a_limit_of_its_own():
    found = {path.name for path in Path(ctxasm.app.ui.__file__).parent.rglob("*.py") if re.search(r"\bmax_chars=[^N]", path.read_text())}
    assert found == set()


def test_the_sentence_says_what_is_allowed_what_was_got_and_what_to_do():
    assert too_long("A name", AT_MOST, 100) is None
    assert too_long("A name", NAME, 100) == SAID
    assert too_long("A text", "z" * 2001, 1000, "drop it as a file") == (
        "A text has at most 1,000 characters, this one 2,001: drop it as a file."
    )


def test_the_name_of_dropped_files(app):  # noqa: F811
    drop(app, gids__csv=csv())
    fine(app.text_input(key="files_name").set_value(NAME).run())
    assert problems(app) == [SAID]
    assert app.text_input(key="files_name").value == NAME
    assert "load_files" not in buttons(app)
    fine(app.text_input(key="files_name").set_value(f" {AT_MOST} ").run())
    assert problems(app) == []
    assert not app.button(key="load_files").disabled


def test_the_name_of_documents_and_another_name(gids):  # noqa: F811
    gids.session_state["way"] = "Documents"
    fine(gids.run())
    gids.file_uploader(key="documents").set_value([("een.txt", b"Dit is het eerste hoofdstuk.", "text/plain")]).run()
    fine(gids.text_input(key="documents_name").set_value(NAME).run())
    assert problems(gids) == [SAID]
    assert "load_documents" not in buttons(gids)
    gids.text_input(key="documents_name").set_value("gids").run()
    fine(gids.button(key="load_documents").click().run())
    fine(gids.text_input(key="taken_name/gids").set_value(NAME).run())
    assert problems(gids) == [SAID]
    assert gids.button(key="taken_other").disabled


def test_the_names_of_a_link_and_of_a_mapping(tables):  # noqa: F811
    fine(tables.text_input(key="linked_name").set_value(NAME).run())
    assert problems(tables) == [SAID]
    assert {"load_linked", "load_copy"} & buttons(tables) == set()
    assert not tables.button(key="save_mapping").disabled
    fine(tables.text_input(key="mapping_name").set_value(NAME).run())
    assert problems(tables) == [SAID, SAID]
    assert tables.button(key="save_mapping").disabled


def test_a_pasted_text(app, monkeypatch):  # noqa: F811
    monkeypatch.setattr(files, "MOST_PASTED", 60)
    line = '{"document_id": "a", "chunk_index": 0, "text": "Geplakt."}'
    app.text_area(key="pasted").set_value(line + "    ").run()
    assert problems(app) == []
    app.text_area(key="pasted").set_value(f"{line} {line}").run()
    fine(app.button(key="take_pasted").click().run())
    fine(app.button(key="explain_pasted").click().run())
    assert problems(app) == ["A pasted text has at most 60 characters, this one 117: drop it as a file."]
    assert app.text_area(key="pasted").value == f"{line} {line}"
    assert "pasted.txt" not in html(app)


def test_the_fact_of_compare(load):  # noqa: F811
    app = compare(paste(load, trace()))  # noqa: F811
    (key,) = [each.key for each in app.text_input if (each.key or "").startswith(FACT)]
    fine(app.text_input(key=key).set_value("z" * (LONGEST_FACT + 1)).run())
    assert problems(app) == ["The fact has at most 20,000 characters, this one 20,001: shorten it."]
    assert len(app.text_input(key=key).value) == LONGEST_FACT + 1
    assert 'id="ctx-why"' in html(app)


def test_instructions(open_app):
    app = fine(at("ask").run())  # noqa: F811
    app.session_state["prompt_and_export"] = True
    fine(app.run())
    fine(app.text_area(key="prompt_extra").set_value("z" * 8001).run())
    assert "instructions must be at most 8,000 characters, got 8,001: shorten them" in html(app)
    assert len(app.text_area(key="prompt_extra").value) == 8001


def test_a_phrase_and_a_setting(open_app):
    app = open_app()  # noqa: F811
    app.session_state["drawer"], app.session_state["details_tab"] = "details", "Find"
    app.run()
    fine(app.text_input(key="find_phrase").set_value("z" * 301).run())
    assert problems(app) == ["A phrase has at most 300 characters, this one 301: shorten it."]
    assert "Not in this dataset" not in html(app)
    app = with_settings(at())
    fine(app.text_input(key="pt").set_value("{summary}" * 60).run())
    assert "summary_template must be a text of at most 500 characters" in html(app)
    assert "the value before stays in use" in html(app)
    assert app.text_input(key="pt").value == "{summary}" * 60
