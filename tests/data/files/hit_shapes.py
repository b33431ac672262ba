"""Logs of questions with their hits in the shapes that tools and people write: the same two questions, each with three hits."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

TEXTS = {
    "c1": "The harbour museum opens at ten in the morning and stays closed on Mondays.",
    "c2": "On Thursdays the doors of the museum close at nine in the evening.",
    "c3": "Mooring for the whole day costs twelve euros, to be paid at the desk.",
    "c4": "Visitors who come by boat may moor at the east quay for two hours.",
}
SCORED = {
    "When does the harbour museum open?": (("c1", 0.91), ("c2", 0.74), ("c4", 0.33)),
    "What does mooring for a day cost?": (("c3", 0.88), ("c4", 0.69), ("c1", 0.21)),
}
QUESTIONS = tuple(SCORED)
ANSWERS = ("It opens at ten [1].", "Twelve euros [1].")
Hit = Callable[[str, str, float], Any]


class Shape(NamedTuple):
    """A file. `scored` says that it states scores, `asked` how many of the questions are in it, `fields` what is mapped by hand."""

    file: str
    data: bytes
    scored: bool = True
    asked: int = 2
    fields: Mapping[str, str] = MappingProxyType({})


SHAPES: dict[str, Shape] = {}


def hits(question: int, form: Hit) -> list[Any]:
    """The hits of a question, best first."""
    return [form(name, TEXTS[name], score) for name, score in SCORED[QUESTIONS[question]]]


def _json(name: str, value: Any, **told: Any) -> None:
    SHAPES[name] = Shape("log.json", json.dumps(value, ensure_ascii=False).encode(), **told)


def _lines(name: str, row: Callable[[int], Any], **told: Any) -> None:
    text = "".join(json.dumps(row(at), ensure_ascii=False) + "\n" for at in (0, 1))
    SHAPES[name] = Shape("log.jsonl", text.encode(), **told)


def _simple(question: str, path: str, form: Hit, **beside: Any) -> Callable[[int], Any]:
    """A row with its question under a name, and its hits at a dotted path."""

    def row(at: int) -> Any:
        value: Any = hits(at, form)
        for key in reversed(path.split(".")):
            value = {key: value}
        return {question: QUESTIONS[at], **beside, **value}

    return row


def _columns(at: int, *names: str, turned: bool = False) -> dict[str, list[Any]]:
    """Parallel arrays of ids, texts and scores."""
    every = hits(at, lambda name, text, score: (name, text, round(1 - score, 2) if turned else score))
    return {name: [hit[place] for hit in every] for place, name in enumerate(names)}


def _chroma(at: int) -> dict[str, Any]:
    found = {name: [column] for name, column in _columns(at, "ids", "documents", "distances", turned=True).items()}
    return {**found, "metadatas": [[{"source": "guide.md"}] * 3], "embeddings": None, "uris": None, "data": None}


def _both(column: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    first, second = column(0), column(1)
    return {name: None if first[name] is None else [*first[name], *second[name]] for name in first}


PLAIN: Hit = lambda name, text, score: {"id": name, "text": text, "score": score}  # noqa: E731
NODE: Hit = lambda name, text, score: {"node": {"id_": name, "text": text, "metadata": {"file_name": "guide.md"}}, "score": score}  # noqa: E731
DOCUMENT: Hit = lambda name, text, score: {"page_content": text, "metadata": {"source": "guide.md", "score": score}, "type": "Document"}  # noqa: E731
SOURCE: Hit = lambda name, text, score: {"_index": "a", "_id": name, "_score": score, "_source": {"text": text, "source": "guide.md"}}  # noqa: E731
POINT: Hit = lambda name, text, score: {"id": name, "version": 3, "score": score, "payload": {"text": text, "source": "guide.md"}}  # noqa: E731
ENTITY: Hit = lambda name, text, score: {"id": name, "distance": score, "entity": {"text": text, "source": "guide.md"}}  # noqa: E731

# What people write themselves
_lines("hits of plain objects", _simple("query", "hits", PLAIN))
_lines(
    "results with other names", _simple("question", "results", lambda n, t, s: {"doc_id": "d", "chunk_id": n, "chunk": t, "similarity": s})
)
_lines("contexts as objects", _simple("question", "contexts", lambda n, t, s: {"content": t, "score": s}))
_lines("camel case", _simple("userQuery", "searchResults", lambda n, t, s: {"chunkId": n, "chunkText": t, "relevanceScore": s}))
_lines("Dutch names", _simple("vraag", "resultaten", lambda n, t, s: {"tekst": t, "score": s}))
_lines("deeply nested", _simple("question", "trace.retrieval.output.passages", PLAIN))
_lines("names that say nothing", _simple("q", "k", lambda n, t, s: {"a": n, "b": t, "c": s}), scored=False)
_lines("pairs of text and score", _simple("q", "docs", lambda n, t, s: [t, s]))
_lines("texts alone", _simple("question", "contexts", lambda n, t, s: t), scored=False)
_lines("texts alone under another name", _simple("query", "snippets", lambda n, t, s: t), scored=False)
_lines(
    "ranks, the last first",
    lambda at: {
        "query": QUESTIONS[at],
        "passages": [{"rank": 3 - i, "passage": text} for i, text in enumerate(reversed(hits(at, lambda n, t, s: t)))],
    },
    scored=False,
)
_lines("scores in quotes", _simple("query", "results", lambda n, t, s: {"id": n, "text": t, "score": str(s)}))
_lines("distances", _simple("query", "neighbours", lambda n, t, s: {"id": n, "text": t, "distance": round(1 - s, 2)}))
_lines("parallel arrays", lambda at: {"question": QUESTIONS[at], **_columns(at, "ids", "texts", "scores")})
_lines("parallel arrays below a key", lambda at: {"question": QUESTIONS[at], "retrieved": _columns(at, "doc_ids", "chunks", "scores")})
_lines("hits by id", lambda at: {"query": QUESTIONS[at], "hits": {n: {"text": TEXTS[n], "score": s} for n, s in SCORED[QUESTIONS[at]]}})
_lines(
    "a conversation",
    lambda at: {
        "messages": [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": QUESTIONS[at]}],
        "steps": [{"name": "retrieve", "output": {"documents": hits(at, PLAIN)}}],
        "answer": ANSWERS[at],
    },
)
_lines(
    "request and response",
    lambda at: {
        "request": {"body": {"question": QUESTIONS[at], "top_k": 3}, "at": "2026-05-01T10:00:00Z"},
        "response": {"status": 200, "body": {"answer": ANSWERS[at], "sources": hits(at, PLAIN)}},
    },
)
_lines("answer and sources", lambda at: {"id": f"r{at}", "question": QUESTIONS[at], "answer": ANSWERS[at], "sources": hits(at, PLAIN)})
_lines(
    "retrieved and reranked",
    lambda at: {
        "query": QUESTIONS[at],
        "retrieved_chunks": list(reversed(hits(at, lambda n, t, s: {"id": n, "text": t, "score": 1 - s}))),
        "reranked_chunks": hits(at, PLAIN),
    },
)
_json("one list of questions", [_simple("query", "hits", PLAIN)(at) for at in (0, 1)])
_json("questions below a key", {"run": "nightly", "queries": [_simple("query", "hits", PLAIN)(at) for at in (0, 1)]})
_json("one object of one question", _simple("query", "hits", PLAIN)(0), asked=1)
_json("questions as keys", {QUESTIONS[at]: hits(at, PLAIN) for at in (0, 1)})
_lines(
    "mapped by hand",
    lambda at: {
        "ask": {"said": QUESTIONS[at]},
        "got": {"found": [{"n": {"body": t, "w": s}} for t, s in hits(at, lambda n, t, s: (t, s))]},
    },
    fields={"query": "ask.said", "hits": "got.found[*]", "hits.text": "n.body", "hits.score": "n.w"},
)

# Vector databases and search engines
_json("Chroma with query_texts", {"query_texts": [QUESTIONS[0]], **_chroma(0)}, asked=1)
_json("Chroma with two questions", {"query_texts": list(QUESTIONS), **_both(_chroma), "included": ["documents", "distances"]})
_lines("Chroma under a key", lambda at: {"query": QUESTIONS[at], "results": _chroma(at)})
_lines("Chroma a line", lambda at: {"query_texts": [QUESTIONS[at]], **_chroma(at)})
_json("Chroma with two questions below a key", {"query_texts": list(QUESTIONS), "results": _both(_chroma)})
_lines(
    "Pinecone",
    _simple("query", "matches", lambda n, t, s: {"id": n, "score": s, "values": [], "metadata": {"text": t, "source": "guide.md"}}),
)
_lines(
    "Pinecone below a key", _simple("question", "response.matches", lambda n, t, s: {"id": n, "score": s, "metadata": {"chunk_text": t}})
)
_lines(
    "Weaviate GraphQL",
    _simple("query", "data.Get.Passage", lambda n, t, s: {"content": t, "_additional": {"id": n, "distance": round(1 - s, 2)}}),
)
_lines(
    "Weaviate objects",
    _simple(
        "query",
        "objects",
        lambda n, t, s: {"uuid": n, "properties": {"text": t}, "metadata": {"distance": round(1 - s, 2), "score": None}, "collection": "P"},
    ),
)
_json("Milvus with two questions", {"queries": list(QUESTIONS), "data": [hits(0, ENTITY), hits(1, ENTITY)]})
_lines("Milvus a line", lambda at: {"query": QUESTIONS[at], "results": [hits(at, ENTITY)]})
_lines("Qdrant points", lambda at: {"query": QUESTIONS[at], "result": {"points": hits(at, POINT)}, "status": "ok", "time": 0.002})
_lines(
    "Qdrant of LangChain",
    _simple("query", "result", lambda n, t, s: {"id": n, "score": s, "payload": {"page_content": t, "metadata": {"source": "guide.md"}}}),
)
_lines(
    "Elasticsearch",
    lambda at: {"query": QUESTIONS[at], "response": {"took": 3, "hits": {"total": {"value": 3}, "max_score": 1, "hits": hits(at, SOURCE)}}},
)
_lines(
    "OpenSearch with its request",
    lambda at: {
        "request": {"size": 3, "query": {"match": {"text": {"query": QUESTIONS[at]}}}},
        "response": {"took": 2, "hits": {"total": {"value": 3, "relation": "eq"}, "hits": hits(at, SOURCE)}},
    },
)
_json(
    "Elasticsearch of two questions",
    {"queries": list(QUESTIONS), "responses": [{"took": 1, "hits": {"hits": hits(at, SOURCE)}} for at in (0, 1)]},
)
_lines(
    "rows of pgvector",
    _simple(
        "query",
        "rows",
        lambda n, t, s: {"id": n, "document_id": "guide", "chunk_index": int(n[1]), "content": t, "distance": round(1 - s, 2)},
    ),
)
_lines("Azure AI Search", _simple("search", "value", lambda n, t, s: {"@search.score": s, "chunk_id": n, "chunk": t, "title": "Guide"}))
_lines(
    "Bedrock",
    _simple(
        "query",
        "retrievalResults",
        lambda n, t, s: {"content": {"text": t, "type": "TEXT"}, "location": {"s3Location": {"uri": "s3://b/guide"}}, "score": s},
    ),
)
_lines(
    "Vertex",
    _simple(
        "query",
        "contexts.contexts",
        lambda n, t, s: {"text": t, "sourceUri": "gs://b/guide", "score": round(1 - s, 2), "distance": round(1 - s, 2)},
    ),
)
_lines(
    "Vespa",
    _simple("query", "root.children", lambda n, t, s: {"id": f"id:ns:p::{n}", "relevance": s, "fields": {"text": t, "source": "guide"}}),
)
_lines(
    "Solr",
    lambda at: {"responseHeader": {"status": 0, "params": {"q": QUESTIONS[at]}}, "response": {"numFound": 3, "docs": hits(at, PLAIN)}},
)
_lines(
    "Typesense",
    lambda at: {
        "request_params": {"q": QUESTIONS[at]},
        "found": 3,
        "hits": hits(at, lambda n, t, s: {"document": {"id": n, "text": t}, "text_match": int(s * 1000)}),
    },
)
_lines(
    "Meilisearch",
    lambda at: {"hits": hits(at, lambda n, t, s: {"id": n, "text": t, "_rankingScore": s}), "query": QUESTIONS[at], "limit": 3},
)
_lines("LanceDB", _simple("query", "rows", lambda n, t, s: {"text": t, "_distance": round(1 - s, 2)}))
_lines(
    "OpenAI file search",
    _simple(
        "search_query", "data", lambda n, t, s: {"file_id": n, "filename": "guide.md", "score": s, "content": [{"type": "text", "text": t}]}
    ),
)

# Libraries, evaluation and traces
_lines("LlamaIndex source_nodes", lambda at: {"query": QUESTIONS[at], "response": ANSWERS[at], "source_nodes": hits(at, NODE)})
_lines(
    "LlamaIndex source_nodes below a key",
    lambda at: {"input": QUESTIONS[at], "output": {"response": ANSWERS[at], "source_nodes": hits(at, NODE)}},
)
_lines("LangChain documents", lambda at: {"input": QUESTIONS[at], "context": hits(at, DOCUMENT), "answer": ANSWERS[at]})
_lines(
    "LangSmith retriever run",
    lambda at: {
        "id": f"r{at}",
        "trace_id": f"r{at}",
        "name": "VectorStoreRetriever",
        "run_type": "retriever",
        "start_time": "2026-05-01T10:00:00",
        "inputs": {"query": QUESTIONS[at]},
        "outputs": {"documents": hits(at, DOCUMENT)},
        "parent_run_id": None,
    },
)
_lines(
    "LangSmith chain run",
    lambda at: {
        "id": f"r{at}",
        "trace_id": f"r{at}",
        "name": "chain",
        "run_type": "chain",
        "start_time": "2026-05-01T10:00:00",
        "inputs": {"question": QUESTIONS[at]},
        "outputs": {"answer": ANSWERS[at]},
        "parent_run_id": None,
        "child_runs": [
            {
                "id": f"r{at}a",
                "trace_id": f"r{at}",
                "run_type": "retriever",
                "inputs": {"query": QUESTIONS[at]},
                "start_time": "2026-05-01T10:00:01",
                "outputs": {"documents": hits(at, DOCUMENT)},
                "parent_run_id": f"r{at}",
            }
        ],
    },
)
_json(
    "DeepEval test cases",
    {
        "testCases": [
            {"input": QUESTIONS[at], "actualOutput": ANSWERS[at], "expectedOutput": "Ten.", "retrievalContext": hits(at, lambda n, t, s: t)}
            for at in (0, 1)
        ]
    },
    scored=False,
)
_json(
    "promptfoo results",
    {
        "evalId": "e",
        "results": {
            "version": 3,
            "prompts": [{"raw": "{{query}}", "label": "p"}],
            "results": [
                {
                    "vars": {"query": QUESTIONS[at], "context": hits(at, lambda n, t, s: t)},
                    "response": {"output": ANSWERS[at]},
                    "success": True,
                    "score": 1,
                }
                for at in (0, 1)
            ],
            "stats": {"successes": 2},
        },
        "config": {"prompts": ["{{query}}"], "tests": [{"vars": {}}]},
    },
    scored=False,
)


def _value(value: Any) -> dict[str, Any]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def _otlp(at: int) -> dict[str, Any]:
    documents = hits(at, lambda n, t, s: {"id": n, "content": t, "score": s})
    retrieval = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": QUESTIONS[at],
        "gen_ai.retrieval.documents": documents,
    }
    said = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWERS[at]}], "finish_reason": "stop"}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": QUESTIONS[at]}]}]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": asked, "gen_ai.output.messages": said}
    spans = [
        {
            "traceId": f"t{at}",
            "spanId": f"s{at}{number}",
            "name": "x",
            "startTimeUnixNano": str(1000 * at + number),
            "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
        }
        for number, attributes in enumerate((retrieval, chat))
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "genai"}, "spans": spans}]}]}


_lines("OTLP spans of GenAI", _otlp)

_table = io.StringIO()
_writer = csv.writer(_table)
_writer.writerow(["question", "retrieved_docs", "answer"])
_writer.writerows([QUESTIONS[at], json.dumps(hits(at, PLAIN)), ANSWERS[at]] for at in (0, 1))
SHAPES["a CSV with a column of JSON"] = Shape("log.csv", _table.getvalue().encode())
_table = io.StringIO()
_writer = csv.writer(_table)
_writer.writerow(["query", "chunk_id", "content", "distance"])
_writer.writerows([QUESTIONS[at], *hit] for at in (0, 1) for hit in hits(at, lambda n, t, s: (n, t, round(1 - s, 2))))
SHAPES["a CSV with one hit a row"] = Shape("log.csv", _table.getvalue().encode())
