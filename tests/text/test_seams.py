"""Where counts add up, rule by rule, and how far a text is looked through for such a place."""

from __future__ import annotations

import pytest

from ctxasm.text.tokens.counter import Seams

CL100K, O200K, R50K = Seams("cl100k"), Seams("o200k"), Seams("r50k")


@pytest.mark.parametrize(
    ("last", "text", "safe"),
    [
        ("a", " b", (True, True, True)),
        ("a", "b", (False, False, False)),
        ("a", "1", (True, True, True)),
        ("a", "'s", (True, False, True)),
        ("a", "\u0301", (True, False, True)),
        ("é", ".", (True, True, True)),
        ("1", "a", (True, True, True)),
        ("1", "2", (False, False, False)),
        ("1", "\u0301", (True, True, True)),
        ("1", ".", (True, True, True)),
        ("a", "\U0003fffe", (False, False, False)),
        ("1", "\ud800", (False, False, False)),
        (".", "a", (False, False, False)),
        (" ", "a", (False, False, False)),
        ("\n", "a", (True, True, False)),
        ("\r", "a", (True, True, False)),
        ("\n", "/", (True, False, False)),
        ("\n", " /", (True, True, False)),
        ("\n", "\n", (False, False, False)),
        ("\n", "\r", (False, False, False)),
        ("\n", " a", (True, True, False)),
        ("\n", "  ", (False, False, False)),
        ("\n", " \n", (False, False, False)),
        ("\n", " \U0003fffe", (False, False, False)),
        ("\n", "\U0003fffe", (False, False, False)),
    ],
)
def test_a_seam_by_its_two_sides(last: str, text: str, safe: tuple[bool, bool, bool]) -> None:
    assert (CL100K.safe(last, text), O200K.safe(last, text), R50K.safe(last, text)) == safe


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("ab c", 2),
        ("abc", None),
        ("a", None),
        ("", None),
        ("a b c", 1),
        ("\n" + " " * 63 + "é", 1),  # so far is looked behind a line break
        ("\n" + " " * 64 + "é", None),
        ("é " + "é" * 252 + "a b", 255),  # one that is quickly seen is looked for in so many characters
        ("é " + "é" * 253 + "a b", 1),
        ("é" * 1279 + " ééa b", 1279),  # and another in so many
        ("é" * 1280 + " ééa b", 1284),
        ("é" * 1280 + " éé", 1280),
        ("é" * 20 + " ", 20),
    ],
)
def test_the_first_cut(text: str, at: int | None) -> None:
    assert CL100K.first_cut(text) == at


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("ab c", 2),
        ("Z é", 1),
        ("z é", 1),
        ("A é", 1),
        (" a", None),
        ("a1 b", 2),
        ("a b1 c.", 6),
        ("a.é" + "." * 5, 3),  # of the last five places any will do
        ("a.é" + "." * 6, 1),  # before them one that is quickly seen
        ("é" + "." * 10, 1),
        ("é", None),
        ("abc", None),
        ("", None),
        ("é.", 1),
        ("a.b." + "." * 9, 3),
    ],
)
def test_the_last_cut(text: str, at: int | None) -> None:
    assert CL100K.last_cut(text) == at
