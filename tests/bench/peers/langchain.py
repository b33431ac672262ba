"""LangChain: it has no neighbours; parents by `ParentDocumentRetriever`'s base class, and three ways to a limit: `trim_messages`
(one message a chunk, best first, the last whole or in part), the groups of `ReduceDocumentsChain` (`split_list_of_docs`), none."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from langchain_classic.chains.combine_documents.reduce import split_list_of_docs
from langchain_classic.retrievers import MultiVectorRetriever
from langchain_classic.storage import InMemoryStore
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, trim_messages
from langchain_core.vectorstores import VectorStore

from ctxasm.model.records import Query
from tests.bench.found_text import Corpus
from tests.bench.peers.peer import Way, count, ranked

SEPARATOR = "\n\n"
tokens = lru_cache(maxsize=20_000)(count)


class LangChain:
    """Documents as LangChain's chains take them. Its counters add up messages; the separator is counted with each."""

    ways = (
        Way("trim_messages", 0),
        Way("trim_messages, partial", 0),
        Way("split_list_of_docs", 0),
        Way("stuff, no limit", 0),
        Way("parents, trim_messages, partial", 0),
    )

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.parents = InMemoryStore()
        self.parents.mset([(document_id, Document(text)) for document_id, text in corpus.whole.items()])

    def gather(self, way: Way, query: Query) -> list[Document]:
        hits = [
            Document(self.corpus.chunks[hit.document_id][hit.chunk_index].text, metadata={"doc_id": hit.document_id})
            for hit in ranked(query)
        ]
        if way.name.startswith("parents"):
            return MultiVectorRetriever(vectorstore=Recorded(hits), docstore=self.parents).invoke(query.query)
        return hits

    def fit(self, way: Way, gathered: list[Document], limit: int) -> str:
        if way.name.startswith("stuff"):
            return SEPARATOR.join(document.page_content for document in gathered)
        if way.name.startswith("split"):
            return self._first_group(gathered, limit)
        messages = [HumanMessage(document.page_content) for document in gathered]
        kept = trim_messages(
            messages, max_tokens=limit, token_counter=count_messages, strategy="first", allow_partial=way.name.endswith("partial")
        )
        return SEPARATOR.join(str(message.content) for message in kept)

    def _first_group(self, gathered: list[Document], limit: int) -> str:
        try:
            groups = split_list_of_docs(gathered, count_documents, limit)
        except ValueError:  # one document is longer than the limit: it says that it cannot handle this, whichever it is
            return ""
        return SEPARATOR.join(document.page_content for document in groups[0])


def count_messages(messages: list[BaseMessage]) -> int:
    return sum(tokens(str(message.content)) + 1 for message in messages)


def count_documents(documents: list[Document]) -> int:
    return sum(tokens(document.page_content) + 1 for document in documents)


class Recorded(VectorStore):
    """A vector store that finds what was retrieved."""

    def __init__(self, hits: list[Document]) -> None:
        self.hits = hits

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return self.hits

    @classmethod
    def from_texts(cls, *args: Any, **kwargs: Any) -> Recorded:
        raise NotImplementedError
