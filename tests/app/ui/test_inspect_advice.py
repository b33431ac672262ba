"""Advice on the page: sentences with the rule's own figures, a button that applies the change, hostile titles as text."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

import ctxasm
from ctxasm.app.tuned import set_effects
from ctxasm.app.ui.frame.session import Session
from ctxasm.app.ui.inspect.advice import row_html
from ctxasm.app.ui.words.advice_words import SENTENCES, advice_sentence, changes_words, effect_words, set_words
from ctxasm.app.ui.words.words import decimal, number
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.presets import preset
from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice import Advice, advise
from ctxasm.tuning.advice_set import LEAST_COUNTED, MOST_COUNTED, SetEffect, counted_on
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import fine, html, kept, opened
from tests.tuning.test_advice import CASES, trial


@pytest.mark.parametrize(
    ("removed", "left_out", "verb"),
    [(True, False, "gave way to"), (False, True, "was left out, unlike"), (False, False, "stands below")],
)
def test_a_newer_text_is_said_to_stand_only_where_it_stands(removed: bool, left_out: bool, verb: str) -> None:
    figures = {"title": "Gids", "newer": "2026", "older": "2024", "likeness": 0.8, "removed": removed, "left_out": left_out}
    assert SENTENCES["stale_copy"](figures) == f"Gids (2026) {verb} an older document (2024), 80 % alike."


def own_advice(rule: str) -> Advice:
    case = CASES[rule]
    given = advise(case.fires, evidence=case.evidence, assemble_with=trial(case.fires, case.after, case.changes))
    return replace(next(each for each in given if dict(each.changes) == case.changes), rule=rule)


def forms(value: object) -> tuple[str, ...]:
    """How a figure may stand in a sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return (str(value),)
    return number(value), decimal(value), f"{100 * value:.0f} %", "1 document" if value == 1 else f"{value} documents"


@pytest.mark.parametrize("rule", CASES)
def test_a_sentence_says_the_figures_of_this_trace(rule: str) -> None:
    (advice,) = (each for each in advise(CASES[rule].fires, evidence=CASES[rule].evidence) if each.rule == rule)
    said = advice_sentence(advice, CASES[rule].fires.trace.documents)
    told = [value for value in advice.figures.values() if any(form in said for form in forms(value))]
    assert len(told) >= min(2, len(advice.figures)) - (rule == "evidence_cut")
    assert said.endswith(".")
    assert said[0].isupper() or said[0].isdigit() or "document_id" in advice.figures
    assert "{" not in said


def test_every_rule_has_a_sentence() -> None:
    assert set(SENTENCES) == set(CASES)


def test_changes_read_as_a_button() -> None:
    assert changes_words({"budget_policy": "pack", "max_tokens": 1200}) == "Budget policy: pack, Max tokens: 1,200"
    assert changes_words({"top_k": None, "summary_prefix": False, "near_threshold": 0.85}) == (
        "Only the first k hits: all, Page summaries: off, Near from this share of words: 0.85"
    )


def test_an_effect_says_what_changed() -> None:
    advice = own_advice("evidence_cut")
    assert advice.effect is not None
    assert effect_words(advice.rule, advice.effect) == ("evidence 0 → 1 of 1", "hits 1 → 2", "tokens 105 → 410")
    middle = own_advice("best_in_middle")
    assert middle.effect is not None
    assert effect_words("best_in_middle", middle.effect) == ("best block 3 of 5 → 1 of 5", "tokens 525 → 525")
    over = own_advice("overshoot")
    assert over.effect is not None
    assert effect_words("overshoot", over.effect) == ("over the limit 15 → 0", "tokens 105 → 85")


def test_a_hostile_title_stays_text() -> None:
    case = CASES["one_document"]
    (advice,) = (each for each in advise(case.fires) if each.rule == "one_document")
    documents = {"a": Document("a", HOSTILE)}
    drawn = row_html(advice, replace(case.fires, trace=replace(case.fires.trace, documents=documents)))
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn


def paragraph(topic: str, lines: int) -> str:
    return " ".join(f"{topic} nummer {n} staat hier in een hele zin." for n in range(lines))


@pytest.fixture(scope="module")
def tuned_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One large document first, the evidence in a small one that no longer fits, a third that would."""
    url = f"sqlite:///{tmp_path_factory.mktemp('advice') / 'shared.db'}"
    desk = Workbench(read_config({"CTXASM_DATABASE_URL": url}))
    texts = {"groot": paragraph("Balie", 20), "middel": paragraph("Garage", 40), "klein": paragraph("Kaart", 8)}
    documents = tuple(Document(name, name.capitalize()) for name in texts)
    chunks = tuple(Chunk(name, 0, text) for name, text in texts.items())
    hits = (Hit("groot", 0, 0.9), Hit("middel", 0, 0.8), Hit("klein", 0, 0.7))
    queries = (Query("Waar?", hits, "labelled", gold=(GoldChunk("klein", 0),)), Query("Hoe?", (Hit("klein", 0, 1.0),), "calm"))
    desk.store.add(Bundle("tuned", documents, chunks, queries))
    desk.close()
    return url


@pytest.fixture
def open_tuned(tuned_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CTXASM_DATABASE_URL", tuned_url)

    return opened


def test_a_button_applies_what_was_measured_and_undo_takes_it_back(open_tuned) -> None:
    app = rested(open_tuned(data="tuned", q="labelled", mt="600"))
    assert 'data-rule="evidence_cut"' in html(app)
    assert "cut labelled evidence in 1 document" in html(app)
    help = app.button(key="advice_evidence_cut").help.replace("\\", "")
    said = re.search(r"evidence 0 → 1 of 1.*tokens ([\d,]+) → ([\d,]+)", help)
    assert said is not None
    before, after = (int(part.replace(",", "")) for part in said.groups())
    assert f'id="ctx-budget" data-tokens="{before}"' in html(app)
    fine(app.button(key="advice_evidence_cut").click().run())
    assert app.session_state["_now"] != AssemblySettings(max_tokens=600)
    assert f'id="ctx-budget" data-tokens="{after}"' in html(app)
    assert 'data-rule="evidence_cut"' not in html(app)
    fine(app.button(key="undo").click().run())
    assert app.session_state["_now"] == AssemblySettings(max_tokens=600)
    assert f'id="ctx-budget" data-tokens="{before}"' in html(app)


def test_the_recommended_choice_is_tried_on_the_query_and_one_click_goes_back(open_tuned) -> None:
    app = rested(open_tuned(data="tuned", q="labelled", mt="600"))
    app.session_state["advice_more"] = True
    assert re.search(r"The recommended choice on this query:.*evidence 0 → 1 of 1", html(fine(app.run())))
    fine(app.button(key="recommended_or_back").click().run())
    assert app.session_state["_now"] == preset("recommended").replace(max_tokens=600)
    fine(app.button(key="undo").click().run())
    assert app.session_state["_now"] == AssemblySettings(max_tokens=600)


def test_nothing_to_improve_is_one_quiet_line(open_tuned) -> None:
    app = fine(open_tuned(data="tuned", q="calm"))
    assert "Nothing that was tried would make this context better" in html(app)
    assert not [button for button in app.button if (button.key or "").startswith("advice_")]


@pytest.fixture
def set_url(tmp_path, monkeypatch):
    """Four questions: with more room three of them get their evidence; and one that nobody labelled."""
    url = f"sqlite:///{tmp_path / 'set.db'}"
    monkeypatch.setenv("CTXASM_DATABASE_URL", url)
    texts = {"groot": paragraph("Balie", 20), "middel": paragraph("Garage", 40), "klein": paragraph("Kaart", 8)}
    hits = (Hit("groot", 0, 0.9), Hit("middel", 0, 0.8), Hit("klein", 0, 0.7))
    named = {"one": "klein", "two": "klein", "three": "klein", "four": "groot"}
    queries = [Query(f"Waar is {name}?", hits, name, gold=(GoldChunk(of, 0),)) for name, of in named.items()]
    with ctxasm.open_store(url) as store:
        documents, chunks = zip(*((Document(name), Chunk(name, 0, text)) for name, text in texts.items()), strict=True)
        store.add(Bundle("set", documents, chunks, (*queries, Query("Wie?", hits, "none"))))
    return url


def rested(app: AppTest) -> AppTest:
    """The page at rest after what was done."""
    app.session_state[Session.at_rest.key] = True
    return fine(app.run())


def test_advice_says_what_it_does_to_the_other_questions_and_opens_them(set_url):
    app = fine(opened(data="set", q="one", mt="600"))
    assert 'data-waits="true"' in html(app)
    app = rested(app)
    assert 'data-rule="evidence_cut"' in html(app)
    assert "alone" not in html(app)
    (kept_advice, *_), _ = app.session_state[Session.advice.key][1]
    now = AssemblySettings(max_tokens=600)
    with ctxasm.open_store(set_url) as store:
        found = ctxasm.compare(now, now.replace(**kept_advice.changes), store, "set", keep=False)
    better, worse = ([each.query_id for each in found.questions if each.change == change] for change in ("better", "worse"))
    assert set(better) == {"one", "two", "three"}
    label = f"helps {len(better)} of {found.labelled} questions, hurts {len(worse)}"
    assert any(label in popover.proto.popover.label for popover in app.get("popover"))
    assert label in app.button(key="advice_evidence_cut").help
    app.session_state["advice_more"] = True
    app = fine(app.run())
    (ways,) = re.findall(r'id="ctx-ways">(.*?)</p>', html(app))
    said = dict(parse_qsl(unescape(re.findall(r'href="\./compare\?([^"]*)"', ways)[0])))
    app = fine(opened("compare", **said))
    assert kept(app, Session.pinned) == now
    assert kept(app, Session.now) == now.replace(**kept_advice.changes)
    assert set(re.findall(r'data-change="(\w+)"', html(app))) == {"better"}


def test_advice_is_silent_where_it_would_not_help_the_others(set_url):
    with ctxasm.open_store(set_url) as store:
        for query_id in ("two", "three"):
            ctxasm.label(query_id, [("groot", 0)], store, "set", "replace")
    app = rested(opened(data="set", q="one", mt="600"))
    assert "Nothing that was tried would help the other questions" in html(app)
    assert "advice_evidence_cut" not in {button.key for button in app.button}


def test_without_other_labels_it_explains_this_query_and_says_so(set_url):
    with ctxasm.open_store(set_url) as store:
        for query_id in ("two", "three", "four"):
            ctxasm.label(query_id, [], store, "set", "replace")
    app = rested(opened(data="set", q="one", mt="600"))
    assert 'data-rule="evidence_cut"' in html(app)
    assert "Explains this query alone." in html(app)


def effect(better: str, worse: str, tokens: float = 0.0) -> SetEffect:
    return SetEffect(10, tuple(better), tuple(worse), tokens)


@pytest.mark.parametrize(
    ("severity", "told", "helps"),
    [
        ("loss", effect("a", ""), False),  # the question that it was read from
        ("loss", effect("ab", ""), True),
        ("loss", effect("abc", "de"), False),
        ("risk", effect("", ""), True),
        ("risk", effect("a", "b"), False),
        ("waste", effect("", "", -1.0), True),
        ("waste", effect("", "", 0.0), False),
        ("waste", effect("", "b", -1.0), False),
    ],
)
def test_the_others_decide(severity, told, helps):
    assert told.helps_others(severity, "a") is helps


def test_of_a_large_set_questions_all_over_it_are_counted():
    queries = [Query("q", (Hit("a", 0, 1.0),), str(at), gold=(GoldChunk("a", 0),)) for at in range(1000)]
    asked = counted_on(queries)
    assert len(asked) == MOST_COUNTED
    assert len({query.query_id for query in asked}) == MOST_COUNTED
    first = sorted(int(query.query_id) for query in asked[:LEAST_COUNTED])
    assert max(b - a for a, b in pairwise([0, *first, 1000])) < 3 * 1000 / LEAST_COUNTED
    assert sorted(counted_on([*queries[:5], Query("none", (), "x")]), key=lambda query: query.query_id) == queries[:5]
    assert counted_on([]) == []


def test_counting_ends_when_it_took_long_and_some_are_counted(set_url, monkeypatch):
    monkeypatch.setattr("ctxasm.tuning.advice_set.PATIENCE_S", 0.0)
    monkeypatch.setattr("ctxasm.tuning.advice_set.LEAST_COUNTED", 2)
    bench, now = Workbench(read_config({"CTXASM_DATABASE_URL": set_url})), AssemblySettings(max_tokens=600)
    changed = now.replace(max_tokens=4000)
    effect = set_effects(bench, now, (changed,), "set")[changed]
    assert (effect.labelled, effect.sampled) == (2, True)
    assert "of 2 sampled questions" in set_words("loss", effect)
    assert set_effects(bench, now, (changed,), "set")[changed].labelled > 2  # those that were counted are kept: it goes on from there
    bench.close()
