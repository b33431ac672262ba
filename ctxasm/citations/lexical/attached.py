"""What a clause of the claim says must be said of the same thing in its source: where a clause takes its words from two sentences, the
second must not have a subject of its own. "The Riesling matures in oak" has its subject from one sentence and the rest from "The red
wines mature in oak".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.model.support import Gated

LEFT_OUT = 1.5
"""What a word costs that is taken from no sentence, in changes of sentence: going elsewhere for one word and back is a detail, not another
statement."""


_AGAIN = re.compile(r"\b(?:the|this|these|de|het|deze|dit|die|der|das|diese[rs]?)\s$", re.IGNORECASE)
"""What makes the word behind it another name of what was spoken of: "Animax is a channel. The company reaches 66 million"."""
LONGEST_ARTICLE = 8
"""Characters."""


def find_untied(matter: Matter) -> Iterator[Gated]:
    """A clause of the claim that goes on in another sentence, which speaks of something that the claim does not name."""
    parts = matter.parts
    for low, high in matter.spans:
        bits = matter.held_between(parts.text, low, high) & (parts.heavy | parts.all_quantities)
        taken = _sentences(matter, [1 << bit for bit in dict.fromkeys(parts.order) if bits >> bit & 1])
        for before, at in pairwise(taken):
            clauses = [clause for clause in matter.clauses if clause.sentence == at]
            if at != before and _has_own_subject(matter, clauses, bits):
                said = max(clauses, key=lambda clause: parts.weight(clause.mask & bits)).source
                yield Gated("roles", parts.text[low:high].strip(), matter.text(at)[said.start : said.end].strip())
                return


def _sentences(matter: Matter, bits: Sequence[int]) -> tuple[int, ...]:
    """The sentences from which some words are taken, one after another, with the fewest changes."""
    held = {at: matter.held(at) for at in matter.numbers}
    paths: dict[int, tuple[float, tuple[int, ...]]] = {-1: (0.0, ())}
    for bit in bits:
        holding = [at for at in matter.numbers if held[at] & bit]
        longer = {at: (cost + LEFT_OUT * bool(holding), path) for at, (cost, path) in paths.items()}
        for at in holding:
            cost, path = min((cost + (before not in (-1, at)), path) for before, (cost, path) in paths.items())
            longer[at] = min(longer.get(at, (cost, (*path, at))), (cost, (*path, at)))
        paths = longer
    return min(paths.values())[1]


def _has_own_subject(matter: Matter, clauses: Sequence[Clause], bits: int) -> bool:
    """Whether words of weight that the claim lacks stand in a sentence before all that is taken from it: more than what may be the
    same again."""
    parts, light = matter.parts, matter.evidence.stems.light
    ours = [quantity for bit, quantity in enumerate(parts.quantities, len(parts.words)) if bits >> bit & 1]
    own: list[int] = []
    for words, figures in ((clause.source.words, clause.source.quantities) for clause in clauses):
        taken = [word.start for word in words if parts.forms.get(word.key, 0) & bits]
        taken += [figure.start for figure in figures if any(each.agrees(figure) for each in ours)]
        new = [word.start for word in words if word.key not in parts.forms and word.key not in light]
        own += [at for at in new if at < min(taken, default=at + 1) and not any(each.start <= at < each.end for each in figures)]
        if taken:
            break
    text = matter.text(clauses[0].sentence)
    return bool(own) and (len(own) > 1 or not _AGAIN.search(text, max(0, own[0] - LONGEST_ARTICLE), own[0]))
