"""Haystack: `SentenceWindowRetriever`, `LostInTheMiddleRanker` with a threshold in words, `PromptBuilder`. It has no limit in
tokens: the words are three quarters of them, as the rule of thumb has it, or half of them to be safe; and the ranker keeps
the document that crosses the threshold."""

from __future__ import annotations

import os

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from typing import Any

from haystack import Document
from haystack.components.builders import PromptBuilder
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers import SentenceWindowRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils.filters import document_matches_filter

from ctxasm.model.records import Query
from tests.bench.found_text import Corpus
from tests.bench.peers.peer import WINDOWS, Way, ranked

WORDS = {"¾ words": 0.75, "½ words": 0.5}
TEMPLATE = "{% for document in documents %}{{ document.content }}{% if not loop.last %}\n\n{% endif %}{% endfor %}"


class Haystack:
    """Documents of a corpus as its splitter would have written them."""

    ways = tuple(
        Way(f"{kind}, {words}", window)
        for words in WORDS
        for kind, windows in (("hits", (0,)), ("windows", WINDOWS[1:]), ("window documents", WINDOWS[1:]))
        for window in windows
    )

    def __init__(self, corpus: Corpus) -> None:
        self.store = ByDocument()
        self.documents: dict[tuple[str, int], Document] = {}
        for document_id, own in corpus.chunks.items():
            for index, chunk in own.items():
                meta: dict[str, Any] = {"source_id": document_id, "split_id": index}
                if chunk.start is not None:
                    meta["split_idx_start"] = chunk.start
                self.documents[document_id, index] = Document(id=f"{document_id}#{index}", content=chunk.text, meta=meta)
        self.store.write_documents(list(self.documents.values()))
        self.builder = PromptBuilder(TEMPLATE, required_variables=["documents"])
        self.found: tuple[object, dict[str, Any]] = (None, {})

    def gather(self, way: Way, query: Query) -> list[Document]:
        hits = [self.documents[hit.document_id, hit.chunk_index] for hit in ranked(query)]
        if not way.window:
            return hits
        if self.found[0] != (query, way.window):
            self.found = (query, way.window), SentenceWindowRetriever(self.store, way.window).run(hits)
        if way.name.startswith("windows"):
            return [Document(content=text) for text in self.found[1]["context_windows"]]
        return list(self.found[1]["context_documents"])

    def fit(self, way: Way, gathered: list[Document], limit: int) -> str:
        words = round(limit * WORDS[way.name.rpartition(", ")[2]])
        kept = LostInTheMiddleRanker(word_count_threshold=words).run(gathered)["documents"]
        return str(self.builder.run(documents=kept)["prompt"])


class ByDocument(InMemoryDocumentStore):
    """The same answers from a look at the documents in question alone: the store itself tries its filter on all of them."""

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        wanted = {source for condition in (filters or {})["conditions"] for source in sources(condition)}
        return [d for d in self.storage.values() if d.meta["source_id"] in wanted and document_matches_filter(filters or {}, d)]


def sources(condition: dict[str, Any]) -> set[str]:
    """The documents that a filter names."""
    if "conditions" in condition:
        return {source for each in condition["conditions"] for source in sources(each)}
    return {condition["value"]} if condition["field"].endswith("source_id") else set()
