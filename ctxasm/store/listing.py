"""The sentences for a dataset or a query that is not there."""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.model.errors import NotFound, shown


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
