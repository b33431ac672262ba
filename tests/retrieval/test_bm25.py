"""BM25 over a handful of texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.model.progress import Progress
from ctxasm.retrieval.analyser import analyser
from ctxasm.retrieval.indexes import Bm25Index, SearchStopped, best_of

TEXTS = [
    "De bezoekuren zijn van 14 tot 20 uur.",
    "Voor een MRI laat u metaal thuis.",
    "Parkeren kost € 1,50 per uur.",
    "De parking is dag en nacht open.",
]


def index(*texts: str) -> Bm25Index:
    return Bm25Index(texts, analyser("nl"))


def test_words_match_by_their_stem_and_only_texts_that_share_one_are_found() -> None:
    found = index(*TEXTS)
    assert {position for position, _ in found.search("Waar kan ik parkeren?", 10)} == {2}
    assert [position for position, _ in found.search("bezoekuur", 10)] == [0]
    assert found.search("zzz", 10) == []
    assert found.search("", 10) == []
    scores = [score for _, score in found.search("uur parkeren bezoekuren", 10)]
    assert scores == sorted(scores, reverse=True)
    assert len(found.search("uur parkeren bezoekuren", 1)) == 1


@pytest.mark.parametrize("texts", [(), ("",), ("", "…")])
def test_nothing_to_index_finds_nothing(texts: tuple[str, ...]) -> None:
    assert index(*texts).search("bezoekuren", 5) == []
    assert list(index(*texts).scores("bezoekuren")) == [0.0] * len(texts)


def test_equals_come_in_their_order_however_few_are_asked_for() -> None:
    found = index(*["zelfde tekst"] * 30, "andere woorden")
    assert [position for position, _ in found.search("tekst", 7)] == list(range(7))


@given(st.lists(st.sampled_from([0.0, 0.5, 0.5, 1.0, 2.0]), max_size=40), st.integers(1, 50))
def test_the_best_are_those_of_a_full_sort(scores: list[float], limit: int) -> None:
    wanted = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    assert [place for place, _ in best_of(np.array(scores), limit)] == wanted[:limit]
    above = [place for place in wanted if scores[place] > 0]
    assert [place for place, _ in best_of(np.array(scores), limit, least=0.0)] == above[:limit]


@given(st.lists(st.text("ab cd", max_size=12), min_size=1, max_size=12), st.text("abcd ", max_size=8))
def test_a_text_is_found_exactly_when_it_shares_a_word(texts: list[str], question: str) -> None:
    known = analyser("en")
    wanted = set(known.question(question).words)
    sharing = {place for place, text in enumerate(texts) if wanted & set(known.words(text))}
    assert {place for place, _ in Bm25Index(texts, known).search(question, 50)} == sharing


def test_making_an_index_is_told_and_can_be_ended() -> None:
    told: list[Progress] = []
    Bm25Index(["een tekst"] * 1200, analyser("nl"), total=1200, report=told.append)
    assert [progress.done for progress in told] == [0, 500, 1000, 1200]
    assert told[-1].share == 1.0
    with pytest.raises(SearchStopped):
        Bm25Index(["een tekst"] * 1200, analyser("nl"), cancelled=lambda: len(told) > 0)
