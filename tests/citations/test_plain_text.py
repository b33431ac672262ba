"""A stretch of an answer without markers and Markdown: which marks and blanks stay, where a sentence ends, where each letter stood."""

from __future__ import annotations

import pytest

from ctxasm.citations.answer_text import STAND_IN, Plain, read_plain
from ctxasm.citations.markers import parse_markers

TEXTS = {
    # brackets, quotes and emphasis that hold nothing but markers go with them
    "It is open ([1], [2]). It.": "It is open. It.",
    "It is open (see source [1] and [2]).": "It is open.",
    "A ( [1] ) b": "A  b",
    "It is *([1])* open": "It is  open",
    "It is ***[1]*** open": "It is  open",
    "It is “[1]” open": "It is  open",
    'It is "[1]" open': "It is  open",
    "A [1]) b": "A) b",
    "A (b [1]) c": "A (b) c",
    # no full stop and no blank twice
    "It closes. [1]. And": "It closes. And",
    "It closes. [1], and": "It closes. and",
    "It closes. [1]; And": "It closes. And",
    "It closes! [1], and": "It closes! and",
    "It closes. [1]! And": "It closes.! And",
    "It closes [1], and": "It closes, and",
    "It closes at eight [1]the desk": "It closes at eight the desk",
    # a forgotten full stop comes back, after a word and before one that begins sentences
    "It closes at eight [1] The desk": "It closes at eight. The desk",
    "Text ([1]) The desk": "Text. The desk",
    "Text (it) [1] The desk": "Text (it)  The desk",
    "It closes at eight [1] Jansen": "It closes at eight  Jansen",
    f"{'x' * 70} [1] The desk": f"{'x' * 70}. The desk",
    # a marker that is a word of its sentence keeps its place
    "[1] It opens": "§ It opens",
    "It.\n[1] It opens": "It.\n§ It opens",
    "It. [1] says so": "It. § says so",
    "It. [1]says so": "It. says so",
    "It [1] says so": "It  says so",
    "[1], it opens": ", it opens",
    "It. [1]  beschreibt es": "It. §  beschreibt es",  # twelve characters are looked at
    "It. [1]   beschreibt es": "It.    beschreibt es",
    "It[1]a b": "It a b",
    f"It is open ([1]). {'x' * 90}": f"It is open. {'x' * 90}",
    '<cite id="1">It</cite> opens.': "§It opens.",
    # Markdown
    "[label **b**](http://x) it [1]": "label b it ",
    "`a *b*` it": "a *b* it",
    "![x](y.png)it": "it",
    "2 * 3*4 [1]": "2 * 3*4 ",
    "*a* 2*b*": "a 2b",
    "it_s _em_ x": "it_s em x",
}


def read(answer: str) -> Plain:
    return read_plain(answer, 0, len(answer), list(enumerate(parse_markers(answer))))


@pytest.mark.parametrize(("answer", "expected"), TEXTS.items())
def test_what_is_left_when_the_markers_are_gone(answer: str, expected: str) -> None:
    assert read(answer).text.replace(STAND_IN, "§") == expected


@pytest.mark.parametrize(
    ("answer", "ends"),
    [
        ("It closes.[1] the desk", [10]),
        ("It closes; [1] The desk", [11]),
        ("It closes; [1] the desk", []),
        ("It closes. [1]. And", [10]),
        ("It closes. [1], and", []),
        ("It ended! [1] ok go", [10]),
        ("It has ended. [1] I go", [14]),
        ("It is closed. [1] and opens", []),
        ("Visits end at 8 p.m. [1] the ward", []),
        ("abcd. [1] the ward", [6]),
        ("abc. [1] the ward", []),
        ("It *closed*. [1] the ward", [11]),
    ],
)
def test_a_marker_behind_a_full_stop_ends_the_sentence_unless_it_is_an_abbreviation(answer: str, ends: list[int]) -> None:
    assert read(answer).ends == ends


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ("[1] It opens", [(0, 0)]),
        ("It.\n[1][2] It opens", [(4, 0), (4, 1)]),
        ("It opens [1] at eight, and closes [2].", [(9, 0), (30, 1)]),
        ("It is open ([1], [2]). It [3].", [(10, 0), (10, 1), (14, 2)]),
    ],
)
def test_a_marker_has_its_place_among_the_words(answer: str, places: list[tuple[int, int]]) -> None:
    assert read(answer).markers == places


@pytest.mark.parametrize("answer", TEXTS)
def test_every_letter_is_known_in_the_answer(answer: str) -> None:
    plain = read(answer)
    for place, letter in enumerate(plain.text):
        if letter.isalnum() and letter != STAND_IN:
            assert answer[plain.origin(place)] == letter


@pytest.mark.parametrize("blanks", ["", " ", "   "])
def test_a_full_stop_that_was_forgotten_stands_on_the_last_letter_before_the_marker(blanks: str) -> None:
    plain = read(f"It closes at eight{blanks}[1] The desk")
    assert plain.origin(plain.text.index(".")) == len("It closes at eight") - 1


def test_emphasis_is_looked_for_within_the_stretch_only() -> None:
    answer = "(one) It [1]) two **It"
    (marker,) = parse_markers(answer)
    plain = read_plain(answer, answer.index("It"), answer.index(" two"), [(0, marker)])
    assert plain.text == "It)"
