"""Enrichment without a model: the same document gives the same words, all of them its own.

The context of a chunk is the document's name, the headings (or opening lines of program text) over the chunk, its place, and what
the document says of itself: its summary, else its most central sentences, those that do not stand in the chunk first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxasm.enrichment.central import central_sentences
from ctxasm.enrichment.phrases import key_phrases
from ctxasm.enrichment.questions import questions_of
from ctxasm.enrichment.texts import LEAST_TOKENS, MOST_TOKENS, Enrichment
from ctxasm.enrichment.whole import Part, Whole
from ctxasm.model.language import Language
from ctxasm.model.ports import TokenCounter
from ctxasm.model.sentences import sentence_spans
from ctxasm.model.visible import one_line

SENTENCES = 6
"""Central sentences that a context may choose from."""
_PLACE: dict[Language, str] = {"nl": "deel {0} van {1}", "en": "part {0} of {1}"}


def summary_of(whole: Whole) -> str:
    """One or two central sentences of the document; empty where it has no sentence that could stand alone."""
    return " ".join(central_sentences(whole.text, 2))


def enrich_document(whole: Whole, counter: TokenCounter) -> list[Enrichment]:
    """Context and questions of each chunk of a document, in their order. Contexts have at most 100 tokens, and at least 50 where
    the document has the words for it."""
    said = _sayings(whole)
    phrases = key_phrases([part.chunk.text for part in whole.parts])
    return [
        Enrichment(_context(whole, part, said, counter), questions_of(part, own, whole.language))
        for part, own in zip(whole.parts, phrases, strict=True)
    ]


def _sayings(whole: Whole) -> list[str]:
    """What the document says of itself, the best first."""
    summary = one_line(whole.document.summary or "")
    own = [summary[start:end] for start, end in sentence_spans(summary)]
    return [*own, *central_sentences(whole.text, SENTENCES)]


def _context(whole: Whole, part: Part, said: Sequence[str], counter: TokenCounter) -> str:
    names = dict.fromkeys(name for name in (whole.name, *part.path, *part.opens) if name)
    place = _PLACE[whole.language].format(part.place, len(whole.parts))
    context = _shortened(f"{' › '.join(names)} ({place}).", MOST_TOKENS, counter)
    for saying in _in_turn(part, said):
        longer = f"{context} {saying}"
        if counter.count(longer) <= MOST_TOKENS:
            context = longer
        elif counter.count(context) < LEAST_TOKENS:
            context = _shortened(longer, MOST_TOKENS, counter)
        if counter.count(context) >= LEAST_TOKENS:
            break
    return context


def _in_turn(part: Part, said: Sequence[str]) -> Iterator[str]:
    """Those that the chunk does not hold itself before those that it does."""
    flat = " ".join(part.chunk.text.split())
    yield from (saying for saying in said if saying not in flat)
    yield from (saying for saying in said if saying in flat)


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
