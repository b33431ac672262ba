"""Figures, names and words that the sources have, but not where the claim has them: "Beginners are taught by Susanna" where
the source lets Gareth teach them, "the upper basket" where it says the lower one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxasm.citations.lexical.matter import Clause, Matter
from ctxasm.citations.lexical.parts import is_name, name_groups
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.windows import union
from ctxasm.citations.lexical.words import Word, read_words
from ctxasm.model.support import Conflict, ConflictKind

_KINDS: dict[str, ConflictKind] = {"date": "date", "month": "date", "weekday": "date"}
SLOT = 2
"""Words with content on either side of a word that make the place where it stands."""
_UNTIL = re.compile(r"\b(?:tot|voor|vóór|until|till|before|bis|vor|uiterlijk|by)\s+(?:de |het |the |den |dem )?$", re.IGNORECASE)
_FROM = re.compile(r"\b(?:vanaf|na|sinds|from|after|since|ab|nach|seit)\s+(?:de |het |the |den |dem )?$", re.IGNORECASE)
Displaced = tuple[int, Conflict | None]
"""Bits that stand elsewhere, and what the source has in their place where that is certain."""


def find_displaced(matter: Matter, mask: int) -> Iterator[Displaced]:
    """What of a clause of the claim (its bits) the source has elsewhere."""
    yield from _turned_figures(matter, mask)
    if matter.holds_all(mask):
        return
    yield from _figures(matter, mask)
    yield from _names(matter, mask)
    yield from _words(matter, mask)
    if scattered := _scattered(matter, mask):
        yield scattered, None


def _figures(matter: Matter, mask: int) -> Iterator[Displaced]:
    """Figures that the source, on the same matter, does not have, with the one that it has instead."""
    parts = matter.parts
    for bit, ours in enumerate(parts.quantities, len(parts.words)):
        same = matter.same(mask & ~(1 << bit)) if mask >> bit & 1 else []
        if not same or any(clause.mask >> bit & 1 for clause in same) or _stands_alone(matter, bit):
            continue
        rivals = [(clause.sentence, theirs) for clause in same for theirs in clause.source.quantities if ours.rivals(theirs)]
        sure = [rival for rival in rivals if ours.unit or ours.kind != "number" or _same_slot(matter, ours, *rival)]
        if rivals:
            yield 1 << bit, matter.conflict(_KINDS.get(ours.kind, "number"), ours, *sure[0]) if sure else None


def _turned_figures(matter: Matter, mask: int) -> Iterator[Displaced]:
    """Figures that the source, on the same matter, has with the other direction."""
    for bit, ours in enumerate(matter.parts.quantities, len(matter.parts.words)):
        if mask >> bit & 1 and _direction(matter.parts.text, ours) and (turned := _turned(matter, ours, matter.same(mask))):
            yield 1 << bit, turned


def _turned(matter: Matter, ours: Quantity, same: list[Clause]) -> Conflict | None:
    """The same figure with the other direction ("tot 20 uur", "vanaf 20 uur"), where the source has it in no other way."""
    direction = _direction(matter.parts.text, ours)
    places = [(clause.sentence, theirs) for clause in same for theirs in clause.source.quantities if direction and ours.agrees(theirs)]
    if not places or any(_direction(matter.text(at), theirs) != -direction for at, theirs in places):
        return None
    return matter.conflict("opposite", ours, *places[0])


def _direction(text: str, quantity: Quantity) -> int:
    """1 for a figure that ends something ("until 8 pm"), -1 for one that begins it ("from 8 pm"), 0 where neither is said."""
    before = text[max(0, quantity.start - 14) : quantity.start]
    return 1 if _UNTIL.search(before) else -1 if _FROM.search(before) else 0


def _stands_alone(matter: Matter, bit: int) -> bool:
    """Whether a clause that holds a bit speaks of nothing else ("In 2018 there were 14,200"): it is about what stands before it."""
    light, forms = matter.evidence.stems.light, matter.parts.forms
    return any(
        all(word.key in forms or word.key in light or word.key[0].isdigit() for word in clause.source.words)
        for clause in matter.clauses
        if clause.mask >> bit & 1
    )


def _names(matter: Matter, mask: int) -> Iterator[Displaced]:
    """Names where the source, on the same matter, has another name."""
    for name in name_groups(matter.parts, mask & matter.parts.names):
        same = matter.same(mask & ~name)
        if not same or any(clause.mask & name for clause in same):
            continue
        ours = matter.parts.part((name & -name).bit_length() - 1)
        for clause in same:
            for theirs in _other_names(matter, clause, mask):
                swapped = _is_swap(matter, name, theirs, mask)
                if swapped or matter.is_foreign(name, mask) or not matter.stands_beside(name, clause):
                    sure = swapped or _same_slot(matter, ours, clause.sentence, theirs)
                    yield name, matter.conflict("name", ours, clause.sentence, theirs) if sure else None


def _other_names(matter: Matter, clause: Clause, mask: int) -> Iterator[Word]:
    text, tongue = matter.text(clause.sentence), matter.evidence.stems.tongue
    for word in clause.source.words:
        if not matter.parts.forms.get(word.key, 0) & mask and is_name(text, word.start, word.end, tongue):
            yield word


def _is_swap(matter: Matter, name: int, rival: Word, mask: int) -> bool:
    """Whether another clause of the claim has the rival where the source has the name."""
    parts = matter.parts
    rivals = parts.forms.get(rival.key, 0)
    for other in (stretch.mask for stretch in parts.clauses):
        bits = next((group for group in name_groups(parts, other & parts.names) if group & rivals), rivals)
        if other != mask and other & bits:
            same = matter.same(other & ~bits & ~name)
            if same and any(clause.mask & name for clause in same) and not any(clause.mask & bits for clause in same):
                return True
    return False


def _same_slot(matter: Matter, ours: Word | Quantity, at: int, theirs: Word | Quantity) -> bool:
    """Whether a word with content stands next to both, the one in the claim and the one in the source."""
    sentence, parts = matter.evidence.sentences[at], matter.parts
    mine = _beside(matter, parts.text, 0, len(parts.text), ours)
    yours = _beside(matter, matter.text(at), sentence.start, sentence.end, theirs)
    bits = matter.bits(mine)
    return any(parts.forms.get(key, 0) & bits for key in yours)


def _beside(matter: Matter, text: str, low: int, high: int, part: Word | Quantity) -> frozenset[str]:
    """The words with content nearest to a part of a text."""
    words = list(read_words(text, low, high, matter.evidence.stems))
    before = [word.key for word in words if word.end <= part.start][-SLOT:]
    after = [word.key for word in words if word.start >= part.end][:SLOT]
    return frozenset((*before, *after))


def _words(matter: Matter, mask: int) -> Iterator[Displaced]:
    """Words of weight that the source has elsewhere, while on the same matter it has a word of another clause of the claim, or
    another word before the one that they belong to; or both places speak of more than the clause does."""
    parts = matter.parts
    rest = mask & parts.heavy & ~parts.names
    for bit in range(len(parts.words)):
        if not rest >> bit & 1:
            continue
        same = matter.same(mask & ~(1 << bit))
        if not same or any(clause.mask >> bit & 1 for clause in same):
            continue
        if (matter.is_foreign(1 << bit, mask) and matter.speaks_of_more(same[0], mask)) or (
            not any(matter.stands_beside(1 << bit, clause) for clause in same) and _has_other(matter, bit, mask, same[0])
        ):
            yield 1 << bit, None


def _has_other(matter: Matter, bit: int, mask: int, clause: Clause) -> bool:
    parts, light, words = matter.parts, matter.evidence.stems.light, clause.source.words
    if any(stretch.mask != mask and stretch.mask & clause.mask & parts.heavy & ~mask for stretch in parts.clauses):
        return True
    place = parts.order.index(bit)
    for belongs in parts.order[place + 1 : place + 1 + SLOT]:
        if (mask & clause.mask) >> belongs & 1:
            at = next((at for at, word in enumerate(words) if parts.forms.get(word.key, 0) >> belongs & 1), 0)
            return at > 0 and words[at - 1].key not in light and words[at - 1].key not in parts.forms
    return False


def _scattered(matter: Matter, mask: int) -> int:
    """The words of weight that the best window of the clause does not hold, although another one does."""
    heavy = mask & matter.parts.heavy
    best = max((window.mask & heavy for window in matter.windows), key=matter.parts.weight, default=0)
    return heavy & ~best & union(matter.windows)
