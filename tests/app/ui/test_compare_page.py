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
from ctxasm.app.ui.compare.blind import is_a_left
from ctxasm.app.ui.compare.questions import table
from ctxasm.app.ui.frame import server, work
from ctxasm.app.ui.frame.address import EVERY
from ctxasm.model.presets import preset
from ctxasm.review.blind import SHELF, Review
from ctxasm.tuning.compare_answers import SHARES
from tests.app.ui.pages import at, fine, html, kept, opened, with_settings

A, B = ctxasm.AssemblySettings(), ctxasm.AssemblySettings(max_tokens=2000)
LINK = {"data": "sample", "a": "default", "mt": "2000"}


@pytest.fixture
def compare_page(open_app):
    def open_page(view: str = "question", **address: str) -> AppTest:
        app = fine(open_app("compare", **(LINK | address)))
        return fine(app.segmented_control(key="compare_view").set_value(view).run()) if view != "question" else app

    return open_page


@pytest.fixture(scope="module")
def found(store_url):
    with ctxasm.open_store(store_url) as store:
        return ctxasm.compare(A, B, store, "sample", keep=False)


def test_a_is_pinned_on_inspect_and_stays_in_the_address(open_app):
    app = with_settings(at(data="sample", w="2"))
    fine(app.button(key="pin_in_drawer").click().run())
    assert kept(app, "pinned") == ctxasm.AssemblySettings(expand_window=2)
    assert app.query_params["a"] == "w=2"
    assert app.button(key="pin_in_drawer").disabled
    again = open_app(**dict(app.query_params))
    assert kept(again, "pinned") == ctxasm.AssemblySettings(expand_window=2)


def test_an_address_that_says_a_wrongly_is_named_in_the_notice(open_app):
    app = fine(open_app(data="sample", a="w=99"))
    assert "of A, expand_window" in html(app)


def test_without_a_pair_to_start_with(open_app):
    app = fine(open_app("compare", data="sample"))
    assert "Nothing is pinned" in html(app)
    fine(app.button(key="first_Defaults and recommended").click().run())
    assert (kept(app, "pinned"), kept(app, "now")) == (A, preset("recommended"))
    assert 'id="ctx-bars"' in html(app)
    fine(app.button(key="swap").click().run())
    assert (kept(app, "pinned"), kept(app, "now")) == (preset("recommended"), A)


def test_one_question_shows_both_budgets_and_only_what_differs(compare_page):
    drawn = html(compare_page())
    assert re.findall(r'class="cx-versus-bar" data-side="(\w)" data-tokens="(\d+)"', drawn)[0][0] == "A"
    assert 'data-setting="max_tokens"' in drawn
    assert len(re.findall(r"data-setting=", drawn)) == 1
    assert re.search(r"Chunks that differ: \d+ only in A", drawn)
    same = html(compare_page(mt="8000"))
    assert "are the same settings" in same
    assert "The context is the same, to the letter." in same


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
    drawn = html(fine(app.segmented_control(key="compare_filter").set_value("worse").run()))
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
    assert 'id="ctx-chunks"' in html(app)


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


def asked(app: AppTest) -> str:
    """The id of the question that a blind review shows."""
    words = unescape(re.search(r'id="ctx-asked">(.*?)</p>', html(app)).group(1))
    return next(query_id for query_id, each in found_words().items() if each == words)


def test_a_blind_review_names_neither_side_nor_another_question_before_its_end(own_url, found):
    app = fine(opened("compare", **LINK, view="blind", q=found.questions[3].query_id))
    drawn = html(app)
    assert 'class="cx-ab"' not in drawn
    assert 'id="ctx-versus"' not in drawn
    shown = asked(app)
    assert [words for query_id, words in found_words().items() if query_id != shown and words in unescape(drawn)] == []
    assert {"swap", "previous_query", "next_query"}.isdisjoint(button.key for button in app.button)
    assert [box.label for box in app.sidebar.selectbox] == []
    assert app.query_params["q"] == found.questions[3].query_id  # what is shown by the other views stays
    app = fine(app.segmented_control(key="compare_view").set_value("question").run())
    assert app.selectbox(key="query_id").value == found.questions[3].query_id


def test_judgements_survive_a_reload_and_are_taken_back(own_url, found):
    app = fine(opened("compare", **LINK, view="blind"))
    first = asked(app)
    (note,) = [box for box in app.text_input if (box.key or "").startswith("blind_note")]
    note.set_value("Because of the hours")
    app = fine(app.button(key="blind_left").click().run())
    assert asked(app) != first
    second = asked(app)
    app = fine(app.button(key="blind_same").click().run())
    third = asked(app)
    again = fine(opened("compare", **LINK, view="blind"))
    assert asked(again) == third
    assert "2 judged" in html(again)
    again = fine(again.button(key="blind_undo").click().run())
    assert asked(again) == second
    again = fine(again.button(key="blind_undo").click().run())
    assert asked(again) == first
    assert [box.value for box in again.text_input if (box.key or "").startswith("blind_note")] == ["Because of the hours"]
    assert again.button(key="blind_undo").disabled


def test_a_blind_review_ends_with_who_is_who_and_its_judgements_go_out(own_url, found):
    app = fine(opened("compare", **LINK, view="blind"))
    app = fine(app.button(key="blind_left").click().run())
    drawn = html(fine(app.button(key="blind_reveal").click().run()))
    assert "Of 1 question" in drawn
    assert 'data-setting="max_tokens"' in drawn
    assert [each.proto.label for each in app.get("download_button")] == ["CSV", "JSON"]
    app = fine(app.button(key="blind_go_on").click().run())
    differ = [each.query_id for each in found.questions if each.a != each.b]
    with ctxasm.open_store(own_url) as store:
        (key,) = {key.split()[0] for key in store.read_kept(SHELF)}
        review = Review(store, key, "")
        (left,) = review.judgements(differ).values()
        assert left.preferred == ("A" if is_a_left(left.query_id, review.secret()) else "B")
        for query_id in differ[1:]:
            review.judge(query_id, "same", "")
    while "blind_left" in {button.key for button in fine(app.run()).button}:
        app.button(key="blind_left").click()
    assert f"Of {len(differ)} questions" in html(app)
    assert "blind_go_on" not in {button.key for button in app.button}  # nothing is left to go on with
    app = fine(app.button(key="blind_again").click().run())
    assert f"0 judged, {len(differ)} to go" in html(app)


def found_words() -> dict[str, str]:
    return {query.query_id: query.query for query in server.workbench().dataset("sample").queries()}


def test_a_typed_attack_is_drawn_as_text(open_app):
    app = fine(open_app("compare", data="attack", a="on=false"))
    assert "<script" not in html(app)
    app = fine(app.segmented_control(key="compare_view").set_value("all").run())
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
    texts = [
        unescape(re.sub("<[^>]*>", "", each)) for each in re.findall(r'<div class="cx-quote" [^>]*>.*?<p>(.*?)</p></div>', drawn, re.DOTALL)
    ]
    assert texts == [answers.unmarked(pair.a.answer), answers.unmarked(pair.b.answer), server.workbench().query("sample", query_id).answer]


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
    app = fine(app.segmented_control(key="compare_view").set_value("answers").run())
    assert "1 of 8 answers known already; the others are free, made on this machine." in html(app)


def test_the_answers_to_all_are_estimated_asked_and_judged_blind(few_url, monkeypatch):
    monkeypatch.setattr(work, "PATIENCE_S", 60.0)
    app = fine(opened("compare", data="sample", a="mt=500"))
    app = fine(app.segmented_control(key="compare_view").set_value("answers").run())
    assert "0 of 8 answers known already; the others are free, made on this machine." in html(app)
    app = fine(app.button(key="start_answers").click().run())
    with ctxasm.open_store(few_url) as store:
        found = ctxasm.compare_answers(A.replace(max_tokens=500), A, store, "sample")
    assert found.reused == 8
    drawn = html(app)
    shown = [each for each in found.figures if each.name in SHARES]
    assert [f"{each.result.p:.4f}" for each in shown] == re.findall(r'data-p="([\d.]+)"', drawn)
    differences = re.findall(r"<b>[^<]*</b> \[[^\]]*\](?: points)?", drawn)
    assert [each.endswith(" points") for each in differences] == [True] * len(shown)
    assert "−" in "".join(differences)
    assert "-" not in "".join(differences)
    app = fine(app.segmented_control(key="compare_view").set_value("blind").run())
    assert app.segmented_control(key="blind_what").value == "answers"
    pair = next(each for each in found.pairs if each.query_id == asked(app))
    sides = re.search(r'id="ctx-blind">(.*)', html(app), re.DOTALL).group(1)
    assert not re.search(r"\[\d+\]", sides)
    assert pair.a.answer != pair.b.answer
