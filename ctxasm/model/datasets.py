"""What is said of a dataset, what became of its labels when it was replaced, and what a store of datasets is to whoever reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol, runtime_checkable

from ctxasm.model.events import NoNeighbours
from ctxasm.model.ports import ChunkSource, FetchedChunk, Shelf
from ctxasm.model.records import Answer, Bundle, Chunk, Document, GoldChange, GoldChunk, Query
from ctxasm.model.runs import RunStore


@dataclass
class Moves:
    """What became of labels and hits at a load: counts, and the first of each kind in words."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def note(self, kind: str, example: str) -> None:
        """Count one."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.first.setdefault(kind, example)

    def notes(self) -> tuple[str, ...]:
        """A sentence for each kind that occurred."""
        return tuple(
            f"{self.counts[kind]:,} {words[self.counts[kind] != 1]}: {self.first[kind]}"
            for kind, words in KINDS.items()
            if kind in self.counts
        )


KINDS = {
    "label moved": ("label followed its text to another chunk", "labels followed their text to other chunks, the first"),
    "label ambiguous": (
        "label has a text that stands several times, the nearest to its old place was taken",
        "labels have a text that stands several times, the nearest to their old place was taken, the first",
    ),
    "label found": ("label that was lost is found again", "labels that were lost are found again, the first"),
    "label lost": (
        "label is lost, no chunk of its document holds its text; it counts as not found (`ctxasm questions` lists it)",
        "labels are lost, no chunk of their document holds their text; they count as not found (`ctxasm questions` lists them), the first",
    ),
    "place lost": (
        "place of a label that has others is lost, which alone count now (`ctxasm questions` lists it)",
        "places of labels that have others are lost, which alone count now (`ctxasm questions` lists them), the first",
    ),
    "hit moved": ("saved hit followed its text to another chunk", "saved hits followed their text to other chunks, the first"),
    "hit found": ("saved hit that was lost is found again", "saved hits that were lost are found again, the first"),
    "hit lost": (
        "saved hit is lost, no chunk of its document holds its text; search again for a whole list",
        "saved hits are lost, no chunk of their document holds their text; search again for whole lists, the first",
    ),
}
"""What can become of a label or a hit, in words for one and for several."""


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """One load. `dataset_id` is never used twice, so it names this version of the dataset; times are UTC.

    `encoding` is the one the stored token facts are in, None when they are not stored. `created_at` is the first load of
    this name, `loaded_at` the last. `content_hash` (hex) is equal for loads of equal records. `replaced` counts characters
    that became U+FFFD, `origin` is where the records came from, where that was said.
    """

    dataset_id: int
    name: str
    created_at: datetime
    loaded_at: datetime
    encoding: str | None
    documents: int
    chunks: int
    queries: int
    answers: int
    replaced: int
    content_hash: str
    origin: str | None = None

    @property
    def linked(self) -> bool:
        """Whether it is a table of the user's own, read where it is."""
        return self.dataset_id < 0


class QueryEntry(NamedTuple):
    """One line of a query picker. `hits` is the number of retrieved chunks."""

    query_id: str
    query: str
    hits: int


class Dataset(ChunkSource, Protocol):
    """A dataset as it is read: stored, in memory, or linked. Every read raises StoreUnavailable where it cannot be done."""

    @property
    def info(self) -> DatasetInfo: ...
    @property
    def follows(self) -> bool:
        """Whether the handle follows its name to the next load, so that it may be kept."""
        ...

    def documents(self) -> list[Document]:
        """All documents, in loaded order."""
        ...

    def document_chunks(self, document_id: str) -> list[FetchedChunk]:
        """All chunks of a document by index; empty for an unknown one."""
        ...

    def find_text(self, phrase: str, limit: int = 200) -> list[FetchedChunk]:
        """The chunks whose text contains `phrase` in any case. A blank phrase finds none."""
        ...

    def iter_chunks(self) -> Iterator[FetchedChunk]:
        """All chunks, document by document in loaded order, by index."""
        ...

    def iter_records(self) -> Iterator[Chunk]:
        """All chunks as they were loaded, in the order of `iter_chunks`."""
        ...

    def query_list(self) -> list[QueryEntry]:
        """Id, text and number of hits of each query, in loaded order."""
        ...

    def queries(self) -> list[Query]:
        """All queries with what was retrieved for them, in loaded order."""
        ...

    def query(self, query_id: str) -> Query:
        """One query. Raises NotFound naming those that exist."""
        ...

    def answers(self) -> list[Answer]:
        """All recorded answers, in loaded order."""
        ...


ChunkKey = tuple[str, int]
"""The document_id and the chunk_index of a chunk."""


class OwnedDataset(Dataset, Protocol):
    """A dataset that our own store holds, asked for its records by name; names that it does not know are left out."""

    def no_neighbours(self) -> NoNeighbours | None:
        """Why none of its chunks has a neighbour; None where one has."""
        ...

    def bundle(self) -> Bundle:
        """All that was loaded."""
        ...

    def documents_named(self, names: Sequence[str]) -> Mapping[str, Document]:
        """Documents by their ids."""
        ...

    def document_lengths(self, names: Sequence[str]) -> Mapping[str, int | None]:
        """The characters of documents, None where the offsets of their chunks do not say."""
        ...

    def chunks_at(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, Chunk]:
        """Chunks by their places."""
        ...

    def held_chunks(self, keys: Sequence[ChunkKey]) -> set[ChunkKey]:
        """Those of the places that hold a chunk."""
        ...

    def queries_named(self, query_ids: Sequence[str]) -> Mapping[str, Query]:
        """Queries by their ids."""
        ...

    def loaded_queries(self) -> list[Query]:
        """The queries in loaded order, without the saved ones."""
        ...


@runtime_checkable
class VectorShelf(Protocol):
    """Vectors (float32 bytes) kept by embedder and key."""

    def read_vectors(self, embedder: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those that are known."""
        ...

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> bool:
        """Remember these; False where they cannot be kept."""
        ...


class DatasetStore(Shelf, VectorShelf, ChunkSource, RunStore, Protocol):
    """A store of datasets: a database, or memory. Raises StoreUnavailable where it cannot be reached."""

    def add(
        self, bundle: Bundle, name: str | None = None, origin: str | None = None, *, join: bool = False, moves: Moves | None = None
    ) -> DatasetInfo:
        """Load a bundle as a dataset, in place of one of its name; with `join` its records join those of that dataset.

        `moves` takes what became of the labels and hits of saved questions.
        """
        ...

    def add_stream(
        self,
        name: str,
        documents: Iterable[Document],
        chunks: Iterable[Chunk],
        queries: Iterable[Query] = (),
        answers: Iterable[Answer] = (),
        origin: str | None = None,
        *,
        replaced: Callable[[], int] = int,
        join: bool = False,
        moves: Moves | None = None,
    ) -> DatasetInfo:
        """Load records as they come, else as `add`; `replaced`, asked at the end, counts characters that became U+FFFD."""
        ...

    def datasets(self) -> list[DatasetInfo]:
        """The newest first."""
        ...

    def dataset(self, name: str | None = None) -> OwnedDataset:
        """One by name (default: the newest). Raises NotFound."""
        ...

    def delete(self, name: str) -> None:
        """Remove one with all that belongs to it. Raises NotFound."""
        ...

    def save_query(self, dataset_name: str, query: Query, *, linked: bool = False) -> Query:
        """Keep a query with its hits among those of a dataset, also through later loads."""
        ...

    def delete_query(self, dataset_name: str, query_id: str) -> None:
        """Forget a saved query."""
        ...

    def saved_queries(self, dataset_name: str) -> list[Query]:
        """The saved ones, in the order of saving."""
        ...

    def set_summaries(self, dataset_name: str, summaries: Mapping[str, str | None], made_by: str) -> DatasetInfo:
        """Give documents summaries that were made after the load, at once."""
        ...

    def set_gold(
        self, dataset_name: str, query_id: str, gold: Sequence[GoldChunk], how: GoldChange = "replace", *, linked: bool = False
    ) -> Query:
        """Give a question of a dataset other gold evidence. Raises NotFound."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...
