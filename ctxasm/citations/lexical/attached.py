"""What a clause of the claim says must be said of the same thing in its source: words of one sentence are not tied to what another
sentence is about. "The Riesling matures in oak" has its subject from one sentence and the rest from "The red wines mature in oak".
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.model.support import Gated

WHOLE = 0.7
"""A sentence that holds this share of a clause of the claim says it itself; what is missing is a detail that another one has."""


def find_untied(matter: Matter) -> Iterator[Gated]:
    """A clause of the claim of which no sentence holds enough, where the best one has a subject of its own that the claim lacks."""
    parts = matter.parts
    for stretch in parts.clauses:
        counted = stretch.mask & (parts.heavy | parts.all_quantities)
        best = max(matter.numbers, key=lambda at: parts.weight(matter.held(at) & counted), default=None)
        if best is None or parts.weight(matter.held(best) & counted) >= WHOLE * parts.weight(counted):
            continue
        clauses = [clause for clause in matter.clauses if clause.sentence == best]
        carrying = max(clauses, key=lambda clause: sum(bool(parts.forms.get(word.key, 0) & counted) for word in clause.source.words))
        if _has_own_subject(matter, carrying, counted):
            source = matter.text(best)[carrying.source.start : carrying.source.end]
            yield Gated("roles", parts.text[stretch.start : stretch.end].strip(), source.strip())
            return


def _has_own_subject(matter: Matter, clause: Clause, counted: int) -> bool:
    """Whether a word of weight that the claim lacks stands in a clause before all that the claim takes from it."""
    forms, light = matter.parts.forms, matter.evidence.stems.light
    for word in clause.source.words:
        if forms.get(word.key, 0) & counted:
            return False
        if not forms.get(word.key, 0) and word.key not in light:
            return any(forms.get(other.key, 0) & counted for other in clause.source.words)
    return False
