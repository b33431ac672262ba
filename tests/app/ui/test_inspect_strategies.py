"""Rows of the strategies' pictures: copies, compression, order, supplement, regret and the funnel of the stages."""

from __future__ import annotations

import re

import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.fates import SENT, likeness_label, supplement_of
from ctxasm.app.funnel import flow, steps
from ctxasm.app.ui.inspect.budget import regret_html
from ctxasm.app.ui.inspect.budget_bar import budget_bar, budget_html
from ctxasm.app.ui.inspect.copies import copies, difference, squeezed
from ctxasm.app.ui.inspect.funnel import evidence_mark
from ctxasm.app.ui.inspect.order import at_the_ends, block_order, prefix_html
from ctxasm.app.ui.widgets.context_marks import also_in, rewritten_text, shortened_chunks, stretches, text_html
from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.stages import Extract
from ctxasm.model.events import Compressed, Ordered
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.text.tokens import open_counter
from ctxasm.text.tokens.common_prefix import Prefix
from ctxasm.tuning.evidence import evidence_states
from tests.app.ui.builders import HOSTILE, assembled
from tests.app.ui.pages import fine, html
from tests.app.ui.test_html import Page
from tests.app.ui.test_inspect_chunks import law
from tests.fake_model_server import serving
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER, LIMITS, Case, cases, settings_

BPE = open_counter("cl100k_base")
RULES = "De receptie is elke dag open van 8 tot 20 uur en de cafetaria van 9 tot 18 uur, behalve op feestdagen."
LONG = " ".join(f"Zin {n} over het parkeren bij het ziekenhuis." for n in range(60)) + " De garage kost 2 euro per uur."


def editions(limit: int = 8000, **settings: object):
    """Two editions of the same rules, the older one ranked first, and a long document."""
    documents = [
        Document("old", "Regels 2023", date="2023-03-01"),
        Document("new", "Regels 2026", date="2026-01-05"),
        Document("long", "Garage"),
    ]
    chunks = [Chunk("old", 0, RULES), Chunk("new", 0, RULES.replace("receptie", "balie")), Chunk("long", 0, LONG)]
    hits = (Hit("old", 0, 0.9), Hit("new", 0, 0.8), Hit("long", 0, 0.7))
    query = Query("Wat kost de garage per uur?", hits, "q", supplement="Zie de plattegrond.", best_similarity=0.5)
    chosen = AssemblySettings().replace(expand_window=0, **settings)
    compressor = settings.get("compression") == "model" and Rewriting()
    return assemble(query, FakeSource(documents, chunks, BPE), chosen, BPE, FakeClock(), limit, compressor=compressor or None)


class Rewriting:
    """A model that puts everything into words of its own."""

    def compress(self, query, chunks, max_tokens, counter, cancelled=lambda: False):
        return [Extract("rewritten", words="Twee euro.") for _ in chunks]


NEAR = {"dedup_near": True, "near_threshold": 0.7}


def test_a_near_copy_says_how_alike_it_is():
    (copy,) = copies(editions(**NEAR))
    assert (copy.copy, copy.kept, copy.likeness, copy.superseded) == (("new", 0), ("old", 0), "near", False)
    assert 0.7 <= copy.similarity < 1


def test_the_older_edition_is_called_superseded():
    (copy,) = copies(editions(dedup_keep="newest", **NEAR))
    assert (copy.copy, copy.kept, copy.superseded) == (("old", 0), ("new", 0), True)


def test_a_citation_says_how_like_its_other_places_are():
    done = editions(**NEAR)
    (place,) = also_in(done, done.citations[0])
    assert place.title == "Regels 2026"
    assert place.label == likeness_label("near", copies(done)[0].similarity)
    assert f"also in Regels 2026 ({place.label})" in Page(text_html(done, "")).text
    (exact,) = also_in(assembled(), next(c for c in assembled().citations if c.also_in))
    assert exact.label == ""


words = st.lists(st.sampled_from(["a", "bb", "Ccc", "d\n", "é", HOSTILE]), max_size=60).map(" ".join)


@law
@given(words, words)
def test_a_difference_shows_both_texts_but_for_skipped_equal_words(copy, kept):
    found = difference(copy, kept)
    for text, pieces in ((copy, found.copy), (kept, found.kept)):
        shown = "".join(piece.text for piece in pieces if piece.kind != "skipped")
        assert "skipped" in {piece.kind for piece in pieces} or shown == text
        assert all(piece.text in text for piece in pieces if piece.kind != "skipped")
    if copy == kept:
        assert {piece.kind for piece in (*found.copy, *found.kept)} <= {"same", "skipped"}


def test_only_the_words_that_differ_are_marked():
    found = difference(RULES, RULES.replace("20 uur", "21 uur"))
    assert [piece.text.strip() for piece in found.copy if piece.kind == "own"] == ["20"]
    assert [piece.text.strip() for piece in found.kept if piece.kind == "own"] == ["21"]


SHORT = {"compression": "extractive", "max_chunk_tokens": 100}


@law
@given(cases(), settings_(compression="extractive", max_chunk_tokens=20), LIMITS)
def test_a_text_is_cut_into_what_was_sent_and_what_was_not(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    for fate in done.trace.fates:
        candidate = done.trace.candidates.get((fate.document_id, fate.chunk_index))
        pieces = stretches(done, fate)
        assert "".join(piece.text for piece in pieces) == (candidate.chunk.text if candidate else "")
        if fate.fate not in SENT:
            assert {piece.state for piece in pieces} <= {"left"}
        elif fate.fate == "kept" and fate.compressed is None:
            assert "left" not in {piece.state for piece in pieces}


def test_a_shortened_chunk_is_flagged_with_its_share():
    done = editions(400, **SHORT)
    ((key, short),) = shortened_chunks(done).items()
    (event,) = (e for record in done.trace.stages for e in record.events if isinstance(e, Compressed))
    assert key == ("long", 0)
    assert short.words == f"{100 * event.kept_tokens / event.tokens:.0f} % of {event.tokens} tokens"
    assert short.words in Page(text_html(done, "")).text
    fate = next(fate for fate in done.trace.fates if fate.document_id == "long")
    assert {"sent", "left"} == {piece.state for piece in stretches(done, fate)}
    assert [(row.tokens, row.kept_tokens, row.sent) for row in squeezed(done)] == [(event.tokens, event.kept_tokens, True)]


def test_a_rewritten_chunk_is_marked_as_such():
    done = editions(400, compression="model", max_chunk_tokens=100)
    assert shortened_chunks(done)["long", 0].rewritten
    assert rewritten_text(done, ("long", 0)) == "Twee euro."
    page = Page(text_html(done, ""))
    assert "rewritten" in page.text
    assert any("data-rewritten" in attrs for _, attrs in page.tags)


@law
@given(cases(), settings_(), LIMITS)
def test_every_block_has_one_place_by_relevance_and_one_in_the_context(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    places = block_order(done)
    record = done.trace.stage("order")
    assert len(places) == sum(isinstance(event, Ordered) for event in record.events)
    assert sorted(place.position for place in places) == [place.relevance for place in places] == list(range(1, len(places) + 1))
    assert [place.score for place in places] == sorted((place.score for place in places), reverse=True)
    if chosen.ordering == "relevance" and chosen.citation_unit == "document":
        assert all(place.relevance == place.position for place in places)
    if chosen.ordering == "bookend" and chosen.citation_unit == "document" and len(places) > 1:
        assert at_the_ends(places) == 2


@pytest.mark.parametrize(
    ("settings", "injected", "words"),
    [
        ({}, True, "no found chunk is close enough in meaning"),
        ({"supplement_mode": "never"}, False, "the setting says never"),
        ({"supplement_threshold": 0.4}, False, "a found chunk is close enough in meaning"),
    ],
)
def test_the_supplement_says_which_rule_decided(settings, injected, words):
    done = editions(**settings)
    event = supplement_of(done)
    assert event.injected is injected
    card = Page(text_html(done, "")).by_id("ctx-supplement")
    assert card["data-injected"] == str(injected).lower()
    assert words in Page(text_html(done, "")).text
    assert words in budget_html(done, "")
    bar = budget_bar(done)
    parts = [part for document in bar.documents for part in document.parts if part.kind == "supplement"]
    assert sum(part.tokens for part in parts) == event.tokens
    assert bar.sources == 3


def test_a_query_without_a_supplement_speaks_of_none():
    assert supplement_of(assembled()) is None
    assert "upplement" not in Page(text_html(assembled(), "")).text


@law
@given(cases(), settings_(), LIMITS)
def test_the_runs_of_the_bar_stand_as_the_blocks_do(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    runs = [run for run in budget_bar(done).runs if run.kept]
    assert sum(run.tokens for run in runs) == done.token_count
    numbers = [number for run in runs for number in run.numbers]
    assert list(dict.fromkeys(numbers)) == [citation.number for citation in done.citations]
    assert {run.document_id for run in runs} == {document.document_id for document in budget_bar(done).kept}


@law
@given(cases(), settings_(), LIMITS)
def test_regret_is_said_under_every_policy(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    page = Page(regret_html(done))
    assert page.open == []
    regret = done.trace.regret
    values = [attrs["data-value"] for _, attrs in page.tags if "data-value" in attrs]
    assert values == ([] if regret.regret <= 1e-12 else ["kept", "best" if regret.exact else "bound"])
    assert ("at most" in page.text) == (regret.regret > 1e-12 and not regret.exact)


def test_without_assembly_nothing_is_compared_with_a_packing():
    assert "there is no packing" in Page(regret_html(assembled(enabled=False))).text


@law
@given(cases(), settings_(), LIMITS)
def test_the_funnel_counts_repeats_in_characters_and_says_so(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    for step in steps(done):
        if step.name == "repeats":
            assert step.value == "0" or re.fullmatch("−[1-9][0-9,]* chars", step.value)


@law
@given(cases(), settings_(), LIMITS)
def test_the_funnel_ends_at_what_is_sent(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    levels = flow(done)
    sent = {(fate.document_id, fate.chunk_index) for fate in done.trace.fates if fate.fate in SENT}
    assert levels[-1].hits + levels[-1].neighbours == len(sent)
    assert levels[0].hits == sum(fate.retrieved for fate in done.trace.fates)
    assert [level.stage for level in levels[1:]] == [record.stage for record in done.trace.stages]


def test_evidence_that_was_shortened_away_is_lost_at_compress():
    from dataclasses import replace

    from ctxasm.model.records import GoldChunk

    done = editions(400, **SHORT)
    done = replace(done, query=replace(done.query, gold=(GoldChunk("long", 0), GoldChunk("old", 0), GoldChunk("else", 0))))
    chunks = {key[0]: [candidate.chunk] for key, candidate in done.trace.candidates.items()}
    states = evidence_states(done, chunks)
    assert [state.stage for state in states] == ["compress", None, "retrieve"]
    levels = {level.stage: (level.evidence, level.lost) for level in flow(done, states)}
    assert (levels["retrieved"], levels["compress"], levels["cite"]) == ((2, 1), (1, 1), (1, 0))
    marks = {step.name: evidence_mark(step) for step in steps(done, states)}
    assert (marks["found"], marks["grouped"], marks["shortened"], marks["sources"]) == (" ○\u202f2/3", " ○", " ○\u202f1/3", " ○")
    assert {evidence_mark(step) for step in steps(done, states[1:2])} == {" ●"}
    assert {evidence_mark(step) for step in steps(done)} == {""}


@pytest.mark.parametrize("limit", [100, 150, 230])
def test_a_best_document_that_is_too_large_is_said(limit):
    done = assembled(limit)
    text = Page(regret_html(done)).text
    if done.trace.regret.regret > 1e-12:
        assert "MRI-onderzoek alone has 346 tokens" in text
        assert "the best packing of whole documents" not in text
    else:
        assert "packing regret 0" in text


@pytest.fixture
def models(monkeypatch):
    with serving() as memory:
        monkeypatch.setenv("CTXASM_LLM_BASE_URL", memory.base_url)
        monkeypatch.setenv("CTXASM_LLM_MODEL", "good")
        # The workbench of a process is kept with the configuration it was opened with.
        streamlit.cache_resource.clear()
        yield memory
    streamlit.cache_resource.clear()


def first_sentences(body) -> str:
    passage = re.search(r"^PASSAGE \w+\n(.*)\nEND OF PASSAGE", body["messages"][-1]["content"], re.DOTALL | re.MULTILINE)
    return " ".join(passage[1].split(". ")[:2]) if passage else ""


def test_a_model_shortens_chunks_once(open_app, models):
    models.answer = first_sentences
    app = fine(open_app(cp="model", cpt="60", mt="900"))
    asked = len(models.requests)
    assert asked > 0
    assert "cannot be assembled" not in html(app)
    assert 'class="cx-cut"' in html(app)
    fine(app.run())
    assert len(models.requests) == asked


def test_a_model_that_is_gone_is_said_and_the_words_decide(open_app, models, monkeypatch):
    monkeypatch.setenv("CTXASM_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    streamlit.cache_resource.clear()
    app = fine(open_app(cp="model", cpt="61", mt="900"))
    assert "✂" in html(app)
    assert "The model that shortens chunks gave no answer" in html(app)
    assert "nothing answers at 127.0.0.1:9:" in html(app)


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
