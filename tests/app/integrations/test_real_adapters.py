"""On real corpora and their recorded hits: production gives what the workbench gives, within the limit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxasm import AssemblySettings, MemoryStore
from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.text.tokens import open_counter
from tests.examples import few
from tests.real_data import REAL, load_real, real_folder

pytestmark = pytest.mark.skipif(real_folder() is None, reason="the real bundles are not beside the project")


@pytest.mark.parametrize("name", REAL)
def test_the_blocks_are_the_context_of_the_workbench(name: str) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document

    from ctxasm.app.integrations.langchain import ContextAssembler

    bundle, counter = load_real(name), open_counter("cl100k_base")
    store = MemoryStore(counter)
    store.add(bundle)
    bench = Workbench(Config("sqlite://"), store)
    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in bundle.chunks}
    settings = AssemblySettings(max_tokens=2000)
    assembler = ContextAssembler(settings=settings.changed(), source=bench.dataset())
    for query in [replace(query, supplement=None) for query in few(bundle.queries[::4])]:
        hits = sorted(query.retrieved, key=lambda hit: (hit.rank or 0, -hit.score))
        found = [
            Document(
                page_content=texts[hit.document_id, hit.chunk_index],
                metadata={"document_id": hit.document_id, "chunk_index": hit.chunk_index, "score": hit.score},
            )
            for hit in hits
        ]
        text = "\n\n".join(document.page_content for document in assembler.compress_documents(found, query.query))
        assert text == bench.assemble(query, settings).text
        assert counter.count(text) <= 2000
