"""The prompt cache on the page: a row per ordering with exact figures, and a hint for the first question."""

from __future__ import annotations

import re

from ctxasm.app.ui.inspect.order import prefix_html
from ctxasm.model.settings import spec_of
from ctxasm.tuning.cache_prefix import Prefix
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import fine, html


def test_every_ordering_has_its_row(open_app) -> None:
    app = open_app(data="sample")
    ids = [entry.query_id for entry in app.session_state["_query_list"][1]]
    app = open_app(data="sample", q=ids[1])
    app.session_state["_drawer"], app.session_state["closer"] = "details", "Same start"
    drawn = html(fine(app.run()))
    assert re.findall(r'data-ordering="(\w+)"', drawn) == list(spec_of("ordering").choices)
    assert f"the context of {ids[0]}" in drawn
    assert drawn.count("● chosen") == 1


def test_the_first_question_has_none_before_it(open_app) -> None:
    app = open_app(data="sample")
    app.session_state["_drawer"], app.session_state["closer"] = "details", "Same start"
    assert "No question before this one" in html(fine(app.run()))


def test_figures_and_a_hostile_id() -> None:
    drawn = prefix_html({"bookend": Prefix(1234, 5000, 0.25)}, "auto", HOSTILE)
    assert "1,234" in drawn
    assert "25 %" in drawn
    assert "● chosen" not in drawn
    assert "<script" not in drawn
