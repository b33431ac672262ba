"""LlamaIndex: neighbours by `PrevNextNodePostprocessor` or a window in the metadata, parents by `AutoMergingRetriever`, and the
packing of `CompactAndRefine` (`PromptHelper.repack`). What does not fit into the first pack goes to further calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.postprocessor import MetadataReplacementPostProcessor, PrevNextNodePostprocessor
from llama_index.core.prompts import PromptTemplate
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.storage import StorageContext
from llama_index.core.storage.docstore import SimpleDocumentStore

from ctxasm.model.records import Query
from tests.bench.found_text import Corpus
from tests.bench.peers.peer import ENCODING, WINDOWS, Way, ranked

EMPTY = PromptTemplate("{context_str}")
WORD = 100
short_tokenizer = lru_cache(maxsize=500_000)(ENCODING.encode_ordinary)
long_tokenizer = lru_cache(maxsize=5_000)(ENCODING.encode_ordinary)
ENOUGH = 1.25
"""Text of so many times the limit fills the first pack: what comes after it cannot change that pack, and takes long to split."""


class LlamaIndex:
    """Nodes of a corpus, each knowing its neighbours and its document."""

    ways = (
        *(Way("PrevNext, compact", window) for window in WINDOWS),
        *(Way("sentence window, compact", window) for window in WINDOWS[1:]),
        Way("AutoMerging, compact", 0),
    )

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.docstore = SimpleDocumentStore()
        self.nodes: dict[tuple[str, int], TextNode] = {}
        for document_id, own in corpus.chunks.items():
            parent = TextNode(id_=document_id, text=corpus.whole[document_id])
            for index, chunk in own.items():
                node = TextNode(id_=f"{document_id}#{index}", text=chunk.text)
                node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=document_id)
                for relation, other in ((NodeRelationship.PREVIOUS, index - 1), (NodeRelationship.NEXT, index + 1)):
                    if other in own:
                        node.relationships[relation] = RelatedNodeInfo(node_id=f"{document_id}#{other}")
                self.nodes[document_id, index] = node
            parent.relationships[NodeRelationship.CHILD] = [RelatedNodeInfo(node_id=f"{document_id}#{index}") for index in own]
            self.docstore.add_documents([parent, *(self.nodes[document_id, index] for index in own)])
        self.storage = StorageContext.from_defaults(docstore=self.docstore)

    def gather(self, way: Way, query: Query) -> list[str]:
        hits = [NodeWithScore(node=self.nodes[hit.document_id, hit.chunk_index], score=hit.score) for hit in ranked(query)]
        if way.name.startswith("AutoMerging"):
            nodes = AutoMergingRetriever(Recorded(hits), self.storage).retrieve(query.query)  # type: ignore[arg-type]
        elif way.name.startswith("sentence window"):
            nodes = MetadataReplacementPostProcessor("window").postprocess_nodes([self._with_window(hit, way.window) for hit in hits])
        elif way.window:
            nodes = PrevNextNodePostprocessor(docstore=self.docstore, num_nodes=way.window, mode="both").postprocess_nodes(hits)
        else:
            nodes = hits
        return [node.node.get_content() for node in nodes]

    def _with_window(self, hit: NodeWithScore, window: int) -> NodeWithScore:
        """What `SentenceWindowNodeParser` would have left at the node: the text around it, here by whole chunks."""
        document_id, _, index = hit.node.node_id.rpartition("#")
        own = self.corpus.chunks[document_id]
        around = [own[i] for i in range(int(index) - window, int(index) + window + 1) if i in own]
        text = " ".join(chunk.text for chunk in around)
        if around[0].start is not None and around[-1].end is not None:
            text = self.corpus.whole[document_id][around[0].start : around[-1].end]
        node = TextNode(id_=hit.node.node_id, text=own[int(index)].text, metadata={"window": text}, excluded_llm_metadata_keys=["window"])
        return NodeWithScore(node=node, score=hit.score)

    def fit(self, way: Way, gathered: list[str], limit: int) -> str:
        helper = PromptHelper(context_window=limit, num_output=0, tokenizer=tokenizer)
        packs = helper.repack(EMPTY, enough(gathered, limit))
        return packs[0] if packs else ""


def enough(texts: list[str], limit: int) -> list[str]:
    """The first of the texts, as many as can have a part in the first pack."""
    tokens = list(accumulate(len(long_tokenizer(text)) for text in texts))
    needed = next((place for place, total in enumerate(tokens, 1) if total > ENOUGH * limit), len(texts))
    return texts[:needed]


def tokenizer(text: str) -> Sequence[int]:
    """Tokens of a text; a word is remembered."""
    return short_tokenizer(text) if len(text) < WORD else ENCODING.encode_ordinary(text)


class Recorded(BaseRetriever):
    """A retriever that returns what was retrieved."""

    def __init__(self, hits: list[NodeWithScore]) -> None:
        self.hits = hits
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.hits
