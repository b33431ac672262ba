"""Shared text at its bounds: how much is stripped, what is only noted, and what is known of its tokens."""

from __future__ import annotations

import pytest

from ctxasm.assembly.passages import CUT, Piece, Share, body_of, join, whole_piece
from ctxasm.assembly.stages import Extract, KeptSpan, Part, cuts_head, cuts_tail, gap_between, pieces_of
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Chunk
from ctxasm.text.chunk_facts import chunk_facts, complete, with_counts
from tests.strategies import COUNTER

DIFFERENT = "".join(chr(0x4E00 + at) for at in range(400))
"""No two characters alike."""


def sharing(chars: int, offsets: bool = False, first: int = 100, index: int = 1) -> list[FetchedChunk]:
    """Two neighbours of which the second begins with so many characters that the first ends with."""
    low = first - chars
    ends = ((0, first), (low, 300)) if offsets else ((None, None), (None, None))
    return [FetchedChunk("d", 0, DIFFERENT[:first], *ends[0]), FetchedChunk("d", index, DIFFERENT[low:300], *ends[1])]


def test_more_than_the_least_is_stripped_and_the_least_is_not() -> None:
    kept, stripped = (join(sharing(chars), 15)[1] for chars in (15, 16))
    assert (kept.start, kept.note, kept.shared, kept.opens) == (0, "near_miss", 15, False)
    assert (stripped.start, stripped.note, stripped.shared, stripped.glued) == (16, None, 16, True)


@pytest.mark.parametrize("chars", [0, 1, 15, 16, 20, 99])
def test_what_offsets_tell_is_stripped_at_any_length(chars: int) -> None:
    second = join(sharing(chars, True), 15)[1]
    assert (second.start, second.note, second.shared, second.glued) == (chars, None, chars, True)


@pytest.mark.parametrize(("chars", "note"), [(7, None), (8, "near_miss")])
def test_a_match_of_eight_characters_is_noted(chars: int, note: str | None) -> None:
    second = join(sharing(chars), 15)[1]
    assert (second.start, second.note, second.shared, second.glued) == (0, note, chars, False)


def headed(bodies: list[tuple[int, int]], header: str = "# Rules\n\n") -> list[FetchedChunk]:
    return [FetchedChunk("d", n, header + DIFFERENT[low:high]) for n, (low, high) in enumerate(bodies)]


def test_a_header_on_every_chunk_is_shown_once_with_what_lies_behind_it() -> None:
    first, second, third = join(headed([(0, 100), (60, 160), (130, 200)]), 15)
    assert [(j.start, j.end, j.glued, j.simple) for j in (second, third)] == [(49, 109, True, False), (39, 79, True, False)]
    assert first.shares == (Share(69, 109, ("d", 1)), Share(0, 9, ("d", 1)), Share(0, 9, ("d", 2)))
    assert second.shares == (Share(79, 109, ("d", 2)),)


def test_a_header_stays_where_the_overlap_behind_it_is_short_and_where_it_stands_alone() -> None:
    assert [j.start for j in join(headed([(0, 100), (60, 160)]), 40)] == [0, 0]
    assert [j.start for j in join(headed([(0, 100), (100, 200)]), 15)] == [0, 0]
    assert [j.start for j in join(headed([(0, 100), (60, 160)])[1:], 15)] == [0]


def test_bodies_that_happen_to_begin_alike_do_not_hide_a_header() -> None:
    """Two of three begin alike behind their header: what they share of the header is no more than it."""
    bodies = ["Bikes are lent. A deposit of forty euros is paid. ", "A deposit of forty euros is paid. A helmet is free of charge. "]
    chunks = [FetchedChunk("d", n, "# Rules\n" + text) for n, text in enumerate([*bodies, "A helmet is free of charge. Closed."])]
    joined = join(chunks, 15)
    assert "".join(j.chunk.text[j.start : j.end] for j in joined) == f"# Rules\n{bodies[0]}A helmet is free of charge. Closed."
    assert joined[0].shares[1:] == (Share(0, 8, ("d", 1)), Share(0, 8, ("d", 2)))


def test_a_chunk_cut_inside_its_header_shows_nothing_twice() -> None:
    chunks = headed([(0, 100), (60, 160)])
    second = join(chunks, 15, {1: 4})[1]
    assert (second.start, second.end) == (4, 4)


def test_a_match_of_more_than_half_is_chance() -> None:
    assert [join(sharing(chars), 15)[1][5:7] for chars in (50, 51)] == [(None, 50), ("coincidence", 51)]
    assert [join(sharing(51), least)[1].note for least in (50, 51)] == ["coincidence", "near_miss"]


def test_a_hole_a_cut_and_a_broken_seam_open_a_passage() -> None:
    assert [j.opens for j in join(sharing(20), 15)] == [True, False]
    assert [j.opens for j in join(sharing(20, index=2), 15)] == [True, True]
    assert [(j.opens, j.start, j.end) for j in join(sharing(20), 15, {0: 99})] == [(True, 0, 99), (True, 0, 220)]
    assert [(j.opens, j.start, j.end) for j in join(sharing(20), 15, {0: 100, 1: 30})] == [(True, 0, 100), (False, 20, 30)]
    first, second = sharing(20)
    assert [j.opens for j in join([first, second._replace(overlap_kind=CUT)], 15)] == [True, True]


def test_a_chunk_that_lies_wholly_in_the_one_before_it_is_merged_and_credited_there() -> None:
    outer, inner, after = (FetchedChunk("d", n, DIFFERENT[a:b], a, b) for n, (a, b) in enumerate([(0, 100), (40, 80), (90, 200)]))
    one, two, three = join([outer, inner, after], 15)
    assert (two.start, two.end, two.into, two.merged) == (40, 40, ("d", 0), True)
    assert (three.start, three.glued, three.merged) == (10, True, False)
    assert [share[:3] for share in one.shares] == [(40, 80, ("d", 1)), (90, 100, ("d", 2))]


def test_a_head_that_two_chunks_show_is_credited_to_both() -> None:
    first, second, third = (FetchedChunk("d", n, DIFFERENT[a:b], a, b) for n, (a, b) in enumerate([(0, 100), (70, 110), (80, 200)]))
    joined = join([first, second, third], 5)
    assert [(j.start, j.end) for j in joined] == [(0, 100), (30, 40), (30, 120)]
    assert [share[:3] for share in joined[0].shares] == [(70, 100, ("d", 1)), (80, 100, ("d", 2))]
    assert [share[:3] for share in joined[1].shares] == [(30, 40, ("d", 2))]


def test_the_counts_of_a_piece_are_those_that_are_known() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve. "
    chunks = chunk_facts([Chunk("d", 0, text, 0, 64), Chunk("d", 1, text[30:] + "And so on it goes.", 30, 82)], COUNTER)
    first, second = join(chunks, 5)
    assert second.simple
    assert (whole_piece(first, False).own, whole_piece(first, False).growth) == (COUNTER.count(text), None)
    stripped = whole_piece(second, True)
    assert (stripped.own, stripped.growth) == (None, COUNTER.count(chunks[1].text) - COUNTER.count(text[30:]))
    assert (whole_piece(second, False).own, whole_piece(second, False).growth) == (None, None)
    cut = join(chunks, 5, {1: 50})[1]
    assert (whole_piece(cut, True).own, whole_piece(cut, True).growth, whole_piece(cut, True).high) == (None, None, 50)
    head = join(chunks, 5, {0: 10})[0]
    assert (whole_piece(head, False).own, whole_piece(head, False).text) == (None, text[:10])


def texts(pieces: list[Piece]) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in pieces]


@pytest.mark.parametrize(
    ("one", "other", "between"),
    [("abc", "def", [("separator", "\n")]), ("abc ", "def", []), ("abc", " def", [])],
)
def test_neighbours_that_share_nothing_stand_on_lines_of_their_own(one: str, other: str, between: list[tuple[str, str]]) -> None:
    pieces, events = body_of("d", join([FetchedChunk("d", 0, one), FetchedChunk("d", 1, other)], 15), "[…]", COUNTER, False)
    assert texts(pieces) == [("chunk", one), *between, ("chunk", other)]
    assert events == []


@pytest.mark.parametrize(
    ("one", "mark", "gap"), [("abc", "[…]", "\n[…]\n"), ("abc\n", "[…]", "[…]\n"), ("abc", " ", "\n"), ("abc\n", "", "")]
)
def test_a_gap_stands_on_its_own_line(one: str, mark: str, gap: str) -> None:
    pieces, events = body_of("d", join([FetchedChunk("d", 0, one), FetchedChunk("d", 2, "def")], 15), mark, COUNTER, False)
    assert texts(pieces) == [("chunk", one), ("gap", gap), ("chunk", "def")]
    assert [event.chunk_index for event in events] == [2]


def test_any_part_of_an_extract_is_led_back_to_its_place() -> None:
    extract = Extract("extractive", (KeptSpan(10, 20), KeptSpan(30, 35)))
    gap = len(gap_between("[…]"))
    assert (gap, len(gap_between(""))) == (5, 1)
    assert pieces_of(extract, "[…]", 0, 20) == [Part(0, 10, 10, 20), Part(10, 15), Part(15, 20, 30, 35)]
    assert pieces_of(extract, "[…]", 0, 10) == [Part(0, 10, 10, 20)]
    assert pieces_of(extract, "[…]", 9, 11) == [Part(9, 10, 19, 20), Part(10, 11)]
    assert pieces_of(extract, "[…]", 15, 17) == [Part(15, 17, 30, 32)]
    assert pieces_of(extract, "[…]", 12, 16) == [Part(12, 15), Part(15, 16, 30, 31)]
    assert pieces_of(Extract("rewritten", words="abc"), "[…]", 0, 3) == [Part(0, 3)]
    assert pieces_of(Extract("rewritten", words="abc"), "[…]", 3, 3) == []


def test_whether_an_extract_left_out_something_before_or_behind_it() -> None:
    text = " a bc d "
    whole = Extract("extractive", (KeptSpan(1, 7),))
    assert (cuts_head(text, whole), cuts_tail(text, whole)) == (False, False)
    inner = Extract("extractive", (KeptSpan(3, 4), KeptSpan(4, 7)))
    assert (cuts_head(text, inner), cuts_tail(text, inner)) == (True, False)
    early = Extract("extractive", (KeptSpan(0, 2), KeptSpan(3, 4)))
    assert (cuts_head(text, early), cuts_tail(text, early)) == (False, True)
    assert (cuts_head(text, Extract("extractive")), cuts_tail(text, Extract("extractive"))) == (True, True)
    assert (cuts_head(" ", Extract("extractive")), cuts_tail(" ", Extract("extractive"))) == (False, False)
    assert (cuts_head("", Extract("rewritten")), cuts_tail("", Extract("rewritten"))) == (True, True)


def test_facts_are_told_of_neighbours_only() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve. "
    facts = chunk_facts([Chunk("d", 0, text), Chunk("d", 2, text[30:] + "x"), Chunk("d", 3, "x" + text)], COUNTER)
    assert [(fact.overlap_chars, fact.overlap_kind) for fact in facts] == [(None, None), (None, None), (1, "text")]
    assert [fact.token_count for fact in facts] == [COUNTER.count(fact.text) for fact in facts]


def test_a_shared_head_is_counted_once_and_the_counts_come_out() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve. "
    chunks = [Chunk("d", 0, text, 0, 64), Chunk("d", 1, text[30:] + "And so on it goes.", 30, 82), Chunk("d", 2, "on it goes. End", 71, 86)]
    facts = chunk_facts(chunks, COUNTER)
    assert [fact.token_count for fact in facts] == [COUNTER.count(chunk.text) for chunk in chunks]
    assert [fact.overlap_tokens for fact in facts] == [None, COUNTER.count(text[30:]), COUNTER.count("on it goes.")]
    assert [fact.lead_tokens for fact in facts] == [None, COUNTER.count(text[:30]), COUNTER.count(chunks[1].text[:41])]
    bare = [FetchedChunk(*fact[:8]) for fact in facts]
    assert [fact[8:12] for fact in complete(bare, COUNTER)] == [fact[8:12] for fact in facts]
    assert complete(facts, COUNTER) is facts
    apart = complete([bare[0], bare[2]], COUNTER)
    assert [fact.overlap_kind for fact in apart] == [None, None]
    assert with_counts([], COUNTER) == []
    assert chunk_facts([], COUNTER) == []
    assert [fact.token_count for fact in chunk_facts(chunks, None)] == [None, None, None]


def test_the_end_of_a_document_is_not_the_head_of_the_next() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve. "
    one = FetchedChunk("d", 0, text, overlap_kind="none", overlap_chars=0)
    other = FetchedChunk("e", 1, text[30:] + "x", overlap_chars=34, overlap_kind="text")
    counted = with_counts([one, other], COUNTER)
    assert [chunk.token_count for chunk in counted] == [COUNTER.count(one.text), COUNTER.count(other.text)]
    assert counted[1].overlap_tokens is None


def parts(pieces: list[Piece]) -> list[tuple[int | None, int | None, int | None, tuple[tuple[str, int], ...]]]:
    return [(piece.chunk_index, piece.low, piece.high, piece.shared_with) for piece in pieces]


def test_a_piece_says_which_chunks_hold_it_too() -> None:
    first, second, third = (FetchedChunk("d", n, DIFFERENT[a:b], a, b) for n, (a, b) in enumerate([(0, 100), (70, 110), (80, 200)]))
    pieces, _ = body_of("d", join([first, second, third], 5), "[…]", COUNTER, True)
    assert parts(pieces) == [
        (0, 0, 70, ()),
        (0, 70, 80, (("d", 1),)),
        (0, 80, 100, (("d", 1), ("d", 2))),
        (1, 30, 40, (("d", 2),)),
        (2, 30, 120, ()),
    ]
    outer, inner = (FetchedChunk("d", n, DIFFERENT[a:b], a, b) for n, (a, b) in enumerate([(0, 100), (40, 80)]))
    pieces, _ = body_of("d", join([outer, inner], 5), "[…]", COUNTER, True)
    assert parts(pieces) == [(0, 0, 40, ()), (0, 40, 80, (("d", 1),)), (0, 80, 100, ())]
    outer, inner = (FetchedChunk("d", n, DIFFERENT[a:b], a, b) for n, (a, b) in enumerate([(0, 100), (0, 100)]))
    pieces, _ = body_of("d", join([outer, inner], 5), "[…]", COUNTER, True)
    assert parts(pieces) == [(0, 0, 100, (("d", 1),))]


def test_both_parts_of_a_chunk_that_goes_on_in_the_next_are_counted() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve. "
    second, last = text[30:] + "And so on it goes. But not for ever. ", "But not for ever. At last."
    chunks = [Chunk("d", 0, text, 0, 64), Chunk("d", 1, second, 30, 101), Chunk("d", 2, last, 83, 109)]
    pieces, _ = body_of("d", join(chunk_facts(chunks, COUNTER), 5), "[…]", COUNTER, True)
    count = COUNTER.count
    assert [(piece.text, piece.own, piece.growth) for piece in pieces] == [
        (text[:30], count(text[:30]), None),
        (text[30:], None, count(text) - count(text[:30])),
        ("And so on it goes. ", None, count(second[:53]) - count(text[30:])),
        ("But not for ever. ", None, count(second) - count(second[:53])),
        ("At last.", None, count(last) - count("But not for ever. ")),
    ]
