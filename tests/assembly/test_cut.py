"""Where a chunk is cut: at which sentence end, and how far it is looked. Every character is a token here, unless it is said otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest

from ctxasm.assembly.trim import Cutter, longest
from ctxasm.model.ports import TokenCounter


class Letters:
    """Counts characters; tokens end at `places`, or everywhere. Remembers how much of a text was looked at."""

    def __init__(self, places: Iterable[int] | None = None, count: Callable[[str], int] = len) -> None:
        self.places, self.count, self.looked = places, count, list[int]()

    def boundaries(self, text: str) -> list[int]:
        self.looked.append(len(text))
        return [at for at in (range(1, len(text) + 1) if self.places is None else self.places) if at <= len(text)]


def cutter(text: str, limit: int, start: int = 0, size: Callable[[int], int] = int, counter: Any = None) -> Cutter:
    return Cutter(text, start, size, limit, cast(TokenCounter, counter or Letters()))


@pytest.mark.parametrize(
    ("text", "limit", "start", "at"),
    [
        ("abcd. fghijklmno", 10, 0, 5),  # exactly half of what fits
        ("abcd. fghijklmno", 11, 0, 11),  # less than half
        ("abcdef. i. klmno", 10, 0, 10),  # a sentence that ends where nothing more fits
        ("abcdef. i. klmno", 9, 0, 7),
        ("abcd. fghi. klmnopqr", 16, 4, 11),  # half of what is new: from the fourth on
        ("abcd. fghi. klmnopqr", 19, 4, 19),
        ("abcdef.ghijklmn", 10, 0, 10),  # no blank behind it: no end of a sentence
        ("abcdef\nghijklmn", 10, 0, 7),
        ("abcd. fg. ijklmnop", 10, 0, 9),  # of two, the last
        ("   abc", 3, 0, 0),  # nothing to see before the cut
        ("   abc", 4, 0, 4),
        ("xx   abc", 5, 2, 0),  # nothing new to see
        ("xx   abc", 6, 2, 6),
        ("abc", 3, 0, 2),  # the whole chunk is no cut
        ("abc", 0, 0, 0),
    ],
)
def test_the_cut(text: str, limit: int, start: int, at: int) -> None:
    assert cutter(text, limit, start).cut() == at


def test_a_sentence_end_that_does_not_fit_is_not_taken() -> None:
    """Sizes need not ascend: what ends a sentence may come to more than what ends a token behind it."""
    assert cutter("abcdef. ijklmno", 10, size=lambda at: 11 if at == 7 else at).cut() == 10
    assert cutter("abcdef. ijklmno", 10, size=lambda at: 10 if at == 7 else at).cut() == 7
    assert cutter("abcd. fg. ijklmno", 10, size=lambda at: 11 if at == 9 else at).cut() == 10


def test_twelve_cuts_are_looked_at_behind_the_first_that_does_not_fit() -> None:
    places = list(range(1, 41))
    assert longest(places, lambda at: at <= 20 or at == 32) == 32
    assert longest(places, lambda at: at <= 20 or at == 33) == 20
    assert longest(places, lambda at: at == 12) == 12
    assert longest(places, lambda at: at == 13) == 0
    assert longest([], lambda at: True) == 0
    assert longest(places, lambda at: True) == 40


def test_so_much_of_a_long_text_is_looked_at() -> None:
    first = 16 * (1 + 512)
    text = "x" * (first * 4 + 1)
    for tokens, looked in ((1 + 1024, first * 16), (1 + 1025, first)):
        counter = Letters(count=lambda _, tokens=tokens: tokens)
        cutter(text, 1, counter=counter).cut()
        assert counter.looked == [min(len(text), looked)]
    for longer in (0, 1):
        counter = Letters(count=lambda _: 0)
        cutter("x" * (first + longer), 1, counter=counter).cut()
        assert counter.looked == [first + longer]


def test_what_stands_near_the_end_of_what_is_looked_at_is_no_place_to_cut() -> None:
    """The end of a shortened text may fall inside a token."""
    first = 16 * (1 + 512)
    for at, cut in ((first - 513, first - 513), (first - 512, 0)):
        assert cutter("x" * (first + 1), 1, size=lambda at: 0, counter=Letters([at], lambda text: 5000)).cut() == cut
        assert cutter("x" * first, 1, size=lambda at: 0, counter=Letters([at], lambda text: 5000)).cut() == at


def test_the_least_is_found_among_eight_cuts() -> None:
    """Only a cut that takes fewer tokens than the first, with a line break behind it, may come to less."""
    for small, least in ((1, 10), (8, 3), (9, 10)):
        counter = Letters(count=lambda text, small=small: 1 if text == "x" * small + "\n" else 2)
        assert cutter("x" * 300, 1, size=lambda at, small=small: 3 if at == small > 1 else 10, counter=counter).least() == least
    equal = Letters(count=lambda text: 2)
    assert cutter("x" * 300, 1, size=lambda at: 10 - at, counter=equal).least() == 9


def test_the_least_is_looked_for_in_four_hundred_characters() -> None:
    size, fewer = (lambda at: at), (lambda text: 1000 - len(text))

    def least(length: int, *places: int, start: int = 0) -> int:
        return cutter("x" * length, 1, start, lambda at: 1000 - at, Letters(places, fewer)).least()

    assert least(401, 335, 340) == 1000 - 335  # the second stands too near the end of what is looked at
    assert least(401, 336, 340) == 1000 - 340  # both do: then all is looked at
    assert least(400, 336, 340) == 1000 - 340
    assert least(400, 399) == 1000 - 399
    assert least(500, 435, 440, start=100) == 1000 - 440
    assert least(501, 435, 440, start=100) == 1000 - 435
    assert least(900, *range(840, 860)) == 1000 - 847
    assert cutter("x" * 400, 1, size=size, counter=Letters([400])).least() == 400
    assert cutter("x" * 700, 1, size=size, counter=Letters([700])).least() == 700
