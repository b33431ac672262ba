"""The JSON of a checked answer, and its summary in words and figures."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields, replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.citations.checked import VERDICTS, CheckedClaim, Claim, ClaimKind, DroppedSource, Figures, Support, Verdict
from ctxasm.citations.markers import MarkerEvent, ResolvedMarker, parse_markers, resolve
from ctxasm.citations.report import (
    PROBLEMS,
    CheckedAnswer,
    Totals,
    figures_sentence,
    has_problem,
    has_unknown,
    is_declined_answer,
    problem_claims,
    summary_dict,
    summary_sentence,
    unknown_numbers,
)
from ctxasm.model.results import Citation
from ctxasm.model.support import Conflict, Spent
from tests.examples import examples

NOTHING = Figures(0, 0, None, None, None, None)


def claim(verdict: Verdict, cited: tuple[int, ...] = (1,), **more: Any) -> CheckedClaim:
    return CheckedClaim(Claim(0, 5, "Claim", "sentence", (), cited), verdict, 0.5, **more)


def answer(*claims: CheckedClaim, markers: tuple[ResolvedMarker, ...] = (), figures: Figures = NOTHING) -> CheckedAnswer:
    counts: dict[Verdict, int] = dict(Counter(item.verdict for item in claims))
    return CheckedAnswer("q", "Claim", "words", 0.6, markers, claims, figures, counts, 1.23456)


def marker(number: int, known: bool = True) -> ResolvedMarker:
    event = MarkerEvent(6, 9, f"[{number}]", "bracket", (number,))
    return ResolvedMarker(event, (number,) if known else (), () if known else (number,))


WHOLE = CheckedAnswer(
    query_id="q1",
    answer="De balie opent om zeven uur [1][9]. Gratis [2, 3].",
    scorer="words",
    threshold=0.6,
    markers=(
        ResolvedMarker(MarkerEvent(28, 31, "[1]", "bracket", (1,)), (1,), ()),
        ResolvedMarker(MarkerEvent(31, 34, "[9]", "bracket", (9,)), (), (9,)),
        ResolvedMarker(MarkerEvent(43, 49, "[2, 3]", "bracket", (2, 3)), (2, 3), ()),
    ),
    claims=(
        CheckedClaim(
            Claim(0, 35, "De balie opent om zeven uur.", "sentence", (0, 1), (1, 9)),
            "partly",
            0.8,
            support=(Support(1, 20, 47, 0.8, True, 120, 147, "doc", 3, 0, 27, 300, 327),),
            missing=("zeven uur",),
            unknown=(9,),
            dropped=(DroppedSource(9, "old", "budget", "budget"),),
        ),
        CheckedClaim(
            Claim(36, 50, "Gratis.", "item", (2,), (2, 3)),
            "contradicted",
            0.9,
            conflict=Conflict("negation", "Gratis", "niet gratis", 2, 4, 15),
            better=1,
            better_support=Support(1, 0, 5, 0.7),
            summary_support=Support(3, 0, 9, 0.9),
            idle=(3,),
        ),
    ),
    figures=Figures(2, 4, 0.5, 0.25, 1 / 3, 1.0),
    verdicts={"partly": 1, "contradicted": 1},
    elapsed_ms=3.14159265,
    spent=Spent(2, 1, 30, 4),
)


def test_the_documented_json() -> None:
    found = WHOLE.to_dict()
    assert found == json.loads(json.dumps(found, allow_nan=False))
    assert list(found) == [
        *("query_id", "answer", "voice", "marked", "reading", "first_number", "scorer", "threshold"),
        *("markers", "claims", "figures", "addressed", "passages", "facts", "summary", "spent", "elapsed_ms"),
    ]
    assert [(m["number"], m["start"], m["end"], m["form"], m["known"]) for m in found["markers"]] == [
        (1, 28, 31, "bracket", True),
        (9, 31, 34, "bracket", False),
        (2, 43, 49, "bracket", True),
        (3, 43, 49, "bracket", True),
    ]
    first, second = found["claims"]
    assert (first["start"], first["end"], first["text"], first["kind"]) == (0, 35, "De balie opent om zeven uur.", "sentence")
    assert (first["markers"], first["marker_indexes"], first["unknown"]) == ([1, 9], [0, 1], [9])
    assert (first["verdict"], first["score"], first["missing"], first["better"]) == ("partly", 0.8, ["zeven uur"], None)
    assert first["support"] == [
        {
            "number": 1,
            "start": 20,
            "end": 47,
            "score": 0.8,
            "retrieved": True,
            "context_start": 120,
            "context_end": 147,
            "document_id": "doc",
            "chunk_index": 3,
            "chunk_start": 0,
            "chunk_end": 27,
            "document_start": 300,
            "document_end": 327,
        }
    ]
    assert first["dropped"] == [{"number": 9, "document_id": "old", "stage": "budget", "reason": "budget"}]
    assert (second["markers"], second["marker_indexes"], second["kind"], second["idle"]) == ([2, 3], [2, 3], "item", [3])
    assert second["conflict"] == {"kind": "negation", "claim": "Gratis", "source": "niet gratis", "number": 2, "start": 4, "end": 15}
    assert (second["better"], second["better_support"]["retrieved"], second["summary_support"]["number"]) == (1, None, 3)
    assert found["summary"] == summary_dict(WHOLE)
    assert found["figures"] == {
        "claims": 2,
        "citations": 4,
        "recall": 0.5,
        "precision": 0.25,
        "f1": 1 / 3,
        "coverage": 1.0,
        "withheld": None,
    }
    assert (first["axes"], second["axes"]) == (
        {"support": "partly", "citation": "dropped"},
        {"support": "contradicted", "citation": "wrong_number"},
    )
    assert found["spent"] == {"calls": 2, "kept": 1, "tokens_in": 30, "tokens_out": 4}
    assert found["elapsed_ms"] == 3.1416


def test_every_field_of_a_claim_is_in_the_json() -> None:
    found = WHOLE.to_dict()["claims"][0]
    assert {field.name for field in fields(CheckedClaim)} - {"claim"} <= found.keys()
    assert set(Claim._fields) - {"cited"} <= found.keys()  # "markers" are the cited numbers
    assert set(Support._fields) == found["support"][0].keys()


def test_a_marker_that_names_no_number_and_a_range_without_end_are_kept_small() -> None:
    citations = (Citation(1, "a", None, None, "a", None, None, (0,), ""),)
    text = "One [3-1]. Two [1-999999999]."
    checked = replace(answer(), answer=text, markers=resolve(parse_markers(text), citations))
    found = checked.to_dict()["markers"]
    assert [m["known"] for m in found if m["number"] is None] == [False]
    assert len(found) < 10
    assert {"number": 1, "start": 15, "end": 28, "text": "[1-999999999]", "known": True}.items() <= found[1].items()
    assert has_unknown(checked)


@st.composite
def checked_answers(draw: st.DrawFn) -> CheckedAnswer:
    count = draw(st.integers(0, 4))
    markers = tuple(marker(draw(st.integers(0, 9)), draw(st.booleans())) for _ in range(count))
    number = st.integers(0, 9)
    supports = st.builds(Support, number, number, number, st.floats(0, 1), st.one_of(st.none(), st.booleans()))
    claims = st.builds(
        CheckedClaim,
        st.builds(
            Claim,
            st.integers(0, 99),
            st.integers(0, 99),
            st.text(max_size=20),
            st.sampled_from(get_args(ClaimKind)),
            st.lists(st.integers(0, count - 1), unique=True).map(tuple) if count else st.just(()),
            st.lists(number, max_size=4).map(tuple),
        ),
        st.sampled_from(VERDICTS),
        st.floats(0, 1),
        st.lists(supports, max_size=2).map(tuple),
        st.lists(st.text(max_size=9), max_size=3).map(tuple),
        st.none(),
        st.one_of(st.none(), number),
        st.one_of(st.none(), supports),
        unknown=st.lists(number, max_size=3).map(tuple),
    )
    return answer(*draw(st.lists(claims, max_size=4)), markers=markers)


@settings(max_examples=examples(40))
@given(checked_answers())
def test_any_checked_answer_is_strict_json_and_the_same_every_time(checked: CheckedAnswer) -> None:
    text = json.dumps(checked.to_dict(), allow_nan=False)
    assert json.loads(text) == replace(checked).to_dict()
    found = json.loads(text)
    assert sum(found["summary"]["verdicts"].values()) == found["summary"]["claims"] == len(checked.claims)
    for item, made in zip(found["claims"], checked.claims, strict=True):
        named = [found["markers"][index]["number"] for index in item["marker_indexes"]]
        assert named == [number for position in made.claim.markers for number in checked.markers[position].marker.numbers]


@settings(max_examples=examples(40))
@given(checked_answers())
def test_a_sentence_counts_every_claim_and_names_every_unknown_number(checked: CheckedAnswer) -> None:
    said = summary_sentence(checked)
    assert said
    assert "\n" not in said
    if checked.claims and not is_declined_answer(checked):
        assert said.startswith(f"{len(checked.claims)} claim{'' if len(checked.claims) == 1 else 's'}")
    told = {number for item in checked.claims for number in item.unknown}
    assert all(number in told or f"[{number}]" in said for number in unknown_numbers(checked))
    assert has_problem(checked) == bool(problem_claims(checked) or has_unknown(checked))


def test_the_sentence_of_the_contract() -> None:
    claims = [claim("uncited", ()), *[claim("supported")] * 4, claim("elsewhere", better=2)]
    assert summary_sentence(answer(*claims)) == "6 claims: 4 supported, 1 not found; citation: 1 no citation, 1 wrong number"


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ((), "nothing to check"),
        ((claim("declined"),), "declined"),
        ((claim("declined"), claim("declined")), "declined"),
        ((claim("declined"), claim("supported")), "2 claims: 1 supported, 1 declined"),
        ((claim("supported"),), "1 claim: 1 supported"),
        ((claim("elsewhere", better=2), claim("elsewhere", better=3)), "2 claims; citation: 2 wrong number"),
        ((claim("unsupported"), claim("prefix_only"), claim("partly")), "3 claims: 1 partly, 2 not found"),
        (
            (claim("unknown_marker", (9,), unknown=(9,)), claim("dropped", (8,), unknown=(8,))),
            "2 claims: 2 not found; citation: 1 source dropped, 1 unknown number",
        ),
        ((claim("supported", (1, 9), unknown=(9,)),), "1 claim; citation: 1 unknown number"),
        ((claim("supported", (1, 9, 8), unknown=(9, 8)),), "1 claim; citation: 1 unknown number"),
        ((claim("no_source", ()), claim("contradicted")), "2 claims: 1 not found, 1 contradicted; citation: 1 no citation"),
    ],
)
def test_summaries_in_words(claims: tuple[CheckedClaim, ...], said: str) -> None:
    assert summary_sentence(answer(*claims)) == said


def test_an_unknown_number_beside_no_claim_is_told() -> None:
    checked = answer(markers=(marker(7, known=False),))
    assert summary_sentence(checked) == "nothing to check; unknown number [7]"
    assert has_problem(checked)
    assert summary_dict(checked)["unknown_numbers"] == [7]


def test_every_verdict_has_a_place() -> None:
    assert sorted(VERDICTS) == sorted(get_args(Verdict))
    assert set(VERDICTS) - set(PROBLEMS) == {"supported", "declined"}


def test_totals_are_pooled() -> None:
    totals = Totals()
    assert totals.sentences() == ("0 answers, 0 with a problem", "nothing to check")
    totals.add(WHOLE)
    totals.add(answer(*[claim("supported")] * 6, figures=Figures(6, 6, 1.0, 5 / 6, 10 / 11, 1.0)))
    totals.add(answer(claim("declined")))
    totals.add(answer())
    found = totals.to_dict()
    assert found == json.loads(json.dumps(found, allow_nan=False))
    assert (found["answers"], found["with_problems"], found["declined"], found["nothing_to_check"]) == (4, 1, 1, 1)
    assert (found["claims"], found["verdicts"]) == (9, {"supported": 6, "partly": 1, "contradicted": 1, "declined": 1})
    pooled = found["figures"]
    assert (pooled["claims"], pooled["citations"], pooled["recall"], pooled["precision"]) == (8, 10, 7 / 8, 6 / 10)
    assert pooled["f1"] == pytest.approx(2 * 7 / 8 * 0.6 / (7 / 8 + 0.6))
    assert found["spent"]["tokens_in"] == 30
    totals.elapsed_ms = 1.23456
    assert (Totals().elapsed_ms, totals.to_dict()["elapsed_ms"]) == (0.0, 1.2346)
    assert totals.sentences() == (
        "4 answers, 1 with a problem, 1 declined, 1 with nothing to check",
        "9 claims: 6 supported, 1 partly, 1 contradicted, 1 declined; citation: 1 wrong number, 1 source dropped",
        "citation recall 0.88, precision 0.60, F1 0.71, coverage 1.00 over 8 claims and 10 citations",
    )


def test_figures_of_nothing_are_no_figures() -> None:
    assert figures_sentence(NOTHING) == ()
    assert figures_sentence(Figures(2, 0, 0.0, None, None, 0.5)) == (
        "citation recall 0.00, precision –, F1 –, coverage 0.50 over 2 claims and 0 citations",
    )
    totals = Totals()
    totals.add(answer(claim("unsupported"), figures=Figures(1, 1, 0.0, 0.0, 0.0, 0.0)))
    assert totals.figures == Figures(1, 1, 0.0, 0.0, 0.0, 0.0)


def test_a_claim_is_a_problem_by_its_verdict_or_by_a_number_that_no_source_has() -> None:
    sound, unsupported, unknown = claim("supported"), claim("unsupported"), claim("supported", unknown=(9,))
    assert problem_claims(answer(sound, unsupported, unknown)) == (unsupported, unknown)
