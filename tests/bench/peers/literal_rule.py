"""The five-stage pipeline to the letter, as a system among the others: chunk text counts, whole documents leave from the tail."""

from __future__ import annotations

import sqlite3

from ctxasm.model.records import Query
from tests.bench.found_text import Corpus
from tests.bench.literal import Group, LiteralStore, create_literal, gather_literally, write_literally
from tests.bench.peers.peer import WINDOWS, Way, count


class LiteralRule:
    """`tests/bench/literal.py`, each group counted once instead of anew for every limit."""

    ways = tuple(Way("literal", window) for window in WINDOWS)

    def __init__(self, corpus: Corpus) -> None:
        self.store: LiteralStore = create_literal(sqlite3.connect(":memory:"), "?", corpus.bundle)

    def gather(self, way: Way, query: Query) -> list[tuple[Group, int]]:
        groups = gather_literally(query, self.store, way.window)
        return [(group, count("\n".join(group.parts))) for group in groups]

    def fit(self, way: Way, gathered: list[tuple[Group, int]], limit: int) -> str:
        kept = list(gathered)
        while kept and sum(tokens for _, tokens in kept) > limit:
            kept.pop()
        return write_literally([group for group, _ in kept], self.store)
