"""Records to JSON and back, for the parts of a record that no statement ever filters by.

JSON is written as ASCII, so that what a text column cannot hold (NUL, lone surrogates) is escaped and comes back whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import NoneType
from typing import Any

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import NOTHING, Answer, GoldChunk, Hit, Query, Span, Turn, check_query
from ctxasm.store.decoding import decoding
from ctxasm.store.intake import check_text

_PLAIN = ("answer", "search_method", "bm25_matches", "best_similarity", "intent", "supplement")


def written(value: object, where: str) -> str:
    """`value` as compact JSON. Raises InvalidInput naming `where` if it holds anything that JSON cannot."""
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as problem:
        raise InvalidInput(f"{where} must hold only JSON values, got {shown(str(problem))}") from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def written_metadata(metadata: Mapping[str, Any], where: str) -> str | None:
    """Metadata as JSON, None for empty metadata."""
    return written(dict(metadata), f"{where}: metadata") if metadata else None


def read_metadata(text: str | None) -> Mapping[str, Any]:
    """The metadata that `written_metadata` wrote. Raises DamagedData."""
    if not text:
        return NOTHING
    with decoding("the metadata of a document or chunk"):
        return _mapping(json.loads(text))


def written_query(query: Query) -> str:
    """All of a query but its id and text."""
    payload: dict[str, Any] = {field: value for field in _PLAIN if (value := getattr(query, field)) is not None}
    payload["retrieved"] = [[h.document_id, h.chunk_index, h.score, h.rank, dict(h.scores)] for h in query.retrieved]
    payload["gold"] = [[*g.key, *((g.by,) if g.by else ())] for g in query.gold]
    payload["spans"] = [_written_span(span) for span in query.spans]
    payload["history"] = [[turn.role, turn.content] for turn in query.history]
    payload["metadata"] = dict(query.metadata)
    return written(payload, f"query {shown(query.query_id)}")


def read_query(query_id: str, query: str, text: str) -> Query:
    """The query that `written_query` wrote. Raises DamagedData."""
    with decoding(f"query {shown(query_id)}"):
        payload = json.loads(text)
        read = Query(
            query=query,
            query_id=query_id,
            retrieved=tuple(Hit(d, i, score, rank, _mapping(scores) or NOTHING) for d, i, score, rank, scores in payload["retrieved"]),
            gold=tuple(GoldChunk(*gold) for gold in payload["gold"]),
            spans=tuple(_read_span(span) for span in payload["spans"]),
            history=tuple(Turn(role, content) for role, content in payload["history"]),
            metadata=_mapping(payload["metadata"]) or NOTHING,
            **{field: payload.get(field) for field in _PLAIN},
        )
        check_query(read)
        _check_types(read)
        return read


def written_answer(answer: Answer) -> str:
    """All of an answer but its query id."""
    payload = {
        "answer": answer.answer,
        "sources": [dict(source) for source in answer.sources],
        "labels": [dict(label) for label in answer.labels],
        "metadata": dict(answer.metadata),
    }
    return written(payload, f"the answer to query {shown(answer.query_id)}")


def read_answer(query_id: str, text: str) -> Answer:
    """The answer that `written_answer` wrote. Raises DamagedData."""
    with decoding(f"the answer to query {shown(query_id)}"):
        payload = json.loads(text)
        check_text(payload["answer"], "answer")
        sources, labels = (tuple(map(_mapping, payload[field])) for field in ("sources", "labels"))
        return Answer(query_id, payload["answer"], sources, labels, _mapping(payload["metadata"]) or NOTHING)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"not an object: {shown(value)}")
    return value


def _check_types(query: Query) -> None:
    """Refuse what `check_query` leaves to those who read the files: that the values are of the types of their fields."""
    texts = (query.answer, query.search_method, query.intent, query.supplement)
    of_type: list[tuple[object, type | tuple[type, ...]]] = [(value, (str, NoneType)) for value in texts]
    of_type += [(query.bm25_matches, (int, NoneType)), (query.best_similarity, (float, int, NoneType))]
    of_type += [(score, (float, int, NoneType)) for hit in query.retrieved for score in hit.scores.values()]
    of_type += [(text, str) for turn in query.history for text in (turn.role, turn.content)]
    places = [gold.key for gold in query.gold]
    for span in (inner for one in query.spans for inner in (one, *one.also)):
        places += [(span.document_id, span.start), (span.document_id, span.end)]
    of_type += [pair for name, at in places for pair in ((name, str), (at, int))]
    if wrong := [value for value, types in of_type if not isinstance(value, types)]:
        raise TypeError(f"a value of another type: {shown(wrong[0])}")


def _written_span(span: Span) -> list[Any]:
    return [span.document_id, span.start, span.end, [_written_span(other) for other in span.also]]


def _read_span(span: list[Any]) -> Span:
    document_id, start, end, also = span
    return Span(document_id, start, end, tuple(_read_span(other) for other in also))
