"""What a chunk is probably worth to a question: a conditional logit over a few features that need no model and no network.

The value of a candidate is exp(weights · features); only the ratio of two values of one question means anything. Every feature is
free of scale: it compares a candidate with the others of its question, so that a corpus, a language or a score of another kind does not
move it. The weights ship in `values.toml`, made by `ctxasm fit`, and a team's own take their place (`CTXASM_VALUE_WEIGHTS`).
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache, reduce
from importlib.resources import files
from math import exp, isfinite, log, log1p
from operator import or_
from typing import NamedTuple

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import make_record
from ctxasm.model.results import Candidate, Key
from ctxasm.text.language import STOP_WORDS

SPREAD = 1 / 3
"""What of a hit's 1 / rank reaches the next chunk on either side, as for `segments`."""
LENT = tuple([SPREAD**step for step in range(46)])
"""The same by steps: from further away less would be left of it than nothing:"""
NOTHING = exp(-50.0)
"""What counts as reached by no hit. Less is not told apart, so that no chunk that a hit reaches is worth less than one out of reach."""
MOST_TERMS = 60
"""Words of a question that are looked for: the first."""
KEPT_TEXTS = 1024
"""Texts of which it is kept which words of a question they hold, and their most characters:"""
KEPT_CHARS = 8192
ENDING = 2
"""Letters that a long word may lose to an inflection, and the fewest that stay of it:"""
STEM = 4
_WORD = re.compile(r"[^\W_]+")


class Features(NamedTuple):
    """What is known of one candidate.

    `near` is the logarithm of the hits' 1 / rank that reach it, a third at every step; `distance` that of one more than the steps to
    the nearest hit. `document` is the share of all 1 / rank that hits of its document have. `words` is the weight of the
    question's words in its text, as a share of the most that a candidate has; `document_words` the same of all candidates of its document
    together. `title_words` is the share of all the question's words in the title. `length` is the logarithm of its tokens.
    """

    near: float
    distance: float
    document: float
    words: float
    document_words: float
    title_words: float
    length: float


class Weights(NamedTuple):
    """One weight a feature, and how many neighbours the candidates had on each side when they were fitted."""

    features: Features
    window: int


class Valued(NamedTuple):
    """A candidate with its value and what it is made of. `held` are the words of the question in its text, as bits (see `words_held`)."""

    candidate: Candidate
    value: float
    features: Features
    distance: int
    hits_in_document: int
    held: int


def stems_of(question: str) -> dict[str, str]:
    """What is looked for in a text, with the word it stands for: each word of the question without what an inflection changes.

    Stop words and single letters are left out. What is written without blanks (Chinese, Japanese) goes in as pairs of characters.
    """
    stems: dict[str, str] = {}
    for word in _WORD.findall(question.lower()):
        if word in STOP_WORDS or (len(word) < STEM - 1 and word.isascii() and not word.isdigit()):
            continue
        if word[0] >= "\u3040":
            stems |= {word[at : at + 2]: word[at : at + 2] for at in range(max(1, len(word) - 1))}
        else:
            stems.setdefault(word if len(word) <= STEM or word.isdigit() else word[: max(STEM, len(word) - ENDING)], word)
    return dict(list(stems.items())[:MOST_TERMS])


def words_held(words: Sequence[str], held: int) -> tuple[str, ...]:
    """Those of the question's words (as `stems_of` has them) that these bits stand for."""
    return tuple([word for at, word in enumerate(words) if held >> at & 1])


def value_candidates(
    question: str, candidates: Iterable[Candidate], titles: Mapping[str, str], weights: Weights | None = None
) -> dict[Key, Valued]:
    """The value of every candidate. `titles` are those of their documents; one that is missing holds no word."""
    documents: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        documents.setdefault(candidate.chunk.document_id, []).append(candidate)
    return _Valuing(question, documents, titles, weights or shipped_weights()).values()


class _Valuing:
    """All candidates of a question, whose texts are read once."""

    def __init__(self, question: str, documents: Mapping[str, Sequence[Candidate]], titles: Mapping[str, str], weights: Weights) -> None:
        self.documents, self.titles, self.weights = documents, titles, weights.features
        self.stems = tuple(stems_of(question))
        self.bits = [(stem, 1 << at) for at, stem in enumerate(self.stems)]
        self.held = {document_id: self._read(own) for document_id, own in documents.items()}
        self.rarity = self._rarity(Counter([held for own in self.held.values() for held in own]))
        self.whole = sum([weight for _, weight in self.rarity])
        self.shares: dict[int, float] = {0: 0.0}

    def _read(self, own: Sequence[Candidate]) -> list[int]:
        """The question's words in the text of each candidate, as bits."""
        stems, found = self.stems, []
        for candidate in own:
            text = candidate.chunk.text
            found.append(_kept_held(stems, text) if len(text) <= KEPT_CHARS else _held(stems, text))
        return found

    def _rarity(self, times: Counter[int]) -> list[tuple[int, float]]:
        """What each word weighs: the rarer among the candidates, the more (BM25's inverse document frequency)."""
        total, held = times.total(), times.items()
        found = []
        for _, bit in self.bits:
            holding = sum([count for each, count in held if each & bit])
            found.append((bit, log(1 + (total - holding + 0.5) / (holding + 0.5))))
        return found

    def _share(self, held: int) -> float:
        """The share of the question's words, by weight, that these bits are."""
        share = self.shares.get(held)
        if share is None:
            share = self.shares[held] = sum([weight for bit, weight in self.rarity if held & bit]) / self.whole
        return share

    def values(self) -> dict[Key, Valued]:
        """Every candidate by its key."""
        together = {name: self._share(reduce(or_, own)) for name, own in self.held.items()}
        most = max([self._share(held) for own in self.held.values() for held in own], default=0.0) or 1.0
        most_together = max(together.values(), default=0.0) or 1.0
        hits = {name: [(c.chunk.chunk_index, 1.0 / c.rank) for c in own if c.retrieved] for name, own in self.documents.items()}
        worths = {name: sum([worth for _, worth in own]) for name, own in hits.items()}
        all_worth = sum(worths.values()) or 1.0
        valued: dict[Key, Valued] = {}
        (w_near, w_distance, w_document, w_words, w_document_words, w_title, w_length), shares = self.weights, self.shares
        for name, own in self.documents.items():
            title = self.titles.get(name, "").lower()
            of_document = worths[name] / all_worth
            of_words = together[name] / most_together
            of_title = self._share(sum([bit for stem, bit in self.bits if stem in title]))
            own_hits = hits[name]
            by_document, by_words, by_title = w_document * of_document, w_document_words * of_words, w_title * of_title
            for candidate, held in zip(own, self.held[name], strict=True):
                chunk = candidate.chunk
                index, near, distance = chunk.chunk_index, 0.0, -1
                for at, worth in own_hits:
                    step = index - at if index > at else at - index
                    if step < len(LENT):
                        near += worth * LENT[step]
                    if distance < 0 or step < distance:
                        distance = step
                distance = distance if distance > 0 else 0
                reached = log(near if near > NOTHING else NOTHING)
                steps, of_text, length = log1p(distance), shares[held] / most, log(chunk.token_count or 1)
                total = w_near * reached + w_distance * steps + by_document + w_words * of_text + by_words + by_title + w_length * length
                features = make_record(Features, (reached, steps, of_document, of_text, of_words, of_title, length))
                value = exp(total if total < 500.0 else 500.0)
                valued[name, index] = make_record(Valued, (candidate, value, features, distance, len(own_hits), held))
        return valued


def _held(stems: tuple[str, ...], text: str) -> int:
    """These words in a text, as bits."""
    text, held, bit = _lower(stems, text), 0, 1
    for stem in stems:
        if stem in text:
            held |= bit
        bit <<= 1
    return held


def _lower(stems: tuple[str, ...], text: str) -> str:
    """What holds the same of these words as `text` in lower case.

    For plain words that is its UTF-8 with a character for every byte, which takes a third of the time: only these two other letters
    have a plain letter for a lower case.
    """
    if text.isascii() or "\u0130" in text or "\u212a" in text or not "".join(stems).isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("latin-1")


_kept_held = lru_cache(maxsize=KEPT_TEXTS)(_held)
"""The same question is asked of the same texts under setting after setting."""


@cache
def shipped_weights() -> Weights:
    """Those in the package, fitted on the corpora that the file names."""
    return read_weights(files("ctxasm.assembly").joinpath("values.toml").read_text(encoding="utf-8"))


def read_weights(text: str) -> Weights:
    """Weights as `ctxasm fit` writes them (TOML, a number for every feature). Raises InvalidInput."""
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"the weights are not TOML: {error}; make them with `ctxasm fit`") from None
    given, window = told.get("weights"), told.get("window")
    if not isinstance(given, dict) or set(given) != set(Features._fields):
        wanted = ", ".join(Features._fields)
        raise InvalidInput(f"the table weights must give a number to each of {wanted}, got {shown(given)}; make it with `ctxasm fit`")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or abs(value) > 100:
            raise InvalidInput(f"weights.{name} must be a number between -100 and 100, got {shown(value)}")
    if isinstance(window, bool) or not isinstance(window, int) or not 0 <= window <= 12:
        raise InvalidInput(f"window must be a whole number between 0 and 12, got {shown(window)}")
    return Weights(Features(**{name: float(value) for name, value in given.items()}), window)
