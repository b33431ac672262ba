"""The form of each line, checked by pydantic at the edge. Strict: a number in quotes is a text, true is no number.

Unknown fields of a line are kept (they become `metadata`); those of a hit, a gold chunk or a span are not.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from ctxasm.data.files.problems import NO_VALUE
from ctxasm.model.characters import is_visible

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
