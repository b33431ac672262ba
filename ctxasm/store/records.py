"""Records to JSON and back, and stored rows checked as they are read: what no load can have written means that the database is damaged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import NoneType
from typing import TYPE_CHECKING, Any

from ctxasm.model.errors import DamagedData, InvalidInput, shown
from ctxasm.model.records import NOTHING, Answer, GoldChunk, Hit, LostHit, Query, Span, Turn, check_query
from ctxasm.store.validation import check_text

if TYPE_CHECKING:
    from sqlalchemy import Column


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
    payload["retrieved"] = [_written_hit(hit) for hit in query.retrieved]
    payload["gold"] = [_written_gold(gold) for gold in query.gold]
    payload["spans"] = [_written_span(span) for span in query.spans]
    payload["history"] = [[turn.role, turn.content] for turn in query.history]
    payload["metadata"] = dict(query.metadata)
    if query.lost_hits:
        payload["lost_hits"] = [[_written_hit(lost.hit), lost.text] for lost in query.lost_hits]
    return written(payload, f"query {shown(query.query_id)}")


def read_query(query_id: str, query: str, text: str) -> Query:
    """The query that `written_query` wrote. Raises DamagedData."""
    with decoding(f"query {shown(query_id)}"):
        payload = json.loads(text)
        read = Query(
            query=query,
            query_id=query_id,
            retrieved=tuple(_read_hit(hit) for hit in payload["retrieved"]),
            gold=tuple(_read_gold(gold) for gold in payload["gold"]),
            spans=tuple(_read_span(span) for span in payload["spans"]),
            history=tuple(Turn(role, content) for role, content in payload["history"]),
            metadata=_mapping(payload["metadata"]) or NOTHING,
            lost_hits=tuple(LostHit(_read_hit(hit), text) for hit, text in payload.get("lost_hits", ())),
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


def _written_hit(hit: Hit) -> list[Any]:
    return [hit.document_id, hit.chunk_index, hit.score, hit.rank, dict(hit.scores)]


def _read_hit(hit: list[Any]) -> Hit:
    document_id, chunk_index, score, rank, scores = hit
    return Hit(document_id, chunk_index, score, rank, _mapping(scores) or NOTHING)


def _written_gold(gold: GoldChunk) -> list[Any]:
    # What most labels lack is not written, so that they keep the content hash that they had before there was more to say.
    votes = list(gold.votes) if gold.votes is not None else None
    values = [*gold.key, gold.by, gold.text, [_written_gold(other) for other in gold.also], gold.lost, votes]
    while len(values) > 2 and not values[-1]:
        values.pop()
    return values


def _read_gold(gold: list[Any]) -> GoldChunk:
    values: list[Any] = gold + [None] * (7 - len(gold))
    document_id, chunk_index, by, text, also, lost, votes = values
    approved = None if votes is None else (int(votes[0]), int(votes[1]))
    return GoldChunk(document_id, chunk_index, by, text, tuple(_read_gold(other) for other in also or ()), bool(lost), approved)


def _written_span(span: Span) -> list[Any]:
    more = [span.text, span.lost] if span.lost or span.text is not None else []
    return [span.document_id, span.start, span.end, [_written_span(other) for other in span.also], *more]


def _read_span(span: list[Any]) -> Span:
    document_id, start, end, also, *more = span
    return Span(document_id, start, end, tuple(_read_span(other) for other in also), *more)


_WRONG = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, InvalidInput)
"""What reading a value ends in that is of another type or form than what was written."""


@contextmanager
def decoding(what: str) -> Iterator[None]:
    """Raise DamagedData, naming `what`, where a stored value cannot be read. Only for code that reads one: its own slips look the same."""
    try:
        yield
    except _WRONG as error:
        raise DamagedData(f"{what} cannot be read, {shown(f'{type(error).__name__}: {error}', 120)}") from None


class RowTypes:
    """The types that the values of a row of these columns may have. Raises DamagedData for another one."""

    def __init__(self, *columns: Column[Any]) -> None:
        self._columns = columns
        self._good: set[tuple[type, ...]] = set()

    def check(self, rows: Iterable[Sequence[Any]]) -> None:
        """Every row has them. Rows are many and their kinds few: each kind is judged once."""
        good = self._good
        for row in rows:
            kinds = tuple(map(type, row))
            if kinds not in good:
                self._judge(row)
                good.add(kinds)

    def _judge(self, row: Sequence[Any]) -> None:
        for column, value in zip(self._columns, row, strict=True):
            wanted = column.type.python_type
            if not (bool(column.nullable) if value is None else isinstance(value, (wanted, memoryview) if wanted is bytes else wanted)):
                raise DamagedData(f"{column} must be {column.type}, got {shown(value)}")
