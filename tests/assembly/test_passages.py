"""Chunks next to each other: shared text once, nothing lost, nothing credited to a chunk that does not hold it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ctxasm.assembly.passages import Joined, join
from ctxasm.assembly.render import shown_tokens
from ctxasm.data.enrich.extractive import whole_document
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Chunk, Document
from ctxasm.text.chunk_facts import chunk_facts, own_share
from tests.examples import examples
from tests.strategies import COUNTER, KINDS_OF_OFFSETS, offsets_said

LAW = settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
DIFFERENT = "".join(chr(0x4E00 + at) for at in range(400))
"""No two characters alike: here nothing matches by chance."""
REPEATED = "De arts komt. " * 12 + "ab" * 40 + "\n" + "=" * 60 + " De arts komt om 9.30 uur. " * 5


def chunk(index: int, text: str, start: int | None = None, end: int | None = None) -> FetchedChunk:
    return FetchedChunk("d", index, text, start, end)


def placed(index: int, text: str, start: int, end: int) -> FetchedChunk:
    """A slice that says where it stands."""
    return chunk(index, text[start:end], start, end)


@st.composite
def chunkings(draw: st.DrawFn, text: str) -> list[FetchedChunk]:
    """Slices of `text`, most of them going on where the last one ended or before, with offsets of every kind."""
    chunks: list[FetchedChunk] = []
    index, low, high = 0, 0, draw(st.integers(1, 90))
    for _ in range(draw(st.integers(1, 7))):
        low, high = min(low, len(text) - 1), max(min(high, len(text)), min(low, len(text) - 1) + 1)
        start, end = offsets_said(draw(st.sampled_from(KINDS_OF_OFFSETS)), low, high)
        chunks.append(chunk(index, text[low:high], start, end))
        index += draw(st.sampled_from([1, 1, 1, 1, 1, 2]))
        how = draw(st.sampled_from(["overlaps", "overlaps", "nested", "touches", "gap", "before"]))
        if how == "nested":
            low = draw(st.integers(low, high - 1))
            high = draw(st.integers(low + 1, max(low + 1, high)))
        else:
            by = draw(st.integers(0, 60))
            low = {"overlaps": max(0, high - by), "touches": high, "gap": high + by, "before": max(0, low - by)}[how]
            high = max(low, high) + draw(st.integers(1, 90))
    return chunks


def stored(chunks: Sequence[FetchedChunk]) -> list[FetchedChunk]:
    """The chunks with the facts of load time."""
    return chunk_facts([Chunk(c.document_id, c.chunk_index, c.text, c.start, c.end) for c in chunks], COUNTER)


def passages_of(joined: Sequence[Joined]) -> list[list[Joined]]:
    passages: list[list[Joined]] = []
    for j in joined:
        if j.opens:
            passages.append([])
        passages[-1].append(j)
    return passages


def holds(joined: Sequence[Joined]) -> None:
    """What is stripped of a chunk stands straight before the rest of it, and is credited exactly where it stands."""
    for passage in passages_of(joined):
        shown, begins = "", {}
        for j in passage:
            begins[j.chunk.chunk_index] = len(shown)
            if j.start < j.end:
                assert shown.endswith(j.chunk.text[: j.start])
            shown += j.chunk.text[j.start : j.end]
        for j in passage:
            key = (j.chunk.document_id, j.chunk.chunk_index)
            credited = [
                (begins[other.chunk.chunk_index] + share.low - other.start, begins[other.chunk.chunk_index] + share.high - other.start)
                for other in passage
                for share in other.shares
                if share.key == key
            ]
            for other in passage:
                assert all(other.start <= share.low < share.high <= other.end for share in other.shares)
            stretch = [shown[low:high] for low, high in credited]
            assert "".join(stretch) == j.chunk.text[: j.start]
            # One stretch without a hole: it ends where the rest begins, or lies inside what was there before.
            assert all(one[1] == other[0] for one, other in pairwise(credited))
            assert not credited or credited[-1][1] <= begins[j.chunk.chunk_index]
            if j.start < j.end and credited:
                assert credited[-1][1] == begins[j.chunk.chunk_index]
            assert j.merged == (j.start >= len(j.chunk.text))
            assert not j.merged or j.into in [(other.chunk.document_id, other.chunk.chunk_index) for other in passage if other is not j]


@LAW
@given(
    st.sampled_from([DIFFERENT, REPEATED]).flatmap(chunkings), st.sampled_from([0, 5, 20]), st.booleans(), st.none() | st.integers(1, 60)
)
@example([placed(0, DIFFERENT, 0, 100), placed(1, DIFFERENT, 20, 60), chunk(2, DIFFERENT[50:150])], 5, True, None)
@example([placed(0, DIFFERENT, 0, 100), placed(1, DIFFERENT, 120, 150), placed(2, DIFFERENT, 110, 180)], 5, True, None)
@example(
    [placed(0, DIFFERENT, 0, 300), chunk(1, DIFFERENT[300:350]), placed(2, DIFFERENT, 100, 200), placed(3, DIFFERENT, 150, 400)],
    5,
    True,
    None,
)
def test_what_is_stripped_is_shown_right_before_and_credited_there(
    chunks: list[FetchedChunk], least: int, facts: bool, cut: int | None
) -> None:
    shortened = chunks[(cut or 0) % len(chunks)]
    ends = {} if cut is None else {shortened.chunk_index: min(cut, len(shortened.text))}
    joined = join(stored(chunks) if facts else chunks, least, ends)
    holds(joined)
    again = join(chunks if facts else stored(chunks), least, ends)
    holds(again)
    if own_share(chunks):
        return  # a load knows what these neighbours share as a rule, chunks that nobody loaded do not
    assert [j[1:7] for j in joined] == [j[1:7] for j in again]
    assert [[share[:3] for share in j.shares] for j in joined] == [[share[:3] for share in j.shares] for j in again]


@LAW
@given(chunkings(DIFFERENT), st.booleans())
def test_where_nothing_matches_by_chance_only_repeats_are_stripped(chunks: list[FetchedChunk], facts: bool) -> None:
    """Chunks that go on where others end, with whatever offsets: the passage holds every character of every chunk."""
    joined = join(stored(chunks) if facts else chunks, 0)
    for passage in passages_of(joined):
        shown = "".join(j.chunk.text[j.start : j.end] for j in passage)
        assert all(j.chunk.text in shown for j in passage)
    trusted = all(c.start == DIFFERENT.index(c.text[0]) and c.end == c.start + len(c.text) for c in chunks)
    starts = [c.start or 0 for c in chunks]
    if trusted and starts == sorted(starts):
        for passage in passages_of(joined):
            shown = "".join(j.chunk.text[j.start : j.end] for j in passage)
            assert len(set(shown)) == len(shown)


@LAW
@given(st.sampled_from([DIFFERENT, REPEATED]).flatmap(chunkings))
def test_a_document_put_together_holds_each_chunk_where_it_says(chunks: list[FetchedChunk]) -> None:
    whole = whole_document(Document("d"), stored(chunks))
    for part in whole.parts:
        assert whole.text[part.start : part.start + len(part.chunk.text)] == part.chunk.text


def test_a_chunk_without_offsets_behind_a_nested_one_keeps_what_only_that_one_showed() -> None:
    text = "De polikliniek is open op werkdagen. Bel voor een afspraak. Neem uw kaart mee. Meld u bij de balie. "
    follows = "Bel voor een afspraak. De wachttijd staat op het scherm."
    nested = [placed(0, text, 0, len(text)), placed(1, text, 0, text.index("Neem")), chunk(2, follows)]
    for chunks in (nested, stored(nested)):
        first, second, third = join(chunks, 20)
        assert (second.merged, third.start, third.merged) == (True, 0, False)
        assert [share.key for share in first.shares] == [("d", 1)]


def test_a_chunk_without_offsets_repeats_the_end_of_what_stands_before_it() -> None:
    chunks = [placed(0, DIFFERENT, 0, 100), placed(1, DIFFERENT, 20, 60), chunk(2, DIFFERENT[70:150])]
    for given_chunks in (chunks, stored(chunks)):
        first, second, third = join(given_chunks, 20)
        assert (second.into, third.start) == (("d", 0), 30)
        assert [share[:3] for share in first.shares] == [(20, 60, ("d", 1)), (70, 100, ("d", 2))]


def test_offsets_that_contradict_each_other_prove_nothing() -> None:
    first, second = placed(0, DIFFERENT, 0, 80), chunk(1, DIFFERENT[50:120], 50, 120)
    back = [first._replace(start=200, end=280), second]
    assert [j.start for j in join([first, second], 20)] == [j.start for j in join(back, 20)] == [0, 30]
    assert [j.start for j in join(stored(back), 20)] == [0, 30]


def test_a_missing_start_is_not_the_beginning_of_the_document() -> None:
    head = DIFFERENT[:60]
    chunks = [chunk(0, head, 0, 60), chunk(1, DIFFERENT[30:90], None, 90), chunk(2, head + DIFFERENT[200:260], None, 120)]
    for given_chunks in (chunks, stored(chunks)):
        assert [j.start for j in join(given_chunks, 20)] == [0, 30, 0]


def test_a_chunk_that_another_shows_takes_no_tokens_of_its_own() -> None:
    own = chunk(1, "The desk opens at nine.")._replace(token_count=7)
    assert shown_tokens(Joined(own, 0, len(own.text), True), COUNTER) == 7
    assert shown_tokens(Joined(own, 0, len(own.text), True, into=("a", 0)), COUNTER) == 0
    assert shown_tokens(Joined(own, 4, 4, True), COUNTER) == 0
    assert shown_tokens(Joined(own, 1, len(own.text), True), COUNTER) == COUNTER.count(own.text[1:]) != 7
