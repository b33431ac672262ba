"""One chunk a document, of a wanted size: what the sources' worked examples are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctxasm.assembly.deduplicate import by_document, relations_of, resolve
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.ports import ChunkVectors
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly, Candidate, Fate, Key
from ctxasm.model.settings import AssemblySettings
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

LETTER: Mapping[str, object] = {
    "expand_window": 0,
    "summary_prefix": False,
    "citation_unit": "chunk",
    "format": "minimal",
    "budget_scope": "chunks",
    "ordering": "relevance",
}
"""What a source that knows only retrieved chunks and their text counts: no neighbours, no headers."""


def words(name: str, tokens: int) -> str:
    """A text of exactly so many tokens that shares nothing with one of another name."""
    text, word = f"Document {name}:", f" {name.lower()}x"
    text += word * max(0, (tokens - COUNTER.count(text)) // COUNTER.count(word) - 1)
    while COUNTER.count(text) < tokens:
        text += word if COUNTER.count(text + word) <= tokens else "."
    assert COUNTER.count(text) == tokens
    return text


def sized(sizes: Mapping[str, int]) -> tuple[list[Chunk], list[Hit]]:
    """One chunk of each size, each in a document of its own, best first."""
    chunks = [Chunk(name, 0, words(name, tokens)) for name, tokens in sizes.items()]
    return chunks, [Hit(name, 0, 1.0 - place / 100, place + 1) for place, name in enumerate(sizes)]


def run(chunks: Iterable[Chunk], hits: Sequence[Hit], limit: int = 8000, documents: Iterable[Document] = (), **chosen: object) -> Assembly:
    """The assembly of a question with these hits."""
    source = FakeSource(documents, chunks, COUNTER)
    settings = AssemblySettings(**chosen)  # type: ignore[arg-type]
    return assemble(Query("Wat breng ik mee?", tuple(hits), "q"), source, settings, COUNTER, FakeClock(), limit)


def fate(done: Assembly, document_id: str, index: int = 0) -> Fate:
    """What became of a chunk."""
    return next(f for f in done.trace.fates if (f.document_id, f.chunk_index) == (document_id, index))


def cited(done: Assembly) -> list[str]:
    """The documents in the order of their numbers."""
    return [citation.document_id for citation in done.citations]


def duplicates(candidates: Mapping[Key, Candidate], vectors: ChunkVectors | None = None, **chosen: object) -> Mapping[Key, Key]:
    """Which of the candidates repeat which, when only duplicates are looked at."""
    settings = AssemblySettings(**chosen)  # type: ignore[arg-type]
    return resolve(by_document(candidates.values()), relations_of(candidates, settings, vectors)).duplicates
