"""Review: what a reviewer sees before and after the own verdict, what a key saves, and that nothing is overwritten."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from html import escape
from typing import Any

import pytest
import streamlit
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from ctxasm.app.reviews import keep_recorded
from ctxasm.app.ui.review import page
from ctxasm.app.ui.review.desk import desk_data, nearest_sentence
from ctxasm.app.workbench import SAMPLE, Workbench
from ctxasm.config import read_config
from ctxasm.model.runs import CITATION_VERDICTS, Judgement, Run, RunSource
from ctxasm.review.judging import item_for
from ctxasm.store.database import MemoryStore
from ctxasm.text.sentences import sentence_spans
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import at, fine, html, problems
from tests.examples import examples

SECRET, OTHERS = "checker-secret", "others-secret"
CONFLICT = {"kind": "number", "claim": SECRET, "source": SECRET, "number": 1, "start": 0, "end": 3}
ANSWER = "Meals come at noon [1][2]. Visits end at eight [1]."


def claim(start: int, end: int, markers: list[int], carried: str, **more: Any) -> dict[str, Any]:
    axes = {"support": carried, "citation": "wrong_number"}
    return {"start": start, "end": end, "text": ANSWER[start:end], "kind": "sentence", "markers": markers, "axes": axes, **more}


def two_claims(**more: Any) -> Run:
    support = [{"number": 1, "start": 0, "end": 1, "score": 0.123456}]
    first = claim(0, 18, [1, 2], "contradicted", conflict=CONFLICT, support=support, better=77)
    second = claim(26, 46, [1], "not_found", disputed={"number": 9, "date": SECRET, "age": "newer"})
    sources = (
        RunSource(1, "Lunch is at one. Meals come at eleven.", "Meals", "d", (1,), page_number=3, date="2025-02-01"),
        RunSource(2, "", None),
    )
    return Run("r", "2026-11-28", "When?", ANSWER, {"claims": [first, second]}, dataset="data", query_id="q", sources=sources, **more)


ITEMS = st.lists(st.sampled_from(["0:1", "0:2", "1:1", "answer"]), unique=True)


@given(ITEMS, ITEMS, st.sampled_from(CITATION_VERDICTS))
@settings(max_examples=examples(1000), deadline=None)
def test_nothing_of_the_checker_or_of_others_is_sent_before_ones_own_verdict(own: list[str], others: list[str], verdict: Any) -> None:
    """1,000 items among the slow tests, a part of them here: what is sent is the same whatever the checker says."""
    store, neutral = MemoryStore(), MemoryStore()
    run = two_claims()
    plain = [{name: each[name] for name in ("start", "end", "text", "kind", "markers")} for each in run.check["claims"]]
    axes = {"axes": {"support": "full", "citation": None}}
    store.keep_runs([run])
    neutral.keep_runs([replace(run, check={"claims": [each | axes for each in plain]})])
    for item in others:
        said = Judgement("r", item, "Bo", note=OTHERS, verdict=None if item == "answer" else "wrong_fact")
        store.judge(replace(said, answers="no" if item == "answer" else None), 0)
    for item in own:
        for each in (store, neutral):
            said = Judgement("r", item, "An", verdict=None if item == "answer" else verdict, answers="yes" if item == "answer" else None)
            each.judge(said, 0)
    sent = desk_data(item_for(store, "r", "An"), "An")
    text = json.dumps(sent)
    assert SECRET not in text
    assert "0.123456" not in text
    assert (OTHERS in text) == bool({*own} & {*others})
    closed = {"0:1", "0:2"} if not {"0:1", "0:2"} <= {*own} else set()
    closed |= {"1:1"} - {*own}
    by_item = {each["item"]: each for each in sent["review"]["items"]}
    assert all(not any(said.startswith("Checker") for said in by_item[item]["others"]) for item in closed)
    if not own:
        assert sent == desk_data(item_for(neutral, "r", "An"), "An")


def test_the_source_is_named_with_page_and_date_and_its_nearest_sentence_is_outlined() -> None:
    store = MemoryStore()
    store.keep_runs([two_claims()])
    sent = desk_data(item_for(store, "r", "An"), "An")
    assert sent["cards"][0]["title"] == "Meals"
    assert sent["cards"][0]["about"] == "page 3 · 2025-02-01"
    (span,) = sent["attempts"][0][0]["claims"][0]["spans"]
    outlined = [part["text"] for part in sent["cards"][0]["parts"] if span["start"] <= part["start"] and part["end"] <= span["end"]]
    assert "".join(outlined).strip() == "Meals come at eleven."
    assert [each["number"] for each in sent["review"]["items"]] == [1, 2, 1, None]
    words = "".join(piece["text"] for line in sent["attempts"][0][0]["lines"] for piece in line["pieces"] if "text" in piece)
    assert "Meals come at noon" in words


@pytest.mark.parametrize(("text", "nearest"), [("One. Two three. Three.", "Three."), ("One. Two.", "One.")])
def test_the_nearest_sentence_shares_most_words_and_is_the_shortest(text: str, nearest: str) -> None:
    spans = tuple(sentence_spans(text))
    start, end = nearest_sentence("three, nothing", spans, lambda low, high: frozenset(text[low:high].lower().strip(" .").split()))
    assert text[start:end].strip() == nearest


# The page


@pytest.fixture
def bench(own_url):
    opened = Workbench(read_config({"CTXASM_DATABASE_URL": own_url}))
    keep_recorded(opened, SAMPLE)
    yield opened
    opened.close()


def review(**more: str) -> AppTest:
    """Review with a reviewer's name typed."""
    app = at("review", data="sample", **more)
    app.session_state["reviewer"] = "An"
    return fine(app.run())


def desk(app: AppTest) -> dict[str, Any]:
    (data,) = (given for element in app.get("bidi_component") if "review" in (given := json.loads(element.proto.json or "{}")))
    return data


def say(app: AppTest, monkeypatch: pytest.MonkeyPatch, act: str, value: str, item: str, run: str | None = None) -> AppTest:
    """As the script of the desk says it: the callback is called in the next run, before the page is drawn."""
    told = json.dumps({"act": act, "value": value, "run": run or desk(app)["review"]["run"], "item": item})
    real, pending = page._reviewer, [told]

    def first_say() -> str:
        if pending:
            page._heard(pending.pop())
        return real()

    with monkeypatch.context() as patch:
        patch.setattr(page, "_reviewer", first_say)
        return fine(app.run())


def test_without_a_name_nothing_is_judged_and_without_answers_the_page_says_where_they_come_from(own_url) -> None:
    app = fine(at("review", data="sample").run())
    assert "Who reviews?" in html(app)
    app = review()
    assert "No answer to review yet" in html(app)
    fine(app.button(key="take_recorded").click().run())
    assert len(desk(app)["review"]["items"]) > 1
    assert "0 of 6 answers judged" in html(app)


def test_a_verdict_is_saved_at_once_then_the_checker_stands_beside_it_and_undo_takes_it_back(bench, monkeypatch) -> None:
    app = review()
    shown = desk(app)["review"]
    item = next(each for each in shown["items"] if each["item"] != "answer")
    assert item["others"] == []
    bench.store.judge(Judgement(shown["run"], item["item"], "Bo", "right", note=OTHERS), 0)
    assert OTHERS not in json.dumps(desk(fine(app.run()))) + html(app)
    say(app, monkeypatch, "verdict", "wrong_fact", item["item"])
    (own,) = (each for each in bench.store.judgements([shown["run"]]) if each.reviewer == "An")
    assert (own.verdict, own.version) == ("wrong_fact", 1)
    others = next(each for each in desk(app)["review"]["items"] if each["item"] == item["item"])["others"]
    assert others[0] == "You: wrong fact"
    assert any(OTHERS in said for said in others)
    say(app, monkeypatch, "undo", "", item["item"])
    assert desk(app)["review"]["items"][shown["items"].index(item)]["chosen"] == []
    assert [each.verdict for each in bench.store.judgements([shown["run"]], history=True) if each.reviewer == "An"] == ["wrong_fact", None]


def test_two_tabs_never_overwrite_each_other_and_both_texts_are_shown(bench, monkeypatch) -> None:
    app = review()
    shown = desk(app)["review"]
    item = shown["items"][0]["item"]
    bench.store.judge(Judgement(shown["run"], item, "An", "right", note="from the other tab"), 0)
    say(app, monkeypatch, "note", "mine of this tab", item)
    assert [each.note for each in bench.store.judgements([shown["run"]], history=True)] == ["from the other tab"]
    (conflict,) = desk(app)["review"]["conflicts"]
    assert "from the other tab" in conflict["theirs"]
    assert "mine of this tab" in conflict["mine"]
    say(app, monkeypatch, "mine", conflict["key"], "")
    assert [each.note for each in bench.store.judgements([shown["run"]], history=True)] == ["from the other tab", "mine of this tab"]
    assert desk(app)["review"]["conflicts"] == []


@pytest.mark.parametrize("said", ["", "[]", "{}", '{"act": 1}', '{"act":"verdict","value":"best","run":"r","item":"0:1"}', "[" * 2000])
def test_what_no_page_says_changes_nothing(bench, monkeypatch, said: str) -> None:
    app = review()
    monkeypatch.setattr(page, "_reviewer", lambda: (page._heard(said), "An")[1])
    fine(app.run())
    assert bench.store.judgements([each.run_id for each in bench.store.runs()]) == []


def test_a_wrong_item_is_refused_with_a_sentence_and_the_answer_as_a_whole_is_judged(bench, monkeypatch) -> None:
    app = review()
    run_id = desk(app)["review"]["run"]
    say(app, monkeypatch, "verdict", "right", "answer")
    assert any("Not saved: the answer as a whole takes" in said for said in problems(app))
    for value in ("partly", "incomplete"):
        say(app, monkeypatch, "answer", value, "answer")
    (own,) = bench.store.judgements([run_id])
    assert (own.answers, own.complete) == ("partly", False)
    say(app, monkeypatch, "answer", "partly", "answer")
    assert bench.store.judgements([run_id])[0].answers is None


def test_a_passage_that_should_have_been_cited_is_found_picked_and_taken_back(bench) -> None:
    app = review()
    run_id = desk(app)["review"]["run"]
    app.session_state[f"missed_{run_id}"] = True
    fine(app.run())
    fine(app.text_input(key="cite_phrase").set_value("visit").run())
    fine(app.button(key="cite_0").click().run())
    (passage,) = bench.store.judgements([run_id])[0].should_cite
    assert "visit" in passage.text.lower()
    fine(app.button(key="cite_0").click().run())
    assert bench.store.judgements([run_id])[0].should_cite == ()


def test_the_address_names_the_answer_and_opens_it_again(bench) -> None:
    app = review()
    first = desk(app)["review"]["run"]
    fine(app.button(key="next_answer").click().run())
    second = desk(app)["review"]["run"]
    assert first != second
    assert app.query_params["run"] == second
    assert desk(review(run=second))["review"]["run"] == second
    unknown = review(run="nothing")
    assert any("none of the 6 kept answers" in said for said in problems(unknown))


def test_history_opens_compares_deletes_and_undoes(bench) -> None:
    app = review()
    app.session_state["review_view"] = "history"
    fine(app.run())
    assert html(app).count('href="./review?') >= 6
    assert "Restore its settings" in html(app)
    other = next(entry.run_id for entry in bench.store.runs() if entry.run_id != app.selectbox(key="history_run").value)
    fine(app.selectbox(key="history_other").select(other).run())
    assert "What differs" in html(app)
    fine(app.button(key="delete_run_now").click().run())
    assert len(bench.store.runs()) == 5
    fine(app.button(key="restore_run").click().run())
    assert len(bench.store.runs()) == 6


def test_verdicts_become_gold_and_undo_gives_the_labels_back(bench) -> None:
    queries = {query.query_id: query.gold for query in bench.dataset(SAMPLE).queries()}
    for entry in bench.store.runs():
        for each in item_for(bench.store, entry.run_id, "An").claims:
            for citation in each.citations:
                bench.store.judge(Judgement(entry.run_id, citation.item, "An", "right" if citation.number else "not_there"), 0)
    app = review()
    app.session_state["review_view"] = "agreement"
    fine(app.run())
    assert "confirm" in html(app)
    fine(app.button(key="make_gold").click().run())
    assert "of sample" in html(app)
    assert {query.query_id: query.gold for query in bench.dataset(SAMPLE).queries()} != queries
    again = review(view="agreement")  # a new session, such as after a reload
    again.session_state["review_view"] = "agreement"
    fine(again.run())
    fine(again.button(key="undo_gold").click().run())
    assert "labelled as before" in html(again)
    assert {query.query_id: query.gold for query in bench.dataset(SAMPLE).queries()} == queries
    assert [button.key for button in again.button if button.key == "undo_gold"] == []


def test_flagged_questions_are_one_link_that_opens_their_list_on_compare(bench) -> None:
    first, second, *_ = bench.store.runs()
    for entry, verdict, reviewer in ((first, "wrong_fact", "An"), (second, "not_there", "Bo")):
        item = next(each for claim in item_for(bench.store, entry.run_id, reviewer).claims for each in claim.citations)
        bench.store.judge(Judgement(entry.run_id, item.item, reviewer, verdict), 0)
    app = review()
    app.session_state["review_view"] = "agreement"
    assert 'view=all&amp;only=flagged"' in html(fine(app.run()))
    assert "1 flagged question<" in html(app)  # what others flag is not shown to a reviewer
    link = {"data": "sample", "a": "default", "mt": "2000", "view": "all", "only": "flagged"}
    for reviewer, ids in (("An", {first.query_id}), ("", {first.query_id, second.query_id})):
        opened = at("compare", **link)
        opened.session_state["reviewer"] = reviewer
        drawn = html(fine(opened.run()))
        assert f"⚑ flagged by reviewers {len(ids)}" in opened.segmented_control(key="compare_filter").options
        assert set(re.findall(r"[?;&]q=([^&;\"]+)", drawn.partition('id="ctx-questions"')[2])) == ids


def test_undo_takes_back_nothing_that_this_page_has_not_shown(bench, monkeypatch) -> None:
    app = review()
    shown = desk(app)["review"]
    item = shown["items"][0]["item"]
    say(app, monkeypatch, "verdict", "right", item)
    bench.store.judge(Judgement(shown["run"], item, "An", "wrong_fact", note="from the other tab"), 1)
    say(app, monkeypatch, "undo", "", item)
    assert [each.version for each in bench.store.judgements([shown["run"]], history=True)] == [1, 2]
    (conflict,) = desk(app)["review"]["conflicts"]
    assert "from the other tab" in conflict["theirs"]
    assert conflict["mine"] == "not judged"


def test_another_dataset_has_its_own_queue_and_nothing_is_said_of_the_answer_that_was_open(bench) -> None:
    bench.load_sample(name="sample-nl")
    keep_recorded(bench, "sample-nl")
    app = review()
    first = desk(app)["review"]["run"]
    fine(app.selectbox(key="dataset_name").select("sample-nl").run())
    assert problems(app) == []
    assert bench.store.run(desk(app)["review"]["run"]).dataset == "sample-nl"
    assert desk(app)["review"]["run"] != first


def test_the_queue_of_a_log_holds_only_what_was_kept_under_its_name(bench) -> None:
    keep_recorded(bench, SAMPLE, batch="pilot")
    app = review()
    everything = app.selectbox(key="review_run").options
    assert app.selectbox(key="review_batch").options[0] == "All kept answers"
    fine(app.selectbox(key="review_batch").set_value("pilot").run())
    assert problems(app) == []
    assert bench.store.run(desk(app)["review"]["run"]).batch == "pilot"
    assert len(app.selectbox(key="review_run").options) * 2 == len(everything)


def test_hostile_texts_are_text_in_every_field(bench, monkeypatch) -> None:
    source = RunSource(1, HOSTILE, HOSTILE, HOSTILE, (0,), HOSTILE, 1, HOSTILE)
    check = {
        "claims": [
            {
                "start": 0,
                "end": len(HOSTILE),
                "text": HOSTILE,
                "kind": "sentence",
                "markers": [1],
                "axes": {"support": "full", "citation": None},
            }
        ]
    }
    run = Run(
        "bad",
        "2026-11-28",
        HOSTILE,
        HOSTILE,
        check,
        dataset=SAMPLE,
        author=HOSTILE,
        model=HOSTILE,
        query_id=HOSTILE,
        sources=(source,),
        reference=HOSTILE,
    )
    bench.store.keep_runs([run])
    app = review(run="bad")
    say(app, monkeypatch, "note", HOSTILE, "0:1")
    say(app, monkeypatch, "verdict", "right", "0:1")
    for view in ("review", "agreement", "history"):
        app.session_state["review_view"] = view
        drawn = html(fine(app.run()))
        assert "<script>alert(1)" not in drawn
        assert "<img src=x" not in drawn
    assert asdict(bench.store.judgements(["bad"])[0])["note"] == HOSTILE


class SignedIn(dict[str, str]):
    """A `st.user` of a sign-in."""

    is_logged_in = True


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"email": "an@example.org", "name": "An"}, "an@example.org"),
        ({"name": f"An {HOSTILE}"}, f"An {HOSTILE}"),
        ({"email": " "}, None),
    ],
)
def test_who_is_signed_in_judges_under_that_name_and_types_none(bench, monkeypatch, user: dict[str, str], name: str | None) -> None:
    monkeypatch.setattr(streamlit, "user", SignedIn(user))
    app = fine(at("review", data="sample").run())
    if name is None:
        assert [box.label for box in app.text_input if box.label == "Your name"] == ["Your name"]
        return
    assert [box for box in app.text_input if box.label == "Your name"] == []
    assert escape(name) in html(app)
    item = desk(app)["review"]["items"][0]["item"]
    say(app, monkeypatch, "verdict", "right", item)
    (own,) = bench.store.judgements([desk(app)["review"]["run"]])
    assert (own.reviewer, own.verdict) == (name, "right")
