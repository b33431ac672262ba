"""What a clause of the claim says must be said of the same thing in its source. "The Riesling matures in oak" has its subject from one
sentence and the rest from "The red wines mature in oak"; "Members pay 5 euro for a ticket" goes back to the first clause of "A ticket costs
5 euro; members pay 3".

A clause is laid along its source: from which clause there each of its words is taken, with the fewest changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ctxasm.citations.lexical.asserted import topics_of
from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.citations.lexical.evidence import PARTING
from ctxasm.citations.lexical.order import MOST_ALIKE, MOST_MOVED, SHORT
from ctxasm.model.support import Gated

LEFT_OUT = 3
"""What a word costs that is taken from nowhere, where another clause costs 1 and another sentence 2: going elsewhere for one word and
back is a detail, not another statement."""
LONGEST_NAME = 3
"""Words of a name in brackets behind what it names."""
_AGAIN = re.compile(r"\b(?:the|this|these|de|het|deze|dit|die|der|das|diese[rs]?)\s$", re.IGNORECASE)
"""What makes the word behind it another name of what was spoken of: "Animax is a channel. The company reaches 66 million"."""
LONGEST_ARTICLE = 8
"""Characters."""
_ANYWHERE = ("condition", "cause")
"""Kinds of what may stand before or behind what it bears on: "if the lift fails, use the stairs"; "after" may, too."""
LEAD = 1
"""Words of weight of what begins a sentence, before its comma, and may come last: "in winter, the beach is closed"."""


class _Taken(NamedTuple):
    """A bit of the claim, and the clause of a source that it is taken from."""

    bit: int
    clause: Clause


_Path = tuple[int, tuple[_Taken, ...]]
"""Clauses from which words are taken one after another, with what that costs."""


def find_untied(matter: Matter) -> Iterator[Gated]:
    """A clause of the claim that is put together of what its source says of different things."""
    parts = matter.parts
    counted = parts.heavy | parts.all_quantities
    is_short = counted.bit_count() <= SHORT
    counted &= ~topics_of(matter)
    for (low, high), held in zip(matter.spans, matter.in_spans, strict=True):
        bits = held & counted
        taken = _taken(matter, bits)
        for at in range(1, len(taken)):
            before, here = taken[at - 1].clause, taken[at].clause
            if (is_short and _is_torn(matter, before, here) and not _is_free(matter, taken, at)) or (
                before.sentence != here.sentence and _has_own_subject(matter, here.sentence, bits)
            ):
                source = matter.text(here.sentence)[here.source.start : here.source.end]
                yield Gated("roles", parts.text[low:high].strip(), source.strip())
                return


def find_crossed(matter: Matter) -> Iterator[Gated]:
    """Two clauses of the claim that are both put together of the same two clauses of the source: "A, who paints, sings; B dances" for "A
    sings; B, who paints, dances"; or two parts of a sentence, between semicolons, of the same two."""
    yield from _crossed(matter, matter.in_spans, matter.clauses)
    text = matter.parts.text
    parting = [at for at, sign in enumerate(text) if sign in PARTING]
    if not parting:
        return
    segments: dict[tuple[int, int], Clause] = {}
    for clause in matter.clauses:
        known = segments.setdefault((clause.sentence, clause.source.segment), clause)
        segments[clause.sentence, clause.source.segment] = known._replace(mask=known.mask | clause.mask)
    ours = [matter.between(low, high) for low, high in pairwise((0, *parting, len(text)))]
    yield from _crossed(matter, ours, list(segments.values()))


def _crossed(matter: Matter, ours: Sequence[int], theirs: Sequence[Clause]) -> Iterator[Gated]:
    """Two stretches of the claim, as bits, that are both put together of the same two of some clauses."""
    once = ~(_twice(ours) | _twice([clause.mask for clause in theirs]))
    seen: set[tuple[int, int]] = set()
    for mask in ours:
        held = [place for place, clause in enumerate(theirs) if clause.mask & once & mask][:MOST_ALIKE]
        pairs = set(combinations(held, 2))
        if pairs & seen:
            crossed = theirs[min(pairs & seen)[0]]
            source = matter.text(crossed.sentence)[crossed.source.start : crossed.source.end]
            yield Gated("roles", matter.parts.text.strip(), source.strip())
            return
        seen |= pairs


def _twice(masks: Sequence[int]) -> int:
    """The bits that are in more than one of some sets."""
    once = twice = 0
    for mask in masks:
        twice |= once & mask
        once |= mask
    return twice


def _is_torn(matter: Matter, before: Clause, here: Clause) -> bool:
    """Whether it goes back to an earlier clause, or on in one of the same sentence that says more than the claim."""
    if before is here or (before.sentence == here.sentence and _is_short_form(matter, before)):
        return False
    back = (here.sentence, here.source.start) < (before.sentence, before.source.start)
    return back or (here.sentence == before.sentence and bool(_own(matter, here)))


def _is_short_form(matter: Matter, clause: Clause) -> bool:
    """Whether a clause only has another name in brackets: "the World Bank (WB)"."""
    text, (start, end) = matter.text(clause.sentence), (clause.source.start, clause.source.end)
    words = text[start:end].split()
    return (
        text[:start].rstrip().endswith("(") and len(words) <= LONGEST_NAME and all(word[0].isupper() for word in words if word[0].isalpha())
    )


def _taken(matter: Matter, bits: int) -> tuple[_Taken, ...]:
    """From which clauses some bits are taken, in the order of the claim, those left out that are not."""
    order = [bit for bit in dict.fromkeys(matter.parts.order) if bits >> bit & 1]
    if matter.holds_all(bits) or len(order) > MOST_MOVED:
        return ()
    paths: list[_Path] = [(0, ())]
    for bit in order:
        holding = [clause for clause in matter.clauses if clause.mask >> bit & 1][:MOST_ALIKE]
        longer: list[_Path] = []
        for clause in holding:
            cost, path = min(((cost + _change(path, clause), path) for cost, path in paths), key=_cost)
            longer.append((cost, (*path, _Taken(bit, clause))))
        paths = longer + [(cost + LEFT_OUT, path) for cost, path in paths] if holding else paths
    return min(paths, key=_cost)[1]


def _cost(path: _Path) -> int:
    return path[0]


def _change(path: Sequence[_Taken], clause: Clause) -> int:
    """What it costs to go on in a clause."""
    before = path[-1].clause if path else clause
    return 0 if before is clause else 1 if before.sentence == clause.sentence else 2


def _is_free(matter: Matter, taken: Sequence[_Taken], at: int) -> bool:
    """Whether a clause of the claim may begin elsewhere than its source: with a date, or before a condition, a cause or a short lead."""
    parts, here = matter.parts, taken[at].clause
    low, high = parts.part(taken[at - 1].bit).start, parts.part(taken[at].bit).start
    if any(low < op.start < high and (op.kind in _ANYWHERE or op.value == "after") for op in matter.operators):
        return True
    leads = here is next(clause for clause in matter.clauses if clause.sentence == here.sentence)
    words = [word.key for word in here.source.words if word.key not in matter.evidence.stems.light]
    if leads and len(words) <= LEAD and parts.forms.keys() >= set(words) and matter.text(here.sentence).startswith(",", here.source.end):
        return True
    figures = [parts.quantities[each.bit - len(parts.words)] for each in taken[:at] if each.bit >= len(parts.words)]
    return len(figures) == at and all(figure.kind != "number" or figure.is_year for figure in figures)


def _has_own_subject(matter: Matter, at: int, bits: int) -> bool:
    """Whether words of weight that the claim lacks stand in a sentence before all that is taken from it: more than what may be the
    same again."""
    parts = matter.parts
    ours = [quantity for bit, quantity in enumerate(parts.quantities, len(parts.words)) if bits >> bit & 1]
    own: list[int] = []
    for clause in (clause for clause in matter.clauses if clause.sentence == at):
        taken = [word.start for word in clause.source.words if parts.forms.get(word.key, 0) & bits]
        taken += [figure.start for figure in clause.source.quantities if any(each.agrees(figure) for each in ours)]
        own += [start for start in _own(matter, clause) if start < min(taken, default=start + 1)]
        if taken:
            break
    return bool(own) and (len(own) > 1 or not _AGAIN.search(matter.text(at), max(0, own[0] - LONGEST_ARTICLE), own[0]))


def _own(matter: Matter, clause: Clause) -> list[int]:
    """Where a clause has words of weight that the claim lacks, in no figure."""
    forms, light, figures = matter.parts.forms, matter.evidence.stems.light, clause.source.quantities
    new = (word.start for word in clause.source.words if word.key not in forms and word.key not in light)
    return [at for at in new if not any(each.start <= at < each.end for each in figures)]
