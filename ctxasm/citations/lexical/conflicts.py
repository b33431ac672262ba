"""Where a source says otherwise: it denies what the claim affirms, or has another figure or name where the claim has its own.

Only a conflict makes a claim *contradicted*. "Beginners are taught by Susanna" conflicts with a source that lets Gareth teach them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxasm.citations.lexical.around import Around, arounds
from ctxasm.citations.lexical.clause_subjects import Clause, Matter
from ctxasm.citations.lexical.parts import Stretch, is_name, name_groups
from ctxasm.citations.lexical.polarity import Said, without_prefix
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.windows import union
from ctxasm.citations.lexical.words import Word, read_words
from ctxasm.model.support import Conflict, ConflictKind

_FORBIDDING = frozenset(("§may", "§must"))
"""Concepts whose opposite denies what a clause is about ("forbidden")."""
ABOUT = 0.6
"""The share of a claim's clause that a clause must hold to contradict it."""
SHARED = 2
"""Words of weight that a clause must share with a claim to speak of it."""
_REFUSING = frozenset(("§may", "§must", "§stop", "§accept"))
"""Concepts whose opposite is a denial in itself: "forbidden", "stop"."""
_RELATING = frozenset(("§before", "§more"))
"""Concepts that say how two things stand to each other."""
_KINDS: dict[str, ConflictKind] = {"date": "date", "month": "date", "weekday": "date"}
CLOSE = 0.85
"""A clause that holds this share of the other words of a claim's clause says the same but for a figure."""
_LOW, _HIGH = ("least", "above"), ("limit", "below")
_SIDES = {"from": "low", "after": "low", "until": "high", "before": "high"}
Displaced = tuple[int, Conflict | None]
"""Bits that stand elsewhere, and what the source has in their place where that is certain."""


def find_conflict(matter: Matter) -> tuple[int, Conflict | None]:
    """The bits that the sources have elsewhere than the claim, and the first conflict."""
    displaced, conflict, signs = 0, None, has_signs(matter)
    for stretch in matter.parts.clauses:
        for bits, found in find_displaced(matter, stretch.mask):
            displaced |= bits
            conflict = conflict or found
        for denied in denied_conflicts(matter, stretch) if signs else ():
            conflict = conflict or denied
    both = conflict is not None and conflict.kind == "opposite" and _has_both_times(matter)
    return displaced, None if both else conflict


def _has_both_times(matter: Matter) -> bool:
    """Whether a sentence has the claim's word of time beside its opposite: "A led it until 2014, and B has led it since"."""
    ours = {op.meaning for op in matter.operators if op.kind == "time"}
    found = ({op.meaning for op in matter.evidence.operators(at) if op.kind == "time"} for at in matter.numbers)
    return bool(ours) and any(ours < theirs for theirs in found)


def has_signs(matter: Matter) -> bool:
    """Whether the claim or its windows deny anything, or have a word that says the opposite of another: else nothing is found."""
    return matter.parts.has_signs or any(matter.evidence.has_signs(at) for at in matter.numbers)


def denied_conflicts(matter: Matter, stretch: Stretch) -> Iterator[Conflict | None]:
    """A concept that a clause of the claim affirms and the source, on the same matter, denies, or the other way round.

    None where an exception, a condition or another clause of the same sentence may explain it.
    """
    every = matter.signed
    inside = [said for said in matter.said if stretch.start <= said.end and said.start < stretch.end]
    for ours in inside:
        base = without_prefix(ours.concept, matter.evidence.stems)
        if (ours.concept, -ours.sign) not in every and (base, ours.sign) not in every:
            continue
        if any(other.concept == ours.concept and other.sign != ours.sign for other in inside):
            continue
        own = sum(1 << bit for bit, word in enumerate(matter.parts.words) if ours.start <= word.start < ours.end)
        theirs = _said(matter, stretch.mask & ~own)
        known, sign = theirs.get(ours.concept), ours.sign
        if known is None and base in theirs:
            known, sign = theirs[base], -sign
        if known is not None and sign not in known:
            kind: ConflictKind = "opposite" if ours.concept.startswith("§") or sign != ours.sign else "negation"
            at, said = known[-sign]
            alike = kind == "negation" or ours.concept in _REFUSING or (ours.denied and sign == ours.sign)
            around = matter.said if _is_listed(matter, ours) else _around(matter, ours)
            if not alike or not (_refuses(around) and _refuses(_beside(matter, at, said))):
                open_to_doubt = matter.is_narrowed(at) or _says_both(matter, at, said.concept) or not _is_about(matter, at, said, stretch)
                open_to_doubt = open_to_doubt or _is_turned_round(matter, ours, at, said)
                yield None if open_to_doubt else matter.conflict(kind, ours, at, said)


def _is_about(matter: Matter, at: int, said: Said, stretch: Stretch) -> bool:
    """Whether the clause that says otherwise holds most of the claim's clause: two words of weight and `ABOUT` of all."""
    clause, heavy = _clause_of(matter, at, said), stretch.mask & matter.parts.heavy
    if clause is None:
        return False
    held = clause.mask & heavy
    return held.bit_count() >= SHARED and matter.parts.weight(held) >= ABOUT * matter.parts.weight(heavy)


def _says_both(matter: Matter, at: int, concept: str) -> bool:
    """Whether a sentence affirms and denies the same concept."""
    return len({said.sign for said in matter.evidence.said(at) if said.concept == concept}) > 1


def _is_turned_round(matter: Matter, ours: Said, at: int, theirs: Said) -> bool:
    """Whether what stands on either side of a relation stands on the other side of its opposite: "A after B", "B before A"."""
    if ours.concept not in _RELATING:
        return False
    words = [word for clause in matter.clauses if clause.sentence == at for word in clause.source.words]
    left = right = 0
    for word in words:
        bits = matter.parts.forms.get(word.key, 0) & matter.parts.heavy
        left |= bits if word.end <= theirs.start else 0
        right |= bits if word.start >= theirs.end else 0
    before, after = matter.between(0, ours.start), matter.between(ours.end, len(matter.parts.text))
    return bool(before & ~after & right & ~left and after & ~before & left & ~right)


def _refuses(said: Sequence[Said]) -> bool:
    """Whether anything is denied, or refused by a word of its own: two clauses that both do may put it on different words."""
    return any((one.denied and not one.bare) or (one.sign < 0 and one.concept in _FORBIDDING) for one in said)


def _is_listed(matter: Matter, ours: Said) -> bool:
    """Whether the clause of the claim that holds a word has no other, as in a list: "tea and milk may not be sold"."""
    spans = [(low, high) for low, high in matter.spans if low <= ours.start < high]
    return sum(low <= word.start < high for low, high in spans for word in matter.words) == 1


def _around(matter: Matter, ours: Said) -> list[Said]:
    """What the clauses of the claim that hold some words say."""
    spans = [(low, high) for low, high in matter.spans if low <= ours.end and ours.start < high]
    return [said for said in matter.said if any(low <= said.end and said.start < high for low, high in spans)]


def _beside(matter: Matter, at: int, said: Said) -> list[Said]:
    """What the clause that holds some words says."""
    clause = _clause_of(matter, at, said)
    if clause is None:
        return []
    return [other for other in matter.evidence.said(at) if clause.source.start <= other.end and other.start < clause.source.end]


def _clause_of(matter: Matter, at: int, said: Said) -> Clause | None:
    for clause in matter.clauses:
        if clause.sentence == at and clause.source.start <= said.end and said.start < clause.source.end:
            return clause
    return None


def _said(matter: Matter, others: int) -> dict[str | None, dict[int, tuple[int, Said]]]:
    """What the source says on the matter of some bits: by concept, by sign, the sentence and the words."""
    found: dict[str | None, dict[int, tuple[int, Said]]] = {}
    for clause in matter.same_clauses(others):
        for said in matter.evidence.said(clause.sentence):
            if clause.source.start <= said.end and said.start < clause.source.end:
                found.setdefault(said.concept, {}).setdefault(said.sign, (clause.sentence, said))
    return found


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
