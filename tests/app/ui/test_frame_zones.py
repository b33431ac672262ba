"""The zones on the pages: the question an unknown model is, turns that are typed, a summary on request."""

from __future__ import annotations

import re

import pytest

from tests.app.ui.pages import fine, html, with_settings
from tests.fake_model_server import serving

FOLLOW_UP = {"q": "follow-up-drive-after"}
KEY = "_turns/sample/follow-up-drive-after"


@pytest.fixture(scope="module")
def models():
    with serving() as memory:
        yield memory


def zones(app) -> dict[str, int]:
    return {name: int(tokens) for name, tokens in re.findall(r'data-zone="(\w+)" data-tokens="(\d+)" data-how', html(app))}


def limit(app) -> int:
    return int(re.search(r'id="ctx-budget" data-tokens="\d+" data-limit="(\d+)"', html(app))[1])  # type: ignore[index]


def test_the_context_zone_is_the_limit_of_the_bar(open_app):
    app = fine(open_app(**FOLLOW_UP, bm="window", mn="gemma2:9b"))
    assert sum(zones(app).values()) == 8_192
    assert zones(app)["context"] == limit(app)
    assert zones(app)["history"] > 0
    answer = fine(open_app(**FOLLOW_UP, bm="window", mn="gemma2:9b", za="2024"))
    assert limit(app) - limit(answer) == 1_000


def test_an_unknown_model_is_a_question_on_the_page(open_app):
    app = fine(open_app(bm="window", mn="gpt-40"))
    assert "which window has the model &#x27;gpt-40&#x27;?" in html(app)
    assert 'id="ctx-window"' not in html(app)
    with_settings(app).number_input(key="mw").set_value(6_000).run()
    assert sum(zones(fine(app)).values()) == 6_000


def test_with_a_fixed_limit_the_rest_of_the_window_is_shown(open_app):
    app = fine(open_app(**FOLLOW_UP, mn="gpt-4o", enc="o200k_base"))
    assert limit(app) == zones(app)["context"] == 8_000
    assert zones(app)["free"] > 100_000
    assert 'id="ctx-window"' not in html(fine(open_app(**FOLLOW_UP)))


def test_typed_turns_take_the_place_of_the_querys_own(open_app):
    app = open_app(**FOLLOW_UP, bm="window", mn="gemma2:9b")
    before = zones(app)["history"]
    assert app.text_area(key=KEY).value.startswith("User: ")
    app.text_area(key=KEY).set_value("User: hoi\nAssistant: dag\nUser: " + "lang verhaal " * 200 + "\nAssistant: ja").run()
    assert zones(fine(app))["history"] > before + 300
    assert limit(app) == zones(app)["context"]
    app.text_area(key=KEY).set_value("no speaker").run()
    assert "must begin with a speaker" in html(fine(app))
    assert zones(app)["history"] > before + 300
    app.button(key="own_turns").click().run()
    assert zones(fine(app))["history"] == before
    assert "must begin with a speaker" not in html(app)


def test_what_is_left_out_is_said_and_shown_on_ask(open_app):
    app = open_app(**FOLLOW_UP, zh="0")
    assert "History: of 2 earlier turns 2 turns" in html(app)
    ask = fine(app.switch_page("../../../pages/ask.py").run())
    assert html(ask).count('data-state="left out"') == 2
    ask.session_state["prompt_and_export"] = True
    assert len(fine(ask.run()).code) == 2  # the messages as they are sent: no turn between system and user


def test_a_longer_prompt_on_ask_leaves_less_for_the_context_on_every_page(open_app):
    app = open_app(**FOLLOW_UP, bm="window", mn="gemma2:9b")
    before = limit(app)
    ask = fine(app.switch_page("../../../pages/ask.py").run())
    ask.text_area(key="prompt_extra").set_value("Answer in one short sentence. " * 40).run()
    inspect = fine(ask.switch_page("../../../pages/inspect.py").run())
    assert before - 400 < limit(inspect) < before - 200


def test_an_answer_longer_than_its_zone_is_said(open_app):
    ask = fine(open_app(**FOLLOW_UP, mn="gpt-4o", za="300").switch_page("../../../pages/ask.py").run())
    assert "An answer may take 512 tokens, but its zone reserves only 300." in " ".join(caption.value for caption in ask.caption)
    enough = fine(open_app(**FOLLOW_UP, mn="gpt-4o", za="512").switch_page("../../../pages/ask.py").run())
    assert "its zone reserves" not in " ".join(caption.value for caption in enough.caption)


def test_a_summary_needs_a_language_model(open_app):
    app = open_app(**FOLLOW_UP, hs="0")
    ask = fine(app.switch_page("../../../pages/ask.py").run())
    assert ask.button(key="summarise_turns").disabled
    assert "left out instead of summarised: no language model was asked for a summary." in html(
        fine(ask.switch_page("../../../pages/inspect.py").run())
    )


def test_a_summary_is_made_on_request_and_then_used(open_app, models):
    app = open_app(**FOLLOW_UP, hs="0", mn="gpt-4o")
    ask = fine(app.switch_page("../../../pages/ask.py").run())
    ask.selectbox(key="model").set_value("openai").run()
    ask.text_input(key="llm_base_url").set_value(models.base_url).run()
    ask.text_input(key="_llm_model").set_value("good").run()
    asked = len(models.requests)
    fine(ask.button(key="summarise_turns").click().run())
    assert len(models.requests) == asked + 1
    assert "oogheelkunde" not in str(models.requests[-1])  # it is asked about the turns alone
    assert 'data-state="summary"' in html(ask)
    assert html(ask).count('data-state="told in the summary"') == 2
    assert "summarise_turns" not in [button.key for button in ask.button]
    inspect = fine(ask.switch_page("../../../pages/inspect.py").run())
    assert "2 oldest turns told in a summary" in html(inspect)
