"""How long the overlap of two neighbours is, with and without offsets, also on text made to be slow."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxasm.model.records import Chunk
from ctxasm.text.overlap import Overlap, matched, overlap_of, touching
from tests.growth import is_linear
from tests.real_data import load_real, real_folder


def chunk(text, start=None, index=0):
    return Chunk("d", index, text, start, None if start is None else start + len(text))


def plain(first: str, second: str) -> int:
    return next((n for n in range(min(len(first), len(second)), 0, -1) if first.endswith(second[:n])), 0)


@given(st.text("ab", max_size=80), st.text("ab", max_size=80))
def test_the_match_is_the_longest_suffix_that_is_a_prefix(first, second):
    assert matched(first, second).chars == plain(first, second)


@given(st.text("abc ", max_size=60), st.text("abc ", min_size=1, max_size=60), st.text("abc ", max_size=60))
def test_longer_than_half_of_the_first_is_a_coincidence(before, shared, after):
    found = matched(before + shared, shared + after)
    assert (found.kind == "coincidence") == (found.chars * 2 > len(before + shared))


def test_offsets_say_it_where_they_can_be_trusted():
    text = "De raadpleging duurt 30 minuten. " * 4
    assert overlap_of(chunk(text[:80], 0), chunk(text[60:120], 60)) == Overlap(20, "offsets")
    assert overlap_of(chunk(text[:66], 0), chunk(text[66:], 66)) == Overlap(0, "offsets")
    assert overlap_of(chunk(text[:80], 0), chunk(text[20:60], 20)) == Overlap(40, "offsets")


def test_offsets_that_lie_are_not_believed():
    assert overlap_of(chunk("abcdefgh", 0), chunk("ghxxxx", 4)) == Overlap(2, "text")


@pytest.mark.parametrize(("start", "end"), [(None, 6), (0, None), (0, 5), (0, 7)])
def test_offsets_of_one_chunk_alone_prove_nothing(start, end):
    half = Chunk("d", 1, "ghijkl", start, end)
    assert overlap_of(chunk("abcdefgh", 0), half) == Overlap(2, "text")
    assert overlap_of(Chunk("d", 0, "efghgh", start, end), chunk("ghijkl", 6)) == Overlap(2, "text")


def test_a_second_chunk_that_begins_before_the_first_is_judged_by_its_text():
    assert overlap_of(chunk("abcdefgh", 40), chunk("ghijkl", 6)) == Overlap(2, "text")
    assert overlap_of(chunk("abcdefgh", 40), chunk("xyz", 6)) == Overlap(0, "none")


ROW = "| 07:00 | open |\n"
CODE = "if __name__ == '__main__':\n    main()\n"


@pytest.mark.parametrize(
    ("first", "second", "true"),
    [
        # A table whose rows are alike: a true overlap of two rows, and a match of seven.
        ("Opening hours\n" + ROW * 7, ROW * 9 + "Closed on Sunday.", 2 * len(ROW)),
        # The same lines of program text at the end of one chunk and at the start of the next, which is another file's.
        ("import main\n" + CODE, CODE + "import other\n", 0),
    ],
)
def test_a_match_that_is_longer_than_half_is_a_coincidence_unless_offsets_say_how_long_it_is(first, second, true):
    assert overlap_of(chunk(first, 0), chunk(second, len(first) - true)) == Overlap(true, "offsets")
    assert plain(first, second) > true
    assert overlap_of(chunk(first), chunk(second)) == Overlap(plain(first, second), "coincidence")


@pytest.mark.parametrize("piece", ["a", "ab", "\n", "=" * 7 + " "])
def test_repetitive_text_takes_linear_time(piece):
    text = piece * (400_000 // len(piece))
    assert is_linear(lambda part: matched("x" + part, part + "y"), text)


@pytest.mark.skipif(real_folder() is None, reason="the folder with real bundles is not beside the project (set CTXASM_DATA)")
def test_real_neighbours_with_their_offsets_hidden():
    """On real pairs the half-of-the-first rule never strips text that is not shared."""
    pairs = lost = repeats = 0
    for name in ("chunkeval", "codebase", "debfaq-nl", "andocs"):
        chunks = {(c.document_id, c.chunk_index): c for c in load_real(name).chunks}
        for (document_id, index), first in chunks.items():
            second = chunks.get((document_id, index + 1))
            if second is None or first.start is None:
                continue
            true = overlap_of(first, second)
            assert true.kind == "offsets"
            guess = matched(first.text, second.text)
            chars = guess.chars if guess.kind == "text" and guess.chars > 20 else 0
            pairs += 1
            lost += max(0, chars - true.chars)
            repeats += true.chars > 20 and chars < true.chars
    assert pairs > 3000
    assert lost == 0
    assert repeats <= 7


@pytest.mark.skipif(real_folder() is None, reason="the folder with real bundles is not beside the project (set CTXASM_DATA)")
@pytest.mark.parametrize(("bundle", "document", "first", "chars"), [("codebase", "doc_21", 1, 0), ("andocs", "an-19", 7, 322)])
def test_real_pairs_that_fool_the_plain_rule(bundle, document, first, chars):
    chunks = {(c.document_id, c.chunk_index): c for c in load_real(bundle).chunks}
    one, two = chunks[document, first], chunks[document, first + 1]
    assert overlap_of(one, two) == Overlap(chars, "offsets")
    assert plain(one.text, two.text) > chars
    assert matched(one.text, two.text).kind == "coincidence"


def test_a_match_of_exactly_half_is_an_overlap() -> None:
    assert matched("abcd", "cdxx") == Overlap(2, "text")
    assert matched("abcd", "bcdx") == Overlap(3, "coincidence")


@pytest.mark.parametrize("length", [1, 2, 19, 20, 21, 22, 23])
def test_a_match_about_as_long_as_the_needle_is_found_whole(length: int) -> None:
    shared = "abcdefghijklmnopqrstuvwxyz"[:length]
    assert matched("-" * 60 + shared, shared + "=" * 60) == Overlap(length, "text")
    assert matched(shared, shared) == Overlap(length, "coincidence")


def test_chunks_touch_where_one_begins_at_the_end_of_the_other() -> None:
    assert touching(chunk("abcd", 0), chunk("efgh", 4))
    assert not touching(chunk("abcd", 0), chunk("efgh", 5))
    assert not touching(chunk("abcd", 0), chunk("efgh"))


@given(st.text("ab", min_size=21, max_size=90), st.text("ab", min_size=21, max_size=90))
@example("b" + "a" * 41 + "b", "b" + "a" * 43)
def test_repetitive_text_matches_the_plain_way(first: str, second: str) -> None:
    """Long enough for the way that is for repetitive text only."""
    assert matched("a" * 40 + first, "a" * 40 + second).chars == plain("a" * 40 + first, "a" * 40 + second)
