"""What keeps a claim from being carried although its words are there: a wrong figure, a denial, an opposite, a name in another's
place, a word of weight that the source does not have.

Word overlap alone certifies nothing ("45 minutes" for "30 minutes" shares all words but one). Every gate names what it found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from ctxasm.citations.lexical.amounts import find_amounts
from ctxasm.citations.lexical.asserted import find_unasserted
from ctxasm.citations.lexical.attached import find_crossed, find_untied
from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.copies import find_edits
from ctxasm.citations.lexical.denied import denied_conflicts, has_signs, lonely_denials
from ctxasm.citations.lexical.displaced import find_displaced
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.finer import find_finer
from ctxasm.citations.lexical.operator_gates import find_gates
from ctxasm.citations.lexical.order import find_changed_places, find_later, find_pairs
from ctxasm.citations.lexical.parts import Parts
from ctxasm.citations.lexical.persons import find_persons
from ctxasm.citations.lexical.turned import find_turned
from ctxasm.citations.lexical.verbatim import is_verbatim
from ctxasm.citations.lexical.windows import Window, union
from ctxasm.model.support import Conflict, Gated

ONE_WORD = 0.115
"""A single word of weight that is less than this share of its claim may lack: a long claim says one thing in a word of its own."""


class Findings(NamedTuple):
    """What stands against a claim, as bits of it: those that no window holds (`longest` in a row) and, among them, words of weight,
    figures and names; figures and names that stand elsewhere than the claim says; denials that its sources do not have; and a
    conflict."""

    uncovered: int
    longest: int
    heavy: int
    figures: int
    names: int
    displaced: int = 0
    denials: int = 0
    conflict: Conflict | None = None
    gated: tuple[Gated, ...] = ()

    @property
    def stands_against(self) -> bool:
        """Whether anything keeps the claim from being carried, whatever it shares with its sources."""
        return bool(self.heavy or self.figures or self.names or self.displaced or self.denials or self.conflict or self.gated)


def examine(parts: Parts, windows: Sequence[Window], evidence: Evidence, only: Literal["gate", "conflict"] | None = None) -> Findings:
    """Everything that stands against a claim in its chosen windows. Of a claim of which nothing is missing `only` a gate may be asked for:
    where there is one it is all that is told, without a look at the rest. With `only` the conflict asked for, nothing else is sure."""
    sources = {window.source for window in windows}
    lacking = find_lacking(parts, windows, in_titles(parts, sources, evidence, parts.everything & ~union(windows)))
    matter = Matter(parts, windows, evidence)
    if not lacking.uncovered and is_verbatim(matter):
        return lacking
    signs = has_signs(matter)
    if only == "conflict" and not (signs or parts.names or parts.quantities):
        return lacking
    is_gated = only != "conflict" and not lacking.stands_against
    if only == "gate" and is_gated and (first := next(chain(find_untied(matter), _gates(matter, untied=False)), None)):
        return lacking._replace(gated=(first,))
    displaced, denials, conflict = 0, lonely_denials(matter) if signs and is_gated else 0, None
    for stretch in parts.clauses:
        for bits, found in find_displaced(matter, stretch.mask):
            displaced |= bits
            conflict = conflict or found
        for found in denied_conflicts(matter, stretch) if signs else ():
            denials = denials or 1
            conflict = conflict or found
    if conflict is not None and conflict.kind == "opposite" and _says_both(matter):
        denials, conflict = 1, None
    displaced &= ~lacking.uncovered
    displaced &= ~in_titles(parts, sources, evidence, displaced)
    findings = lacking._replace(displaced=displaced, denials=denials, conflict=conflict)
    return findings._replace(gated=tuple(dict.fromkeys(_gates(matter)))) if is_gated and only is None else findings


def _says_both(matter: Matter) -> bool:
    """Whether a sentence has the claim's word of time beside its opposite: "A led it until 2014, and B has led it since"."""
    ours = {op.meaning for op in matter.operators if op.kind == "time"}
    found = ({op.meaning for op in matter.evidence.operators(at) if op.kind == "time"} for at in matter.numbers)
    return bool(ours) and any(ours < theirs for theirs in found)


def _gates(matter: Matter, untied: bool = True) -> Iterator[Gated]:
    """What keeps a claim from being carried although nothing of it is missing or denied; not `untied` where that was asked for before, as
    it finds most."""
    yield from find_unasserted(matter)
    yield from find_gates(matter)
    yield from find_turned(matter)
    yield from find_amounts(matter)
    yield from find_finer(matter)
    yield from find_edits(matter)
    yield from find_changed_places(matter)
    yield from find_crossed(matter)
    yield from find_persons(matter)
    if untied:
        yield from find_untied(matter)
    yield from find_pairs(matter)
    yield from find_later(matter)


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
