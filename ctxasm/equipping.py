"""What an assembly needs from outside for its settings: vectors for semantic copies, a model for compression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from ctxasm.config import Config
from ctxasm.model.extracts import Compressor
from ctxasm.model.ports import ChunkVectors
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.embedding.kept import Shelf


class Equipment(TypedDict):
    """Named as `assemble` takes them."""

    vectors: ChunkVectors | None
    compressor: Compressor | None


class MemoryShelf:
    """Vectors kept for as long as the process lives: for sources that have no place for them."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, bytes], bytes] = {}

    def read_vectors(self, embedder: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those that are known."""
        return {key: self._vectors[embedder, key] for key in keys if (embedder, key) in self._vectors}

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> bool:
        """Remember these."""
        self._vectors |= {(embedder, key): vector for key, vector in vectors.items()}
        return True


_MEMORY = MemoryShelf()


def equipment(settings: AssemblySettings, config: Config, source: object) -> Equipment:
    """What these settings ask for, and nothing else. Vectors are kept in `source` where it is a store, else in memory.

    Raises InvalidInput where an embedder or a model is asked for that cannot be had.
    """
    vectors: ChunkVectors | None = None
    compressor: Compressor | None = None
    if settings.enabled and settings.dedup_semantic:
        from ctxasm.meaning import open_vectors
        from ctxasm.store.database import Store
        from ctxasm.store.memory import MemoryStore

        shelf: Shelf = source if isinstance(source, (Store, MemoryStore)) else _MEMORY
        vectors = open_vectors(shelf)
    if settings.enabled and settings.compression == "model":
        from ctxasm.compressing import open_compressor

        compressor = open_compressor(settings, config)
    return {"vectors": vectors, "compressor": compressor}
