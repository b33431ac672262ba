"""The adapter for LlamaIndex against the real library."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from ctxasm import AssemblySettings, InvalidInput, MemoryStore, Query
from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.tables import connecting
from ctxasm.text.tokens import open_counter
from tests.app.integrations.tuned import SETTINGS, TOML, asked, sample, workbench
from tests.examples import few

BUNDLE = sample()
TITLES = {document.document_id: document.title for document in BUNDLE.documents}
LONG = next(chunk.document_id for chunk in BUNDLE.chunks if chunk.chunk_index == 2)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """LlamaIndex, and the workbench beside it: at the top of the file every worker would load them that runs none of these tests."""
    global BENCH, NODES, MetadataMode, NodeRelationship, NodeWithScore, ObjectType, QueryBundle, RelatedNodeInfo, TextNode
    global SimpleDocumentStore, ContextAssemblyPostprocessor
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore, ObjectType, QueryBundle, RelatedNodeInfo, TextNode
    from llama_index.core.storage.docstore import SimpleDocumentStore

    from ctxasm.app.integrations.llamaindex import ContextAssemblyPostprocessor

    BENCH = workbench()
    NODES = nodes()


def nodes() -> dict[tuple[str, int], TextNode]:
    """The chunks that ship as LlamaIndex's splitter would have left them: linked to their document and to each other."""
    found = {}
    keys = {(chunk.document_id, chunk.chunk_index) for chunk in BUNDLE.chunks}
    for chunk in BUNDLE.chunks:
        node = TextNode(id_=f"{chunk.document_id}/{chunk.chunk_index}", text=chunk.text, metadata={"title": TITLES[chunk.document_id]})
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=chunk.document_id, node_type=ObjectType.DOCUMENT)
        for kind, index in ((NodeRelationship.PREVIOUS, chunk.chunk_index - 1), (NodeRelationship.NEXT, chunk.chunk_index + 1)):
            if (chunk.document_id, index) in keys:
                node.relationships[kind] = RelatedNodeInfo(node_id=f"{chunk.document_id}/{index}")
        found[chunk.document_id, chunk.chunk_index] = node
    return found


def retrieved(query: Query) -> list[NodeWithScore]:
    hits = sorted(query.retrieved, key=lambda hit: (hit.rank or 0, -hit.score))
    return [NodeWithScore(node=NODES[hit.document_id, hit.chunk_index], score=hit.score) for hit in hits]


def docstore() -> SimpleDocumentStore:
    store = SimpleDocumentStore()
    store.add_documents(list(NODES.values()))
    return store


def read_by_the_model(found: list[NodeWithScore]) -> str:
    return "\n\n".join(node.node.get_content(metadata_mode=MetadataMode.LLM) for node in found)


@pytest.mark.parametrize("toml", TOML)
def test_the_model_reads_the_context_of_the_workbench(toml: str) -> None:
    settings = SETTINGS[TOML.index(toml)]
    postprocessor = ContextAssemblyPostprocessor(settings=toml, source=BENCH.dataset())
    for query in few(asked(24)):
        expected = BENCH.assemble(query, settings)
        text = read_by_the_model(postprocessor.postprocess_nodes(retrieved(query), query_str=query.query))
        assert text == expected.text
        assert open_counter("cl100k_base").count(text) == expected.token_count


def test_an_index_over_a_vector_store_takes_neighbours_from_the_dataset() -> None:
    """Its docstore is empty, which is said; and its nodes are called otherwise than the chunks of the dataset."""
    query = asked(1)[0]
    found = [
        NodeWithScore(node=TextNode(id_=f"node-{n}", text=one.node.text, metadata={"file_name": "a.md"}), score=one.score)
        for n, one in enumerate(retrieved(query))
    ]
    with pytest.warns(UserWarning, match="no store stands behind the hits"):
        ContextAssemblyPostprocessor(docstore=SimpleDocumentStore()).postprocess_nodes(found, query_str=query.query)
    made = ContextAssemblyPostprocessor(source=BENCH.dataset()).assembly(query.query, found)
    assert made.text == BENCH.assemble(query, AssemblySettings()).text


@pytest.mark.parametrize("window", [0, 1, 2, 3])
def test_a_docstore_gives_the_same_neighbours_as_a_store(window: int) -> None:
    """Indexes differ (a docstore has none), so gaps are as they are and everything else is the same."""
    settings = AssemblySettings(expand_window=window, summary_prefix=False)
    postprocessor = ContextAssemblyPostprocessor(settings=settings, docstore=docstore())
    for query in few(asked(16)):
        mine = postprocessor.assembly(query.query, retrieved(query))
        theirs = BENCH.assemble(query, settings)
        names = {node.text: node.node_id for node in NODES.values()}
        found = {names[candidate.chunk.text] for candidate in mine.trace.candidates.values()}
        wanted = {names[candidate.chunk.text] for candidate in theirs.trace.candidates.values()}
        assert found == wanted
        assert mine.token_count <= settings.max_tokens


def test_metadata_is_the_citation_and_neither_model_nor_embedder_reads_it() -> None:
    query = asked(1)[0]
    for found in ContextAssemblyPostprocessor(source=BENCH.dataset()).postprocess_nodes(retrieved(query), query_str=query.query):
        node = found.node
        assert json.loads(json.dumps(node.metadata))["number"] >= 1
        assert node.get_content(metadata_mode=MetadataMode.LLM) == node.get_content(metadata_mode=MetadataMode.EMBED) == node.text
        assert node.ref_doc_id == node.metadata["document_id"]
        assert found.score == node.metadata["score"]
        again = TextNode.from_dict(json.loads(json.dumps(node.to_dict())))
        assert again.get_content(metadata_mode=MetadataMode.LLM) == node.text


def test_async_and_a_bundle_of_the_question() -> None:
    query = asked(1)[0]
    postprocessor = ContextAssemblyPostprocessor(source=BENCH.dataset())
    found = asyncio.run(postprocessor.apostprocess_nodes(retrieved(query), query_bundle=QueryBundle(query.query)))
    assert read_by_the_model(found) == BENCH.assemble(query, AssemblySettings()).text
    assert postprocessor.postprocess_nodes([], query_str="nothing was found") == []
    with pytest.raises(InvalidInput, match="assembled for a question, got none"):
        postprocessor.postprocess_nodes(retrieved(query))


def test_nodes_without_a_score_are_neighbours() -> None:
    first, second, third = (NodeWithScore(node=NODES[LONG, at]) for at in (0, 1, 2))
    second.score = 0.5
    assembly = ContextAssemblyPostprocessor(settings={"expand_window": 1}).assembly("what?", [first, second, third])
    assert [hit.chunk_index for hit in assembly.query.retrieved] == [1]
    assert sorted(index for _, index in assembly.trace.candidates) == [0, 1, 2]


def test_a_chunk_index_in_the_metadata_counts() -> None:
    made = [TextNode(text=f"part {at}", metadata={"file_path": "a.md", "at": at}) for at in (4, 5)]
    found = ContextAssemblyPostprocessor(chunk_index_key="at").postprocess_nodes(
        [NodeWithScore(node=made[1], score=0.5), NodeWithScore(node=made[0], score=0.4)], query_str="which?"
    )
    assert [(node.node.metadata["document_id"], node.node.metadata["chunk_indexes"]) for node in found] == [("a.md", [4, 5])]


def test_an_engine_answers_from_the_blocks() -> None:
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.response_synthesizers import get_response_synthesizer
    from llama_index.core.retrievers import BaseRetriever

    query = asked(1)[0]

    class Recorded(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return retrieved(query)

    def engine(**more: Any) -> RetrieverQueryEngine:
        synthesizer = get_response_synthesizer(llm=MockLLM(), response_mode="simple_summarize", **more)
        return RetrieverQueryEngine(Recorded(), synthesizer, node_postprocessors=[ContextAssemblyPostprocessor(source=BENCH.dataset())])

    expected = BENCH.assemble(query, AssemblySettings()).text
    head = expected[: expected.index("\n")]
    streaming = engine(streaming=True).query(query.query)
    said = "".join(streaming.response_gen)
    for response in (engine().query(query.query), asyncio.run(engine().aquery(query.query)), streaming):
        assert read_by_the_model(response.source_nodes) == expected
        assert head in (said if response is streaming else str(response))  # the mock repeats its prompt


def test_the_snippets_name_their_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What `settings` writes for a framework runs as it stands and takes neighbours from the dataset that it names."""
    from ctxasm import open_store
    from ctxasm.__main__ import main

    database = f"sqlite:///{tmp_path / 's.db'}"
    with open_store(database) as store:
        store.add(BUNDLE, "hospital")
    for form in ("langchain", "llamaindex"):
        assert main(["settings", "--format", form, "--db", database]) == 0
        snippet = capsys.readouterr().out
        names: dict[str, Any] = {"my_retriever": None, "my_index": MagicMock()}
        if form == "llamaindex":
            exec(snippet, names)  # no environment names the database
            assert names["postprocessor"].source.info.name == "hospital"
        assert f"source=open_dataset('hospital', open_store({database!r}))" in snippet
        assert main(["settings", "--format", form, "--db", database, "--data", "my table"]) == 0
        assert "source=open_dataset('my table', open_store(" in capsys.readouterr().out
    assert main(["settings", "--format", "llamaindex", "--db", f"sqlite:///{tmp_path / 'none.db'}"]) == 0
    assert "source=open_dataset(store=open_store(" in capsys.readouterr().out
    monkeypatch.setenv("CTXASM_DATABASE_URL", database)
    assert main(["settings", "--format", "langchain"]) == 0
    assert "source=open_dataset('hospital'))" in capsys.readouterr().out
    assert main(["settings", "--format", "langchain", "--data", "d", "--db", "postgresql://me:secret@host/db"]) == 0
    out, err = capsys.readouterr()
    assert "source=open_dataset('d'))" in out
    assert "secret" not in out + err
    assert "CTXASM_DATABASE_URL" in err
    assert not (tmp_path / "none.db").exists()


def test_nodes_are_found_in_a_linked_table_by_their_text(tmp_path: Path) -> None:
    """A table that is read where it is may change at any time, so it is asked for each text anew."""
    own = tmp_path / "own.db"
    with sqlite3.connect(own) as base:
        base.execute("CREATE TABLE t (document_id text, chunk_index integer, content text)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", [("d", n, f"Text number {n} of the table.") for n in range(5)])
    base.close()
    bench = Workbench(Config("sqlite://", connections={"own": {"url": f"sqlite:///{own}"}}), MemoryStore(open_counter("cl100k_base")))
    connecting.link(bench, "own", connecting.guess_mapping(bench, "own", "t"), "live")
    found = [NodeWithScore(node=TextNode(id_="n", text="Text number 2  of the table.", metadata={"file_name": "x"}), score=1.0)]
    made = ContextAssemblyPostprocessor(source=bench.dataset("live")).assembly("which?", found)
    assert [citation.chunk_indexes for citation in made.citations] == [(1, 2, 3)]
    bench.close()
