"""A table as one test: it fails for every row that fails, and says which."""

from __future__ import annotations

import pytest

from tests.each_row import each_row


def test_every_row_that_fails_is_told_and_every_row_is_tried() -> None:
    tried = []

    @each_row("one, other", [(1, 1), (2, 3), (4, 5)])
    @each_row("sign", [1, -1])
    def alike(one: int, other: int, sign: int) -> None:
        tried.append((sign * one, sign * other))
        assert one == other

    with pytest.raises(pytest.fail.Exception) as told:
        alike()
    assert tried == [(1, 1), (-1, -1), (2, 3), (-2, -3), (4, 5), (-4, -5)]
    assert "2 of 3 rows fail" in str(told.value)
    assert "(2, 3)" in str(told.value)
    assert "(4, 5)" in str(told.value)
    assert "(1, 1)" not in str(told.value)


def test_a_table_without_rows_is_no_test() -> None:
    with pytest.raises(AssertionError, match="tests nothing"):
        each_row("one", [])


@each_row("number", [1, 2])
def test_what_is_no_column_is_a_fixture(number: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert tmp_path_factory.getbasetemp().is_dir()
    assert number
