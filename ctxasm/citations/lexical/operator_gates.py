"""A claim is refused where a word that turns what is said stands in it and not in the stretch that carries it, or the other way round,
or where it bears on something else there (see `operators`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.citations.lexical.operators import Meaning, Operator, read_operators
from ctxasm.model.support import Gated, GateKind

ALIKE = 0.9
"""Sentences that hold this share of what the best one holds carry a clause as well: it is refused only if all of them refuse it."""
LEAST_MORE = 0.12
"""Share of a clause that a further sentence must add to be read with the best one."""
_WEAK: frozenset[Meaning] = frozenset((("modal", "may"), ("quantifier", "some"), ("time", "at_first"), ("time", "during"), ("exception", "include")))
"""What a claim may add: it then says no more than its source, unless the source has another meaning of the same kind."""
_FREE: frozenset[Meaning] = frozenset(
    (
        *(("modal", "must"), ("modal", "should"), ("quantifier", "all"), ("quantifier", "only"), ("quantifier", "many")),
        *(("quantifier", "exactly"), ("quantifier", "first"), ("quantifier", "last"), ("quantifier", "both"), ("hedge", "certain")),
        *(("comparison", "equal"), ("exception", "include")),
    )
)
"""What a claim may leave out and still say no more than its source."""
_LOOSE = frozenset(("cause", "time", "comparison", "unit"))
"""Kinds that belong to a detail: a claim may leave out the word together with the detail."""
_SAME: dict[Meaning, frozenset[Meaning]] = {
    ("modal", "may"): frozenset((("hedge", "likely"),)),
    ("hedge", "likely"): frozenset((("modal", "may"), ("hedge", "unclear"))),
    ("modal", "should"): frozenset((("modal", "must"),)),
    ("condition", "if"): frozenset((("condition", "only_if"), ("time", "after"))),
    ("time", "after"): frozenset((("condition", "if"),)),
}
"""Meanings of a source that do for one of the claim."""


def find_gates(matter: Matter) -> tuple[Gated, ...]:
    """The words that keep a claim from being carried, each once."""
    tongue, text = matter.evidence.stems.tongue, matter.parts.text
    ours = read_operators(text, 0, len(text), tongue)
    found: list[Gated] = []
    for stretch in matter.parts.clauses:
        inside = [op for op in ours if stretch.start <= op.start < stretch.end]
        ways = list(_ways(matter, stretch.mask))
        if ways:
            found += min((_gates(matter, stretch.mask, inside, ours, way) for way in ways), key=len)
    return tuple(dict.fromkeys(found))


def _ways(matter: Matter, mask: int) -> Iterator[list[int]]:
    """The sentences that carry some bits of the claim, in each way that is as good as the best."""
    parts = matter.parts
    held = {at: matter.held(at) & mask for at in matter.numbers}
    best = max((parts.weight(each) for each in held.values()), default=0.0)
    if not best:
        return
    for first in matter.numbers:
        if parts.weight(held[first]) >= ALIKE * best:
            way, covered = [first], held[first]
            while True:
                more = max(matter.numbers, key=lambda at: parts.weight(held[at] & ~covered))
                if parts.weight(held[more] & ~covered) < LEAST_MORE * parts.weight(mask):
                    break
                way.append(more)
                covered |= held[more]
            yield way


def _gates(matter: Matter, mask: int, inside: Sequence[Operator], ours: Sequence[Operator], way: Sequence[int]) -> list[Gated]:
    found: list[Gated] = []
    theirs = [(at, op) for at in way for op in matter.evidence.operators(at)]
    meant = {op.meaning for _, op in theirs}
    scoped = [(at, op) for at, op in theirs if _bears_on(matter, mask, at, op)]
    for op in inside:
        if op.meaning in meant or meant & _SAME.get(op.meaning, frozenset()):
            continue
        rivals = [(at, other) for at, other in scoped if other.kind == op.kind]
        if op.meaning in _WEAK and not rivals:
            continue
        found.append(Gated(cast(GateKind, op.kind), _claim(matter, op), _source(matter, *rivals[0]) if rivals else ""))
    said = {op.meaning for op in ours}
    for at, op in scoped:
        if op.meaning in said or op.meaning in _FREE or op.kind in _LOOSE or any(op.meaning in _SAME.get(one, ()) for one in said):
            continue
        found.append(Gated(cast(GateKind, op.kind), "", _source(matter, at, op)))
    return found


def _bears_on(matter: Matter, mask: int, at: int, op: Operator) -> bool:
    """Whether a word of a source bears on what the claim takes from its sentence."""
    clauses = [clause for clause in matter.clauses if clause.sentence == at]
    own = next((place for place, clause in enumerate(clauses) if clause.source.start <= op.start < clause.source.end), None)
    if own is None:
        return False
    scope = _scope(clauses, own, op)
    heavy = matter.parts.heavy | matter.parts.all_quantities
    if op.kind == "quantifier":
        after = [word for clause in clauses[own:] for word in clause.source.words if word.start >= op.end]
        return not after or bool(matter.parts.forms.get(after[0].key, 0) & mask)
    return any(clause.mask & mask & heavy for clause in scope)


def _scope(clauses: Sequence[Clause], own: int, op: Operator) -> Sequence[Clause]:
    """The clauses that a word bears on."""
    segment = clauses[own].source.segment
    if op.kind not in ("condition", "exception", "hedge"):
        return clauses[own : own + 1]
    begins = not any(word.start < op.start for word in clauses[own].source.words)
    after = [clause for clause in clauses[own + 1 :] if clause.source.segment == segment]
    if op.kind == "hedge":
        return [clauses[own], *after]
    before = [clause for clause in clauses[:own] if clause.source.segment == segment] if begins else []
    return [*before[-1:], clauses[own], *(after if begins and not before else [])]


def _claim(matter: Matter, op: Operator) -> str:
    return matter.parts.text[op.start : op.end]


def _source(matter: Matter, at: int, op: Operator) -> str:
    return matter.text(at)[op.start : op.end]
