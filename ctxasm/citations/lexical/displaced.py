"""Figures and names that the sources have, but not where the claim has them: "Beginners are taught by Susanna" where the source
lets Gareth teach them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxasm.citations.lexical.around import Around, arounds
from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.citations.lexical.parts import is_name, name_groups
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.windows import union
from ctxasm.citations.lexical.words import Word, read_words
from ctxasm.model.support import Conflict, ConflictKind

_KINDS: dict[str, ConflictKind] = {"date": "date", "month": "date", "weekday": "date"}
CLOSE = 0.85
"""A clause that holds this share of the other words of a claim's clause says the same but for a figure."""
_LOW, _HIGH = ("least", "above"), ("limit", "below")
_SIDES = {"from": "low", "after": "low", "until": "high", "before": "high"}
Displaced = tuple[int, Conflict | None]
"""Bits that stand elsewhere, and what the source has in their place where that is certain."""


def find_displaced(matter: Matter, mask: int) -> Iterator[Displaced]:
    """What of a clause of the claim (its bits) the source has elsewhere."""
    if not mask & (matter.parts.names | matter.parts.all_quantities):
        return
    yield from _turned_figures(matter, mask)
    if matter.holds_all(mask):
        return
    yield from _figures(matter, mask)
    yield from _names(matter, mask)


def _figures(matter: Matter, mask: int) -> Iterator[Displaced]:
    """Figures that the source, on the same matter, does not have, with the one that it has instead."""
    parts = matter.parts
    for bit, ours in enumerate(parts.quantities, len(parts.words)):
        same = matter.same(mask & ~(1 << bit)) if mask >> bit & 1 else []
        if not same or any(clause.mask >> bit & 1 for clause in same) or _stands_alone(matter, bit):
            continue
        rivals = _rivals(matter, ours, bit, same)
        if rivals:
            word_for_word = _is_close(matter, mask & ~(1 << bit), same[0])
            sure = next((rival for rival in rivals if _is_sure(matter, ours, *rival, word_for_word=word_for_word)), None)
            yield 1 << bit, None if sure is None else matter.conflict(_KINDS.get(ours.kind, "number"), ours, *sure)


def _is_sure(matter: Matter, ours: Quantity, at: int, theirs: Quantity, *, word_for_word: bool) -> bool:
    """Whether the source surely says otherwise: it has the claim's figure nowhere, or all else word for word; the claim has that of
    the source nowhere; and both have the same unit or count the same."""
    if any(theirs.agrees(other) for other in matter.parts.quantities):
        return False
    if _stands_anywhere(matter, ours) and not word_for_word:
        return False
    return bool(ours.unit) or ours.kind != "number" or _counts_the_same(matter, ours, at, theirs)


def _is_close(matter: Matter, others: int, clause: Clause) -> bool:
    """Whether a clause holds almost all else of a clause of the claim, two words of weight at least."""
    held = others & clause.mask
    enough = matter.parts.weight(held) >= CLOSE * matter.parts.weight(others & ~matter.parts.all_quantities)
    return enough and (held & matter.parts.heavy).bit_count() >= 2


def _stands_anywhere(matter: Matter, ours: Quantity) -> bool:
    """Whether the sources of the windows have a figure in any sentence."""
    numbers = {at for window in matter.windows for at in matter.evidence.of_source[window.source]}
    return any(ours.agrees(theirs) for at in numbers for theirs in matter.evidence.quantities(at))


def _counts_the_same(matter: Matter, ours: Quantity, at: int, theirs: Quantity) -> bool:
    """Whether the next word with content is the same after both figures."""
    stems, parts, sentence = matter.evidence.stems, matter.parts, matter.evidence.sentences[at]
    mine = matter.next_word(ours.end)
    yours = next(read_words(matter.text(at), theirs.end, sentence.end, stems), None)
    return mine is not None and yours is not None and bool(parts.forms.get(yours.key, 0) & matter.bits(frozenset((mine.key,))))


def _rivals(matter: Matter, ours: Quantity, bit: int, same: list[Clause]) -> list[tuple[int, Quantity]]:
    """Other figures of its sort in the clauses of the same matter, or beside them where the figure does not stand there itself."""
    places = {(clause.sentence, clause.source.segment) for clause in same}
    segments = [clause for clause in matter.clauses if (clause.sentence, clause.source.segment) in places]
    where = same if any(clause.mask >> bit & 1 for clause in segments) else segments
    return [(clause.sentence, theirs) for clause in where for theirs in clause.source.quantities if ours.rivals(theirs)]


def _turned_figures(matter: Matter, mask: int) -> Iterator[Displaced]:
    """Figures that the source, on the same matter, has with the other direction or limit only ("tot 20 uur", "vanaf 20 uur")."""
    for bit, (ours, around) in enumerate(matter.around if mask & matter.parts.all_quantities else (), len(matter.parts.words)):
        if not mask >> bit & 1 or not (mine := _directions(around)):
            continue
        places = [
            (clause.sentence, theirs, mine & set(map(_turned_round, _directions(other))))
            for clause in matter.same(mask)
            if clause.mask >> bit & 1
            for theirs, other in matter.evidence.once(arounds, clause.sentence)
            if theirs in clause.source.quantities and ours.agrees(theirs)
        ]
        if places and all(turned for _, _, turned in places):
            yield 1 << bit, None if matter.is_narrowed(places[0][0]) else matter.conflict("opposite", ours, *places[0][:2])


def _directions(around: Around) -> set[tuple[str, str]]:
    """What is said of a figure: that it begins or ends something, that it is the least or the most."""
    limit = "low" if around.limit in _LOW else "high" if around.limit in _HIGH else ""
    return {(kind, end) for kind, end in (("side", _SIDES.get(around.side, "")), ("limit", limit)) if end}


def _turned_round(direction: tuple[str, str]) -> tuple[str, str]:
    return direction[0], "high" if direction[1] == "low" else "low"


def _stands_alone(matter: Matter, bit: int) -> bool:
    """Whether a clause that holds a bit speaks of nothing else ("In 2018 there were 14,200"): it is about what stands before it."""
    for clause in matter.clauses:
        if clause.mask >> bit & 1:
            place = clause.sentence, clause.source.segment
            segment = [other for other in matter.clauses if (other.sentence, other.source.segment) == place]
            if not any(matter.has_other_words(other, matter.parts.everything) for other in segment):
                return True
    return False


def _names(matter: Matter, mask: int) -> Iterator[Displaced]:
    """Names where the source, on the same matter, has another name."""
    for name in name_groups(matter.parts, mask & matter.parts.names):
        same = matter.same(mask & ~name)
        if not same or any(clause.mask & name for clause in same):
            continue
        ours = matter.parts.part((name & -name).bit_length() - 1)
        for clause in same:
            for theirs in _other_names(matter, clause, mask):
                if _is_swap(matter, name, theirs, mask) or _replaces(matter, name, clause, theirs):
                    yield name, matter.conflict("name", ours, clause.sentence, theirs)


def _replaces(matter: Matter, name: int, clause: Clause, theirs: Word) -> bool:
    """Whether a name that no window holds would stand just where the source has another: between the same words on both sides."""
    parts, forms, words = matter.parts, matter.parts.forms, clause.source.words
    if name & union(matter.windows):
        return False
    at = [place for place, bit in enumerate(parts.order) if name >> bit & 1]
    low, high = words.index(theirs), words.index(theirs)
    text, tongue = matter.text(clause.sentence), matter.evidence.stems.tongue
    while high + 1 < len(words) and is_name(text, words[high + 1].start, words[high + 1].end, tongue):
        high += 1
    mine = [parts.order[place] if 0 <= place < len(parts.order) else None for place in (at[0] - 1, at[-1] + 1)]
    yours = [forms.get(words[place].key, 0) if 0 <= place < len(words) else 0 for place in (low - 1, high + 1)]
    known = [(bit, held) for bit, held in zip(mine, yours, strict=True) if bit is not None]
    return bool(known) and all(held >> bit & 1 for bit, held in known)


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
