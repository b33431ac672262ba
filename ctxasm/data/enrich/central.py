"""The sentences that say most of what a text is about, without a model.

A sentence is rated by how well its words cover the words of the whole text (the centroid of Radev, Jing, Styś and Tam 2004, with
square-rooted counts so that one repeated word does not decide), and by how early it stands: the lead is the strongest known
baseline of extractive summaries. Sentences that only work in their place (questions, list heads, "This …") count less.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.text.sentences import sentence_spans
from ctxasm.text.terms import terms_of

LEAST_WORDS, MOST_WORDS = 6, 40
"""A sentence outside these bounds is no summary."""
LEAD = 1.0
"""What the first sentence gets on top, as a share of its rating; the bonus falls to 1/e after LEAD_REACH sentences."""
LEAD_REACH = 5
LEAST_SHARE = 0.25
"""A sentence rated below this share of the best is not taken: legal boilerplate beside prose."""
READ = 400
"""Sentences of a long text that are rated: the first ones of each of that many stretches of equal length."""
_DEPENDENT = re.compile(
    r"(?:(?:This|That|These|Those|It|He|She|They|But|And|So|However|Also|Thus|Such|For example|"
    r"Dit|Dat|Deze|Die|Het is|Hij|Zij|Ze|Maar|En|Dus|Ook|Daarom|Zo|Echter|Bijvoorbeeld|Hierdoor|Hiervoor)\b)"
)
_LEAD = re.compile(r"(?:[-*+•#>/!\s]|\[\d+\]|\d{1,2}[.)]\s)*")
_LEGAL = re.compile(r"\b(?:licen[sc]e|licensed|warrant|copyright|all rights reserved|distributed under)", re.IGNORECASE)
_CODE = re.compile(r"[{}=|;]|::|//|\w\(\)|\w_\w")
_PROSE = re.compile(r"[^\W\d_]")


class Rated(NamedTuple):
    """A sentence as characters `start` to `end` of a text, and its rating."""

    start: int
    end: int
    score: float
    terms: frozenset[str]


def rated_sentences(text: str) -> list[Rated]:
    """The sentences of `text` that could stand alone, in their order. Takes time linear in the length of `text`."""
    spans = _thinned(sentence_spans(text))
    words = [terms_of(text[start:end]) for start, end in spans]
    counts = Counter(word for own in words for word in own)
    found = []
    for place, ((start, end), own) in enumerate(zip(spans, words, strict=True)):
        start += len(lead[0]) if (lead := _LEAD.match(text[start:end])) else 0
        sentence = text[start:end]
        if not sentence or not _is_prose(sentence):
            continue
        terms = frozenset(own)
        about = sum(math.sqrt(counts[word]) for word in terms if counts[word] > 1)
        score = about / math.sqrt(len(own) + 8) * (1 + LEAD * math.exp(-place / LEAD_REACH))
        fitness = (0.6 if _DEPENDENT.match(sentence) else 1.0) * (0.1 if _LEGAL.search(sentence) else 1.0)
        found.append(Rated(start, end, score * fitness, terms))
    return found


def central_sentences(text: str, most: int = 2) -> list[str]:
    """At most `most` sentences of `text`, each on one line, in their order; what one has said counts less for the next."""
    rated, chosen = rated_sentences(text), list[Rated]()
    least = LEAST_SHARE * max((one.score for one in rated), default=0.0)
    left = [one for one in rated if one.score >= least]
    while left and len(chosen) < most:
        said = frozenset[str]().union(*(one.terms for one in chosen))
        best = max(left, key=lambda one: (one.score * (1 - 0.8 * len(one.terms & said) / (len(one.terms) or 1)), -one.start))
        chosen.append(best)
        left = [one for one in left if one is not best and one.terms != best.terms]
    return [" ".join(text[one.start : one.end].split()) for one in sorted(chosen)]


def _is_prose(sentence: str) -> bool:
    words = sentence.split()
    if not LEAST_WORDS <= len(words) <= MOST_WORDS or sentence[-1] not in '.!…)"”’':
        return False
    return sum(1 for word in words if _PROSE.match(word.lstrip("\"'“„(*_`"))) >= 0.75 * len(words) and not _CODE.search(sentence)


def _thinned(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    if len(spans) <= READ:
        return list(spans)
    return [spans[place * len(spans) // READ] for place in range(READ)]
