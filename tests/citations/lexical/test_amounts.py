"""A figure with another limit around it, and how far the words reach that set one."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical.amounts import find_amounts
from tests.citations.lexical.test_operators import matter


@pytest.mark.parametrize(
    ("claim", "source", "gated"),
    [
        # a limit of the claim bears on its own clause, from the first character of that on
        ("At most members pay 5 euro.", "Members pay at most 5 euro.", []),
        ("5 euro is paid, more or less, at most.", "At most 5 euro is paid.", [("5 euro", "most 5 euro is")]),
        ("5 euro is paid and more is given.", "At least 5 euro is paid.", [("5 euro", "least 5 euro is")]),
        # a figure that begins with the bracket that parts two clauses belongs to both
        ("Call (020) 1234567.", "Call at most (020) 1234567.", [("(020) 1234567", "most (020) 1234567.")]),
        ("At most call (020) 1234567.", "Call at most (020) 1234567.", []),
        ("Call (020) 1234567 and pay at most.", "Call at most (020) 1234567.", []),
        # what is shown begins behind the last blank before the word before it
        ("It costs 5 euro.", "It costs at most 5 euro.", [("5 euro", "most 5 euro.")]),
        ("It costs 5 euro.", "It costs at most  5 euro.", [("5 euro", "5 euro.")]),
    ],
)
def test_a_limit_bears_on_the_figures_of_its_clause(claim: str, source: str, gated: list[tuple[str, str]]) -> None:
    assert [(one.claim, one.source) for one in find_amounts(matter(claim, source, "en"))] == gated
