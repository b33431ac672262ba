"""Words and figures that changed places: "Bergen beat Oslo" for "Oslo beat Bergen", "3 million in 2020 and 5 in 2021" for the other way
round, and a word that stands where the source has another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.operators import read_operators
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.model.support import Gated
from ctxasm.text.terms import folded

_TOKEN = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*|[;:()\n]")
_SKIPPED = frozenset(
    "the a an de het een der die das den dem des ein eine einen einem einer eines his her its their our zijn haar hun seine ihre and en und or of oder".split()
)
"""Articles and what only joins: they are no neighbours."""


class Item(NamedTuple):
    """A word or figure of the claim (its bits) at characters `start` to `end` of a text, between two neighbours."""

    bits: int
    start: int
    end: int
    left: str
    right: str


def find_swaps(matter: Matter) -> Iterator[Gated]:
    """Two words of weight, names or figures of the claim of which each stands where the source has the other."""
    ours = _items(matter, matter.parts.text, 0, len(matter.parts.text), _own_spans(matter))
    figures = matter.parts.all_quantities
    for at in matter.numbers:
        sentence = matter.evidence.sentences[at]
        theirs: dict[int, list[Item]] = {}
        for item in _items(matter, matter.text(at), sentence.start, sentence.end, _source_spans(matter, at)):
            theirs.setdefault(item.bits, []).append(item)
        for place, one in enumerate(ours):
            for other in ours[place + 1 :]:
                alike = bool(one.bits & figures) == bool(other.bits & figures)
                if alike and one.bits in theirs and other.bits in theirs and _are_swapped(one, other, theirs[one.bits], theirs[other.bits]):
                    source = matter.text(at)
                    both = (theirs[one.bits][0], theirs[other.bits][0])
                    low, high = min(item.start for item in both), max(item.end for item in both)
                    yield Gated("roles", matter.parts.text[one.start : other.end], source[low:high])
                    return


def find_replaced(matter: Matter) -> Iterator[Gated]:
    """A word of weight or name of the claim that another sentence has, where the sentence that has all else has another word."""
    parts, text = matter.parts, matter.parts.text
    wanted = parts.heavy | parts.all_quantities
    best = max(matter.numbers, key=lambda at: parts.weight(matter.held(at)))
    here = matter.held(best)
    sentence = matter.evidence.sentences[best]
    there = [token for token in _tokens(matter.text(best), sentence.start, sentence.end)]
    for item in _items(matter, text, 0, len(text), _own_spans(matter)):
        if item.bits & here or not item.bits & wanted:
            continue
        for before, rival, after in zip(("^", *(plain for _, _, plain in there)), there, (*(plain for _, _, plain in there[1:]), "$"), strict=False):
            if (before, after) == (item.left, item.right) and _tells(matter, before, after) and not _is_known(matter, rival, best):
                yield Gated("roles", text[item.start : item.end], matter.text(best)[rival[0] : rival[1]])
                return


def _tells(matter: Matter, before: str, after: str) -> bool:
    """Whether two neighbours make a place: words both, or a word with content at the edge of a sentence."""
    inner = [plain for plain in (before, after) if plain not in ("^", "$")]
    return len(inner) == 2 or any(matter.evidence.stems.key(plain) for plain in inner)


def _is_known(matter: Matter, token: tuple[int, int, str], at: int) -> bool:
    """Whether a token of a sentence is a word of the claim, or none of weight."""
    for clause in matter.clauses:
        if clause.sentence == at:
            for word in clause.source.words:
                if word.start == token[0]:
                    return bool(matter.parts.forms.get(word.key, 0)) or word.key in matter.evidence.stems.light
    return True


def _tokens(text: str, low: int, high: int) -> list[tuple[int, int, str]]:
    tokens = [(match.start(), match.end(), folded(match.group())) for match in _TOKEN.finditer(text, low, high)]
    return [token for token in tokens if token[2] not in _SKIPPED]


def _are_swapped(one: Item, other: Item, one_there: Sequence[Item], other_there: Sequence[Item]) -> bool:
    """Whether each of two has a neighbour that the other has in the source, and none of those that it has there itself."""
    crossed = _stands(one, other_there) and _stands(other, one_there)
    return one.bits != other.bits and crossed and not (_stands(one, one_there) or _stands(other, other_there))


def _stands(item: Item, there: Sequence[Item]) -> bool:
    return any(item.left == theirs.left or item.right == theirs.right for theirs in there)


def _own_spans(matter: Matter) -> list[tuple[int, int, int]]:
    parts = matter.parts
    inside = [(quantity.start, quantity.end, 1 << bit) for bit, quantity in enumerate(parts.quantities, len(parts.words))]
    turning = read_operators(parts.text, 0, len(parts.text), matter.evidence.stems.tongue)
    words = [
        (word.start, word.end, 1 << bit)
        for bit, word in enumerate(parts.words)
        if parts.heavy >> bit & 1 and not any(op.start <= word.start < op.end for op in turning)
        if matter.evidence.stems.tongue != "de" or parts.text[word.start].isupper()
    ]
    return sorted((*inside, *words))


def _source_spans(matter: Matter, at: int) -> list[tuple[int, int, int]]:
    parts = matter.parts
    figures = matter.evidence.quantities(at)
    spans = [
        (theirs.start, theirs.end, 1 << bit)
        for theirs in figures
        for bit, ours in enumerate(parts.quantities, len(parts.words))
        if ours.agrees(theirs)
    ]
    for clause in matter.clauses:
        if clause.sentence == at:
            for word in clause.source.words:
                bits = parts.forms.get(word.key, 0) & parts.heavy
                if bits and not any(figure.start <= word.start < figure.end for figure in figures):
                    spans.append((word.start, word.end, bits & -bits))
    return sorted(spans)


def _items(matter: Matter, text: str, low: int, high: int, spans: Sequence[tuple[int, int, int]]) -> list[Item]:
    """The words and figures with the words before and after them; names of several words are one."""
    joined: list[tuple[int, int, int]] = []
    for start, end, bits in spans:
        both = joined and (joined[-1][2] | bits) & ~matter.parts.names == 0
        if both and text[joined[-1][1] : start].strip() == "":
            joined[-1] = joined[-1][0], end, joined[-1][2] | bits
        else:
            joined.append((start, end, bits))
    tokens = _tokens(text, low, high)
    found: list[Item] = []
    for start, end, bits in joined:
        before = next((plain for _, stop, plain in reversed(tokens) if stop <= start), "^")
        after = next((plain for begin, _, plain in tokens if begin >= end), "$")
        found.append(Item(bits, start, end, before, after))
    return found


def find_pairs(matter: Matter) -> Iterator[Gated]:
    """Two figures of the claim that belong together in it, while in the source each belongs to another one of the same sort."""
    ours = [(bit, quantity) for bit, quantity in enumerate(matter.parts.quantities, len(matter.parts.words))]
    if len(ours) < 2:
        return
    text = matter.parts.text
    mine = [quantity for _, quantity in ours]
    for one in mine:
        partner = _partner(text, one, mine)
        if partner is None:
            continue
        wrong: str | None = None
        for at in matter.numbers:
            there, theirs = matter.text(at), matter.evidence.quantities(at)
            for other in theirs:
                if not one.agrees(other):
                    continue
                found = _partner(there, other, [each for each in theirs if _sort(each) == _sort(partner)])
                if found is None or partner.agrees(found):
                    wrong = None
                    break
                held = [each for each in theirs if partner.agrees(each)]
                if held and not any(_partner(there, each, [each2 for each2 in theirs if one.rivals(each2) or one.agrees(each2)]) == other for each in held):
                    wrong = there[min(other.start, found.start) : max(other.end, found.end)]
            else:
                continue
            break
        if wrong is not None:
            yield Gated("roles", text[min(one.start, partner.start) : max(one.end, partner.end)], wrong)
            return


def _sort(quantity: Quantity) -> tuple[str, str, bool]:
    return ("year" if quantity.kind == "date" else quantity.kind, quantity.unit, quantity.is_year)


def _partner(text: str, one: Quantity, others: Sequence[Quantity]) -> Quantity | None:
    """The figure of another sort that stands nearest, one of the same clause first."""
    rest = [other for other in others if other != one and _sort(other) != _sort(one)]
    return min(rest, key=lambda other: _distance(text, one, other), default=None)


def _distance(text: str, one: Quantity, other: Quantity) -> tuple[int, int]:
    low, high = (one.end, other.start) if one.start < other.start else (other.end, one.start)
    between = text[low:high]
    return len(re.findall(r"[,;:]|\b(?:and|en|und|to|tot|bis)\b", between)), len(between)
