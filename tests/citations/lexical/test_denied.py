"""What a claim denies against what its sources say: each branch and each bound decides something."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical.conflicts import denied_conflicts, has_signs
from tests.citations.lexical.claim_contexts import matter

SEEN: list[tuple[str, str, list[list[str | None]]]] = [
    # what neither denies, or only the source, in a clause that nothing else stands for
    ("Dogs are closed.", "Dogs must pay.", [[]]),
    ("Old ships are allowed.", "Old ships accept cash because not. Old ships never leave.", [[]]),
    ("Visitors are allowed past the old garden gate.", "Dogs are open without badge while Visitors leave, are free.", [[]]),
    ("Visitors are unreliable.", "No dogs start, and are open near the harbour, and Visitors.", [[]]),
    # the opposite, and the same word denied
    ("Old ships are not free.", "Old ships are free.", [["opposite: not free | free"]]),
    (
        "No visitors are safe past the old garden gate.",
        "Visitors are not open past the old garden gate.",
        [["negation: No visitors | Visitors"]],
    ),
    ("Old carts haul grey sand.", "Old carts never haul, grey sand.", [["negation: haul | never haul"]]),
    # a prefix turns a word around
    ("The rule is unclear.", "The rule is clear.", [[None]]),
    ("The rule is not unclear.", "The rule is not clear.", [[None]]),
    ("The rule is not unclear.", "The rule is clear.", [[]]),
    # where two clauses say different things of it, or the one that says otherwise is about something else, nothing is sure
    ("Members never enter.", "Members never may enter.", [[]]),
    ("No visitors are not closed past the old garden gate.", "Members enter past the old garden gate.", [[None]]),
    ("Dogs are not open on Monday, and start. never leave without badge.", "No dogs stop without badge.", [[], []]),
    (
        "Dogs are free because not. No dogs do not stop past the old garden gate.",
        "Dogs are free because not. No dogs are not free past the old garden gate.",
        [["negation: Dogs | No dogs", "opposite: free | not free"], []],
    ),
    # "because" parts two clauses and is a word of the second one
    ("No visitors stop not because are not reliable on Monday.", "No visitors stop because are not reliable on Monday.", [[], []]),
    (
        "Visitors have no badge because never and No dogs never leave because No visitors.",
        "Visitors must not pay because never.",
        [[], []],
    ),
    (
        "No visitors are not allowed not because Visitors are allowed.",
        "No visitors never enter not because Visitors are allowed.",
        [[], []],
    ),
    (
        "Red tickets may enter not because Dogs are reliable because not.",
        "Red tickets may enter because Dogs are reliable because not.",
        [["opposite: may enter not | may"], [None, "negation: not because Dogs | Dogs", None]],
    ),
    (
        "No dogs may not enter because never. Old ships may not enter.",
        "Dogs may enter on Monday because Dogs run without crew near the harbour.",
        [[None, None], []],
    ),
    (
        "No visitors are reliable in winter and never enter because never not because The lifts are safe on Monday.",
        "The lifts are free near the harbour not because Red tickets never leave past the old garden gate.",
        [[], [], []],
    ),
]


@pytest.mark.parametrize(("claim", "source", "conflicts"), SEEN)
def test_what_one_denies_and_the_other_says(claim: str, source: str, conflicts: list[list[str | None]]) -> None:
    of = matter(claim, source, "en")
    found = [list(denied_conflicts(of, stretch)) for stretch in of.parts.clauses]
    assert [[one and f"{one.kind}: {one.claim} | {one.source}" for one in each] for each in found] == conflicts


@pytest.mark.parametrize(
    ("claim", "source", "has"),
    [("Dogs start.", "Dogs start.", False), ("Dogs stop.", "Dogs start.", True), ("Dogs start.", "Dogs never start.", True)],
)
def test_without_a_denial_or_an_opposite_nothing_is_looked_for(claim: str, source: str, has: bool) -> None:
    assert has_signs(matter(claim, source, "en")) is has
