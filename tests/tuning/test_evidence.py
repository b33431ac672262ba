"""Evidence: what of it the context holds, and which stage lost the rest. Over real assemblies of small documents."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ctxasm import assemble
from ctxasm.model.records import Bundle, Chunk, GoldChunk, Hit, Query, Span
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.evidence import RETRIEVE, EvidenceState, evidence_documents, evidence_states, evidence_text, labels_of
from tests.examples import examples

SENTENCES = [f"Sentence number {n} of this page says that room {n * 7} opens at {n} o'clock. " for n in range(40)]
PAGE = "".join(SENTENCES)
SIZE, STEP = 240, 200


def page_chunks(name: str, text: str = PAGE, offsets: bool = True) -> tuple[Chunk, ...]:
    """`text` cut into chunks of SIZE characters, each repeating the last SIZE - STEP of the one before."""
    starts = range(0, max(1, len(text) - SIZE + STEP), STEP)
    place = [(start, min(len(text), start + SIZE)) for start in starts]
    return tuple(Chunk(name, i, text[low:high], *((low, high) if offsets else (None, None))) for i, (low, high) in enumerate(place))


def states(chunks: tuple[Chunk, ...], query: Query, **changes: object) -> tuple[EvidenceState, ...]:
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(Bundle("d", chunks=chunks, queries=(query,)))
    dataset = store.dataset()
    assembly = assemble(query, dataset, AssemblySettings().replace(**changes))
    return evidence_states(assembly, {name: dataset.document_chunks(name) for name in evidence_documents(assembly.query)})


def asked(*spans: Span, hits: tuple[tuple[str, int], ...] = (("a", 3),), gold: tuple[GoldChunk, ...] = ()) -> Query:
    return Query("when?", tuple(Hit(name, index, 9.0 - rank) for rank, (name, index) in enumerate(hits)), "q", gold, spans)


def test_a_span_inside_the_hit_is_found() -> None:
    (state,) = states(page_chunks("a"), asked(Span("a", 645, 700)), expand_window=0)
    assert (state.state, state.share, state.stage, state.chunk_indexes) == ("found", 1.0, None, (3,))


def test_a_span_over_two_chunks_needs_the_window() -> None:
    query = asked(Span("a", 560, 700))  # 560-600 stands in chunk 2 alone
    (narrow,) = states(page_chunks("a"), query, expand_window=0)
    assert (narrow.state, narrow.share, narrow.stage) == ("partly", pytest.approx(100 / 140), RETRIEVE)
    (wide,) = states(page_chunks("a"), query, expand_window=1)
    assert (wide.state, wide.chunk_indexes) == ("found", (2, 3))


def test_the_text_of_evidence_is_the_one_of_its_span_however_it_is_cut() -> None:
    chunks = page_chunks("a")
    for low, high in ((645, 700), (560, 700), (190, 1010)):
        (state,) = states(chunks, asked(Span("a", low, high)), expand_window=0)
        assert evidence_text(state, chunks) == PAGE[low:high]
    (state,) = states(page_chunks("a", offsets=False), asked(gold=(GoldChunk("a", 4),)))
    assert evidence_text(state, chunks) == chunks[4].text


def test_where_evidence_was_lost_in_words() -> None:
    query = asked(Span("a", 560, 700))
    (narrow,), (wide,) = (states(page_chunks("a"), query, expand_window=window) for window in (0, 1))
    assert (narrow.where_lost(), wide.where_lost()) == ("never retrieved", "")
    assert replace(narrow, stage="budget").where_lost() == "at Budget"
    assert replace(narrow, place=replace(narrow.place, gone="the text")).where_lost() == "no longer in the dataset"


def test_text_that_a_neighbour_shows_for_a_stripped_chunk_is_found() -> None:
    (state,) = states(page_chunks("a"), asked(Span("a", 600, 640)), expand_window=1)
    assert state.state == "found"


def test_the_stage_that_lost_it() -> None:
    (never,) = states(page_chunks("a"), asked(Span("a", 2000, 2100)), expand_window=1)
    assert (never.state, never.share, never.stage) == ("lost", 0.0, RETRIEVE)
    beyond = asked(Span("b", 0, 100), hits=(("a", 3), ("b", 0)))
    chunks = (*page_chunks("a"), *page_chunks("b", "B" + PAGE[1:]))
    (cut,) = states(chunks, beyond, top_k=1)
    assert (cut.state, cut.stage) == ("lost", "expand")
    many = asked(Span("b", 0, 100), hits=(*(("a", i) for i in range(len(page_chunks("a")))), ("b", 0)))
    (budget,) = states((*page_chunks("a", PAGE * 3), *page_chunks("b", "B" + PAGE[1:])), many, max_tokens=500, expand_window=0)
    assert (budget.state, budget.stage) == ("lost", "budget")


def test_other_places_that_say_the_same_count() -> None:
    span = Span("z", 5, 9, (Span("a", 610, 700),))
    (state,) = states((*page_chunks("a"), Chunk("z", 0, "something else", 0, 14)), asked(span))
    assert (state.state, state.document_id, state.place.start) == ("found", "a", 610)


def test_the_same_text_under_another_document_counts() -> None:
    query = asked(Span("b", 610, 700), hits=(("a", 3), ("b", 3)))
    (state,) = states((*page_chunks("a"), *page_chunks("b")), query, expand_window=0)
    assert state.state == "found"
    assert assemble_fate(query) == "duplicate_of"


def assemble_fate(query: Query) -> str:
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(Bundle("d", chunks=(*page_chunks("a"), *page_chunks("b"))))
    fates = assemble(query, store, AssemblySettings(expand_window=0)).trace.fates
    return next(fate.fate for fate in fates if fate.document_id == "b")


def test_characters_that_no_chunk_holds_are_not_asked_for() -> None:
    chunks = (Chunk("a", 0, "first part", 0, 10), Chunk("a", 1, "second part", 12, 23))  # 10-12 was blank and is not stored
    (state,) = states(chunks, asked(Span("a", 0, 23), hits=(("a", 0),)), expand_window=1)
    assert (state.state, state.share) == ("found", 1.0)


def test_gold_chunks_where_offsets_are_missing() -> None:
    chunks = page_chunks("a", offsets=False)
    query = asked(Span("a", 0, 10), gold=(GoldChunk("a", 3), GoldChunk("a", 4), GoldChunk("a", 9)))
    found = states(chunks, query, expand_window=1)
    assert [(s.kind, s.chunk_indexes, s.state, s.stage) for s in found] == [
        ("chunk", (3,), "found", None),
        ("chunk", (4,), "found", None),
        ("chunk", (9,), "lost", RETRIEVE),
    ]


def test_what_a_person_marks_counts_beside_spans_and_once() -> None:
    chunks, span = page_chunks("a"), Span("a", 645, 700)
    came, marked, inside = GoldChunk("a", 9), GoldChunk("a", 12, "hand"), GoldChunk("a", 3, "cited")
    found = states(chunks, asked(span, gold=(came, marked, inside)), expand_window=0)
    assert [(s.kind, s.chunk_indexes, s.state) for s in found] == [("span", (3,), "found"), ("chunk", (12,), "lost")]
    held = states(chunks, asked(span, hits=(("a", 3), ("a", 12)), gold=(marked,)), expand_window=0)
    assert [s.state for s in held] == ["found", "found"]


def test_a_span_without_offsets_and_without_gold_is_unknown() -> None:
    (state,) = states(page_chunks("a", offsets=False), asked(Span("a", 0, 10)))
    assert (state.state, state.stage) == ("unknown", None)


def test_evidence_of_the_baseline_and_of_no_hits() -> None:
    (baseline,) = states(page_chunks("a"), asked(Span("a", 610, 700)), enabled=False)
    assert baseline.state == "found"
    (nothing,) = states(page_chunks("a"), asked(Span("a", 610, 700), hits=()))
    assert (nothing.state, nothing.stage) == ("lost", RETRIEVE)
    assert states(page_chunks("a"), asked()) == ()


@given(
    st.tuples(st.integers(0, len(PAGE) - 1), st.integers(1, 500)),
    st.lists(st.integers(0, 15), min_size=1, max_size=6, unique=True),
    st.integers(0, 3),
    st.sampled_from([500, 700, 8000]),
)
@hypothesis_settings(max_examples=examples(80))
def test_found_means_that_the_characters_are_in_the_text(span: tuple[int, int], hits: list[int], window: int, limit: int) -> None:
    start, end = span[0], min(len(PAGE), span[0] + span[1])
    query = asked(Span("a", start, end), hits=tuple(("a", index) for index in hits))
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(Bundle("d", chunks=page_chunks("a")))
    assembly = assemble(query, store, AssemblySettings(expand_window=window, max_tokens=limit))
    (state,) = evidence_states(assembly, {"a": store.dataset().document_chunks("a")})
    # Every sentence of the page is different, so the text itself is the judge.
    if end - start >= 80:
        assert (state.state == "found") == (PAGE[start:end] in assembly.text)
    elif state.state == "found":
        assert PAGE[start:end] in assembly.text
    assert (state.stage is None) == (state.state == "found")
    assert 0 <= state.share <= 1


def test_a_copy_in_nearly_the_same_words_is_not_the_evidence_itself() -> None:
    """Exact copies hold every character; near ones may lack the very word asked for, unless all of it stands in the other."""
    words = "Visitors are welcome every day between two and eight, two at a time, and leave by the main entrance when the bell rings."
    longer = f"Dear visitor. {words} Children come with an adult, and flowers stay outside."
    for kept, share in ((words, 1.0), (words.replace("welcome", "admitted"), 0.0), (longer, 1.0)):
        chunks = (Chunk("a", 0, kept, 0, len(kept)), Chunk("b", 0, words, 0, len(words)))
        query = asked(Span("b", 0, len(words)), hits=(("a", 0), ("b", 0)))
        (state,) = states(chunks, query, dedup_near=True)
        assert (state.share, state.stage) == (share, None if share else "deduplicate")


def test_any_one_of_alternatives_is_enough() -> None:
    chunks = page_chunks("a", offsets=False)
    choice = GoldChunk("a", 20, also=(GoldChunk("a", 3),))
    (found,) = states(chunks, asked(gold=(choice,)), expand_window=0)
    assert (found.state, found.share, found.chunk_indexes, found.others) == ("found", 1.0, (3,), (("a", 20),))
    (lost,) = states(chunks, asked(gold=(GoldChunk("a", 20, also=(GoldChunk("a", 21),)),)), expand_window=0)
    assert (lost.state, lost.stage) == ("lost", RETRIEVE)


def test_of_a_phrase_only_its_words_are_needed() -> None:
    chunks = page_chunks("a", offsets=False)
    query = asked(hits=(("a", 2), ("a", 3)), gold=(GoldChunk("a", 3, "hand", chunks[3].text[100:140]),))
    (state,) = states(chunks, query, expand_window=0)
    assert (state.state, state.share) == ("found", 1.0)


def test_evidence_whose_text_is_lost_is_never_held() -> None:
    chunks = page_chunks("a")
    lost = GoldChunk("a", 3, "hand", "what stood there", (), True)
    (state,) = states(chunks, asked(gold=(lost,)), expand_window=3)
    assert (state.state, state.share, state.place.gone, state.chunk_indexes) == ("lost", 0.0, "what stood there", ())
    (span,) = states(chunks, asked(Span("a", 645, 700, (), "what stood there", True)), expand_window=3)
    assert (span.state, span.place.gone, span.kind) == ("lost", "what stood there", "span")
    beside = states(chunks, asked(Span("a", 645, 700), gold=(lost,)), expand_window=0)
    assert [state.state for state in beside] == ["found", "lost"]


def test_an_alternative_that_is_lost_takes_nothing_away() -> None:
    choice = GoldChunk("a", 3, also=(GoldChunk("a", 9, text="went", lost=True),))
    assert [state.state for state in states(page_chunks("a"), asked(gold=(choice,)), expand_window=0)] == ["found"]
    span = Span("a", 645, 700, (Span("a", 0, 9, (), "went", True),))
    assert [state.state for state in states(page_chunks("a"), asked(span), expand_window=0)] == ["found"]


def test_the_words_on_labels_count_alternatives_and_what_is_lost() -> None:
    choice, lost = GoldChunk("a", 1, "hand", None, (GoldChunk("a", 2, "hand"),)), GoldChunk("a", 3, "hand", "x", (), True)
    said = labels_of([asked(gold=(choice,)), asked(gold=(lost,)), asked(gold=(GoldChunk("a", 4),))])
    assert said.startswith("3 questions by gold chunks (2 marked by hand)")
    assert said.endswith(
        "1 question with passages of which any one is enough, 1 question with a label whose text is lost, which counts as not found"
    )
