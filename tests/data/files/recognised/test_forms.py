"""Forms that no fixture holds: other clients, several retrievals in a trace, conversations, headerless judgements, hostile files."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxasm import Bundle, InvalidBundle, InvalidInput
from ctxasm.data.files.importing import import_files
from ctxasm.data.files.reading import Reading

VALID = Path(__file__).parents[1] / "valid"


def read(*files: tuple[str, Any]) -> Reading:
    raw = [(name, value if isinstance(value, bytes) else json.dumps(value).encode()) for name, value in files]
    return import_files(raw, name="made")


def bundle(value: Any, name: str = "export.json") -> Bundle:
    return read((name, value)).bundle


def hits(found: Bundle, at: int = 0) -> list[tuple[str, int, float]]:
    return [(hit.document_id, hit.chunk_index, hit.score) for hit in found.queries[at].retrieved]


def lc(text: str, **metadata: Any) -> dict[str, Any]:
    return {"page_content": text, "metadata": metadata, "type": "Document"}


# Clients


def test_distances_in_pairs_are_turned_and_kept_beside_the_score() -> None:
    found = read(("export.json", [[lc("near", source="a"), 0.25], [lc("far", source="b"), 1.0]]))
    assert hits(found.bundle) == [("a", 0, 0.8), ("b", 0, 0.5)]
    assert [dict(hit.scores) for hit in found.bundle.queries[0].retrieved] == [{"distance": 0.25}, {"distance": 1.0}]
    assert any("are distances" in note for note in found.notes)
    assert any("without their question" in note for note in found.notes)


def test_a_text_of_which_nothing_is_known_is_titled_by_its_first_words() -> None:
    found = bundle([[lc("Mooring for a day\ncosts twelve euros, at most."), 0.25], [lc("near", source="a"), 0.5]])
    assert [document.title for document in found.documents] == ["Mooring for a day costs twelve…", None]


def test_the_javascript_spelling_and_its_lines() -> None:
    rows = [
        {"pageContent": f"part {at}", "metadata": {"source": "a.ts", "loc": {"lines": {"from": 10 * at + 1, "to": 10 * at + 10}}}}
        for at in (1, 0)
    ]
    found = bundle(rows)
    assert [(chunk.text, chunk.chunk_index) for chunk in found.chunks] == [("part 0", 0), ("part 1", 1)]


def test_a_secret_of_a_dump_is_no_passage_and_is_never_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-machine")
    document = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "document", "Document"], "kwargs": lc("text", source="a")}
    secret = {"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]}
    other = {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"page_content": "x", "command": "true"}}
    absent = {"lc": 1, "type": "not_implemented", "id": ["x", "Document"], "repr": "Document()"}
    with pytest.raises(InvalidBundle) as refused:
        bundle([document, document, document, secret, other, absent])
    assert [problem.line for problem in refused.value.problems] == [4, 5, 6]
    assert "sk-of" not in str(refused.value)
    held = bundle([{**document, "kwargs": lc("text", source="a", key=secret)}])
    assert held.chunks[0].metadata["key"] == secret


def test_a_document_per_question_and_per_file_becomes_one_dataset() -> None:
    found = read(
        ("a.json", {"query": "one?", "documents": [lc("x", source="a", chunk=4)]}), ("b.json", {"two?": [lc("y", source="a", chunk=5)]})
    ).bundle
    assert [(query.query_id, query.query) for query in found.queries] == [("q1", "one?"), ("q2", "two?")]
    assert [(chunk.chunk_index, chunk.text) for chunk in found.chunks] == [(4, "x"), (5, "y")]


def test_a_question_for_which_nothing_was_found_is_a_query_without_hits() -> None:
    by_key = bundle({"one?": [lc("x", source="a")], "two?": []})
    by_row = bundle([{"query": "one?", "documents": [lc("x", source="a")]}, {"query": "two?", "documents": []}])
    assert (
        [(q.query, len(q.retrieved)) for q in by_key.queries]
        == [(q.query, len(q.retrieved)) for q in by_row.queries]
        == [("one?", 1), ("two?", 0)]
    )


def test_a_list_with_something_around_it_is_what_is_stored() -> None:
    found = bundle({"version": 1, "documents": [lc("x", source="a"), lc("y", source="a")]})
    assert [(c.text, c.chunk_index) for c in found.chunks] == [("x", 0), ("y", 1)]
    assert found.queries == ()


def test_columns_beside_the_metadata_are_metadata() -> None:
    rows = [{"page_content": f"part {at}", "source": "a", "seq": 3 + at, "metadata": {"title": "A"}} for at in (1, 0)]
    found = bundle(rows)
    assert [(c.document_id, c.chunk_index, c.text) for c in found.chunks] == [("a", 3, "part 0"), ("a", 4, "part 1")]
    assert found.documents[0].title == "A"
    assert bundle(b"page_content,source,chunk\nx,a.md,7\n", "t.csv").chunks[0].chunk_index == 7


def test_names_of_queries_are_kept_and_not_given_twice() -> None:
    rows = [{"query_id": "q1", "query": "one?", "documents": [lc("x", source="a")]}, {"query": "two?", "documents": [lc("x", source="a")]}]
    assert [query.query_id for query in bundle(rows).queries] == ["q1", "q2"]


def node(name: str, text: str, **more: Any) -> dict[str, Any]:
    related = {"1": {"node_id": "doc", "node_type": "4"}, **{key: {"node_id": value} for key, value in more.pop("related", {}).items()}}
    return {"id_": name, "text": text, "metadata": {"file_name": "a.md"}, "relationships": related, "class_name": "TextNode", **more}


def test_neighbours_that_a_postprocessor_added_are_chunks_and_no_hits() -> None:
    first, second = node("n0", "zero", related={"3": "n1"}), node("n1", "one", related={"2": "n0"})
    found = bundle(
        [{"node": second, "score": 0.9, "class_name": "NodeWithScore"}, {"node": first, "score": None, "class_name": "NodeWithScore"}]
    )
    assert hits(found) == [("doc", 1, 0.9)]
    assert [chunk.text for chunk in found.chunks] == ["zero", "one"]
    assert found.documents[0].title == "a.md"


def test_a_docstore_gives_the_leaves() -> None:
    whole = {"id_": "doc", "text": "zero one", "metadata": {}, "relationships": {}, "class_name": "Document"}
    parent = node("p", "zero one")
    parent["relationships"]["5"] = [{"node_id": "n0"}, {"node_id": "n1"}]
    entries = {"doc": whole, "p": parent, "n0": node("n0", "zero", related={"3": "n1"}), "n1": node("n1", "one", related={"2": "n0"})}
    found = read(("docstore.json", {"docstore/data": {name: {"__data__": entry, "__type__": "1"} for name, entry in entries.items()}}))
    assert [(chunk.document_id, chunk.chunk_index, chunk.text) for chunk in found.bundle.chunks] == [("doc", 0, "zero"), ("doc", 1, "one")]
    assert sum("left out" in note for note in found.notes) == 2


def test_a_ranker_of_a_pipeline_counts_before_its_retrievers() -> None:
    def hay(name: str, score: float) -> dict[str, Any]:
        return {"id": name, "content": f"text {name}", "meta": {"source_id": "s", "split_id": int(name)}, "score": score}

    found = bundle(
        {"query": "why?", "result": {"ranker": {"documents": [hay("2", 0.9)]}, "bm25": {"documents": [hay("1", 7.0), hay("2", 3.0)]}}}
    )
    assert hits(found) == [("s", 2, 0.9)]
    assert len(found.chunks) == 2


# Traces


def span(kind: str, name: str, parent: str | None = None, trace: str = "t", at: int = 0, **attributes: Any) -> dict[str, Any]:
    flat = {"openinference.span.kind": kind, **{key.replace("__", "."): value for key, value in attributes.items()}}
    return {"context": {"trace_id": trace, "span_id": name}, "parent_id": parent, "start_time": at, "attributes": flat}


def docs(*texts: str, under: str = "retrieval.documents", score: float | None = 0.5) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for at, text in enumerate(texts):
        flat |= {f"{under}.{at}.document.content": text, f"{under}.{at}.document.id": text}
        flat |= {f"{under}.{at}.document.score": score - at / 10} if score is not None else {}
    return flat


def lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_a_retriever_in_a_retriever_is_part_of_it() -> None:
    rows = lines(
        span("CHAIN", "root", input__value="why?", output__value="because"),
        span("RETRIEVER", "ensemble", "root", at=1, input__value="why?", **docs("a", "b")),
        span("RETRIEVER", "bm25", "ensemble", at=2, input__value="why?", **docs("a")),
        span("RETRIEVER", "vector", "ensemble", at=3, input__value="why?", **docs("b", "c")),
    )
    found = bundle(rows, "spans.jsonl")
    assert [hit[0] for hit in hits(found)] == ["a", "b"]
    assert [(answer.query_id, answer.answer) for answer in found.answers] == [("t", "because")]


def test_several_questions_of_a_trace_are_several_queries_and_the_answer_is_for_its_own() -> None:
    rows = lines(
        span("AGENT", "root", input__value="why?", output__value="because"),
        span("RETRIEVER", "r1", "root", at=1, input__value="what is it?", **docs("a")),
        span("RETRIEVER", "r2", "root", at=2, input__value="why?", **docs("b")),
        span("RETRIEVER", "r3", "root", at=3, input__value="why?", **docs("c")),
        span("LLM", "l1", "root", at=4, output__value="thinking"),
        span("LLM", "l2", "root", at=5, llm__model_name="m", **{"llm.output_messages.0.message.content": "because of it"}),
    )
    found = read(("spans.jsonl", rows))
    assert [(query.query_id, query.query, len(query.retrieved)) for query in found.bundle.queries] == [
        ("t:1", "what is it?", 1),
        ("t:2", "why?", 2),
    ]
    assert [(a.query_id, a.answer, dict(a.metadata)) for a in found.bundle.answers] == [
        ("t:2", "because of it", {"model": "m", "trace_id": "t", "span_id": "l2"})
    ]
    assert any("were joined" in note for note in found.notes)


def test_spans_may_be_nested_objects_or_columns() -> None:
    nested = {
        "trace_id": "t",
        "span_id": "s",
        "attributes": {"input": {"value": "why?"}, "retrieval": {"documents": [{"document": {"content": "a", "score": 1}}]}},
    }
    column = {
        "context.trace_id": "t",
        "context.span_id": "s",
        "attributes.input.value": "why?",
        "attributes.retrieval.documents": [{"document.content": "a", "document.score": 1}],
    }
    written = {**column, "attributes.retrieval.documents": "[{'document.content': 'a', 'document.score': 1}]"}
    found = [bundle(lines(row), "x.jsonl") for row in (nested, column, written)]
    assert found[0].queries == found[1].queries == found[2].queries
    assert len(found[0].queries[0].retrieved) == 1


def observation(kind: str, name: str, asked: Any, output: Any, parent: str | None = None, at: int = 0) -> dict[str, Any]:
    place = {"id": name, "traceId": "t", "parentObservationId": parent, "startTime": f"2026-01-01T00:00:0{at}Z"}
    return {**place, "type": kind, "name": name, "input": asked, "output": output}


@pytest.mark.parametrize(
    "output",
    [
        ["first text", "second text"],
        [{"text": "first text", "score": 0.9}, {"text": "second text", "score": 0.8}],
        {"documents": [{"content": "first text"}, {"content": "second text"}]},
        {
            "matches": [
                {"id": "1", "score": 0.9, "metadata": {"text": "first text"}},
                {"id": "2", "score": 0.8, "metadata": {"text": "second text"}},
            ]
        },
        [
            {"id": 1, "score": 0.9, "payload": {"page_content": "first text"}},
            {"id": 2, "score": 0.8, "payload": {"page_content": "second text"}},
        ],
        {
            "hits": {
                "hits": [
                    {"_id": "1", "_score": 9.0, "_source": {"text": "first text"}},
                    {"_id": "2", "_score": 8.0, "_source": {"text": "second text"}},
                ]
            }
        },
        {"ids": [["1", "2"]], "documents": [["first text", "second text"]], "metadatas": [[{}, None]], "distances": [[0.1, 0.2]]},
        {
            "data": [
                {"file_id": "f", "score": 0.9, "content": [{"type": "text", "text": "first text"}]},
                {"file_id": "g", "score": 0.8, "content": [{"type": "text", "text": "second text"}]},
            ]
        },
        [[{"page_content": "first text", "metadata": {}}, 0.9], [{"page_content": "second text", "metadata": {}}, 0.8]],
        [{"node": node("n", "first text"), "score": 0.9}, {"node": node("m", "second text"), "score": 0.8}],
        json.dumps([lc("first text"), lc("second text")]),
    ],
)
def test_a_retriever_of_langfuse_may_return_what_its_client_returned(output: Any) -> None:
    rows = [
        observation("RETRIEVER", "search", {"query": "why?"}, output),
        observation("GENERATION", "model", [{"role": "user", "content": "…"}], {"role": "assistant", "content": "because"}, at=1),
    ]
    found = bundle(rows)
    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in found.chunks}
    assert [texts[hit[:2]] for hit in hits(found)] == ["first text", "second text"]
    assert found.queries[0].query == "why?"
    assert [answer.answer for answer in found.answers] == ["because"]
    assert hits(found)[0][2] > hits(found)[1][2]


def test_a_retriever_whose_output_is_no_list_of_passages_is_said() -> None:
    found = read(
        ("x.json", [observation("RETRIEVER", "search", "why?", "3 results"), observation("RETRIEVER", "search2", "how?", [lc("a")], at=1)])
    )
    assert [len(query.retrieved) for query in found.bundle.queries] == [0, 1]
    assert any("could not be read as passages" in note for note in found.notes)


def test_a_trace_of_langfuse_is_known_by_its_observations_alone() -> None:
    trace = {
        "id": "t",
        "name": "rag",
        "timestamp": "2026-11-01T10:00:00Z",
        "input": "why?",
        "output": "because",
        "observations": [observation("RETRIEVER", "search", "why?", [lc("first text"), lc("second text")])],
    }
    for wrapped in ([trace], {"data": [trace]}, trace):
        found = bundle(wrapped)
        texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in found.chunks}
        assert [texts[hit[:2]] for hit in hits(found)] == ["first text", "second text"]
        assert [query.query for query in found.queries] == ["why?"]
        assert [answer.answer for answer in found.answers] == ["because"]


# Ragas, BEIR, TREC


def test_a_conversation_is_a_history_and_its_last_question() -> None:
    turns = [
        {"content": "hi", "type": "human"},
        {"content": "hello", "type": "ai"},
        {"content": "why?", "type": "human"},
        {"content": "so", "type": "ai"},
    ]
    found = bundle([{"user_input": turns, "retrieved_contexts": ["a", "b"], "reference": "r"}])
    query = found.queries[0]
    assert (query.query, query.answer, [turn.content for turn in query.history]) == ("why?", "r", ["hi", "hello"])
    assert found.answers[0].answer == "so"


def test_identifiers_of_contexts_are_kept() -> None:
    row = {"user_input": "why?", "retrieved_contexts": ["a", "b"], "retrieved_context_ids": ["x", 7], "reference_contexts": ["b"]}
    found = bundle([row])
    assert [hit[0] for hit in hits(found)] == ["x", "7"]
    assert found.queries[0].gold[0].document_id == "7"


CORPUS = lines({"_id": "d1", "text": "one " * 60}, {"_id": "d2", "text": "two " * 60})
ASKED = lines({"_id": 1, "text": "which one?"})


@pytest.mark.parametrize(
    "qrels", [b"1 0 d2 1\n1 0 d1 0\n", b"1\t0\td2\t1\n1\t0\td1\t0\n", b"query-id\tcorpus-id\tscore\n1\td2\t1\n1\td1\t0\n"]
)
def test_judgements_with_and_without_a_header(qrels: bytes) -> None:
    found = read(("c.jsonl", CORPUS), ("a.jsonl", ASKED), ("test.qrels.tsv", qrels)).bundle
    assert [gold.document_id for gold in found.queries[0].gold] == ["d2"]
    assert len(found.chunks) == 2


@pytest.mark.parametrize("delimiter", [" ", "\t"])
def test_a_run_is_ordered_by_its_ranks(delimiter: str) -> None:
    run = "\n".join(delimiter.join(row) for row in (["1", "Q0", "d1", "2", "1.5", "tag"], ["1", "Q0", "d2", "1", "1.5", "tag"])).encode()
    found = read(("c.jsonl", CORPUS), ("a.jsonl", ASKED), ("run.trec", run)).bundle
    assert [(hit.document_id, hit.rank) for hit in found.queries[0].retrieved] == [("d2", 1), ("d1", 2)]
    with pytest.raises(InvalidBundle, match=r"score: must be a finite number, got nan"):
        read(("c.jsonl", CORPUS), ("a.jsonl", ASKED), ("run.trec", run.replace(b"1.5", b"nan", 1)))


# Damage

JUNK: tuple[Any, ...] = (
    None,
    "",
    0,
    -1,
    3.7,
    1e308,
    True,
    [],
    {},
    "x",
    [[]],
    [None],
    {"a": {"b": [1]}},
    "[" * 200,
    10**30,
    ["a", 1],
    "{'a': [1]}",
    "NaN",
)


def paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield above
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(inner, (*above, step))


def damaged(value: Any, chance: random.Random) -> Any:
    """`value` with one to five of its parts removed, renamed or replaced."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 2, 5))):
        *above, last = chance.choice(list(paths(value))[1:] or [(0,)])
        inner = value
        for step in above:
            inner = inner[step]
        way = chance.random()
        if not inner:
            return value
        if way < 0.25:
            del inner[last]
        elif way < 0.4 and isinstance(inner, dict):
            inner[f"{last}_"] = inner.pop(last)
        else:
            inner[last] = copy.deepcopy(chance.choice(JUNK))
    return value


def check_damaged(count: int, seed: int) -> None:
    chance = random.Random(seed)
    files = [(file, file.read_text(encoding="utf-8")) for file in sorted(VALID.rglob("*.json*"))]
    loaded = 0
    for _ in range(count):
        file, raw = chance.choice(files)
        is_lines = file.suffix == ".jsonl" or file.stem == "old_names"
        value = damaged([json.loads(line) for line in raw.splitlines()] if is_lines else json.loads(raw), chance)
        data = lines(*value) if is_lines else json.dumps(value).encode()
        try:
            loaded += bool(import_files([(file.name, data)]).bundle)
        except InvalidInput:
            continue
    assert 0 < loaded < count


def test_damage_is_an_error_or_a_load_never_a_crash() -> None:
    check_damaged(50, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_much_damage_is_an_error_or_a_load_never_a_crash(seed: int) -> None:
    check_damaged(1_000, seed)
