"""Search by the database that holds a dataset, for corpora that are too large for an index in memory.

Words and vectors are made here and kept by the store in search sets (see ctxasm.store.search), once per version of a dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ctxasm.model.kept import Kept
from ctxasm.model.progress import Progress
from ctxasm.retrieval.indexes import DEEP, Asked, Key, Replaced, indexed_texts

if TYPE_CHECKING:
    from ctxasm.llm.embedding import KeptVectors
    from ctxasm.model.records import CorpusLanguage
    from ctxasm.retrieval.analyser import QuestionWords
    from ctxasm.retrieval.fusion import Ranking
    from ctxasm.retrieval.indexes import MadeOnce
    from ctxasm.store.search import SearchSet

_being_made: list[MadeOnce[SearchSet]] = []
_languages: Kept[CorpusLanguage] = Kept(1000)


class EngineSearcher:
    """Searches sets in the database, which are made when they are first asked for. A `Searcher`; positions are places."""

    def __init__(self, asked: Asked) -> None:
        from ctxasm.store.search import search_tables

        self._asked, self._depth = asked, max(DEEP, asked.options.limit)
        self._tables = search_tables(asked.datasets.store, asked.info.name)
        if self._tables.info.dataset_id != asked.info.dataset_id:
            raise Replaced

    def by_words(self, question: str) -> tuple[QuestionWords, Ranking]:
        """See `Searcher`."""
        from ctxasm.retrieval.analyser import analyser
        from ctxasm.retrieval.fusion import Ranked, Ranking
        from ctxasm.store.search_words import KINDS, make_words, search_words

        language = self._language()
        words = analyser(language).question(question)
        what = f"words|{language}|{self._what()}"
        made = self._made(KINDS, what, lambda: make_words(self._tables, what, self._word_rows(language)))
        found = search_words(self._tables, made, words.words, self._depth) if words.words else []
        return words, Ranking("bm25", [Ranked(*item) for item in found])

    def by_meaning(self, vectors: KeptVectors, question: str) -> Ranking:
        """See `Searcher`."""
        from ctxasm.retrieval.fusion import Ranked, Ranking
        from ctxasm.store.search_vectors import KINDS, make_vectors, search_vectors

        what = f"vectors|{vectors.kept_as}|{self._what()}"
        made = self._made(KINDS, what, lambda: make_vectors(self._tables, what, self._vector_rows(vectors)))
        found = search_vectors(self._tables, made, vectors.question(question), self._depth) if made.texts else []
        return Ranking("vector", [Ranked(*item) for item in found])

    def keys(self, positions: Sequence[int]) -> Sequence[Key]:
        """See `Searcher`."""
        return self._tables.keys(positions)

    def _what(self) -> str:
        return f"{self._asked.options.text}|{self._asked.stamp}"

    def _language(self) -> CorpusLanguage:
        from ctxasm.retrieval.analyser import language_of_corpus

        chosen = self._asked.options.language
        if chosen != "auto":
            return language_of_corpus(chosen, ())
        known = _languages.get(self._tables.address)
        if known is None:
            known = language_of_corpus(chosen, self._tables.sample())
            _languages.put(self._tables.address, known)
        return known

    def _made(self, kinds: Sequence[str], what: str, make: Callable[[], SearchSet]) -> SearchSet:
        """The set that is there, else one made now; threads of this process that want the same wait for one of them."""
        if (ready := self._tables.ready(kinds, what)) is not None:
            return ready
        if not _being_made:
            from ctxasm.retrieval.indexes import MadeOnce

            _being_made.append(MadeOnce(0, lambda made: 1))
        key = (self._tables.address, what)
        try:
            return _being_made[0].get(key, lambda: self._tables.ready(kinds, what) or make(), self._asked.cancelled)
        finally:
            _being_made[0].forget(key)

    def _batches(self, doing: str) -> Iterator[tuple[list[int], list[Any], Sequence[str]]]:
        """Places, chunks and what is indexed of each. Raises SearchStopped."""
        from ctxasm.retrieval.indexes import stop_if

        asked, began, done = self._asked, perf_counter(), 0
        for batch in self._tables.batches():
            stop_if(asked.cancelled)
            asked.report(Progress(done, asked.info.chunks, doing, perf_counter() - began))
            texts = indexed_texts(asked.datasets, asked.info.name, asked.options.text, batch.chunks, batch.documents)
            yield batch.places, batch.chunks, texts
            done += len(batch.places)
        if done != asked.info.chunks:
            raise Replaced
        asked.report(Progress(done, done, doing, perf_counter() - began))

    def _word_rows(self, language: CorpusLanguage) -> Iterator[tuple[Sequence[int], Any]]:
        from ctxasm.retrieval.analyser import analyser

        words = analyser(language).words
        for places, _, texts in self._batches("indexing words"):
            yield places, [words(text) for text in texts]

    def _vector_rows(self, vectors: KeptVectors) -> Iterator[tuple[Sequence[int], Any]]:
        from ctxasm.retrieval.indexes import content_key, stop_if

        def told(done: int, total: int) -> None:
            stop_if(self._asked.cancelled)

        for places, chunks, texts in self._batches(f"embedding chunks ({vectors.name})"):
            keys = [content_key(chunk, text) for chunk, text in zip(chunks, texts, strict=True)]
            yield places, vectors.of_texts(keys, texts, told)
