"""The shares of an answer's claims, from their counts."""

from __future__ import annotations

import pytest

from ctxasm.citations.checked import Figures
from ctxasm.citations.report import figures_of_counts


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((0, 0, 0, 0, 0), Figures(0, 0, None, None, None, None)),
        ((4, 5, 2, 2, 3), Figures(4, 5, 0.5, 0.4, pytest.approx(4 / 9), 0.75)),
        ((1, 1, 1, 1, 1), Figures(1, 1, 1.0, 1.0, 1.0, 1.0)),
        ((2, 2, 0, 0, 1), Figures(2, 2, 0.0, 0.0, 0.0, 0.5)),
        ((2, 0, 0, 0, 0), Figures(2, 0, 0.0, None, None, 0.0)),
    ],
)
def test_shares_of_nothing_are_none_and_shares_of_something_numbers(counts: tuple[int, int, int, int, int], expected: Figures) -> None:
    assert figures_of_counts(*counts) == expected
