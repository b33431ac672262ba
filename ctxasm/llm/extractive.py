"""The key-free default: no language model. It quotes the sentences of the context that best match the question.

Each quoted sentence lies inside the verbatim text of one block and carries that block's own marker, so a marker is right
by construction. Headers, prefixes, gap marks and supplements are never quoted. Where no markers are expected, as in a spoken
answer, they are left out.
Of the messages it heeds one thing: a refusal sentence that the system message asks for is given where nothing matches.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxasm.llm.client import Pieces, Produce
from ctxasm.model.messages import Cancel, Message
from ctxasm.model.results import Assembly
from ctxasm.text.formats import expects_markers, marker_of
from ctxasm.text.language import OTHER_LANGUAGE, REFUSAL, UNANSWERED, language_of
from ctxasm.text.terms import is_alike, terms_of

NAME = "no language model (extractive)"
MAX_SENTENCES = 4
_K1, _B = 1.2, 0.4
_NEAR = 0.35
"""What the title and the neighbouring sentences of a sentence add to its score, as a share of their own match."""
_KEEP = 0.4
"""A further sentence is quoted when it adds at least this share of what the best one scores."""
_ANSWERED = 0.6
"""What a word still counts when a sentence that is already quoted holds it."""
_COVERAGE, _HEAVIEST = 0.35, 5
"""A sentence and its surroundings must match at least this share of the weight of the question's heaviest words. Chosen on half of 422
questions, own ones and those of other corpora: what the other half then gets stands in the measurements."""
_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:much|many|long|late|often|far|old)|when|what time|which day|cost|price|phone|number|"
    r"hoeveel|hoe (?:lang|laat|vaak|oud|ver|duur)|hoelang|wanneer|welke dag|kost|kosten|prijs|nummer|telefoon\w*|\w*tijden|\w*kosten)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:een|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|one|two|three|four|five|six|seven|eight|nine|ten|gratis|free|"
    r"(?:maan|dins|woens|donder|vrij|zater|zon)dag|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\S+\s*")
_LEAD = re.compile(r"[\s>#*•|-]*(?:\d{1,2}[.)]\s+)?")
"""A list mark in front of a sentence."""


class Quote(NamedTuple):
    """A sentence of the context: characters `start` to `end` of its text, inside the body of block `number`.

    `parts` is what each asked word adds to its score.
    """

    start: int
    end: int
    number: int
    parts: tuple[float, ...]


class ExtractiveModel:
    """Answers with 1 to 4 sentences of the context, word by word, always the same for the same context."""

    name = NAME
    is_language_model = False

    def stream(
        self,
        messages: Sequence[Message],
        *,
        assembly: Assembly,
        temperature: float = 0.0,
        max_tokens: int = 512,
        cancel: Cancel | None = None,
    ) -> Pieces:
        """Stream the answer of `extract_answer`; `temperature` changes nothing."""
        return Pieces(in_words(extract_answer(assembly, max_tokens, refusal_in(messages)), cancel))


def in_words(text: str, cancel: Cancel | None) -> Produce:
    """`text` word by word, until cancelled."""
    for word in _WORDS.findall(text):
        if cancel is not None and cancel():
            return "cancelled"
        yield word
    return "stop"


def refusal_in(messages: Sequence[Message]) -> str | None:
    """The refusal sentence that a system message asks for, as the strict prompt does."""
    systems = [message.content for message in messages if message.role == "system"]
    return next((refusal for refusal in REFUSAL.values() if any(refusal in system for system in systems)), None)


def extract_answer(assembly: Assembly, max_tokens: int = 512, refusal: str | None = None) -> str:
    """The best sentences in reading order, each followed by its marker where markers are expected, else a paragraph each.

    Without a marker behind it an entry of a list, which has no full stop, would run into the sentence after it.
    About three characters are taken for a token, so that `max_tokens` ends the answer between sentences. Where no sentence
    fits: `refusal`, else a sentence in the question's language.
    """
    room, parts = max_tokens * 3, list[str]()
    settings = assembly.settings
    marked = expects_markers(settings)
    for quote in quotes_of(assembly):
        sentence = " ".join(assembly.text[quote.start : quote.end].split())
        room -= len(sentence) + 5
        if parts and room < 0:
            break
        parts.append(f"{sentence} {marker_of(settings.format, quote.number)}" if marked else sentence)
    return (" " if marked else "\n\n").join(parts) or refusal or _unanswered(assembly)


def _unanswered(assembly: Assembly) -> str:
    asked = language_of(assembly.query.query)
    bodies = " ".join(assembly.text[low:high] for _, low, high in bodies_of(assembly)[:20])[:5000]
    return UNANSWERED[asked] if language_of(bodies) == asked or not bodies else f"{UNANSWERED[asked]} {OTHER_LANGUAGE[asked]}"


def quotes_of(assembly: Assembly) -> list[Quote]:
    """The sentences to quote, in reading order."""
    text, question = assembly.text, assembly.query.query
    asked = list(dict.fromkeys(terms_of(question)))
    places = [(span, number) for number, low, high in bodies_of(assembly) for span in quotable_spans(text, low, high)]
    if not asked or not places:
        return []
    titles = {citation.number: _matches(asked, terms_of(citation.title or "")) for citation in assembly.citations}
    return sorted(_choose(text, _score(text, places, asked, titles, bool(_ASKS_NUMBER.search(question)))))


def quotable_spans(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[low:high]` without list marks, as spans of `text`."""
    # Not at the top: what tells of a fault imports this room, and must not need the package that is at fault.
    from ctxasm.text.sentences import sentence_spans

    for start, end in sentence_spans(text[low:high]):
        lead = _LEAD.match(text, low + start, low + end)
        begin = lead.end() if lead else low + start
        if any(map(str.isalnum, text[begin : low + end])):
            yield begin, low + end


def _choose(text: str, scored: Sequence[Quote]) -> list[Quote]:
    """The best sentences, one after the other: a word that an earlier one has answered counts less for the next."""
    left, kept, said = list(scored), list[Quote](), set[str]()
    worth = [1.0] * (len(scored[0].parts) if scored else 0)
    least = 0.0

    def gain(quote: Quote) -> float:
        return sum(part * share for part, share in zip(quote.parts, worth, strict=True))

    while left and len(kept) < MAX_SENTENCES:
        best = max(left, key=lambda quote: (gain(quote), -quote.start))
        least = least or _KEEP * gain(best)
        if gain(best) < least:
            break
        left.remove(best)
        words = " ".join(text[best.start : best.end].lower().split())
        if words not in said:
            kept.append(best)
            said.add(words)
            worth = [share * _ANSWERED if part > 0 else share for share, part in zip(worth, best.parts, strict=True)]
    return kept


def bodies_of(assembly: Assembly) -> list[tuple[int, int, int]]:
    """(block number, start, end) of every unbroken run of chunk text in the context; a plain join does not break it."""
    found: list[tuple[int, int, int]] = []
    joined = -1
    for segment in assembly.segments:
        if segment.block is None:
            joined = -1
        elif segment.kind == "chunk":
            if joined == segment.start and found and found[-1][0] == segment.block:
                found[-1] = (segment.block, found[-1][1], segment.end)
            else:
                found.append((segment.block, segment.start, segment.end))
            joined = segment.end
        elif segment.kind == "separator" and joined == segment.start and len(assembly.text[segment.start : segment.end].strip()) == 0:
            joined = segment.end
        else:
            joined = -1
    return found


def _matches(asked: Sequence[str], terms: Sequence[str]) -> list[float]:
    """How well each asked word is met in `terms`, from 0 to its saturated count."""
    counts = Counter(terms)
    if len(counts) > 200:
        counts = Counter(dict(counts.most_common(200)))
    return [sum(count * is_alike(word, term) for term, count in counts.items()) for word in asked]


def _score(
    text: str, places: Sequence[tuple[tuple[int, int], int]], asked: Sequence[str], titles: dict[int, list[float]], wants_number: bool
) -> list[Quote]:
    words = [terms_of(text[start:end]) for (start, end), _ in places]
    met = [_matches(asked, terms) for terms in words]
    mean = sum(map(len, words)) / len(words) or 1.0
    weights = [math.log(1 + (len(met) + 0.5) / (0.5 + sum(1 for row in met if row[i] > 0))) for i in range(len(asked))]
    needed = _COVERAGE * sum(sorted(weights)[-_HEAVIEST:])
    scored = []
    for index, ((start, end), number) in enumerate(places):
        near = [
            titles.get(number, [0.0] * len(asked)),
            *(met[i] for i in (index - 1, index + 1) if 0 <= i < len(met) and places[i][1] == number),
        ]
        around = [max(row[i] for row in near) for i in range(len(asked))]
        has_number = _NUMBER.search(text, start, end) is not None
        if not any(met[index]) and not (wants_number and has_number and sum(around) > 0):
            continue
        if sum(weight * min(1.0, own + other) for weight, own, other in zip(weights, met[index], around, strict=True)) < needed:
            continue
        length = _K1 * (1 - _B + _B * len(words[index]) / mean)
        factor = _fitness(text[start:end]) * (1.5 if wants_number and has_number else 1.0)
        parts = [
            factor * weight * (own * (_K1 + 1) / (own + length) + _NEAR * min(1.0, other))
            for weight, own, other in zip(weights, met[index], around, strict=True)
        ]
        scored.append(Quote(start, end, number, tuple(parts)))
    return scored


def _fitness(sentence: str) -> float:
    """How much a sentence can answer: little when it is a question or a heading."""
    is_heading = sentence[-1] not in ".!;…)⟧" and len(sentence.split()) < 7 and not any(char.isdigit() for char in sentence)
    return 0.3 if sentence[-1] in "?:" or is_heading else 1.0
