"""Words and figures that changed places: "Bergen beat Oslo" for "Oslo beat Bergen", "3 million in 2020 and 5 in 2021" for the other way
round, and a word that stands where the source has another one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, combinations, islice, pairwise, takewhile
from typing import NamedTuple

from ctxasm.citations.lexical.clause_subjects import Clause, Matter, operators_of, words_of
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.lexicon import reading_words
from ctxasm.citations.lexical.parts import Parts
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.windows import union
from ctxasm.citations.lexical.words import LETTERS, SUBJECTS, read_words
from ctxasm.model.support import Gated
from ctxasm.text.terms import folded

_TOKEN = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*|[;:()\n]")
SKIPPED = frozenset(
    re.findall(
        r"\w+",
        "the a an and or de het een en der die das den dem des ein eine einen einem einer eines und oder "
        "his her its their our zijn haar hun seine seinen ihre ihren",
    )
)
"""Articles and what only joins: they are no neighbours."""
_STOPS = frozenset(";:()\n")
_BEFORE = re.compile(r"[^\W_]+|[^\w\s]")
LONGEST_LEAD = 60
"""Characters before a word that a preposition of it is looked for in."""
_EDGES = ("^", "$")
LONGEST_ITEM = 3
"""Words next to each other in both texts that may have changed places as one."""
CONTENT = 2
"""The fit of words beside a neighbour with content."""
BOTH_SIDES = 4
"""The fit of words between the same neighbours with content."""
SHORT = 7
"""Words of weight and figures of a claim that, not being a copy, has to say them in the order of its source."""
_BEGINNING = frozenset(("condition", "cause", "exception", "time"))
"""Kinds of the words that begin what may stand before or behind the rest."""
LONGEST_RIVAL = 3
"""Words of a source that may stand in the place of one."""
MOST_MOVED, MOST_ALIKE = 60, 8
"""Words of a claim that are tried in each other's place, and places of a word in a sentence: more are no sentence but a list, and time
grows with their square.
"""
_PRONOUNS = frozenset(("es", *chain.from_iterable(SUBJECTS.values())))
"""What a word may not stand for that is nowhere in the source."""
BEING = frozenset(re.findall(r"\w+", "is are was were be been being wordt worden werd werden geworden wird wurde wurden"))
_BEFORE_NOUN = re.compile(r"\s+[A-ZÄÖÜ]")
_BY = frozenset(("by", "door", "von", "vom", "durch"))
_OWNS = re.compile(r"\w+['’]s\b")
_OWNED = re.compile(r"\w+(?:['’]s|s['’])\s+\w+")
_OWNED_BY = re.compile(r"\w+\s+(?:of|van|von)\b")
"""One thing of another, in either order: "the manager's office", "the office of the manager"."""
_CASES = frozenset(("der", "den", "dem", "einen", "einem"))
_JOINED = re.compile(r"\s*(?:,\s*)?(?:(?:and|or|en|of|und|oder)\b\s*)(?:(?:the|a|de|het|een|die|der|das|den)\s+)?|\s*,\s*")
"""What makes a list of two, whose order tells nothing."""
_JOIN = re.compile(r"[,;:]|\b(?:and|en|und|to|tot|bis)\b", re.IGNORECASE)

Span = tuple[int, int, int]
"""A word or figure at characters, with its bit of the claim."""


Gap = tuple[str, int, int]
"""A text, and where two words of it begin."""


class Item(NamedTuple):
    """Words or a figure of the claim (their bits, in order) at characters `start` to `end`, with two neighbours on each side.

    `article` is the German one before them that says whether they are the subject.
    """

    bits: tuple[int, ...]
    start: int
    end: int
    left: tuple[str, str]
    right: tuple[str, str]
    article: str


class Order:
    """The words of weight and figures of a claim, and those of its sentences, with their neighbours."""

    def __init__(self, matter: Matter) -> None:
        self.matter = matter
        self.stems = matter.evidence.stems
        self.text = matter.parts.text
        self._known_items: dict[int, list[Item]] = {}
        self.spans, self.items, self._is_passive = matter.parts.once(_own, matter.evidence)
        self._placing = reading_words(self.stems.tongue)["placing"]

    def _items_of(self, at: int) -> list[Item]:
        """The items in a sentence of a source, remembered."""
        known = self._known_items.get(at)
        if known is None:
            known = self._known_items[at] = _items(self.matter.text(at), self.there(at), self.matter.evidence.once(_tokens_of, at))
        return known

    def there(self, at: int) -> list[Span]:
        """The same words and figures in a sentence of a source."""
        parts = self.matter.parts
        figures = self.matter.evidence.quantities(at)
        spans = [
            (theirs.start, theirs.end, 1 << bit)
            for theirs in figures
            for bit, ours in enumerate(parts.quantities, len(parts.words))
            if ours.agrees(theirs)
        ]
        for clause in self.matter.clauses:
            if clause.sentence == at:
                for word in clause.source.words:
                    bits = parts.forms.get(word.key, 0) & parts.heavy
                    if bits and not any(figure.start <= word.start < figure.end for figure in figures):
                        spans.append((word.start, word.end, bits & -bits))
        return sorted(spans)

    def swapped(self) -> Iterator[Gated]:
        """Two words, names or figures of the claim of which each stands where the source has the other."""
        ours = self.items
        for at in self.matter.numbers:
            text = self.matter.text(at)
            theirs: dict[tuple[int, ...], list[Item]] = {}
            for item in self._items_of(at):
                if len(same := theirs.setdefault(item.bits, [])) < MOST_ALIKE:
                    same.append(item)
            if not self._is_voice_of(at):
                continue
            known = [(item, theirs[item.bits]) for item in ours if item.bits in theirs]
            moved = [(item, there, fit) for item, there in known if (fit := self._fit(item, there)) < BOTH_SIDES]
            for place, (one, one_there, one_fit) in enumerate(moved[:MOST_MOVED]):
                for other, other_there, other_fit in moved[place + 1 : MOST_MOVED]:
                    fits_better = self._fit(one, other_there) > one_fit and self._fit(other, one_there) > other_fit
                    if fits_better and self._may_be_swapped(one, other, one_there, other_there) and not self._is_said_so(one, other, at):
                        both = (one_there[0], other_there[0])
                        claim = self.text[min(one.start, other.start) : max(one.end, other.end)]
                        source = text[min(item.start for item in both) : max(item.end for item in both)]
                        if not _is_one_of_another(claim, source):
                            yield Gated("roles", claim, source)
                            return

    def _may_be_swapped(self, one: Item, other: Item, one_there: Sequence[Item], other_there: Sequence[Item]) -> bool:
        """Whether nothing tells that two items which fit better in each other's place were not swapped."""
        if set(one.bits) & set(other.bits) or self._is_figure(one) != self._is_figure(other):
            return False
        between = self.text[min(one.end, other.end) : max(one.start, other.start)]
        both = ((one, one_there), (other, other_there))
        if _tells_nothing(between) or any(item.article and any(item.article == each.article for each in there) for item, there in both):
            return False
        return not (self._keeps_its_place(one, one_there, other_there) or self._keeps_its_place(other, other_there, one_there))

    def _is_said_so(self, one: Item, other: Item, but: int) -> bool:
        """Whether another sentence has two items in the places that they have in the claim."""
        for at in self.matter.numbers:
            items = self._items_of(at) if at != but else []
            places = [[each for each in items if each.bits == item.bits] for item in (one, other)]
            if all(places):
                own = self._fit(one, places[0]) + self._fit(other, places[1])
                if own >= CONTENT and own >= self._fit(one, places[1]) + self._fit(other, places[0]):
                    return True
        return False

    def _keeps_its_place(self, item: Item, own: Sequence[Item], others: Sequence[Item]) -> bool:
        """Whether both words beside an item, on one side, are those of its own place only: "shorter than the Tay but …"."""
        return self._has_place(item, own) and not self._has_place(item, others)

    def _has_place(self, item: Item, there: Sequence[Item]) -> bool:
        """Whether both words beside an item, on one side, are those of some place."""
        sides = ((side, place) for one in there for side, place in ((item.left, one.left), (item.right, one.right)))
        return any(side == place and self._weighs(side) for side, place in sides)

    def _weighs(self, side: tuple[str, str]) -> bool:
        return all(word not in _EDGES for word in side) and any(self.stems.key(word) for word in side)

    def _is_figure(self, item: Item) -> bool:
        return bool(item.bits[0] & self.matter.parts.all_quantities)

    def _fit(self, item: Item, there: Sequence[Item]) -> int:
        """How well words fit the best of some places: CONTENT for a neighbour with content, 1 for another or an edge, on each side."""
        left, right = item.left[0], item.right[0]
        beside = [(left == one.left[0], right == one.right[0]) for one in there]
        if not any(map(any, beside)):
            return 0
        lefts, rights = self._worth(left), self._worth(right)
        return max(is_left * lefts + is_right * rights for is_left, is_right in beside)

    def _worth(self, neighbour: str) -> int:
        return CONTENT if neighbour not in _EDGES and self.stems.key(neighbour) else 1

    def turned(self) -> Iterator[Gated]:
        """Who does it and to whom it is done in the same order in both voices: "A was beaten by B", "A beat B"."""
        for at in self.matter.numbers:
            text, (low, high) = self.matter.text(at), self.matter.evidence.span(at)
            if self._is_voice_of(at):
                continue
            ours = (self.text, self.spans, 0, len(self.text))
            theirs = (text, self.there(at), low, high)
            passive, active = (ours, theirs) if self._is_passive else (theirs, ours)
            ends = _ends(*passive)
            order = [bits for _, _, bits in active[1]]  # an end of the other voice may be none of them
            together = ends and any(clause.sentence == at and not sum(ends) & ~clause.mask for clause in self.matter.clauses)
            if ends and together and {*ends} <= {*order} and order.index(ends[0]) < order.index(ends[1]) and self._is_one_deed(at, ends):
                yield Gated("roles", self.text.strip(), text[low:high].strip())
                return

    def _is_one_deed(self, at: int, ends: tuple[int, int]) -> bool:
        """Whether a clause of the claim and one of a sentence have both ends, and another word with them."""
        both = sum(ends)
        ours = [stretch.mask for stretch in self.matter.parts.clauses if stretch.mask & both == both]
        theirs = [clause.mask for clause in self.matter.clauses if clause.sentence == at and clause.mask & both == both]
        return any(one & other & ~both for one in ours for other in theirs)

    def inverted(self) -> Iterator[Gated]:
        """Two words of a short claim that its sources have in the other order only, in the same voice and with another word between them:
        "Vik joins Fors" for "Fors joins Vik"."""
        heavy = self.matter.parts.heavy
        is_short = (heavy | self.matter.parts.all_quantities).bit_count() <= SHORT
        for low, high in self._stretches() if is_short else ():
            inside = [word for word in self.matter.words if low <= word.start < high]
            starts = {bits: word.start for word in reversed(inside) if (bits := self.matter.bits(frozenset((word.key,))) & heavy)}
            for one, other in combinations(sorted(starts, key=starts.__getitem__), 2):
                told = [(clause, places[other][-1], places[one][0]) for clause, places in self._places if {one, other} <= places.keys()]
                turned = all(self._is_voice_of(clause.sentence) and first < last for clause, first, last in told)
                there = [(self.matter.text(clause.sentence), first, last) for clause, first, last in told]
                if told and turned and not self._tell_nothing((self.text, starts[one], starts[other]), there):
                    clause = told[0][0].source
                    yield Gated("roles", self.text[low:high].strip(), there[0][0][clause.start : clause.end].strip())
                    return

    def _tell_nothing(self, ours: Gap, theirs: Sequence[Gap]) -> bool:
        """Whether the order of two words tells nothing, by what stands from the one to the other in the claim, and the other way round in
        each clause: nothing of weight (a verb and its subject), or "is"; or whether a word before one of them tells instead: "on the
        terrace", or a German article."""
        text, low, high = ours
        one = {self._led_by(text, low), *(self._led_by(there, last) for there, _, last in theirs)}
        other = {self._led_by(text, high), *(self._led_by(there, first) for there, first, _ in theirs)}
        if one != other and any(len(led) == 1 and "" not in led for led in (one, other)):
            return True
        if any(_OWNS.match(there, at) for there, *both in (ours, *theirs) for at in both):  # "Orm's lake", "the lake of Orm"
            return True
        inner = [word.key for gap in (ours, *theirs) for word in islice(read_words(*gap, self.stems), 1, None)]
        return self.stems.light >= {*inner} or all(_has_being(*gap) for gap in (ours, *theirs))

    def _led_by(self, text: str, start: int) -> str:
        """What tells the part of a word in its sentence: a German article before it, or a preposition, over two words at most; or none."""
        if case := _case_before(text, start):
            return case
        before = list(takewhile(str.isalnum, reversed(_BEFORE.findall(text, max(0, start - LONGEST_LEAD), start))))[:LONGEST_ITEM]
        return next((word for token in before if (word := folded(token)) in self._placing), "")

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """The clauses of the claim, parted at words such as "if" and "before": what these begin may stand at either end."""
        for low, high in self.matter.spans:
            cuts = [op.start for op in self.matter.operators if op.kind in _BEGINNING and low < op.start < high]
            yield from pairwise((low, *cuts, high))

    @cached_property
    def _places(self) -> list[tuple[Clause, dict[int, list[int]]]]:
        """Where each word of weight of the claim stands in each clause."""
        found: list[tuple[Clause, dict[int, list[int]]]] = []
        for clause in self.matter.clauses:
            places: dict[int, list[int]] = {}
            for word in clause.source.words:
                for bit in _each(self.matter.parts.forms.get(word.key, 0) & self.matter.parts.heavy):
                    places.setdefault(bit, []).append(word.start)
            found.append((clause, places))
        return found

    def _is_voice_of(self, at: int) -> bool:
        return self._is_passive == self.matter.evidence.once(_is_passive_there, at)

    def replaced(self) -> Iterator[Gated]:
        """A word of the claim that stands where the sentence which holds most of the claim has a word that the claim lacks."""
        matter = self.matter
        if not matter.numbers:
            return
        best = max(matter.numbers, key=lambda at: matter.parts.weight(matter.held(at)))
        text = matter.text(best)
        tokens = self.matter.evidence.once(_tokens_of, best)
        spans = self.there(best)
        known = {start for start, _, _ in spans}
        theirs = self._items_of(best)
        places: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for first in range(len(tokens)):
            for last in range(first, min(first + LONGEST_RIVAL, len(tokens))):
                if tokens[last][0] in known or tokens[last][2] in _STOPS:
                    break
                left, right = _beside(tokens, first, last + 1)
                places.setdefault((left[0], right[0]), []).append((first, last + 1))
        for item in self.items:
            rivals = places.get((item.left[0], item.right[0]), ())
            if not rivals:
                continue
            own = [place for place in theirs if place.bits == item.bits]
            if self._fit(item, own) >= CONTENT or self._has_place(item, own) or self._stands_so(item, best):
                continue
            for first, last in rivals:
                if self._may_mean(item, text, tokens[first][0], tokens[last - 1][1]):
                    continue
                if self._is_place(item, *_beside(tokens, first, last)) and self._is_rival(item, text, tokens[first:last]):
                    yield Gated("roles", self.text[item.start : item.end], text[tokens[first][0] : tokens[last - 1][1]])
                    return

    def _may_mean(self, item: Item, text: str, start: int, end: int) -> bool:
        """Whether words of a source may stand for a name that it told before: "the company"."""
        if self.stems.tongue == "de" or _follows_article(self.text, item.start):
            return False
        if not (_follows_article(text, start) and text[start:end].islower()):
            return False
        words = LETTERS.findall(self.text, item.start, item.end)
        return all(word[0].isupper() and not re.search(rf"\b{re.escape(word.lower())}\b", text) for word in words)

    def _stands_so(self, item: Item, but: int) -> bool:
        """Whether another sentence has an item between the same neighbours."""
        for at in self.matter.numbers:
            items = self._items_of(at) if at != but else []
            if self._fit(item, [each for each in items if each.bits == item.bits]) > CONTENT:
                return True
        return False

    def _stands_in_windows(self, item: Item) -> bool:
        """Whether all words of an item are in the windows."""
        held = union(self.matter.windows)
        return all(bits & held for bits in item.bits)

    def _is_place(self, item: Item, left: tuple[str, str], right: tuple[str, str]) -> bool:
        """Whether a place between the same two neighbours is the same: one has content, or the next but one is the same, too."""
        if any(self.stems.key(word) for word in (left[0], right[0]) if word not in _EDGES):
            return True
        return (item.left == left and left[0] != "^") or (item.right == right and right[0] != "$")

    def _is_rival(self, item: Item, text: str, tokens: Sequence[tuple[int, int, str]]) -> bool:
        """Whether words of the source have content of weight of their own, or are a pronoun where the claim names what no source has."""
        if not self._stands_in_windows(item) and any(plain in _PRONOUNS for _, _, plain in tokens):
            return True
        keys = [self.stems.key(text[start:end]) for start, end, _ in tokens]
        return any(key and key not in self.stems.light for key in keys)


def _own(parts: Parts, evidence: Evidence) -> tuple[list[Span], list[Item], bool]:
    """The words of weight and figures of a claim, its items, and whether it is in the passive voice."""
    text, tongue = parts.text, evidence.stems.tongue
    figures = [(quantity.start, quantity.end, 1 << bit) for bit, quantity in enumerate(parts.quantities, len(parts.words))]
    taken = [*((op.start, op.end) for op in parts.once(operators_of, evidence)), *((start, end) for start, end, _ in figures)]
    bits = {word.key: 1 << bit for bit, word in enumerate(parts.words) if parts.heavy >> bit & 1}
    words = [
        (word.start, word.end, bits[word.key])
        for word in parts.once(words_of, evidence)
        if word.key in bits and not any(start <= word.start < end for start, end in taken)
        if tongue != "de" or text[word.start].isupper() or _BEFORE_NOUN.match(text, word.end)
    ]
    spans = sorted((*figures, *words))
    return spans, _items(text, spans, _tokens(text, 0, len(text))), _is_passive(text, 0, len(text))


def _each(bits: int) -> Iterator[int]:
    """The single bits among some."""
    while bits:
        yield bits & -bits
        bits &= bits - 1


def _case_before(text: str, start: int) -> str:
    """The German article before a word that tells whether it is the subject; empty without one."""
    article = [word.casefold() for word in text[max(0, start - 8) : start].split()[-1:]]
    return article[0] if article and article[0] in _CASES else ""


def _tells_nothing(between: str) -> bool:
    """Whether the order of two things tells nothing: in a list of two, or on both sides of "is"."""
    return bool(_JOINED.fullmatch(between)) or between.strip().casefold() in BEING


def _follows_article(text: str, start: int) -> bool:
    before = text[max(0, start - 12) : start].split()[-1:]
    return bool(before) and before[0].casefold() in SKIPPED


def _is_one_of_another(ours: str, theirs: str) -> bool:
    """Whether two things next to each other in two texts are the same, the owner first in one and last in the other."""
    return any(_OWNED.fullmatch(one) and _OWNED_BY.match(other) for one, other in ((ours, theirs), (theirs, ours)))


def _has_being(text: str, low: int, high: int) -> bool:
    return any(match.group().casefold() in BEING for match in LETTERS.finditer(text, low, high))


def _is_passive(text: str, low: int, high: int) -> bool:
    """Whether something is done by somebody; in English with "by" behind a form of "be", for "directed by A, it was" does not say so."""
    words = [word.casefold() for word in LETTERS.findall(text, low, high)]
    being = next((at for at, word in enumerate(words) if word in BEING), len(words))
    done = next((at for at in range(len(words) - 1, -1, -1) if words[at] in _BY), -1)
    return being < len(words) and done >= 0 and (words[done] != "by" or done > being)


def _is_passive_there(evidence: Evidence, at: int) -> bool:
    return _is_passive(evidence.text(at), *evidence.span(at))


def _ends(text: str, spans: Sequence[Span], low: int, high: int) -> tuple[int, int] | None:
    """What the passive voice of a text is about, and by whom it is done; None where either is no word of the claim."""
    being = next((match for match in LETTERS.finditer(text, low, high) if match.group().casefold() in BEING), None)
    if being is None:
        return None
    words = ((match, match.group().casefold()) for match in LETTERS.finditer(text, low, high))
    done = next((match for match, word in words if word in _BY and (word != "by" or match.start() > being.start())), None)
    if done is None:
        return None
    before = [bits for start, _, bits in spans if start < being.start()]
    after = [bits for start, _, bits in spans if start >= done.end()]
    subject, agent = [bits for bits in before if bits not in after], [bits for bits in after if bits not in before]
    return (subject[-1], agent[0]) if subject and agent else None


def _beside(tokens: Sequence[tuple[int, int, str]], first: int, last: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two neighbours before token `first` and those from token `last` on, the nearest first."""
    start, end = _EDGES
    return (_at(tokens, first - 1, start), _at(tokens, first - 2, start)), (_at(tokens, last, end), _at(tokens, last + 1, end))


def _at(tokens: Sequence[tuple[int, int, str]], place: int, edge: str) -> str:
    """The token at a place; an edge where there is none, or a sign that parts."""
    plain = tokens[place][2] if 0 <= place < len(tokens) else edge
    return edge if plain in _STOPS else plain


def _tokens_of(evidence: Evidence, at: int) -> list[tuple[int, int, str]]:
    """The tokens of a sentence."""
    return _tokens(evidence.text(at), *evidence.span(at))


def _tokens(text: str, low: int, high: int) -> list[tuple[int, int, str]]:
    found = ((*match.span(), folded(match.group())) for match in _TOKEN.finditer(text, low, high))
    return [token for token in found if token[2] not in SKIPPED]


def _items(text: str, spans: Sequence[Span], tokens: Sequence[tuple[int, int, str]]) -> list[Item]:
    """The words and figures alone, and up to three words next to each other together."""
    found: list[Item] = []
    starts, ends = [start for start, _, _ in tokens], [end for _, end, _ in tokens]
    for first in range(len(spans)):
        for last in range(first, min(first + LONGEST_ITEM, len(spans))):
            if last > first and text[spans[last - 1][1] : spans[last][0]].strip(" -"):
                break
            start, end = spans[first][0], spans[last][1]
            before, after = bisect_right(ends, start), bisect_left(starts, end)
            left, right = _beside(tokens, before, after)
            found.append(Item(tuple(bits for _, _, bits in spans[first : last + 1]), start, end, left, right, _case_before(text, start)))
    return found


def find_changed_places(matter: Matter) -> Iterator[Gated]:
    """What of a claim stands where the source has something else."""
    if len(matter.parts.order) < 2:
        return
    order = Order(matter)
    yield from [*order.swapped(), *order.turned(), *order.replaced()] or order.inverted()


def find_pairs(matter: Matter) -> Iterator[Gated]:
    """Two figures of the claim that belong together in it, while in the source each belongs to another one of the same sort."""
    mine = matter.parts.quantities
    text = matter.parts.text
    sorts = [_sort(figure) for figure in mine]
    for one, own in zip(mine, sorts, strict=True):
        partner = _nearest(text, one, [other for other, sort in zip(mine, sorts, strict=True) if sort != own])
        wrong = None if partner is None else _belongs_elsewhere(matter, one, partner)
        if partner is not None and wrong is not None and not _are_paired(matter, partner, one):
            yield Gated("roles", text[min(one.start, partner.start) : max(one.end, partner.end)], wrong)
            return


def _belongs_elsewhere(matter: Matter, one: Quantity, partner: Quantity) -> str | None:
    """What the sources pair a figure with instead of its partner; None where some sentence pairs the two, or nothing tells."""
    wrong: str | None = None
    for at in matter.numbers:
        there, theirs = matter.text(at), matter.evidence.quantities(at)
        rivals = [each for each in theirs if _sort(each) == _sort(partner)]
        for other in (each for each in theirs if one.agrees(each)):
            found = _partner(there, other, rivals)
            if found is None or partner.agrees(found):
                return None
            alike = [each for each in theirs if one.rivals(each) or one.agrees(each)]
            if any(partner.agrees(each) and _partner(there, each, alike) != other for each in theirs):
                wrong = there[min(other.start, found.start) : max(other.end, found.end)]
    return wrong


def _are_paired(matter: Matter, one: Quantity, partner: Quantity) -> bool:
    """Whether some sentence pairs a figure with its partner."""
    for at in matter.numbers:
        theirs = matter.evidence.quantities(at)
        rivals = [each for each in theirs if _sort(each) == _sort(partner)]
        found = (_partner(matter.text(at), other, rivals) for other in theirs if one.agrees(other))
        if any(each is not None and partner.agrees(each) for each in found):
            return True
    return False


def _sort(quantity: Quantity) -> tuple[str, str, bool]:
    return ("year" if quantity.kind == "date" else quantity.kind, quantity.unit, quantity.is_year)


def _partner(text: str, one: Quantity, others: Sequence[Quantity]) -> Quantity | None:
    """The figure of another sort that stands nearest, one of the same clause first."""
    own = _sort(one)
    return _nearest(text, one, [other for other in others if _sort(other) != own])


def _nearest(text: str, one: Quantity, others: Sequence[Quantity]) -> Quantity | None:
    return min(others, key=lambda other: _distance(text, one, other), default=None)


def _distance(text: str, one: Quantity, other: Quantity) -> tuple[int, int]:
    low, high = (one.end, other.start) if one.start < other.start else (other.end, one.start)
    return len(_JOIN.findall(text, low, high)), high - low


def find_later(matter: Matter) -> Iterator[Gated]:
    """A word of weight that stands with a figure in the claim, while the source has it in a later clause, with another figure."""
    parts = matter.parts
    for place, figure in enumerate(parts.quantities, len(parts.words)):
        bit = 1 << place
        mask = next((stretch.mask for stretch in parts.clauses if stretch.mask & bit), 0)
        for clause in (clause for clause in matter.clauses if clause.mask & bit):
            for later in matter.clauses:
                follows = later.sentence == clause.sentence and later.source.segment == clause.source.segment
                if not follows or later.source.start <= clause.source.start or later.mask & bit:
                    continue
                words = mask & later.mask & parts.heavy & ~clause.mask
                together = any(other.mask & words and other.mask & bit for other in matter.clauses)
                if words and not together and any(figure.rivals(theirs) for theirs in later.source.quantities):
                    word = parts.part((words & -words).bit_length() - 1)
                    ours = f"{parts.text[figure.start : figure.end]} … {parts.text[word.start : word.end]}"
                    yield Gated("roles", ours, matter.text(later.sentence)[later.source.start : later.source.end].strip())
                    return
