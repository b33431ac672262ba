"""Fixtures of the store's tests: a bundle, a counter, and one store of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxasm.model.ports import TokenCounter
from ctxasm.store.database import MemoryStore, Store
from ctxasm.text.tokens.counter import open_counter

KINDS = ("sqlite file", "sqlite in memory", "postgresql")


@pytest.fixture(scope="session")
def counter() -> TokenCounter:
    return open_counter()


@pytest.fixture(params=["sqlite file", "postgresql"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that several stores can open."""
    return address(request, tmp_path)


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path, counter: TokenCounter) -> Iterator[Store]:
    """An empty store of each kind."""
    with MemoryStore(counter) if request.param == "sqlite in memory" else Store(address(request, tmp_path), counter) as opened:
        yield opened


@pytest.fixture
def database(store: Store) -> Store:
    """The same."""
    return store


def address(request: pytest.FixtureRequest, folder: Path) -> str:
    kind = request.param
    if kind == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return f"sqlite:///{folder / 'store.db'}"
