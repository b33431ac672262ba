"""One retrieved or stored passage, whatever client wrote it, and what its metadata says about its place in a document."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxasm.data.files.recognised.values import Object, is_finite, named, number, whole

DOCUMENT_NAMES = ("document_id", "doc_id", "documentId", "docId", "ref_doc_id", "source_id", "sourceId")
"""Where clients keep the identifier of the document that a chunk was cut from."""
SOURCE_NAMES = ("source", "file_path", "filepath", "path", "url", "uri", "source_url", "file_name", "filename", "file", "link")
TITLE_NAMES = ("title", "document_title", "doc_title", "file_name", "filename", "name")
SECTION_NAMES = ("section", "header", "heading", "Header 3", "Header 2", "Header 1", "header_path")
DATE_NAMES = ("date", "last_modified_date", "modified", "creation_date", "published")
INDEX_NAMES = (
    *("chunk_index", "chunkIndex", "chunk_id", "chunk_number", "chunk_num", "chunk", "chunk_seq", "seq", "seq_num", "sequence"),
    *("split_id", "node_index", "passage_index", "row"),
)
"""Where clients number the chunks of one document."""
START_NAMES = ("start_index", "start_char_idx", "split_idx_start", "start_char", "char_start", "start_offset")
END_NAMES = ("end_index", "end_char_idx", "split_idx_end", "end_char", "char_end", "end_offset")
SCORE_NAMES = {
    **dict.fromkeys(("relevance_score", "rerank_score", "reranker_score", "cross_encoder_score"), "rerank"),
    **dict.fromkeys(("score", "_score", "hybrid_score", "similarity_score"), "score"),
    **dict.fromkeys(("similarity", "vector_score", "query_similarity_score", "cosine_similarity"), "vector"),
    **dict.fromkeys(("bm25_score", "bm25", "keyword_score"), "bm25"),
    **dict.fromkeys(("distance", "_distance", "vector_distance", "cosine_distance", "l2_distance", "__nn_distance"), "distance"),
}
"""The names of a score, the one that counts first, with what it measures."""
MAX_ID = 500
OPENING = 6
"""Words that stand for a title."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with its place as far as the export tells it. `text` and `score` are as they came.

    `document_id` None: nothing names its document. `numbers` are the chunk numbers found in its metadata, by name; `start` and
    `end` its characters, in the page where `start_in_page`. `previous`, `following` are the `passage_id`s beside it. `scores` are
    all scores, by what they measure; `measure` says which of them `score` is. One that `refers` has no text: its chunk stands elsewhere.
    """

    text: Any
    passage_id: str | None = None
    document_id: str | None = None
    title: str | None = None
    source: str | None = None
    date: str | None = None
    page: int | None = None
    section: str | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)
    start: int | None = None
    end: int | None = None
    start_in_page: bool = False
    lines: tuple[int, int] | None = None
    previous: str | None = None
    following: str | None = None
    score: Any = None
    measure: str = "score"
    rank: int | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    metadata: Object = field(default_factory=dict)
    refers: bool = False


def passage(text: Any, metadata: object, passage_id: object = None, score: Any = None, document_id: object = None, **known: Any) -> Passage:
    """A passage, with everything that its metadata says. What is given here wins over the metadata."""
    own: Object = metadata if isinstance(metadata, Mapping) else {}
    source = _first_name(own, SOURCE_NAMES)
    document = named(document_id) or _first_name(own, DOCUMENT_NAMES) or source
    scores, measure = scores_of(own)
    if score is None and measure:
        score = scores[measure]
    elif score is not None:
        measure = "score"
    start = _first_whole(own, START_NAMES)
    facts = {
        "title": _first_name(own, TITLE_NAMES),
        "source": source,
        "date": _first_name(own, DATE_NAMES),
        "page": page_of(own),
        "section": _first_name(own, SECTION_NAMES),
        "numbers": {name: found for name in INDEX_NAMES if name in own and (found := whole(own[name])) is not None},
        "start": start,
        "end": _first_whole(own, END_NAMES),
        "start_in_page": "start_index" in own and "page" in own,
        "lines": _lines(own),
    }
    return Passage(
        text=text,
        passage_id=named(passage_id),
        document_id=short_id(document),
        score=number(score),
        measure=measure or "score",
        scores={name: value for name, value in scores.items() if is_finite(value)},
        metadata=own,
        **{**facts, **{name: value for name, value in known.items() if value is not None}},
    )


def scores_of(values: Object) -> tuple[dict[str, Any], str]:
    """Every score among these values by what it measures, and the one that counts ("" where there is none)."""
    found: dict[str, Any] = {}
    for name, measure in SCORE_NAMES.items():
        if name not in values:
            continue
        value = number(values[name])
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found.setdefault(measure, value)
    return found, next(iter(found), "")


def page_of(values: Object) -> int | None:
    """The page, counted from 1. `page` beside `page_label` or `total_pages` counts from 0 (LangChain's PDF loaders)."""
    if (labelled := _first_whole(values, ("page_number", "page_label", "pageNumber"))) is not None:
        return labelled
    page = whole(values.get("page"))
    return page + 1 if page is not None and "total_pages" in values else page


def content_id(text: str) -> str:
    """The name of a document of which nothing is known but its text."""
    return f"text-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def opening(text: str) -> str | None:
    """What stands for the title of a document of which nothing is known but its text: its first words."""
    words = text[: 20 * OPENING].split()
    short = " ".join(words[:OPENING])[: 10 * OPENING]
    return f"{short}…" if short and short != text.strip() else short or None


def short_id(name: str | None) -> str | None:
    """`name` as an identifier: a very long one keeps its head and ends in a digest."""
    if name is None or len(name) <= MAX_ID:
        return name
    return f"{name[: MAX_ID - 40]}… {content_id(name)}"


def _lines(values: Object) -> tuple[int, int] | None:
    """The lines `loc.lines` that LangChain's JavaScript splitter writes."""
    place = values.get("loc")
    lines = place.get("lines") if isinstance(place, Mapping) else None
    if not isinstance(lines, Mapping):
        return None
    low, high = whole(lines.get("from")), whole(lines.get("to"))
    return (low, high) if low is not None and high is not None else None


def _first_name(values: Object, names: tuple[str, ...]) -> str | None:
    return next((found for name in names if name in values and (found := named(values[name])) is not None), None)


def _first_whole(values: Object, names: tuple[str, ...]) -> int | None:
    return next((found for name in names if name in values and (found := whole(values[name])) is not None), None)
