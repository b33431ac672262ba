"""Compare with what was sent as A: pasted on Load, the sentence first, then only what differs; what `ctxasm.why` says."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import ctxasm
from ctxasm.app.ui.frame.session import FACT, SENT
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import MAIN, fine, html, kept
from tests.tuning.test_why import FACT as COSTS
from tests.tuning.test_why import QUESTION, TEXTS, record

SPANS = Path(__file__).parents[2] / "data/files/valid/openinference/llamaindex_spans.jsonl"


@pytest.fixture
def load(own_url) -> AppTest:
    started = AppTest.from_file(str(MAIN), default_timeout=300).run()
    return fine(started.switch_page("../../../pages/load.py").run())


def paste(app: AppTest, text: str) -> AppTest:
    app.text_area(key="pasted").set_value(text)
    return fine(app.button(key="explain_pasted").click().run())


def compare(app: AppTest) -> AppTest:
    return fine(app.switch_page("../../../pages/compare.py").run())


def trace(answer: str = "I do not know.", sent: tuple[int, ...] | None = (0, 2), **beside) -> str:
    return json.dumps([record(answer, sent, reference_answer=COSTS, **beside)])


def said(app: AppTest) -> tuple[str, str]:
    """The outcome and the sentence."""
    ((outcome, sentence),) = re.findall(r'id="ctx-why" data-outcome="(\w+)" dir="auto">(.*?)</p>', html(app))
    return outcome, unescape(sentence)


def test_a_pasted_trace_opens_with_the_sentence_of_the_door_and_only_what_differs(load):
    app = paste(load, trace())
    assert kept(app, "pinned") == SENT
    assert list(app.get("page_link"))
    app = compare(app)
    assert app.query_params["a"] == SENT
    assert said(app) == ("not_sent", ctxasm.why(("pasted", trace().encode())).sentence)
    page = html(app)
    assert page.index('id="ctx-why"') < page.index('id="ctx-bars"')
    assert re.findall(r'data-delta="hits" data-before="(\d)" data-now="(\d)"', page) == [("2", "3")]
    assert page.count("Not in the prompt that was sent.") == 1
    (came,) = re.findall(r'<tr><td><span class="cx-ab" data-side="(\w)">(?:(?!</tr>).)*' + re.escape(TEXTS[1]), page, re.DOTALL)
    assert came == "B"
    assert "The prompt of A" in page
    assert [button.key for button in app.button if button.key in ("swap", "compare_view")] == []


def test_the_address_alone_opens_it_again_and_settings_are_b(load):
    app = compare(paste(load, trace()))
    again = AppTest.from_file(str(MAIN), default_timeout=300)
    for name, value in {**app.query_params, "mt": "500"}.items():
        again.query_params[name] = value if isinstance(value, str) else value[0]
    again = compare(fine(again.run()))
    assert (kept(again, "pinned"), kept(again, "now").max_tokens) == (SENT, 500)
    assert said(again)[0] == "not_sent"


def test_what_it_should_have_said_is_followed_instead(load):
    app = compare(paste(load, trace()))
    (box,) = [each for each in app.text_input if (each.key or "").startswith(FACT)]
    app = fine(box.set_value(TEXTS[0]).run())
    assert said(app)[0] == "not_cited"
    assert TEXTS[0] in said(app)[1]


def test_the_same_again_is_the_same_dataset_and_other_content_another_one(load):
    app = paste(load, trace())
    first = app.selectbox(key="dataset_name").value
    app = paste(fine(app.switch_page("../../../pages/load.py").run()), trace())
    assert app.selectbox(key="dataset_name").value == first == "pasted"
    assert paste(app, trace("Nothing.")).selectbox(key="dataset_name").value == "pasted-2"


def test_without_a_prompt_it_is_said_of_b_alone(load):
    page = html(app := compare(paste(load, trace(sent=None))))
    assert said(app)[1].endswith("B sends it in [2].")
    assert 'id="ctx-bars"' not in page


def test_verdicts_go_out_where_the_answer_came_with_a_span(load):
    app = compare(paste(load, SPANS.read_text()))
    assert [each.proto.label for each in app.get("download_button")] == ["Annotations"]
    app = fine(app.switch_page("../../../pages/load.py").run())
    assert [each.proto.label for each in compare(paste(app, trace())).get("download_button")] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not valid JSON"),
        ('{"a": ', "is not valid JSON"),
        ("[]", "it holds no rows: give an object"),
        ("{}", "it holds no rows: give an object"),
        ("What does it cost?\n\nTwelve euros.", "after a line that begins with `Answer:`"),
        ('[{"question": "Why?", "hits": [{"text": "So it is.", "score": 1.0}]}]', "no answer to any of them: give a trace"),
        ('[{"question": "Why?", "hits": [{"text": "So it is.", "score": 1.0}], "answer": ""}]', "no answer to any of them: give a trace"),
    ],
)
def test_what_cannot_be_explained_is_said_with_what_to_do(load, text, told):
    page = unescape(html(paste(load, text)))
    assert told in page
    assert "was loaded" in page
    assert kept(load, "pinned") is None


def test_an_empty_box_does_nothing(load):
    assert "ctx-error" not in html(paste(load, "  \n"))


def test_a_trace_without_a_hit_is_explained(load):
    line = {
        "question": QUESTION,
        "hits": [],
        "prompt": f"Answer this.\n\nQuestion: {QUESTION}",
        "answer": "Free.",
        "reference_answer": COSTS,
    }
    assert said(compare(paste(load, json.dumps([record("Free [1].", (0,)), line]))))[0]


def test_what_attacks_is_drawn_as_text(load):
    line = {**record(HOSTILE, (0, 2), more=HOSTILE), "question": f"{HOSTILE}?", "model": HOSTILE, "reference_answer": f"{HOSTILE} costs."}
    line["prompt"] += HOSTILE
    page = html(compare(paste(load, json.dumps([line]))))
    assert 'id="ctx-why"' in page
    assert "<script>" not in page
    assert "<img" not in page


def test_a_question_without_a_recorded_answer_says_what_to_do(open_app):
    app = compare(open_app(data="sample", a=SENT))
    drawn = html(app)
    assert ("No answer to this question is recorded" in drawn) != ('id="ctx-why"' in drawn)
    app = compare(open_app(data="attack", a=SENT))
    assert "No answer to this question is recorded" in html(app)


def test_a_recorded_answer_is_offered_to_start_with(open_app):
    app = compare(open_app(data="sample", q="child-operation-cold"))
    app = fine(app.button(key="first_What was sent and these settings").click().run())
    assert kept(app, "pinned") == SENT
    assert said(app)[1]
