"""Search by words: BM25 over an index in memory, by bm25s."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from importlib import import_module
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.retrieval.analyser import Analyser, QuestionWords
from ctxasm.retrieval.stopping import stop_if
from ctxasm.text.bm25 import K1, B

STEP = 500
"""Texts between two reports."""


class Ranked(NamedTuple):
    """A text by its position in the index, and its score."""

    position: int
    score: float


class Bm25Index:
    """An index over a fixed list of texts; results name texts by their position in it. Threads may share it.

    `total` is the number of texts where it is known, for the progress. Raises SearchStopped when `cancelled`.
    """

    def __init__(
        self,
        texts: Iterable[str],
        analyser: Analyser,
        *,
        total: int | None = None,
        report: Report = silent,
        cancelled: Cancelled = never,
    ) -> None:
        self._analyser = analyser
        began = perf_counter()
        words: list[list[str]] = []
        for text in texts:
            if len(words) % STEP == 0:
                stop_if(cancelled)
                report(Progress(len(words), total, "indexing words", perf_counter() - began))
            words.append(analyser.words(text))
        self.size = len(words)
        self._index = _indexed(words) if any(words) else None
        report(Progress(len(words), len(words), "indexing words", perf_counter() - began))

    @property
    def bytes(self) -> int:
        """About how much memory the index takes."""
        if self._index is None:
            return 0
        return sum(int(part.nbytes) for part in self._index.scores.values() if hasattr(part, "nbytes")) + 100 * len(self._index.vocab_dict)

    def question(self, text: str) -> QuestionWords:
        """The words of a question, as this index has them."""
        return self._analyser.question(text)

    def scores(self, question: str) -> Any:
        """The score of every text (float32): 0 for one that shares no word with `question`."""
        index = self._index
        known = [] if index is None else [word for word in self.question(question).words if word in index.vocab_dict]
        return np.zeros(self.size, np.float32) if index is None or not known else index.get_scores(known)

    def search(self, question: str, limit: int) -> list[Ranked]:
        """The best `limit` texts that share a word with `question`, best first; ties by position."""
        return best_of(self.scores(question), limit, least=0.0)


def best_of(scores: Any, limit: int, least: float | None = None) -> list[Ranked]:
    """The `limit` highest of an array of scores (above `least`), highest first; ties by position."""
    places = np.arange(len(scores)) if least is None else np.flatnonzero(scores > least)
    if len(places) > limit:
        # Every one that ties with the last must still be there, or ties would be drawn by chance.
        bar = np.partition(scores[places], len(places) - limit)[len(places) - limit]
        places = places[scores[places] >= bar]
    order = places[np.lexsort((places, -scores[places]))][:limit]
    return [Ranked(int(place), float(scores[place])) for place in order]


def _indexed(words: list[list[str]]) -> Any:
    bm25s = import_module("bm25s")
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    index = bm25s.BM25(k1=K1, b=B)
    index.index(words, show_progress=False)
    return index
