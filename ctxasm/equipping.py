"""What an assembly needs from outside for its settings: vectors for semantic copies, a model for compression."""

from __future__ import annotations

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


def equipment(settings: AssemblySettings, config: Config, shelf: Shelf) -> Equipment:
    """What these settings ask for, and nothing else. Vectors are kept on `shelf`.

    Raises InvalidInput where an embedder or a model is asked for that cannot be had.
    """
    vectors: ChunkVectors | None = None
    compressor: Compressor | None = None
    if settings.enabled and settings.dedup_semantic:
        from ctxasm.meaning import open_vectors

        vectors = open_vectors(shelf)
    if settings.enabled and settings.compression == "model":
        from ctxasm.compressing import open_compressor

        compressor = open_compressor(settings, config)
    return {"vectors": vectors, "compressor": compressor}
