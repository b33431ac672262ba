"""A claim that is a list of figures, against a source that is one."""

from __future__ import annotations

from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.lexical.quantity import Quantity
from ctxasm.model.support import Match, Source


def match_of(figures: int, sentences: int) -> Match:
    claim = "Kost " + " euro ".join(str(1_000 + at) for at in range(figures))
    text = "\n\n".join(f"Kost {500_000 + at} euro." for at in range(sentences))
    return LexicalScorer().compare([claim], [Source(1, text, ((0, len(text)),))]).together(0, (0,))


def test_a_list_of_figures_is_not_looked_up_in_every_sentence() -> None:
    compared = 0
    agrees = Quantity.agrees

    def counted(self: Quantity, other: Quantity) -> bool:
        nonlocal compared
        compared += 1
        return agrees(self, other)

    Quantity.agrees = counted  # type: ignore[method-assign]
    try:
        match_of(400, 2_000)
    finally:
        Quantity.agrees = agrees  # type: ignore[method-assign]
    assert compared < 100 * 400
