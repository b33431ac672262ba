"""Sources taken apart into sentences, and where each word of theirs stands."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from ctxasm.citations.lexical.lexicon import compound_heads
from ctxasm.citations.lexical.operators import Operator, read_operators
from ctxasm.citations.lexical.polarity import Said, read_polarity
from ctxasm.citations.lexical.quantities import Quantity, may_count, read_quantities
from ctxasm.citations.lexical.quantity import Key
from ctxasm.citations.lexical.words import BOUND, Stems, Word, read_words, words_in
from ctxasm.model.support import Source

Read = TypeVar("Read")
Split = Callable[[str], list[tuple[int, int]]]
LEAST_PREFIX = 5
"""Shorter words are no stem of a longer one."""
_CLAUSE_END = re.compile(
    r"[,;:()\n]|\s[-–—]\s|(?=[abehmotuw])\b(?:and|en|und|but|maar|aber|while|terwijl|whereas|although|hoewel|because|omdat|weil)\b",
    re.IGNORECASE,
)
PARTING = frozenset(";:\n")
"""Signs that part a sentence into segments."""
LONGEST_SENTENCE = 600
"""Characters; text without sentence ends (lists, code) is taken in stretches of this length."""


class Sentence(NamedTuple):
    """A sentence of source number `source` (a position), inside its range number `range_`."""

    source: int
    range_: int
    start: int
    end: int


class SourceClause(NamedTuple):
    """A clause of a sentence, at characters `start` to `end` of its source's text. No semicolon, colon or line end parts the clauses of
    one `segment`."""

    start: int
    end: int
    segment: int
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]


class Evidence:
    """All sentences of some sources, numbered through, and the words in them."""

    def __init__(self, sources: Sequence[Source], stems: Stems, split: Split) -> None:
        self.sources = sources
        self.stems = stems
        self.sentences: list[Sentence] = []
        self.of_source: list[range] = []
        self.postings: dict[str, list[int]] = {}
        self.titles = [frozenset(word.key for word in read_words(s.title, 0, len(s.title), stems)) for s in sources]
        self._participles: dict[str, set[str]] = {}
        self._with_figures: set[int] = set()
        self._with_signs: set[int] = set()
        for position, source in enumerate(sources):
            first = len(self.sentences)
            for number, (low, high) in enumerate(source.ranges):
                self._read(position, number, source.text, low, high, split)
            self.of_source.append(range(first, len(self.sentences)))
        self._leads = sorted({lead for source in sources for low, high in source.ranges for lead in stems.leads_in(source.text[low:high])})
        self._vocabulary = sorted(self.postings)
        self._backwards = sorted(key[::-1] for key in self._vocabulary) if stems.tongue != "en" else []
        self._variants: dict[str, tuple[str, ...]] = {}
        self._quantities: dict[int, tuple[Quantity, ...]] = {}
        self._by_figure: dict[int, defaultdict[Key, dict[int, None]]] = {}
        self._in_titles: dict[tuple[int, str], bool] = {}
        self._clauses: dict[int, tuple[SourceClause, ...]] = {}
        self._said: dict[int, list[Said]] = {}
        self._operators: dict[int, list[Operator]] = {}
        self._read_so: dict[tuple[Callable[..., Any], int], Any] = {}

    def _read(self, position: int, number: int, text: str, low: int, high: int, split: Split) -> None:
        for start, end in split(text[low:high]):
            for part in range(low + start, low + end, LONGEST_SENTENCE):
                self._add(Sentence(position, number, part, min(part + LONGEST_SENTENCE, low + end)), text)

    def _add(self, sentence: Sentence, text: str) -> None:
        at = len(self.sentences)
        self.sentences.append(sentence)
        postings, kept, article = self.postings, self.stems.kept, False
        for word in words_in(text, sentence.start, sentence.end):
            key, figure, denies, opposes, _, _, _, verb = kept[word]
            if figure == "article":
                article = True
            elif figure:
                self._with_figures.add(at)
            if denies or opposes:
                self._with_signs.add(at)
            if key:
                places = postings.get(key)
                if places is None:
                    postings[key] = [at]
                    if verb:
                        self._participles.setdefault(verb, set()).add(key)
                elif places[-1] != at:
                    places.append(at)
        if article and at not in self._with_figures and may_count(text, sentence.start, sentence.end):
            self._with_figures.add(at)

    def variants(self, key: str, verb: str = "", leads: Sequence[str] = ()) -> tuple[str, ...]:
        """The words of the sources that may mean `key`: itself, longer or shorter forms, compounds that it begins or ends.

        `verb` is the key of the verb where the word may be a participle; `leads` are heads of verbs that stand apart in the claim.
        """
        if not (verb or leads):
            return self._alone(key)
        keys = (key, verb) if verb else (key,)
        joined = self._written_as([lead + other for other in keys for lead in leads])
        return tuple(dict.fromkeys((*(form for other in keys for form in self._alone(other)), *joined)))

    def _alone(self, key: str) -> tuple[str, ...]:
        """The words of the sources that may mean `key`, whatever the claim has beside it."""
        known = self._variants.get(key)
        if known is None:
            known = self._variants[key] = tuple(dict.fromkeys(self._found(key)))
        return known

    def _written_as(self, keys: Sequence[str]) -> list[str]:
        """Those of some words that the sources have, and the participles of all."""
        found = [form for form in keys if form in self.postings]
        return found + [form for other in keys for form in sorted(self._participles.get(other, ()))]

    def _found(self, key: str) -> list[str]:
        found = self._written_as((key,))
        found += [key.removeprefix(lead) for lead in self._leads if key.startswith(lead) and key.removeprefix(lead) in self.postings]
        if len(key) < LEAST_PREFIX or key[0].isdigit():
            return found
        found += _beginning_with(self._vocabulary, key)
        found += [form for form in (other[::-1] for other in _beginning_with(self._backwards, key[::-1])) if _is_compound(form, key)]
        shorter = (key[:length] for length in range(max(LEAST_PREFIX, math.ceil(0.6 * len(key))), len(key)))
        found += [other for other in shorter if other in self.postings]
        if self._backwards and key not in self.postings:
            tails = (key[at:] for at in range(1, len(key) - LEAST_PREFIX + 1))
            found += [tail for tail in tails if tail in self.postings and _is_compound(key, tail)]
        return found

    def is_in_title(self, source: int, key: str) -> bool:
        """Whether the title of a source holds a word, also as the head or tail of a compound."""
        known = self._in_titles.get((source, key))
        if known is None:
            titles = self.titles[source]
            is_long = len(key) >= LEAST_PREFIX
            known = self._in_titles[source, key] = key in titles or (is_long and any(_is_like(key, title) for title in titles))
        return known

    def rarity(self, forms: Sequence[str]) -> float:
        """1 for a word whose forms stand in no sentence, falling to 0 for one in all (inverse document frequency over sentences)."""
        lists = [self.postings[form] for form in forms]
        held = len(lists[0]) if len(lists) == 1 else len(set[int]().union(*lists))
        total = len(self.sentences) + 1
        return math.log(total / (held + 1)) / math.log(total) if total > 1 else 1.0

    def clauses(self, at: int) -> tuple[SourceClause, ...]:
        """The clauses of a sentence."""
        known = self._clauses.get(at)
        if known is None:
            known = self._clauses[at] = tuple(self._taken(at))
        return known

    def _taken(self, at: int) -> Iterator[SourceClause]:
        sentence = self.sentences[at]
        text, segment, before = self.sources[sentence.source].text, 0, sentence.start
        words, quantities = list(read_words(text, sentence.start, sentence.end, self.stems)), self.quantities(at)
        for start, end in clause_spans(text, sentence.start, sentence.end):
            segment += not PARTING.isdisjoint(text[before:start])
            before = end
            figures = tuple(quantity for quantity in quantities if start <= quantity.start < end)
            low, high = bisect_left(words, (start,)), bisect_left(words, (end,))
            yield SourceClause(start, end, segment, tuple(words[low:high]), figures)

    def quantities(self, at: int) -> tuple[Quantity, ...]:
        """The quantities of a sentence."""
        if at not in self._with_figures:
            return ()
        known = self._quantities.get(at)
        if known is None:
            sentence = self.sentences[at]
            text = self.sources[sentence.source].text
            known = self._quantities[at] = tuple(read_quantities(text, sentence.start, sentence.end))
        return known

    def may_hold(self, source: int, quantities: Iterable[Quantity]) -> list[int]:
        """The sentences of a source that may hold one of some quantities, in order: all that do are among them."""
        known = self._by_figure.get(source)
        if known is None:
            known = self._by_figure[source] = defaultdict(dict)
            for at in self.of_source[source]:
                for quantity in self.quantities(at):
                    for key in quantity.keys:
                        known[key][at] = None
        return sorted({at for quantity in quantities for key in quantity.sought for at in known.get(key, ())})

    def span(self, at: int) -> tuple[int, int]:
        """The characters of a sentence in its source."""
        return self.sentences[at].start, self.sentences[at].end

    def has_signs(self, at: int) -> bool:
        """Whether a sentence denies anything, or has a word that says the opposite of another."""
        return at in self._with_signs

    def operators(self, at: int) -> list[Operator]:
        """The words of a sentence that turn what it says."""
        known = self._operators.get(at)
        if known is None:
            sentence = self.sentences[at]
            text = self.sources[sentence.source].text
            figures = [(quantity.start, quantity.end) for quantity in self.quantities(at)]
            known = self._operators[at] = read_operators(text, sentence.start, sentence.end, self.stems.tongue, figures)
        return known

    def once(self, read: Callable[[Evidence, int], Read], at: int) -> Read:
        """What a gate reads in a sentence, read once."""
        known = self._read_so.get((read, at))
        if known is None:
            known = self._read_so[read, at] = read(self, at)
        return cast(Read, known)

    def text(self, at: int) -> str:
        """The text of the source of a sentence."""
        return self.sources[self.sentences[at].source].text

    def said(self, at: int) -> list[Said]:
        """What a sentence affirms and denies."""
        known = self._said.get(at)
        if known is None:
            sentence = self.sentences[at]
            text = self.sources[sentence.source].text
            known = self._said[at] = read_polarity(text, sentence.start, sentence.end, self.stems)
        return known


def clause_spans(text: str, low: int, high: int) -> list[tuple[int, int]]:
    """Stretches between punctuation and conjunctions; what stands between two figures parts nothing."""
    spans, at = [], low
    for match in _CLAUSE_END.finditer(text, low, high):
        joins = (
            text[max(low, match.start() - 2) : match.start()].strip()[-1:].isdigit()
            and text[match.end() : match.end() + 2].strip()[:1].isdigit()
        )
        if not (joins and match.group() not in ";()\n"):
            if text[at : match.start()].strip():
                spans.append((at, match.start()))
            at = match.end()
    return [*spans, (at, high)] if text[at:high].strip() else spans


def _is_like(key: str, title: str) -> bool:
    short, long = (key, title) if len(key) < len(title) else (title, key)
    return len(short) >= LEAST_PREFIX and (long.startswith(short) or long.endswith(short))


def _is_compound(whole: str, tail: str) -> bool:
    """Whether a word is a compound that ends in another, and not a verb or opposite made of it."""
    head = whole.removesuffix(tail)
    return len(head) > 2 and head not in BOUND and head not in compound_heads()


def _beginning_with(ordered: Sequence[str], start: str) -> list[str]:
    """The entries of a sorted list that begin with `start` and are longer."""
    found, at = [], bisect_left(ordered, start)
    while at < len(ordered) and ordered[at].startswith(start):
        if len(ordered[at]) > len(start):
            found.append(ordered[at])
        at += 1
    return found
