"""What a claim consists of, as a set of bits: one for each of its words with content, one for each of its quantities."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from ctxasm.citations.lexical.evidence import Evidence, clause_spans
from ctxasm.citations.lexical.polarity import without_prefix
from ctxasm.citations.lexical.quantities import Quantity, read_quantities
from ctxasm.citations.lexical.words import Word, read_all

Read = TypeVar("Read")
QUANTITY_WEIGHT = 1.5
LIGHT_WEIGHT = 0.2
"""Of a word that a claim may use although its source does not; others weigh 0.5 to 1.5 by their rarity."""
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\n\s*|[\"“„‘(\[•\-–]\s*)$")


class Stretch(NamedTuple):
    """A clause of a claim, at characters `start` to `end` of it, and its bits."""

    start: int
    end: int
    mask: int


@dataclass(frozen=True, slots=True)
class Parts:
    """A claim as bits: bit i < len(words) is `words[i]`, the others are `quantities`. `order` are the bits as they stand in it, `spans` its
    clauses as characters.

    `heavy` are those of words that carry much, `names` those of names. `forms` are the words of the sources that hold a bit.
    `has_signs`: it denies something, or has a word that says the opposite of another. `everything` are all bits, `all_quantities` those
    of the quantities; `weight` gives the weight of a set of bits, remembered.
    """

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    weights: tuple[float, ...]
    order: tuple[int, ...]
    spans: list[tuple[int, int]]
    clauses: tuple[Stretch, ...]
    heavy: int
    names: int
    forms: Mapping[str, int]
    has_signs: bool
    total: float
    read_so: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False, compare=False)
    everything: int = field(init=False)
    all_quantities: int = field(init=False)
    weight: Callable[[int], float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        weights = self.weights

        @cache
        def weight(mask: int) -> float:
            total = 0.0
            while mask:
                total += weights[(mask & -mask).bit_length() - 1]
                mask &= mask - 1
            return total

        everything = (1 << len(weights)) - 1
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "everything", everything)
        object.__setattr__(self, "all_quantities", everything & ~((1 << len(self.words)) - 1))

    def once(self, read: Callable[[Parts, Evidence], Read], evidence: Evidence) -> Read:
        """What a gate reads in the claim, whatever it is compared with, read once."""
        known = self.read_so.get(read)
        if known is None:
            known = self.read_so[read] = read(self, evidence)
        return cast(Read, known)

    def share(self, mask: int) -> float:
        """The share of the claim that a set of bits is; 0 of a claim of nothing."""
        return self.weight(mask) / self.total if self.total else 0.0

    def part(self, bit: int) -> Word | Quantity:
        """The word or quantity of a bit."""
        return self.words[bit] if bit < len(self.words) else self.quantities[bit - len(self.words)]


def parts_of(claim: str, evidence: Evidence) -> Parts:
    """The words and quantities of a claim, with rare words weighing more and light ones little."""
    quantities = tuple(read_quantities(claim))
    inside = [(quantity.start, quantity.end) for quantity in quantities]
    stems = evidence.stems
    words: dict[str, Word] = {}
    bits: dict[str, int] = {}
    places: list[tuple[int, int]] = []
    has_signs = False
    verbs: dict[str, str] = {}
    for low, high, read in read_all(claim, 0, len(claim), stems):
        key = read.key
        has_signs = has_signs or read.denies or read.opposes or bool(key and without_prefix(key, stems))
        if key and not (inside and any(start <= low < end for start, end in inside)):
            if key not in words:
                words[key], verbs[key], bits[key] = Word(low, high, key), read.verb, len(bits)
            places.append((low, bits[key]))
    places += [(quantity.start, len(words) + at) for at, quantity in enumerate(quantities)]
    weights: list[float] = []
    forms: dict[str, int] = {}
    heavy = names = 0
    leads = sorted(stems.leads_in(claim))
    for key, bit in bits.items():
        variants = [form for form in evidence.variants(key, verbs[key], leads) if form == key or form not in bits or not key.endswith(form)]
        if key in stems.light:
            weights.append(LIGHT_WEIGHT)
        else:
            weights.append(0.5 + evidence.rarity(variants))
            heavy |= 1 << bit
        names |= is_name(claim, words[key].start, words[key].end, stems.tongue) << bit
        for form in variants:
            forms[form] = forms.get(form, 0) | 1 << bit
    spans = clause_spans(claim, 0, len(claim))
    return Parts(
        claim,
        tuple(words.values()),
        quantities,
        (*weights, *(QUANTITY_WEIGHT for _ in quantities)),
        tuple(bit for _, bit in sorted(places)),
        spans,
        _clauses(spans, sorted(places)),
        heavy,
        names,
        forms,
        has_signs,
        sum(weights) + QUANTITY_WEIGHT * len(quantities),
    )


def _clauses(spans: Sequence[tuple[int, int]], places: Sequence[tuple[int, int]]) -> tuple[Stretch, ...]:
    """The clauses with their bits; one of a single bit goes with the clause before it, or the next."""
    found: list[Stretch] = []
    for low, high in spans:
        mask = 0
        for start, bit in places:
            if low <= start < high:
                mask |= 1 << bit
        if found and (mask.bit_count() < 2 or found[-1].mask.bit_count() < 2):
            found[-1] = Stretch(found[-1].start, high, found[-1].mask | mask)
        elif mask:
            found.append(Stretch(low, high, mask))
    return tuple(found)


def is_name(text: str, start: int, end: int, tongue: str) -> bool:
    """Whether a word is written as a name: a capital inside it, or at its head within a sentence (in German all nouns have one)."""
    word = text[start:end]
    if not (tail := word[1:]).islower() and any(letter.isupper() for letter in tail):
        return True
    return tongue != "de" and word[:1].isupper() and not _SENTENCE_START.search(text[max(0, start - 4) : start])


def name_groups(parts: Parts, names: int) -> Iterator[int]:
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
