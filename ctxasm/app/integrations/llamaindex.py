"""LlamaIndex: the tuned assembly as a node postprocessor.

    from ctxasm.app.integrations.llamaindex import ContextAssemblyPostprocessor

    postprocessor = ContextAssemblyPostprocessor(settings="recommended", source=open_dataset("handbook"))
    engine = index.as_query_engine(similarity_top_k=20, node_postprocessors=[postprocessor])

Each returned node is one block of the context: its text as it stands there, header and marker included. Its metadata is the
citation, kept from the model and the embedder, so that the model reads exactly the block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxasm.app.integrations.passages import Memory, Reader, blocks_of
from ctxasm.app.integrations.settings_forms import settings_of
from ctxasm.data.files.recognised.passages import Passage
from ctxasm.model.errors import InvalidInput
from ctxasm.model.settings import AssemblySettings

try:
    from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, field_validator
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode, MetadataMode, NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
except ImportError:
    raise InvalidInput(
        "the adapter for LlamaIndex needs llama-index-core, which is not installed: pip install 'ctxasm[llamaindex]'"
    ) from None

if TYPE_CHECKING:
    from ctxasm.model.results import Assembly


class ContextAssemblyPostprocessor(BaseNodePostprocessor):
    """Assembles retrieved nodes into the blocks of a context.

    `settings`: AssemblySettings, a mapping, TOML or the path of a TOML file, as copied from the workbench. Neighbours come from
    `source` (a ctxasm store or dataset), else from `docstore` by the PREVIOUS and NEXT relationships of the nodes, else from the
    nodes themselves. The docstore of an index over a vector store is empty: give its table as the source, linked or copied. Where no
    node has a neighbour, a warning says why, once. `document_id_key`, `chunk_index_key`: metadata keys (None: the SOURCE of a node and
    its relationships).
    """

    settings: Any = None
    source: Any = Field(default=None, exclude=True)
    docstore: Any = Field(default=None, exclude=True)
    document_id_key: str | None = None
    chunk_index_key: str | None = None
    _memory: Memory = PrivateAttr(default_factory=Memory)

    model_config = ConfigDict(arbitrary_types_allowed=True, validate_default=True)

    @classmethod
    def class_name(cls) -> str:
        return "ContextAssemblyPostprocessor"

    @field_validator("settings")
    @classmethod
    def _settings(cls, given: object) -> AssemblySettings:
        return settings_of(given)

    def assembly(self, query: str, nodes: Sequence[NodeWithScore]) -> Assembly:
        """The whole assembly: text, citations and trace. Nodes without a score beside scored ones are neighbours, not hits.

        Raises InvalidInput for what cannot be assembled.
        """
        reader = Reader(self.source, self.document_id_key, self.chunk_index_key, memory=self._memory)
        found = [_passage(reader, scored.node, scored.score) for scored in nodes]
        beside = [_passage(reader, node, None) for node in self._neighbours(nodes)] if self.source is None else []
        return reader.assemble(query, found, self.settings, beside)

    def _neighbours(self, nodes: Sequence[NodeWithScore]) -> list[BaseNode]:
        """The nodes of the docstore up to `window` before and after the hits, each once."""
        if self.docstore is None or not self.settings.enabled:
            return []
        known = {scored.node.node_id: scored.node for scored in nodes}
        edge: list[BaseNode] = list(known.values())
        found: dict[str, BaseNode] = {}
        for _ in range(self.settings.window):
            wanted = [name for name in dict.fromkeys(_linked(edge)) if name not in known and name not in found]
            edge = list(self.docstore.get_nodes(wanted, raise_error=False)) if wanted else []
            found |= {node.node_id: node for node in edge}
        return list(found.values())

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        if not nodes:
            return []
        if query_bundle is None:
            raise InvalidInput("the context is assembled for a question, got none: pass query_str or query_bundle")
        return as_nodes(self.assembly(query_bundle.query_str, nodes))


def as_nodes(assembly: Assembly) -> list[NodeWithScore]:
    """The blocks of an assembly as nodes; their SOURCE is the document that the block cites."""
    found = []
    for block in blocks_of(assembly):
        hidden = list(block.metadata)
        node = TextNode(text=block.text, metadata=block.metadata, excluded_llm_metadata_keys=hidden, excluded_embed_metadata_keys=hidden)
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=block.metadata["document_id"])
        found.append(NodeWithScore(node=node, score=block.score))
    return found


def _passage(reader: Reader, node: BaseNode, score: float | None) -> Passage:
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    before, after = node.prev_node, node.next_node
    made = reader.passage(
        node.get_content(metadata_mode=MetadataMode.NONE),
        node.metadata,
        node.node_id,
        document_id=node.ref_doc_id,
        start=start,
        end=end,
        previous=before.node_id if before else None,
        following=after.node_id if after else None,
    )
    return replace(made, score=score, measure="score")  # a score in the metadata is of another retrieval


def _linked(nodes: Sequence[BaseNode]) -> Iterator[str]:
    for node in nodes:
        for beside in (node.prev_node, node.next_node):
            if beside is not None:
                yield beside.node_id
