"""The two axes of a claim: worked out from its verdict and records, always within their values, and never better than the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.citations.checked import (
    CITATION,
    FINE,
    SUPPORT,
    VERDICTS,
    WORST,
    Axes,
    CheckedClaim,
    Claim,
    Disputed,
    DroppedSource,
    Figures,
    Support,
    Verdict,
    axes_of,
    count_parts,
    label,
    parts_of,
)
from ctxasm.citations.report import CheckedAnswer, summary_dict, summary_sentence
from ctxasm.model.support import Conflict
from tests.examples import examples

PLACE = Support(1, 0, 9, 0.9)


def claim(verdict: Verdict, cited: tuple[int, ...] = (1,), inherited: tuple[int, ...] = (), **more: Any) -> CheckedClaim:
    return CheckedClaim(Claim(0, 5, "Claim", "sentence", (), cited, inherited), verdict, 0.5, **more)


def answer(*claims: CheckedClaim, marked: bool = True) -> CheckedAnswer:
    return CheckedAnswer("q", "Claim", "words", 0.6, (), claims, Figures(0, 0, None, None, None, None), {}, 0.0, marked=marked)


@pytest.mark.parametrize(
    ("checked", "axes"),
    [
        (claim("supported", support=(PLACE,)), ("full", "right")),
        (claim("supported", (), (1,), support=(PLACE,)), ("full", "inherited")),
        (claim("supported", (1, 9), support=(PLACE,), unknown=(9,)), ("full", "unknown")),
        (claim("supported", (1, 8), support=(PLACE,), unknown=(8,), dropped=(DroppedSource(8, "d", "budget", None),)), ("full", "dropped")),
        (claim("partly", support=(PLACE._replace(score=0.5),)), ("partly", "right")),
        (claim("partly", (1, 2), support=(PLACE,), idle=(2,), carried=True), ("full", "wrong_number")),
        (claim("partly", (1, 2), support=(PLACE,), idle=(2,)), ("partly", "wrong_number")),
        (claim("elsewhere", better=2), ("full", "wrong_number")),
        (claim("contradicted"), ("contradicted", "right")),
        (claim("contradicted", better=2), ("contradicted", "wrong_number")),
        (claim("prefix_only", summary_support=PLACE), ("not_found", None)),
        (claim("unsupported"), ("not_found", None)),
        (claim("uncited", ()), ("not_found", "missing")),
        (claim("uncited", (), better=2), ("full", "missing")),
        (claim("unknown_marker", (9,), unknown=(9,)), ("not_found", "unknown")),
        (claim("dropped", (8,), unknown=(8,), better=1), ("full", "dropped")),
        (claim("declined", ()), (None, None)),
    ],
)
def test_every_verdict_comes_to_two_axes(checked: CheckedClaim, axes: Axes) -> None:
    assert axes_of(checked, answer()) == axes
    assert axes_of(checked, answer(marked=False)).citation is None


def test_clauses_give_the_worst_citation_and_partly_where_they_differ() -> None:
    good, bad, elsewhere = claim("supported", support=(PLACE,)), claim("unsupported", (2,)), claim("elsewhere", (2,), better=1)
    mixed = claim("partly", (1, 2), clauses=(good, bad))
    assert axes_of(mixed, answer()) == ("partly", "right")
    assert axes_of(claim("elsewhere", (1, 2), clauses=(good, elsewhere)), answer()) == ("full", "wrong_number")
    assert axes_of(claim("contradicted", (1, 2), clauses=(good, claim("contradicted", (2,)))), answer()).support == "contradicted"
    assert axes_of(claim("partly", (1, 2), clauses=(good, good)), answer()).support == "partly"


CLAIMS = st.builds(
    claim,
    st.sampled_from(VERDICTS),
    st.sampled_from([(), (1,), (1, 9)]),
    st.sampled_from([(), (2,)]),
    support=st.sampled_from([(), (PLACE,), (PLACE._replace(score=0.4),)]),
    better=st.sampled_from([None, 2]),
    idle=st.sampled_from([(), (1,)]),
    unknown=st.sampled_from([(), (9,)]),
)


@settings(max_examples=examples(60))
@given(st.lists(CLAIMS, max_size=4))
def test_what_is_fine_was_supported_and_every_claim_is_counted(claims: list[CheckedClaim]) -> None:
    checked = answer(*claims)
    counts = count_parts(checked)
    badly_cited = [one for one in claims if (axes := axes_of(one, checked)).support == "full" and axes.citation not in (None, *FINE)]
    declined = sum(one.verdict == "declined" for one in claims)
    assert sum(counts[part] for part in SUPPORT) + declined + len(badly_cited) == len(claims)
    assert sum(counts[part] for part in CITATION) <= len(claims)
    for one in claims:
        parts = parts_of(one, checked)
        assert list(parts) == sorted(parts, key=WORST.index)
        assert label(one, checked)
        if one.verdict != "declined" and FINE.issuperset(parts):
            assert (
                one.verdict == "supported"
                or (one.verdict == "partly" and not one.idle)
                or one.verdict in ("elsewhere", "uncited", "dropped")
            )


def test_a_check_mark_is_for_what_is_carried_and_cited_right() -> None:
    """On the page, in the sentence of the command line and in the JSON alike: they count the parts of a claim."""
    right, wrong = claim("supported", support=(PLACE,)), claim("elsewhere", better=2)
    checked = answer(right, wrong, claim("uncited", (), better=2))
    assert [axes_of(one, checked).support for one in checked.claims] == ["full"] * 3
    assert [parts_of(one, checked) for one in checked.claims] == [("full", "right"), ("wrong_number",), ("missing",)]
    assert summary_sentence(checked) == "3 claims: 1 supported; citation: 1 no citation, 1 wrong number"
    assert summary_dict(checked)["axes"]["support"] == {"full": 1}


def test_a_disputed_claim_is_counted_and_told() -> None:
    conflict = Conflict("number", "7.00", "8.00", 2, 0, 4)
    disputed = claim("supported", support=(PLACE,), disputed=Disputed(conflict, PLACE, "2026", "newer"))
    checked = answer(disputed, replace(disputed, disputed=None))
    assert summary_sentence(checked) == "2 claims: 1 supported; 1 disputed"
    assert (label(disputed, checked), parts_of(disputed, checked)) == ("supported, disputed", ("disputed", "right"))
