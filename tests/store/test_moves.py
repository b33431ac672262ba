"""Labels and hits follow their text when a dataset is replaced, in every kind of store; what is not found stays as lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ctxasm.model.characters import normalised, normalised_places
from ctxasm.model.datasets import Moves
from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Hit, LostHit, Query, Span
from ctxasm.store.database import Store
from ctxasm.store.moves import DocumentText, follow, old_texts
from tests.examples import examples

PARTS = ("Parking is free. ", "Visits start at 14:00. ", "Bring your pass. ", "The desk closes at 18:00. ", "Call 112 at night. ")
TEXT = "".join(PARTS)


def cut(text: str, size: int, overlap: int = 0, offsets: bool = True, name: str = "a") -> tuple[Chunk, ...]:
    lows = range(0, max(1, len(text) - overlap), size - overlap)
    places = [(low, min(len(text), low + size)) for low in lows]
    return tuple(Chunk(name, at, text[low:high], *((low, high) if offsets else (None, None))) for at, (low, high) in enumerate(places))


def whole(parts: tuple[str, ...], name: str = "a", offsets: bool = False) -> tuple[Chunk, ...]:
    """A chunk for each part."""
    low, chunks = 0, []
    for at, part in enumerate(parts):
        chunks.append(Chunk(name, at, part, *((low, low + len(part)) if offsets else (None, None))))
        low += len(part)
    return tuple(chunks)


def bundle(chunks: tuple[Chunk, ...]) -> Bundle:
    return Bundle("d", tuple(Document(name) for name in dict.fromkeys(chunk.document_id for chunk in chunks)), chunks)


def followed(query: Query, old: tuple[Chunk, ...], new: tuple[Chunk, ...], moves: Moves | None = None) -> Query:
    def of(chunks: tuple[Chunk, ...]):  # type: ignore[no-untyped-def]
        return lambda name: [chunk for chunk in chunks if chunk.document_id == name]

    (now,) = follow([query], old_texts([query], of(old)), of(new), moves or Moves())
    return now


@pytest.mark.parametrize("offsets", [True, False])
def test_labels_and_hits_follow_their_text_when_a_paragraph_is_put_before_it(store: Store, offsets: bool) -> None:
    store.add(bundle(whole(PARTS, offsets=offsets)))
    hits = (Hit("a", 1, 2.0, 1), Hit("a", 3, 1.0, 2))
    store.save_query("d", Query("When?", hits, "q", (GoldChunk("a", 1, "hand"),)))
    moves = Moves()
    store.add(bundle(whole(("New on top. ", *PARTS), offsets=offsets)), moves=moves)
    (now,) = store.saved_queries("d")
    assert now.gold == (GoldChunk("a", 2, "hand"),)
    assert now.retrieved == (Hit("a", 2, 2.0, 1), Hit("a", 4, 1.0, 2))
    assert now.lost_hits == ()
    assert moves.counts == {"label moved": 1, "hit moved": 2}
    assert moves.notes()[0] == "1 label followed its text to another chunk: 'q', a 1, now 2"
    assert store.dataset("d").query_list()[-1].hits == 2


def test_what_went_is_lost_with_its_text_and_found_again_when_it_is_back(store: Store) -> None:
    store.add(bundle(whole(PARTS)))
    query = Query("When?", (Hit("a", 1, 2.0, 1, {"bm25": 3.0}), Hit("a", 0, 1.0, 2)), "q", (GoldChunk("a", 1, "hand"),))
    store.save_query("d", query)
    moves = Moves()
    store.add(bundle(whole((PARTS[0], *PARTS[2:]))), moves=moves)
    (now,) = store.saved_queries("d")
    assert now.gold == (GoldChunk("a", 1, "hand", PARTS[1], (), True),)
    assert now.retrieved == (Hit("a", 0, 1.0, 2),)
    assert now.lost_hits == (LostHit(Hit("a", 1, 2.0, 1, {"bm25": 3.0}), PARTS[1]),)
    assert now.is_labelled
    assert now.lost_labels == now.gold
    assert moves.counts == {"label lost": 1, "hit lost": 1}
    assert "it counts as not found" in moves.notes()[0]
    assert "'q', a 1 ('Visits start at 14:00. ')" in moves.notes()[0]
    store.add(bundle(whole(("Top. ", *PARTS))), moves=(again := Moves()))
    (back,) = store.saved_queries("d")
    assert back.gold == (GoldChunk("a", 2, "hand"),)
    assert set(back.retrieved) == {Hit("a", 2, 2.0, 1, {"bm25": 3.0}), Hit("a", 1, 1.0, 2)}
    assert back.lost_hits == ()
    assert again.counts == {"label found": 1, "hit moved": 1, "hit found": 1}


def test_a_document_that_went_loses_its_labels_alone(store: Store) -> None:
    store.add(bundle((*whole(PARTS), *whole(PARTS[:2], "b"))))
    store.save_query("d", Query("When?", (), "q", (GoldChunk("b", 1), GoldChunk("a", 2)), (Span("b", 0, 4),)))
    store.save_query("d", Query("Why?", (), "other", (GoldChunk("a", 0),)))
    store.add(bundle(whole(PARTS)))
    first, second = store.saved_queries("d")
    assert [gold.lost for gold in first.gold] == [True, False]
    assert first.spans == (Span("b", 0, 4, lost=True),)
    assert second == Query("Why?", (), "other", (GoldChunk("a", 0),))


def test_a_label_that_is_not_touched_stays_the_very_same() -> None:
    chunks = whole((*PARTS, *PARTS), offsets=True)
    gold = (GoldChunk("a", 1), GoldChunk("a", 6, "hand", "14:00"), GoldChunk("a", 2, None, None, (GoldChunk("a", 3),)))
    query = Query("When?", (Hit("a", 6, 1.0),), "q", gold, (Span("a", 17, 23, (Span("a", 0, 5),)),))
    moves = Moves()
    assert followed(query, chunks, chunks, moves) is query
    assert moves == Moves()


@pytest.mark.parametrize("offsets", [True, False])
def test_a_merged_chunk_keeps_the_words_that_are_needed(offsets: bool) -> None:
    merged = whole((PARTS[0] + PARTS[1], PARTS[2]), offsets=offsets)
    now = followed(Query("When?", (Hit("a", 1, 1.0),), "q", (GoldChunk("a", 1, "hand"),)), whole(PARTS, offsets=offsets), merged)
    assert now.gold == (GoldChunk("a", 0, "hand", PARTS[1].strip()),)
    assert now.retrieved == (Hit("a", 0, 1.0),)


@pytest.mark.parametrize("offsets", [True, False])
def test_a_split_chunk_becomes_several_that_are_all_needed_and_one_hit(offsets: bool) -> None:
    old = whole(("Parking is free. ", "Visits start at 14:00 and end at 20:00 on all days. "), offsets=offsets)
    new = whole(("Parking is free. ", "Visits start at 14:00 and end ", "at 20:00 on all days. "), offsets=offsets)
    moves = Moves()
    now = followed(Query("When?", (Hit("a", 1, 1.0, 3),), "q", (GoldChunk("a", 1),)), old, new, moves)
    assert now.gold == (GoldChunk("a", 1), GoldChunk("a", 2))
    assert now.retrieved == (Hit("a", 1, 1.0, 3),)
    assert moves.counts == {"label moved": 1, "hit moved": 1}


def test_white_space_unicode_form_and_soft_hyphens_are_looked_past() -> None:
    old = whole(("Intro. ", "Het cafe\u0301 opent\num 9 uur. "))
    new = whole(("Other. ", "More. ", "Het  caf\u00e9 o\u00adpent um\u200b 9 uur."))
    assert followed(Query("?", (), "q", (GoldChunk("a", 1),)), old, new).gold == (GoldChunk("a", 2),)


def test_of_several_places_the_nearest_is_taken_and_said() -> None:
    old = whole(("One. ", "Open daily. ", "Two. ", "Open daily. ", "Three. "), offsets=True)
    new = whole(("Zero. ", "One. ", "Open daily. ", "Two. ", "Open daily. ", "Three. "), offsets=True)
    moves = Moves()
    assert followed(Query("?", (), "q", (GoldChunk("a", 3),)), old, new, moves).gold == (GoldChunk("a", 4),)
    assert moves.counts == {"label moved": 1, "label ambiguous": 1}
    assert "the nearest to its old place was taken: 'q', a 3, now 4 (2 times)" in moves.notes()[1]


def test_a_whole_chunk_is_found_before_the_same_words_inside_another() -> None:
    old = whole(("Opening hours", "We say more below. "))
    new = whole(("Our Opening hours are below. ", "Text. ", "Opening hours", "We say more below. "))
    assert followed(Query("?", (), "q", (GoldChunk("a", 0),)), old, new).gold == (GoldChunk("a", 2),)


def test_words_that_two_chunks_share_are_found_in_either() -> None:
    new = (Chunk("a", 0, "Top. Visits start at 14:00.", 0, 27), Chunk("a", 1, "Visits start at 14:00. Bring", 5, 33))
    now = followed(Query("?", (), "q", (GoldChunk("a", 1, "hand", "start at 14:00"),)), whole(PARTS, offsets=True), new)
    assert now.gold == (GoldChunk("a", 1, "hand", "start at 14:00", (GoldChunk("a", 0, "hand", "start at 14:00"),)),)


def test_spans_follow_their_characters() -> None:
    old, new = cut(TEXT, 20, 5), cut("A new first line. " + TEXT.replace("112", "911"), 33, 8)
    spans = (Span("a", 17, 39, (Span("a", 40, 55),)), Span("a", 83, 95, (Span("a", 0, 16),)))
    now = followed(Query("?", (), "q", (), spans), old, new)
    assert now.spans[0] == Span("a", 35, 57, (Span("a", 58, 73),))
    (found, lost) = now.spans[1].places
    assert (found.start, found.lost) == (18, False)
    assert (lost.text, lost.lost) == (TEXT[83:95], True)


def test_of_alternatives_the_ones_that_are_there_stand_first() -> None:
    choice = GoldChunk("a", 1, "hand", None, (GoldChunk("a", 3, "hand"),))
    now = followed(Query("?", (), "q", (choice,)), whole(PARTS), whole((PARTS[3], PARTS[0])))
    assert now.gold == (GoldChunk("a", 0, "hand", None, (GoldChunk("a", 1, "hand", PARTS[1], (), True),)),)
    assert now.gold[0].chunks == (("a", 0),)


def test_a_label_that_moved_counts_once_whatever_its_places() -> None:
    choice, moves = GoldChunk("a", 1, "hand", None, (GoldChunk("a", 3, "hand"),)), Moves()
    followed(Query("?", (), "q", (choice,)), whole(PARTS), whole(("New at the top.", *PARTS)), moves)
    assert moves.counts == {"label moved": 1}
    gone = Moves()
    followed(Query("?", (), "q", (choice,)), whole(PARTS), whole(("Nothing of it.",)), gone)
    assert gone.counts == {"label lost": 1}


def test_hits_that_meet_on_one_chunk_are_one() -> None:
    now = followed(Query("?", (Hit("a", 0, 2.0, 1), Hit("a", 1, 1.0, 2)), "q"), whole(PARTS), whole((TEXT,)))
    assert now.retrieved == (Hit("a", 0, 2.0, 1),)


def test_a_label_on_nothing_is_lost_without_a_text() -> None:
    now = followed(Query("?", (Hit("a", 77, 1.0),), "q", (GoldChunk("a", 99),)), whole(PARTS), whole(PARTS))
    assert now.gold == (GoldChunk("a", 99, lost=True),)
    assert now.lost_hits == (LostHit(Hit("a", 77, 1.0)),)


def test_a_saved_question_whose_id_came_with_the_load_is_kept_up_too(store: Store) -> None:
    store.add(bundle(whole(PARTS)))
    store.save_query("d", Query("When?", (), "q", (GoldChunk("a", 1),)))
    store.add(replace(bundle(whole(("Top. ", *PARTS))), queries=(Query("When?", (), "q", (GoldChunk("a", 0),)),)))
    assert store.dataset("d").queries() == [Query("When?", (), "q", (GoldChunk("a", 0),))]
    store.add(bundle(whole(("Top. ", *PARTS))))
    assert store.saved_queries("d") == [Query("When?", (), "q", (GoldChunk("a", 2),))]


def test_labels_of_every_form_are_stored_whole(store: Store) -> None:
    gold = (
        GoldChunk("a", 1, "hand", "14:00", (GoldChunk("a", 2, lost=True, text="x"),)),
        GoldChunk("a", 3, None, None, (GoldChunk("a", 0),)),
    )
    spans = (Span("a", 0, 4, (Span("a", 5, 6, (), "gone", True),)),)
    query = Query("When?", (), "q", gold, spans, lost_hits=(LostHit(Hit("a", 9, 1.0, 2, {"v": 0.5}), "went"),))
    store.add(replace(bundle(whole(PARTS)), queries=(query,)))
    assert store.dataset("d").queries() == [query]
    store.save_query("d", replace(query, query_id="mine"))
    assert store.saved_queries("d") == [replace(query, query_id="mine")]


@hypothesis_settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from(["aap ", "noot\n", "mies. ", "e\u0301n ", "wim\u00ad", "\u200b ", "x"]), min_size=1, max_size=30))
def test_normalised_characters_know_where_they_stand(words: list[str]) -> None:
    text = "".join(words)
    plain, places = normalised_places(text)
    assert plain == normalised(text)
    assert len(places) == len(plain) + 1
    assert places == sorted(places)
    assert all(normalised(text[place:]).startswith(char) for char, place in zip(plain, places, strict=False) if char != " ")


@hypothesis_settings(max_examples=examples(200), deadline=None)
@given(st.text("ab \n", min_size=1, max_size=60), st.integers(4, 30), st.integers(0, 3))
def test_a_document_cut_with_offsets_is_laid_out_as_it_was(text: str, size: int, overlap: int) -> None:
    document = DocumentText(cut(text, size, overlap))
    assert document.text == text
    assert all(document.text[laid.low : laid.high] == laid.chunk.text for laid in document.laid)


@hypothesis_settings(max_examples=examples(200), deadline=None)
@given(st.integers(20, 60), st.integers(20, 60), st.integers(0, 8), st.integers(0, 8), st.integers(0, 4), st.booleans())
def test_no_text_that_is_still_there_is_lost(was: int, size: int, had: int, overlap: int, index: int, offsets: bool) -> None:
    text = "".join(f"Sentence {n} says that room {n * 7} opens at {n} o'clock. " for n in range(9))
    old, new = cut(text, was, had, offsets), cut("Put before. " + text, size, overlap, offsets)
    now = followed(Query("?", (Hit("a", index, 1.0),), "q", (GoldChunk("a", index),)), old, new)
    assert not now.lost_labels
    assert not now.lost_hits
    held = {chunk.chunk_index: chunk.text for chunk in new}
    assert all(gold.text is None or gold.text in held[gold.chunk_index] for gold in now.gold)
    if offsets:
        starts = {gold: (new[gold.chunk_index].start or 0) + held[gold.chunk_index].find(gold.text or "") for gold in now.gold}
        shown = {at for gold, low in starts.items() for at in range(low, low + len(gold.text or held[gold.chunk_index]))}
        moved = len("Put before. ") + (old[index].start or 0)
        assert all(at in shown for at, char in enumerate(old[index].text, moved) if char != " ")
