"""Enriching on the Load page: the estimate, the run by rules, queries of its questions, and the enriched text searched."""

from __future__ import annotations

import pytest

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.load.enrich import actual_words, dollars, estimate_words
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.data.enrich.cost import Price
from ctxasm.data.enrich.enriching import EnrichReport, Estimate, FailedBatch
from ctxasm.model.records import Bundle, Chunk, Document
from tests.app.ui.pages import fine, html, opened, problems

TEXTS = (
    "De garage ligt onder het ziekenhuis. Parkeren kost twee euro per uur. Betaal aan de automaat bij de uitgang.",
    "Het bezoekuur is van 14 tot 20 uur. Kinderen zijn welkom onder begeleiding van een volwassene.",
    "Voor een scan mag u zes uur niet eten. Drink wel genoeg water. Breng uw verwijsbrief mee naar het onthaal.",
)


@pytest.fixture
def app(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/own.db"
    monkeypatch.setenv("CTXASM_DATABASE_URL", url)
    bench = Workbench(read_config({"CTXASM_DATABASE_URL": url}))
    bench.store.add(Bundle("gids", (Document("gids", "Gids <b>x</b>"),), tuple(Chunk("gids", n, text) for n, text in enumerate(TEXTS))))
    bench.close()
    app = fine(opened("load"))
    return fine(app.button(key=next(b.key for b in app.button if str(b.key).startswith("enrich_"))).click().run())


def test_by_rules_it_costs_nothing_and_the_text_stays(app):
    assert "By rules: no model, no cost." in html(app)
    fine(app.button(key="load_enrich").click().run())
    page = html(app)
    assert "3 of 3 chunks enriched" in page
    assert ">enriched</span>" in page
    assert [chunk.text for chunk in server.workbench().document_chunks("gids", "gids")] == list(TEXTS)
    app.button_group(key="search_text").set_value("enriched").run()
    app.text_input(key="_question").set_value("Wat kost parkeren?")
    fine(app.button(key="search_question").click().run())
    assert problems(app) == []
    assert app.session_state["scene"].query.retrieved[0].chunk_index == 0


def test_its_questions_become_queries_with_evidence(app):
    fine(app.button(key="load_enrich").click().run())
    fine(app.button(key="make_queries").click().run())
    assert "saved" in html(app)
    queries = server.workbench().dataset("gids").queries()
    assert queries
    assert all(query.gold for query in queries)
    assert "saved question" in html(app)


def test_a_model_that_is_not_configured_is_said(app):
    app.button_group(key="variant").set_value("model").run()
    fine(app)
    assert problems(app) == ["Name an endpoint and a model first, or enrich by rules."]


def test_the_panel_closes(app):
    fine(app.button(key="close_enrich").click().run())
    assert "load_enrich" not in {button.key for button in app.button}


def estimated(**given) -> Estimate:
    facts = {"dataset": "gids", "variant": "model", "model": "m-1", "chunks": 1000, "kept": 0, "calls": 125}
    return Estimate(**{**facts, "tokens_in": 400_000, "tokens_out": 90_000, "exact": True, "price": None, "cost": None, **given})


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (estimated(), "No price is known"),
        (estimated(price=Price(0.1, 0.4, "as given"), cost=0.076), "About $0.08 (as given)."),
        (estimated(kept=1000), "There is nothing to do."),
        (estimated(kept=400), "400 of them enriched already"),
        (estimated(exact=False), "about 400,000 tokens in"),
        (estimated(variant="extractive"), "no cost"),
    ],
)
def test_an_estimate_in_words(estimate, words):
    assert words in estimate_words(estimate)


def test_what_it_took_in_words():
    report = EnrichReport("gids", "model", "m-1", calls=12, tokens_in=4000, tokens_out=900, cost=0.004, failed=(FailedBatch("x", 1, "y"),))
    assert actual_words(report) == "12 calls, 4,000 tokens in and 900 out (told by the server), under $0.01."
    assert actual_words(EnrichReport("gids", "extractive")) == ""
    assert (dollars(0), dollars(1234.5)) == ("$0", "$1,234.50")
