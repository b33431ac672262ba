"""The fast counter gives tiktoken's own numbers, or is not used."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_counts import ATOMS

from ctxasm.data.files import load_bundle
from ctxasm.model.errors import InvalidInput
from ctxasm.text.chunk_facts import chunk_facts
from ctxasm.text.tokens import counter as counter_module
from ctxasm.text.tokens import fast
from ctxasm.text.tokens.counter import ExactCounter
from ctxasm.text.tokens.fast import ENCODINGS, NASTY, SWITCH, is_familiar, open_fast
from ctxasm.text.tokens.vocabulary import load_encoding
from tests.examples import examples

pytest.importorskip("toktok", reason="pip install 'ctxasm[fast]'")
SAMPLE = Path(__file__).parents[2] / "sample_data" / "hospital-nl"
YOUNG = "\u088f\u0c5c\u0cdc\ua7ce\U00010940\U000323bb"
"""Letters of Unicode 17, on which the two disagree."""
TEXTS = st.lists(st.one_of(st.text(max_size=40), st.lists(ATOMS, max_size=20).map("".join)), max_size=20)


def slow_counts(encoding: str, texts: Sequence[str]) -> list[int]:
    vocabulary = load_encoding(encoding)
    return [len(vocabulary.encode_ordinary(text)) for text in texts]


@pytest.fixture(params=ENCODINGS)
def fast_counter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ExactCounter:
    """A counter that asks toktok for every text."""
    monkeypatch.setattr(counter_module, "FAST_CHARS", 0)
    counter = ExactCounter(load_encoding(request.param))
    counter.count_many(["once"])
    assert counter._fast is not None
    assert counter._fast.count_many is not None, counter.remedy
    return counter


@cache
def counter_of(encoding: str) -> ExactCounter:
    return ExactCounter(load_encoding(encoding))


@given(TEXTS)
@settings(max_examples=examples(400))
def test_the_counts_are_those_of_tiktoken(texts: list[str]) -> None:
    for name in ENCODINGS:
        counter = counter_of(name)
        opened = open_fast(name, lambda some, name=name: slow_counts(name, some))  # type: ignore[misc]
        assert opened.count_many is not None
        counter._fast = opened
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counter_module, "FAST_CHARS", 0)
            assert counter.count_many(texts) == slow_counts(name, texts)


def test_letters_that_only_one_of_them_knows(fast_counter: ExactCounter) -> None:
    texts = [f"{before}{letter}{after}" for letter in YOUNG for before in ("a", " ", "1", "'") for after in ("'s", "b", "1", "\n", "!")]
    assert not any(map(is_familiar, texts))
    mixed = [part for text in texts for part in (text, "plain", "één €")]
    assert fast_counter.count_many(mixed) == slow_counts(fast_counter.encoding, mixed)


def edges(character: str) -> list[str]:
    return [f"a{character}a", f"{character}'s", f"1{character}1", f"!{character} {character}\n{character}A"]


@cache
def familiar_characters() -> list[str]:
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and is_familiar(chr(code))]


def test_familiar_characters_are_counted_alike() -> None:
    some = random.Random(4).sample(familiar_characters(), 3000)
    agree_on([text for character in some for text in edges(character)])


@pytest.mark.slow
def test_all_familiar_characters_are_counted_alike() -> None:
    agree_on([text for character in familiar_characters() for text in edges(character)])


def agree_on(texts: list[str]) -> None:
    for name in ENCODINGS:
        opened = open_fast(name, lambda some, name=name: slow_counts(name, some))  # type: ignore[misc]
        assert opened.count_many is not None
        assert opened.count_many(texts) == slow_counts(name, texts)


def test_familiar_is_what_was_assigned_long_ago() -> None:
    """Nothing that a later Unicode could still give another class."""
    if unicodedata.unidata_version.startswith("14."):
        assert [hex(ord(c)) for c in familiar_characters() if unicodedata.category(c) == "Cn"] == []


def test_the_facts_of_a_load_are_the_same(fast_counter: ExactCounter, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = load_bundle(SAMPLE)
    for document in bundle.documents:
        own = [chunk for chunk in bundle.chunks if chunk.document_id == document.document_id]
        monkeypatch.setenv(SWITCH, "0")
        assert chunk_facts(own, fast_counter) == chunk_facts(own, ExactCounter(load_encoding(fast_counter.encoding)))


def test_what_toktok_cannot_take_is_left_to_tiktoken(fast_counter: ExactCounter) -> None:
    texts = ["a\ud800b", "plain", "x" * 500]
    assert fast_counter.count_many(texts) == slow_counts(fast_counter.encoding, texts)
    with pytest.raises(InvalidInput, match="no run of 400,000 blanks"):
        fast_counter.count_many(["plain", " " * 400_001])


def wrong(count: Callable[[Sequence[str]], list[int]]) -> Callable[[Sequence[str]], list[int]]:
    return lambda texts: [*count(texts)[:-1], 99]


def test_one_wrong_count_and_it_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_fast("cl100k_base", wrong(lambda texts: slow_counts("cl100k_base", texts)))
    assert opened.count_many is None
    assert "counts otherwise than tiktoken, so tiktoken counts: get another toktok-rs" in opened.why_not
    monkeypatch.setattr(counter_module, "open_fast", lambda encoding, exact: opened)
    monkeypatch.setattr(counter_module, "FAST_CHARS", 0)
    counter = ExactCounter(load_encoding("cl100k_base"))
    assert counter.count_many(list(NASTY)) == slow_counts("cl100k_base", NASTY)
    assert counter.remedy == opened.why_not


def test_one_that_does_not_work_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import toktok

    def broken(*arguments: object, **options: object) -> list[int]:
        raise OSError("no such library")

    monkeypatch.setattr(toktok, "batch_count", broken)
    opened = open_fast("cl100k_base", lambda texts: slow_counts("cl100k_base", texts))
    assert (opened.count_many, "does not work here (OSError)" in opened.why_not) == (None, True)


def test_it_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = lambda texts: slow_counts("cl100k_base", texts)  # noqa: E731
    assert open_fast("r50k_base", exact) == (None, "")
    monkeypatch.setenv(SWITCH, "0")
    assert open_fast("cl100k_base", exact) == (None, "")
    monkeypatch.delenv(SWITCH)
    monkeypatch.setattr(fast.importlib.util, "find_spec", lambda name: None)
    assert open_fast("cl100k_base", exact) == (None, "")


def test_few_characters_start_nothing() -> None:
    counter = ExactCounter(load_encoding("cl100k_base"))
    assert counter.count_many(["a few words"] * 50) == [3] * 50
    assert counter._fast is None
    assert counter.remedy == ""
