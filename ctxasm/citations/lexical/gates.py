"""What keeps a claim from being carried although its words are there: a wrong figure, a denial, an opposite, a name in another's
place, a word of weight that the source does not have.

Word overlap alone certifies nothing ("45 minutes" for "30 minutes" shares all words but one). Every gate names what it found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxasm.citations.lexical.evidence import LEAST_PREFIX, Evidence
from ctxasm.citations.lexical.polarity import Said, without_prefix
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.windows import Parts, Stretch, Window, is_name, union
from ctxasm.citations.lexical.words import Word, read_words
from ctxasm.model.support import Conflict, ConflictKind

_KINDS: dict[str, ConflictKind] = {"date": "date", "month": "date", "weekday": "date"}
LEAST_SHARE = 0.5
"""A source clause speaks of the same as a clause of the claim when it holds this share of its other words."""
NEARLY = 0.6
"""Clauses that hold this much of what the best one holds speak of the same, too."""
_REFUSING = frozenset(("§may", "§must", "§can", "§stop", "§accept"))
"""Concepts whose opposite is a denial in itself: "forbidden", "stop"."""
_PARTING = ";:()\n"
SLOT = 2
"""Words with content on either side of a word that make the place where it stands."""


class Findings(NamedTuple):
    """What stands against a claim, as bits of it: those that no window holds (`longest` in a row) and, among them, words of weight,
    figures and names; figures and names that stand elsewhere than the claim says; denials that its sources do not have; and a
    conflict."""

    uncovered: int
    longest: int
    heavy: int
    figures: int
    names: int
    displaced: int
    denials: int
    conflict: Conflict | None

    @property
    def stands_against(self) -> bool:
        """Whether anything keeps the claim from being carried, whatever it shares with its sources."""
        return bool(self.heavy or self.figures or self.names or self.displaced or self.denials or self.conflict)


class Clause(NamedTuple):
    """A clause of a source: characters `start` to `end`, its sentence, and the bits of the claim that it holds.

    `segment` is equal for clauses of a sentence that no semicolon, colon or bracket parts.
    """

    start: int
    end: int
    sentence: int
    segment: int
    mask: int


def examine(parts: Parts, windows: Sequence[Window], evidence: Evidence) -> Findings:
    """Everything that stands against a claim in its chosen windows."""
    uncovered = ((1 << len(parts.weights)) - 1) & ~union(windows)
    return _Examination(parts, windows, evidence).findings(uncovered, _in_titles(parts, windows, evidence))


def _in_titles(parts: Parts, windows: Sequence[Window], evidence: Evidence) -> int:
    """The words that the titles of the windows' sources hold, also as the head or tail of a compound."""
    titles = frozenset(key for window in windows for key in evidence.titles[window.source])
    return sum(1 << bit for bit, word in enumerate(parts.words) if any(_is_like(word.key, title) for title in titles))


def _is_like(key: str, title: str) -> bool:
    short, long = sorted((key, title), key=len)
    return short == long or (len(short) >= LEAST_PREFIX and (long.startswith(short) or long.endswith(short)))


class _Examination:
    """A claim against the clauses of its windows."""

    def __init__(self, parts: Parts, windows: Sequence[Window], evidence: Evidence) -> None:
        self._parts = parts
        self._evidence = evidence
        self._windows = windows
        self._matters: dict[int, dict[str, dict[int, tuple[int, Said]]]] = {}
        sentences = dict.fromkeys(at for window in windows for at in range(window.first, window.last + 1))
        self._clauses = [clause for at in sentences for clause in self._of_sentence(at)]
        self._sentences = [self._whole(at) for at in sentences]

    def findings(self, uncovered: int, titles: int) -> Findings:
        parts = self._parts
        words, open_bits = (1 << len(parts.words)) - 1, uncovered & ~titles
        displaced, conflict = 0, None
        for stretch in parts.clauses:
            mask = stretch.mask
            for bits, found in (*self._figures(mask), *self._names(mask), *self._words(mask)):
                displaced |= bits
                conflict = conflict or found
            displaced |= self._scattered(mask)
            conflict = conflict or next(self._polarity(stretch), None)
        return Findings(
            uncovered | (displaced & ~titles),
            _longest_run(parts, open_bits & (parts.heavy | ~words)),
            open_bits & parts.heavy & ~parts.names,
            uncovered & ~words,
            open_bits & parts.names,
            displaced & ~uncovered & ~titles,
            self._lonely_denials(),
            conflict,
        )

    def _of_sentence(self, at: int) -> Iterator[Clause]:
        parts, evidence = self._parts, self._evidence
        text, segment, before = self._text(at), 0, evidence.sentences[at].start
        for start, end in evidence.clauses(at):
            segment += any(mark in text[before:start] for mark in _PARTING)
            mask, before = 0, end
            for word in read_words(text, start, end, evidence.stems):
                mask |= parts.forms.get(word.key, 0)
            for place, ours in enumerate(parts.quantities, len(parts.words)):
                if any(start <= theirs.start < end and ours.agrees(theirs) for theirs in evidence.quantities(at)):
                    mask |= 1 << place
            yield Clause(start, end, at, segment, mask)

    def _whole(self, at: int) -> Clause:
        sentence, mask = self._evidence.sentences[at], 0
        for clause in self._clauses:
            mask |= clause.mask if clause.sentence == at else 0
        return Clause(sentence.start, sentence.end, at, 0, mask)

    def _text(self, at: int) -> str:
        return self._evidence.sources[self._evidence.sentences[at].source].text

    def _same_matter(self, others: int) -> list[Clause]:
        """The clauses that hold most of some bits, the best first; where no clause holds enough, those of the best sentences."""
        return self._best(others, self._clauses) or self._best(others, self._sentences)

    def _best(self, others: int, clauses: Sequence[Clause]) -> list[Clause]:
        weights = [(self._parts.weight(others & clause.mask), clause) for clause in clauses]
        best = max((weight for weight, _ in weights), default=0.0)
        if not best or best < LEAST_SHARE * self._parts.weight(others):
            return []
        return [clause for weight, clause in sorted(weights, key=lambda pair: -pair[0]) if weight >= NEARLY * best]

    def _stands_beside(self, bits: int, clause: Clause) -> bool:
        """Whether bits stand in another clause of the same segment."""
        return any(other.mask & bits and (other.sentence, other.segment) == (clause.sentence, clause.segment) for other in self._clauses)

    def _figures(self, mask: int) -> Iterator[tuple[int, Conflict | None]]:
        """Figures of a clause of the claim that the source, on the same matter, does not have, with the one it has instead."""
        parts = self._parts
        for bit in range(len(parts.words), len(parts.weights)):
            same = self._same_matter(mask & ~(1 << bit)) if mask >> bit & 1 else []
            if not same or any(clause.mask >> bit & 1 for clause in same) or self._stands_alone(bit):
                continue
            ours = parts.quantities[bit - len(parts.words)]
            rivals = [
                (clause.sentence, theirs)
                for clause in same
                for theirs in self._evidence.quantities(clause.sentence)
                if clause.start <= theirs.start < clause.end and ours.rivals(theirs)
            ]
            sure = [rival for rival in rivals if ours.unit or ours.kind != "number" or self._same_slot(ours, *rival)]
            if rivals:
                yield 1 << bit, self._conflict(_KINDS.get(ours.kind, "number"), ours, *sure[0]) if sure else None

    def _stands_alone(self, bit: int) -> bool:
        """Whether a clause that holds a bit speaks of nothing else ("In 2018 there were 14,200"): it is about what stands before it."""
        light, forms = self._evidence.stems.light, self._parts.forms
        for clause in self._clauses:
            if clause.mask >> bit & 1:
                words = read_words(self._text(clause.sentence), clause.start, clause.end, self._evidence.stems)
                if all(word.key in forms or word.key in light or word.key[0].isdigit() for word in words):
                    return True
        return False

    def _scattered(self, mask: int) -> int:
        """The words of weight of a clause of the claim that its best window does not hold, although another one does."""
        heavy = mask & self._parts.heavy
        best = max((window.mask & heavy for window in self._windows), key=self._parts.weight, default=0)
        return heavy & ~best & union(self._windows)

    def _words(self, mask: int) -> Iterator[tuple[int, Conflict | None]]:
        """Words of weight in a clause of the claim that the source has elsewhere, while on the same matter it has a word of
        another clause of the claim, or another word before the one that it belongs to."""
        parts = self._parts
        for bit in range(len(parts.words)):
            if not (mask & parts.heavy & ~parts.names) >> bit & 1:
                continue
            same = self._same_matter(mask & ~(1 << bit))
            if not same or any(clause.mask >> bit & 1 or self._stands_beside(1 << bit, clause) for clause in same):
                continue
            if any(self._has_other(bit, mask, clause) for clause in same[:1]):
                yield 1 << bit, None

    def _has_other(self, bit: int, mask: int, clause: Clause) -> bool:
        parts, light = self._parts, self._evidence.stems.light
        if any(other != mask and other & clause.mask & parts.heavy & ~mask for other in _masks(parts)):
            return True
        place = parts.order.index(bit)
        words = list(read_words(self._text(clause.sentence), clause.start, clause.end, self._evidence.stems))
        for belongs in parts.order[place + 1 : place + 1 + SLOT]:
            if (mask & clause.mask) >> belongs & 1:
                at = next((at for at, word in enumerate(words) if parts.forms.get(word.key, 0) >> belongs & 1), 0)
                return at > 0 and words[at - 1].key not in light and words[at - 1].key not in parts.forms
        return False

    def _names(self, mask: int) -> Iterator[tuple[int, Conflict | None]]:
        """Names of a clause of the claim where the source, on the same matter, has another name."""
        for name in _groups(self._parts, mask & self._parts.names):
            same = self._same_matter(mask & ~name)
            if not same or any(clause.mask & name for clause in same):
                continue
            ours = self._parts.part((name & -name).bit_length() - 1)
            for clause in same:
                for theirs in self._rival_names(clause, mask):
                    beside = self._stands_beside(name, clause)
                    if self._is_swap(name, theirs, mask):
                        yield name, self._conflict("name", ours, clause.sentence, theirs)
                    elif not beside:
                        yield (
                            name,
                            self._conflict("name", ours, clause.sentence, theirs)
                            if self._same_slot(ours, clause.sentence, theirs)
                            else None,
                        )

    def _rival_names(self, clause: Clause, mask: int) -> Iterator[Word]:
        text, tongue = self._text(clause.sentence), self._evidence.stems.tongue
        for word in read_words(text, clause.start, clause.end, self._evidence.stems):
            if is_name(text, word.start, word.end, tongue) and not self._parts.forms.get(word.key, 0) & mask:
                yield word

    def _is_swap(self, name: int, rival: Word, mask: int) -> bool:
        """Whether another clause of the claim has the rival where the source has the name."""
        rivals = self._parts.forms.get(rival.key, 0)
        for other in _masks(self._parts):
            bits = next((group for group in _groups(self._parts, other & self._parts.names) if group & rivals), rivals)
            if other != mask and other & bits:
                same = self._same_matter(other & ~bits & ~name)
                if same and any(clause.mask & name for clause in same) and not any(clause.mask & bits for clause in same):
                    return True
        return False

    def _same_slot(self, ours: Word | Quantity, at: int, theirs: Word | Quantity) -> bool:
        """Whether a word with content stands next to both, the one in the claim and the one in the source."""
        sentence = self._evidence.sentences[at]
        mine = _beside(self._parts.text, 0, len(self._parts.text), ours, self._evidence)
        yours = _beside(self._text(at), sentence.start, sentence.end, theirs, self._evidence)
        return any(self._parts.forms.get(key, 0) & self._bits(mine) for key in yours)

    def _bits(self, keys: frozenset[str]) -> int:
        return sum(1 << bit for bit, word in enumerate(self._parts.words) if word.key in keys)

    def _conflict(self, kind: ConflictKind, ours: Word | Quantity | Said, at: int, theirs: Word | Quantity | Said) -> Conflict:
        source = self._evidence.sources[self._evidence.sentences[at].source]
        claim = self._parts.text[ours.start : ours.end]
        return Conflict(kind, claim, source.text[theirs.start : theirs.end], source.number, theirs.start, theirs.end)

    def _polarity(self, stretch: Stretch) -> Iterator[Conflict]:
        """A concept that a clause of the claim affirms and the source, on the same matter, denies, or the other way round."""
        parts = self._parts
        inside = [said for said in parts.said if stretch.start <= said.end and said.start < stretch.end]
        for ours in inside:
            if any(other.concept == ours.concept and other.sign != ours.sign for other in inside):
                continue
            own = sum(1 << bit for bit, word in enumerate(parts.words) if ours.start <= word.start < ours.end)
            theirs = self._said(stretch.mask & ~own)
            known, sign, base = theirs.get(ours.concept), ours.sign, None
            if known is None and (base := without_prefix(ours.concept)) in theirs:
                known, sign = theirs[base or ""], -sign
            if known is not None and sign not in known:
                kind: ConflictKind = "opposite" if ours.concept.startswith("§") or base else "negation"
                yield self._conflict(kind, ours, *known[-sign])

    def _said(self, others: int) -> dict[str, dict[int, tuple[int, Said]]]:
        """What the source says on the matter of some bits: by concept, by sign, the sentence and the words."""
        if others not in self._matters:
            found = self._matters[others] = {}
            for clause in self._best(others, self._clauses):
                for said in self._evidence.said(clause.sentence):
                    if clause.start <= said.end and said.start < clause.end:
                        found.setdefault(said.concept, {}).setdefault(said.sign, (clause.sentence, said))
        return self._matters[others]

    def _lonely_denials(self) -> int:
        """Denials of the claim where its sources deny nothing, as bits; and 1 where only the sources deny, in a clause that is needed."""
        ours = [said for said in self._parts.said if said.denied and said.concept != "§more"]
        concepts = {said.concept for said in ours}
        sentences = {clause.sentence for clause in self._clauses}
        every = [(at, said) for at in sentences for said in self._evidence.said(at)]
        theirs = [(at, said) for at, said in every if said.denied or (said.sign < 0 and said.concept in concepts | _REFUSING)]
        if ours and not theirs:
            return self._bits(frozenset(concepts)) or 1
        if theirs and not any(said.sign < 0 for said in self._parts.said):
            return int(any(self._is_needed(clause) for clause in self._clauses if _denies(clause, theirs)))
        known = {(said.concept, said.sign) for _, said in every}
        return self._bits(
            frozenset(
                said.concept for said in self._parts.said if (said.concept, -said.sign) in known and (said.concept, said.sign) not in known
            )
        )

    def _is_needed(self, clause: Clause) -> bool:
        """Whether only this clause holds some word of weight of the claim."""
        others = 0
        for other in self._clauses:
            others |= other.mask if other is not clause else 0
        return bool(clause.mask & ~others & self._parts.heavy)


def _denies(clause: Clause, denials: Sequence[tuple[int, Said]]) -> bool:
    return any(at == clause.sentence and clause.start <= said.start < clause.end for at, said in denials)


def _masks(parts: Parts) -> list[int]:
    return [stretch.mask for stretch in parts.clauses]


def _longest_run(parts: Parts, uncovered: int) -> int:
    longest = run = 0
    for bit in parts.order:
        run = run + 1 if uncovered >> bit & 1 else 0
        longest = max(longest, run)
    return longest


def _beside(text: str, low: int, high: int, part: Word | Quantity, evidence: Evidence) -> frozenset[str]:
    """The words with content nearest to a part of a text."""
    words = list(read_words(text, low, high, evidence.stems))
    before = [word.key for word in words if word.end <= part.start][-SLOT:]
    after = [word.key for word in words if word.start >= part.end][:SLOT]
    return frozenset((*before, *after))


def _groups(parts: Parts, names: int) -> Iterator[int]:
    """Names as sets of bits: words next to each other are one name."""
    group, before = 0, -2
    for place, bit in enumerate(parts.order):
        if names >> bit & 1:
            if group and place != before + 1:
                yield group
                group = 0
            group |= 1 << bit
            before = place
    if group:
        yield group
