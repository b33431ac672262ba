"""Every budget policy of this project, as a system among the others, and what must hold of each of its contexts."""

from __future__ import annotations

from collections.abc import Mapping

from ctxasm import MemoryStore
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.evidence import evidence_documents, evidence_states
from tests.bench.found_text import Corpus
from tests.bench.peers.peer import WINDOWS, Way

COUNTER = open_counter()
POLICIES: Mapping[str, Mapping[str, object]] = {
    "drop_documents": {},
    "greedy": {"budget_policy": "greedy"},
    "greedy_skip": {"budget_policy": "greedy_skip"},
    "pack document": {"budget_policy": "pack", "pack_unit": "document"},
    "pack passage": {"budget_policy": "pack", "pack_unit": "passage"},
    "segments": {"budget_policy": "segments"},
}


class Ours:
    """All other settings are the defaults."""

    ways = tuple(Way(policy, window) for policy in POLICIES for window in WINDOWS)

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.store = corpus, MemoryStore()
        self.store.add(corpus.bundle)
        self.stages: dict[tuple[str, Way, int], str] = {}

    def gather(self, way: Way, query: Query) -> Query:
        return query

    def fit(self, way: Way, gathered: Query, limit: int) -> str:
        settings = AssemblySettings(expand_window=way.window, max_tokens=limit, **POLICIES[way.name])  # type: ignore[arg-type]
        done = assemble(gathered, self.store.dataset(), settings, COUNTER)
        assert done.token_count == COUNTER.count(done.text) <= limit, (way, limit, gathered.query_id)
        assert done.text.strip() or not gathered.retrieved, (way, limit, gathered.query_id)
        self.stages[gathered.query_id, way, limit] = self._lost_at(done)
        return source_text(done)

    def _lost_at(self, done: Assembly) -> str:
        """The stages that the missing evidence reached; empty when all is found, by the rule that reads the trace."""
        stored = {name: self.store.dataset().document_chunks(name) for name in evidence_documents(done.query)}
        return ", ".join(sorted({state.stage for state in evidence_states(done, stored) if state.stage}))


def source_text(done: Assembly) -> str:
    """The context with the characters of the sources where a look-alike stands for a bracket."""
    chunks = {key: candidate.chunk.text for key, candidate in done.trace.candidates.items()}
    return "".join(
        chunks[s.document_id, s.chunk_index][s.chunk_start : s.chunk_end]
        if s.kind == "chunk" and s.document_id is not None and s.chunk_index is not None
        else done.text[s.start : s.end]
        for s in done.segments
    )
