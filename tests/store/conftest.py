"""Fixtures of the store's tests: a bundle, a counter, and one store of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kinds import KINDS, AnyStore

from ctxasm.model.ports import TokenCounter
from ctxasm.store.database import Store
from ctxasm.store.memory import MemoryStore
from ctxasm.text.tokens.counter import open_counter


@pytest.fixture(scope="session")
def counter() -> TokenCounter:
    return open_counter()


@pytest.fixture(params=["sqlite file", "postgresql"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that several stores can open."""
    return address(request, tmp_path)


@pytest.fixture(params=["sqlite file", "sqlite in memory", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, counter: TokenCounter) -> Iterator[Store]:
    """An empty store of each database kind."""
    with Store(address(request, tmp_path), counter) as opened:
        yield opened


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path, counter: TokenCounter) -> Iterator[AnyStore]:
    """An empty store of each kind."""
    if request.param == "memory":
        yield MemoryStore(counter)
        return
    with Store(address(request, tmp_path), counter) as opened:
        yield opened


def address(request: pytest.FixtureRequest, folder: Path) -> str:
    kind = request.param
    if kind == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return "sqlite://" if kind == "sqlite in memory" else f"sqlite:///{folder / 'store.db'}"
