"""What keeps a claim from being carried although its words are there: a wrong figure, a denial, an opposite, a name in another's
place, a word of weight that the source does not have.

Word overlap alone certifies nothing ("45 minutes" for "30 minutes" shares all words but one). Every gate names what it found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.polarity import Said, without_prefix
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.windows import Parts, Window, is_name, union
from ctxasm.citations.lexical.words import Word, read_words
from ctxasm.model.support import Conflict, ConflictKind

_KINDS: dict[str, ConflictKind] = {"date": "date", "month": "date", "weekday": "date"}
LEAST_SHARE = 0.5
"""A source clause speaks of the same as a clause of the claim when it holds this share of its other words."""
NEARLY = 0.6
"""Clauses that hold this much of what the best one holds speak of the same, too."""
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
    """A clause of a source: characters `start` to `end`, its sentence, and the bits of the claim that it holds."""

    start: int
    end: int
    sentence: int
    mask: int


def examine(parts: Parts, windows: Sequence[Window], evidence: Evidence) -> Findings:
    """Everything that stands against a claim in its chosen windows."""
    uncovered = ((1 << len(parts.weights)) - 1) & ~union(windows)
    open_bits = uncovered & ~_in_titles(parts, windows, evidence)
    return _Examination(parts, windows, evidence).findings(uncovered, open_bits)


def _in_titles(parts: Parts, windows: Sequence[Window], evidence: Evidence) -> int:
    titles = frozenset(key for window in windows for key in evidence.titles[window.source])
    return sum(1 << bit for bit, word in enumerate(parts.words) if word.key in titles)


class _Examination:
    """A claim against the clauses of its windows."""

    def __init__(self, parts: Parts, windows: Sequence[Window], evidence: Evidence) -> None:
        self._parts = parts
        self._evidence = evidence
        sentences = dict.fromkeys(at for window in windows for at in range(window.first, window.last + 1))
        self._clauses = [clause for at in sentences for clause in self._of_sentence(at)]

    def findings(self, uncovered: int, open_bits: int) -> Findings:
        parts = self._parts
        displaced, conflict = 0, None
        for mask in parts.clauses:
            for bits, found in (*self._figures(mask), *self._names(mask)):
                displaced |= bits
                conflict = conflict or found
            conflict = conflict or next(self._polarity(mask), None)
        words = (1 << len(parts.words)) - 1
        return Findings(
            uncovered | displaced,
            _longest_run(parts, open_bits),
            open_bits & parts.heavy & ~parts.names,
            uncovered & ~words,
            open_bits & parts.names,
            displaced & ~uncovered,
            self._lonely_denials(),
            conflict,
        )

    def _of_sentence(self, at: int) -> Iterator[Clause]:
        parts, evidence = self._parts, self._evidence
        text = self._text(at)
        for start, end in evidence.clauses(at):
            mask = 0
            for word in read_words(text, start, end, evidence.stems):
                mask |= parts.forms.get(word.key, 0)
            for place, ours in enumerate(parts.quantities, len(parts.words)):
                if any(start <= theirs.start < end and ours.agrees(theirs) for theirs in evidence.quantities(at)):
                    mask |= 1 << place
            yield Clause(start, end, at, mask)

    def _text(self, at: int) -> str:
        return self._evidence.sources[self._evidence.sentences[at].source].text

    def _same_matter(self, others: int) -> list[Clause]:
        """The clauses that hold most of some bits, if that is enough to speak of the same; the best first."""
        weights = [(self._parts.weight(others & clause.mask), clause) for clause in self._clauses]
        best = max((weight for weight, _ in weights), default=0.0)
        if not best or best < LEAST_SHARE * self._parts.weight(others):
            return []
        return [clause for weight, clause in sorted(weights, key=lambda pair: -pair[0]) if weight >= NEARLY * best]

    def _figures(self, mask: int) -> Iterator[tuple[int, Conflict | None]]:
        """Figures of a clause of the claim that the source, on the same matter, does not have, with the one it has instead."""
        parts = self._parts
        figures = [bit for bit in range(len(parts.words), len(parts.weights)) if mask >> bit & 1]
        others = mask & ~sum(1 << bit for bit in figures)
        same = self._same_matter(others) if figures else []
        for bit in figures:
            if not same or any(clause.mask >> bit & 1 for clause in same):
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

    def _names(self, mask: int) -> Iterator[tuple[int, Conflict | None]]:
        """Names of a clause of the claim where the source, on the same matter, has another name."""
        for name in _groups(self._parts, mask & self._parts.names):
            same = self._same_matter(mask & ~name)
            if not same or any(clause.mask & name for clause in same):
                continue
            ours = self._parts.part((name & -name).bit_length() - 1)
            for clause in same:
                for theirs in self._rival_names(clause, mask):
                    beside = any(other.sentence == clause.sentence and other.mask & name for other in self._clauses)
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
        bits = self._parts.forms.get(rival.key, 0)
        for other in self._parts.clauses:
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

    def _polarity(self, mask: int) -> Iterator[Conflict]:
        """A concept that a clause of the claim affirms and the source, on the same matter, denies, or the other way round."""
        parts = self._parts
        places = [parts.part(bit) for bit in range(len(parts.weights)) if mask >> bit & 1]
        if not places:
            return
        low, high = min(part.start for part in places), max(part.end for part in places)
        theirs: dict[str, dict[int, tuple[int, Said]]] = {}
        for clause in self._same_matter(mask):
            for said in self._evidence.said(clause.sentence):
                if clause.start <= said.end and said.start < clause.end:
                    theirs.setdefault(said.concept, {}).setdefault(said.sign, (clause.sentence, said))
        for ours in parts.said:
            if not (low - _BEFORE <= ours.start < high):
                continue
            known, sign, base = theirs.get(ours.concept), ours.sign, None
            if known is None and (base := without_prefix(ours.concept)) in theirs:
                known, sign = theirs[base or ""], -sign
            if known is not None and sign not in known and not any(o.concept == ours.concept and o.sign != ours.sign for o in parts.said):
                kind: ConflictKind = "opposite" if ours.concept.startswith("§") or base else "negation"
                yield self._conflict(kind, ours, *known[-sign])

    def _lonely_denials(self) -> int:
        """Denied words of the claim, where its sources deny nothing at all."""
        sentences = {clause.sentence for clause in self._clauses}
        if any(said.sign < 0 for at in sentences for said in self._evidence.said(at)):
            return 0
        keys = frozenset(said.concept for said in self._parts.said if said.sign < 0 and not said.concept.startswith("§"))
        return self._bits(keys) or int(bool(keys))


_BEFORE = 12
"""Characters before a clause's first word with content in which its modal verb or denial may stand."""


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
