"""Search by words: BM25 over stemmed Dutch words (bm25s, of the extra `retrieval`, and PyStemmer)."""

from collections.abc import Sequence
from importlib import import_module


class Bm25Index:
    """An index in memory over a fixed list of texts; results name texts by their position in it."""

    def __init__(self, texts: Sequence[str], *, language: str = "dutch", stopwords: str = "nl") -> None:
        self._bm25s = import_module("bm25s")
        self._stemmer = import_module("Stemmer").Stemmer(language)
        self._stopwords = stopwords
        self._index = self._bm25s.BM25()
        self._index.index(self._words(texts), show_progress=False)
        self._size = len(texts)

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """The best `limit` texts that share a word with `query`, best first; ties by position."""
        words = self._words([query])
        if not words[0]:
            return []
        scores = self._index.get_scores(words[0])
        found = [(position, float(score)) for position, score in enumerate(scores) if score > 0]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def _words(self, texts: Sequence[str]) -> list[list[str]]:
        tokenized: list[list[str]] = self._bm25s.tokenize(
            list(texts), stopwords=self._stopwords, stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return tokenized
