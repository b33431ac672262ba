"""Hits of a log are found among the chunks that are there: by name, by place, by text however it is written, and what is not is told."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.files.importing import import_files
from ctxasm.data.files.loading import LoadReport, join_files, load_files
from ctxasm.data.files.match_hits import CONTAINED, EXACT, NORMALISED, WAYS, Quoted, find
from ctxasm.model.characters import normalised
from ctxasm.model.records import Bundle, Chunk, Document, Hit
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from tests.examples import examples

SENTENCES = [
    f"Sentence {number} tells of room {number * 7}: a café, three windows, and a door that stays open until {number % 12} o'clock."
    for number in range(200)
]
CHUNKS = tuple(Chunk(f"d{at // 10}", at % 10, text, metadata={"id": f"row-{at}"}) for at, text in enumerate(SENTENCES))
CORPUS = Bundle("corpus", tuple(Document(f"d{at}", f"Title {at}", summary=f"Summary {at}.") for at in range(20)), CHUNKS)
QUESTION = "Which room has a café?"


def workbench() -> Workbench:
    made = Workbench(Config("sqlite://"), MemoryStore())
    made.store.add(CORPUS)
    return made


def log(*hits: Any, question: str = QUESTION, **beside: Any) -> list[tuple[str, bytes]]:
    return [("log.jsonl", json.dumps({"query": question, "hits": list(hits), **beside}).encode())]


def joined(*hits: Any) -> tuple[list[tuple[str, int]], LoadReport]:
    """The places of the hits, best first, and the report."""
    own = workbench()
    report = join_files(own, log(*hits), "corpus")
    (query,) = own.store.dataset("corpus").queries()
    assert len(list(own.store.dataset("corpus").iter_chunks())) == len(CHUNKS)
    return [(hit.document_id, hit.chunk_index) for hit in sorted(query.retrieved, key=lambda hit: -hit.score)], report


@pytest.mark.parametrize(
    ("hit", "way"),
    [
        ({"id": "row-37"}, "id"),
        ({"id": "d3:7"}, "id"),
        ({"document_id": "d3", "chunk_index": 7}, "place"),
        ({"id": "other", "text": SENTENCES[37]}, "exact text"),
        ({"id": "other", "text": "  " + SENTENCES[37].replace(" ", "\n ")}, "text but for white space and Unicode form"),
        ({"id": "other", "text": unicodedata.normalize("NFD", SENTENCES[37])}, "text but for white space and Unicode form"),
        ({"id": "other", "text": SENTENCES[37][:60] + "…"}, "text inside a chunk, or a chunk inside it"),
        ({"id": "other", "text": f"Before it. {SENTENCES[37]} And after."}, "text inside a chunk, or a chunk inside it"),
        ({"id": "row-12", "text": SENTENCES[37]}, "exact text"),
        ({"document_id": "d0", "chunk_index": 0, "text": SENTENCES[37]}, "exact text"),
    ],
)
def test_a_hit_is_found(hit: dict[str, Any], way: str) -> None:
    places, report = joined({**hit, "score": 0.9})
    assert places == [("d3", 7)]
    assert f"1 of 1 retrieved chunks were found in dataset 'corpus': 1 by {way}" in report.notes


def test_what_is_not_found_is_listed_and_left_out() -> None:
    places, report = joined(
        {"id": "row-3", "score": 0.9},
        {"id": "gone", "score": 0.8},
        {"id": "d4", "score": 0.7},
        {"id": "x", "text": "Nowhere at all.", "score": 0.6},
    )
    assert places == [("d0", 3)]
    (told,) = [note for note in report.notes if note.startswith("not found")]
    assert "hits on them were left out" in told
    assert all(name in told for name in ("gone", "d4", "'x' 0"))


def test_two_parts_of_one_chunk_are_one_hit() -> None:
    half = len(SENTENCES[5]) // 2
    places, _ = joined({"id": "p", "text": SENTENCES[5][:half], "score": 0.9}, {"id": "q", "text": SENTENCES[5][half:], "score": 0.5})
    assert places == [("d0", 5)]


def test_neighbours_and_summaries_come_from_the_dataset() -> None:
    own = workbench()
    join_files(own, log({"id": "x", "text": SENTENCES[15], "score": 0.9}), "corpus")
    (query,) = own.store.dataset("corpus").queries()
    prompt = own.assemble(query, AssemblySettings(), "corpus").text
    assert SENTENCES[15] in prompt
    assert "Summary 1." in prompt


def test_the_same_log_again_changes_nothing() -> None:
    own = workbench()
    files = log({"id": "row-3", "score": 0.9}, answer="The third.")
    assert join_files(own, files, "corpus").changed
    assert not join_files(own, files, "corpus").changed


def as_written(text: str, at: int) -> str:
    """The same text in another form."""
    return [text, text.replace(" ", "  "), unicodedata.normalize("NFD", text), f"{text}\n"][at % 4]


@pytest.mark.parametrize("form", ["flat", "nested"])
def test_a_corpus_and_hits_that_repeat_its_texts_are_no_conflict(form: str) -> None:
    corpus = "".join(
        json.dumps({"document_id": c.document_id, "chunk_index": c.chunk_index, "text": c.text}) + "\n" for c in CHUNKS
    ).encode()
    hits = [
        {"document_id": chunk.document_id, "text": as_written(chunk.text, at), "score": 1 / (1 + at)} for at, chunk in enumerate(CHUNKS)
    ]
    rows = [{"query": QUESTION, **hit} for hit in hits] if form == "flat" else [{"query": QUESTION, "hits": hits}]
    log_file = "".join(json.dumps(row) + "\n" for row in rows).encode()
    reading = import_files([("corpus.jsonl", corpus), ("log.jsonl", log_file)], name="x")
    assert len(reading.bundle.chunks) == len(CHUNKS)
    assert [(hit.document_id, hit.chunk_index) for hit in reading.bundle.queries[0].retrieved] == [
        (c.document_id, c.chunk_index) for c in CHUNKS
    ]
    told = "200 of 200 retrieved chunks were found in corpus.jsonl: 50 by exact text, 150 by text but for white space and Unicode form"
    assert any(note.startswith(("200 of 200 retrieved chunks were found in corpus.jsonl", told)) for note in reading.notes)
    own = workbench()
    report = load_files(own, [("log.jsonl", log_file)], "corpus", over="join")
    assert report.info.chunks == len(CHUNKS)
    assert report.info.queries == 1


@pytest.mark.parametrize("form", ["flat", "nested"])
def test_a_text_that_is_written_in_two_ways_is_one_chunk(form: str) -> None:
    forms = ["Open at ten: café.", unicodedata.normalize("NFD", "Open  at ten: café. ")]
    hits = [{"document_id": "d", "text": text, "score": 0.5} for text in forms]
    rows = [{"query": f"{QUESTION} {at}", **({"hits": [hit]} if form == "nested" else hit)} for at, hit in enumerate(hits)]
    bundle = import_files([("log.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())], name="x").bundle
    assert [chunk.text for chunk in bundle.chunks] == forms[:1]
    assert [[(hit.document_id, hit.chunk_index) for hit in query.retrieved] for query in bundle.queries] == [[("d", 0)]] * 2


class Counted:
    """A corpus that counts how often it is read."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self.chunks, self.passes = tuple(chunks), 0

    def __call__(self) -> Iterable[Chunk]:
        self.passes += 1
        return self.chunks


words = st.lists(
    st.sampled_from(["the", "harbour", "café", "opens", "at", "ten", "on", "days", "日本", "x1"]), min_size=6, max_size=20
).map(" ".join)


@given(st.lists(words, min_size=1, max_size=6, unique_by=normalised), st.data())
@settings(max_examples=examples(60))
def test_a_text_of_the_corpus_is_found_however_it_is_written_in_two_passes(texts: list[str], data: st.DataObject) -> None:
    corpus = Counted(Chunk("d", at, text) for at, text in enumerate(texts))
    picked = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=5))
    forms = [data.draw(st.integers(0, 3)) for _ in picked]
    quoted = [Quoted((f"q{at}", 0), as_written(texts[place], form)) for at, (place, form) in enumerate(zip(picked, forms, strict=True))]
    find(quoted, corpus)
    assert corpus.passes <= 2
    for one, place in zip(quoted, picked, strict=True):
        assert one.found is not None
        assert normalised(texts[one.found[0][1]]) == normalised(texts[place])
        assert one.found[1] in (EXACT, NORMALISED, CONTAINED)
    assert len(WAYS) == CONTAINED + 1


@given(st.lists(st.tuples(st.text(max_size=30), st.integers(0, 3)), max_size=6), st.lists(st.text(max_size=30), max_size=6))
@settings(max_examples=examples(60))
def test_what_is_found_agrees_in_its_text(there: list[tuple[str, int]], texts: list[str]) -> None:
    corpus = [Chunk(f"d{at}", index, text) for at, (text, index) in enumerate(there)]
    quoted = [Quoted((f"d{at}", 0), text) for at, text in enumerate(texts)]
    find(quoted, lambda: corpus)
    places = {(chunk.document_id, chunk.chunk_index): normalised(chunk.text) for chunk in corpus}
    for one in quoted:
        if one.found is not None:
            text = places[one.found[0]]
            assert text in normalised(one.text or "") or one.plain in text


def test_a_hit_keeps_its_score_and_rank() -> None:
    own = workbench()
    join_files(own, log({"id": "row-3", "score": 0.9}, {"id": "row-4", "score": 0.4}), "corpus")
    assert own.store.dataset("corpus").queries()[0].retrieved == (Hit("d0", 3, 0.9, 1), Hit("d0", 4, 0.4, 2))
