"""Enrichment by rules: the same every time, all of it the document's own words, contexts of 50 to 100 tokens."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxasm.data.enrich.extractive import central_sentences, enrich_document, key_phrases, spoken, summary_of, whole_document
from ctxasm.data.enrich.texts import MOST_TOKENS
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document
from tests.data.enrich.corpus import CARDIOLOGY, COUNTER, DOCUMENTS, PARKING, PROGRAM, SUMMARY, whole_of
from tests.examples import examples
from tests.growth import is_linear


def test_a_chunk_that_names_no_department_gets_the_name_of_its_own() -> None:
    """The example of the five-stage pipeline: 30 minutes, of what?"""
    said = enrich_document(whole_of(DOCUMENTS[0], CARDIOLOGY), COUNTER)[1]
    assert said.context.startswith("Cardiologie › Uw raadpleging (deel 2 van 3). ")
    assert "De dienst Cardiologie van het ziekenhuis onderzoekt en behandelt patiënten met hartklachten" in said.context
    assert 50 <= COUNTER.count(said.context) <= 100
    assert all(question.startswith("Wat staat er over ") for question in said.questions)


def test_a_heading_that_asks_is_the_question_of_the_chunk_under_it() -> None:
    said = enrich_document(whole_of(DOCUMENTS[0], CARDIOLOGY), COUNTER)
    assert [one.questions[0] == "Waar moet ik zijn?" for one in said] == [False, False, True]


def test_english_in_english_and_the_owners_summary_first() -> None:
    (said,) = enrich_document(whole_of(DOCUMENTS[1], PARKING), COUNTER)
    assert said.context.startswith(f"Parking (part 1 of 1). {SUMMARY}")
    assert all(question.startswith("What") for question in said.questions)


def test_program_text_is_asked_for_by_the_names_it_defines() -> None:
    said = enrich_document(whole_of(DOCUMENTS[2], PROGRAM), COUNTER)
    assert said[1].context.startswith("diff.rs › impl DiffExecutor (part 2 of 2).")
    assert said[0].questions[0] == "What does DiffExecutor (diff executor) do?"
    assert said[1].questions[0] == "What does run_target (run target) do?"


def test_the_summary_says_what_the_document_is() -> None:
    assert summary_of(whole_of(DOCUMENTS[0], CARDIOLOGY)).startswith("De dienst Cardiologie van het ziekenhuis onderzoekt en behandelt")
    assert summary_of(whole_of(Document("leeg"), ("- - -",))) == ""


def test_boilerplate_is_no_summary() -> None:
    text = (
        "Licensed under the Apache License; you may not use this file except in compliance with the License and its terms.\n\n"
        "The scheduler emits events of the terminal at a specific time in the future. The scheduler keeps its events sorted.\n\n"
        "Events of the scheduler that are due are sent to the terminal at once.\n"
    )
    assert central_sentences(text, 1) == ["The scheduler emits events of the terminal at a specific time in the future."]


@pytest.mark.parametrize(
    ("name", "words"), [("run_target", "run target"), ("runTarget", "run target"), ("HTTPServer", "http server"), ("plain", "")]
)
def test_names_are_spoken(name: str, words: str) -> None:
    assert spoken(name) == words


def test_what_every_chunk_says_tells_none_apart() -> None:
    phrases = key_phrases(["De kliniek opent de polikliniek neurologie.", "De kliniek sluit de dienst pneumologie."], 1)
    assert "neurologie" in phrases[0][0]
    assert "pneumologie" in phrases[1][0]


SOUP = "de het een is zijn Cardiologie patiënt raadpleging. ## 1.1 kop? { } fn x() || &amp; <b> 語 é 12 [1]"
WORDS = st.sampled_from([*SOUP.split(), "\n\n", "\n", ""])
TEXT = st.lists(WORDS, min_size=1, max_size=120).map(" ".join)


def test_chunks_that_only_follow_each_other_keep_their_words_apart() -> None:
    whole = whole_of(Document("d"), ["Vraag de balie", "de weg naar cardiologie.", "\nNeem uw kaart mee."])
    assert whole.text == "Vraag de balie\nde weg naar cardiologie.\nNeem uw kaart mee."
    assert [whole.text[part.start :].startswith(part.chunk.text) for part in whole.parts] == [True] * 3


@pytest.mark.parametrize(("start", "expected"), [(6, "Nacht\nrust"), (5, "Nachtrust")])
def test_offsets_tell_whether_a_word_goes_on_in_the_next_chunk(start: int, expected: str) -> None:
    texts = ((0, "Nacht"), (start, "rust"))
    chunks = [FetchedChunk("d", i, text, at, at + len(text)) for i, (at, text) in enumerate(texts)]
    assert whole_document(Document("d"), chunks).text == expected


@settings(max_examples=examples(60))
@given(st.lists(TEXT, min_size=1, max_size=5), st.text(max_size=200), st.one_of(st.none(), TEXT))
@example(["de", "de de de de de raadpleging."], "", None)
def test_the_laws_of_what_rules_write(texts: list[str], title: str, summary: str | None) -> None:
    whole = whole_of(Document("d", title.replace("\0", "") or None, summary=summary), texts)
    said = enrich_document(whole, COUNTER)
    assert said == enrich_document(whole, COUNTER)
    assert len(said) == len(texts)
    own = " ".join(f"{title} d {summary or ''} {' '.join(texts)}".split())
    for one in said:
        assert COUNTER.count(one.context) <= MOST_TOKENS
        assert len(one.questions) <= 2
        for line in (one.context, *one.questions):
            assert "\n" not in line
            assert len(line) <= 1000
        assert {word.strip(".…") for word in one.context.partition("). ")[2].split()} <= {word.strip(".…") for word in own.split()} | {""}


def test_long_and_hostile_documents_take_linear_time() -> None:
    for text in ("a " * 100_000, "x(" * 50_000, "fn a {\n" * 30_000, "Zin is een zin. " * 10_000, "<" * 100_000, "語" * 50_000):
        assert is_linear(lambda part: enrich_document(whole_of(Document("d"), (part, part[:1000])), COUNTER), text)
