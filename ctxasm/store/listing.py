"""What a store says about its datasets, and the sentences for a name that is not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ctxasm.model.errors import NotFound, shown


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """One load. `dataset_id` is never used twice, so it names this version of the dataset; times are UTC.

    `encoding` is the one the stored token facts are in, None when they are not stored. `created_at` is the first load of
    this name, `loaded_at` the last. `content_hash` (hex) is equal for loads of equal records. `replaced` counts characters
    that became U+FFFD, `origin` is where the records came from, where that was said.
    """

    dataset_id: int
    name: str
    created_at: datetime
    loaded_at: datetime
    encoding: str | None
    documents: int
    chunks: int
    queries: int
    answers: int
    replaced: int
    content_hash: str
    origin: str | None = None


class QueryEntry(NamedTuple):
    """One line of a query picker. `hits` is the number of retrieved chunks."""

    query_id: str
    query: str
    hits: int


def no_dataset(name: str | None, names: Sequence[str]) -> NotFound:
    """The error for a dataset that is not in the store; `names` are those that are."""
    if not names:
        wanted = "no dataset" if name is None else f"no dataset {shown(name)}"
        return NotFound(f"the store holds {wanted}: it is empty, load a bundle first")
    return NotFound(f"the store holds no dataset {shown(name)}: choose one of {_some(names)}")


def no_query(query_id: str, dataset: str, query_ids: Sequence[str]) -> NotFound:
    """The error for a query that is not in the dataset; `query_ids` are those that are."""
    if not query_ids:
        return NotFound(f"dataset {shown(dataset)} holds no query {shown(query_id)}: it has no queries")
    return NotFound(f"dataset {shown(dataset)} holds no query {shown(query_id)}: choose one of {_some(query_ids)}")


def _some(names: Sequence[str], limit: int = 10) -> str:
    listed = ", ".join(shown(name) for name in names[:limit])
    return listed if len(names) <= limit else f"{listed} … ({len(names)} in all)"
