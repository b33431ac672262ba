"""What stands against a claim in its windows: words, figures and names that are not there, a conflict, and what differs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ctxasm.citations.lexical.alignment import Alignment, Difference, differences
from ctxasm.citations.lexical.assertion import find_unasserted, is_verbatim
from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.conflicts import find_conflict
from ctxasm.citations.lexical.decision import Certainty, decide
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.parts import Parts
from ctxasm.citations.lexical.windows import Window, union
from ctxasm.model.support import Conflict, Gated

ONE_WORD = 0.115
"""A single word of weight that is less than this share of its claim may lack: a long claim says one thing in a word of its own."""


class Findings(NamedTuple):
    """What stands against a claim: the bits of it that no window holds (`longest` in a row) and, among them, words of weight, figures and
    names; figures and names that stand elsewhere than the claim says; a conflict; and the differences that keep it from being carried,
    with the `risk` that a claim with such differences is false."""

    uncovered: int
    longest: int
    heavy: int
    figures: int
    names: int
    displaced: int = 0
    conflict: Conflict | None = None
    gated: tuple[Gated, ...] = ()
    risk: float = 0.0

    @property
    def stands_against(self) -> bool:
        """Whether anything keeps the claim from being carried, whatever it shares with its sources."""
        return bool(self.heavy or self.figures or self.names or self.conflict or self.gated)


def examine(parts: Parts, windows: Sequence[Window], evidence: Evidence, certainty: Certainty = "strict") -> Findings:
    """Everything that stands against a claim in its chosen windows."""
    findings, differing = compare_parts(parts, windows, evidence)
    if not differing:
        return findings
    decision = decide(differing, certainty)
    return findings._replace(risk=decision.risk, gated=decision.reasons)


def compare_parts(parts: Parts, windows: Sequence[Window], evidence: Evidence) -> tuple[Findings, list[Difference]]:
    """What is missing or in conflict; and, where nothing is, the differences that are left to decide about."""
    sources = {window.source for window in windows}
    lacking = find_lacking(parts, windows, in_titles(parts, sources, evidence, parts.everything & ~union(windows)))
    matter = Matter(parts, windows, evidence)
    if not lacking.uncovered and is_verbatim(matter):
        return lacking, []
    displaced, conflict = find_conflict(matter)
    displaced &= ~lacking.uncovered
    displaced &= ~in_titles(parts, sources, evidence, displaced)
    findings = lacking._replace(displaced=displaced, conflict=conflict, gated=tuple(find_unasserted(matter)))
    return findings, [] if findings.stands_against else list(differences(Alignment(matter)))


def missing_bits(parts: Parts, shown: Window, findings: Findings) -> int:
    """What to call missing: what no window holds, and what stands elsewhere than in the one that is shown; all that stands
    elsewhere, and is in that one too, only where nothing else explains the match."""
    elsewhere = findings.displaced & (~shown.mask | parts.all_quantities | parts.names)
    missing = findings.uncovered | elsewhere
    return missing if missing & (parts.heavy | parts.all_quantities) or findings.conflict is not None else missing | findings.displaced


def find_lacking(parts: Parts, windows: Sequence[Window], titles: int = 0) -> Findings:
    """What no window holds, without a look at where the rest stands. `titles` are words that a title holds."""
    uncovered = parts.everything & ~union(windows)
    free = uncovered & ~titles
    heavy = free & parts.heavy & ~parts.names
    if heavy.bit_count() == 1 and parts.weight(heavy) < ONE_WORD * parts.total:
        heavy = 0
    return Findings(
        uncovered,
        _longest_run(parts, free & (parts.heavy | parts.all_quantities)),
        heavy,
        uncovered & parts.all_quantities,
        free & parts.names,
    )


def in_titles(parts: Parts, sources: Collection[int], evidence: Evidence, asked: int) -> int:
    """The words among some bits of a claim that the titles of sources hold."""
    titled = [source for source in sources if evidence.titles[source]]
    words = enumerate(parts.words) if titled else ()
    return sum(1 << bit for bit, word in words if asked >> bit & 1 and any(evidence.is_in_title(at, word.key) for at in titled))


def _longest_run(parts: Parts, uncovered: int) -> int:
    longest = run = 0
    for bit in parts.order if uncovered else ():
        run = run + 1 if uncovered >> bit & 1 else 0
        longest = max(longest, run)
    return longest
