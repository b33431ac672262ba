"""Compare: what the page says is what the assemblies and `ctxasm.compare` say, worked out here once more."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

import ctxasm
from ctxasm.app.ui.compare import answers, questions
from ctxasm.app.ui.compare.blind import shuffled
from ctxasm.app.ui.compare.questions import table
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.compare_view import EVERY
from ctxasm.app.ui.frame.session import Session
from ctxasm.model.presets import preset
from ctxasm.tuning.compare_answers import SHARES
from tests.app.ui.pages import at, fine, html, kept, opened, with_settings

A, B = ctxasm.AssemblySettings(), ctxasm.AssemblySettings(max_tokens=2000)
LINK = {"data": "sample", "a": "default", "mt": "2000"}


@pytest.fixture
def compare_page(open_app):
    def open_page(view: str = "question", **address: str) -> AppTest:
        app = fine(open_app("compare", **(LINK | address)))
        return fine(app.segmented_control(key=Session.compare_view.key).set_value(view).run()) if view != "question" else app

    return open_page


@pytest.fixture(scope="module")
def found(store_url):
    with ctxasm.open_store(store_url) as store:
        return ctxasm.compare(A, B, store, "sample", keep=False)


def test_a_is_pinned_on_inspect_and_stays_in_the_address(open_app):
    app = with_settings(at(data="sample", w="2"))
    fine(app.button(key="pin_in_drawer").click().run())
    assert kept(app, Session.pinned) == ctxasm.AssemblySettings(expand_window=2)
    assert app.query_params["a"] == "w=2"
    assert app.button(key="pin_in_drawer").disabled
    again = open_app(**dict(app.query_params))
    assert kept(again, Session.pinned) == ctxasm.AssemblySettings(expand_window=2)


def test_an_address_that_says_a_wrongly_is_named_in_the_notice(open_app):
    app = fine(open_app(data="sample", a="w=99"))
    assert "of A, expand_window" in html(app)


def test_without_a_pair_to_start_with(open_app):
    app = fine(open_app("compare", data="sample"))
    assert "Nothing is pinned" in html(app)
    fine(app.button(key="first_Defaults and recommended").click().run())
    assert (kept(app, Session.pinned), kept(app, Session.now)) == (A, preset("recommended"))
    assert 'id="ctx-bars"' in html(app)
    fine(app.button(key="swap").click().run())
    assert (kept(app, Session.pinned), kept(app, Session.now)) == (preset("recommended"), A)


def test_one_question_shows_both_budgets_and_only_what_differs(compare_page):
    drawn = html(compare_page())
    assert re.findall(r'class="cx-versus-bar" data-side="(\w)" data-tokens="(\d+)"', drawn)[0][0] == "A"
    assert 'data-setting="max_tokens"' in drawn
    assert len(re.findall(r"data-setting=", drawn)) == 1
    assert "<del>" in drawn
    same = html(compare_page(mt="8000"))
    assert "are the same settings" in same
    assert "The context is the same, to the letter." in same
    assert "the same, word for word" in same


def test_all_questions_are_those_of_the_door_and_the_filter_lists_its_own(compare_page, found):
    app = compare_page("all")
    drawn = html(app)
    assert found.sentence() in unescape(drawn)
    counts = re.findall(r'data-count="(\w+)">[^<]*?(\d+)<', drawn)
    assert {name: int(count) for name, count in counts} == {"win": len(found.better), "tie": found.ties, "loss": len(found.worse)}
    assert len(re.findall("data-change=", drawn)) == len(found.questions)
    assert f"Labels: {found.swept.gold}." in drawn
    changed, folded = drawn.split('<details class="cx-fold">')
    counts = Counter(each.change for each in found.questions)
    assert Counter(re.findall(r'data-change="(\w+)"', changed)) == {k: counts[k] for k in ("worse", "better") if counts[k]}
    assert f"<summary>{counts['unchanged']} unchanged, {counts['unlabelled']} not labelled</summary>" in folded
    worse = [each.query_id for each in found.questions if each.change == "worse"]
    drawn = html(fine(app.segmented_control(key=Session.compare_filter.key).set_value("worse").run()))
    assert set(re.findall(r'data-change="(\w+)"', drawn)) == {"worse"}
    assert linked(drawn) == sorted(worse)


def linked(drawn: str) -> list[str]:
    """The questions that links of the page open, on Compare."""
    addresses = re.findall(r'<a data-pick="[^"]*" href="\./compare\?([^"]*)"', drawn)
    return sorted(dict(parse_qsl(unescape(address)))["q"] for address in addresses)


def test_a_link_says_the_view_and_what_it_lists(open_app, found):
    worse = [each.query_id for each in found.questions if each.change == "worse"]
    app = fine(open_app("compare", **LINK, view="all", only="worse"))
    assert linked(html(app)) == sorted(worse)
    assert (app.query_params["view"], app.query_params["only"]) == ("all", "worse")
    app = open_app("compare", **LINK, view="none")
    assert "view must be one of question, all, answers, blind" in html(app)
    assert 'id="ctx-contexts"' in html(app)


def test_where_nothing_changed_that_is_said_and_where_nothing_is_labelled_all_are_listed(found):
    unchanged = [each for each in found.questions if each.change == "unchanged"]
    drawn = table(unchanged, {}, str)
    assert "No question holds more or less evidence under B." in drawn
    assert f"<summary>{len(unchanged)} unchanged</summary>" in drawn
    for rows, only in ((unchanged, "unchanged"), ([each._replace(change="unlabelled") for each in unchanged], EVERY), ([], EVERY)):
        assert "<details" not in table(rows, {}, str, only)


def test_a_large_set_waits_to_be_asked_for(compare_page, monkeypatch):
    monkeypatch.setattr(questions, "AT_ONCE", 3)
    app = compare_page("all")
    assert 'id="ctx-questions"' not in html(app)
    app = fine(app.button(key="start_compare").click().run())
    assert 'id="ctx-questions"' in html(app)


def test_a_blind_review_names_nobody_before_its_end(compare_page, found):
    app = compare_page("blind")
    drawn = html(app)
    assert 'class="cx-ab"' not in drawn
    assert 'id="ctx-versus"' not in drawn
    order = shuffled([each.query_id for each in found.questions if each.a != each.b], 1)
    words = found_words()
    assert words[order[0]] in unescape(drawn)
    for query_id in order[:2]:
        assert words[query_id] in unescape(html(app))
        app = fine(app.button(key="blind_left").click().run())
    assert "2 questions judged" in html(app)
    drawn = html(fine(app.button(key="blind_reveal").click().run()))
    assert "Of 2 questions" in drawn
    assert 'data-setting="max_tokens"' in drawn
    app = fine(app.button(key="blind_go_on").click().run())
    ((about, judged),) = kept(app, Session.judged).items()
    app.session_state[Session.judged.key] = {about: judged | dict.fromkeys(order[2:-2], "same")}  # as if clicked
    while "blind_left" in {button.key for button in app.button}:
        app = fine(app.button(key="blind_left").click().run())
    assert f"Of {len(order)} questions" in html(app)
    assert "blind_go_on" not in {button.key for button in app.button}  # nothing is left to go on with


def found_words() -> dict[str, str]:
    return {query.query_id: query.query for query in server.workbench().dataset("sample").queries()}


def test_a_typed_attack_is_drawn_as_text(open_app):
    app = fine(open_app("compare", data="attack", a="on=false"))
    assert "<script" not in html(app)
    app = fine(app.segmented_control(key=Session.compare_view.key).set_value("all").run())
    assert "<script" not in html(app)
    assert "No question says which passages answer it" in html(app)


def test_both_are_asked_about_one_question_and_only_what_differs_is_drawn(own_url):
    app = fine(opened("compare", data="sample", a="on=false"))
    assert 'id="ctx-claims"' not in html(app)
    app = fine(app.button(key="ask_both").click().run())
    drawn = html(app)
    assert 'id="ctx-claims"' in drawn
    assert 'id="ctx-answers"' in drawn
    with ctxasm.open_store(own_url) as store:
        query_id = store.dataset("sample").queries()[0].query_id
        found = ctxasm.compare_answers(A.replace(enabled=False), A, store, "sample", query_ids=[query_id])
    assert found.reused == 2
    (pair,) = found.pairs
    assert f"{pair.a.used} → {pair.b.used} of {pair.b.expected}" in drawn


@pytest.fixture
def few_url(tmp_path, monkeypatch):
    """A database with four questions of the sample."""
    url = f"sqlite:///{tmp_path / 'few.db'}"
    monkeypatch.setenv("CTXASM_DATABASE_URL", url)
    whole = ctxasm.load_bundle("sample_data/hospital-nl")
    named = {place.document_id for query in whole.queries[:4] for place in query.retrieved}
    few = replace(
        whole,
        name="sample",
        queries=whole.queries[:4],
        documents=tuple(each for each in whole.documents if each.document_id in named),
        chunks=tuple(each for each in whole.chunks if each.document_id in named),
        answers=(),
    )
    with ctxasm.open_store(url) as store:
        store.add(few)
    return url


def test_what_ask_was_answered_is_known_to_compare(few_url):
    ask = fine(opened("ask", data="sample", mt="500"))
    fine(ask.button(key="ask").click().run())
    app = fine(opened("compare", data="sample", a="mt=500"))
    app = fine(app.segmented_control(key=Session.compare_view.key).set_value("answers").run())
    assert "1 of 8 answers known already, 7 calls" in html(app)


def test_the_answers_to_all_are_estimated_asked_and_judged_blind(few_url, monkeypatch):
    monkeypatch.setattr(answers, "PATIENCE_S", 60.0)
    app = fine(opened("compare", data="sample", a="mt=500"))
    app = fine(app.segmented_control(key=Session.compare_view.key).set_value("answers").run())
    assert "0 of 8 answers known already, 8 calls" in html(app)
    app = fine(app.button(key="start_answers").click().run())
    with ctxasm.open_store(few_url) as store:
        found = ctxasm.compare_answers(A.replace(max_tokens=500), A, store, "sample")
    assert found.reused == 8
    drawn = html(app)
    assert [f"{each.result.p:.4f}" for each in found.figures] == re.findall(r'data-p="([\d.]+)"', drawn)
    differences = re.findall(r"<b>[^<]*</b> \[[^\]]*\](?: points)?", drawn)
    assert len(differences) == len(found.figures)
    assert all(each.endswith(" points") == (figure.name in SHARES) for each, figure in zip(differences, found.figures, strict=True))
    assert "−" in "".join(differences)
    assert "-" not in "".join(differences)
    app = fine(app.segmented_control(key=Session.compare_view.key).set_value("blind").run())
    assert app.segmented_control(key="blind_what").value == "answers"
    asked = re.search(r'id="ctx-asked">(.*?)</p>', html(app)).group(1)
    pair = next(each for each in found.pairs if found_words()[each.query_id] == unescape(asked))
    sides = re.search(r'id="ctx-blind">(.*)', html(app), re.DOTALL).group(1)
    assert not re.search(r"\[\d+\]", sides)
    assert pair.a.answer != pair.b.answer
