"""Frames: columns in their order, and whole numbers that stay whole."""

from __future__ import annotations

from ctxasm.model.frames import data_frame


def test_whole_numbers_with_gaps_stay_whole_in_a_file() -> None:
    frame = data_frame([{"k": 5, "mode": "a", "share": 0.5, "extra": 1}, {"k": None, "mode": None, "share": None}], ("mode", "k", "share"))
    assert frame.to_csv(index=False, lineterminator="\n") == "mode,k,share\na,5,0.5\n,,\n"
    assert str(frame.k.dtype) == "Int64"


def test_numbers_and_flags_without_gaps_are_plain_columns() -> None:
    frame = data_frame([(1, 0.5, True), (2, 1.0, False)], ("n", "share", "there"))
    assert [str(kind) for kind in frame.dtypes] == ["int64", "float64", "bool"]


def test_no_row_leaves_the_columns() -> None:
    assert list(data_frame([], ("a", "b"))) == ["a", "b"]
