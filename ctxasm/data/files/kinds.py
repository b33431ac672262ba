"""The five files of a bundle: what a line of each holds, how it becomes a record, and how it is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from ctxasm.data.files.shapes import (
    MAX_NUMBER,
    AnswerShape,
    ChunkShape,
    DocumentShape,
    GoldPlaceShape,
    GoldShape,
    HitShape,
    PlaceShape,
    QueryShape,
    RetrievalShape,
    SpanShape,
)
from ctxasm.model.characters import is_visible
from ctxasm.model.records import GOLD_BY, NOTHING, Answer, Chunk, Document, GoldBy, GoldChunk, Hit, LostHit, Query, Span, Turn, alternatives

S = TypeVar("S", bound=BaseModel)
R = TypeVar("R")
Key = tuple[Any, ...]
"""The values of a record's name, in the order of `Kind.names`."""


class Retrieval(NamedTuple):
    """One line of retrievals.jsonl: what joins its query."""

    query_id: str
    retrieved: tuple[Hit, ...]
    search_method: str | None
    bm25_matches: int | None
    best_similarity: float | None
    intent: str | None
    supplement: str | None
    metadata: Mapping[str, Any]
    lost_hits: tuple[LostHit, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind(Generic[S, R]):
    """One file. `names` are the fields that name a record; a name stands once (answers have none: any number a query)."""

    file: str
    shape: type[S]
    record: Callable[[S], R]
    names: tuple[str, ...]


def _metadata(shape: Any) -> Mapping[str, Any]:
    """The line's `metadata` and its unknown fields, together."""
    extra: dict[str, Any] = shape.model_extra or {}
    given: dict[str, Any] = shape.metadata or {}
    for key in extra:
        if key in given:
            raise BothPlaces(key, extra[key])
    return {**given, **extra} or NOTHING


class BothPlaces(Exception):
    """An unknown field stands beside `metadata` and inside it: which one is meant cannot be known."""

    def __init__(self, key: str, value: object) -> None:
        self.key, self.value = key, value
        super().__init__(key)


def _document(line: DocumentShape) -> Document:
    return Document(line.document_id, line.title, line.source, line.summary, line.date, _metadata(line))


def _chunk(line: ChunkShape) -> Chunk:
    row_number = line.row_number
    if row_number is None:  # the name that a splitter of source code gives it
        start_line = (line.model_extra or {}).get("start_line")
        row_number = start_line if type(start_line) is int and 0 <= start_line <= MAX_NUMBER else None
    place = (line.start, line.end, line.page_number, line.section, row_number)
    return Chunk(line.document_id, line.chunk_index, line.text, *place, _metadata(line))


def _place(line: PlaceShape) -> Span:
    # The text of a span that is there is in its document.
    is_lost = line.lost is True
    return Span(line.document_id, line.start, line.end, (), line.text if is_lost and isinstance(line.text, str) else None, is_lost)


def _span(line: SpanShape) -> Span:
    return replace(_place(line), also=tuple(_place(other) for other in line.also or ()))


def _gold_place(line: GoldPlaceShape, by: GoldBy | None, votes: tuple[int, int] | None) -> GoldChunk:
    text = line.text if isinstance(line.text, str) and is_visible(line.text) else None
    return GoldChunk(line.document_id, line.chunk_index, by, text, lost=line.lost is True, votes=votes)


def _gold(line: GoldShape) -> GoldChunk | None:
    # What another tool keeps under these names is no reason to refuse the line.
    by: GoldBy | None = next((by for by in GOLD_BY if by == line.by), None)
    return alternatives(_gold_place(place, by, _votes(line.votes)) for place in (line, *(line.also or ())))


def _votes(given: object) -> tuple[int, int] | None:
    match given:
        case [int(approved), int(judged)] if 0 <= approved <= judged <= MAX_NUMBER and not isinstance(approved, bool):
            return approved, int(judged)
    return None


def _query(line: QueryShape) -> Query:
    return Query(
        query=line.query,
        query_id=line.query_id,
        # The same chunk is often listed once for each span that it holds: it is needed once.
        gold=tuple(dict.fromkeys(gold for each in line.gold or () if (gold := _gold(each)) is not None)),
        spans=tuple(_span(span) for span in line.spans or ()),
        answer=line.answer,
        history=tuple(Turn(turn.role, turn.content) for turn in line.history or ()),
        metadata=_metadata(line),
    )


def _retrieval(line: RetrievalShape) -> Retrieval:
    hits = tuple(map(_hit, line.retrieved))
    return Retrieval(
        line.query_id,
        hits,
        line.search_method,
        line.bm25_matches,
        line.best_similarity,
        line.intent,
        line.supplement,
        _metadata(line),
        tuple(LostHit(_hit(lost), lost.text) for lost in line.lost_hits or ()),
    )


def _hit(hit: HitShape) -> Hit:
    return Hit(hit.document_id, hit.chunk_index, hit.score, hit.rank, hit.scores or NOTHING)


def _answer(line: AnswerShape) -> Answer:
    text, metadata = line.answer, _metadata(line)
    if text is None:
        text = line.answer_text_with_markers or ""
    elif line.answer_text_with_markers is not None:
        metadata = {**metadata, "answer_text_with_markers": line.answer_text_with_markers}
    sources = tuple(source.model_dump() for source in line.sources or ())
    return Answer(line.query_id, text, sources, tuple(line.labels or ()), metadata)


DOCUMENTS: Kind[DocumentShape, Document] = Kind("documents.jsonl", DocumentShape, _document, ("document_id",))
CHUNKS: Kind[ChunkShape, Chunk] = Kind("chunks.jsonl", ChunkShape, _chunk, ("document_id", "chunk_index"))
QUERIES: Kind[QueryShape, Query] = Kind("queries.jsonl", QueryShape, _query, ("query_id",))
RETRIEVALS: Kind[RetrievalShape, Retrieval] = Kind("retrievals.jsonl", RetrievalShape, _retrieval, ("query_id",))
ANSWERS: Kind[AnswerShape, Answer] = Kind("answers.jsonl", AnswerShape, _answer, ())
KNOWN_FILES = (DOCUMENTS.file, CHUNKS.file, QUERIES.file, RETRIEVALS.file, ANSWERS.file)
