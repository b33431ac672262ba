"""Dates that say more than the source: "on 2 May 1611" where it says "in 1611"."""

from __future__ import annotations

from collections.abc import Iterator

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.model.support import Gated


def find_finer(matter: Matter) -> Iterator[Gated]:
    """Dates of the claim with a month or day that no date of its windows has, or with a year that stands nowhere in their sources."""
    for ours in matter.parts.quantities:
        if ours.kind != "date":
            continue
        here = [theirs for at in matter.numbers for theirs in matter.evidence.quantities(at) if ours.agrees(theirs)]
        known = {part for theirs in here for part in _parts(theirs)}
        if here and any(not _parts_of(str(value)) - known for value in ours.values):
            continue
        if here:
            numbers = {at for window in matter.windows for at in matter.evidence.of_source[window.source]}
            years = {part for at in numbers for theirs in matter.evidence.quantities(at) for part in _parts(theirs) if part[0] == "year"}
            if any(not _parts_of(str(value)) - known - years for value in ours.values):
                continue
            at = next(at for at in matter.numbers for theirs in matter.evidence.quantities(at) if theirs in here)
            yield Gated("date", matter.parts.text[ours.start : ours.end], matter.text(at)[here[0].start : here[0].end])


def _parts(quantity: Quantity) -> set[tuple[str, str]]:
    if quantity.kind == "date":
        return {part for value in quantity.values for part in _parts_of(str(value))}
    if quantity.kind == "month":
        return {("month", str(value)) for value in quantity.values}
    return {("year", f"{value:.0f}") for value in quantity.floats} if quantity.is_year else set()


def _parts_of(value: str) -> set[tuple[str, str]]:
    """The year, month and day that a date names."""
    return {part for part in zip(("year", "month", "day"), value.split("-"), strict=False) if "?" not in part[1]}
