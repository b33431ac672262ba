"""What a claim denies against what its sources say: each branch and each bound decides something."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical.denied import denied_conflicts, has_signs, lonely_denials
from tests.citations.lexical.test_operators import matter

SEEN: list[tuple[str, str, int, list[list[str | None]]]] = [
    # what neither denies, or only the source, in a clause that nothing else stands for
    ("Dogs are closed.", "Dogs must pay.", 1, [[]]),
    ("Old ships are allowed.", "Old ships accept cash because not. Old ships never leave.", 0, [[]]),
    ("Visitors are allowed past the old garden gate.", "Dogs are open without badge while Visitors leave, are free.", 0, [[]]),
    ("Visitors are unreliable.", "No dogs start, and are open near the harbour, and Visitors.", 1, [[]]),
    # the opposite, and the same word denied
    ("Old ships are not free.", "Old ships are free.", 1, [["opposite: not free | free"]]),
    (
        "No visitors are safe past the old garden gate.",
        "Visitors are not open past the old garden gate.",
        1,
        [["negation: No visitors | Visitors"]],
    ),
    ("Old carts haul grey sand.", "Old carts never haul, grey sand.", 1, [["negation: haul | never haul"]]),
    # a prefix turns a word around
    ("The rule is unclear.", "The rule is clear.", 0, [[None]]),
    ("The rule is not unclear.", "The rule is not clear.", 0, [[None]]),
    ("The rule is not unclear.", "The rule is clear.", 2, [[]]),
    # where two clauses say different things of it, or the one that says otherwise is about something else, nothing is sure
    ("Members never enter.", "Members never may enter.", 0, [[]]),
    ("No visitors are not closed past the old garden gate.", "Members enter past the old garden gate.", 5, [[None]]),
    ("Dogs are not open on Monday, and start. never leave without badge.", "No dogs stop without badge.", 65, [[], []]),
    (
        "Dogs are free because not. No dogs do not stop past the old garden gate.",
        "Dogs are free because not. No dogs are not free past the old garden gate.",
        1,
        [["negation: Dogs | No dogs", "opposite: free | not free"], []],
    ),
    # "because" parts two clauses and is a word of the second one
    ("No visitors stop not because are not reliable on Monday.", "No visitors stop because are not reliable on Monday.", 0, [[], []]),
    (
        "Visitors have no badge because never and No dogs never leave because No visitors.",
        "Visitors must not pay because never.",
        4,
        [[], []],
    ),
    (
        "No visitors are not allowed not because Visitors are allowed.",
        "No visitors never enter not because Visitors are allowed.",
        0,
        [[], []],
    ),
    (
        "Red tickets may enter not because Dogs are reliable because not.",
        "Red tickets may enter because Dogs are reliable because not.",
        16,
        [["opposite: may enter not | may"], [None, "negation: not because Dogs | Dogs", None]],
    ),
    (
        "No dogs may not enter because never. Old ships may not enter.",
        "Dogs may enter on Monday because Dogs run without crew near the harbour.",
        0,
        [[None, None], []],
    ),
    (
        "No visitors are reliable in winter and never enter because never not because The lifts are safe on Monday.",
        "The lifts are free near the harbour not because Red tickets never leave past the old garden gate.",
        0,
        [[], [], []],
    ),
]


@pytest.mark.parametrize(("claim", "source", "lonely", "conflicts"), SEEN)
def test_what_one_denies_and_the_other_says(claim: str, source: str, lonely: int, conflicts: list[list[str | None]]) -> None:
    of = matter(claim, source, "en")
    assert lonely_denials(of) == lonely
    found = [list(denied_conflicts(of, stretch)) for stretch in of.parts.clauses]
    assert [[one and f"{one.kind}: {one.claim} | {one.source}" for one in each] for each in found] == conflicts


@pytest.mark.parametrize(
    ("claim", "source", "has"),
    [("Dogs start.", "Dogs start.", False), ("Dogs stop.", "Dogs start.", True), ("Dogs start.", "Dogs never start.", True)],
)
def test_without_a_denial_or_an_opposite_nothing_is_looked_for(claim: str, source: str, has: bool) -> None:
    assert has_signs(matter(claim, source, "en")) is has
