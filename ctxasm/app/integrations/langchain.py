"""LangChain: the tuned assembly as a document compressor, and as a retriever around another one.

    from ctxasm.app.integrations.langchain import AssembledRetriever, ContextAssembler

    assembler = ContextAssembler(settings="recommended", source=open_dataset("handbook"))
    retriever = AssembledRetriever(base_retriever=vector_store.as_retriever(search_kwargs={"k": 20}), assembler=assembler)

What you have tuned takes the place of the preset, as TOML, the path of a file or a mapping; the default is the five-stage pipeline.
Each returned Document is one block of the context: its text as it stands there, header and marker included, and its citation as
metadata. Joined by a blank line, as LangChain's chains join documents, they are the context of the workbench.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ctxasm.app.integrations.passages import Memory, Reader, blocks_of
from ctxasm.app.integrations.settings_forms import settings_of
from ctxasm.model.errors import InvalidInput
from ctxasm.model.settings import AssemblySettings

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun, Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable
    from langchain_core.runnables.config import run_in_executor
    from pydantic import ConfigDict, PrivateAttr, field_validator
except ImportError:
    raise InvalidInput("the adapter for LangChain needs langchain-core, which is not installed: pip install 'ctxasm[langchain]'") from None

if TYPE_CHECKING:
    from ctxasm.model.results import Assembly


class ContextAssembler(BaseDocumentCompressor):
    """Assembles retrieved Documents into the blocks of a context.

    `settings`: AssemblySettings, a mapping, TOML or the path of a TOML file, as copied from the workbench. `source`: a store, a
    dataset or another source of chunks, which gives the neighbours; without one they are found among the Documents only.
    `document_id_key`, `chunk_index_key`, `score_key`: metadata keys (None: the usual names, and the order of the Documents where
    they have no score). `lower_is_better`: the scores are distances. A Document whose id is not that
    of the dataset is found by its text; one that is not stored keeps its own. Where no Document has a neighbour, a warning says why, once.
    """

    settings: Any = None
    source: Any = None
    document_id_key: str | None = None
    chunk_index_key: str | None = None
    score_key: str | None = None
    lower_is_better: bool = False
    _memory: Memory = PrivateAttr(default_factory=Memory)

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", validate_default=True)

    @field_validator("settings")
    @classmethod
    def _settings(cls, given: object) -> AssemblySettings:
        return settings_of(given)

    def assembly(self, query: str, documents: Sequence[Document]) -> Assembly:
        """The whole assembly: text, citations and trace. Raises InvalidInput for what cannot be assembled."""
        keys = (self.document_id_key, self.chunk_index_key, self.score_key, self.lower_is_better)
        reader = Reader(self.source, *keys, self._memory)
        found = [reader.passage(document.page_content, document.metadata, document.id) for document in documents]
        return reader.assemble(query, found, self.settings)

    async def aassembly(self, query: str, documents: Sequence[Document]) -> Assembly:
        """`assembly`, without holding up the event loop."""
        return await run_in_executor(None, self.assembly, query, documents)

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None) -> Sequence[Document]:
        """One Document a block, in the order of the context."""
        return as_documents(self.assembly(query, documents)) if documents else []

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """As `compress_documents`."""
        return as_documents(await self.aassembly(query, documents)) if documents else []


class AssembledRetriever(BaseRetriever):
    """A retriever whose Documents are the blocks of the context that `assembler` makes of those of `base_retriever`."""

    base_retriever: Runnable[str, list[Document]]
    assembler: ContextAssembler

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def assembly(self, query: str, **kwargs: Any) -> Assembly:
        """What was retrieved for `query`, assembled: text, citations and trace."""
        return self.assembler.assembly(query, self.base_retriever.invoke(query, **kwargs))

    async def aassembly(self, query: str, **kwargs: Any) -> Assembly:
        """As `assembly`."""
        return await self.assembler.aassembly(query, await self.base_retriever.ainvoke(query, **kwargs))

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any) -> list[Document]:
        found = self.base_retriever.invoke(query, config={"callbacks": run_manager.get_child()}, **kwargs)
        return list(self.assembler.compress_documents(found, query, run_manager.get_child()))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        found = await self.base_retriever.ainvoke(query, config={"callbacks": run_manager.get_child()}, **kwargs)
        return list(await self.assembler.acompress_documents(found, query, run_manager.get_child()))


def as_documents(assembly: Assembly) -> list[Document]:
    """The blocks of an assembly as Documents."""
    return [Document(page_content=block.text, metadata=block.metadata) for block in blocks_of(assembly)]
