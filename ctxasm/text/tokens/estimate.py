"""A token estimate for machines without a vocabulary. Never mistaken for a count: `exact` is False everywhere it goes."""

from __future__ import annotations

from collections.abc import Sequence

BYTES_PER_TOKEN = 3.6
"""UTF-8 bytes per cl100k token: between English prose (about 4.4) and Dutch prose (about 3.3)."""


class EstimateCounter:
    """Tokens guessed from the length in UTF-8 bytes. `remedy` says how to get exact counts."""

    exact = False

    def __init__(self, encoding: str, remedy: str) -> None:
        self.encoding, self.remedy = encoding, remedy

    def count(self, text: str) -> int:
        """An estimate of the tokens of `text`."""
        return _estimate(_size(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """An estimate for each text."""
        return [self.count(text) for text in texts]

    def tally(self) -> EstimateTally:
        """A fresh running estimate."""
        return EstimateTally()

    def merge(self, text: str, at: int, left: int, right: int) -> int:
        """The estimate of the whole."""
        return self.count(text)

    def has_seam(self, text: str) -> bool:
        """Estimates of parts never add up exactly."""
        return False

    def inside(self, text: str, own: int) -> int:
        """Estimates are made of whole texts only."""
        return 0

    def complement(self, text: str, at: int, total: int, known: int) -> int:
        """The rest, never below zero."""
        return max(0, total - known)

    def change(self, old: str, new: str, low: int, high: int) -> int | None:
        """Estimates are made of whole texts only."""
        return None

    def boundaries(self, text: str) -> list[int]:
        """Every fourth character and the end."""
        return [*range(4, len(text), 4), *([len(text)] if text else [])]


class EstimateTally:
    """The estimate of a text that grows piece by piece; its total equals the estimate of the whole."""

    __slots__ = ("_bytes", "total")

    def __init__(self) -> None:
        self._bytes = 0
        self.total = 0

    def add(self, text: str, own: int | None = None, growth: int | None = None) -> int:
        """Append `text`; return by how much the estimate grew. Counts of parts are of no use here."""
        self._bytes += _size(text)
        before, self.total = self.total, _estimate(self._bytes)
        return self.total - before


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _estimate(size: int) -> int:
    return -(-size * 10 // int(BYTES_PER_TOKEN * 10))
