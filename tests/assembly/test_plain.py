"""Library use on plain records: no store, the same promises, and the same context as with a store."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm import AssemblySettings, Bundle, Chunk, Document, Hit, InvalidInput, MemoryStore, Query, assemble, load_bundle
from ctxasm.assembly.plain_records import Overlay
from ctxasm.config import shipped
from ctxasm.model.ports import Window
from ctxasm.store.memory import MemorySource
from ctxasm.text.tokens import open_counter
from tests.examples import few

TEXTS = [f"On floor {floor} the desk opens at {floor + 7} o'clock. " for floor in range(5)]
CHUNKS = tuple(Chunk("a", index, text) for index, text in enumerate(TEXTS))
HITS = [
    {"document_id": "a", "chunk_index": 1, "text": TEXTS[1], "score": 2.0, "title": "Opening hours", "page_number": 3},
    {"document_id": "b", "chunk_index": 0, "text": "Parking is free on Sundays.", "score": 1.0},
]


def test_hits_with_their_texts_are_enough() -> None:
    assembly = assemble("when?", hits=HITS)
    assert assembly.text.startswith("[1] Source: Opening hours, p")
    assert [citation.document_id for citation in assembly.citations] == ["a", "b"]
    assert TEXTS[1].strip() in assembly.text
    assert assembly.token_count == open_counter("cl100k_base").count(assembly.text) <= 8000
    assert json.loads(json.dumps(assembly.to_dict(), allow_nan=False))["query"] == "when?"


def test_neighbours_are_found_among_what_is_given_and_nowhere_else() -> None:
    alone = assemble("when?", hits=HITS[:1])
    assert {key[1] for key in alone.trace.candidates} == {1}
    among = assemble("when?", hits=HITS[:1], chunks=[*CHUNKS[:1], {"document_id": "a", "chunk_index": 2, "text": TEXTS[2]}, *CHUNKS[3:]])
    assert {key[1] for key in among.trace.candidates} == {0, 1, 2}
    assert "".join(TEXTS[:3]).strip() in among.text


def test_chunks_in_order_of_retrieval_need_no_score() -> None:
    assembly = assemble("when?", hits=[CHUNKS[3], CHUNKS[0]], settings=AssemblySettings(expand_window=0))
    assert [(hit.chunk_index, hit.score, hit.rank) for hit in assembly.query.retrieved] == [(3, 1.0, 1), (0, 0.5, 2)]
    assert (
        assemble("when?", hits=[Hit("a", 3, 1.0), Hit("a", 0, 0.5)], chunks=CHUNKS, settings=AssemblySettings(expand_window=0)).text
        == assembly.text
    )


def test_documents_give_title_summary_and_source() -> None:
    assembly = assemble(
        "when?", hits=HITS, documents=[Document("a", "Desk", summary="All about desks."), {"document_id": "b", "source": "park.md"}]
    )
    assert "Source: Desk" in assembly.text
    assert "All about desks." in assembly.text
    assert "Source: park.md" in assembly.text


def test_a_source_and_what_is_given_beside_it() -> None:
    store = MemoryStore()
    store.add(Bundle("tiny", (Document("a", "Stored"),), CHUNKS))
    stale = {**HITS[0], "text": "An older text of the same chunk."}
    assembly = assemble("when?", store, hits=[stale, HITS[1]])
    assert "older text" not in assembly.text
    assert "".join(TEXTS[:3]).strip() in assembly.text
    assert "Source: Stored" in assembly.text
    assert "Parking is free" in assembly.text
    assert assembly.trace.fetch.statements == 1
    bare = [{"document_id": "a", "chunk_index": 1, "score": 2.0}]
    assert assemble("when?", store, hits=bare).text == assemble(Query("when?", (Hit("a", 1, 2.0),)), store).text


def test_a_chunk_beside_stored_ones_is_joined_by_what_the_texts_say() -> None:
    one = "The desk on the first floor is where a visitor asks for the way, and for a map of the house. "
    store = MemoryStore()
    store.add(Bundle("tiny", (), (CHUNKS[0], Chunk("a", 2, one[-40:] + TEXTS[2]))))
    assembly = assemble("when?", store, hits=[{"document_id": "a", "chunk_index": 1, "text": one, "score": 1.0}])
    assert (TEXTS[0] + one + TEXTS[2]).strip() in assembly.text


def test_the_context_is_that_of_a_store_with_the_same_records() -> None:
    bundle = load_bundle(shipped("sample_data/hospital-nl"))
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(bundle)
    for query in few(bundle.queries[:24]):
        for settings in (
            AssemblySettings(),
            AssemblySettings(expand_window=2, max_tokens=700),
            AssemblySettings(format="xml", citation_unit="passage"),
        ):
            stored = assemble(query, store, settings)
            plain = assemble(query, None, settings, chunks=bundle.chunks, documents=bundle.documents)
            assert plain.text == stored.text
            assert plain.to_dict()["fates"] == stored.to_dict()["fates"]


RECORDS = st.lists(
    st.fixed_dictionaries(
        {"document_id": st.sampled_from("abc"), "chunk_index": st.integers(0, 6), "score": st.floats(-5, 5)},
    ),
    max_size=8,
)


@given(RECORDS, st.integers(0, 3), st.integers(20, 200))
def test_the_promises_hold_for_plain_records(records: list[dict[str, Any]], window: int, limit: int) -> None:
    hits = [{**record, "text": f"{record['document_id']} {record['chunk_index']} says something about it.\n"} for record in records]
    assembly = assemble("what?", hits=hits, settings=AssemblySettings(expand_window=window), limit=limit)
    counter = open_counter("cl100k_base")
    assert counter.count(assembly.text) == assembly.token_count <= limit
    assert "".join(assembly.text[s.start : s.end] for s in assembly.segments) == assembly.text
    assert {(fate.document_id, fate.chunk_index) for fate in assembly.trace.fates} == {
        (hit["document_id"], hit["chunk_index"]) for hit in hits
    }
    assert assemble("what?", hits=hits[::-1], settings=AssemblySettings(expand_window=window), limit=limit).text == assembly.text or len(
        {hit["score"] for hit in hits}
    ) < len(hits)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "a question alone has nothing to assemble"),
        ({"hits": [{"document_id": "a", "chunk_index": 0, "score": 1.0}]}, "there are no texts to assemble"),
        ({"hits": [{"chunk_index": 0, "text": "x"}]}, r"hits\[0\].document_id is missing"),
        ({"hits": [{"document_id": "a", "text": "x"}]}, r"hits\[0\].chunk_index is missing"),
        ({"hits": [CHUNKS[0], "text"]}, r"hits\[1\] must be a Hit, a Chunk or a mapping"),
        ({"hits": "text"}, "hits must be a list"),
        ({"hits": [{**HITS[0]}, {**HITS[1], "score": None}]}, r"hits\[1\].score is missing, but other hits have one"),
        ({"hits": [{**HITS[0], "score": float("nan")}]}, r"retrieved\[0\].score must be a finite number"),
        ({"hits": [{**HITS[0], "chunk_index": -1}]}, "chunk_index must be a whole number"),
        ({"hits": [{**HITS[0], "chunk_index": "1"}]}, "chunk_index must be a whole number"),
        ({"hits": [HITS[0], {**HITS[0], "text": "another"}]}, "got it twice with different texts"),
        ({"hits": HITS, "documents": [{"title": "x"}]}, r"documents\[0\].document_id is missing"),
        ({"hits": HITS, "documents": [Document("a", "x"), Document("a", "y")]}, "stands there twice"),
    ],
)
def test_what_cannot_be_assembled_is_said_in_one_sentence(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        assemble("when?", **arguments)
    assert "\n" not in str(refused.value)


def test_a_query_with_hits_takes_no_others() -> None:
    with pytest.raises(InvalidInput, match="not both"):
        assemble(Query("when?", (Hit("a", 0, 1.0),)), hits=HITS)
    with pytest.raises(InvalidInput, match="query must be a text or a Query"):
        assemble(7, hits=HITS)  # type: ignore[arg-type]


def test_no_hits_are_an_empty_context_and_broken_characters_are_repaired() -> None:
    assert assemble("when?", hits=[]).text == ""
    hit, record = {"document_id": "d", "chunk_index": 0, "text": "a\0b\ud800c"}, Chunk("d", 1, "d\0e\ud800f")
    done = assemble("when?", hits=[hit], chunks=[record])
    assert "a\ufffdb\ufffdc" in done.text
    assert "d\ufffde\ufffdf" in done.text


def test_hits_without_a_score_count_by_their_order_and_numbers_are_taken_as_they_are() -> None:
    three = [{"document_id": "a", "chunk_index": index, "text": f"text {index} here"} for index in (4, 2, 0)]
    asked = assemble("when?", hits=three).query
    assert [(hit.chunk_index, hit.score, hit.rank) for hit in asked.retrieved] == [(4, 1.0, 1), (2, 0.5, 2), (0, 1 / 3, 3)]
    scored = assemble("when?", hits=[{**each, "score": 2, "rank": 3 - at} for at, each in enumerate(three)]).query
    assert [(hit.score, hit.rank) for hit in scored.retrieved] == [(2.0, 3), (2.0, 2), (2.0, 1)]
    with pytest.raises(InvalidInput, match=r"hits\[0\].score is missing"):
        assemble("when?", hits=[three[0], {**three[1], "score": 1.0}])
    with pytest.raises(InvalidInput, match="chunk_index must be a whole number"):
        assemble("when?", hits=[{**three[0], "chunk_index": True}])


def test_the_place_of_a_hit_is_taken_over_and_a_document_needs_one_fact() -> None:
    hit = {"document_id": "a", "chunk_index": 0, "text": "abc", "score": 1.0, "start": 7, "end": 10, "page_number": 3, "section": "s"}
    for field in ("title", "source", "summary"):
        done = assemble("when?", hits=[{**hit, field: "named so"}])
        assert "named so" in done.text
        assert (done.citations[0].page_number, done.citations[0].ref.endswith("§ s")) == (3, True)
    chunk = next(iter(done.trace.candidates.values())).chunk
    assert (chunk.start, chunk.end, chunk.section) == (7, 10, "s")
    same = assemble("when?", hits=[hit], documents=[Document("a", "x"), Document("a", "x")])
    assert "Source: x" in same.text


def test_documents_that_are_given_beside_a_source_never_replace_its_own() -> None:
    store = MemoryStore()
    store.add(Bundle("tiny", (Document("a", "Stored"),), CHUNKS))
    hits = [Hit("a", 1, 2.0)]
    given_beside = assemble("when?", store, hits=hits, documents=[Document("a", "Given")])
    assert "Source: Stored" in given_beside.text


def test_what_a_source_says_of_an_overlap_is_forgotten_beside_a_brought_chunk_alone() -> None:
    """Chunk 0 has none before it, 1 is brought, 2 stands behind that one; 3 and 4 stand behind stored ones."""
    shared = "Neem de tram tot het eindpunt. "
    texts = [f"{shared}Verhaal {n} gaat hierover. {shared}" for n in range(5)]
    chunks = [Chunk("a", n, each) for n, each in enumerate(texts)]
    store = MemoryStore()
    store.add(Bundle("kept", chunks=tuple(chunks[:1] + chunks[2:])))
    source = Overlay(store.dataset("kept"), MemorySource((), chunks[1:2]))
    (window,) = [Window("a", 0, 4)]
    fetched = {chunk.chunk_index: chunk for chunk in source.fetch([window], "cl100k_base").chunks}
    assert sorted(fetched) == [0, 1, 2, 3, 4]
    assert sorted(index for index, chunk in fetched.items() if chunk.overlap_kind is None) == [0, 1, 2]
