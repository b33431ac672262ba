"""The adapter for LangChain against the real library: tuned settings give in production what the workbench showed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ctxasm import AssemblySettings, Bundle, Chunk, InvalidInput, MemoryStore, Query
from ctxasm import Document as BundleDocument
from ctxasm.model.presets import preset
from ctxasm.text.tokens import open_counter
from tests.app.integrations.tuned import SETTINGS, TOML, asked, sample, workbench
from tests.examples import few


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """LangChain, and the workbench beside it: at the top of the file every worker would load them that runs none of these tests."""
    global BENCH, TEXTS, BaseCallbackHandler, Document, AssembledRetriever, ContextAssembler, Recorded
    pytest.importorskip("langchain_core")
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    from ctxasm.app.integrations.langchain import AssembledRetriever, ContextAssembler

    BENCH = workbench()
    TEXTS = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in sample().chunks}

    class Recorded(BaseRetriever):
        """Returns what was recorded for a question."""

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return next((documents_of(one) for one in BENCH.dataset().queries() if one.query == query), [])


def documents_of(query: Query, index_key: str | None = "chunk_index") -> list[Document]:
    """The hits of a query as a LangChain vector store would return them."""
    found = []
    for hit in sorted(query.retrieved, key=lambda hit: (hit.rank or 0, -hit.score)):
        metadata: dict[str, Any] = {"document_id": hit.document_id, "score": hit.score}
        if index_key:
            metadata[index_key] = hit.chunk_index
        found.append(
            Document(page_content=TEXTS[hit.document_id, hit.chunk_index], metadata=metadata, id=f"{hit.document_id}-{hit.chunk_index}")
        )
    return found


def joined(documents: Sequence[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)


@pytest.mark.parametrize("toml", TOML)
def test_the_blocks_are_the_context_of_the_workbench(toml: str) -> None:
    settings = SETTINGS[TOML.index(toml)]
    assembler = ContextAssembler(settings=toml, source=BENCH.dataset())
    for query in few(asked(24)):
        expected = BENCH.assemble(query, settings)
        documents = assembler.compress_documents(documents_of(query), query.query)
        assert joined(documents) == expected.text
        assert [document.metadata["number"] for document in documents] == [citation.number for citation in expected.citations]
        assert open_counter("cl100k_base").count(joined(documents)) == expected.token_count
        assert expected.token_count <= settings.max_tokens or not settings.enabled


@pytest.mark.parametrize("index_key", ["chunk_index", None])
def test_stored_chunks_are_known_by_their_index_or_by_their_text(index_key: str | None) -> None:
    query = asked(1)[0]
    assembly = ContextAssembler(source=BENCH.store).assembly(query.query, documents_of(query, index_key))
    assert assembly.text == BENCH.assemble(query, AssemblySettings()).text


@pytest.mark.parametrize("index_key", ["chunk_index", None])
@pytest.mark.parametrize("renamed", ["/srv/docs/{}.md", "7"])
def test_documents_of_other_ids_are_found_by_their_text(index_key: str | None, renamed: str) -> None:
    """A vector store that calls its documents by path, or all by one number: the text says which chunk it is."""
    query, assembler = asked(1)[0], ContextAssembler(source=BENCH.dataset())
    found = documents_of(query, index_key)
    for document in found:
        document.metadata["document_id"] = renamed.format(document.metadata["document_id"])
        document.page_content = document.page_content.replace(" ", "  ")  # white space aside
    assert assembler.assembly(query.query, found).text == BENCH.assemble(query, AssemblySettings()).text


def test_a_text_whose_lines_were_joined_is_found() -> None:
    """A loader that makes one line of a chunk: of two chunks that differ in indentation alone the one laid out alike counts."""
    texts = ["limits:\n  cpu: 1\n  ram: 2", "limits:\n  cpu: 1\nram: 2", "Opened at nine."]
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(Bundle("d", documents=(BundleDocument("a"),), chunks=tuple(Chunk("a", at, text) for at, text in enumerate(texts))))
    assembler = ContextAssembler(source=store, settings=AssemblySettings(expand_window=0))
    for text, index in ((texts[0], 0), (texts[1], 1), (" ".join(texts[0].split()), 0)):
        found = Document(page_content=text, metadata={"source": "/srv/other.yaml"})
        (citation,) = assembler.assembly("q", [found]).citations
        assert (citation.document_id, citation.chunk_indexes) == ("a", (index,))


def test_a_number_that_means_another_chunk_gives_way_to_the_text() -> None:
    query = asked(1)[0]
    found = documents_of(query)
    for document in found:
        document.metadata["chunk_index"] = 0
    assert ContextAssembler(source=BENCH.dataset()).assembly(query.query, found).text == BENCH.assemble(query, AssemblySettings()).text


def test_documents_that_nothing_matches_are_warned_of_once() -> None:
    found = [Document(page_content=f"Nobody stored this, and not {n}.", metadata={"document_id": f"x{n}"}) for n in range(3)]
    assembler = ContextAssembler(source=BENCH.dataset())
    with pytest.warns(UserWarning, match="none of the hits is a chunk of the dataset"):
        made = assembler.assembly("q", found)
    text = joined(assembler.compress_documents(found, "q"))  # a second warning would be an error
    assert all(document.page_content in text for document in found)
    (event,) = [e for stage in made.to_dict()["stages"] for e in stage["events"] if e["event"] == "unexpanded"]
    assert (event["obstacle"], event["document_id"]) == ("ids", "x0")


def test_metadata_is_the_citation_and_is_json() -> None:
    query = asked(1)[0]
    documents = ContextAssembler(source=BENCH.dataset()).compress_documents(documents_of(query), query.query)
    for document in documents:
        metadata = json.loads(json.dumps(document.metadata, allow_nan=False))
        assert {"number", "document_id", "title", "chunk_indexes", "retrieved", "score", "also_in", "snippet", "tokens"} <= metadata.keys()
        assert set(metadata["retrieved"]) <= set(metadata["chunk_indexes"])
        assert any(metadata["score"] == hit.score for hit in query.retrieved if hit.document_id == metadata["document_id"])
        assert document.page_content.startswith(f"[{metadata['number']}] ")


def test_the_retriever_in_every_way_that_a_runnable_is_called() -> None:
    retriever = AssembledRetriever(base_retriever=Recorded(), assembler=ContextAssembler(source=BENCH.dataset()))
    queries = asked(3)
    expected = [BENCH.assemble(query, AssemblySettings()).text for query in queries]
    questions = [query.query for query in queries]
    assert [joined(found) for found in retriever.batch(questions)] == expected
    assert [joined(found) for found in asyncio.run(retriever.abatch(questions))] == expected
    assert [joined(found) for found in retriever.stream(questions[0])] == expected[:1]
    assert joined(asyncio.run(retriever.ainvoke(questions[0]))) == expected[0]
    assert retriever.assembly(questions[0]).text == asyncio.run(retriever.aassembly(questions[0])).text == expected[0]

    async def streamed() -> list[str]:
        return [joined(found) async for found in retriever.astream(questions[0])]

    assert asyncio.run(streamed()) == expected[:1]
    assert retriever.invoke("something that nothing was recorded for") == []


def test_the_compressor_of_langchain_classic_takes_it() -> None:
    classic = pytest.importorskip("langchain_classic.retrievers")
    assembler = ContextAssembler(settings={"expand_window": 2}, source=BENCH.dataset())
    retriever = classic.ContextualCompressionRetriever(base_retriever=Recorded(), base_compressor=assembler)
    query = asked(1)[0]
    expected = BENCH.assemble(query, AssemblySettings(expand_window=2)).text
    assert joined(retriever.invoke(query.query)) == joined(asyncio.run(retriever.ainvoke(query.query))) == expected


def test_callbacks_see_the_retriever_inside() -> None:
    seen: list[tuple[str, int]] = []

    class Watch(BaseCallbackHandler):
        def on_retriever_end(self, documents: Sequence[Document], **kwargs: Any) -> None:
            seen.append(("inner" if kwargs.get("parent_run_id") else "outer", len(documents)))

    query = asked(1)[0]
    retriever = AssembledRetriever(base_retriever=Recorded(), assembler=ContextAssembler(source=BENCH.dataset()))
    blocks = retriever.invoke(query.query, config={"callbacks": [Watch()]})
    assert seen == [("inner", len(query.retrieved)), ("outer", len(blocks))]


# Without a store


def split(*starts: int) -> list[Document]:
    text = "".join(f"Sentence number {number} says its own number, which is {number}. " for number in range(20))
    return [Document(page_content=text[at : at + 150], metadata={"source": "a.md", "title": "A", "start_index": at}) for at in starts]


def test_documents_that_touch_are_joined_and_others_are_not() -> None:
    assembler = ContextAssembler(settings={"citation_unit": "passage"})
    text = "".join(document.page_content for document in split(0)) + split(110)[0].page_content[40:]
    (together,) = assembler.compress_documents(split(110, 0), "which number?")
    assert together.page_content == f"[1] Source: A\n{text}"
    assert together.metadata["chunk_indexes"] == [0, 1]
    with pytest.warns(UserWarning, match="no store stands behind the hits"):
        apart = assembler.compress_documents(split(0, 600), "which number?")
    assert [document.metadata["chunk_indexes"] for document in apart] == [[0], [2]]


def test_without_scores_the_order_counts_and_distances_can_be_told() -> None:
    documents = [Document(page_content=f"text {name}", metadata={"source": name, "far": at}) for at, name in enumerate("abc")]
    alone = {"expand_window": 0}
    assert [d.metadata["document_id"] for d in ContextAssembler(settings=alone).compress_documents(documents, "q")] == ["a", "b", "c"]
    by_score = ContextAssembler(settings=alone, score_key="far").compress_documents(documents, "q")
    assert [d.metadata["document_id"] for d in by_score] == ["c", "b", "a"]
    turned = ContextAssembler(settings=alone, score_key="far", lower_is_better=True).compress_documents(documents, "q")
    assert [(d.metadata["document_id"], d.metadata["score"]) for d in turned] == [("a", 1.0), ("b", 0.5), ("c", 1 / 3)]


def test_a_document_that_is_not_stored_keeps_its_own_text() -> None:
    query = asked(1)[0]
    stale = Document(
        page_content="A page that came after the index was built.", metadata={"document_id": query.retrieved[0].document_id, "score": 99.0}
    )
    text = ContextAssembler(source=BENCH.dataset()).assembly(query.query, [stale, *documents_of(query)]).text
    assert stale.page_content in text


def test_keys_that_are_named_must_be_there() -> None:
    documents = [Document(page_content="x", metadata={"doc": 7, "at": "3"})]
    found = ContextAssembler(document_id_key="doc", chunk_index_key="at").compress_documents(documents, "q")
    assert (found[0].metadata["document_id"], found[0].metadata["chunk_indexes"]) == ("7", [3])
    with pytest.raises(InvalidInput, match="has no page in its metadata, only 'doc', 'at'"):
        ContextAssembler(chunk_index_key="page").compress_documents(documents, "q")
    with pytest.raises(InvalidInput, match="metadata doc must be a whole number from 0, got 'x'"):
        ContextAssembler(chunk_index_key="doc").compress_documents([Document(page_content="x", metadata={"doc": "x"})], "q")


def test_settings_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(TOML[1], encoding="utf-8")
    for given in (SETTINGS[1], TOML[1], file, str(file), SETTINGS[1].changed(), {"context_assembly": SETTINGS[1].changed()}):
        assert ContextAssembler(settings=given).settings == SETTINGS[1]
    assert ContextAssembler().settings == AssemblySettings()
    assert ContextAssembler(settings="recommended").settings == preset("recommended")
    with pytest.raises(InvalidInput, match="expand_window must be"):
        ContextAssembler(settings={"expand_window": 9})
    with pytest.raises(InvalidInput, match=r"the file .* cannot be read: No such file"):
        ContextAssembler(settings=tmp_path / "absent.toml")
    with pytest.raises(InvalidInput, match="settings must be AssemblySettings, a mapping, TOML, the name of a preset or the path"):
        ContextAssembler(settings=7)
