"""Makes the exports in tests/data/files/valid with the real libraries: `python make_exports.py FOLDER [name …]`.

Every function below writes one file; a name is left out (and said) where its library is not installed. Nothing is fetched:
models are fakes of the libraries themselves, servers run on this machine. The texts are invented.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

TEXTS = {
    "opening.md": (
        "The harbour museum opens at ten in the morning. On Mondays it stays closed, and on Thursdays the doors close at nine in the "
        "evening. Visitors who come by boat may moor at the east quay for two hours. Mooring for the whole day costs twelve euros, "
        "to be paid at the desk. The desk accepts cards only. Children under twelve enter free of charge when an adult is with them. "
        "Schools book a tour at least three weeks ahead; a tour takes ninety minutes and ends in the engine room."
    ),
    "collectie.md": (
        "De collectie telt veertig scheepsmodellen en negen motoren. De oudste motor dateert uit 1893 en draait elke zondag om twee uur. "
        "Wie foto's wil maken, mag dat zonder flits. In de bibliotheek liggen logboeken van 1810 tot 1954; wie ze wil inzien maakt een "
        "afspraak met de conservator. De logboeken verlaten de leeszaal niet."
    ),
}
QUESTION = "When does the harbour museum open?"
ANSWER = "It opens at ten in the morning [1]."
QUESTIONS = (QUESTION, "Hoe oud is de oudste motor?", "What does mooring cost?")
MADE = Path(__file__).with_name("made.tsv")
"""By what each file was made, and when."""
LIBRARIES = {
    "langchain": ("langchain-core",),
    "llamaindex": ("llama-index-core",),
    "haystack": ("haystack-ai",),
    "openinference": ("openinference-instrumentation",),
    "langfuse": ("langfuse",),
    "langsmith": ("langsmith",),
    "chroma": ("chromadb",),
    "qdrant": ("qdrant-client",),
    "deepeval": ("deepeval",),
    "ragas": ("ragas",),
}
MAKERS: dict[str, Callable[[Path], None]] = {}


def writes(path: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Register what writes the file `path`."""

    def register(make: Callable[[Path], None]) -> Callable[[Path], None]:
        MAKERS[path] = make
        return make

    return register


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _lines(path: Path, values: list[Any]) -> None:
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")


# LangChain


def _split() -> list[Any]:
    from langchain_core.documents import Document
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    whole = [Document(page_content=text, metadata={"source": name, "title": name.removesuffix(".md")}) for name, text in TEXTS.items()]
    return RecursiveCharacterTextSplitter(chunk_size=180, chunk_overlap=40, add_start_index=True).split_documents(whole)


def _vectors() -> Any:
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=32))
    chunks = _split()
    store.add_documents(chunks, ids=[f"chunk-{number}" for number in range(len(chunks))])
    return store


@writes("langchain/split_documents.jsonl")
def langchain_corpus(path: Path) -> None:
    _lines(path, [chunk.model_dump() for chunk in _split()])


@writes("langchain/dumps.json")
def langchain_dumps(path: Path) -> None:
    from langchain_core.load import dumpd

    _json(path, dumpd(_split()))


@writes("langchain/with_score.json")
def langchain_pairs(path: Path) -> None:
    from langchain_core.load import dumpd

    _json(path, dumpd(_vectors().similarity_search_with_score(QUESTION, k=4)))


@writes("langchain/by_query.json")
def langchain_by_query(path: Path) -> None:
    retriever = _vectors().as_retriever(search_kwargs={"k": 3})
    _json(path, {question: [found.model_dump() for found in retriever.invoke(question)] for question in QUESTIONS})


@writes("langchain/retrieval_qa.json")
def langchain_retrieval_qa(path: Path) -> None:
    from langchain_classic.chains import RetrievalQA
    from langchain_core.language_models import FakeListLLM
    from langchain_core.load import dumpd

    chain = RetrievalQA.from_chain_type(FakeListLLM(responses=[ANSWER]), retriever=_vectors().as_retriever(), return_source_documents=True)
    _json(path, dumpd(chain.invoke({"query": QUESTION})))


@writes("langchain/retrieval_chain.jsonl")
def langchain_retrieval_chain(path: Path) -> None:
    from langchain_classic.chains import create_retrieval_chain
    from langchain_classic.chains.combine_documents import create_stuff_documents_chain
    from langchain_core.language_models import FakeListLLM
    from langchain_core.load import dumpd
    from langchain_core.prompts import ChatPromptTemplate

    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{input}")])
    answers = create_stuff_documents_chain(FakeListLLM(responses=[ANSWER]), prompt)
    chain = create_retrieval_chain(_vectors().as_retriever(), answers)
    _lines(path, [dumpd(chain.invoke({"input": question})) for question in QUESTIONS])


# LlamaIndex


def _nodes() -> list[Any]:
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    whole = [Document(text=text, id_=f"doc-{name}", metadata={"file_name": name}) for name, text in TEXTS.items()]
    splitter = SentenceSplitter(chunk_size=60, chunk_overlap=12, id_func=lambda number, document: f"{document.node_id}-{number}")
    return splitter.get_nodes_from_documents(whole)


def _index() -> Any:
    from llama_index.core import MockEmbedding, VectorStoreIndex

    return VectorStoreIndex(_nodes(), embed_model=MockEmbedding(embed_dim=8))


@writes("llamaindex/nodes.json")
def llamaindex_nodes(path: Path) -> None:
    _json(path, [node.to_dict() for node in _nodes()])


@writes("llamaindex/retrieved.jsonl")
def llamaindex_retrieved(path: Path) -> None:
    _lines(path, [found.to_dict() for found in _index().as_retriever(similarity_top_k=4).retrieve(QUESTION)])


@writes("llamaindex/response.json")
def llamaindex_response(path: Path) -> None:
    from llama_index.core.llms import MockLLM

    response = _index().as_query_engine(llm=MockLLM(max_tokens=8), similarity_top_k=3).query(QUESTION)
    _json(path, {"query": QUESTION, "response": str(response), "source_nodes": [node.model_dump() for node in response.source_nodes]})


@writes("llamaindex/docstore.json")
def llamaindex_docstore(path: Path) -> None:
    from llama_index.core.storage.docstore import SimpleDocumentStore

    store = SimpleDocumentStore()
    store.add_documents(_nodes())
    with tempfile.TemporaryDirectory() as folder:
        store.persist(str(Path(folder) / "docstore.json"))
        _json(path, json.loads((Path(folder) / "docstore.json").read_text(encoding="utf-8")))


# Haystack


def _haystack() -> list[Any]:
    from haystack import Document
    from haystack.components.preprocessors import DocumentSplitter

    splitter = DocumentSplitter(split_by="word", split_length=30, split_overlap=5)
    whole = [Document(content=text, meta={"file_path": name}, id=name) for name, text in TEXTS.items()]
    return splitter.run(documents=whole)["documents"]


def _haystack_pipeline(ranker: Any = None) -> Any:
    from haystack import Pipeline
    from haystack.components.builders import AnswerBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(_haystack())
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=4))
    pipeline.add_component("answer_builder", AnswerBuilder())
    if ranker is not None:
        pipeline.add_component("ranker", ranker)
        pipeline.connect("retriever.documents", "ranker.documents")
    pipeline.connect("ranker.documents" if ranker is not None else "retriever.documents", "answer_builder.documents")
    return pipeline


@writes("haystack/split_documents.jsonl")
def haystack_corpus(path: Path) -> None:
    _lines(path, [document.to_dict() for document in _haystack()])


@writes("haystack/documents_with_meta.json")
def haystack_nested(path: Path) -> None:
    _json(path, [document.to_dict(flatten=False) for document in _haystack()])


@writes("haystack/pipeline_output.json")
def haystack_output(path: Path) -> None:
    parts = {"retriever": {"query": QUESTION}, "answer_builder": {"query": QUESTION, "replies": [ANSWER]}}
    output = _haystack_pipeline().run(parts, include_outputs_from={"retriever"})
    found = [document.to_dict() for document in output["retriever"]["documents"]]
    _json(
        path, {"retriever": {"documents": found}, "answer_builder": {"answers": [a.to_dict() for a in output["answer_builder"]["answers"]]}}
    )


# OpenInference


def _chain() -> Any:
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnablePassthrough

    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{question}")])
    found = {"context": _vectors().as_retriever(search_kwargs={"k": 3}), "question": RunnablePassthrough()}
    return found | prompt | FakeListChatModel(responses=[ANSWER] * len(QUESTIONS)) | StrOutputParser()


def _spans(run: Callable[[], None], instrumentor: Any) -> list[Any]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor.instrument(tracer_provider=provider)
    try:
        run()
    finally:
        instrumentor.uninstrument()
    return list(exporter.get_finished_spans())


def _ask_langchain() -> None:
    chain = _chain()
    for question in QUESTIONS:
        chain.invoke(question)


def _langchain_spans() -> list[Any]:
    from openinference.instrumentation.langchain import LangChainInstrumentor

    return _spans(_ask_langchain, LangChainInstrumentor())


@writes("openinference/otel_spans.jsonl")
def otel_spans(path: Path) -> None:
    _lines(path, [json.loads(span.to_json()) for span in _langchain_spans()])


@writes("openinference/otlp.jsonl")
def otlp(path: Path) -> None:
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    _lines(path, [MessageToDict(encode_spans(_langchain_spans()))])


@writes("openinference/llamaindex_spans.jsonl")
def llamaindex_spans(path: Path) -> None:
    from llama_index.core.llms import MockLLM
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    index = _index()
    engine = index.as_query_engine(llm=MockLLM(max_tokens=8), similarity_top_k=3)
    _lines(path, [json.loads(span.to_json()) for span in _spans(lambda: engine.query(QUESTION), LlamaIndexInstrumentor())])


@writes("openinference/haystack_reranked.jsonl")
def haystack_spans(path: Path) -> None:
    from haystack import Document, component
    from openinference.instrumentation.haystack import HaystackInstrumentor

    def run(self: Any, query: Any, documents: Any, top_k: Any = 2) -> Any:
        """Ranks without a model: the shorter a text, the higher its score."""
        ranked = sorted(documents, key=lambda document: len(document.content or ""))[:top_k]
        kept = [Document(id=d.id, content=d.content, meta=d.meta, score=100.0 / len(d.content or "")) for d in ranked]
        return {"documents": kept}

    # Haystack reads the types themselves, which here would be texts.
    run.__annotations__ = {"query": str, "documents": list[Document], "top_k": int, "return": dict}
    own = {"run": component.output_types(documents=list[Document])(run), "__module__": __name__}
    ranker = component(type("ShortestFirstRanker", (), own))
    sys.modules[__name__].ShortestFirstRanker = ranker  # where the instrumentor looks for it

    def ask() -> None:
        pipeline = _haystack_pipeline(ranker())
        asked = {name: {"query": QUESTION} for name in ("retriever", "ranker")}
        pipeline.run({**asked, "answer_builder": {"query": QUESTION, "replies": [ANSWER]}})

    _lines(path, [json.loads(span.to_json()) for span in _spans(ask, HaystackInstrumentor())])


def _phoenix(read: Callable[[Any], None]) -> None:
    """A Phoenix server on this machine, filled with the spans of the chain; `read` is given its client."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PHOENIX_WORKING_DIR": folder, "PHOENIX_PORT": "16006", "PHOENIX_GRPC_PORT": "14317"}
        os.environ["PHOENIX_TELEMETRY_ENABLED"] = "false"
        import phoenix
        from openinference.instrumentation.langchain import LangChainInstrumentor
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from phoenix.client import Client

        phoenix.launch_app(use_temp_dir=False)
        try:
            provider = TracerProvider()
            provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter("http://127.0.0.1:16006/v1/traces")))
            LangChainInstrumentor().instrument(tracer_provider=provider)
            _ask_langchain()
            LangChainInstrumentor().uninstrument()
            time.sleep(3)
            read(Client(base_url="http://127.0.0.1:16006"))
        finally:
            phoenix.close_app()


@writes("openinference/phoenix_spans.json")
def phoenix_spans(path: Path) -> None:
    _phoenix(lambda client: _json(path, client.spans.get_spans(project_identifier="default")))


@writes("openinference/phoenix_dataframe.parquet")
def phoenix_parquet(path: Path) -> None:
    _phoenix(lambda client: client.spans.get_spans_dataframe(project_identifier="default").to_parquet(path))


@writes("openinference/phoenix_dataframe.csv")
def phoenix_csv(path: Path) -> None:
    _phoenix(lambda client: client.spans.get_spans_dataframe(project_identifier="default").to_csv(path))


@writes("openinference/phoenix_documents.csv")
def phoenix_documents(path: Path) -> None:
    from phoenix.client.helpers.spans import get_retrieved_documents

    _phoenix(lambda client: get_retrieved_documents(client, project_name="default").to_csv(path))


# Langfuse


@cache
def _observations() -> list[dict[str, Any]]:
    """What Langfuse's callback for LangChain records, as the observations that its server makes of the spans."""
    os.environ |= {"LANGFUSE_PUBLIC_KEY": "pk-invented", "LANGFUSE_SECRET_KEY": "sk-invented", "LANGFUSE_HOST": "http://127.0.0.1:9"}
    from langfuse import Langfuse
    from langfuse.langchain import CallbackHandler
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    Langfuse(tracer_provider=provider, span_exporter=InMemorySpanExporter())
    chain = _chain()
    for question in QUESTIONS:
        chain.invoke(question, config={"callbacks": [CallbackHandler()]})
    return [_observation(span) for span in exporter.get_finished_spans()]


def _observation(span: Any) -> dict[str, Any]:
    def own(name: str) -> Any:
        value = span.attributes.get(f"langfuse.observation.{name}")
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:
            return value

    return {
        "id": f"{span.context.span_id:016x}",
        "trace_id": f"{span.context.trace_id:032x}",
        "parent_observation_id": f"{span.parent.span_id:016x}" if span.parent else None,
        "type": str(span.attributes.get("langfuse.observation.type", "span")).upper(),
        "name": span.name,
        "start_time": span.start_time / 1e9,
        "end_time": span.end_time / 1e9,
        "input": own("input"),
        "output": own("output"),
        "model": span.attributes.get("langfuse.observation.model.name"),
        "level": "DEFAULT",
        "environment": "default",
    }


@writes("langfuse/observations.jsonl")
def langfuse_observations(path: Path) -> None:
    from langfuse.api import ObservationV2

    made = [ObservationV2.model_validate({"project_id": "invented", **observation}) for observation in _observations()]
    _lines(path, [json.loads(one.model_dump_json(by_alias=True)) for one in made])


@writes("langfuse/traces.json")
def langfuse_traces(path: Path) -> None:
    """Traces as `GET /api/public/traces/{id}` and the export of the user interface give them (camelCase, observations inside)."""
    by_trace: dict[str, list[dict[str, Any]]] = {}
    for one in _observations():
        by_trace.setdefault(one["trace_id"], []).append(one)
    _json(path, [_trace(trace_id, own) for trace_id, own in by_trace.items()])


def _trace(trace_id: str, own: list[dict[str, Any]]) -> dict[str, Any]:
    root = next(one for one in own if one["parent_observation_id"] is None)
    kept = {"timestamp": _time(root["start_time"]), "name": root["name"], "input": root["input"], "output": root["output"]}
    rest = {"sessionId": None, "userId": None, "release": None, "version": None, "tags": [], "public": False, "metadata": {}, "scores": []}
    return {"id": trace_id, "projectId": "invented", **kept, **rest, "observations": [_camel(one) for one in own]}


def _camel(observation: dict[str, Any]) -> dict[str, Any]:
    head = {"start_time": _time(observation["start_time"]), "end_time": _time(observation["end_time"])}
    return {_camel_name(name): value for name, value in {**observation, **head}.items()}


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1e6):06d}Z"


# Ragas


def _dataset() -> Any:
    from ragas import EvaluationDataset, SingleTurnSample

    chunks = [text[at : at + 150] for text in TEXTS.values() for at in range(0, 300, 150)]
    samples = [
        SingleTurnSample(
            user_input=question,
            retrieved_contexts=chunks[number : number + 3],
            reference_contexts=[chunks[number]],
            response=ANSWER,
            reference="At ten in the morning.",
        )
        for number, question in enumerate(QUESTIONS[:2])
    ]
    return EvaluationDataset(samples=samples)


@writes("ragas/evaluation.jsonl")
def ragas_jsonl(path: Path) -> None:
    _dataset().to_jsonl(str(path))


@writes("ragas/evaluation.csv")
def ragas_csv(path: Path) -> None:
    _dataset().to_csv(str(path))


@writes("ragas/old_names.json")
def ragas_old_names(path: Path) -> None:
    """The columns before 0.2 (question, contexts, answer, ground_truth), as `datasets` writes them to JSON."""
    from datasets import Dataset

    rows = [
        {"question": s["user_input"], "contexts": s["retrieved_contexts"], "answer": s["response"], "ground_truth": s["reference"]}
        for s in _dataset().to_list()
    ]
    Dataset.from_list(rows).to_json(str(path))


# Vector stores, LangSmith and DeepEval


def _vector(text: str) -> list[float]:
    """The letters of a text, counted: enough for a store that needs vectors."""
    return [text.lower().count(letter) / len(text) for letter in "abcdefghijklmnop"]


def _pieces() -> list[tuple[str, str, dict[str, Any]]]:
    """Sentences of the texts with an id and metadata each."""
    found = []
    for name, text in TEXTS.items():
        for index, piece in enumerate(text.split(". ")):
            found.append((f"{name}-{index}", piece, {"source": name, "chunk_index": index}))
    return found


@writes("chroma/query.json")
def chroma_query(path: Path) -> None:
    """What `collection.query` returned for several questions, with the questions that it was given."""
    import chromadb

    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection("guide", embedding_function=None)
    ids, texts, metadatas = zip(*_pieces(), strict=True)
    collection.add(ids=list(ids), documents=list(texts), metadatas=list(metadatas), embeddings=[_vector(text) for text in texts])
    found = collection.query(query_embeddings=[_vector(question) for question in QUESTIONS], n_results=3)
    _json(path, {"query_texts": list(QUESTIONS), **found})


@writes("qdrant/query_points.jsonl")
def qdrant_points(path: Path) -> None:
    """What `query_points` returned for each question, a line each."""
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    client.create_collection("guide", models.VectorParams(size=16, distance=models.Distance.COSINE))
    pieces = [models.PointStruct(id=at, vector=_vector(text), payload={"text": text, **own}) for at, (_, text, own) in enumerate(_pieces())]
    client.upsert("guide", pieces)
    found = [client.query_points("guide", query=_vector(question), limit=3) for question in QUESTIONS]
    _lines(path, [{"query": question, **one.model_dump(mode="json")} for question, one in zip(QUESTIONS, found, strict=True)])


@cache
def _runs() -> list[Any]:
    """The root runs of a chain over a retriever, as LangSmith's tracer records them."""
    from langchain_core.documents import Document
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough
    from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

    class Sentences(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            shared = sorted(_pieces(), key=lambda piece: -len(set(query.lower().split()) & set(piece[1].lower().split())))
            return [Document(id=name, page_content=text, metadata=own) for name, text, own in shared[:3]]

    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    asked = {"context": RunnableLambda(lambda given: given["question"]) | Sentences(), "question": RunnablePassthrough()}
    chain = asked | prompt | FakeListChatModel(responses=[ANSWER])
    collector = RunCollectorCallbackHandler()
    for question in QUESTIONS:
        chain.invoke({"question": question}, config={"callbacks": [collector]})
    return list(collector.traced_runs)


def _run(run: Any) -> dict[str, Any]:
    from langsmith._internal._serde import dumps_json

    names = (
        "id",
        "name",
        "run_type",
        "start_time",
        "end_time",
        "inputs",
        "outputs",
        "parent_run_id",
        "trace_id",
        "dotted_order",
        "error",
        "tags",
    )
    return {**json.loads(dumps_json({name: getattr(run, name) for name in names})), "child_runs": [_run(one) for one in run.child_runs]}


@writes("langsmith/traces.json")
def langsmith_traces(path: Path) -> None:
    """Root runs with their `child_runs`."""
    _json(path, [_run(run) for run in _runs()])


@writes("langsmith/runs.jsonl")
def langsmith_runs(path: Path) -> None:
    """The same runs one by one, as `list_runs` gives them."""

    def flat(run: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**run, "child_runs": None}, *(inner for child in run["child_runs"] for inner in flat(child))]

    _lines(path, [one for run in _runs() for one in flat(_run(run))])


@writes("deepeval/dataset.json")
def deepeval_dataset(path: Path) -> None:
    """Test cases of an `EvaluationDataset` as `save_as` writes them."""
    from deepeval.dataset import EvaluationDataset
    from deepeval.test_case import LLMTestCase

    dataset = EvaluationDataset()
    for at, question in enumerate(QUESTIONS):
        texts = [text for _, text, _ in _pieces()[at : at + 3]]
        dataset.add_test_case(LLMTestCase(input=question, actual_output=ANSWER, expected_output="At ten.", retrieval_context=texts))
    with tempfile.TemporaryDirectory() as folder:
        dataset.save_as("json", folder, "dataset", include_test_cases=True)
        _json(path, json.loads((Path(folder) / "dataset.json").read_text(encoding="utf-8")))


# BEIR and TREC: formats, not libraries


@writes("beir/corpus.jsonl")
def beir_corpus(path: Path) -> None:
    _lines(path, [{"_id": name, "title": name.removesuffix(".md"), "text": text, "metadata": {}} for name, text in TEXTS.items()])


@writes("beir/queries.jsonl")
def beir_queries(path: Path) -> None:
    _lines(path, [{"_id": f"q{number}", "text": question, "metadata": {}} for number, question in enumerate(QUESTIONS, 1)])


@writes("beir/qrels/test.tsv")
def beir_qrels(path: Path) -> None:
    rows = [("q1", "opening.md", 2), ("q2", "collectie.md", 1), ("q3", "opening.md", 1), ("q3", "collectie.md", 0)]
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter="\t", lineterminator="\n").writerows([("query-id", "corpus-id", "score"), *rows])


@writes("beir/run.trec")
def trec_run(path: Path) -> None:
    ranked = [("q1", "opening.md", 1, 12.5), ("q1", "collectie.md", 2, 3.25), ("q2", "collectie.md", 1, 7.0), ("q3", "opening.md", 1, 5.5)]
    lines = [f"{query} Q0 {document} {rank} {score} bm25\n" for query, document, rank, score in ranked]
    path.write_text("".join(lines), encoding="utf-8")


def libraries(name: str) -> str:
    """What a file was made by, with versions; empty for a format that no library owns."""
    return ", ".join(f"{library} {version(library)}" for library in LIBRARIES.get(name.partition("/")[0], ()))


def read_made() -> dict[str, tuple[str, str]]:
    """By what each file was made, and when."""
    lines = MADE.read_text(encoding="utf-8").splitlines()
    return {name: (by, date) for name, by, date in (line.split("\t") for line in lines)}


def main(folder: Path, names: list[str]) -> int:
    """Write the named files (default: all) below `folder`; returns how many could not be made."""
    warnings.simplefilter("ignore")
    missing, made = 0, read_made()
    for name, make in MAKERS.items():
        if names and name not in names and name.partition("/")[0] not in names:
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            make(folder / name)
            made[name] = (libraries(name), time.strftime("%Y-%m-%d", time.gmtime()))
            print(f"{name}: {(folder / name).stat().st_size:,} bytes")
        except (ImportError, AttributeError) as error:  # a client alone has the name of the server's package
            missing += 1
            print(f"{name}: left out, a library is not installed ({error})")
    MADE.write_text("".join(f"{name}\t{by}\t{date}\n" for name, (by, date) in sorted(made.items())), encoding="utf-8")
    return missing


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
