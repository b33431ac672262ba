"""Which embedder a search takes: the model of the configured server where there is one, else a local one.

Semantic duplicates stay with the local ones, whose cosines were measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.config import EMBED_MODEL
from ctxasm.llm.configured import ConfiguredModels
from ctxasm.llm.embedding.local import EMBEDDERS, REMEDY, embedder_name, open_vectors
from ctxasm.model.datasets import VectorShelf
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.progress import Cancelled, never
from ctxasm.model.search import QueryEmbedder

if TYPE_CHECKING:
    from ctxasm.llm.embedding import KeptVectors

ENDPOINT = "endpoint"
"""The name by which a search asks for the embedding model of a server."""


def wants_endpoint(name: str | None, models: ConfiguredModels) -> bool:
    """Whether an embedder of this name (None: the default) is that of the configured server."""
    return name == ENDPOINT or (models.embed_model is not None and name in (None, models.embed_model))


def endpoint_embedder(name: str | None, models: ConfiguredModels, cancelled: Cancelled) -> QueryEmbedder | None:
    """The embedding model of the configured server, None where another is asked for. Raises InvalidInput where nothing names it."""
    if not wants_endpoint(name, models):
        return None
    from ctxasm.llm.embedding.endpoint_vectors import EndpointEmbedder

    return EndpointEmbedder(models.endpoint("embed"), cancelled)


def search_vectors_of(shelf: VectorShelf, models: ConfiguredModels, name: str | None = None, cancelled: Cancelled = never) -> KeptVectors:
    """The vectors that a search compares: of a local embedder by name, or of the configured server (`endpoint`, or its model's name).

    Default: the configured server, else the first local one that is installed. Raises InvalidInput where it cannot be had.
    """
    if not wants_endpoint(name, models):
        if name is None and embedder_name() is None:
            raise InvalidInput(f"no embedder is installed: {REMEDY}, or set {EMBED_MODEL}")
        if name is not None and name not in EMBEDDERS:
            raise InvalidInput(f"the embedder must be one of {', '.join((*EMBEDDERS, ENDPOINT))}, got {shown(name)}")
        return open_vectors(shelf, name)
    from ctxasm.llm.embedding import KeptVectors, threshold_of
    from ctxasm.llm.embedding.endpoint_vectors import EndpointEmbedder

    endpoint = models.endpoint("embed")
    vectors = EndpointEmbedder(endpoint, cancelled)
    return KeptVectors(vectors, shelf, endpoint.model, threshold_of(endpoint.model), f"at {endpoint.host}")
