"""Likeness by an embedder: where it is found, what is embedded, and what the gate may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fake_models import WordEmbedder

from ctxasm.citations.scorers.embedding import BATCH, EmbeddingScorer
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.support import Conflict, Match, Source
from ctxasm.text.sentences import sentence_spans

VISIT = "Parkeren kost twee euro per uur. Bezoek is welkom van drie tot acht. Neem een geldig paspoort mee."
PAY = "De kassa staat bij de ingang. Betalen kan alleen met een pinpas."


def source(text: str, number: int = 1) -> Source:
    return Source(number, text, ((0, len(text)),))


def scorer(**changes: object) -> EmbeddingScorer:
    return EmbeddingScorer(WordEmbedder(), sentence_spans, **{"threshold": 0.8, "partly": 0.5, "floor": 0.0, **changes})  # type: ignore[arg-type]


def places(match: Match, *sources: Source) -> list[str]:
    texts = {one.number: one.text for one in sources}
    return [texts[found.number][found.start : found.end] for found in match.found]


def test_the_narrowest_window_that_is_nearest() -> None:
    visit = source(VISIT)
    comparison = scorer().compare(
        ["Bezoek is welkom van drie tot acht.", "Bezoek is welkom van drie tot acht met een geldig paspoort mee.", "Iets heel anders"],
        [visit],
    )
    assert places(comparison.each(0)[0], visit) == ["Bezoek is welkom van drie tot acht."]
    assert comparison.each(0)[0].score == pytest.approx(1)
    assert places(comparison.each(1)[0], visit) == ["Bezoek is welkom van drie tot acht. Neem een geldig paspoort mee."]
    assert comparison.each(2)[0].score < 0.2
    assert comparison.each(2)[0].found == ()


def test_two_sources_carry_together_what_neither_does_alone() -> None:
    visit, pay, other = (
        source("Bezoek is welkom van drie tot acht.", 1),
        source("Betalen kan alleen met een pinpas.", 2),
        source("Nooit.", 3),
    )
    comparison = scorer().compare(["Bezoek is welkom van drie tot acht en betalen kan alleen met een pinpas."], [visit, pay, other])
    alone, joint = comparison.each(0), comparison.together(0, [0, 1, 2])
    assert all(match.score < 0.8 for match in alone)
    assert joint.score > 0.8
    assert {found.number for found in joint.found} == {1, 2}


def test_every_source_that_carries_it_is_shown() -> None:
    comparison = scorer().compare(["Betalen kan alleen met een pinpas."], [source(PAY, 4), source(VISIT, 5), source("Ja. " + PAY, 6)])
    assert [found.number for found in comparison.together(0, [2, 1, 0]).found] == [4, 6]


def test_every_text_is_embedded_once_in_batches_and_kept() -> None:
    embedder = WordEmbedder()
    subject = EmbeddingScorer(embedder, sentence_spans)
    many = source(" ".join(f"Zin nummer {at} staat hier." for at in range(70)))
    subject.compare(["Een bewering.", "Een bewering."], [many, many])
    assert [len(batch) for batch in embedder.batches] == [BATCH, BATCH, 70 - 2 * BATCH]
    assert embedder.queries == ["Een bewering."]
    subject.compare(["Een bewering.", "Nog een."], [many])
    assert (len(embedder.batches), embedder.queries) == (3, ["Een bewering.", "Nog een."])
    subject.compare(["", "  "], [source("Niets hiervan is nodig.")])
    assert len(embedder.batches) == 3


def test_only_evidence_is_embedded() -> None:
    embedder = WordEmbedder()
    start = VISIT.index("Bezoek")
    EmbeddingScorer(embedder, sentence_spans).compare(["Bezoek"], [Source(1, VISIT, ((start, start + 35),), "Parkeren")])
    assert embedder.batches == [["Bezoek is welkom van drie tot acht."]]


def test_no_more_is_kept_than_said() -> None:
    embedder = WordEmbedder()
    subject = EmbeddingScorer(embedder, sentence_spans, keep=2)
    for _ in range(2):
        assert subject.compare(["Bezoek is welkom van drie tot acht."], [source(VISIT)]).each(0)[0].score == pytest.approx(1)
    assert len(embedder.batches) == 2


def test_a_gate_has_the_last_word_on_what_would_count() -> None:
    asked: list[tuple[str, list[int], float]] = []

    def gate(claim: str, sources: Sequence[Source], match: Match) -> Match:
        asked.append((claim, [one.number for one in sources], match.score))
        return Match(0.1, (), ("acht",), Conflict("number", "acht", "negen", sources[0].number, 0, 1))

    visit, pay = source(VISIT, 1), source(PAY, 2)
    comparison = scorer(gate=gate).compare(["Bezoek is welkom van drie tot acht.", "Zomaar wat."], [visit, pay])
    carried, other = comparison.each(0)
    assert (carried.score, carried.missing, carried.conflict.claim if carried.conflict else "") == (0.1, ("acht",), "acht")
    assert (other.conflict, comparison.each(1)[0].conflict) == (None, None)
    comparison.each(0)
    assert asked == [("Bezoek is welkom van drie tot acht.", [1], 1.0)]
    assert comparison.together(0, [1, 0]).score == 0.1
    assert asked[-1][1] == [1, 2]


def test_a_stop_between_batches_keeps_what_was_embedded() -> None:
    embedder = WordEmbedder()
    subject = EmbeddingScorer(embedder, sentence_spans)
    many = source(" ".join(f"Zin nummer {at} staat hier." for at in range(70)))
    with pytest.raises(ModelUnavailable, match="stopped"):
        subject.compare(["Een bewering."], [many], "", lambda: len(embedder.batches) == 1)
    subject.compare(["Een bewering."], [many])
    assert sum(map(len, embedder.batches)) == 70


def test_vectors_that_are_no_numbers_match_nothing() -> None:
    class Broken(WordEmbedder):
        @staticmethod
        def _vector(text: str) -> list[float]:
            return [float("nan"), float("nan")]

    (match,) = EmbeddingScorer(Broken(), sentence_spans).compare(["Bezoek."], [source(VISIT)]).each(0)
    assert match == Match(0.0)


@pytest.mark.parametrize(("threshold", "partly"), [(0.5, 0.6), (1.1, 0.5), (0.5, 0.0), (float("nan"), 0.5)])
def test_thresholds_that_cannot_be(threshold: float, partly: float) -> None:
    with pytest.raises(InvalidInput, match=r"^partly and threshold must be above 0, in that order, and at most 1, got \("):
        scorer(threshold=threshold, partly=partly)


def test_a_score_lies_between_the_floor_and_one() -> None:
    claims, sources = ["Bezoek is welkom van drie tot vijf."], [source(VISIT)]
    plain, raised = (scorer(floor=floor).compare(claims, sources).each(0)[0].score for floor in (0.0, 0.5))
    assert raised == pytest.approx((plain - 0.5) / 0.5)
    assert scorer(floor=0.9).compare(claims, sources).each(0)[0] == Match(0.0)
    assert scorer(floor=0.9).compare(["Neem een geldig paspoort mee."], sources).each(0)[0].score == pytest.approx(1)
    for wrong in (1.0, -0.1, float("nan")):
        with pytest.raises(InvalidInput, match=r"^floor must be a cosine from 0 to below 1, got"):
            scorer(floor=wrong)


class Axes(WordEmbedder):
    """Sources lie along axes by their last word ("Zin 2."); the claim where it is told to."""

    def __init__(self, *claim: float) -> None:
        super().__init__()
        rest = max(0.0, 1 - sum(part * part for part in claim)) ** 0.5
        self.claim = np.array([*claim, rest])

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return np.array([np.eye(len(self.claim))[int(text[4])] for text in texts])

    def embed_query(self, text: str) -> Any:
        return self.claim


def joined(embedder: Axes, count: int) -> Match:
    sources = [source(f"Zin {at}.", at) for at in range(count)]
    subject = EmbeddingScorer(embedder, sentence_spans, threshold=0.99, partly=0.3, floor=0.0)
    return subject.compare(["Iets."], sources).together(0, range(count))


def test_three_sources_at_most_are_joined() -> None:
    match = joined(Axes(0.5, 0.5, 0.5, 0.5), 4)
    assert ([found.number for found in match.found], match.score) == ([0, 1, 2], pytest.approx(1.5 / 3**0.5, abs=1e-6))


@pytest.mark.parametrize(("gain", "numbers"), [(0.0505, [0, 1]), (0.0495, [0])])
def test_a_further_source_must_bring_the_claim_nearer_by_a_twentieth(gain: float, numbers: list[int]) -> None:
    match = joined(Axes(0.6, (0.6 + gain) * 2**0.5 - 0.6), 2)
    assert [found.number for found in match.found] == numbers


def test_a_vector_longer_than_one_makes_no_score_above_one() -> None:
    assert joined(Axes(1.05), 1).score == 1.0


def test_the_length_of_a_vector_is_no_matter() -> None:
    class Small(Axes):
        def embed_passages(self, texts: Sequence[str]) -> Any:
            return super().embed_passages(texts) / 100

    assert joined(Small(0.5, 0.5), 2) == joined(Axes(0.5, 0.5), 2)


def test_what_counts_as_a_part_may_be_what_counts_as_the_whole() -> None:
    assert scorer(threshold=0.5, partly=0.5).partly == 0.5


def test_a_text_without_a_vector_is_like_nothing() -> None:
    class Empty(Axes):
        def embed_passages(self, texts: Sequence[str]) -> Any:
            return np.zeros((len(texts), 2))

    assert joined(Empty(0.5), 1) == Match(0.0)


def test_the_defaults_are_those_that_were_measured() -> None:
    subject = EmbeddingScorer(WordEmbedder(), sentence_spans)
    assert (subject.threshold, subject.partly, subject.floor) == (0.61, 0.45, 0.8)
