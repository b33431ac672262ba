"""Swapped numbers in one sentence are never taken, and the same sentence with the right ones is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.data.files import load_bundle
from tests.citations.swapped_clauses import GERMAN, Pair, pairs_of
from tests.examples import few
from tests.real_data import load_real, real_folder

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "hospital-nl"
FOUND = 0.95
"""Of the true ones, at least this share is supported: those that are not have clauses that the scorer does not find in their own text."""


def checked(answer: str, pair: Pair) -> CheckedClaim:
    sources = [{"n": number, "text": text} for number, text in enumerate(pair.texts, 1)]
    (claim,) = check_answer(answer, grounds_of_sources(sources), LexicalScorer()).claims
    return claim


@cache
def own_pairs() -> tuple[Pair, ...]:
    chunks = load_bundle(SAMPLE).chunks
    english = [chunk.text for chunk in chunks if chunk.document_id.startswith("en-")]
    dutch = [chunk.text for chunk in chunks if not chunk.document_id.startswith("en-")]
    return (*pairs_of(english, "en"), *pairs_of(dutch, "nl"), *pairs_of(GERMAN * 2, "de"))


def real_pairs() -> Iterator[Pair]:
    for name, language in (("debfaq-nl", "nl"), ("andocs", "en"), ("chunkeval", "en")):
        yield from pairs_of([chunk.text for chunk in load_real(name).chunks[::5]], language)


def measured(pairs: tuple[Pair, ...]) -> tuple[list[Pair], list[Pair]]:
    """The true ones that are not supported, the swapped ones that are."""
    lost = [pair for pair in pairs if checked(pair.true, pair).verdict != "supported"]
    return lost, [pair for pair in pairs if checked(pair.swapped, pair).verdict == "supported"]


def test_swapped_numbers_are_never_supported_and_right_ones_are() -> None:
    assert len(own_pairs()) >= 50
    pairs = tuple(few(own_pairs()))
    lost, accepted = measured(pairs)
    assert {pair.language for pair in pairs} == {"en", "nl", "de"}
    assert not accepted
    assert len(lost) <= (1 - FOUND) * len(pairs)


@pytest.mark.slow
@pytest.mark.skipif(real_folder() is None, reason="the real bundles are not here")
def test_swapped_numbers_over_real_texts_are_never_supported() -> None:
    pairs = tuple(real_pairs())
    lost, accepted = measured(pairs)
    assert len(pairs) >= 100
    assert not accepted
    assert len(lost) <= (1 - FOUND) * len(pairs)


def test_a_swapped_clause_says_which_source_carries_it() -> None:
    pair = own_pairs()[1]
    claim = checked(pair.swapped, pair)
    assert (claim.verdict, [clause.better for clause in claim.clauses]) == ("elsewhere", [1, 2])
