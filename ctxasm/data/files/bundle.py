"""The five files of a bundle: the form of a line of each, how it becomes a record, and how it is written again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import IO, Annotated, Any, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from ctxasm.data.files.problems import NO_VALUE
from ctxasm.model.characters import is_visible
from ctxasm.model.records import (
    GOLD_BY,
    NOTHING,
    Answer,
    Bundle,
    Chunk,
    Document,
    GoldBy,
    GoldChunk,
    Hit,
    LostHit,
    Query,
    Span,
    Turn,
    alternatives,
)

MAX_NUMBER = 2_000_000_000
"""Whole numbers fit a 32-bit column, with room for a window on either side."""
MAX_ID = 500
"""Characters of an identifier: long enough for a URL, short enough for an index of any database."""


def _visible(text: str) -> str:
    if not is_visible(text):
        raise PydanticCustomError("invisible", "must have at least one visible character")
    return text


Id = Annotated[str, Field(max_length=MAX_ID), AfterValidator(_visible)]
VisibleText = Annotated[str, AfterValidator(_visible)]
Whole = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Rank = Annotated[int, Field(ge=1, le=MAX_NUMBER)]
Real = Annotated[float, Field(allow_inf_nan=False)]
Metadata = dict[str, Any]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class DocumentShape(_Shape):
    document_id: Id
    title: str | None = None
    source: str | None = None
    summary: str | None = None
    date: str | None = None
    metadata: Metadata | None = None


class ChunkShape(_Shape):
    document_id: Id
    chunk_index: Whole
    text: str
    start: Whole | None = None
    end: Whole | None = None
    page_number: Whole | None = None
    section: str | None = None
    row_number: Whole | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _offsets(self) -> Self:
        if (self.start is None) != (self.end is None):
            missing = "start" if self.start is None else "end"
            raise _custom(missing, "start and end go together: give both or neither", None)
        if self.start is not None and self.end is not None and self.end < self.start:
            raise _custom("end", f"must be at least start ({self.start})", self.end)
        return self


class GoldPlaceShape(_Part):
    document_id: Id
    chunk_index: Whole
    text: Any = None
    lost: Any = None


class GoldShape(GoldPlaceShape):
    by: Any = None
    votes: Any = None
    also: list[GoldPlaceShape] | None = None


class PlaceShape(_Part):
    document_id: Id
    start: Whole
    end: Whole
    text: Any = None
    lost: Any = None

    @model_validator(mode="after")
    def _span(self) -> Self:
        if self.end <= self.start:
            raise _custom("end", f"must be more than start ({self.start})", self.end)
        return self


class SpanShape(PlaceShape):
    also: list[PlaceShape] | None = None


class TurnShape(_Part):
    role: Literal["user", "assistant", "system"]
    content: str


class QueryShape(_Shape):
    query_id: Id
    query: VisibleText
    gold: list[GoldShape] | None = None
    spans: list[SpanShape] | None = None
    answer: str | None = None
    history: list[TurnShape] | None = None
    metadata: Metadata | None = None


class HitShape(_Part):
    document_id: Id
    chunk_index: Whole
    score: Real
    rank: Rank | None = None
    scores: dict[str, Real] | None = None


class LostHitShape(HitShape):
    text: str = ""


class RetrievalShape(_Shape):
    query_id: Id
    retrieved: list[HitShape]
    search_method: str | None = None
    bm25_matches: Whole | None = None
    best_similarity: Real | None = None
    intent: str | None = None
    supplement: str | None = None
    lost_hits: list[LostHitShape] | None = None
    metadata: Metadata | None = None


class SourceShape(BaseModel):
    """A numbered text that an answer was given; its unknown fields stay with it."""

    model_config = ConfigDict(extra="allow", strict=True)
    n: Whole
    text: str


class AnswerShape(_Shape):
    query_id: Id
    answer: str | None = None
    answer_text_with_markers: str | None = None
    sources: list[SourceShape] | None = None
    labels: list[Metadata] | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def _text(self) -> Self:
        if self.answer is None and self.answer_text_with_markers is None:
            raise _custom("answer", "is missing (or answer_text_with_markers)", NO_VALUE)
        return self


PARTS: dict[str, type[BaseModel]] = {"retrieved": HitShape, "gold": GoldShape, "spans": SpanShape}
"""The parts of a line, of which no other fields are kept."""


def _custom(field: str, message: str, value: object) -> PydanticCustomError:
    return PydanticCustomError("field", "{message}", {"field": field, "message": message, "value": value})


def explained(error: ValidationError) -> list[tuple[str, str, object]]:
    """Each mistake as (path of the field, what is allowed, what came; NO_VALUE where nothing did)."""
    return [_explained(detail) for detail in error.errors(include_url=False)]


def _explained(detail: ErrorDetails) -> tuple[str, str, object]:
    path, value, context = _path(detail["loc"]), detail["input"], detail.get("ctx", {})
    if detail["type"] == "field":
        return f"{path}.{context['field']}".lstrip("."), context["message"], context["value"]
    if detail["type"] == "missing":
        return path, "is missing", NO_VALUE
    unquoted = ", written without quotes" if isinstance(value, str) else ""
    words = {
        "string_type": "must be a text",
        "string_too_long": f"must have at most {context.get('max_length')} characters",
        "int_type": f"must be a whole number{unquoted}",
        "float_type": f"must be a finite number{unquoted}",
        "finite_number": "must be a finite number",
        "greater_than_equal": f"must be at least {context.get('ge')}",
        "less_than_equal": f"must be at most {MAX_NUMBER:,}",
        "list_type": "must be a list",
        "dict_type": "must be an object",
        "model_type": "must be an object",
        "literal_error": f"must be {context.get('expected')}",
    }
    return path, words.get(detail["type"], detail["msg"]), value


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


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


_RETRIEVAL_FIELDS = ("search_method", "bm25_matches", "best_similarity", "intent", "supplement")


def write_bundle(bundle: Bundle, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the files that have records (and remove those that would have none); returns the paths written."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = write_records(lambda file: (place / file).open("wb"), bundle.documents, bundle.chunks, bundle.queries, bundle.answers)
    for file in KNOWN_FILES:
        if file not in written:
            (place / file).unlink(missing_ok=True)
    return tuple(place / file for file in written)


def write_records(
    create: Callable[[str], IO[bytes]],
    documents: Iterable[Document],
    chunks: Iterable[Chunk],
    queries: Iterable[Query],
    answers: Iterable[Answer],
) -> tuple[str, ...]:
    """Write the files that have records, each made by `create(name)` when its first record comes; returns their names.

    Each part is read as it is written, but `queries` is kept: what was retrieved has a file of its own.
    """
    asked = tuple(queries)
    rows = {
        DOCUMENTS.file: (_row(document) for document in documents),
        CHUNKS.file: (_row(chunk) for chunk in chunks),
        QUERIES.file: (query_row(query) for query in asked),
        RETRIEVALS.file: (row for query in asked if len(row := retrieval_row(query)) > 2 or query.retrieved),
        ANSWERS.file: (_row(answer) for answer in answers),
    }
    return tuple(file for file, lines in rows.items() if _write(create, file, lines))


def _write(create: Callable[[str], IO[bytes]], file: str, rows: Iterator[Mapping[str, Any]]) -> bool:
    first = next(rows, None)
    if first is None:
        return False
    with create(file) as stream:
        stream.write(json_line(first))
        for row in rows:
            stream.write(json_line(row))
    return True


def json_line(row: Mapping[str, Any]) -> bytes:
    """A row of JSON Lines."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value != {} and value != ()}


_NAMES = {kind: tuple(each.name for each in fields(kind)) for kind in (Document, Chunk, Hit, Answer)}


def _row(record: Document | Chunk | Hit | Answer) -> dict[str, Any]:
    """All fields of a record that hold something."""
    return _given(**{name: _plain(getattr(record, name)) for name in _NAMES[type(record)]})


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return dict(value) if isinstance(value, Mapping) else value


def query_row(query: Query) -> dict[str, Any]:
    """A line of queries.jsonl."""
    return _given(
        query_id=query.query_id,
        query=query.query,
        gold=tuple(
            _write_gold(gold) | _given(by=gold.by, votes=gold.votes, also=tuple(map(_write_gold, gold.also))) for gold in query.gold
        ),
        spans=tuple(_write_span(span) for span in query.spans),
        answer=query.answer,
        history=tuple({"role": turn.role, "content": turn.content} for turn in query.history),
        metadata=dict(query.metadata),
    )


def _write_gold(gold: GoldChunk) -> dict[str, Any]:
    return _given(document_id=gold.document_id, chunk_index=gold.chunk_index, text=gold.text, lost=gold.lost or None)


def _write_span(span: Span) -> dict[str, Any]:
    place = _given(document_id=span.document_id, start=span.start, end=span.end, text=span.text, lost=span.lost or None)
    return place | _given(also=tuple(_write_span(other) for other in span.also))


def retrieval_row(query: Query) -> dict[str, Any]:
    """A line of retrievals.jsonl."""
    figures = _given(**{name: getattr(query, name) for name in _RETRIEVAL_FIELDS})
    lost = _given(lost_hits=tuple(_row(lost.hit) | {"text": lost.text} for lost in query.lost_hits))
    return {"query_id": query.query_id, "retrieved": [_row(hit) for hit in query.retrieved], **figures, **lost}
