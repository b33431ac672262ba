"""What a use case asks for that reads or fills datasets: the store, the links beside it, and one dataset by its name."""

from __future__ import annotations

from typing import Protocol

from ctxasm.model.datasets import Dataset, DatasetStore
from ctxasm.model.errors import NotFound
from ctxasm.model.ports import TokenCounter


class LinkedNames(Protocol):
    """The datasets that stay in a user's own tables, by name."""

    def dataset(self, name: str | None) -> Dataset | None:
        """The linked dataset of this name, None where it is a stored one, or none."""
        ...

    def check_load(self, name: str) -> None:
        """Refuse to load over a link. Raises InvalidInput."""
        ...


class Datasets(Protocol):
    """The datasets of one store, stored and linked."""

    @property
    def store(self) -> DatasetStore: ...
    @property
    def links(self) -> LinkedNames: ...
    def dataset(self, name: str | None = None) -> Dataset:
        """One by name (default: the newest). Raises NotFound naming those that exist."""
        ...

    def counter(self, encoding: str = ...) -> TokenCounter:
        """The token counter of an encoding (default: the one whose counts are stored at load)."""
        ...


def fresh(datasets: Datasets, name: str) -> Dataset:
    """A dataset as it is now: a handle that is kept knows the content hash of its last read, and streams chunks of that load alone."""
    try:
        return datasets.store.dataset(name)
    except NotFound:
        return datasets.dataset(name)
