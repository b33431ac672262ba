"""Who does what to whom: the same words in another order may say something else ("the doctor calls the patient")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.citations.lexical.parts import Stretch
from ctxasm.citations.lexical.words import read_words
from ctxasm.model.support import Conflict
from ctxasm.text.terms import folded

_TURNING = frozenset(
    re.findall(
        r"\w+",
        "door von wordt worden werd werden geworden wird wurde wurden who whom which that die dat wie wat waar wanneer als if when",
    )
)
"""Words with which a sentence may turn its order without turning its meaning."""
_BEING = frozenset(("was", "were", "been", "being", "be", "is", "are"))
_STOPS = ".!?;:()| -*•"
_THAN = frozenset(("than", "dan", "als"))


def is_verbatim(matter: Matter) -> bool:
    """Whether the claim stands word for word in one of its windows, from one stop to another: then nothing can stand against it."""
    claim = _plain(matter.parts.text).strip(_STOPS)
    for window in matter.windows:
        first, last = matter.evidence.sentences[window.first], matter.evidence.sentences[window.last]
        text = _plain(matter.text(window.first)[first.start : last.end])
        at = text.find(claim)
        if at >= 0 and text[:at].rstrip(" ")[-1:] in _STOPS and text[at + len(claim) :].lstrip(" ")[:1] in _STOPS:
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def find_reversed(matter: Matter, stretch: Stretch) -> Iterator[tuple[int, Conflict | None]]:
    """Two words of weight of a clause of the claim that stand in the other order on both sides of a word in the source, two names
    also with more between them.

    Only where neither side has a word with which order may turn, such as one of the passive voice.
    """
    parts, stems = matter.parts, matter.evidence.stems
    bits = {word.key: 1 << bit for bit, word in enumerate(parts.words)}
    ours = [bits[word.key] for word in read_words(parts.text, stretch.start, stretch.end, stems) if word.key in bits]
    if len(ours) < 3 or _turns(parts.text, stretch.start, stretch.end):
        return
    for clause in matter.clauses:
        if clause.mask & stretch.mask != stretch.mask or _turns(matter.text(clause.sentence), clause.source.start, clause.source.end):
            continue
        found = _reversed(matter, ours, clause)
        if found:
            yield found, None
            return


def _reversed(matter: Matter, ours: Sequence[int], clause: Clause) -> int:
    order = list(dict.fromkeys(bit for word in clause.source.words if (bit := matter.parts.forms.get(word.key, 0))))
    places = {bit: place for place, bit in enumerate(order)}
    for first, before in enumerate(ours):
        for last in range(first + 2, len(ours)):
            outer, between = before | ours[last], ours[first + 1 : last]
            wanted = matter.parts.heavy if len(between) == 1 else matter.parts.names
            if outer & wanted != outer or before not in places or ours[last] not in places:
                continue
            if any(places[ours[last]] < places.get(middle, -1) < places[before] for middle in between):
                return outer
    return 0


def _turns(text: str, start: int, end: int) -> bool:
    words = {folded(word) for word in text[start:end].split()}
    passive = bool(words & _BEING) and "by" in words
    return (passive or bool(words & _TURNING)) and not words & _THAN
