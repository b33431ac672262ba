"""Inference as scorer: does a stretch of a source entail the claim? A cross-encoder reads both together.

A premise is a window of up to three sentences, because such models were trained on short ones; windows step by two, so any
two neighbours meet in one. Where one carries the claim even in part, its narrower windows are tried for the place to show.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxasm.citations.scorers.base import Gate, ModelComparison, Split, Window, require_thresholds, sentences_of, windows_of
from ctxasm.citations.scorers.nli_model import Inference, NliModel
from ctxasm.model.kept import Kept, key_of
from ctxasm.model.messages import Cancel
from ctxasm.model.support import NO_MATCH, Found, Match, Source, Spent

WIDEST, STEP = 3, 2
JOINT = 4
"""The most sources whose windows are read as one premise."""
SLACK = 0.02
"""A narrower window is shown when it scores no less than this below the best."""
Pair = tuple[str, str]


class NliScorer:
    """Compares with the NLI model in the folder `path` (see NliModel, which says what must be in it, and raises InvalidInput).

    A score is the probability of entailment by the best window. Where the model sees a contradiction that outweighs it, the score
    is lowered by it; it names no words, so a conflict comes from the `gate` alone. `keep` inferences are kept. The thresholds are
    those of a calibrated three-way model and were not measured: check them on labelled answers of your own.
    """

    name = "nli"

    def __init__(
        self,
        path: str | os.PathLike[str],
        split: Split,
        *,
        threshold: float = 0.8,
        partly: float = 0.4,
        gate: Gate | None = None,
        keep: int = 100_000,
    ) -> None:
        require_thresholds(partly, threshold)
        self.threshold, self.partly = threshold, partly
        self._model, self._split, self._gate = NliModel(path), split, gate
        self._kept: Kept[Inference] = Kept(keep)

    def compare(self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None) -> NliComparison:
        """Infer every claim from every window now, in batches. Raises ModelUnavailable; what was inferred before that is kept."""
        asked = [claim for claim in dict.fromkeys(claims) if claim.strip()]
        sentences = [sentences_of(source, self._split) for source in sources]
        windows = [windows_of(ranges, WIDEST, STEP) for ranges in sentences]
        premises = [[source.text[w.start : w.end] for w in own] for source, own in zip(sources, windows, strict=True)]
        coarse = self.infer([(premise, claim) for claim in asked for own in premises for premise in own], cancel)
        stands = {claim: [_stand(claim, source, own, coarse) for source, own in zip(sources, windows, strict=True)] for claim in asked}
        narrower = {
            (claim, at): _narrower(stand, sentences[at])
            for claim, own in stands.items()
            for at, stand in enumerate(own)
            if stand.entails >= self.partly or stand.contradicted
        }
        fine = self.infer([(sources[at].text[w.start : w.end], claim) for (claim, at), own in narrower.items() for w in own], cancel)
        for (claim, at), own in narrower.items():
            scores = {w: fine[sources[at].text[w.start : w.end], claim].entails for w in own}
            stands[claim][at] = _narrowed(stands[claim][at], scores, self.threshold)
        return NliComparison(claims, sources, stands, self, self._gate)

    def infer(self, pairs: Sequence[Pair], cancel: Cancel | None = None) -> Mapping[Pair, Inference]:
        """The inference of each (premise, claim), from what is kept or from the model. Raises ModelUnavailable."""
        keys = {pair: key_of(*pair) for pair in pairs}
        known = {pair: kept for pair, key in keys.items() if (kept := self._kept.get(key)) is not None}
        unknown = [pair for pair in keys if pair not in known]
        for pair, inference in zip(unknown, self._model.infer(unknown, cancel), strict=True):
            known[pair] = inference
            self._kept.put(keys[pair], inference)
        return known


class _Stand(NamedTuple):
    """How one source stands to a claim: its best window, and the window that contradicts it most."""

    window: Window | None = None
    entails: float = 0.0
    against: Window | None = None
    contradicts: float = 0.0

    @property
    def contradicted(self) -> bool:
        """Whether a contradiction outweighs what carries the claim."""
        return self.contradicts >= 0.5 and self.contradicts > self.entails

    @property
    def score(self) -> float:
        return round(self.entails * (1 - self.contradicts), 4) if self.contradicted else self.entails


def _stand(claim: str, source: Source, windows: Sequence[Window], known: Mapping[Pair, Inference]) -> _Stand:
    inferred = [known[source.text[w.start : w.end], claim] for w in windows]
    if not inferred:
        return _Stand()
    best = max(range(len(windows)), key=lambda at: inferred[at].entails)
    worst = max(range(len(windows)), key=lambda at: inferred[at].contradicts)
    return _Stand(windows[best], inferred[best].entails, windows[worst], inferred[worst].contradicts)


def _narrower(stand: _Stand, sentences: Sequence[Sequence[tuple[int, int]]]) -> list[Window]:
    """The windows inside the best one, narrow ones first. A contradiction is looked into as well: its window may hold both."""
    found: list[Window] = []
    for window in dict.fromkeys((stand.window, stand.against if stand.contradicted else stand.window)):
        if window is not None and window.sentences > 1:
            inside = [span for part in sentences for span in part if window.start <= span[0] and span[1] <= window.end]
            found += windows_of([inside], window.sentences - 1)
    return found


def _narrowed(stand: _Stand, scores: Mapping[Window, float], threshold: float) -> _Stand:
    """The same with the narrowest window that carries the claim as well, and the best score seen.

    A contradiction is dropped where its own window holds a narrower one that carries the claim: what stood around it was about
    something else.
    """
    best = max([stand.entails, *scores.values()])
    close = [window for window, score in scores.items() if score >= best - SLACK]
    window = min(close, key=lambda window: window.sentences) if close else stand.window
    against = stand.against
    if against and any(s >= threshold and against.start <= w.start and w.end <= against.end for w, s in scores.items()):
        return stand._replace(window=window, entails=best, contradicts=0.0)
    return stand._replace(window=window, entails=best)


class NliComparison(ModelComparison):
    """Claims by how every source stands to them."""

    def __init__(
        self,
        claims: Sequence[str],
        sources: Sequence[Source],
        stands: Mapping[str, Sequence[_Stand]],
        scorer: NliScorer,
        gate: Gate | None,
    ) -> None:
        super().__init__(claims, sources, scorer.partly, gate, Spent())
        self._stands, self._scorer = stands, scorer

    def _compared(self, claim: str, chosen: Sequence[int]) -> Match:
        """Every source that carries the claim alone; else the best, and the best windows of several read as one premise."""
        stands = {at: stand for at in chosen if (stand := self._stands[claim][at]).window is not None}
        if not stands:
            return NO_MATCH
        ranked = sorted(stands, key=lambda at: -stands[at].score)
        score, used = stands[ranked[0]].score, [at for at in ranked if stands[at].score >= self._scorer.threshold] or ranked[:1]
        if score < self._scorer.threshold and len(ranked) > 1:
            several = sorted(ranked[:JOINT], key=list(chosen).index)
            premise = "\n".join(self._text(at, stands[at]) for at in several)
            joint = self._scorer.infer([(premise, claim)])[premise, claim].entails
            if joint > score:
                score, used = joint, several
        found = tuple(self._found(at, stands[at]) for at in used) if score >= self._scorer.partly else ()
        return Match(score, found)

    def _is_doubtful(self, claim: str, chosen: Sequence[int], match: Match) -> bool:
        return super()._is_doubtful(claim, chosen, match) or any(self._stands[claim][at].contradicted for at in chosen)

    def _text(self, at: int, stand: _Stand) -> str:
        assert stand.window is not None
        return self._sources[at].text[stand.window.start : stand.window.end]

    def _found(self, at: int, stand: _Stand) -> Found:
        assert stand.window is not None
        return Found(self._sources[at].number, stand.window.start, stand.window.end, stand.score)
