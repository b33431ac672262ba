"""The indexes that a search in memory stands on: made once per content of a dataset and per choice of what is indexed, and kept.

An index belongs to the records that it was made of (the content hash of a load), so nothing has to be thrown away when a dataset is
replaced: the next search asks for the index of the new records, and searches that run meanwhile finish on the old ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from ctxasm.data.tables.connecting import Linking
from ctxasm.llm.configured import ConfiguredModels
from ctxasm.model.errors import InvalidInput, StoreUnavailable
from ctxasm.model.progress import Cancelled, Progress, Report
from ctxasm.model.search import SearchOptions

if TYPE_CHECKING:
    from ctxasm.llm.embedding import KeptVectors
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.ports import FetchedChunk
    from ctxasm.model.records import CorpusLanguage
    from ctxasm.retrieval.analyser import QuestionWords
    from ctxasm.retrieval.bm25_index import Bm25Index
    from ctxasm.retrieval.hybrid import Ranking
    from ctxasm.retrieval.keeping import MadeOnce
    from ctxasm.retrieval.vector_index import VectorIndex

KEPT_BYTES = 400_000_000
"""Memory for the indexes of words, and as much for vectors."""
STEP = 500
DEEP = 200
"""How far down a ranking is made, at least: ranks and scores up to here are shown."""
_ATTEMPTS = 20
Key = tuple[str, int]
_Result = TypeVar("_Result")


class WordsOf(NamedTuple):
    """An index of words with the chunks (document_id, chunk_index) that its positions stand for."""

    keys: Sequence[Key]
    words: Bm25Index
    language: CorpusLanguage


class VectorsOf(NamedTuple):
    """Vectors with the chunks that their positions stand for."""

    keys: Sequence[Key]
    cosines: VectorIndex


class Searchable(Linking, Protocol):
    """What a search asks for: the datasets, and the models that are configured."""

    @property
    def models(self) -> ConfiguredModels: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose index is asked for: a dataset, as it is now, by what is indexed of it."""

    datasets: Searchable
    info: DatasetInfo
    options: SearchOptions
    stamp: str
    report: Report
    cancelled: Cancelled

    @property
    def content(self) -> tuple[str, int, str, str]:
        """Equal where the same would be indexed."""
        return self.info.content_hash, self.info.chunks, self.options.text, self.stamp


class Replaced(Exception):
    """The dataset was replaced while it was read."""


class Searcher(Protocol):
    """One version of a dataset that can be searched. Positions are its own, and name chunks only to it."""

    def by_words(self, question: str) -> tuple[QuestionWords, Ranking]:
        """What was searched for, and the ranking `bm25`."""
        ...

    def by_meaning(self, vectors: KeptVectors, question: str) -> Ranking:
        """The ranking `vector`."""
        ...

    def keys(self, positions: Sequence[int]) -> Sequence[Key]:
        """The chunks (document_id, chunk_index) at positions."""
        ...


class MemorySearcher:
    """Searches the indexes in memory, which are made when they are first asked for."""

    def __init__(self, asked: Asked) -> None:
        self._asked, self._depth = asked, max(DEEP, asked.options.limit)
        self._keys: Sequence[Key] = ()

    def by_words(self, question: str) -> tuple[QuestionWords, Ranking]:
        """See `Searcher`."""
        from ctxasm.retrieval.bm25_index import best_of
        from ctxasm.retrieval.hybrid import Ranking

        made = words_of(self._asked)
        self._keys, scores = made.keys, made.words.scores(question)
        ranking = Ranking("bm25", best_of(scores, self._depth, least=0.0), lambda position: float(scores[position]) or None)
        return made.words.question(question), ranking

    def by_meaning(self, vectors: KeptVectors, question: str) -> Ranking:
        """See `Searcher`."""
        from ctxasm.retrieval.bm25_index import best_of
        from ctxasm.retrieval.hybrid import Ranking

        made = vectors_of(self._asked, vectors)
        self._keys, cosines = made.keys, made.cosines.cosines(vectors.question(question))
        return Ranking("vector", best_of(cosines, self._depth), lambda position: float(cosines[position]))

    def keys(self, positions: Sequence[int]) -> Sequence[Key]:
        """See `Searcher`."""
        return [self._keys[position] for position in positions]


def asked(datasets: Searchable, dataset: str | None, options: SearchOptions, report: Report, cancelled: Cancelled) -> Asked:
    """What a search asks for now. Raises InvalidInput where enriched text is asked for and there is none."""
    info = datasets.store.dataset(datasets.dataset(dataset).info.name).info
    return Asked(datasets, info, options, stamp_of(datasets, info.name) if options.text == "enriched" else "", report, cancelled)


def on_one_version(ask: Callable[[], _Result], name: str) -> _Result:
    """What `ask` gives; asked again where the dataset is replaced meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            return ask()
        except Replaced:
            continue
    raise StoreUnavailable(f"dataset {name!r} is being replaced again and again: wait for the loads to finish and try again")


def still_there(asked: Asked) -> None:
    """Raises Replaced where the dataset is another one by now."""
    if asked.datasets.store.dataset(asked.info.name).info.dataset_id != asked.info.dataset_id:
        raise Replaced from None


def words_of(asked: Asked) -> WordsOf:
    """The BM25 index. Raises SearchStopped, StoreUnavailable; Replaced where the dataset is another one meanwhile."""
    return _words().get((*asked.content, asked.options.language), partial(_make_words, asked), asked.cancelled)


def vectors_of(asked: Asked, vectors: KeptVectors) -> VectorsOf:
    """The vectors by one embedder. Raises as `words_of`, and what the embedder raises."""
    return _vectors().get((*asked.content, vectors.kept_as), partial(_make_vectors, asked, vectors), asked.cancelled)


def stamp_of(datasets: Searchable, name: str) -> str:
    """What the enriched texts of a dataset are known by. Raises InvalidInput where it is not enriched."""
    from ctxasm.data.enrich.cache import enrichment_stamp

    if stamp := enrichment_stamp(datasets, name):
        return stamp
    raise InvalidInput(f"dataset {name} is not enriched: run `ctxasm enrich --data {quote(name)}` first, or index raw or title")


class Chunks(NamedTuple):
    """Chunks in stored order: what they are known by, what is indexed of each, by what their vectors are kept."""

    keys: list[Key]
    texts: list[str]
    content_keys: list[bytes]


def chunks_of(asked: Asked) -> Chunks:
    """All chunks of the dataset. Raises SearchStopped, Replaced."""
    from ctxasm.retrieval.indexed_text import content_key
    from ctxasm.retrieval.stopping import stop_if

    read, began = Chunks([], [], []), perf_counter()
    handle = asked.datasets.store.dataset(asked.info.name)
    try:
        documents = {document.document_id: document for document in handle.documents()} if asked.options.text == "title" else {}
        chunks = handle.iter_chunks()
        while batch := list(islice(chunks, STEP)):
            stop_if(asked.cancelled)
            asked.report(Progress(len(read.keys), asked.info.chunks, "reading chunks", perf_counter() - began))
            indexed = indexed_texts(asked.datasets, asked.info.name, asked.options.text, batch, documents)
            read.keys.extend((chunk.document_id, chunk.chunk_index) for chunk in batch)
            read.content_keys.extend(content_key(chunk, text) for chunk, text in zip(batch, indexed, strict=True))
            read.texts.extend(indexed)
    except StoreUnavailable:
        still_there(asked)
        raise
    if handle.info.content_hash != asked.info.content_hash:
        raise Replaced
    return read


def indexed_texts(datasets: Searchable, name: str, kind: str, chunks: Sequence[FetchedChunk], documents: dict[str, Any]) -> Sequence[str]:
    """What is indexed of chunks; `documents` by id, for their titles."""
    if kind == "enriched":
        from ctxasm.data.enrich.cache import enriched_texts

        return enriched_texts(datasets, name, chunks)
    if kind == "title":
        from ctxasm.retrieval.indexed_text import titled_text

        return [titled_text(chunk, documents.get(chunk.document_id)) for chunk in chunks]
    return [chunk.text for chunk in chunks]


def _make_words(asked: Asked) -> WordsOf:
    from ctxasm.retrieval.analyser import analyser, language_of_corpus, spread
    from ctxasm.retrieval.bm25_index import Bm25Index

    chunks = chunks_of(asked)
    language = language_of_corpus(asked.options.language, spread(chunks.texts))
    index = Bm25Index(chunks.texts, analyser(language), total=len(chunks.texts), report=asked.report, cancelled=asked.cancelled)
    return WordsOf(chunks.keys, index, language)


def _make_vectors(asked: Asked, vectors: KeptVectors) -> VectorsOf:
    from ctxasm.retrieval.stopping import stop_if
    from ctxasm.retrieval.vector_index import VectorIndex

    chunks, began = chunks_of(asked), perf_counter()

    def told(done: int, total: int) -> None:
        stop_if(asked.cancelled)
        asked.report(Progress(done, total, f"embedding chunks ({vectors.name})", perf_counter() - began))

    return VectorsOf(chunks.keys, VectorIndex(vectors.of_texts(chunks.content_keys, chunks.texts, told)))


@cache
def _words() -> MadeOnce[WordsOf]:
    from ctxasm.retrieval.keeping import MadeOnce

    return MadeOnce(KEPT_BYTES, lambda made: made.words.bytes + 100 * len(made.keys))


@cache
def _vectors() -> MadeOnce[VectorsOf]:
    from ctxasm.retrieval.keeping import MadeOnce

    return MadeOnce(KEPT_BYTES, lambda made: made.cosines.bytes + 100 * len(made.keys))
