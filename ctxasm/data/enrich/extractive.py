"""Enrichment without a model: the same document gives the same words, all of them its own.

The context of a chunk is the document's name, the headings (or opening lines of program text) over the chunk, its place, and what
stands around it: the most central sentences of its section, the ones just before it, then what the document says of itself (its
summary, else its most central sentences). In this order because the words that all chunks of a document get tell none of them
apart: on the tune half of four real corpora, BM25 in the enriched text has a recall@5 of .714 so, of .700 with the document's
sentences first, of .708 without any sentence, and of .692 in the raw text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from heapq import nlargest

from ctxasm.data.enrich.central import Rated, central_sentences, rated_sentences
from ctxasm.data.enrich.phrases import key_phrases
from ctxasm.data.enrich.questions import questions_of
from ctxasm.data.enrich.texts import LEAST_TOKENS, MOST_TOKENS, Enrichment
from ctxasm.data.enrich.whole import Part, Whole
from ctxasm.model.characters import one_line
from ctxasm.model.ports import TokenCounter
from ctxasm.text.language import Language
from ctxasm.text.sentences import sentence_spans

SENTENCES, OF_SECTION, BEFORE = 6, 3, 2
"""Central sentences of the document, of a section, and sentences before a chunk, that a context may choose from."""
READ_OF_SECTION = 100
"""Sentences before and behind the beginning of a chunk that are compared: a text without headings is one section."""
_PLACE: dict[Language, str] = {"nl": "deel {0} van {1}", "en": "part {0} of {1}"}


def summary_of(whole: Whole) -> str:
    """One or two central sentences of the document; empty where it has no sentence that could stand alone."""
    return " ".join(central_sentences(whole.text, 2))


def enrich_document(whole: Whole, counter: TokenCounter) -> list[Enrichment]:
    """Context and questions of each chunk of a document, in their order. Contexts have at most 100 tokens, and at least 50 where
    the document has the words for it."""
    sayings = _Sayings(whole)
    phrases = key_phrases([part.chunk.text for part in whole.parts])
    return [
        Enrichment(_context(whole, part, sayings, counter), questions_of(part, own, whole.language))
        for part, own in zip(whole.parts, phrases, strict=True)
    ]


class _Sayings:
    """The sentences of a document that can situate its chunks."""

    def __init__(self, whole: Whole) -> None:
        self._text = whole.text
        self._rated = rated_sentences(whole.text)
        self._starts = [sentence.start for sentence in self._rated]
        summary = one_line(whole.document.summary or "")
        own = [summary[start:end] for start, end in sentence_spans(summary)]
        self._whole = [*own, *central_sentences(whole.text, SENTENCES)]

    def for_part(self, part: Part) -> Iterator[str]:
        """What could be said of a chunk, the best first: what it does not hold itself before what it does."""
        flat = " ".join(part.chunk.text.split())
        sayings = [*self._of_section(part), *self._before(part), *self._whole]
        yield from (saying for saying in sayings if saying not in flat)
        yield from (saying for saying in self._whole if saying in flat)

    def _of_section(self, part: Part) -> Iterator[str]:
        low, high = bisect_left(self._starts, part.section_start), bisect_left(self._starts, part.section_end)
        end = part.start + len(part.chunk.text)
        place = bisect_left(self._starts, part.start)
        near = self._rated[max(low, place - READ_OF_SECTION) : min(high, place + READ_OF_SECTION)]
        around = [sentence for sentence in near if not part.start <= sentence.start < end]
        yield from (self._words(sentence) for sentence in nlargest(OF_SECTION, around, key=lambda one: (one.score, -one.start)))

    def _before(self, part: Part) -> Iterator[str]:
        place = bisect_left(self._starts, part.start)
        yield from (self._words(sentence) for sentence in reversed(self._rated[max(0, place - BEFORE) : place]))

    def _words(self, sentence: Rated) -> str:
        return " ".join(self._text[sentence.start : sentence.end].split())


def _context(whole: Whole, part: Part, sayings: _Sayings, counter: TokenCounter) -> str:
    names = dict.fromkeys(name for name in (whole.name, *part.path, *part.opens) if name)
    place = _PLACE[whole.language].format(part.place, len(whole.parts))
    context = _shortened(f"{' › '.join(names)} ({place}).", MOST_TOKENS, counter)
    said: set[str] = set()
    for saying in sayings.for_part(part):
        size = counter.count(context)
        if size >= LEAST_TOKENS:
            break
        longer = f"{context} {saying}"
        if saying not in said and (counter.count(longer) <= MOST_TOKENS):
            context = _shortened(longer, MOST_TOKENS, counter)
            said.add(saying)
    return context


def _shortened(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """`text` up to a word's end within `max_tokens` tokens, with an ellipsis where something is left out."""
    if counter.count(text) <= max_tokens:
        return text
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (middle, high) if counter.count(" ".join(words[:middle]) + " …") <= max_tokens else (low, middle)
    kept = " ".join(words[:low]) + " …" if low else ""
    return kept if kept else text[: next((at for at in range(len(text) - 1, 0, -1) if counter.count(text[:at]) <= max_tokens), 0)]
