"""Which stretches of a source an inference is asked about, which is shown, and what a contradiction does: by a model written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from ctxasm.citations.scorers import nli
from ctxasm.citations.scorers.nli_model import Inference
from ctxasm.model.messages import Cancel
from ctxasm.model.support import Match, Source
from ctxasm.text.sentences import sentence_spans

TEXT = "Alfa is hier. Beta is daar. Gamma is weg. Delta is op. Echo is thuis."
A, B, C, D, E = (f"{one.strip()}." for one in TEXT.split(".")[:-1])


class Written:
    """Says of each premise what is written down; of others 0.1."""

    def __init__(self, table: Mapping[str, tuple[float, float]]) -> None:
        self.table, self.asked = table, list[str]()

    def infer(self, pairs: Sequence[tuple[str, str]], cancel: Cancel | None = None) -> list[Inference]:
        self.asked += [premise for premise, _ in pairs]
        return [Inference(*self.table.get(premise, (0.1, 0.0))) for premise, _ in pairs]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Written:
    written = Written({})
    monkeypatch.setattr(nli, "NliModel", lambda path: written)
    return written


def compared(*texts: str) -> Match:
    sources = [Source(at, text, ((0, len(text)),)) for at, text in enumerate(texts, 1)]
    return nli.NliScorer("", sentence_spans).compare(["Iets."], sources).together(0, range(len(texts)))


def shown(match: Match) -> list[str]:
    return [TEXT[found.start : found.end] for found in match.found]


@pytest.mark.parametrize(
    ("sentences", "premises"),
    [
        ((A, B), ((A, B),)),
        ((A, B, C), ((A, B, C),)),
        ((A, B, C, D), ((A, B, C), (B, C, D))),
        ((A, B, C, D, E), ((A, B, C), (C, D, E))),
        ((A, B, C, D, E, A), ((A, B, C), (C, D, E), (D, E, A))),
    ],
)
def test_windows_of_three_step_by_two_and_reach_the_end(
    model: Written, sentences: Sequence[str], premises: Sequence[Sequence[str]]
) -> None:
    compared(" ".join(sentences))
    assert model.asked == [" ".join(premise) for premise in premises]


@pytest.mark.parametrize(("score", "stretch"), [(0.881, B), (0.879, f"{A} {B} {C}"), (0.95, B)])
def test_a_narrower_window_is_shown_when_it_says_nearly_as_much(model: Written, score: float, stretch: str) -> None:
    model.table = {f"{A} {B} {C}": (0.9, 0.0), B: (score, 0.0)}
    match = compared(TEXT)
    assert (shown(match), match.score) == ([stretch], max(score, 0.9))


@pytest.mark.parametrize(("entails", "stretches"), [(0.4, [B]), (0.399, [])])
def test_what_carries_a_part_is_looked_into_and_shown(model: Written, entails: float, stretches: list[str]) -> None:
    model.table = {f"{A} {B} {C}": (entails, 0.0), B: (entails, 0.0)}
    assert shown(compared(TEXT)) == stretches


@pytest.mark.parametrize(
    ("entails", "contradicts", "score"),
    [(0.3, 0.6, 0.12), (0.3, 0.5, 0.15), (0.3, 0.49, 0.3), (0.6, 0.6, 0.6), (0.5, 0.6, 0.2), (0.9, 0.8, 0.9)],
)
def test_a_contradiction_that_is_likely_and_outweighs_the_rest_lowers_the_score(
    model: Written, entails: float, contradicts: float, score: float
) -> None:
    model.table = {A: (entails, contradicts)}
    assert compared(A).score == pytest.approx(score)


@pytest.mark.parametrize(("carries", "score"), [(0.8, 0.8), (0.79, 0.79 * 0.1)])
def test_a_contradiction_is_dropped_where_its_window_holds_what_carries_the_claim(model: Written, carries: float, score: float) -> None:
    model.table = {f"{A} {B}": (0.1, 0.9), B: (carries, 0.0)}
    assert compared(f"{A} {B}").score == pytest.approx(score)


def test_four_sources_at_most_are_read_as_one_premise(model: Written) -> None:
    model.table = {A: (0.5, 0.0), B: (0.5, 0.0), C: (0.5, 0.0), D: (0.5, 0.0), E: (0.45, 0.0), f"{A}\n{B}\n{C}\n{D}": (0.7, 0.0)}
    match = compared(E, A, B, C, D)
    assert ([found.number for found in match.found], match.score) == ([2, 3, 4, 5], 0.7)
    assert model.asked[-1] == f"{A}\n{B}\n{C}\n{D}"


def test_a_contradiction_beside_what_carries_the_claim_stays(model: Written) -> None:
    model.table = {f"{A} {B} {C}": (0.85, 0.0), B: (0.85, 0.0), f"{C} {D} {E}": (0.1, 0.9)}
    assert compared(TEXT).score == pytest.approx(0.085)


def test_a_window_does_not_outweigh_its_own_contradiction(model: Written) -> None:
    model.table = {f"{A} {B}": (0.85, 0.9)}
    assert compared(f"{A} {B}").score == pytest.approx(0.085)


def test_every_source_at_the_threshold_is_shown_and_else_the_best_alone(model: Written) -> None:
    model.table = {A: (0.8, 0.0), B: (0.85, 0.0), C: (0.79, 0.0)}
    assert [found.number for found in compared(A, B, C).found] == [2, 1]
    model.table = {A: (0.5, 0.0), B: (0.6, 0.0)}
    assert [found.number for found in compared(A, B).found] == [2]
    model.table[f"{A}\n{B}"] = (0.6, 0.0)
    assert [found.number for found in compared(A, B).found] == [2]


def test_only_sentences_of_the_window_are_looked_into_where_no_blank_parts_them(model: Written) -> None:
    text = "aaaabbbbccccdddd"
    model.table = {"aaaabbbbcccc": (0.9, 0.0)}
    scorer = nli.NliScorer("", lambda text: [(at, at + 4) for at in range(0, len(text), 4)])
    scorer.compare(["Iets."], [Source(1, text, ((0, 16),))])
    assert model.asked[2:] == ["aaaa", "bbbb", "cccc", "aaaabbbb", "bbbbcccc"]
