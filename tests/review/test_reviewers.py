"""Agreement of reviewers, against nltk's alpha, a published worked example and exact fractions; the checker against reviewers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask

from ctxasm.model.runs import Judgement, Run
from ctxasm.review.reviewers import Estimate, agreement, calibration, coefficients, wilson, with_intervals
from ctxasm.store.database import MemoryStore

_ = None
FOUR_RATERS = (
    (1, 1, _, 1), (2, 2, 3, 2), (3, 3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2), (1, 2, 3, 4),
    (4, 4, 4, 4), (1, 1, 2, 1), (2, 2, 2, 2), (_, 5, 5, 5), (_, _, 1, 1), (_, _, 3, _),
)  # fmt: skip
"""Twelve units, four raters, five categories: Krippendorff's own example, as `cac.raw4raters` of Gwet's irrCAC."""
RATINGS = st.lists(st.lists(st.none() | st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12)


def table_of(rows: Any, categories: Any) -> np.ndarray:
    return np.array([[list(row).count(one) for one in categories] for row in rows], dtype=float).reshape(len(rows), len(categories))


def test_the_published_worked_example() -> None:
    """Gwet (2014), Handbook of Inter-Rater Reliability, table 3.6; irrCAC prints these digits."""
    found = coefficients(table_of(FOUR_RATERS, (1, 2, 3, 4, 5)))
    assert [round(value, 5) for value in found if value is not None] == [0.81818, 0.74342, 0.77544]


def exact_ac1(rows: Any, categories: int) -> Fraction | None:
    """Gwet 2008, written down pair by pair."""
    labels = [[label for label in row if label is not None] for row in rows]
    some, several = [own for own in labels if own], [own for own in labels if len(own) > 1]
    if not several:
        return None
    alike = Fraction(0)
    for own in several:
        pairs = [(one, other) for at, one in enumerate(own) for place, other in enumerate(own) if place != at]
        alike += Fraction(sum(one == other for one, other in pairs), len(pairs))
    alike /= len(several)
    chance = Fraction(0)
    for category in range(categories):
        share = sum(Fraction(own.count(category), len(own)) for own in some) / len(some)
        chance += share * (1 - share)
    chance /= categories - 1
    return (alike - chance) / (1 - chance)


@given(RATINGS)
def test_alpha_is_nltks_and_ac1_that_of_exact_fractions(rows: list[list[int | None]]) -> None:
    found = coefficients(table_of(rows, range(4)))
    wanted = exact_ac1(rows, 4)
    if wanted is None:
        assert found == (None, None, None)
        return
    assert found.ac1 is not None
    assert abs(found.ac1 - wanted) <= 1e-12
    data = [(str(rater), str(unit), label) for unit, row in enumerate(rows) for rater, label in enumerate(row) if label is not None]
    if found.alpha is None:
        several = [[label for label in row if label is not None] for row in rows]
        assert len({label for own in several if len(own) > 1 for label in own}) == 1
        return
    assert abs(found.alpha - AnnotationTask(data).alpha()) <= 1e-12


def test_intervals_draw_whole_answers_and_are_the_same_every_time() -> None:
    table = table_of([(at % 3, at % 3 if at % 4 else (at + 1) % 3) for at in range(60)], range(3))
    own = with_intervals(table, np.arange(60))
    assert own == with_intervals(table, np.arange(60))
    assert all(each.low is not None and each.value is not None and each.low < each.value < (each.high or 0) for each in own)
    copied = with_intervals(np.repeat(table, 10, axis=0), np.repeat(np.arange(60), 10))
    alone = with_intervals(np.repeat(table, 10, axis=0), np.arange(600))
    widths = [(each[0].high or 0) - (each[0].low or 0) for each in (own, copied, alone)]
    assert widths[1] == pytest.approx(widths[0], rel=0.05)
    assert widths[2] < widths[0] / 2
    assert with_intervals(table[:5], np.zeros(5, dtype=int))[0].low is None


def test_wilson() -> None:
    """Newcombe 1998, Statistics in Medicine 17:857, table I: 81 of 263 and 0 of 20."""
    assert [round(value or 0, 4) for value in wilson(81, 263)] == [0.308, 0.2553, 0.3662]
    assert [round(value or 0, 4) for value in wilson(0, 20)] == [0.0, 0.0, 0.1611]
    assert wilson(0, 0) == Estimate(None)


def claim(support: str, markers: tuple[int, ...] = (1,), **more: Any) -> dict[str, Any]:
    citation = "right" if support == "full" else None
    own = {
        "start": 0,
        "end": 4,
        "text": "said",
        "kind": "sentence",
        "markers": list(markers),
        "axes": {"support": support, "citation": citation},
    }
    return {**own, **more}


def judged_store() -> MemoryStore:
    store = MemoryStore()
    checks = [claim("full"), claim("not_found"), claim("partly"), claim("full")]
    store.keep_runs([Run(f"r{at}", f"2026-11-2{at}", "q?", "said", {"claims": checks}) for at in range(2)])
    for run_id in ("r0", "r1"):
        for reviewer, verdicts in (("An", ("right", "not_there", "right", "right")), ("Bo", ("right", "right", "right", "wrong_fact"))):
            for at, verdict in enumerate(verdicts):
                store.judge(Judgement(run_id, f"{at}:1", reviewer, verdict), 0)  # type: ignore[arg-type]
            store.judge(Judgement(run_id, "answer", reviewer, answers="yes"), 0)
    return store


def test_the_first_verdicts_count_and_not_what_was_said_after_looking() -> None:
    store = judged_store()
    before = agreement(store, ["r0", "r1"])
    store.judge(Judgement("r0", "1:1", "Bo", "not_there"), 1)
    assert agreement(store, ["r0", "r1"]) == before
    citations, answers = before
    assert (citations.items, citations.runs, citations.reviewers, citations.percent.value) == (8, 2, ("An", "Bo"), 0.5)
    assert [(run_id, item) for run_id, item, _ in citations.differing] == [("r0", "1:1"), ("r0", "3:1"), ("r1", "1:1"), ("r1", "3:1")]
    assert answers.percent == (1.0, 1.0, 1.0)
    assert answers.alpha.value is None
    assert "n = 8 items of 2 answers, 2 reviewers" in citations.sentence()
    assert citations.to_dict()["n"] == 8
    assert agreement(store, [])[0].sentence() == "Citations: no item is judged by two reviewers (0 reviewers)."


def test_the_checker_is_held_against_what_most_reviewers_say() -> None:
    store = judged_store()
    found = calibration(store, ["r0", "r1"])
    assert (found.right, found.left_open, found.tied) == ((2, 2), 2, 4)
    store.judge(Judgement("r0", "3:1", "Cy", "wrong_fact"), 0)
    store.judge(Judgement("r0", "1:1", "Cy", "not_there"), 0)
    found = calibration(store, ["r0", "r1"])
    assert (found.right, found.flagged, found.tied) == ((3, 2), (1, 1), 2)
    assert found.differing == (("r0", "3:1", "right", "wrong_fact"),)
    assert found.sentence() == (
        "The checker on this data, over 4 judged citations: it called right 3, confirmed 2 (67 %, 95 %: 21 % to 94 %); "
        "it flagged 1, confirmed 1 (100 %, 95 %: 21 % to 100 %)."
    )
    assert found.to_dict()["flagged"]["n"] == 1
    assert "not calibrated on this data yet" in calibration(store, []).sentence()
