"""The measure of growth itself: it lets linear work pass, and no quadratic one."""

from __future__ import annotations

from tests.growth import is_linear


def test_quadratic_work_is_told_from_linear() -> None:
    assert is_linear(lambda text: sum(1 for _ in text), "x" * 100_000)
    assert not is_linear(lambda text: sum(1 for _ in text for _ in text), "x" * 1_000)
    assert not is_linear(lambda text: sum(1 for _ in text for _ in text), "x" * 5_000)
