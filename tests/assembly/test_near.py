"""Near copies: the join finds exactly what comparing all pairs finds, and "inside" means word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ctxasm.assembly.near_copies import BLOCK_CHARS, LEAST_INSIDE, Words, hash_words, prepared, words_of
from tests.examples import examples

VOCABULARY = [f"w{n}" for n in range(25)] + ["dé", "的时间", "Ǆ", "ß", "12"]
SENTENCES = st.lists(st.sampled_from(VOCABULARY), max_size=30)


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    """A few texts and copies of them with words changed, added in front or behind, or left out."""
    found = [draw(SENTENCES) for _ in range(draw(st.integers(1, 4)))]
    for _ in range(draw(st.integers(0, 6))):
        words = list(draw(st.sampled_from(found)))
        low, high = draw(st.integers(0, 6)), draw(st.integers(0, 6))
        match draw(st.sampled_from(["change", "around", "part"])):
            case "change" if words:
                words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(VOCABULARY))
            case "around":
                words = [*draw(SENTENCES)[:low], *words, *draw(SENTENCES)[:high]]
            case _:
                words = words[low : len(words) - high]
        found.append(words)
    return [draw(st.sampled_from([" ", "\n", "  ", "\u00a0"])).join(words) for words in found]


@hypothesis_settings(max_examples=examples(200))
@given(texts(), st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0]) | st.floats(0.5, 1))
def test_no_pair_is_missed_and_none_is_false(some: list[str], threshold: float) -> None:
    sets = [set(words_of(text)) for text in some]
    naive = []
    for first in range(len(some)):
        for second in range(first + 1, len(some)):
            shared = len(sets[first] & sets[second])
            similarity = shared / (len(sets[first] | sets[second]) or 1)
            if shared and similarity >= threshold:
                naive.append((first, second, similarity))
    assert [tuple(pair) for pair in Words(some).alike(threshold)] == naive


@hypothesis_settings(max_examples=examples(200))
@given(texts())
def test_inside_is_what_stands_there_word_for_word(some: list[str]) -> None:
    words = [words_of(text) for text in some]
    naive = [
        (first, second)
        for first, own in enumerate(words)
        for second, other in enumerate(words)
        if LEAST_INSIDE <= len(own) < len(other) and any(other[at : at + len(own)] == own for at in range(len(other)))
    ]
    assert [(small, large) for small, large, _ in Words(some).inside()] == naive


@given(st.lists(st.text(st.characters(codec="utf-8") | st.sampled_from(" \t\n\x1c\u00a0\u3000 的时間"), max_size=60), max_size=5))
def test_words_are_those_of_split(some: list[str]) -> None:
    ready = [prepared(text) for text in some]
    hashed = hash_words(ready)
    assert hashed.counts.tolist() == [len(text.split()) for text in ready]
    numbers: dict[str, int] = {}
    for word, number in zip((word for text in ready for word in text.split()), hashed.hashes.tolist(), strict=True):
        assert numbers.setdefault(word, number) == number
    assert len(set(numbers.values())) == len(numbers)


def test_a_character_without_a_number_makes_another_word() -> None:
    assert len(set(hash_words(["a a\0 \0a \0"]).hashes.tolist())) == 4


def test_words_are_the_same_in_every_portion() -> None:
    long = "word " * (BLOCK_CHARS // 4)
    hashed = hash_words([long, "a word", long, "word"])
    assert set(hashed.hashes.tolist()) == set(hash_words(["a word"]).hashes.tolist())
    assert hashed.counts.tolist() == [BLOCK_CHARS // 4, 2, BLOCK_CHARS // 4, 1]


PART = "bring your identity card, your insurance card and the letter of your doctor"


@pytest.mark.parametrize(
    ("small", "large", "expected"),
    [
        (PART + ".", f"Before you come, {PART}, and be there in time.", True),
        (f"({PART})", f"Before you come, {PART}, and be there in time.", True),
        (PART.upper(), f"Before you come:\n{PART}\nand be there in time.", True),
        (f"{PART} today", f"Before you come, {PART}, and be there in time.", False),
        ("5 km from here is the old station, which has closed", "it is 15 km from here is the old station, which has closed", False),
        ("see page three of this", "for all of that see page three of this long document", False),
        ("the the the the the the the the", "the " * 20, True),
    ],
)
def test_what_stands_inside(small: str, large: str, expected: bool) -> None:
    assert [(pair.first, pair.second) for pair in Words([large, small]).inside()] == ([(1, 0)] if expected else [])


def test_a_text_that_stands_at_the_end_of_the_last_is_found() -> None:
    assert [pair[:2] for pair in Words([PART, f"Before you come, {PART}"]).inside()] == [(0, 1)]
    assert Words([PART, PART]).inside() == []


def test_each_of_three_is_like_each() -> None:
    assert [pair[:2] for pair in Words([f"{PART} {number}" for number in range(3)]).alike(0.8)] == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize(("sizes", "shared", "threshold"), [((30, 30), 20, 0.5), ((100, 55), 55, 0.55)])
def test_a_pair_of_just_the_similarity_that_is_asked_for_is_found(sizes: tuple[int, int], shared: int, threshold: float) -> None:
    """0.55 × 100 is a little more than 55 to a computer."""
    first, second = (
        [f"w{n}" for n in range(shared)] + [f"{name}{n}" for n in range(size - shared)] for name, size in zip("ab", sizes, strict=True)
    )
    assert Words([" ".join(first), " ".join(second)]).alike(threshold) == [(0, 1, threshold)]
    assert Words([" ".join(first), " ".join(second[:-1])]).alike(threshold + 0.05) == []


@pytest.mark.parametrize("times", [4096, 8192])
def test_words_that_occur_thousands_of_times_are_compared_as_well(times: int) -> None:
    words = ["one", "two", "three"]
    assert Words([" ".join(words * times), " ".join(words[::-1] * times)]).alike(0.9) == [(0, 1, 1.0)]


def test_a_script_without_spaces_is_compared_by_pairs_of_characters() -> None:
    text = "请在手术前六小时不要进食但可以喝水并请带上您的身份证和医疗保险卡以及家庭医生的信件"
    (pair,) = Words([text, text.replace("信件", "信")]).alike(0.9)
    assert pair.similarity >= 0.9
    assert words_of("请 时间表 mri") == ["请", "时间", "间表", "mri"]
    assert Words([text, "医院的停车场在大楼后面前三十分钟免费之后每小时收费两欧元"]).alike(0.5) == []


def test_nothing_is_like_an_empty_text() -> None:
    assert Words(["", "", " "]).alike(0.5) == Words([]).alike(0.5) == Words(["", " "]).inside() == []
