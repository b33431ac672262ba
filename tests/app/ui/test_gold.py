"""Gold by a click: what a page marks is stored with its question, counts at once in every step, and leaves with the export."""

from __future__ import annotations

import json
import re
from html import unescape
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

import ctxasm
from ctxasm.app.ui.ask import page
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.layout import DETAILS, EVIDENCE
from ctxasm.app.ui.markup import Expected, marked_key, marked_of, sign_html
from ctxasm.data.files import load_bundle
from ctxasm.model.errors import StoreUnavailable
from ctxasm.model.records import GoldChunk, Query, Span
from ctxasm.tuning import evidence
from tests.app.ui.builders import HOSTILE
from tests.app.ui.pages import fine, html, kept, opened, problems, reader


@pytest.fixture
def log_url(own_url, tmp_path):
    """An imported log of two questions beside the sample, of which nobody said what they should find."""
    hits = [
        {"document_id": "gids", "chunk_index": at, "text": f"Regel {at} over kamer {at * 7}.", "score": 1 / (1 + at)} for at in range(6)
    ]
    lines = [{"query_id": f"q{at}", "query": f"Welke kamer is {at}?", "hits": hits[3 * at : 3 * at + 3]} for at in range(2)]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with ctxasm.open_store(own_url) as store:
        ctxasm.load(path, store, "log")
    return own_url


def details(app: AppTest, tab: str, **state: object) -> AppTest:
    for key, value in {"drawer": DETAILS, "details_tab": tab, **state}.items():
        app.session_state[key] = value
    return fine(app.run())


def funnel(app: AppTest) -> list[str]:
    (steps,) = (box for box in app.get("button_group") if "found" in str(box.options[0]))
    return [str(option) for option in steps.options]


def gold(url: str, query_id: str, dataset: str = "log") -> tuple[GoldChunk, ...]:
    with ctxasm.open_store(url) as store:
        return store.dataset(dataset).query(query_id).gold


def test_a_chunk_of_a_log_is_marked_and_every_step_says_so(log_url, tmp_path):
    app = details(opened(data="log", q="q0"), "Chunk", picked=("gids", 1))
    assert "●" not in "".join(funnel(app))
    app = fine(app.button(key="mark_expected").click().run())
    assert gold(log_url, "q0") == (GoldChunk("gids", 1, "hand"),)
    assert all("●" in step for step in funnel(app))
    assert app.button(key="mark_expected").label == "● Expected: unmark"
    assert re.search(r"cx-cell [^\"]*wanted", html(app))
    with ctxasm.open_store(log_url) as store:
        ctxasm.export(tmp_path / "out", store, "log")
    assert load_bundle(tmp_path / "out").queries[0].gold == (GoldChunk("gids", 1, "hand"),)
    fine(app.button(key="mark_expected").click().run())
    assert gold(log_url, "q0") == ()
    assert "●" not in "".join(funnel(app))


def test_what_was_never_retrieved_is_found_by_a_phrase_and_shows_as_lost(log_url):
    app = details(opened(data="log", q="q0", w="0"), EVIDENCE)
    assert "What should this question find?" in html(app)
    app = fine(app.text_input(key="find_phrase").set_value("kamer 28").run())
    assert 'data-pick="[&quot;gids&quot;, 4, &quot;expected&quot;]"' in html(app)
    with ctxasm.open_store(log_url) as store:
        ctxasm.label("q0", [("gids", 4)], store, "log")
    app = details(opened(data="log", q="q0", w="0"), EVIDENCE)
    assert "never retrieved" in html(app)
    assert all("○" in step for step in funnel(app))


def test_a_question_with_spans_takes_a_passage_beside_them(own_url):
    with ctxasm.open_store(own_url) as store:
        query = next(query for query in store.dataset("sample").queries() if query.spans)
    hit = query.retrieved[-1]
    app = details(opened(data="sample", q=query.query_id), "Chunk", picked=(hit.document_id, hit.chunk_index))
    before = len(re.findall(r"of (\d+)", html(app)))
    assert before
    of = re.search(r"evidence \d+ of (\d+)", html(app))
    fine(app.button(key="mark_expected").click().run())
    now = re.search(r"evidence \d+ of (\d+)", html(app))
    assert of is not None
    assert now is not None
    assert int(now[1]) == int(of[1]) + 1
    assert gold(own_url, query.query_id, "sample") == (*query.gold, GoldChunk(hit.document_id, hit.chunk_index, "hand"))


def test_a_typed_question_is_saved_with_its_mark_and_others_stay(log_url):
    app = opened(data="log", ask="kamer 14")
    fine(app)
    assert any(name.startswith("typed-") for _, name in kept(app, "unsaved"))
    app.session_state["asked_for"] = {"ask": "regel 5"}
    app = fine(app.run())
    (first, second) = [name for _, name in kept(app, "unsaved")]
    app = details(app, "Chunk")
    fine(app.button(key="mark_expected").click().run())
    assert len(gold(log_url, second)) == 1
    assert [name for _, name in kept(app, "unsaved")] == [first]
    app.session_state["query_id"] = "q1"
    app = fine(details(app, "Chunk", picked=("gids", 1)).button(key="mark_expected").click().run())
    assert [name for _, name in kept(app, "unsaved")] == [first]


def cited(app: AppTest) -> list[dict[str, object]]:
    (pane,) = reader(app)["attempts"][0]
    return [passage for claim in pane["claims"] for passage in claim["passages"]]


def test_each_claim_names_the_passages_that_it_cites_and_no_click_approves_all(log_url):
    app = fine(opened(data="log", q="q0").switch_page("../../../pages/ask.py").run())
    app = fine(app.button(key="ask").click().run())
    first = cited(app)[0]
    assert (first["title"], first["expected"], first["fixed"]) == ("gids, chunk 0", False, False)
    assert marked_key(first["click"]) == ("gids", 0)
    assert not any(str(button.key).startswith("approve") for button in app.button)
    assert gold(log_url, "q0") == ()


def test_a_passage_that_was_approved_is_said_and_counted(log_url):
    with ctxasm.open_store(log_url) as store:
        store.set_gold("log", "q0", (GoldChunk("gids", 0, "cited"),))
    app = fine(opened(data="log", q="q0").switch_page("../../../pages/ask.py").run())
    app = fine(app.button(key="ask").click().run())
    assert cited(app)[0]["expected"] is True
    (pane,) = reader(app)["attempts"][0]
    assert re.match("Uses 1 of 1 expected passage", pane["uses"], re.IGNORECASE)
    assert "approved as cited" in evidence.labels_of(server.workbench().dataset("log").queries())


@pytest.mark.parametrize(("query", "does"), [(Query("?"), "add"), (Query("?", gold=(GoldChunk("a", 1),)), "remove")])
def test_a_click_on_a_passage_approves_it_and_the_next_takes_it_back(monkeypatch, query, does):
    kept: list[tuple[object, ...]] = []
    monkeypatch.setattr(page, "keep_marks", lambda *marked: kept.append(marked))
    scene = SimpleNamespace(query=query)
    assert page._picked(scene, '["a", 1, "expected"]')
    assert kept == [(scene, [("a", 1)], does, "cited")]
    assert not any(page._picked(scene, said) for said in ("", "[]", '["a", 1]', '["a", "1", "expected"]', "x" * 9))


def test_a_store_that_can_only_be_read_says_so_and_nothing_changes(log_url, monkeypatch):
    def refuse(*args: object, **options: object) -> None:
        raise StoreUnavailable("the database may only be read: load into a writable database")

    app = details(opened(data="log", q="q0"), "Chunk")
    monkeypatch.setattr("ctxasm.store.database.Store.set_gold", refuse)
    app = fine(app.button(key="mark_expected").click().run())
    assert problems(app) == ["the database may only be read: load into a writable database"]
    assert gold(log_url, "q0") == ()


def test_where_no_question_has_gold_the_ways_to_it_are_offered(log_url):
    app = fine(opened(data="log").switch_page("../../../pages/sweep.py").run())
    assert "No question says which passages answer it" in html(app)
    app = fine(app.button(key="gold_by_hand").click().run())
    assert [link.proto.label for link in app.get("page_link") if "Inspect" in link.proto.label] == ["Open in Inspect"]
    app = fine(app.switch_page("../../../pages/inspect.py").run())
    assert "What should this question find?" in html(app)


def test_on_another_page_the_browser_is_told_again_what_is_chosen(log_url):
    app = opened(data="log", q="q1")
    assert not fine(app.run()).selectbox(key="dataset_name").proto.set_value
    app = fine(app.switch_page("../../../pages/sweep.py").run())
    for key, value in (("dataset_name", "log"), ("query_id", "q1")):
        assert app.selectbox(key=key).proto.set_value
        assert app.selectbox(key=key).value == value
    assert not fine(app.run()).selectbox(key="dataset_name").proto.set_value


NO_SIGNS = (None, "", "1", "{}", '["a", 1]', '["a", true, "expected"]', '["a", 1.0, "expected"]', '[["a"], 1, "expected"]', '["a", 1, "x"]')


@pytest.mark.parametrize("said", NO_SIGNS)
def test_what_no_page_has_drawn_marks_nothing(said):
    assert marked_key(said) is None


def test_a_sign_is_read_back_and_shows_no_markup():
    key = (HOSTILE, 3)
    drawn = sign_html(Expected(), key)
    assert "<script" not in drawn
    (said,) = re.findall(r'data-pick="([^"]*)"', drawn)
    assert marked_key(unescape(said)) == key
    assert "button" not in sign_html(Expected(spanned=frozenset({key})), key)


def test_each_of_the_alternatives_is_marked_and_what_is_lost_is_not():
    choice = GoldChunk("a", 1, also=(GoldChunk("a", 2), GoldChunk("a", 3, lost=True)))
    assert marked_of(Query("?", gold=(choice, GoldChunk("a", 4, lost=True)))) == {("a", 1), ("a", 2)}


def test_evidence_says_which_others_are_enough_and_what_is_no_longer_there(log_url):
    with ctxasm.open_store(log_url) as store:
        ctxasm.label("q0", [("gids", 1), ("gids", 5)], store, "log", any_of=True)
        store.set_gold("log", "q0", (GoldChunk("gids", 9, "hand", "Wat er <b>stond</b>.", (), True),), "add")
    app = details(opened(data="log", q="q0", w="0"), EVIDENCE)
    said = html(app)
    assert "1 of 2 pieces of evidence are in the context" in said
    assert "or gids #5: any one is enough" in said
    assert "no longer in the dataset" in said
    assert "Wat er &lt;b&gt;stond&lt;/b&gt;." in said


def test_gold_of_the_data_is_no_mark_beside_spans():
    of_data, by_hand, span = GoldChunk("a", 1), GoldChunk("a", 2, "hand"), Span("a", 0, 4)
    assert marked_of(Query("q", gold=(of_data, by_hand))) == {("a", 1), ("a", 2)}
    assert marked_of(Query("q", gold=(of_data, by_hand), spans=(span,))) == {("a", 2)}
