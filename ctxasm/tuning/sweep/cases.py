"""A question with all that any settings may ask for: its hits with their widest windows, fetched once, and its evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ctxasm.assembly.expand import NOTHING_FETCHED, plan_expansion, rank_hits
from ctxasm.assembly.summarise import known_language
from ctxasm.model.kept import key_of
from ctxasm.model.ports import ChunkSource, Fetched, FetchedChunk, TokenCounter, Window
from ctxasm.model.records import CorpusLanguage, Document, Hit, Query, check_query
from ctxasm.model.settings import spec_of
from ctxasm.text.chunk_facts import complete
from ctxasm.tuning.evidence import Evidence, evidence_documents, evidence_of

WIDEST = int(spec_of("expand_window").high or 0)
"""Neighbours on each side that every policy can be given."""
FETCHED = int(spec_of("pool_window").high or 0)
"""Always fetched, so that what a question's results are kept under does not depend on the grid."""


def widened(window: int) -> dict[str, Any]:
    """Changes that bring in so many neighbours on each side: as every policy has them, else under one that has a pool."""
    if window <= WIDEST:
        return {"expand_window": window, "pool_window": None}
    return {"budget_policy": "pack", "pack_unit": "document", "pool_window": window}


@dataclass(frozen=True, slots=True)
class QuestionCase:
    """All that counting a question takes: it can be sent to another process. `encoding` is that of the chunks' token facts.

    `digest` is equal where everything is equal that a result can depend on, whatever the dataset is called.
    """

    query: Query
    chunks: tuple[FetchedChunk, ...]
    documents: Mapping[str, Document]
    language: CorpusLanguage | None
    evidence: Evidence
    encoding: str
    digest: str


DocumentChunks = Callable[[str], Sequence[FetchedChunk]]


def case_of(query: Query, source: ChunkSource, document_chunks: DocumentChunks, encoding: str) -> QuestionCase:
    """Read all of a question, in one statement for its chunks. Raises InvalidInput for a query that cannot be assembled."""
    check_query(query)
    windows = plan_expansion(rank_hits(query, None).hits, FETCHED)
    fetched = source.fetch(windows, encoding) if windows else NOTHING_FETCHED
    evidence = evidence_of(query, {name: document_chunks(name) for name in evidence_documents(query)})
    language = known_language(source)
    chunks = tuple(sorted(fetched.chunks, key=lambda chunk: (chunk.document_id, chunk.chunk_index)))
    documents = {name: replace(document, metadata={}) for name, document in sorted(fetched.documents.items())}
    asked = _plain(query)
    return QuestionCase(asked, chunks, documents, language, evidence, encoding, _digest(asked, chunks, documents, language, evidence))


def _plain(query: Query) -> Query:
    """The query without what no assembly looks at (its labels are the evidence of the case), and what cannot be sent."""
    hits = tuple(Hit(hit.document_id, hit.chunk_index, hit.score, hit.rank, {}) for hit in query.retrieved)
    return replace(query, retrieved=hits, gold=(), spans=(), answer=None, metadata={}, lost_hits=())


def _digest(
    query: Query, chunks: Sequence[FetchedChunk], documents: Mapping[str, Document], language: str | None, evidence: Evidence
) -> str:
    # Token facts are left out: they follow from the texts.
    texts = [[c.document_id, c.chunk_index, c.text, c.start, c.end, c.page_number, c.section, c.row_number] for c in chunks]
    records = [asdict(query), texts, [asdict(document) for document in documents.values()], language, asdict(evidence)]
    return key_of(json.dumps(records, ensure_ascii=True, sort_keys=True))[:32]


class CaseSource:
    """A case as a source of chunks. Its token facts are completed once an encoding."""

    def __init__(self, case: QuestionCase, counter_of: Callable[[str], TokenCounter]) -> None:
        self._case, self._counter_of = case, counter_of
        self._known: dict[str, dict[str, dict[int, FetchedChunk]]] = {}

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """As `ChunkSource.fetch`."""
        own = self._chunks(encoding)
        found = [own[name][at] for name, low, high in windows if name in own for at in range(low, high + 1) if at in own[name]]
        documents = {name: self._case.documents[name] for name, _, _ in windows if name in self._case.documents}
        return Fetched(found, documents, 0, 0, 0.0)

    def corpus_language(self) -> CorpusLanguage | None:
        """As `KnowsLanguage.corpus_language`."""
        return self._case.language

    def _chunks(self, encoding: str) -> dict[str, dict[int, FetchedChunk]]:
        if encoding not in self._known:
            chunks: Sequence[FetchedChunk] = self._case.chunks
            if encoding != self._case.encoding:
                chunks = [chunk._replace(token_count=None, overlap_tokens=None, lead_tokens=None) for chunk in chunks]
            held: dict[str, dict[int, FetchedChunk]] = {}
            for chunk in complete(chunks, self._counter_of(encoding)):
                held.setdefault(chunk.document_id, {})[chunk.chunk_index] = chunk
            self._known[encoding] = held
        return self._known[encoding]
