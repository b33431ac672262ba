"""The indexes of a dataset in memory: by words (BM25) and by meaning (vectors), made once and kept."""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from itertools import islice
from shlex import quote
from threading import Condition
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ctxasm.config import EMBED_MODEL
from ctxasm.data.tables.links import Linking
from ctxasm.llm.configured import ConfiguredModels
from ctxasm.llm.embedding.local import EMBEDDERS, REMEDY, embedder_name, open_vectors
from ctxasm.model.characters import one_line
from ctxasm.model.datasets import VectorShelf
from ctxasm.model.errors import CtxasmError, InvalidInput, StoreUnavailable, shown
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import Document
from ctxasm.model.search import QueryEmbedder, SearchOptions
from ctxasm.retrieval.analyser import Analyser, QuestionWords
from ctxasm.retrieval.fusion import Ranked
from ctxasm.text.chunk_facts import duplicate_key
from ctxasm.text.terms import K1, B

if TYPE_CHECKING:
    from ctxasm.llm.embedding import KeptVectors
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.ports import FetchedChunk
    from ctxasm.model.records import CorpusLanguage
    from ctxasm.retrieval.analyser import QuestionWords
    from ctxasm.retrieval.fusion import Ranking


BETWEEN = " › "


def titled_text(chunk: FetchedChunk, document: Document | None) -> str:
    """Title › section, and the text below; the text alone where it has neither. A section that repeats the title says nothing."""
    title = one_line(document.title or "") if document else ""
    section = one_line(chunk.section or "")
    head = BETWEEN.join(dict.fromkeys(part for part in (title, section) if part))
    return f"{head}\n{chunk.text}" if head else chunk.text


def content_key(chunk: FetchedChunk, indexed: str) -> bytes:
    """By what the vector of an indexed text is kept: that of the chunk's own text, and a digest where more is indexed.

    So the vectors of a deleted dataset are found by the keys of its chunks, whatever was indexed of them.
    """
    own = chunk.duplicate_key or duplicate_key(chunk.text)
    if indexed == chunk.text:
        return own
    return own + hashlib.blake2b(" ".join(indexed.split()).encode("utf-8", "surrogatepass"), digest_size=8).digest()


STEP = 500
"""Texts between two reports."""


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


class VectorIndex:
    """Unit vectors (float32, texts × dimensions); results name texts by their position."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = np.ascontiguousarray(vectors, np.float32)

    @property
    def bytes(self) -> int:
        """How much memory the vectors take."""
        return int(self._vectors.nbytes)

    def cosines(self, question: Any) -> Any:
        """The cosine of every text with the unit vector of a question. Raises InvalidInput where dimensions differ."""
        vector = np.asarray(question, np.float32).reshape(-1)
        if len(self._vectors) and self._vectors.shape[1] != len(vector):
            raise InvalidInput(
                f"the embedder gave the question {len(vector)} dimensions and the texts {self._vectors.shape[1]}: both must have the same"
            )
        return self._vectors @ vector if len(self._vectors) else np.zeros(0, np.float32)

    def search(self, question: Any, limit: int) -> list[Ranked]:
        """The `limit` texts nearest to the vector of a question with their cosine, best first; ties by position."""
        return best_of(self.cosines(question), limit)


ENDPOINT = "endpoint"
"""The name by which a search asks for the embedding model of a server."""


def wants_endpoint(name: str | None, models: ConfiguredModels) -> bool:
    """Whether an embedder of this name (None: the default) is that of the configured server."""
    return name == ENDPOINT or (models.embed_model is not None and name in (None, models.embed_model))


def endpoint_embedder(name: str | None, models: ConfiguredModels, cancelled: Cancelled) -> QueryEmbedder | None:
    """The embedding model of the configured server, None where another is asked for. Raises InvalidInput where nothing names it."""
    if not wants_endpoint(name, models):
        return None
    from ctxasm.llm.embedding.endpoint_vectors import EndpointEmbedder

    return EndpointEmbedder(models.endpoint("embed"), cancelled)


def search_vectors_of(shelf: VectorShelf, models: ConfiguredModels, name: str | None = None, cancelled: Cancelled = never) -> KeptVectors:
    """The vectors that a search compares: of a local embedder by name, or of the configured server (`endpoint`, or its model's name).

    Default: the configured server, else the first local one that is installed. Raises InvalidInput where it cannot be had.
    """
    if not wants_endpoint(name, models):
        if name is None and embedder_name() is None:
            raise InvalidInput(f"no embedder is installed: {REMEDY}, or set {EMBED_MODEL}")
        if name is not None and name not in EMBEDDERS:
            raise InvalidInput(f"the embedder must be one of {', '.join((*EMBEDDERS, ENDPOINT))}, got {shown(name)}")
        return open_vectors(shelf, name)
    from ctxasm.llm.embedding import KeptVectors, threshold_of
    from ctxasm.llm.embedding.endpoint_vectors import EndpointEmbedder

    endpoint = models.endpoint("embed")
    vectors = EndpointEmbedder(endpoint, cancelled)
    return KeptVectors(vectors, shelf, endpoint.model, threshold_of(endpoint.model), f"at {endpoint.host}")


Value = TypeVar("Value")
_LOOK = 0.1
"""Seconds between two looks at `cancelled` while another thread makes the value."""


class MadeOnce(Generic[Value]):
    """Values by key, `most_bytes` of them by `size`; the one used longest ago goes first. The newest always stays."""

    def __init__(self, most_bytes: int, size: Callable[[Value], int]) -> None:
        self._most_bytes, self._size = most_bytes, size
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._being_made: set[Hashable] = set()
        self._changed = Condition()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable, make: Callable[[], Value], cancelled: Cancelled = never) -> Value:
        """The value of `key`, made by `make` where there is none. What `make` raises reaches its own caller only: whoever waits
        for it makes the value then. Raises SearchStopped when `cancelled` while waiting.
        """
        with self._changed:
            while key in self._being_made and key not in self._values:
                self._changed.wait(_LOOK)
                stop_if(cancelled)
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            self._being_made.add(key)
        try:
            value = make()
            with self._changed:
                self._keep(key, value)
            return value
        finally:
            with self._changed:
                self._being_made.discard(key)
                self._changed.notify_all()

    def forget(self, key: Hashable) -> None:
        """Keep the value of `key` no longer."""
        with self._changed:
            self._values.pop(key, None)

    def peek(self, key: Hashable) -> Value | None:
        """The value of `key` where it is made already."""
        with self._changed:
            return self._values.get(key)

    def _keep(self, key: Hashable, value: Value) -> None:
        self._values[key] = value
        while len(self._values) > 1 and sum(map(self._size, self._values.values())) > self._most_bytes:
            self._values.popitem(last=False)


class SearchStopped(CtxasmError):
    """The search, or the making of its index, was ended on request. Nothing was changed."""

    def __init__(self) -> None:
        super().__init__("the search was stopped on request")


def stop_if(cancelled: Cancelled) -> None:
    """Raise SearchStopped when cancelled."""
    if cancelled():
        raise SearchStopped


KEPT_BYTES = 400_000_000
"""Memory for the indexes of words, and as much for vectors."""
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
        from ctxasm.retrieval.fusion import Ranking

        made = words_of(self._asked)
        self._keys, scores = made.keys, made.words.scores(question)
        ranking = Ranking("bm25", best_of(scores, self._depth, least=0.0), lambda position: float(scores[position]) or None)
        return made.words.question(question), ranking

    def by_meaning(self, vectors: KeptVectors, question: str) -> Ranking:
        """See `Searcher`."""
        from ctxasm.retrieval.fusion import Ranking

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
    from ctxasm.data.enrich import enrichment_stamp

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
        from ctxasm.data.enrich import enriched_texts

        return enriched_texts(datasets, name, chunks)
    if kind == "title":
        return [titled_text(chunk, documents.get(chunk.document_id)) for chunk in chunks]
    return [chunk.text for chunk in chunks]


def _make_words(asked: Asked) -> WordsOf:
    from ctxasm.retrieval.analyser import analyser, language_of_corpus, spread

    chunks = chunks_of(asked)
    language = language_of_corpus(asked.options.language, spread(chunks.texts))
    index = Bm25Index(chunks.texts, analyser(language), total=len(chunks.texts), report=asked.report, cancelled=asked.cancelled)
    return WordsOf(chunks.keys, index, language)


def _make_vectors(asked: Asked, vectors: KeptVectors) -> VectorsOf:

    chunks, began = chunks_of(asked), perf_counter()

    def told(done: int, total: int) -> None:
        stop_if(asked.cancelled)
        asked.report(Progress(done, total, f"embedding chunks ({vectors.name})", perf_counter() - began))

    return VectorsOf(chunks.keys, VectorIndex(vectors.of_texts(chunks.content_keys, chunks.texts, told)))


@cache
def _words() -> MadeOnce[WordsOf]:

    return MadeOnce(KEPT_BYTES, lambda made: made.words.bytes + 100 * len(made.keys))


@cache
def _vectors() -> MadeOnce[VectorsOf]:

    return MadeOnce(KEPT_BYTES, lambda made: made.cosines.bytes + 100 * len(made.keys))
