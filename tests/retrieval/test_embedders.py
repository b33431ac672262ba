"""Which embedder a search takes, whose key goes where, and what happens when a server fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ctxasm.app.parts import Models
from ctxasm.app.workbench import Workbench
from ctxasm.config import Config, read_config
from ctxasm.llm.embedding.local import missing
from ctxasm.llm.endpoint import Endpoint
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.progress import Cancelled
from ctxasm.model.records import Bundle, Chunk, Document
from ctxasm.model.search import SearchOptions
from ctxasm.retrieval.indexes import SearchStopped, search_vectors_of
from ctxasm.retrieval.searching import methods, search
from ctxasm.store.database import MemoryStore

LLM = {"HOME": "/h", "CTXASM_LLM_BASE_URL": "https://llm.example/v1", "CTXASM_LLM_MODEL": "chat", "CTXASM_LLM_API_KEY": "llm-key"}


class Served:
    """An embedding server: a vector by the length of a text."""

    embedded: list[str]
    fails = False

    def __init__(self, endpoint: Endpoint, cancelled: Cancelled) -> None:
        self.cancelled = cancelled

    def embed_passages(self, texts: Sequence[str]) -> Any:
        if self.fails:
            raise ModelUnavailable("embed.example does not answer")
        type(self).embedded += texts
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Any:
        if self.fails:
            raise ModelUnavailable("embed.example does not answer")
        vector = np.array([1.0, len(text) / 10], np.float32)
        return vector / np.linalg.norm(vector)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> type[Served]:
    monkeypatch.setattr(Served, "embedded", [], raising=False)
    monkeypatch.setattr(Served, "fails", False)
    monkeypatch.setattr("ctxasm.llm.embedding.endpoint_vectors.EndpointEmbedder", Served)
    return Served


def config(**more: str) -> Config:
    return read_config({**LLM, **more})


def workbench(own: Config, *texts: str) -> Workbench:
    store = MemoryStore()
    store.add(Bundle("h", (Document("d"),), tuple(Chunk("d", number, text) for number, text in enumerate(texts))))
    return Workbench(own, store)


def test_a_key_goes_only_to_the_address_that_it_came_with() -> None:
    same = Models(config(CTXASM_EMBED_MODEL="e")).endpoint("embed")
    assert (same.base_url, same.model, same.api_key) == ("https://llm.example/v1", "e", "llm-key")
    other = Models(config(CTXASM_EMBED_MODEL="e", CTXASM_EMBED_BASE_URL="https://embed.example/v1")).endpoint("embed")
    assert (other.host, other.api_key) == ("embed.example", "")
    own = config(CTXASM_EMBED_MODEL="e", CTXASM_EMBED_BASE_URL="https://embed.example/v1", CTXASM_EMBED_API_KEY="own-key")
    assert Models(own).endpoint("embed").api_key == "own-key"
    assert "own-key" not in repr(own)
    assert "embed.example" not in repr(own)


def test_what_is_not_configured_says_what_to_set() -> None:
    with pytest.raises(InvalidInput, match="set CTXASM_EMBED_MODEL, and CTXASM_EMBED_BASE_URL"):
        search_vectors_of(MemoryStore(), Models(config()), "endpoint")
    with pytest.raises(InvalidInput, match="must be one of wordllama, multilingual-e5-small, endpoint"):
        search_vectors_of(MemoryStore(), Models(config()), "e")


def test_the_configured_server_is_the_default_and_others_a_choice(served: type[Served]) -> None:
    own = config(CTXASM_EMBED_MODEL="e")
    assert search_vectors_of(MemoryStore(), Models(own)).kept_as == "e at llm.example"
    assert search_vectors_of(MemoryStore(), Models(own), "e").name == "e"
    assert search_vectors_of(MemoryStore(), Models(own), "wordllama").name == "wordllama"
    assert search_vectors_of(MemoryStore(), Models(config())).name == "wordllama"
    assert {way.name: way.available for way in methods(workbench(own, "x"), "h") if way.kind == "embedder"}["endpoint"]


def test_texts_are_sent_once(served: type[Served]) -> None:
    bench = workbench(config(CTXASM_EMBED_MODEL="e"), "kort", "een langere tekst", "kort")
    for _ in range(2):
        query = search(bench, "tekst", "h")
        assert query.search_method == "hybrid_bm25_vector"
        assert query.metadata["embedder"] == "e"
    assert sorted(served.embedded) == ["een langere tekst", "kort"]


def test_a_server_that_fails_leaves_the_words_and_a_note(served: type[Served], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Served, "fails", True)
    bench = workbench(config(CTXASM_EMBED_MODEL="e"), "een tekst die faalt")
    query = search(bench, "tekst", "h")
    assert query.search_method == "bm25_only"
    assert query.metadata["embedder"] is None
    assert query.metadata["notes"] == ["searched by words alone: embed.example does not answer"]
    for options in (SearchOptions("vector"), SearchOptions(embedder="endpoint")):
        with pytest.raises(ModelUnavailable):
            search(bench, "tekst", "h", options)
    with pytest.raises(SearchStopped):
        search(bench, "tekst", "h", cancelled=lambda: True)


@pytest.mark.parametrize(
    ("name", "command"), [("wordllama", "pip install wordllama"), ("multilingual-e5-small", "pip install 'ctxasm[retrieval]'")]
)
def test_a_local_embedder_that_is_absent_names_the_command(name: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxasm.llm.embedding.local.find_spec", lambda package: None)
    assert missing(name).endswith(command)
