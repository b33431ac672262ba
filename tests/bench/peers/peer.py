"""What the bench asks of every system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ctxasm.model.records import Hit, Query
from ctxasm.text.tokens.vocabulary import load_encoding

ENCODING = load_encoding("cl100k_base")
BUDGETS = (1000, 2000, 4000, 8000)
WINDOWS = (0, 1, 2, 3)


class Way(NamedTuple):
    """One way to use a system: the components, by name, and how many neighbours on each side they may bring."""

    name: str
    window: int


class Peer(Protocol):
    """A system over one corpus."""

    ways: Sequence[Way]

    def gather(self, way: Way, query: Query) -> Any:
        """What stands before the limit is applied: found once for all limits."""
        ...

    def fit(self, way: Way, gathered: Any, limit: int) -> str:
        """The context within `limit` tokens, as far as the system keeps one."""
        ...


def count(text: str) -> int:
    """Tokens in the vocabulary of all."""
    return len(ENCODING.encode_ordinary(text))


def cut(text: str, limit: int) -> str:
    """The first `limit` tokens: what would be left of a context that is too long."""
    return ENCODING.decode(ENCODING.encode_ordinary(text)[:limit])


def ranked(query: Query) -> list[Hit]:
    """The hits, best first."""
    return sorted(query.retrieved, key=lambda hit: (hit.rank or 0, -hit.score))
