"""What the windows of a claim speak of, clause by clause: where the source says something of the same matter as a clause of the
claim, its figures, names and denials must be the same, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ctxasm.citations.lexical.around import Around, around_all
from ctxasm.citations.lexical.evidence import Evidence, SourceClause
from ctxasm.citations.lexical.operators import Operator, read_operators
from ctxasm.citations.lexical.parts import Parts
from ctxasm.citations.lexical.polarity import Said, read_polarity
from ctxasm.citations.lexical.quantities import Quantity
from ctxasm.citations.lexical.windows import Window
from ctxasm.citations.lexical.words import Word, read_words
from ctxasm.model.records import make_record
from ctxasm.model.support import Conflict, ConflictKind

SAME_SHARE = 0.5
"""A source clause speaks of the same as a clause of the claim when it holds this share of its other words."""
_NARROWING = ("condition", "exception")
NEARLY = 0.6
"""Clauses that hold this much of what the best one holds speak of the same, too."""


class Clause(NamedTuple):
    """A clause of a source in sentence number `sentence`, or a whole sentence, and the bits of the claim that it holds."""

    source: SourceClause
    sentence: int
    mask: int


class Matter:
    """A claim and the clauses of its windows."""

    def __init__(self, parts: Parts, windows: Sequence[Window], evidence: Evidence) -> None:
        self.parts = parts
        self.windows = windows
        self.evidence = evidence
        self.numbers = list(dict.fromkeys(at for window in windows for at in range(window.first, window.last + 1)))
        self._sentences: list[Clause] | None = None
        self._same: dict[int, list[Clause]] = {}

    @cached_property
    def clauses(self) -> list[Clause]:
        """The clauses of the windows, read when they are asked for: a claim that stands there word for word needs none."""
        return [clause for at in self.numbers for clause in self._of_sentence(at)]

    def held(self, at: int) -> int:
        """The bits that a sentence holds."""
        return self._held.get(at, 0)

    @cached_property
    def _held(self) -> dict[int, int]:
        held: dict[int, int] = {}
        for clause in self.clauses:
            held[clause.sentence] = held.get(clause.sentence, 0) | clause.mask
        return held

    def _of_sentence(self, at: int) -> Iterator[Clause]:
        forms, quantities = self.parts.forms, self.parts.quantities
        for clause in self.evidence.clauses(at):
            mask = 0
            for _, _, key in clause.words:
                if key in forms:
                    mask |= forms[key]
            if clause.quantities:
                for place, ours in enumerate(quantities, len(self.parts.words)):
                    if any(ours.agrees(theirs) for theirs in clause.quantities):
                        mask |= 1 << place
            yield make_record(Clause, (clause, at, mask))

    def _whole(self) -> list[Clause]:
        """Every sentence as one clause."""
        if self._sentences is None:
            self._sentences = []
            for at in self.numbers:
                clauses, mask = self.evidence.clauses(at), self.held(at)
                words = tuple(word for clause in clauses for word in clause.words)
                figures = tuple(quantity for clause in clauses for quantity in clause.quantities)
                span = self.evidence.sentences[at]
                self._sentences.append(Clause(SourceClause(span.start, span.end, 0, words, figures), at, mask))
        return self._sentences

    @cached_property
    def signed(self) -> set[tuple[str, int]]:
        """The concepts that the sentences affirm or deny; for a claim that denies nothing itself, only of the sentences that do."""
        evidence, every = self.evidence, self.parts.has_signs
        return {(said.concept, said.sign) for at in self.numbers if every or evidence.has_signs(at) for said in evidence.said(at)}

    @property
    def said(self) -> list[Said]:
        """What the claim affirms and denies."""
        return self.parts.once(_said, self.evidence)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The clauses of the claim, as characters."""
        return self.parts.spans

    @cached_property
    def in_spans(self) -> list[int]:
        """The bits of each clause of the claim."""
        return [self.between(low, high) for low, high in self.spans]

    @property
    def operators(self) -> list[Operator]:
        """The words of the claim that turn what it says."""
        return self.parts.once(operators_of, self.evidence)

    @property
    def words(self) -> list[Word]:
        """The words of the claim with content, each time that they stand in it."""
        return self.parts.once(words_of, self.evidence)

    def next_word(self, at: int) -> Word | None:
        """The first word of the claim with content from a character on."""
        place = bisect_left(self.words, at, key=lambda word: word.start)
        return self.words[place] if place < len(self.words) else None

    @property
    def around(self) -> list[tuple[Quantity, Around]]:
        """The figures of the claim with what stands around each."""
        return self.parts.once(_around, self.evidence)

    def is_narrowed(self, at: int) -> bool:
        """Whether the claim or a sentence of its sources has an exception or a condition: what differs may then be meant so."""
        every = (*self.operators, *self.evidence.operators(at))
        return any((op.kind in _NARROWING and op.value != "then") or op.value == "only" for op in every)

    def holds_all(self, mask: int) -> bool:
        """Whether one clause holds all of some bits: then nothing of them can stand elsewhere."""
        return any(clause.mask & mask == mask for clause in self.clauses)

    def same(self, others: int) -> list[Clause]:
        """The clauses that hold most of some bits, the best first; where no clause holds enough, those of the best sentences."""
        known = self._same.get(others)
        if known is None:
            known = self._same[others] = self.same_clauses(others) or self._best(others, self._whole())
        return known

    def same_clauses(self, others: int) -> list[Clause]:
        """The clauses that hold most of some bits, if that is enough to speak of the same."""
        return self._best(others, self.clauses)

    def _best(self, others: int, clauses: Sequence[Clause]) -> list[Clause]:
        weight = self.parts.weight
        best = max((weight(others & clause.mask) for clause in clauses), default=0.0)
        if not best or best < SAME_SHARE * weight(others):
            return []
        found = [clause for clause in clauses if weight(others & clause.mask) >= NEARLY * best]
        return sorted(found, key=lambda clause: -weight(others & clause.mask))

    def is_needed(self, clause: Clause) -> bool:
        """Whether only this clause holds some word of weight of the claim."""
        others = 0
        for other in self.clauses:
            others |= other.mask if other is not clause else 0
        return bool(clause.mask & ~others & self.parts.heavy)

    def has_other_words(self, clause: Clause, mask: int) -> bool:
        """Whether a clause has a word of weight that is none of some bits of the claim."""
        light, forms = self.evidence.stems.light, self.parts.forms
        others = (word.key for word in clause.source.words if not forms.get(word.key, 0) & mask)
        return any(key not in light and not key[0].isdigit() for key in others)

    def text(self, at: int) -> str:
        """The text of the source of a sentence."""
        return self.evidence.text(at)

    def bits(self, keys: frozenset[str]) -> int:
        """The bits of words of the claim."""
        known = self.parts.once(_bits, self.evidence)
        return sum(known.get(key, 0) for key in keys)

    def between(self, low: int, high: int) -> int:
        """The bits of the words and figures between two characters of the claim."""
        held = self.bits(frozenset(word.key for word in self.words if low <= word.start < high))
        inside = [figure for figure in self.parts.quantities if low <= figure.start < high]
        for bit, ours in enumerate(self.parts.quantities, len(self.parts.words)):
            held |= (1 << bit) * any(ours.agrees(figure) for figure in inside)
        return held

    def conflict(self, kind: ConflictKind, ours: Word | Quantity | Said, at: int, theirs: Word | Quantity | Said) -> Conflict:
        """Words of the claim against words of a sentence."""
        source = self.evidence.sources[self.evidence.sentences[at].source]
        claim = self.parts.text[ours.start : ours.end]
        return Conflict(kind, claim, source.text[theirs.start : theirs.end], source.number, theirs.start, theirs.end)


def _said(parts: Parts, evidence: Evidence) -> list[Said]:
    return read_polarity(parts.text, 0, len(parts.text), evidence.stems)


def _bits(parts: Parts, _: Evidence) -> dict[str, int]:
    return {word.key: 1 << bit for bit, word in enumerate(parts.words)}


def operators_of(parts: Parts, evidence: Evidence) -> list[Operator]:
    """The words of a claim that turn what it says."""
    figures = [(quantity.start, quantity.end) for quantity in parts.quantities]
    return read_operators(parts.text, 0, len(parts.text), evidence.stems.tongue, figures)


def _around(parts: Parts, evidence: Evidence) -> list[tuple[Quantity, Around]]:
    return list(around_all(parts.text, 0, len(parts.text), parts.quantities, parts.once(operators_of, evidence)))


def words_of(parts: Parts, evidence: Evidence) -> list[Word]:
    """The words of a claim with content, each time that they stand in it."""
    return list(read_words(parts.text, 0, len(parts.text), evidence.stems))
