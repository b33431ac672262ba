"""Records that join stored ones: the rule of what is the same, what says more, and what says otherwise. Pure.

What a record leaves out says nothing, so a part of it is the same record. A document or query that says more than what is
stored fills that in (a summary, gold evidence, what retrieval returned); one that says otherwise is a difference, never an
overwrite. A chunk may not even say more: its facts were found with what it said then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from ctxasm.model.datasets import OwnedDataset
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import Answer, Chunk, Document, Query
from ctxasm.store.records import written, written_answer
from ctxasm.store.validation import Intake

MOST_LISTED = 20
_LONGEST_ORIGIN = 400
_NAMES = ("document_id", "chunk_index", "query_id", "metadata")

_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.name not in _NAMES) for kind in (Document, Chunk, Query)
}

K = TypeVar("K")
R = TypeVar("R", Document, Chunk, Query)


class Difference(NamedTuple):
    """A field that is stored with another value. A field of metadata is called by its own name."""

    field: str
    stored: object
    came: object

    @property
    def sentence(self) -> str:
        """What is stored in its place; what came is said beside it."""
        if self.stored is None:
            return "is stored without it"
        return "is stored otherwise" if isinstance(self.stored, (tuple, Mapping, list)) else f"is stored as {shown(self.stored)}"


def differences(stored: R, came: R) -> list[Difference]:
    """What `came` says otherwise than what is stored under its name; empty where it may join it."""
    exact = isinstance(stored, Chunk)
    found = []
    for field in _FIELDS[type(stored)]:
        was, said = getattr(stored, field), getattr(came, field)
        if _is_said(said) and (exact or _is_said(was)) and not _same(was, said):
            found.append(Difference(field, was, said))
    for key, said in came.metadata.items():
        if (exact or key in stored.metadata) and not _same(was := stored.metadata.get(key), said):
            found.append(Difference(key, was, said))
    return found


def joined(stored: R, came: R) -> R:
    """What is stored, with what `came` says more; the very same object where that is nothing. For records without differences."""
    more: dict[str, Any] = {}
    for field in _FIELDS[type(stored)]:
        if _is_said(said := getattr(came, field)) and not _is_said(getattr(stored, field)):
            more[field] = said
    if came.metadata.keys() - stored.metadata.keys():
        # What retrieval brings stands before what the query says itself, as in a load.
        first, second = (came, stored) if isinstance(stored, Query) else (stored, came)
        more["metadata"] = {**first.metadata, **second.metadata}
    return replace(stored, **more) if more else stored


class Differing(NamedTuple):
    """A record in words, and what it says otherwise."""

    record: str
    found: Sequence[Difference]


def refused(name: str, differing: Sequence[Differing]) -> InvalidInput:
    """The error for records that are there with other content; all of them, one a line."""
    count = f"{len(differing):,} record{'s are' if len(differing) != 1 else ' is'}"
    lines = [f"nothing was added to dataset {shown(name)}: {count} there with other content; take it out, or replace the dataset"]
    for record, found in differing[:MOST_LISTED]:
        told = "; ".join(f"{one.field} {one.sentence}, got {shown(one.came)}" for one in found)
        lines.append(f"  {record}: {told}")
    if len(differing) > MOST_LISTED:
        lines.append(f"  … and {len(differing) - MOST_LISTED:,} more")
    return InvalidInput("\n".join(lines))


def record_name(record: Document | Chunk | Query) -> str:
    """A record in words."""
    if isinstance(record, Chunk):
        return f"chunk {record.chunk_index} of document {shown(record.document_id)}"
    if isinstance(record, Document):
        return f"document {shown(record.document_id)}"
    return f"query {shown(record.query_id)}"


class More(NamedTuple):
    """What records bring to those that are stored: documents and queries that are new or say more, new chunks by document, new answers."""

    documents: dict[str, Document]
    chunks: dict[str, list[Chunk]]
    queries: dict[str, Query]
    answers: Sequence[Answer]


def more_of(stored: OwnedDataset, saved: Mapping[str, Query], came: Intake) -> More:
    """What `came` brings. Raises InvalidInput with all records that are stored with other content.

    `saved` are the questions that were saved to the dataset: one that is loaded under the id of another would hide it.
    """
    differing: list[Differing] = []
    listed = {document.document_id: document for document, _ in came.documents}
    documents = _more(stored.documents_named(list(listed)), listed, differing)
    own = {(chunk.document_id, chunk.chunk_index): chunk for _, chunks in came.documents for chunk in chunks}
    fresh = _more(stored.chunks_at(list(own)), own, differing).values()
    asked = {query.query_id: query for query in came.queries}
    hidden = (query for query in came.queries if query.query_id in saved)
    differing += [Differing(record_name(query), found) for query in hidden if (found := differences(saved[query.query_id], query))]
    queries = _more({query.query_id: query for query in stored.loaded_queries()}, asked, differing)
    if differing:
        raise refused(stored.info.name, differing)
    chunks = {document_id: list(same) for document_id, same in groupby(fresh, lambda chunk: chunk.document_id)}
    known = {answer_key(answer) for answer in stored.answers()} if came.answers else set()
    return More(documents, chunks, queries, [answer for answer in came.answers if answer_key(answer) not in known])


def answer_key(answer: Answer) -> bytes:
    """A digest of what makes an answer the same: a query may have any number of them."""
    return blake2b(json.dumps((answer.query_id, written_answer(answer))).encode(), digest_size=16).digest()


def joined_origin(was: str | None, more: str | None) -> str | None:
    """Where the records of both came from, shortened in the middle of a long story."""
    if not was or not more or was.endswith(more):
        return was or more
    return f"{was} + {more}" if len(was) + len(more) < _LONGEST_ORIGIN else f"{was[: _LONGEST_ORIGIN // 2]} … + {more}"


def _more(stored: Mapping[K, R], came: Mapping[K, R], differing: list[Differing]) -> dict[K, R]:
    """The records that are new or say more. Those that say otherwise go to `differing`."""
    result: dict[K, R] = {}
    for key, record in came.items():
        was = stored.get(key)
        if was is None:
            result[key] = record
        elif found := differences(was, record):
            differing.append(Differing(record_name(record), found))
        elif (now := joined(was, record)) is not was:
            result[key] = now
    return result


def _is_said(value: object) -> bool:
    return value is not None and value != ()


def _same(was: object, said: object) -> bool:
    """Equal as they are stored: JSON knows no tuples."""
    if was == said:
        return True
    return isinstance(said, (Mapping, list, tuple)) and (found := _json(said)) is not None and found == _json(was)


def _json(value: object) -> str | None:
    try:
        return written(value, "")
    except InvalidInput:
        return None
