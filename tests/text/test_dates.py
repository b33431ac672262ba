"""Dates as documents carry them, and which of two is certainly the later."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.text.dates import period_of


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("2023-03-13", "2023-03-13", "2023-03-13"),
        ("2023/3/13", "2023-03-13", "2023-03-13"),
        ("20230313", "2023-03-13", "2023-03-13"),
        (" 2023-03 ", "2023-03-01", "2023-03-31"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("13/03/2023", "2023-03-13", "2023-03-13"),
        ("03-13-2023", "2023-03-13", "2023-03-13"),
        ("4/5/2023", "2023-04-05", "2023-05-04"),
        ("13 maart 2023", "2023-03-13", "2023-03-13"),
        ("March 13th, 2023", "2023-03-13", "2023-03-13"),
        ("1e mei 2023", "2023-05-01", "2023-05-01"),
        ("3. März 2023", "2023-03-03", "2023-03-03"),
        ("Feb. 2024", "2024-02-01", "2024-02-29"),
        ("2023-03-13T23:30:00-02:00", "2023-03-14", "2023-03-14"),
        ("2023-03-13 10:00", "2023-03-13", "2023-03-13"),
    ],
)
def test_forms(written: str, first: str, last: str) -> None:
    period = period_of(written)
    assert period is not None
    assert (period.first.date().isoformat(), period.last.date().isoformat()) == (first, last)


@pytest.mark.parametrize(
    "written", [None, "", "soon", "13-13-2023", "2023-02-30", "0/0/2023", "version 2023", "1/2/23", "99999", "x" * 100]
)
def test_unreadable_is_none(written: str | None) -> None:
    assert period_of(written) is None


def test_later_only_where_it_is_certain() -> None:
    def is_after(one: str, other: str) -> bool:
        first, second = period_of(one), period_of(other)
        assert first is not None
        assert second is not None
        return first.is_after(second)

    assert is_after("2024", "2023-12-31")
    assert is_after("2023-03-13T12:00", "2023-03-13T10:00")
    assert not is_after("2023-06-01", "2023")
    assert not is_after("2023", "2023")
    assert not is_after("5/4/2023", "4/5/2023")


@given(st.dates(), st.dates())
def test_whole_dates_keep_their_order(one: date, other: date) -> None:
    first, second = period_of(one.isoformat()), period_of(other.isoformat())
    assert first is not None
    assert second is not None
    assert first.is_after(second) == (one > other)


@given(st.text(max_size=50))
def test_any_text_is_read_or_not(written: str) -> None:
    period = period_of(written)
    assert period is None or period.first <= period.last
