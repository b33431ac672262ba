"""Chunks of whole sentences: the laws of all chunks, and no sentence cut that fits into one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from chunk_texts import COUNTER, Characters, sizes, texts
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.data.documents.chunking import TextChunk, chunk_text
from ctxasm.text.sentences import sentence_spans
from tests.growth import is_linear

PROSE = st.lists(
    st.sampled_from(
        [
            "De raadpleging duurt 30 minuten.",
            "Breng uw identiteitskaart mee!",
            "Dr. Peeters ziet u om 14.30 u. in lokaal 3, waar u zich meldt aan de balie en even wacht tot u geroepen wordt.",
            "Waarom?",
            "\n\nBezoek\n\n",
            "\n\n",
            "- een item\n- nog een item\n",
            "\n" * 30,
            "x" * 200,
        ]
    ),
    max_size=60,
).map(" ".join)


def chunked(text: str, max_tokens: int, overlap_tokens: int) -> list[TextChunk]:
    return chunk_text(text, tokenizer=COUNTER, max_tokens=max_tokens, overlap_tokens=overlap_tokens, sentences=True)


@given(texts | PROSE, sizes)
def test_the_laws_of_all_chunks_hold(text: str, size: tuple[int, int]) -> None:
    chunks = chunked(text, *size)
    covered = 0
    for before, chunk in zip([None, *chunks], chunks, strict=False):
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.tokens == COUNTER.count(chunk.text)
        assert chunk.tokens <= size[0] or len(chunk.text) == 1
        assert chunk.start <= covered < chunk.end
        assert before is None or before.start < chunk.start
        assert before is None or COUNTER.count(text[chunk.start : before.end]) <= size[1]
        covered = chunk.end
    assert covered == len(text)


@given(texts | PROSE, sizes)
def test_no_sentence_is_cut_that_fits_into_a_chunk(text: str, size: tuple[int, int]) -> None:
    edges = {place for chunk in chunked(text, *size) for place in (chunk.start, chunk.end)}
    for low, high in sentence_spans(text):
        if COUNTER.count(text[low:high]) <= size[0]:
            assert not any(low < place < high for place in edges), (text[low:high], size)


@given(PROSE, st.integers(20, 80))
def test_without_overlap_the_chunks_join_to_the_text(text: str, max_tokens: int) -> None:
    assert "".join(chunk.text for chunk in chunked(text, max_tokens, 0)) == text


def test_sentences_and_their_overlap_are_whole() -> None:
    text = "Eerste zin hier. Tweede zin. Derde zin volgt nu. Vierde."
    chunks = chunk_text(text, tokenizer=Characters(), max_tokens=36, overlap_tokens=14, sentences=True)
    assert [chunk.text for chunk in chunks] == ["Eerste zin hier. Tweede zin. ", "Tweede zin. Derde zin volgt nu. ", "Vierde."]


def test_a_heading_stays_with_what_follows() -> None:
    text = "Een alinea die hier eindigt.\n\nParkeren\n\nDe parking ligt vlakbij het ziekenhuis."
    chunks = chunk_text(text, tokenizer=Characters(), max_tokens=60, overlap_tokens=0, sentences=True)
    assert [chunk.text for chunk in chunks] == [text[:30], text[30:]]


def test_a_heading_that_only_its_file_knows_stays_with_what_follows() -> None:
    text = "Een alinea die hier eindigt.\n1. Parkeren\nDe parking ligt vlakbij het ziekenhuis."
    at = text.index("1.")
    chunks = chunk_text(text, tokenizer=Characters(), max_tokens=60, overlap_tokens=0, sentences=True, headings=[at])
    assert [chunk.text for chunk in chunks] == [text[:at], text[at:]]


def test_a_sentence_longer_than_a_chunk_is_cut_at_words_and_overlaps() -> None:
    text = "Kort. " + " ".join(f"woord{number}" for number in range(20)) + ". Kort."
    chunks = chunk_text(text, tokenizer=Characters(), max_tokens=40, overlap_tokens=10, sentences=True)
    assert chunks[0].text == "Kort. "
    assert all(before.end > after.start for before, after in list(pairwise(chunks))[1:-1])
    assert all(chunk.text.split()[0] in text.split() for chunk in chunks)


UNITS = ("a", " ", "\n", "👩‍👩‍👧‍👦", "汉字", "Ja. ", "Kop\n\n", "! ")


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_pathological_texts_end_soon(unit: str) -> None:
    def cut(part: str) -> None:
        assert chunked(part, 350, 70)[-1].end == len(part)

    assert is_linear(cut, unit * (60_000 // len(unit)))


@pytest.mark.slow
def test_one_line_of_400_000_characters_ends() -> None:
    assert chunked("ab" * 200_000, 350, 70)[-1].end == 400_000


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["ab", " \n", "\n", "👩‍👩‍👧‍👦 ", "Ja. ", "Titel\n\n", "een lange zin zonder einde "], ids=repr)
def test_a_million_characters_take_linear_time(unit: str) -> None:
    assert is_linear(lambda part: chunked(part, 350, 70), unit * (1_000_000 // len(unit)))


def test_a_long_table_repeats_its_head_and_no_row_is_cut() -> None:
    head = "| Item | Price |\n"
    rows = "".join(f"| No. {at}. Blue. | {at} euros. Paid here. |\n" for at in range(60))
    text = f"Before.\n\nFees\n\n{head}{rows}\nAfter."
    start = text.index(head)
    table = (start, start + len(head), start + len(head + rows) - 1)
    for sentences in (True, False):
        chunks = chunk_text(
            text, tokenizer=COUNTER, max_tokens=100, overlap_tokens=20, sentences=sentences, headings=[text.index("Fees")], tables=[table]
        )
        inside = [chunk for chunk in chunks if "No." in chunk.text]
        assert inside[0].text.startswith(f"Fees\n\n{head}")
        assert all(chunk.text == head + text[chunk.start : chunk.end] for chunk in inside[1:])
        assert all(line in text.split("\n") for chunk in inside for line in chunk.text.split("\n"))
        assert "".join(text[chunk.start : chunk.end] for chunk in inside) in text
        assert all(chunk.tokens == COUNTER.count(chunk.text) <= 100 for chunk in chunks)


def test_a_table_that_fits_stays_in_one_chunk() -> None:
    head, rows = "| Item | Price |\n", "".join(f"| No. {at} | {at} euros |\n" for at in range(8))
    text = "A sentence that is before. " * 14 + f"\n\n{head}{rows}"
    start = text.index(head)
    chunks = chunk_text(
        text, tokenizer=COUNTER, max_tokens=120, overlap_tokens=0, sentences=True, tables=[(start, start + len(head), len(text) - 1)]
    )
    assert [chunk.text.strip() for chunk in chunks if "No." in chunk.text] == [(head + rows).strip()]
