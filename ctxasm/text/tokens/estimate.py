"""A token estimate for machines without a vocabulary. Never mistaken for a count: `exact` is False everywhere it goes.

A limit is kept by it, so it must not be too low: for keys, digits and code as little as for prose. Every character costs a part of a token
by the character before it, so that the estimate of a whole is that of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

_UNIT = 100
"""Parts of a token that costs are counted in."""
_ENGLISH = (
    "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce "
    "li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ge wh wi em ad ol "
    "rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty wo sa ay ex ke cr "
    "gr qu ue um mb nk oc rc od tt ck cu by pp au gu up ks bi ys rg ib cl br"
)
_FREQUENT = frozenset(_ENGLISH.split())
"""Pairs of letters that English words are mostly made of: a run of others is a key, a code or another language, and takes more tokens."""
_FIRST_LETTER, _FREQUENT_PAIR, _OTHER_PAIR, _CAPITAL = 66, 18, 92, 85
_FIRST_DIGIT, _DIGIT_AFTER_BLANK, _DIGIT = 120, 150, 55
_SIGN = 108
"""What an ASCII character costs, in hundredths of a token. By trial on r50k_base, whose tokens are the shortest of those known here: at
least its count for prose in English and Dutch, code, tables, hexadecimal, base64, keys and random ASCII, and below twice for prose."""


class _Costs(dict[str, int]):
    """What a character costs behind another one, by both; behind nothing, by itself."""

    def __missing__(self, pair: str) -> int:
        before, char = pair[:-1], pair[-1]
        if not char.isascii():
            return _UNIT * _size(char)  # no vocabulary takes more tokens than bytes
        cost = _cost(before if before.isascii() else "", char)
        if before.isascii():
            self[pair] = cost
        return cost


def _cost(before: str, char: str) -> int:
    if char.isalpha():
        if not before.isalpha():
            return _FIRST_LETTER
        return _CAPITAL if char.isupper() else _FREQUENT_PAIR if before.lower() + char in _FREQUENT else _OTHER_PAIR
    if char.isdigit():
        return _DIGIT if before.isdigit() else _DIGIT_AFTER_BLANK if before == " " else _FIRST_DIGIT
    if char == " ":  # one goes with the word behind it
        return 0 if before and not before.isspace() else _UNIT
    return _SIGN


_costs = _Costs()


class EstimateCounter:
    """Tokens guessed from the characters, rather too many than too few. `remedy` says how to get exact counts."""

    exact = False

    def __init__(self, encoding: str, remedy: str) -> None:
        self.encoding, self.remedy = encoding, remedy

    def count(self, text: str) -> int:
        """An estimate of the tokens of `text`."""
        return _whole(_of(text, ""))

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

    __slots__ = ("_last", "_parts", "total")

    def __init__(self) -> None:
        self._parts, self._last = 0, ""
        self.total = 0

    def add(self, text: str, own: int | None = None, growth: int | None = None) -> int:
        """Append `text`; return by how much the estimate grew. Counts of parts are of no use here."""
        self._parts += _of(text, self._last)
        self._last = text[-1:] or self._last
        before, self.total = self.total, _whole(self._parts)
        return self.total - before


def _of(text: str, before: str) -> int:
    """What the characters of `text` cost behind `before`, in parts of a token."""
    if not text:
        return 0
    pairs = map(str.__add__, text, islice(text, 1, None))
    return _costs[before + text[0]] + sum(map(_costs.__getitem__, pairs))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _whole(parts: int) -> int:
    return -(-parts // _UNIT)
