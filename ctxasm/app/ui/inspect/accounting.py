"""The accounting line: every chunk and every token of an assembly has a term. Pure; all from the trace."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ctxasm.model.results import Assembly


@dataclass(frozen=True, slots=True)
class Ledger:
    """The accounting of one assembly: chunks in against chunks sent, and where the tokens of the context are.

    A merged hit's text is in the context, inside its neighbour; `sent` counts the chunks with text of their own.
    """

    retrieved: int
    added: int
    merged: int
    duplicates: int
    dropped: tuple[tuple[str, int], ...]
    sent: int
    chunk_tokens: int
    prefix_tokens: int
    scaffold_tokens: int
    supplement_tokens: int
    total_tokens: int

    @property
    def balances(self) -> bool:
        """Whether every chunk and every token is accounted for."""
        left = self.merged + self.duplicates + sum(count for _, count in self.dropped)
        tokens = self.chunk_tokens + self.prefix_tokens + self.scaffold_tokens + self.supplement_tokens
        return self.retrieved + self.added - left == self.sent and tokens == self.total_tokens


def ledger(assembly: Assembly) -> Ledger:
    """The accounting line, a term for every fate. `sent` is counted in the segments, not derived."""
    fates = assembly.trace.fates
    dropped: dict[str, int] = {}
    for fate in fates:
        if fate.fate == "dropped":
            dropped[fate.reason or "other"] = dropped.get(fate.reason or "other", 0) + 1
    tokens: defaultdict[str, int] = defaultdict(int)
    for segment in assembly.segments:
        tokens[segment.kind] += segment.tokens
    return Ledger(
        retrieved=sum(fate.retrieved for fate in fates),
        added=sum(not fate.retrieved for fate in fates),
        merged=sum(fate.fate == "merged" for fate in fates),
        duplicates=sum(fate.fate == "duplicate_of" for fate in fates),
        dropped=tuple(dropped.items()),
        sent=len({(s.document_id, s.chunk_index) for s in assembly.segments if s.kind == "chunk"}),
        chunk_tokens=tokens["chunk"],
        prefix_tokens=tokens["prefix"],
        scaffold_tokens=tokens["header"] + tokens["separator"] + tokens["gap"],
        supplement_tokens=tokens["supplement"],
        total_tokens=assembly.token_count,
    )
