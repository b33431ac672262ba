"""The law of streaming: any split of an answer gives the events, places and hold of the whole answer.

`CTXASM_LAW_EXAMPLES=100000 pytest tests/citations/test_markers_law.py` for the long run.
"""

from __future__ import annotations

import codecs
from itertools import pairwise

import pytest

from ctxasm.citations.markers import MarkerEvent, MarkerParser
from ctxasm.text.markers.grammar import HELD_CHARS, LINK_CHARS
from tests.citations.marker_soup import CUTS, SOUP, law


def streamed(answer: str, cuts: list[int]) -> tuple[list[MarkerEvent], list[MarkerEvent], str, int]:
    """Events, listed entries and text of an answer fed in pieces, and the most characters that were undecided."""
    parser, events, held = MarkerParser(), list[MarkerEvent](), 0
    places = sorted({0, len(answer), *(cut % (len(answer) + 1) for cut in cuts)})
    for low, high in pairwise(places):
        events += parser.feed(answer[low:high])
        events += parser.feed(None) + parser.feed("")
        held = max(held, len(parser.text) - parser.decided)
    events += parser.finish()
    return events, parser.listed, parser.text, held


@law(SOUP, CUTS)
def test_any_split_gives_the_same_events_and_text(answer, cuts):
    whole = streamed(answer, [])
    pieces = streamed(answer, cuts)
    assert pieces[:3] == whole[:3]
    assert pieces[2] == answer
    assert pieces[3] <= (LINK_CHARS if "](" in answer else HELD_CHARS)


@law(SOUP)
def test_one_character_at_a_time_gives_the_same_events(answer):
    whole, single = streamed(answer, []), streamed(answer, list(range(len(answer))))
    assert single[:3] == whole[:3]
    assert single[3] <= (LINK_CHARS if "](" in answer else HELD_CHARS)


@law(SOUP, CUTS)
def test_splits_inside_bytes_of_a_character_give_the_same_events(answer, cuts):
    data = answer.encode()
    decoder, parser, events = codecs.getincrementaldecoder("utf-8")(), MarkerParser(), list[MarkerEvent]()
    for low, high in pairwise(sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})):
        events += parser.feed(decoder.decode(data[low:high]))
    events += parser.feed(decoder.decode(b"", final=True)) + parser.finish()
    assert (events, parser.listed, parser.text) == streamed(answer, [])[:3]


@law(SOUP)
def test_events_are_slices_in_order(answer):
    place = 0
    for marker in streamed(answer, [])[0]:
        assert place <= marker.start < marker.end
        assert answer[marker.start : marker.end] == marker.text
        place = marker.end


def drained(parser: MarkerParser, *pieces: str | None) -> list[tuple[int, ...]]:
    return [marker.numbers for piece in pieces for marker in parser.feed(piece)] + [marker.numbers for marker in parser.finish()]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (("Open [", "1", "]", "."), [(1,)]),
        (("Open [1",), []),
        (("Open [1]",), [(1,)]),
        (("Open [1](https://x.exa",), [(1,)]),
        (("Open [1](https://x.exa", "mple)[2]"), [(1,), (2,)]),
        (("Open <ci", "te id=", '"1">', "x</cite>"), [(1,)]),
        (("Open <sup>1</s",), []),
        (("", None, "[1]", "", None, "[2]"), [(1,), (2,)]),
        ((), []),
        ((None,), []),
        (("[", "1" * 40, "1" * 40, "] [2]"), [(2,)]),
        (("`", "``\n[1]\n", "``", "`\n[2]"), [(2,)]),
        (("<thi", "nk>[1]</th", "ink>[2]"), [(2,)]),
        (("Open\r", "\n[1]\r", "\n"), [(1,)]),
        (("x", "_", "[1]"), []),
        (("\\", "[1]"), []),
        (("[1]", ": https://x.example\n[2]"), [(2,)]),
    ],
)
def test_stream_cases(pieces: tuple[str | None, ...], expected: list[tuple[int, ...]]) -> None:
    assert drained(MarkerParser(), *pieces) == expected
    assert drained(MarkerParser(), "".join(piece or "" for piece in pieces)) == expected


def test_a_marker_is_told_as_soon_as_it_is_certain() -> None:
    parser = MarkerParser()
    assert parser.feed("Open [1]") == ()
    (event,) = parser.feed(" ")
    assert (event.start, event.end, parser.decided) == (5, 8, 9)
