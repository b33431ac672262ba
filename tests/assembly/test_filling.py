"""Which units of a text fit together, to the token. Every character is a token here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest

from ctxasm.assembly.extract_sentences import fill, fitting_units, reader_of
from ctxasm.assembly.model_compressor import FRAME_CHARS, repeated_spans
from ctxasm.model.ports import TokenCounter

FOUR = "aaaa bbbb cccc dddd"


class Letters:
    def __init__(self, count: Callable[[str], int] = len) -> None:
        self.count = count

    def boundaries(self, text: str) -> list[int]:
        return list(range(1, len(text) + 1))


def counter(count: Callable[[str], int] = len) -> TokenCounter:
    return cast(TokenCounter, Letters(count))


def words(text: str) -> list[tuple[int, int]]:
    places = [at for at, letter in enumerate(text) if not letter.isspace() and (at == 0 or text[at - 1].isspace())]
    return [(at, at + len(text[at:].split()[0])) for at in places]


def kept(text: str, ratings: Sequence[float], most: int) -> list[str]:
    return [text[start:end] for start, end in fill(text, words(text), ratings, most, "+", counter())]


@pytest.mark.parametrize(
    ("ratings", "most", "expected"),
    [
        ((3, 2, 1, 0), 10, ["aaaa bbbb"]),
        ((3, 2, 1, 0), 9, ["aaaa"]),
        ((3, 1, 2, 0), 11, ["aaaa", "cccc"]),  # a gap mark is a token
        ((3, 1, 2, 0), 10, ["aaaa bbbb"]),
        ((3, 1, 2, 0), 15, ["aaaa bbbb cccc"]),  # what closes a gap saves its mark
        ((3, 1, 2, 0), 14, ["aaaa", "cccc"]),
        ((0, 1, 2, 3), 9, ["cccc dddd"]),  # all that fits, to the token
        ((0, 0, 0, 0), 19, [FOUR]),
        ((2, -1, -1, 3), 10, ["aaaa", "dddd"]),  # the first and the last are no neighbours
        ((2, -1, -1, 3), 9, ["dddd"]),
        ((0, -1, 0, -0.1), 19, ["aaaa", "cccc"]),  # below nothing is never kept
        ((-1, -1, -1, -1), 19, []),
        ((1, 0, 0, 0), 3, ["aaa"]),  # not one fits: the best is cut
        ((1, 0, 0, 0), 0, []),
    ],
)
def test_the_best_units_that_fit_are_kept(ratings: Sequence[float], most: int, expected: list[str]) -> None:
    assert kept(FOUR, ratings, most) == expected


@pytest.mark.parametrize(("large", "expected"), [(12, ["b"]), (13, ["a" * 9])])
def test_after_twelve_that_do_not_fit_the_rest_is_taken_for_full(large: int, expected: list[str]) -> None:
    text = " ".join(["a" * 20] * large + ["b"])
    assert kept(text, range(large + 1, 0, -1), 9) == expected


@pytest.mark.parametrize("blanks", [64, 65, 200])
def test_sixty_four_blanks_behind_a_unit_count_with_it(blanks: int) -> None:
    text = f"a{' ' * blanks}bbbb"
    assert kept(text, (1, 0.5), 65) == ["a"]
    assert kept(text, (1, 0.5), 64) == ["bbbb"]


def test_white_space_at_either_end_of_the_text_comes_along() -> None:
    assert kept("  aaaa bbbb cccc   ", (2, -1, 3), 40) == ["  aaaa", "cccc   "]
    assert kept("  aaaa bbbb cccc   ", (-1, 2, -1), 40) == ["bbbb"]


def test_a_head_without_anything_to_see_is_not_kept() -> None:
    assert fill("   ab", [(0, 5)], (1,), 3, "+", counter()) == ()
    assert fill("   ab", [(0, 5)], (1,), 4, "+", counter()) == ((0, 4),)


@pytest.mark.parametrize(
    ("tokens", "most", "longest"),
    [(1, 40, 10), (1, 639, 159), (1, 640, 160), (1, 700, 160), (1, 17, 4), (1, 12, 4), (2, 80, 10)],
)
def test_a_sentence_that_is_too_long_is_cut_into_quarters_of_the_limit_and_at_most_so_many_letters(
    tokens: int, most: int, longest: int
) -> None:
    text = "x" * 3000
    pieces = fitting_units(text, most, counter(lambda part: len(part) * tokens))
    assert max(end - start for start, end in pieces) == longest


def test_what_a_letter_takes_is_told_by_the_first_two_thousand() -> None:
    pieces = fitting_units("x" * 3000, 100, counter(lambda part: 1000 if len(part) == 2000 else 1))
    assert max(end - start for start, end in pieces) == 100 * 2000 // 1000 // 4


@pytest.mark.parametrize(("size", "count"), [(20, 1), (21, 4)])
def test_what_has_more_tokens_than_the_limit_is_too_long(size: int, count: int) -> None:
    assert (len(fitting_units("x" * size, 20, counter())) == 1) is (count == 1)
    assert len(fitting_units("x" * 320, 20, counter(lambda part: 1))) == 1
    assert len(fitting_units("x" * 321, 20, counter(lambda part: 1))) > 1
    assert len(fitting_units("é" * 11, 20, counter(lambda part: 21))) > 1
    assert len(fitting_units("é" * 10, 20, counter(lambda part: 21))) == 1


def test_a_word_of_four_letters_is_found_in_a_compound() -> None:
    text = "rugpijn"
    assert set(reader_of("pijn").row(text, (0, len(text))).met) == {0}
    assert reader_of("rug").row(text, (0, len(text))).met == {}


@pytest.mark.parametrize(("more", "is_copy"), [(0, True), (1, False)])
def test_a_reply_of_twice_the_text_and_a_thousand_characters_may_be_a_copy(more: int, is_copy: bool) -> None:
    text = "Parkeren kost twee euro."
    reply = text.ljust(2 * len(text) + FRAME_CHARS + more)
    assert (repeated_spans(text, reply) is not None) is is_copy
    assert FRAME_CHARS == 1000
