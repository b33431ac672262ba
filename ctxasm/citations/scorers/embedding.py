"""Likeness of meaning: how near a claim lies to windows of sentences of each source.

Likeness is not support: "45 minutes" lies as near as "30 minutes". On cited-hagrid (441 labelled claims, halves by question) the
cosine of multilingual-e5-small separates carried claims from others with AUC .81 on the half used for tuning and .79 on the
other, wordllama .79 and .78, both below plain word overlap (.84), and no threshold of either reaches a precision of .90. So
this scorer finds *where* something like the claim is said, in other words or another language, and a `gate` on figures, names
and negation must say whether it is the same. Without one, read its verdicts as hints. A fact added to a true claim may still pass.

Only sentences are embedded; the vector of a window is the mean of its sentences by length, which on the same data was no
worse than embedding the window itself and takes a sixth of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ctxasm.citations.scorers.base import Gate, ModelComparison, Split, Window, require_thresholds, sentences_of, stop_if, windows_of
from ctxasm.model.characters import encodable
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.kept import Kept, key_of
from ctxasm.model.messages import Cancel
from ctxasm.model.support import NO_MATCH, Found, Match, Source, Spent

BATCH = 32
WIDEST = 3
JOINT = 3
"""The most sources whose windows are joined to carry one claim."""
MIN_GAIN = 0.05
"""What a further source must add to the score to be joined."""


class Embedder(Protocol):
    """Texts in, one unit vector each out (an array of shape texts × dimensions). As in retrieval.vector."""

    def embed_passages(self, texts: Sequence[str]) -> Any: ...
    def embed_query(self, text: str) -> Any: ...


class EmbeddingScorer:
    """Compares by cosine. A score says how far it lies between `floor`, the cosine of unrelated texts, and 1.

    Floor and thresholds belong to the embedder. The defaults are those of multilingual-e5-small with the lexical gate, chosen on one
    half of cited-hagrid and of the probe claims: precision .91 and recall .38 there, .85 and .33 on the other half of cited-hagrid
    (40 of 47 right). For wordllama take 0.85, 0.6 and a floor of 0: .85 and .26, and .91 and .24 (29 of 32). It is a hundred times
    as fast, but knows no Dutch paraphrase. See tests/bench/test_scorers.py.
    At most `keep` vectors are kept in memory (384 numbers each for e5: 30 MB).
    """

    name = "embedding"

    def __init__(
        self,
        embedder: Embedder,
        split: Split,
        *,
        threshold: float = 0.61,
        partly: float = 0.45,
        floor: float = 0.8,
        gate: Gate | None = None,
        keep: int = 20_000,
    ) -> None:
        require_thresholds(partly, threshold)
        if not 0 <= floor < 1:
            raise InvalidInput(f"floor must be a cosine from 0 to below 1, got {shown(floor)}")
        self.threshold, self.partly, self.floor = threshold, partly, floor
        self._embedder, self._split, self._gate = embedder, split, gate
        self._kept: Kept[Any] = Kept(keep)

    def compare(
        self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None
    ) -> EmbeddingComparison:
        """Embed what is not known yet, in batches of texts of like length. Raises ModelUnavailable once it is not wanted any more."""
        sentences = [sentences_of(source, self._split) for source in sources]
        texts = [
            encodable(source.text[a:b]) for source, ranges in zip(sources, sentences, strict=True) for spans in ranges for a, b in spans
        ]
        vectors = self._passages(texts, cancel) if any(claim.strip() for claim in claims) else {}
        asked = {claim: self._query(claim, cancel) for claim in dict.fromkeys(claims) if claim.strip() and vectors}
        stacks = [_Stack(source, ranges, vectors) for source, ranges in zip(sources, sentences, strict=True)] if vectors else []
        return EmbeddingComparison(claims, sources, stacks, asked, self, self._gate)

    def _passages(self, texts: Sequence[str], cancel: Cancel | None) -> dict[str, Any]:
        keys = {text: key_of("passage", text) for text in texts}
        known = {text: vector for text, key in keys.items() if (vector := self._kept.get(key)) is not None}
        unknown = sorted((text for text in keys if text not in known), key=lambda text: (len(text), text))
        for start in range(0, len(unknown), BATCH):
            stop_if(cancel)
            batch = unknown[start : start + BATCH]
            for text, vector in zip(batch, self._embedder.embed_passages(batch), strict=True):
                known[text] = np.asarray(vector, dtype=np.float32)
                self._kept.put(keys[text], known[text])
        return known

    def _query(self, claim: str, cancel: Cancel | None) -> Any:
        key = key_of("query", claim)
        vector = self._kept.get(key)
        if vector is None:
            stop_if(cancel)
            vector = np.asarray(self._embedder.embed_query(encodable(claim)), dtype=np.float32)
            self._kept.put(key, vector)
        return vector


class _Stack:
    """The windows of one source and their vectors, one a row."""

    def __init__(self, source: Source, ranges: Sequence[Sequence[tuple[int, int]]], vectors: dict[str, Any]) -> None:
        spans = [span for part in ranges for span in part]
        rows = [vectors[encodable(source.text[start:end])] * (end - start) for start, end in spans]
        self.windows: list[Window] = windows_of(ranges, WIDEST)
        sums = np.concatenate([np.zeros((1, len(rows[0]))), np.cumsum(rows, axis=0, dtype=np.float64)]) if rows else np.zeros((1, 1))
        firsts = np.array([window.first for window in self.windows], dtype=int)
        lasts = firsts + np.array([window.sentences for window in self.windows], dtype=int)
        self.matrix = _unit(sums[lasts] - sums[firsts])

    def best(self, vector: Any) -> int | None:
        """The position of the nearest window; the narrowest, then the first, of those that are equal to six digits."""
        return int(np.argmax(np.round(self.matrix @ vector, 6))) if self.windows else None


class EmbeddingComparison(ModelComparison):
    """Cosines of claims with the windows of each source."""

    def __init__(
        self,
        claims: Sequence[str],
        sources: Sequence[Source],
        stacks: Sequence[_Stack],
        asked: Mapping[str, Any],
        scorer: EmbeddingScorer,
        gate: Gate | None,
    ) -> None:
        super().__init__(claims, sources, scorer.partly, gate, Spent())
        self._stacks, self._asked, self._threshold, self._floor = stacks, asked, scorer.threshold, scorer.floor
        self._nearest: dict[str, list[int | None]] = {}

    def _compared(self, claim: str, chosen: Sequence[int]) -> Match:
        """Every source that carries the claim alone; else the nearest, and what brings it nearer."""
        vector = self._asked.get(claim)
        if vector is None:
            return NO_MATCH
        if claim not in self._nearest:
            self._nearest[claim] = [stack.best(vector) for stack in self._stacks]
        nearest = self._nearest[claim]
        alone = {at: self._score(self._stacks[at].matrix[place], vector) for at in chosen if (place := nearest[at]) is not None}
        if not alone:
            return NO_MATCH
        ranked = sorted(alone, key=lambda at: -alone[at])
        score, used = alone[ranked[0]], [at for at in ranked if alone[at] >= self._threshold] or ranked[:1]
        if score < self._threshold:
            rows = {at: self._stacks[at].matrix[nearest[at]] for at in ranked}
            for at in ranked[1:]:
                together = self._score(_unit(sum(rows[one] for one in (*used, at))[None])[0], vector)
                if together >= score + MIN_GAIN and len(used) < JOINT:
                    score, used = together, [*used, at]
        if score < self._partly:
            return Match(score)
        return Match(score, tuple(self._found(at, nearest[at], alone[at]) for at in used))

    def _score(self, one: Any, other: Any) -> float:
        """How far the cosine lies between the floor and 1, to six digits: the last ones depend on how texts were batched."""
        return round(min(1.0, max(0.0, (float(one @ other) - self._floor) / (1 - self._floor))), 6)

    def _found(self, at: int, place: int | None, score: float) -> Found:
        assert place is not None
        window = self._stacks[at].windows[place]
        return Found(self._sources[at].number, window.start, window.end, score)


def _unit(rows: Any) -> Any:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)
