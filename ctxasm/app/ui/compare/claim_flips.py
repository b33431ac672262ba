"""The statements of two answers to one question, side by side: those whose verdict flipped first. Escaped HTML, pure."""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

from ctxasm.app.ui.ask.verdict_words import sign
from ctxasm.app.ui.compare.differences import chip
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.citations.axes import FINE, label, parts_of
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.model.amounts import counted
from ctxasm.tuning.compare_answers import AnswerPair

ALIKE = 0.6
"""From this share of common words on, two statements say the same thing."""
_WORD = re.compile(r"\w+")


class ClaimPair(NamedTuple):
    """A statement of either answer, or of both."""

    a: CheckedClaim | None
    b: CheckedClaim | None

    @property
    def flipped(self) -> bool:
        """Whether both make it, with other verdicts."""
        return self.a is not None and self.b is not None and self.a.verdict != self.b.verdict


def claim_pairs(a: CheckedAnswer, b: CheckedAnswer) -> tuple[ClaimPair, ...]:
    """Every statement once: those whose verdict flipped, those that only one makes, those that stayed as they were."""
    likeness = sorted(
        ((_alike(one, other), -at, -to) for at, one in enumerate(a.claims) for to, other in enumerate(b.claims)),
        reverse=True,
    )
    partner: dict[int, int] = {}
    for share, at, to in likeness:
        if share >= ALIKE and -at not in partner and -to not in partner.values():
            partner[-at] = -to
    pairs = [ClaimPair(one, b.claims[partner[at]] if at in partner else None) for at, one in enumerate(a.claims)]
    pairs += [ClaimPair(None, other) for to, other in enumerate(b.claims) if to not in partner.values()]
    return tuple(sorted(pairs, key=lambda pair: 0 if pair.flipped else 1 if None in pair else 2))


def _alike(a: CheckedClaim, b: CheckedClaim) -> float:
    one, other = (set(_WORD.findall(claim.claim.text.casefold())) for claim in (a, b))
    return len(one & other) / len(one | other) if one | other else 1.0


def claims_html(pair: AnswerPair) -> str:
    """What differs of the statements; those that stayed are counted."""
    pairs = claim_pairs(pair.a.checked, pair.b.checked)
    flipped, same = sum(each.flipped for each in pairs), sum(not each.flipped and None not in each for each in pairs)
    rows = [(_cell(each.a, pair.a.checked), _cell(each.b, pair.b.checked)) for each in pairs if each.flipped or None in each]
    said = f"{counted(flipped, 'statement')} with another verdict, {same} with the same"
    used = f"expected passages used: {pair.a.used} → {pair.b.used} of {pair.b.expected}" if pair.b.expected else ""
    head = f'<h2 class="cx-h">Answers<small>{said}{f"; {used}" if used else ""}</small></h2>'
    table = table_html((chip("A"), chip("B")), rows, caption="Statements that differ") if rows else ""
    return boxed(head + table, "ctx-claims")


def _cell(claim: CheckedClaim | None, answer: CheckedAnswer) -> str:
    if claim is None:
        return '<span class="cx-mute">not said</span>'
    parts = parts_of(claim, answer)
    look = "good" if FINE.issuperset(parts) else "warn"
    shown = sign(parts[0] if parts else "declined")
    return (
        f'<span class="cx-{look}" data-verdict="{claim.verdict}">{shown} {escape(label(claim, answer))}</span> {escape(claim.claim.text)}'
    )
