"""Where the fact went: every outcome on a made answer of production, whichever way its prompt was sent, and laws of all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxasm
from ctxasm import AssemblySettings, InvalidInput, MemoryStore, Why, why
from ctxasm.data.files.importing import import_files
from ctxasm.model.records import Answer, Bundle, Chunk, Document, GoldChunk, Hit, Query, Span
from ctxasm.tuning.why_results import OUTCOMES
from tests.examples import examples

TEXTS = (
    "The harbour museum opens at ten in the morning.",
    "Mooring for the whole day costs twelve euros.",
    "Children under twelve enter free of charge.",
)
QUESTION = "What does mooring for a day cost?"
FACT = TEXTS[1]


LONG = " So say the people of the town." * 60
"""As much as fills a small context."""


def record(answer: str, sent: tuple[int, ...] | None = (0, 1), more: str = "", **beside: Any) -> dict[str, Any]:
    """A line of a log: the hits (the first with `more` behind it), the prompt with those of them that were sent, the answer."""
    blocks = "\n\n".join(f"[{number}] {TEXTS[at]}" for number, at in enumerate(sent or (), 1))
    prompt = {} if sent is None else {"prompt": f"Answer from the context, and cite [n].\n\nContext:\n{blocks}\n\nQuestion: {QUESTION}"}
    hits = [{"id": f"c{at}", "text": text if at else text + more, "score": 0.9 - at / 10} for at, text in enumerate(TEXTS)]
    return {"question": QUESTION, "hits": hits, "answer": answer, **prompt, **beside}


def stored(folder: Path, rows: list[dict[str, Any]]) -> MemoryStore:
    """A store with these rows as the dataset "made"."""
    file, store = folder / "made.json", MemoryStore()
    file.write_text(json.dumps(rows))
    ctxasm.load(file, store)
    return store


def asked(line: Mapping[str, Any], fact: str | None = None, **changed: Any) -> Why:
    chosen = AssemblySettings(**changed)
    return why(("log.json", json.dumps([line]).encode()), MemoryStore(), None, chosen, fact=fact)


def test_retrieved_but_not_in_the_prompt_that_was_sent() -> None:
    found = asked(record("I do not know.", sent=(0, 2)), FACT)
    (fact,) = found.facts
    assert (fact.outcome, fact.rank, fact.a.held, fact.b.held) == ("not_sent", 2, "none", "all")
    assert found.sentence == f"Retrieved at rank 2, but not in the prompt that was sent: “{FACT}”; B sends it in [2]."
    assert [(one.number, one.share) for one in found.sent] == [(1, 1.0), (2, 1.0)]


def test_dropped_by_these_settings_at_a_stage_for_a_reason() -> None:
    found = asked(record("I do not know.", (0, 2), LONG), FACT, max_tokens=500)
    (fact,) = found.facts
    assert (fact.outcome, fact.b.held, fact.b.stage, fact.b.reason) == ("not_sent", "none", "budget", "budget")
    assert "B: dropped at Budget for this: it did not fit into the limit (needs " in found.sentence
    unrecorded = asked(record("I do not know.", None, LONG), FACT, max_tokens=500)
    assert [fact.outcome for fact in unrecorded.facts] == ["dropped"]
    assert unrecorded.sentence.startswith("Retrieved at rank 2, but dropped at Budget for this: it did not fit into the limit (needs ")
    assert not unrecorded.is_recorded


def test_a_log_keeps_the_names_of_its_span() -> None:
    told = {"model": "some-model", "trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331"}
    recorded = asked(record("I do not know.", **told)).recorded
    assert {"model": recorded.model, "trace_id": recorded.trace_id, "span_id": recorded.span_id} == told


def test_cut_in_the_prompt_that_was_sent() -> None:
    long = "Boats may moor at the east quay. Mooring for the whole day costs twelve euros. The desk takes cards."
    line = {**record(""), "prompt": f"Cite [n].\n[1] {long[:52]}…", "answer": "I do not know.", "hits": [{"text": long, "score": 1.0}]}
    found = asked(line, "Mooring for the whole day costs twelve euros.")
    assert found.facts[0].outcome == "not_sent"
    assert found.sent[0].share < 0.6


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        ("The museum opens at ten [1].", "not_cited", False),
        ("Mooring for the whole day costs twelve euros.", "not_cited", True),
        ("Mooring for the whole day costs twelve euros [1].", "wrong_number", True),
        ("Mooring for the whole day costs twelve euros [9].", "wrong_number", True),
        ("Mooring for the whole day costs fifteen euros [2].", "contradicted", False),
        ("Mooring for the whole day costs twelve euros [2].", "cited", True),
    ],
)
@pytest.mark.parametrize("how", ["said", "reference", "expected"])
def test_what_the_answer_makes_of_what_was_sent(answer: str, outcome: str, said: bool, how: str, tmp_path: Path) -> None:
    beside = {"reference_answer": FACT} if how == "reference" else {}
    if how == "expected":
        store = stored(tmp_path, [record(answer)])
        query = store.dataset("made").queries()[0]
        hit = next(hit for hit in query.retrieved if hit.rank == 2)
        ctxasm.label(query.query_id, [(hit.document_id, hit.chunk_index)], store)
        found = why(None, store)
    else:
        found = asked(record(answer, **beside), FACT if how == "said" else None)
    (fact,) = found.facts
    assert (fact.kind, fact.outcome) == (how, outcome)
    assert fact.said == said or how == "expected"
    assert (fact.a.held, fact.a.number, fact.b.held, fact.b.number) == ("all", 2, "all", 2)
    if outcome == "contradicted":
        assert fact.against == ("fifteen euros", "twelve euros")
        assert "(“fifteen euros” there, “twelve euros” in the source)" in fact.sentence


def test_never_retrieved_and_where_it_stands(tmp_path: Path) -> None:
    texts = (*TEXTS, "Dogs stay on the quay at all times.")
    store = stored(tmp_path, [{"document_id": "guide", "chunk_index": at, "text": text} for at, text in enumerate(texts)])
    trace = ("log.json", json.dumps([record("Dogs may come in [1].")]).encode())
    found = why(trace, store, "made", AssemblySettings(expand_window=0), fact="Dogs stay on the quay.")
    (fact,) = found.facts
    assert (fact.outcome, fact.holder, fact.rank, fact.b.held) == ("never_retrieved", ("guide", 3), None, "none")
    assert found.sentence == "Never retrieved, though it stands in guide #3: “Dogs stay on the quay.”; B does not reach it either."
    wider = why(trace, store, "made", AssemblySettings(expand_window=1), fact="Dogs stay on the quay.")
    assert wider.sentence.endswith("B brings it by the neighbours of hits, in [1].")
    nowhere = why(trace, store, "made", fact="Horses are not allowed.")
    assert (nowhere.facts[0].outcome, nowhere.facts[0].holder) == ("never_retrieved", None)


def test_the_nearest_hit_says_what_it_lacks_or_says_otherwise() -> None:
    found = asked(record("I do not know."), "Mooring for the whole day costs fifteen euros.")
    assert (found.facts[0].outcome, found.facts[0].nearest, found.facts[0].otherwise) == ("never_retrieved", 2, "twelve euros")
    assert "(the hit at rank 2 says otherwise: “twelve euros”)" in found.sentence


def test_without_labels_the_doubtful_claims_of_the_answer_are_followed_worst_first() -> None:
    found = asked(
        record(
            "Mooring for the whole day costs twelve euros [1]. Horses sleep in the east hall [2]. "
            "The harbour museum opens at ten in the morning [1]."
        )
    )
    assert [(fact.kind, fact.outcome) for fact in found.facts] == [("claim", "never_retrieved"), ("claim", "wrong_number")]
    assert found.sentence.endswith("1 more is not as it should be.")
    denied = asked(record("Mooring for the whole day costs fifteen euros [2]."))
    assert (denied.facts[0].outcome, denied.facts[0].a.number, denied.facts[0].rank) == ("contradicted", 2, 2)


def test_nothing_wrong_is_said_with_what_to_do() -> None:
    assert "say what it should have said as the fact" in asked(record("Mooring for the whole day costs twelve euros [2].")).sentence
    assert asked(record("I do not know.")).sentence.startswith("The answer declines")


def test_an_answer_that_nobody_asked_to_cite_is_no_worse_for_it() -> None:
    line = record("Mooring for the whole day costs twelve euros.")
    line["prompt"] = f"Answer from this.\n\n{TEXTS[0]}\n\n{TEXTS[1]}\n\nQuestion: {QUESTION}"
    assert asked(line, FACT).facts[0].sentence == f"Sent in [2], and said: “{FACT}”; B sends it in [2]."


def test_one_of_several_is_named() -> None:
    trace = ("log.json", json.dumps([record("Aha."), record("Twelve [2].", question="And now?")]).encode())
    with pytest.raises(InvalidInput, match="there are 2 answers"):
        why(trace, MemoryStore())
    with pytest.raises(InvalidInput, match=r"must be one of 'q-.*', 'q-.*', got 'c'"):
        why(trace, MemoryStore(), query_id="c")
    names = [case.query_id for case in import_files([trace]).bundle.queries]
    assert why(trace, MemoryStore(), query_id=names[1]).assembly.query.query == "And now?"
    with pytest.raises(InvalidInput, match="at least one visible character"):
        asked(record("Aha."), "  ")
    with pytest.raises(InvalidInput, match="no answer to any of them"):
        why(("log.json", json.dumps([{"question": "why?", "hits": [{"text": "so it is", "score": 1.0}]}]).encode()), MemoryStore())


@given(
    st.lists(st.sampled_from(range(len(TEXTS))), unique=True).map(tuple) | st.none(),
    st.lists(st.sampled_from([*TEXTS, "Horses sleep.", "I do not know."]), max_size=3),
    st.lists(st.sampled_from(["", " [1]", " [2]", " [9]"]), min_size=3, max_size=3),
    st.sampled_from([None, *TEXTS, "Horses sleep.", "\ud800 \0 ", "twelve"]),
    st.sampled_from(["", LONG]),
)
@settings(max_examples=examples(40), deadline=None)
def test_laws_of_every_answer(sent: tuple[int, ...] | None, said: list[str], markers: list[str], fact: str | None, more: str) -> None:
    answer = " ".join(text.removesuffix(".") + marker + "." for text, marker in zip(said, markers, strict=False)) or "Hm."
    found = asked(record(answer, sent, more), fact, max_tokens=500)
    assert found.facts == asked(record(answer, sent, more), fact, max_tokens=500).facts
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["sentence"] == found.sentence
    assert [OUTCOMES.index(each.outcome) for each in found.facts] == sorted(OUTCOMES.index(each.outcome) for each in found.facts)
    assert found.sentence
    for each in found.facts:
        assert (each.outcome == "not_sent") <= (found.is_recorded and each.rank is not None and each.a.held != "all")
        assert (each.outcome == "dropped") <= (not found.is_recorded)
        assert (each.outcome == "never_retrieved") <= (each.rank is None)
        assert (each.b.held == "all") <= (each.b.reason is None)
        if fact in TEXTS and sent is not None:
            assert (each.a.held == "all") == (TEXTS.index(fact) in sent)
            assert (each.b.held == "all") == (not more or fact == TEXTS[0])


def genai(answer: str, sent: tuple[int, ...] = (0, 1)) -> tuple[str, bytes]:
    """A trace as the GenAI conventions of OpenTelemetry have it: a retrieval, then a chat whose messages were captured."""
    blocks = "\n\n".join(f"[{number}] {TEXTS[at]}" for number, at in enumerate(sent, 1))
    documents = [{"id": f"c{at}", "content": text, "score": 0.9 - at / 10} for at, text in enumerate(TEXTS)]
    text = f"Context:\n{blocks}\n\nQuestion: {QUESTION}"
    spans = (
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": QUESTION,
            "gen_ai.retrieval.documents": json.dumps(documents),
        },
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "some-model",
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Cite as [n]."}]),
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}]),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": answer}], "finish_reason": "stop"}]
            ),
        },
    )
    written = [
        {
            "traceId": "0af7651916cd43dd8448eb211c80319c",
            "spanId": f"b7ad6b716920333{at}",
            "parentSpanId": "",
            "name": "x",
            "startTimeUnixNano": str(1000 + at),
            "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        }
        for at, attributes in enumerate(spans)
    ]
    return "otlp.json", json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": written}]}]}).encode()


def test_the_genai_dialect_of_otlp_keeps_its_prompt_and_the_names_of_its_span() -> None:
    found = why(genai("Mooring for the whole day costs fifteen euros [2].", (0, 1)), MemoryStore(), fact=FACT)
    assert [turn.role for turn in found.recorded.prompt] == ["system", "user"]
    assert found.recorded.prompt[0].content == "Cite as [n]."
    assert (found.recorded.model, found.recorded.span_id) == ("some-model", "b7ad6b7169203331")
    assert [(one.document_id, one.number) for one in found.sent] == [("c0", 1), ("c1", 2)]
    assert (found.facts[0].outcome, found.facts[0].against) == ("contradicted", ("fifteen euros", "twelve euros"))
    missing = why(genai("I do not know.", (0, 2)), MemoryStore(), fact=FACT)
    assert (missing.facts[0].outcome, missing.facts[0].rank, missing.facts[0].b.held) == ("not_sent", 2, "all")


PLAIN = {
    "numbered": "Cite your sources as [n].\n\n[1] {0}\n\n[2] {1}\n\nQuestion: {q}\n\nAnswer: {a}",
    "its first passage first": "[1] {0}\n\n[2] {1}\n\nQuestion: {q}\nAnswer:\n{a}",
    "not numbered": "Use the context.\n\nContext:\n{0}\n\n{1}\n\nQuestion: {q}\nAnswer: {a}",
    "a transcript": "System: Use the context.\n\nContext:\n{0}\n\n{1}\n\nQuestion: {q}\n\nAssistant: {a}",
    "in Dutch": "Context:\n{0}\n\n{1}\n\nVraag: {q}\n\nAntwoord: {a}",
}


@pytest.mark.parametrize("form", PLAIN)
@pytest.mark.parametrize("file", ["pasted", "pasted.txt"])
def test_a_plain_prompt_with_its_answer_is_a_trace(form: str, file: str) -> None:
    text = PLAIN[form].format(*TEXTS, q=QUESTION, a="Mooring for the whole day costs fifteen euros.")
    found = why((file, text.encode()), MemoryStore())
    assert found.assembly.query.query == QUESTION
    assert [(one.number, one.text) for one in found.sent] == [(1, TEXTS[0]), (2, TEXTS[1])]
    assert [(fact.outcome, fact.against) for fact in found.facts] == [("contradicted", ("fifteen euros", "twelve euros"))]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("What does it cost?\nTwelve euros.", "after a line that begins with `Answer:`"),
        ("Context:\nIt costs twelve euros.\n\nQuestion: What?\nAnswer:", "after a line that begins with `Answer:`"),
        ("question,answer\nWhat?,Answer: twelve\n", "no question with its answer|no answer to any of them|holds"),
    ],
)
def test_a_plain_text_that_is_no_prompt_with_its_answer_says_what_to_do(text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        why(("pasted", text.encode()), MemoryStore())


def test_a_wrong_number_is_denied_by_the_source_that_says_otherwise() -> None:
    (fact,) = asked(record("Mooring for the whole day costs fifteen euros [1].")).facts
    assert (fact.kind, fact.outcome, fact.a.number, fact.cited) == ("claim", "contradicted", 2, (1,))


def test_an_answer_whose_sources_alone_are_recorded_was_sent_these() -> None:
    line = {"query_id": "q", "answer": "I do not know.", "sources": [{"n": 4, "text": TEXTS[0]}, {"n": 7, "text": TEXTS[2]}]}
    store = MemoryStore()
    chunks = tuple(Chunk("guide", at, text) for at, text in enumerate(TEXTS))
    hits = tuple(Hit("guide", at, 1.0 - at / 10) for at in range(3))
    store.add(Bundle("made", (Document("guide"),), chunks, (Query(QUESTION, hits, "q"),), (Answer(**line),)))
    found = why(None, store, fact=FACT)
    assert [(one.chunk_index, one.number) for one in found.sent] == [(0, 4), (2, 7)]
    assert found.facts[0].outcome == "not_sent"


def followed(query: Query, texts: tuple[str, ...] = TEXTS, start: int | None = 0) -> list[tuple[str, str, str | None]]:
    """The facts of a question about a guide with these chunks, which begin in it one behind the other where it begins at `start`."""
    store, at, chunks = MemoryStore(), start, []
    for index, text in enumerate(texts):
        end = None if at is None else at + len(text)
        chunks.append(Chunk("guide", index, text, start=at, end=end))
        at = end
    answer = Answer("q", "I do not know.", ({"n": 1, "text": TEXTS[0]},))
    store.add(Bundle("made", (Document("guide"),), tuple(chunks), (query,), (answer,)))
    return sorted((fact.text, fact.b.held, fact.b.stage) for fact in why(None, store, None, AssemblySettings(expand_window=0)).facts)


def test_expected_chunks_have_their_own_side_b_where_another_one_is_not_there() -> None:
    gold = (GoldChunk("guide", 9), GoldChunk("guide", 1), GoldChunk("guide", 2))
    found = followed(Query(QUESTION, (Hit("guide", 1, 0.9),), "q", gold=gold))
    assert found == [(TEXTS[2], "none", None), (TEXTS[1], "all", None)]


@pytest.mark.parametrize("start", [0, None])
def test_what_a_person_marks_is_followed_beside_spans_and_in_the_place_of_those_that_cannot_be_judged(start: int | None) -> None:
    span = Span("guide", 0, len(TEXTS[0]))
    hits = (Hit("guide", 0, 0.9), Hit("guide", 1, 0.8))
    found = followed(Query(QUESTION, hits, "q", spans=(span,), gold=(GoldChunk("guide", 2, "hand"),)), start=start)
    assert found == [(TEXTS[2], "none", None), *([(TEXTS[0], "all", None)] if start == 0 else [])]


@pytest.mark.parametrize("fact", [" ", "\u200b", "x" * 20_001, 5])
def test_what_is_no_fact_is_refused(fact: Any, tmp_path: Path) -> None:
    store = stored(tmp_path, [{"document_id": "guide", "chunk_index": 0, "text": TEXTS[0]}])
    with pytest.raises(InvalidInput, match=r"^the fact must "):
        why(("log.json", json.dumps([record("I do not know.")]).encode()), store, "made", fact=fact)


def test_half_a_character_of_a_fact_is_written_and_a_claim_longer_than_a_question_is_looked_for(tmp_path: Path) -> None:
    half = asked(record("I do not know."), "Dogs stay on the quay\ud800.")
    assert json.dumps(half.to_dict(), ensure_ascii=False).encode()
    store = stored(tmp_path, [{"document_id": "guide", "chunk_index": 0, "text": TEXTS[0]}])
    found = why(("log.json", json.dumps([record("dog " * 8000)]).encode()), store, "made")
    assert found.facts[0].outcome == "never_retrieved"
