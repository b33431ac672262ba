"""How a typed question is searched for, and what a search says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.records import Hit

Method = Literal["hybrid", "bm25", "vector"]
IndexedText = Literal["raw", "title", "enriched"]
METHODS: tuple[Method, ...] = ("hybrid", "bm25", "vector")
INDEXED_TEXTS: tuple[IndexedText, ...] = ("raw", "title", "enriched")
"""What is indexed of a chunk: its text; title, section and text; or what enrichment says of it, and its text. What is shown stays."""
ENGINES = ("auto", "memory", "database")
"""Where a search runs: in memory, in the database that holds the dataset, or (auto) in the database from a size on."""
LANGUAGES = ("auto", "nl", "en", "de")
MOST_HITS = 200


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search. Raises InvalidInput for a value that is not allowed. `fusion_k` is the constant of reciprocal-rank fusion.

    `embedder` and `reranker` are names (None: the default embedder, no reranker).
    """

    method: Method = "hybrid"
    text: IndexedText = "raw"
    limit: int = 20
    language: str = "auto"
    fusion_k: int = 60
    embedder: str | None = None
    reranker: str | None = None
    engine: str = "auto"

    def __post_init__(self) -> None:
        for field, allowed in (("method", METHODS), ("text", INDEXED_TEXTS), ("language", LANGUAGES), ("engine", ENGINES)):
            if getattr(self, field) not in allowed:
                raise InvalidInput(f"{field} of a search must be one of {', '.join(allowed)}, got {shown(getattr(self, field))}")
        for field, most in (("limit", MOST_HITS), ("fusion_k", 10_000)):
            if type(getattr(self, field)) is not int or not 1 <= getattr(self, field) <= most:
                raise InvalidInput(f"{field} of a search must be a whole number from 1 to {most:,}, got {shown(getattr(self, field))}")


class Found(NamedTuple):
    """The hits of one search, best first, with rank and `scores` per method: `bm25`, `bm25_rank`, `vector`, `vector_rank`, `rrf`, `rerank`.

    `search_method` is what really ran (`hybrid_bm25_vector`, `bm25_only`, `vector_only`), `bm25_matches` how many hits share a word
    with the question, `best_similarity` the highest cosine. `notes` are sentences for the user. `fusion` says how two rankings
    were fused: the constant `k` of reciprocal rank, and what each of them weighed.
    """

    hits: tuple[Hit, ...]
    search_method: str
    bm25_matches: int | None = None
    best_similarity: float | None = None
    notes: tuple[str, ...] = ()
    elapsed_ms: float = 0.0
    fusion: Mapping[str, float] | None = None


class QueryEmbedder(Protocol):
    """Texts and questions in, one unit vector each out (float32 arrays of shape texts × dimensions, and dimensions)."""

    def embed_passages(self, texts: Sequence[str]) -> Any: ...
    def embed_query(self, text: str) -> Any: ...


class Reranker(Protocol):
    """Judges question and text together. Any scale, higher is better."""

    @property
    def name(self) -> str: ...
    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score a text, in their order."""
        ...
