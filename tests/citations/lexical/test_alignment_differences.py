"""What a claim and its sentences differ in: named by sort, decided by weights that are data, told in words."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.lexical.alignment import Alignment, Difference, differences
from ctxasm.citations.lexical.decision import CERTAINTIES, decide, kind_of, read_weights
from ctxasm.citations.lexical.words import Tongue
from ctxasm.citations.report import gated_sentence
from ctxasm.model.support import Match, Source
from tests.citations.lexical.claim_contexts import matter


def sorts(claim: str, source: str, tongue: Tongue = "en") -> set[str]:
    return {one.sort for one in differences(Alignment(matter(claim, source, tongue)))}


def match(claim: str, source: str, scorer: LexicalScorer) -> Match:
    return scorer.compare([claim], [Source(1, source, ((0, len(source)),))]).together(0, (0,))


@pytest.mark.parametrize(
    ("claim", "source", "tongue", "sort"),
    [
        ("All guests may swim in the lake.", "Most guests may swim in the lake.", "en", "quantifier replaced"),
        ("Guests must swim in the lake.", "Guests may swim in the lake.", "en", "modal left out"),
        ("De gasten zwemmen in het meer.", "De gasten zwemmen in het meer, behalve op dinsdag.", "nl", "exception left out nearby"),
        ("Der Turm wurde nach dem Brand gebaut.", "Der Turm wurde vor dem Brand gebaut.", "de", "time replaced"),
        ("The storm caused the flood.", "The flood came with the storm.", "en", "cause added"),
        ("Guests do not swim in the lake.", "Guests swim in the lake.", "en", "negation added"),
        ("Guests swim in the lake.", "Guests never swim in the lake.", "en", "negation left out"),
        ("The mayor opened the bridge.", "The deputy mayor opened the bridge.", "en", "first modifier dropped"),
        ("Entry to the tower is free.", "For members, entry to the tower is free.", "en", "scope left out"),
        ("The pass costs 40 euros.", "The pass costs at least 40 euros.", "en", "limit of a figure"),
        ("The harbour café sells wool.", "The harbour café closes early. Ole Vik sells wool.", "en", "sentence changed, clause"),
        ("The bridge inspected engineers in May.", "Engineers inspected the bridge in May.", "en", "order changed, clause"),
        ("The guests walked from the harbour.", "The guests walked to the harbour.", "en", "preposition changed"),
    ],
)
def test_a_difference_is_named(claim: str, source: str, tongue: Tongue, sort: str) -> None:
    assert sort in sorts(claim, source, tongue)


@pytest.mark.parametrize(
    ("claim", "source", "tongue"),
    [
        ("The desk opens at 9.", "The desk opens at 9.00, and the café closes at 17.00.", "en"),
        ("Die Praxis ist von 8 bis 12 Uhr offen.", "Die Praxis ist von 8.00 bis 12.00 Uhr offen.", "de"),
        ("Kinderen van 12 tot 14 jaar zijn welkom.", "Kinderen van 12-14 jaar zijn welkom.", "nl"),
        ("De poort vangen we niet op.", "De poort vangen wij niet op.", "nl"),
        ("The old gate opens at dawn in Norway.", "In Norway the old gate opens at dawn.", "en"),
    ],
)
def test_other_figures_for_the_same_and_small_words_are_no_difference(claim: str, source: str, tongue: Tongue) -> None:
    assert sorts(claim, source, tongue) == set()


def test_no_weight_makes_a_claim_safer() -> None:
    weights = read_weights()
    assert all(weight > 0 for weight in weights.sorts.values())
    assert json.loads(files("ctxasm.citations.lexical").joinpath("decision.json").read_text(encoding="utf-8"))["bias"] == weights.bias
    for alone, joined in zip(weights.limits["strict"], weights.limits["usual"], strict=True):
        assert 0 < alone < joined < 1


def test_more_differences_are_more_risk() -> None:
    one, other = Difference("negation added", "not"), Difference("word for word", "harbour", "station")
    alone, both = decide([one], "strict").risk, decide([one, other], "strict").risk
    assert 0 < alone < both < 1


def test_the_reasons_are_those_that_weigh_most() -> None:
    heaviest = max(read_weights().sorts, key=read_weights().sorts.__getitem__)
    found = [Difference("negation added", "not"), Difference(heaviest, "here", "there"), Difference("reworded", "a", "b")] * 3
    reasons = decide(found, "strict").reasons
    assert (reasons[0].kind, reasons[0].claim, reasons[0].source) == (kind_of(heaviest), "here", "there")
    assert [one.kind for one in reasons[1:]] == ["negation"]


@pytest.mark.parametrize(
    ("sort", "kind"),
    [
        ("free hedge left out", "hedge"),
        ("order changed, clause", "roles"),
        ("sentence changed, clause", "subject"),
        ("limit of a figure", "comparison"),
        ("figure unplaced", "figure"),
        ("reworded", "wording"),
    ],
)
def test_a_reader_is_told_the_kind(sort: str, kind: str) -> None:
    assert kind_of(sort) == kind


def test_a_refused_claim_says_why() -> None:
    refused = match("All guests may swim in the lake.", "Most guests may swim in the lake.", LexicalScorer())
    assert refused.score < LexicalScorer.threshold
    assert "“All” here" in " ".join(map(gated_sentence, refused.gated))


def test_usual_carries_what_strict_does_and_more() -> None:
    claim, source = "The library lends its books.", "The library lends books to readers for three weeks."
    scores = {certainty: match(claim, source, LexicalScorer(certainty=certainty)).score for certainty in CERTAINTIES}
    assert scores["strict"] < LexicalScorer.threshold <= scores["usual"]
    assert [LexicalScorer(certainty=certainty).name for certainty in CERTAINTIES] == ["lexical", "lexical-usual"]
