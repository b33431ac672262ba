"""The Ask page under AppTest: asking, checking, asking again, two models, voice, and everything that goes wrong."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import pytest
from streamlit.runtime.scriptrunner import StopException

from ctxasm import __version__
from ctxasm.answering.known_answers import KnownAnswers, LastAsked
from ctxasm.answering.prompts import GROUNDED, PROMPT_STYLES
from ctxasm.app.ui.ask import page
from ctxasm.app.ui.ask.page import MOST_ATTEMPTS
from ctxasm.app.ui.frame import server
from ctxasm.model.records import Answer
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import to_url
from tests.app.ui.pages import fine, html, kept, problems, reader
from tests.fake_model_server import serving

QUERY = {"data": "sample-nl", "q": "bezoek-gewone-afdeling", "k": "8"}


@pytest.fixture
def open_ask(open_app):
    """Ask, of which no answer is kept yet."""
    for shelf in ("answers", "asked"):
        server.workbench().store.forget(f"{shelf} {__version__}")

    def start(**parameters: str):
        return fine(open_app("ask", **parameters))

    return start


def asked(app, **widgets: str):
    for key, value in widgets.items():
        app.selectbox(key=key).set_value(value)
    return fine(app.button(key="ask").click().run())


def said(pane) -> str:
    return "".join(piece.get("text", "") for line in pane["lines"] for piece in line["pieces"])


def since(app) -> str:
    """What the page says has changed since the answer."""
    found = re.search(r'<p id="ctx-since" role="status">(.*?)</p>', html(app))
    return unescape(re.sub("<.*?>", "", found[1])) if found else ""


def chips(pane) -> list[tuple[str, str]]:
    return [(piece["label"], piece["part"]) for line in pane["lines"] for piece in line["pieces"] if "label" in piece]


def test_before_an_answer_the_context_is_there_and_says_what_to_do(open_ask):
    data = reader(open_ask(**QUERY))
    assert data["attempts"] == []
    assert [card["number"] for card in data["cards"]] == [1, 2, 3, 4, 5, 6]


def test_the_recorded_answer_is_there_on_arrival_until_one_is_asked_for(open_ask):
    link = 'href="./compare?data=sample&amp;q=child-operation-cold&amp;k=3&amp;a=sent"'
    app = open_ask(q="child-operation-cold", k="3")
    ((pane,),) = reader(app)["attempts"]
    assert (pane["model"], pane["summary"].split(";")[0]) == ("recorded answer", "2 claims: 1 supported, 1 contradicted")
    assert "38.5 °C" in json.dumps(pane["lines"], ensure_ascii=False)
    assert (link in html(app), "checked by words" in html(app), since(app)) == (True, True, "")
    cards = reader(app)["cards"]
    fine(app.number_input(key="mt").set_value(600).run())
    assert (reader(app)["cards"] == cards, since(app)) == (False, "")  # checked on the context as it is now
    models = [pane["model"] for (pane,) in reader(asked(app))["attempts"]]
    assert (len(models), models.index("recorded answer"), link in html(app)) == (2, 0, False)


def test_an_address_may_ask_for_the_recorded_answer_where_another_one_is_there(open_ask):
    address = {"q": "child-operation-cold", "k": "3"}
    asked(open_ask(**address))
    ((pane,),) = reader(open_ask(**address))["attempts"]
    assert pane["model"] == "no language model (extractive)"
    ((pane,),) = reader(open_ask(**address, answer="recorded"))["attempts"]
    assert pane["model"] == "recorded answer"
    assert reader(open_ask(q="private-room-cost", answer="recorded"))["attempts"] == []


def test_a_recorded_answer_that_was_given_another_prompt_says_so(open_ask, monkeypatch):
    given = Answer("child-operation-cold", "Two hours [1].", metadata={"prompt": "Source 1: two hours."})
    monkeypatch.setattr(page, "recorded_answers", lambda dataset: {given.query_id: given})
    assert since(open_ask(q=given.query_id)) == "◆ Checked against these sources, not against the prompt that was sent."


def test_a_kept_answer_is_there_for_whoever_opens_the_question(open_ask):
    ((own,),) = reader(asked(open_ask(**QUERY)))["attempts"]
    app = open_ask(**QUERY)
    ((pane,),) = reader(app)["attempts"]
    assert {**pane, "how": 0} == {**own, "how": 0}
    assert (app.button(key="ask").label, since(app)) == ("Ask again", "")


def test_an_answer_that_was_asked_for_otherwise_is_there_with_its_own_context(open_ask):
    own = reader(asked(open_ask(**QUERY), prompt_style="strict"))
    app = open_ask(**QUERY, mt="900")
    data = reader(app)
    assert (data["cards"], said(data["attempts"][0][0])) == (own["cards"], said(own["attempts"][0][0]))
    assert since(app) == "◆ Answered with max tokens 8,000, now 900; the prompt strict, now grounded."


def test_an_answer_of_other_data_says_so(open_ask, monkeypatch):
    asked(open_ask(**QUERY), prompt_style="strict")
    monkeypatch.setattr(page, "key_of", lambda text: "another context")
    assert since(open_ask(**QUERY)).startswith("◆ Answered with other data, now loaded again; the prompt strict, now grounded.")


def test_what_an_endpoint_of_ones_own_answers_is_not_shown_to_others(open_ask):
    """Its name says the host alone, which others may know for another one."""
    with serving() as endpoint:
        app = open_ask(**QUERY)
        app.selectbox(key="model").set_value("openai").run()
        app.text_input(key="llm_base_url").set_value(endpoint.base_url)
        app.text_input(key="_llm_model").set_value("ok").run()
        assert reader(fine(app.button(key="ask").click().run()))["attempts"]
    assert reader(open_ask(**QUERY, mt="900"))["attempts"] == []
    assert reader(asked(app, model="extractive"))["attempts"]
    assert reader(open_ask(**QUERY, mt="900"))["attempts"]


def test_a_context_that_a_model_shortened_is_not_made_again_for_whoever_comes(open_ask, monkeypatch):
    asked(open_ask(**QUERY))
    last = LastAsked(to_url(AssemblySettings(compression="model")), GROUNDED, 0.0, 512, [], [], "")
    monkeypatch.setattr(KnownAnswers, "last_asked", lambda *about: last)
    made, anew = [], page.state.assemble_anew
    monkeypatch.setattr(
        page.state, "assemble_anew", lambda bench, scene, *rest: (made.append(scene.settings), anew(bench, scene, *rest))[1]
    )
    assert reader(open_ask(**QUERY, mt="900"))["attempts"] == []
    assert {settings.compression for settings in made} == {"off"}


def test_kept_answers_that_cannot_be_read_are_a_sentence_and_can_be_asked_for(open_ask):
    asked(open_ask(**QUERY))
    store, shelf = server.workbench().store, f"answers {__version__}"
    store.keep(shelf, dict.fromkeys(store.read_kept(shelf), "broken"))
    app = open_ask(**QUERY)
    assert [problem.split(":")[0] for problem in problems(app)] == ["Kept answers cannot be read"]
    assert reader(app)["attempts"] == []
    assert len(reader(asked(app))["attempts"]) == 1


def test_an_answer_without_a_key_is_checked_and_says_what_it_is(open_ask):
    app = asked(open_ask(**QUERY))
    ((pane,),) = reader(app)["attempts"]
    assert "no language model" in pane["model"]
    assert pane["summary"] == "3 claims: 2 supported; 1 disputed; uses 1 of 1 expected passages; 0 of 1 fact of the reference found"
    assert {part for _, part in chips(pane)} == {"right"}
    assert pane["figures"] == []  # it only quotes: every share would be whole
    assert "Checked by lexical" in pane["how"][-1]
    assert "checked by words and figures" in html(app)


def test_quotes_are_marked_to_the_letter(open_ask):
    data = reader(asked(open_ask(**QUERY)))
    text = {part["start"]: part["text"] for card in data["cards"] for part in card["parts"]}
    (pane,) = data["attempts"][0]
    for line in pane["lines"]:
        span, *_ = pane["claims"][line["claim"]]["spans"]
        marked = "".join(text[low] for low in sorted(text) if span["start"] <= low < span["end"])
        assert span["kind"] == "support"
        assert span["low"] <= span["start"] < span["end"] <= span["high"]
        assert "".join(piece.get("text", "") for piece in line["pieces"]).strip(". ") in marked


def test_a_wrong_source_behind_a_right_answer_is_seen(open_ask):
    ((pane,),) = reader(asked(open_ask(**QUERY), model="scripted:wrong_number"))["attempts"]
    parts = {part for claim in pane["claims"] for part in claim["parts"]}
    assert parts & {"wrong_number", "contradicted", "not_found"}
    assert any(span["kind"] == "better" for claim in pane["claims"] for span in claim["spans"])


def test_unknown_markers_are_shown_as_such(open_ask):
    ((pane,),) = reader(asked(open_ask(**QUERY), model="scripted:out_of_range"))["attempts"]
    assert all(not piece["known"] for line in pane["lines"] for piece in line["pieces"] if "label" in piece)
    assert {part for _, part in chips(pane)} <= {"unknown", "dropped"}
    assert any(said.endswith("unknown") for said in pane["how"])


def test_an_answer_without_markers_is_uncited(open_ask):
    ((pane,),) = reader(asked(open_ask(**QUERY), model="scripted:none"))["attempts"]
    assert chips(pane) == []
    assert pane["summary"].startswith("3 claims; 1 disputed; citation: 3 no citation")


def test_a_declined_answer_is_no_uncited_one(open_ask):
    ((pane,),) = reader(asked(open_ask(data="sample-nl", q="geen-antwoord-tandarts", k="3"), prompt_style="strict"))["attempts"]
    assert pane["summary"].startswith("Declined")
    assert [claim["parts"] for claim in pane["claims"]] == [["declined"]]


def test_an_answer_that_broke_off_is_kept_and_says_so(open_ask):
    app = asked(open_ask(**QUERY), model="scripted:cut")
    ((pane,),) = reader(app)["attempts"]
    assert pane["panel"]["id"] == "ctx-incomplete"
    assert said(pane)
    assert pane["figures"] == []
    assert kept(app, "answers")[0].attempts[0][0].text


def test_an_empty_context_never_calls_the_model(open_ask):
    data = reader(asked(open_ask(data="attack", q="none")))
    ((pane,),) = data["attempts"]
    assert pane["panel"]["id"] == "ctx-not-called"
    assert data["cards"] == []


def test_asking_again_keeps_the_answer_before(open_ask):
    app = asked(asked(open_ask(**QUERY)))
    assert app.button(key="ask").label == "Ask again"
    first, second = reader(app)["attempts"]
    assert first[0]["summary"] == second[0]["summary"]
    for _ in range(MOST_ATTEMPTS):
        asked(app)
    assert len(reader(app)["attempts"]) == MOST_ATTEMPTS


def test_an_answer_is_there_again_when_its_question_is(open_ask):
    app = asked(open_ask(**QUERY))
    own = reader(app)["attempts"]
    fine(app.button(key="next_query").click().run())
    assert reader(app)["attempts"] == []
    assert app.button(key="ask").label == "Ask"
    fine(app.button(key="previous_query").click().run())
    assert reader(app)["attempts"] == own
    assert since(app) == ""


def test_each_model_and_prompt_has_its_own_answers(open_ask):
    app = asked(open_ask(**QUERY), model="scripted:none")
    app.selectbox(key="model").set_value("extractive").run()
    assert (
        since(app)
        == "◆ Answered with scripted, no language model (none), now no language model (extractive). The context is still the same."
    )
    assert reader(app)["attempts"][0][0]["choices"][0]["label"] == "3 claims"
    asked(app)
    assert reader(app)["attempts"][0][0]["summary"].startswith("3 claims: 2 supported")
    app.selectbox(key="prompt_style").set_value("strict").run()
    assert "Answered with the prompt grounded, now strict" in since(app)
    app.selectbox(key="prompt_style").set_value("grounded").run()
    fine(app.selectbox(key="model").set_value("scripted:none").run())
    assert since(app) == ""
    assert reader(app)["attempts"][0][0]["summary"].startswith("3 claims; 1 disputed; citation: 3 no citation")


def test_only_so_many_answers_are_kept(open_ask, monkeypatch):
    monkeypatch.setattr("ctxasm.app.ui.ask.page.MOST_ASKED", 2)
    app = open_ask(**QUERY)
    for style in PROMPT_STYLES[:3]:
        asked(app, prompt_style=style)
    assert [answers.asked.asking.choice.style for answers in kept(app, "answers")] == list(PROMPT_STYLES[1:3])


def test_two_models_answer_side_by_side_and_are_checked_apart(open_ask):
    app = asked(open_ask(**QUERY), second_model="scripted:out_of_range")
    ((first, second),) = reader(app)["attempts"]
    assert first["summary"].startswith("3 claims: 2 supported")
    assert "carried" not in second["summary"]
    assert (first["model"], second["model"]) == ("no language model (extractive)", "scripted, no language model (out of range)")


def test_a_changed_setting_keeps_the_answer_beside_its_own_context_and_says_what_changed(open_ask):
    app = asked(open_ask(**QUERY))
    before = reader(app)
    fine(app.number_input(key="mt").set_value(900).run())
    now = reader(app)
    assert (now["attempts"], now["cards"]) == (before["attempts"], before["cards"])
    assert since(app) == "◆ Answered with max tokens 8,000, now 900."
    assert app.button(key="ask").label == "Ask again"
    asked(app)
    assert since(app) == ""
    assert len(reader(app)["cards"]) < len(before["cards"])
    fine(app.number_input(key="mt").set_value(8000).run())
    assert reader(app)["cards"] == before["cards"]
    assert since(app) == ""


def test_a_change_that_changes_no_context_says_so(open_ask):
    app = asked(open_ask(**QUERY))
    fine(app.number_input(key="mt").set_value(9000).run())
    assert since(app) == "◆ Answered with max tokens 8,000, now 9,000. The context is still the same."


def test_a_scorer_that_is_not_there_says_what_to_do_and_leaves_a_check(open_ask, monkeypatch):
    monkeypatch.delenv("CTXASM_NLI_MODEL", raising=False)
    ((pane,),) = reader(asked(open_ask(**QUERY), scorer_name="nli"))["attempts"]
    assert "CTXASM_NLI_MODEL" in pane["unchecked"]
    assert pane["summary"].startswith("3 claims: 2 supported")
    assert "Checked by lexical" in pane["how"][-1]


def test_another_scorer_checks_the_same_answer(open_ask, monkeypatch):
    monkeypatch.delenv("CTXASM_NLI_MODEL", raising=False)
    app = asked(open_ask(**QUERY))
    app.selectbox(key="scorer_name").set_value("nli").run()
    ((pane,),) = reader(app)["attempts"]
    assert pane["unchecked"]
    app.selectbox(key="scorer_name").set_value("lexical").run()
    assert not reader(app)["attempts"][0][0]["unchecked"]


def test_an_earlier_answer_keeps_the_check_it_had(open_ask, monkeypatch):
    monkeypatch.delenv("CTXASM_NLI_MODEL", raising=False)
    app = asked(open_ask(**QUERY))
    fine(app.button(key="ask").click().run())
    app.selectbox(key="scorer_name").set_value("nli").run()
    (earlier,), (newest,) = reader(app)["attempts"]
    assert newest["unchecked"]
    assert not earlier["unchecked"]


@pytest.mark.parametrize(
    "settings",
    [
        {"cu": "chunk"},
        {"cu": "passage"},
        {"on": "false"},
        {"mt": "500"},
        {"px": "false"},
        {"enc": "o200k_base"},
        {"mt": "600", "bs": "chunks"},
    ],
)
def test_marked_spans_lie_in_the_block_that_they_name_under_every_setting(open_ask, settings):
    data = reader(asked(open_ask(**QUERY, **settings)))
    places = {card["number"]: (card["parts"][0]["start"], card["parts"][-1]["end"]) for card in data["cards"]}
    spans = [span for claim in data["attempts"][0][0]["claims"] for span in claim["spans"]]
    assert spans
    for span in spans:
        first, last = places[span["number"]]
        assert first <= span["start"] < span["end"] <= last


def test_a_spoken_answer_has_no_chips_but_sources(open_ask):
    ((pane,),) = reader(asked(open_ask(ch="voice", **QUERY)))["attempts"]
    assert not pane["marked"]
    assert chips(pane) == []
    assert all({*claim["parts"]} <= {"full", "not_found", "disputed"} for claim in pane["claims"])
    assert all(claim["sources"] for claim in pane["claims"] if "full" in claim["parts"])


@pytest.mark.parametrize("format", ["grouped", "minimal"])
def test_a_format_without_numbers_asks_for_none_and_says_so(open_ask, format):
    app = asked(open_ask(fmt=format, **QUERY))
    ((pane,),) = reader(app)["attempts"]
    assert not pane["marked"]
    assert chips(pane) == []
    assert {part for claim in pane["claims"] for part in claim["parts"]} <= {"full", "not_found", "disputed"}
    assert all(claim["spans"] for claim in pane["claims"] if "full" in claim["parts"])
    assert any("No safe boundaries" in caption.value for caption in app.caption)
    assert app.selectbox(key="channel").options == ["text, without citations", "voice, without citations"]


@pytest.mark.parametrize("format", ["numbered", "source", "xml"])
def test_a_format_with_numbers_is_asked_for_them(open_ask, format):
    app = asked(open_ask(fmt=format, **QUERY))
    ((pane,),) = reader(app)["attempts"]
    assert pane["marked"]
    assert chips(pane)
    assert not any("boundaries" in caption.value for caption in app.caption)
    assert app.selectbox(key="channel").options == ["text, with citations", "voice, without citations"]


def test_the_channel_here_is_the_setting(open_ask):
    app = open_ask(**QUERY)
    fine(app.selectbox(key="channel").set_value("voice").run())
    assert app.session_state["now"].channel == "voice"
    assert app.query_params["ch"] == "voice"


def test_the_prompt_is_shown_as_it_will_be_sent(open_ask):
    app = open_ask(**QUERY)
    assert [block.value for block in app.code] == []  # drawn only while it is open
    app.session_state["prompt_and_export"] = True
    system = fine(app.run()).code[0].value
    assert 'id="ctx-zones"' in html(app)
    app.selectbox(key="prompt_style").set_value("strict").run()
    app.selectbox(key="prompt_language").set_value("English").run()
    app.toggle(key="answer_first").set_value(True).run()
    fine(app.text_area(key="prompt_extra").set_value("Say it in <b>one</b> line.").run())
    assert app.code[0].value != system
    assert "Say it in <b>one</b> line." in app.code[0].value
    assert "<b>one</b>" not in html(app)
    ((pane,),) = reader(asked(app))["attempts"]
    assert "strict, answer first, in English, own instructions prompt" in pane["how"]


def test_the_check_can_be_kept(open_ask):
    app = asked(open_ask(**QUERY))
    app.session_state["prompt_and_export"] = True
    fine(app.run())
    assert [button.proto.label for button in app.get("download_button")].count("Check as JSON") == 1
    assert json.dumps(reader(app))


def test_an_endpoint_that_is_not_typed_yet_says_what_to_type(open_ask):
    app = open_ask()
    app.selectbox(key="model").set_value("openai").run()
    steps = [
        (None, "", "Type its base URL and its model name."),
        ("llm_base_url", "http://127.0.0.1:9/v1", "Type its model name."),
        ("_llm_model", "m", ""),
        ("llm_base_url", "", "Type its base URL."),
    ]
    for field, typed, hint in steps:
        page = html(fine(app.text_input(key=field).set_value(typed).run() if field else app))
        assert hint in page
        assert ("No endpoint yet" in page) == app.button(key="ask").disabled == bool(hint)
        assert 'id="ctx-error"' not in page


def test_an_address_that_is_none_is_an_error_before_the_model_is_named(open_ask):
    app = open_ask()
    app.selectbox(key="model").set_value("openai").run()
    page = html(fine(app.text_input(key="llm_base_url").set_value("no address").run()))
    assert 'id="ctx-error"' in page
    assert "the base URL must look like" in page
    assert app.button(key="ask").disabled


def test_a_typed_key_is_in_no_address_and_no_page(open_ask):
    app = open_ask()
    app.selectbox(key="model").set_value("openai").run()
    app.selectbox(key="second_model").set_value("openai").run()
    app.text_input(key="llm_base_url").set_value("http://127.0.0.1:9/v1")
    app.text_input(key="_llm_model").set_value("m")
    app.text_input(key="_llm_model_2").set_value("n")
    app.text_input(key="llm_key").set_value("sk-very-secret").run()
    fine(app)
    assert not app.button(key="ask").disabled
    assert "sk-very-secret" not in html(app) + str(dict(app.query_params)) + json.dumps(reader(app))


def test_a_browser_elsewhere_makes_the_server_ask_nothing_of_its_own_machine(open_ask, monkeypatch):
    monkeypatch.setattr("ctxasm.app.ui.frame.models.on_this_machine", lambda: False)
    with serving() as server:
        app = open_ask(**QUERY)
        app.selectbox(key="model").set_value("openai").run()
        app.text_input(key="llm_base_url").set_value(server.base_url)
        app.text_input(key="_llm_model").set_value("m").run()
        ((pane,),) = reader(fine(app.button(key="ask").click().run()))["attempts"]
        assert "is the machine of this server" in json.dumps(pane)
        assert server.requests == []


def test_an_odd_answer_from_an_endpoint_is_shown_and_checked(open_ask):
    """Emoji cut in two on the wire, a half alone, and a line that begins far to the right."""
    with serving() as server:
        server.answer = lambda body: f"Welkom 😀 [1] \ud83d\n{' ' * 110}Totaal: 12 euro [1]."
        app = open_ask(**QUERY)
        app.selectbox(key="model").set_value("openai").run()
        app.text_input(key="llm_base_url").set_value(server.base_url)
        app.text_input(key="_llm_model").set_value("halves").run()
        ((pane,),) = reader(fine(app.button(key="ask").click().run()))["attempts"]
    shown = said(pane)
    assert "Welkom 😀" in shown
    assert "\ufffd" in shown
    assert len(chips(pane)) == 2
    assert pane["panel"] is None


def test_every_rerun_is_counted(open_ask):
    app = open_ask(**QUERY)
    before = reader(app)["run"]
    app.run()
    assert reader(app)["run"] == before + 1


def test_what_is_doubtful_is_checked_again_for_a_price_that_is_said_first(open_ask):
    app = asked(open_ask(**QUERY), model="scripted:wrong_number")
    said = next(markdown.value for markdown in app.markdown if "would check" in markdown.value)
    assert re.search(r"\*\*1 call, about [\d,]+ tokens\*\*", said)
    app.button(key="recheck_now").click().run()
    assert app.selectbox(key="scorer_name").value == "lexical+llm"
    ((pane,),) = reader(app)["attempts"]
    assert "endpoint" in pane["unchecked"]  # none is configured here: that is said, and the words' check stays
    assert pane["claims"]


def test_nothing_is_offered_where_all_is_carried(open_ask):
    app = asked(open_ask(**QUERY))
    assert not [button for button in app.button if button.key == "recheck_now"]


def test_a_configured_endpoint_answers_first_and_a_choice_is_remembered(open_ask, monkeypatch):
    assert open_ask(**QUERY).selectbox(key="model").value == "extractive"
    bench = server.workbench()
    monkeypatch.setattr(bench, "config", replace(bench.config, llm_base_url="http://127.0.0.1:9/v1", llm_model="m"))
    app = open_ask(**QUERY)
    assert app.selectbox(key="model").value == "openai"
    assert "m at 127.0.0.1:9" in html(app)
    assert "model" not in app.query_params
    fine(app.selectbox(key="model").set_value("extractive").run())
    assert app.query_params["model"] == "extractive"
    assert fine(app.run()).selectbox(key="model").value == "extractive"
    fine(app.selectbox(key="model").set_value("openai").run())
    assert "model" not in app.query_params
    assert "model must be one of extractive, openai" in html(open_ask(**QUERY, model="gpt"))
    assert open_ask(**QUERY, model="scripted:none").selectbox(key="model").value == "scripted:none"


class SlowCheck:
    """A workbench whose check by anything but words is ended as `end` says, as often as it begins."""

    def __init__(self, bench, end):
        self.bench, self.end, self.begun = bench, end, 0

    def __getattr__(self, name):
        return getattr(self.bench, name)

    def check(self, assembly, answer, scorer="lexical", **how):
        if scorer == "lexical":
            return self.bench.check(assembly, answer, **how)
        self.begun += 1
        return self.end(self)


def test_a_check_that_is_stopped_leaves_a_whole_page_checked_by_words_and_does_not_begin_again(open_ask, monkeypatch):
    again: list[bool] = []
    app = asked(open_ask(**QUERY))

    def stop(bench):
        raise StopException

    slow = SlowCheck(server.workbench(), stop)
    monkeypatch.setattr(page.server, "workbench", lambda: slow)
    monkeypatch.setattr(page, "_scorer", lambda name, judge: name)
    monkeypatch.setattr(page, "rerun_after_stop", lambda: again.append(True))
    app.selectbox(key="scorer_name").set_value("embedding").run()
    assert (again, slow.begun) == ([True], 1)
    ((pane,),) = reader(fine(app.run()))["attempts"]
    assert (pane["unchecked"], slow.begun) == ("The check was stopped.", 1)
    assert pane["summary"].startswith("3 claims: 2 supported")
    assert app.button(key="ask").label == "Ask again"


def test_the_button_that_stops_a_check_does_so(open_ask, monkeypatch):
    app = asked(open_ask(**QUERY))

    def press(bench):
        page.session.check_stopper.set()  # what the button does
        page.st.rerun()

    slow = SlowCheck(server.workbench(), press)
    monkeypatch.setattr(page.server, "workbench", lambda: slow)
    monkeypatch.setattr(page, "_scorer", lambda name, judge: name)
    app.selectbox(key="scorer_name").set_value("embedding").run()
    ((pane,),) = reader(fine(app))["attempts"]
    assert (pane["unchecked"], slow.begun) == ("The check was stopped.", 1)
    asked(app)
    assert slow.begun == 2  # an answer that is new is checked as was asked for


def test_streamlits_own_stop_leaves_what_had_arrived_and_a_button_to_ask_again(open_ask, monkeypatch):
    again: list[bool] = []
    whole = page.stream

    def stopped_half_way(*given):
        for at, attempt in enumerate(whole(*given)):
            yield attempt
            if at == 3:
                raise StopException

    monkeypatch.setattr(page, "stream", stopped_half_way)
    monkeypatch.setattr(page, "rerun_after_stop", lambda: again.append(True))
    app = open_ask(**QUERY)
    app.button(key="ask").click().run()
    assert again == [True]
    monkeypatch.setattr(page, "stream", whole)
    ((pane,),) = reader(fine(app.run()))["attempts"]
    assert pane["panel"]["text"] == "The page was stopped, or changed, while the answer came in."
    assert said(pane)
    ((first,), (second,)) = reader(asked(app))["attempts"]
    assert first == pane
    assert second["done"]
