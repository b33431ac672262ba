"""What the core needs from outside: a source of chunks, a token counter, a clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ctxasm.model.events import NoNeighbours
from ctxasm.model.records import CorpusLanguage, Document

Clock = Callable[[], float]
"""Seconds on a monotonic scale, like `time.perf_counter`."""


class Window(NamedTuple):
    """The chunk indexes `low … high` (both included) of one document."""

    document_id: str
    low: int
    high: int


class FetchedChunk(NamedTuple):
    """A stored chunk with the facts found once, at load. A fact that is None is found on the fly.

    `token_count` counts `text` alone in the encoding asked for. `overlap_chars` is how much of the head of this chunk
    repeats the chunk before it (`chunk_index - 1`), found as `overlap_kind` says: "offsets", "text", "header" (the head both begin with,
    and behind it the end of that chunk), "coincidence" (a match too long to be an overlap: never stripped) or "none" (see
    `ctxasm.text.overlap`). `overlap_tokens` counts that head and is None for a header, and when no safe seam lies strictly inside it;
    `lead_tokens` counts the chunk before it up to where that head begins. `duplicate_key` is equal for chunks of the same normalised
    text. `quiet` says in which formats nothing in `text` can read as a marker or a boundary (see `ctxasm.text.markers.collisions`).
    """

    document_id: str
    chunk_index: int
    text: str
    start: int | None = None
    end: int | None = None
    page_number: int | None = None
    section: str | None = None
    row_number: int | None = None
    token_count: int | None = None
    overlap_chars: int | None = None
    overlap_kind: str | None = None
    overlap_tokens: int | None = None
    duplicate_key: bytes | None = None
    lead_tokens: int | None = None
    quiet: int | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer to one plan: chunks in any order, the documents they belong to, and what it took.

    `statements` is the number of statements that read chunks (the promise: one, for any number of hits),
    `document_statements` those that read titles and summaries.
    """

    chunks: Sequence[FetchedChunk]
    documents: Mapping[str, Document]
    statements: int
    document_statements: int
    elapsed_ms: float


class ChunkSource(Protocol):
    """Where adjacent chunks come from."""

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """All stored chunks inside the windows, with token facts for `encoding`. Windows never overlap."""
        ...


@runtime_checkable
class KnowsLanguage(ChunkSource, Protocol):
    """A source that can know what language its chunks are in, all of them and not only those of one question."""

    def corpus_language(self) -> CorpusLanguage | None:
        """The language of the data: the same as long as the data is the same. None: it does not know."""
        ...


@runtime_checkable
class KnowsNeighbours(ChunkSource, Protocol):
    """A source that can tell why none of its chunks has a neighbour."""

    def no_neighbours(self) -> NoNeighbours | None:
        """The reason; None where some chunk has one, or it is not known. The same as long as the data is the same."""
        ...


@runtime_checkable
class KnowsDocuments(ChunkSource, Protocol):
    """A source that can be asked for a whole document."""

    def document_chunks(self, document_id: str) -> Sequence[FetchedChunk]:
        """All chunks of a document by index; empty for an unknown one."""
        ...


@runtime_checkable
class KnowsDatasets(Protocol):
    """Several sources by their names, as a store has them."""

    def dataset(self, name: str | None = None) -> KnowsDocuments:
        """One by name (default: the newest)."""
        ...


class ChunkVectors(Protocol):
    """Unit vectors of chunks, by an embedder whose cosines mean what `threshold` says: from there on two texts say the same."""

    @property
    def name(self) -> str: ...
    @property
    def threshold(self) -> float: ...
    def vectors(self, chunks: Sequence[FetchedChunk]) -> Any:
        """A float32 array of shape chunks × dimensions, kept for the next time. Raises InvalidInput where it cannot be had."""
        ...


class Shelf(Protocol):
    """Texts (JSON) kept by the name of a shelf and a key. Each call is one transaction: all of it happens, or nothing."""

    def read_kept(self, shelf: str, keys: Sequence[str] | None = None) -> dict[str, str]:
        """The kept ones of these keys (None: all of the shelf, by key)."""
        ...

    def keep(self, shelf: str, values: Mapping[str, str]) -> None:
        """Keep these, replacing what was kept under their keys. Raises StoreUnavailable."""
        ...

    def forget(self, shelf: str, keys: Sequence[str] | None = None) -> None:
        """Remove these keys, None: the whole shelf. What is not there is no error."""
        ...


class Tally(Protocol):
    """The exact token count of a text that grows piece by piece."""

    total: int

    def add(self, text: str, own: int | None = None, growth: int | None = None) -> int:
        """Append `text`; return by how much the exact count of the whole grew.

        `own` is the count of `text` alone where it is known; `growth` the growth itself, where the caller has proved it.
        """
        ...


class TokenCounter(Protocol):
    """Counts tokens the way the model will. `exact` is False where no vocabulary could be had and counts are estimates."""

    @property
    def encoding(self) -> str: ...
    @property
    def exact(self) -> bool: ...
    def count(self, text: str) -> int:
        """Tokens of `text`, special tokens counted as ordinary text."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each text, on all cores."""
        ...

    def tally(self) -> Tally:
        """A fresh running count."""
        ...

    def complement(self, text: str, at: int, total: int, known: int) -> int:
        """Count of one side of `text` split at character `at`, from the count of the whole and of the other side."""
        ...

    def merge(self, text: str, at: int, left: int, right: int) -> int:
        """Count of `text` from the counts of `text[:at]` and `text[at:]`."""
        ...

    def has_seam(self, text: str) -> bool:
        """Whether a place strictly inside `text` exists where counts add up whatever stands around `text`."""
        ...

    def inside(self, text: str, own: int) -> int:
        """Of the `own` tokens of `text` those that any text takes in which it stands: 0 where no seam lies strictly inside it."""
        ...

    def change(self, old: str, new: str, low: int, high: int) -> int | None:
        """Count of `new` minus count of `old`, equally long texts that differ only from `low` to `high`, wherever they
        stand; None where no safe cut lies on both sides of the difference."""
        ...

    def boundaries(self, text: str) -> list[int]:
        """Ascending character offsets in (0, len(text)] at which a token ends and the text before is valid."""
        ...
