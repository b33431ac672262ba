"""Library use without a store: hits, chunks and documents as plain objects, with or without a source behind them.

What is given here fills in for what the source does not hold; where both have a chunk, the stored one counts, because its
neighbours were cut from the same text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from ctxasm.assembly.context_head import known_language
from ctxasm.assembly.expand import known_obstacle
from ctxasm.model.characters import mended
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.events import NoNeighbours
from ctxasm.model.ports import ChunkSource, Fetched, FetchedChunk, Window
from ctxasm.model.records import NOTHING, Chunk, CorpusLanguage, Document, Hit, Query
from ctxasm.store.memory import MemorySource

PlainHit = Hit | Chunk | Mapping[str, Any]
PlainChunk = Chunk | Mapping[str, Any]
PlainDocument = Document | Mapping[str, Any]
PLACE = ("start", "end", "page_number", "section", "row_number")
HIT_KEYS = "document_id, chunk_index, text and score"


def joined(
    query: Query | str,
    source: ChunkSource | None,
    hits: Sequence[PlainHit] | None,
    chunks: Sequence[PlainChunk],
    documents: Sequence[PlainDocument],
) -> tuple[Query, ChunkSource]:
    """One query with its hits, and one source that knows all chunks that were given. Raises InvalidInput naming what is wrong.

    A hit is a Hit (its text then is among `chunks` or in the source), a Chunk, or a mapping with document_id and chunk_index,
    and as far as known text, score, rank, scores, start, end, page_number, section, title, source, summary. Hits without any
    score count by their order: 1 / rank.
    """
    asked = Query(query) if isinstance(query, str) else query
    if not isinstance(asked, Query):
        raise InvalidInput(f"query must be a text or a Query, got {shown(query)}")
    for name, given in (("hits", hits or ()), ("chunks", chunks), ("documents", documents)):
        if isinstance(given, (str, Mapping)) or not isinstance(given, Sequence):
            raise InvalidInput(f"{name} must be a list, got {shown(given)}")
    if hits is None and isinstance(query, str):
        raise InvalidInput("a question alone has nothing to assemble: give hits=[…], or a Query of a dataset")
    if hits is not None:
        if asked.retrieved:
            raise InvalidInput(f"give hits or a Query that has them, not both: its retrieved holds {len(asked.retrieved)}")
        asked = replace(asked, retrieved=_hits(hits))
    own = [_chunk(chunk, f"chunks[{at}]") for at, chunk in enumerate(chunks)]
    own += [_chunk(hit, f"hits[{at}]") for at, hit in enumerate(hits or ()) if _has_text(hit)]
    if source is None and not own and asked.retrieved:
        raise InvalidInput("there are no texts to assemble: give a source of chunks, or hits or chunks that have a text")
    listed = _documents(documents, [hit for hit in (*(hits or ()), *chunks) if isinstance(hit, Mapping)])
    if source is not None and not own and not listed:
        return asked, source
    if source is None:
        return asked, GivenChunks(listed, own)
    return asked, Overlay(source, MemorySource(listed, own))


class GivenChunks(MemorySource):
    """The chunks that a caller brought, with no store behind them."""

    def no_neighbours(self) -> NoNeighbours | None:
        """That there is no store, where none of them has a neighbour."""
        return NoNeighbours("store") if super().no_neighbours() is not None else None


class Overlay:
    """A source of chunks, and beside it the chunks that a caller brought: those that the source does not hold are added."""

    def __init__(self, source: ChunkSource, own: MemorySource) -> None:
        self._source, self._own = source, own

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """As `ChunkSource.fetch`. What is said of an overlap holds between neighbours of one origin only: elsewhere it is left out."""
        stored, own = self._source.fetch(windows, encoding), self._own.fetch(windows, encoding)
        known = {(chunk.document_id, chunk.chunk_index) for chunk in stored.chunks}
        added = [chunk for chunk in own.chunks if (chunk.document_id, chunk.chunk_index) not in known]
        if not added and not own.documents.keys() - stored.documents.keys():
            return stored
        beside = {(chunk.document_id, chunk.chunk_index + 1) for chunk in added}
        kept = [_bare(chunk) if (chunk.document_id, chunk.chunk_index) in beside else chunk for chunk in stored.chunks]
        documents = {**own.documents, **stored.documents}
        return replace(stored, chunks=[*kept, *map(_bare, added)], documents=documents)

    def corpus_language(self) -> CorpusLanguage:
        """That of the source, where it knows it, else of what the caller brought."""
        return known_language(self._source) or self._own.corpus_language()

    def no_neighbours(self) -> NoNeighbours | None:
        """Where the source holds none of what the caller brought, that is why; else what the source says."""
        own = [Window(chunk.document_id, chunk.chunk_index, chunk.chunk_index) for chunk in self._own.iter_chunks()]
        if own and not self._source.fetch(own, "").chunks:
            return NoNeighbours("ids", own[0].document_id)  # the index may be one that was made up for it
        return known_obstacle(self._source)


def _bare(chunk: FetchedChunk) -> FetchedChunk:
    return chunk._replace(overlap_chars=None, overlap_kind=None, overlap_tokens=None, lead_tokens=None)


def _hits(hits: Sequence[PlainHit]) -> tuple[Hit, ...]:
    scores = [_score(hit) for hit in hits]
    without = [at for at, score in enumerate(scores) if score is None]
    if without and len(without) < len(hits):
        raise InvalidInput(f"hits[{without[0]}].score is missing, but other hits have one: give each its score, or none")
    return tuple(_hit(hit, f"hits[{at}]", score, at + 1) for at, (hit, score) in enumerate(zip(hits, scores, strict=True)))


def _score(hit: object) -> Any:
    return hit.score if isinstance(hit, Hit) else hit.get("score") if isinstance(hit, Mapping) else None


def _hit(hit: object, name: str, score: Any, position: int) -> Hit:
    if isinstance(hit, Hit):
        return hit
    rank, scores = (hit.get("rank"), hit.get("scores")) if isinstance(hit, Mapping) else (None, None)
    if score is None:
        score, rank = 1 / position, position
    place = (_name(hit, "document_id", name), _index(hit, name))
    return Hit(*place, float(score) if _is_number(score, Real) else score, rank, scores or NOTHING)


def _has_text(hit: object) -> bool:
    """Whether a hit brings its text. What is no hit at all goes on, to be refused by name."""
    return not isinstance(hit, Hit) and not (isinstance(hit, Mapping) and hit.get("text") is None)


def _chunk(chunk: object, name: str) -> Chunk:
    text = _field(chunk, "text", name)
    if isinstance(text, str):  # as at every edge: no tokenizer takes these
        text = mended(text)
    if isinstance(chunk, Chunk):
        return chunk if chunk.text == text else replace(chunk, text=text)
    facts = {field: chunk[field] for field in PLACE if isinstance(chunk, Mapping) and field in chunk}
    return Chunk(_name(chunk, "document_id", name), _index(chunk, name), text, **facts)


def _documents(documents: Iterable[object], mappings: Iterable[Mapping[str, Any]]) -> list[Document]:
    """The documents that are given, and those that hits and chunks describe (title, source, summary, date)."""
    found: dict[str, Document] = {}
    for at, document in enumerate(documents):
        own = document if isinstance(document, Document) else _document(document, f"documents[{at}]")
        if found.setdefault(own.document_id, own) != own:
            raise InvalidInput(f"documents[{at}].document_id stands there twice with other content: {shown(own.document_id)}")
    for mapping in mappings:
        if any(mapping.get(field) is not None for field in ("title", "source", "summary", "date")):
            described = _document(mapping, "a hit")
            found.setdefault(described.document_id, described)
    return list(found.values())


def _document(document: object, name: str) -> Document:
    given: Mapping[str, Any] = document if isinstance(document, Mapping) else NOTHING
    facts: dict[str, Any] = {field: given.get(field) for field in ("title", "source", "summary", "date")}
    return Document(_name(document, "document_id", name), **facts)


def _field(record: object, field: str, name: str) -> Any:
    if isinstance(record, Chunk):
        return getattr(record, field)
    if not isinstance(record, Mapping):
        raise InvalidInput(f"{name} must be a Hit, a Chunk or a mapping with {HIT_KEYS}, got {shown(record)}")
    if record.get(field) is None:
        raise InvalidInput(f"{name}.{field} is missing: a hit without a source of chunks needs {HIT_KEYS}")
    return record[field]


def _index(record: object, name: str) -> int:
    value = _field(record, "chunk_index", name)
    index: int = int(value) if _is_number(value, Integral) else value
    return index


def _is_number(value: Any, kind: type) -> bool:
    """Whether it is a number of this kind, numpy's among them; true is none."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _name(record: object, field: str, name: str) -> str:
    value: str = _field(record, field, name)
    return value
