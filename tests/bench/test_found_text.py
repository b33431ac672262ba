"""What counts as found in a plain text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Hit, Query, Span
from tests.bench.contest import half_of
from tests.bench.found_text import Corpus, holds_evidence

TEXT = "".join(f"Sentence {number:02d} of the brochure says {number * 37} and {number * 91} things.\n" for number in range(30))[:1300]
CHUNKS = tuple(Chunk("a", index, TEXT[low : low + 400], low, min(low + 400, len(TEXT))) for index, low in enumerate(range(0, 1200, 320)))
OTHER = Chunk("b", 0, "Elsewhere it says: " + TEXT[330:420], 0, 109)
CORPUS = Corpus(Bundle("b", (Document("a"), Document("b")), (*CHUNKS, OTHER)))
QUERY = Query("What?", (Hit("a", 0, 1.0),), "q", spans=(Span("a", 330, 700),))


def test_a_span_is_found_in_one_stretch_and_over_two_chunks_in_any_order_and_white_space() -> None:
    assert holds_evidence(TEXT[330:700], QUERY, CORPUS)
    assert holds_evidence(f"{CHUNKS[2].text}\n---\n{CHUNKS[1].text.replace(' ', chr(10))}", QUERY, CORPUS)


def test_a_span_is_not_found_where_a_part_is_missing() -> None:
    assert not holds_evidence(CHUNKS[1].text[:-100], replace(QUERY, spans=(Span("a", 330, 720),)), CORPUS)
    assert not holds_evidence(CHUNKS[0].text + CHUNKS[2].text, replace(QUERY, spans=(Span("a", 300, 700),)), CORPUS)
    assert not holds_evidence("", QUERY, CORPUS)


@pytest.mark.parametrize(("end", "found"), [(500, True), (600, False)])
def test_a_chunk_that_is_cut_shows_its_head(end: int, found: bool) -> None:
    assert holds_evidence(CHUNKS[1].text[:200], replace(QUERY, spans=(Span("a", 330, end),)), CORPUS) is found


def test_a_few_characters_are_not_found_by_chance() -> None:
    """The span reaches two characters into the next chunk alone: they stand everywhere, so their surroundings are asked for."""
    apart = Corpus(Bundle("b", (), (Chunk("a", 0, TEXT[:400], 0, 400), Chunk("a", 1, TEXT[400:800], 400, 800))))
    query = replace(QUERY, spans=(Span("a", 330, 402),))
    assert not holds_evidence(TEXT[:400] + TEXT[500:540], query, apart)
    assert holds_evidence(TEXT[400:800] + "\n" + TEXT[:400], query, apart)


def test_a_heading_that_is_a_chunk_is_found_beside_its_neighbour_and_not_in_a_title() -> None:
    parts = ("Opening hours\n", TEXT[:400], "Prices\n", TEXT[400:800])
    starts = [sum(map(len, parts[:at])) for at in range(len(parts))]
    own = tuple(Chunk("a", at, text, start, start + len(text)) for at, (text, start) in enumerate(zip(parts, starts, strict=True)))
    corpus = Corpus(Bundle("b", (), own))
    for at in (0, 2):
        query = replace(QUERY, spans=(Span("a", starts[at], starts[at] + len(parts[at])),))
        assert not holds_evidence(f"[1] {parts[at]}Elsewhere it says more.", query, corpus)
        assert holds_evidence(f"[1]\n{parts[at]}{parts[at + 1]}", query, corpus)
    assert holds_evidence("Alone", replace(QUERY, spans=(Span("c", 0, 5),)), Corpus(Bundle("b", (), (Chunk("c", 0, "Alone", 0, 5),))))


def test_an_alternative_place_counts_and_gold_chunks_where_there_are_no_spans() -> None:
    also = Span("a", 330, 400, (Span("b", 19, 89),))
    assert holds_evidence(OTHER.text, replace(QUERY, spans=(also,)), CORPUS)
    gold = replace(QUERY, spans=(), gold=(GoldChunk("a", 1), GoldChunk("b", 0)))
    assert not holds_evidence(CHUNKS[1].text, gold, CORPUS)
    assert holds_evidence(OTHER.text + CHUNKS[1].text, gold, CORPUS)


def test_a_question_is_in_one_half() -> None:
    halves = [half_of(f"q{number}") for number in range(200)]
    assert 70 < halves.count("tune") < 130
    assert halves == [half_of(f"q{number}") for number in range(200)]
