"""What a model replied: matched by number, cleaned, cut to size. Whatever it says, nothing reaches a chunk that was not asked for."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.data.enrich.prompts import LONGEST_QUESTION, LONGEST_SUMMARY, ChunksJob, clean, described, read_chunks, read_summary_reply
from ctxasm.data.enrich.texts import Enrichment
from ctxasm.model.records import Document
from tests.data.enrich.corpus import COUNTER, whole_of
from tests.examples import examples

WHOLE = whole_of(Document("d", "Brochure"), [f"Afdeling {n} opent om {n} uur." for n in range(6)])
JOB = ChunksJob(described(WHOLE), WHOLE.parts[1:4])
"""Asks for chunks 2, 3 and 4."""


def entry(number: int, context: str = "Uit de brochure.", *questions: str) -> dict[str, Any]:
    return {"number": number, "context": context, "questions": list(questions or ("Wanneer open?",))}


def test_entries_in_any_order_reach_their_chunks() -> None:
    read = read_chunks(JOB, {"chunks": [entry(4, "Vier."), entry(2, "Twee."), entry(3, "Drie.")]}, COUNTER)
    assert {place: said.context for place, said in read.found.items()} == {2: "Twee.", 3: "Drie.", 4: "Vier."}
    assert read.problem == ""


def test_entries_for_other_chunks_are_refused() -> None:
    read = read_chunks(JOB, {"chunks": [entry(2), entry(3), entry(4), entry(1, "geplant"), entry(99, "geplant")]}, COUNTER)
    assert set(read.found) == {2, 3, 4}
    assert read.problem == "2 entries for chunks that were not asked for, refused"


def test_a_number_that_comes_twice_with_other_words_is_not_decided() -> None:
    read = read_chunks(JOB, {"chunks": [entry(2), entry(3, "Van fragment 3."), entry(3, "Geplant door fragment 2."), entry(4)]}, COUNTER)
    assert set(read.found) == {2, 4}
    assert read.problem == "different entries for chunk 3"
    assert set(read_chunks(JOB, {"chunks": [entry(2), entry(2), entry(3), entry(4)]}, COUNTER).found) == {2, 3, 4}


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([entry(2), entry(4)], "no entry for chunk 3"),
        ([], "no entry for chunks 2, 3, 4"),
        ([entry(2), entry(3, "  \u200b \x07"), entry(4)], "an empty entry for chunk 3"),
        ([entry(2), entry(3, "Goed.", "???"), entry(4)], "an empty entry for chunk 3"),
    ],
)
def test_what_is_missing_is_said(entries: list[dict[str, Any]], problem: str) -> None:
    read = read_chunks(JOB, {"chunks": entries}, COUNTER)
    assert read.problem == problem
    assert set(read.found) == {one["number"] for one in entries} - ({3} if "3" in problem else set())


def test_sizes_are_held() -> None:
    long = "Dit is een zin over de afdeling cardiologie van het ziekenhuis. " * 30
    read = read_chunks(JOB, {"chunks": [entry(2, long, "vraag " * 200, "1. Wat kost het?", "- Waar is het?", "Te veel?")]}, COUNTER)
    said = read.found[2]
    assert 50 <= COUNTER.count(said.context) <= 100
    assert said.context.endswith("ziekenhuis.")
    assert len(said.questions) == 2
    assert len(said.questions[0]) <= LONGEST_QUESTION
    assert said.questions[1] == "Wat kost het?"


def test_a_summary_has_one_or_two_sentences() -> None:
    assert read_summary_reply({"summary": " Eerste zin.\nTweede zin. Derde zin. "}) == "Eerste zin. Tweede zin."
    assert len(read_summary_reply({"summary": "woord " * 500})) <= LONGEST_SUMMARY
    assert read_summary_reply({"summary": "\u202e…"}) == ""


def test_characters_that_steer_or_hide_go() -> None:
    assert clean("Een\x1b[31m \u202erood\u202c\u200b\nwoord\ud800\x00 é 語") == "Een [31m rood woord é 語"


REPLIES = st.lists(
    st.fixed_dictionaries(
        {
            "number": st.integers(-2, 9) | st.sampled_from([2, 3, 4]),
            "context": st.text(max_size=80) | st.text(st.sampled_from("ab. \n\u202e\x00é"), max_size=2000),
            "questions": st.lists(st.text(max_size=400), max_size=4),
        }
    ),
    max_size=8,
)


@settings(max_examples=examples(150))
@given(REPLIES)
def test_whatever_is_replied_what_is_taken_is_clean_and_was_asked_for(entries: list[dict[str, Any]]) -> None:
    read = read_chunks(JOB, {"chunks": entries}, COUNTER)
    assert set(read.found) <= {2, 3, 4}
    assert bool(read.problem) == (set(read.found) != {2, 3, 4} or any(one["number"] not in (2, 3, 4) for one in entries))
    for said in read.found.values():
        assert isinstance(said, Enrichment)
        assert said.context
        assert 1 <= len(said.questions) <= 2
        assert COUNTER.count(said.context) <= 100
        for line in (said.context, *said.questions):
            assert line == line.strip()
            assert not any(unicodedata.category(char)[0] == "C" for char in line)
            line.encode()


@given(REPLIES)
def test_an_entry_for_one_chunk_never_changes_another(entries: list[dict[str, Any]]) -> None:
    """What a text in chunk 2 could make the model write under other numbers that were not asked for changes nothing at all."""
    foreign = [one for one in entries if one["number"] not in (2, 3, 4)]
    good = [entry(2), entry(3), entry(4)]
    assert read_chunks(JOB, {"chunks": [*foreign, *good, *foreign]}, COUNTER).found == read_chunks(JOB, {"chunks": good}, COUNTER).found
