"""The probes of single words that turn a claim, written by hand: false ones are refused, true ones found.

Of the third that nobody reads only totals are told.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from tests.citations.lexical_scores import KEPT_OPERATORS, Checked, checked_operators, operator_lines
from tests.citations.operator_probes import TRUE_KINDS, Third, written

FALSE_SUPPORTED: dict[Third, int] = {"read": 7, "unread": 7}
FOUND: dict[Third, dict[str, int]] = {
    "read": {"verbatim": 81, "merged": 14, "paraphrase": 71},
    "unread": {"verbatim": 46, "merged": 4, "paraphrase": 38},
}
"""What was measured in November 2026: a change that lets more through, or finds less, must say so here."""


@cache
def checked(third: Third) -> list[Checked]:
    return checked_operators(third)


@cache
def called(third: Third) -> tuple[int, Counter[str], int]:
    """False probes called supported, true ones by kind, and true ones called contradicted."""
    wrong, conflicts, found = 0, 0, Counter[str]()
    for probe, claims in checked(third):
        is_supported = bool(claims) and all(claim.verdict == "supported" for claim in claims)
        wrong += is_supported and not probe.true
        conflicts += probe.true and any(claim.verdict == "contradicted" for claim in claims)
        found[probe.kind] += is_supported and probe.true
    return wrong, found, conflicts


def test_each_probe_that_may_be_read_is_told_what_it_was_told() -> None:
    """Who changes a gate sees here what else moves. Rewritten by `python -m tests.citations.lexical_scores`."""
    assert KEPT_OPERATORS.read_text(encoding="utf-8").splitlines() == list(operator_lines(checked("read")))


@pytest.mark.parametrize("third", FALSE_SUPPORTED)
def test_few_false_claims_are_called_supported(third: Third) -> None:
    assert called(third)[0] <= FALSE_SUPPORTED[third]


@pytest.mark.parametrize("third", FOUND)
@pytest.mark.parametrize("kind", TRUE_KINDS)
def test_true_claims_are_found(third: Third, kind: str) -> None:
    assert called(third)[1][kind] >= FOUND[third][kind]


@pytest.mark.parametrize("third", FOUND)
def test_no_true_claim_is_contradicted(third: Third) -> None:
    assert called(third)[2] == 0


def test_no_text_is_in_both_parts() -> None:
    parts = {third: {probe.text for probe in written(third)} for third in FALSE_SUPPORTED}
    assert not parts["read"] & parts["unread"]
    assert all(probe.true is (probe.kind in TRUE_KINDS) for third in FALSE_SUPPORTED for probe in written(third))
