"""Numbers as a person reads them, in one spelling: with their noun, with a sign, as shares. JSON and CSV have plain numbers."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 chunk`, `2,000 chunks`, `2 queries`, `2 batches`, `3 keys`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith(("ch", "sh", "s", "x")):
        return f"{count:,} {noun}es"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{count:,} {noun}s"


def agreeing(count: int, one: str, more: str) -> str:
    """The word that agrees with a count: a verb (`is`, `are`) or a pronoun."""
    return one if count == 1 else more


def signed(value: float, digits: int = 0) -> str:
    """A difference: `+12`, `−3.3` (a true minus), `0`."""
    rounded = round(value, digits)
    return f"{'+' if rounded > 0 else '−' if rounded < 0 else ''}{abs(rounded):,.{digits}f}"


def interval(low: float, high: float, digits: int = 0) -> str:
    """The interval of a difference: `[−1.2, +8.0]`."""
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage: `57 %`, and `12.5 %` with up to `digits` decimals."""
    return f"{round(100 * share, digits):g} %" if digits else f"{100 * share:.0f} %"
