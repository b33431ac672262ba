"""The chunker loses nothing, keeps to the limit, cuts at ends of sentences and ends on any text."""

from itertools import pairwise

import pytest
from chunk_texts import COUNTER, Characters, prose, sizes, texts
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.data.documents.chunking import TextChunk, chunk_text
from tests.growth import is_linear


def chunked(text: str, max_tokens: int, overlap_tokens: int) -> list[TextChunk]:
    return chunk_text(text, tokenizer=COUNTER, max_tokens=max_tokens, overlap_tokens=overlap_tokens)


@given(texts, sizes)
def test_chunks_are_slices_that_cover_the_text_and_move_on(text: str, size: tuple[int, int]) -> None:
    chunks = chunked(text, *size)
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)
    covered = 0
    for before, chunk in zip([None, *chunks], chunks, strict=False):
        assert chunk.start <= covered < chunk.end
        assert before is None or chunk.start > before.start
        covered = chunk.end
    assert covered == len(text)


@given(texts, sizes)
def test_no_chunk_counts_more_than_the_limit_unless_one_new_character_does(text: str, size: tuple[int, int]) -> None:
    for chunk in chunked(text, *size):
        assert chunk.tokens == COUNTER.count(chunk.text)
        assert chunk.tokens <= size[0] or len(chunk.text) == 1


@given(texts, sizes)
def test_the_overlap_keeps_to_its_size_and_starts_at_a_word_where_there_is_one(text: str, size: tuple[int, int]) -> None:
    chunks = chunked(text, *size)
    for before, chunk in pairwise(chunks):
        shared = text[chunk.start : before.end]
        if shared:
            assert COUNTER.count(shared) <= size[1]
            inside_a_word = not text[chunk.start - 1].isspace()
            assert not inside_a_word or not any(a.isspace() and not b.isspace() for a, b in pairwise(shared))


@given(texts, sizes)
def test_the_same_text_gives_the_same_chunks(text: str, size: tuple[int, int]) -> None:
    assert chunked(text, *size) == chunked(text, *size)


@given(st.lists(prose.filter(bool), min_size=2, max_size=5), sizes)
def test_no_chunk_and_no_overlap_crosses_a_hard_break(pages: list[str], size: tuple[int, int]) -> None:
    text, breaks = "", []
    for page in pages:
        breaks.append(len(text))
        text += page
    chunks = chunk_text(text, tokenizer=COUNTER, max_tokens=size[0], overlap_tokens=size[1], hard_breaks=breaks[1:])
    for at in breaks[1:]:
        assert not any(chunk.start < at < chunk.end for chunk in chunks)
    assert {chunk.start for chunk in chunks} >= set(breaks)


def test_an_end_of_sentence_is_preferred_and_the_overlap_starts_at_a_word() -> None:
    text = "Eerste zin hier. Tweede zin daar. Derde zin volgt nu."
    chunks = chunk_text(text, tokenizer=Characters(), max_tokens=36, overlap_tokens=8)
    assert [chunk.text for chunk in chunks] == ["Eerste zin hier. Tweede zin daar.", "daar. Derde zin volgt nu."]


def test_an_abbreviation_does_not_end_a_sentence_and_a_heading_is_no_place_to_stop() -> None:
    text = "U wordt ontvangen door dr. Maes en haar team van zorgverleners"
    assert chunk_text(text, tokenizer=Characters(), max_tokens=32, overlap_tokens=0)[0].text == "U wordt ontvangen door dr. Maes"
    titled = "Een alinea die hier eindigt.\n\nParkeren\n\nDe parking ligt vlakbij."
    assert chunk_text(titled, tokenizer=Characters(), max_tokens=44, overlap_tokens=0)[0].text == "Een alinea die hier eindigt."


def test_without_an_end_of_sentence_nearby_the_cut_is_before_white_space_and_then_anywhere() -> None:
    assert chunk_text("een twee drie vier", tokenizer=Characters(), max_tokens=9, overlap_tokens=0)[0].text == "een twee"
    assert [chunk.text for chunk in chunk_text("x" * 10, tokenizer=Characters(), max_tokens=4, overlap_tokens=1)] == [
        "xxxx",
        "xxxx",
        "xxxx",
    ]


def test_an_empty_text_has_no_chunks() -> None:
    assert chunked("", 350, 70) == []


@pytest.mark.parametrize(
    ("max_tokens", "overlap_tokens", "hard_breaks", "message"),
    [
        (0, 0, (), "max_tokens must be at least 1, got 0"),
        (10, 10, (), "overlap_tokens must be between 0 and max_tokens - 1 = 9, got 10"),
        (10, -1, (), "overlap_tokens must be between 0"),
        (10, 2, (0,), "hard_breaks must ascend strictly between 0 and 5"),
        (10, 2, (3, 3), "hard_breaks must ascend strictly between 0 and 5"),
        (10, 2, (5,), "hard_breaks must ascend strictly between 0 and 5"),
    ],
)
def test_sizes_out_of_range_are_refused(max_tokens: int, overlap_tokens: int, hard_breaks: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chunk_text("woord", tokenizer=COUNTER, max_tokens=max_tokens, overlap_tokens=overlap_tokens, hard_breaks=hard_breaks)


@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, " " * 300_000, "\n" * 300_000, "👩‍👩‍👧‍👦" * 6_000, "汉字" * 40_000, "Ja. " * 60_000, "!" * 200_000],
    ids=["one word", "spaces", "newlines", "emoji", "cjk", "short sentences", "marks"],
)
def test_pathological_texts_end_soon(text: str) -> None:
    def cut(part: str) -> None:
        assert chunked(part, 350, 70)[-1].end == len(part)

    assert is_linear(cut, text)


@pytest.mark.slow
def test_a_word_of_five_megabytes_ends() -> None:
    chunks = chunked("ab" * 2_500_000, 350, 70)
    assert chunks[-1].end == 5_000_000
