"""How long the overlap of two neighbours is, with and without offsets, also on text made to be slow."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxasm.model.records import Chunk
from ctxasm.text.chunk_facts import chunk_facts
from ctxasm.text.overlap import Overlap, common_head, matched, overlap_of, touching, usual_share
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


WINDOWS = [f"{text} " for text in ("Open at nine.", "Bikes are lent for two weeks.", "A deposit is paid.", "Helmets are free.")]
WINDOWS += [f"{text} " for text in ("Seats cost two euros.", "Closed on Mondays.")]


def windows(size: int, header: str = "") -> list[Chunk]:
    return [chunk(header + "".join(WINDOWS[at : at + size]), index=at) for at in range(len(WINDOWS) - size + 1)]


@pytest.mark.parametrize("header", ["", "[Rules] Library:\n", "# Rules\n\n", "Rules > Bikes: "])
@pytest.mark.parametrize("size", [3, 4])
def test_what_neighbours_share_as_a_rule_explains_a_long_match(size: int, header: str) -> None:
    chunks = windows(size, header)
    found = chunk_facts(chunks, None)
    shown = [chunks[0].text, *(second.text[second.overlap_chars :] for second in found[1:])]
    assert "".join(shown) == header + "".join(WINDOWS)
    assert {second.overlap_kind for second in found[1:]} == {"header" if header else "text"}


def test_one_pair_makes_no_rule_and_half_of_the_pairs_do() -> None:
    sliding = list(pairwise(windows(4)))
    apart = [(chunk("A closed shed."), chunk("An open gate."))]
    assert usual_share(sliding[:1]) == usual_share(sliding[:1] + apart) == usual_share([]) == 0
    assert 0.5 < usual_share(sliding + apart) == usual_share(sliding)
    assert matched("x" * 10 + WINDOWS[1], WINDOWS[1] + "y").kind == "coincidence"
    assert matched("x" * 10 + WINDOWS[1], WINDOWS[1] + "y", 0.38) == Overlap(len(WINDOWS[1]), "text")
    assert matched("x" * 10 + WINDOWS[1], WINDOWS[1] + "y", 0.37).kind == "coincidence"


def test_a_header_on_every_chunk_makes_no_rule() -> None:
    pairs = list(pairwise([chunk("A licence of some length, twice the same.\n" * 2 + text) for text in WINDOWS]))
    assert usual_share(pairs) == 0
    assert {matched(first.text, second.text).kind for first, second in pairs} <= {"none", "text"}


def test_text_that_repeats_itself_makes_no_rule_and_is_cut_at_what_is_usual_in_its_own_document() -> None:
    table, more = "Opening hours\n" + ROW * 7, ROW * 9 + "Closed on Sunday."
    assert usual_share([(chunk(table), chunk(more))] * 5) == 0
    assert matched(table, more, 0.9).kind == "coincidence"
    assert matched(table, more, 0.9, 0.5) == Overlap(3 * len(ROW), "text")
    assert matched("..." + ROW * 7, more).kind == "coincidence"


@pytest.mark.parametrize("before", ["...", "…", " … ", '"...', "(…) ", "[…]\n"])
def test_an_ellipsis_says_that_the_first_is_printed_in_part(before: str) -> None:
    shared = "The deposit is forty euros."
    assert matched(before + shared, shared + " It is paid at the counter.") == Overlap(len(shared), "text")
    assert matched("Yes" + shared, shared + " It is paid at the counter.").kind == "coincidence"


@given(st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_how_much_two_texts_begin_with_alike(first: str, second: str) -> None:
    alike = (n for n in range(len(first), -1, -1) if first[:n] == second[:n])
    assert common_head(first, second) == next(alike)


def real_pairs() -> Iterator[list[tuple[Chunk, Chunk]]]:
    """The neighbours of each document of the real bundles, with their offsets."""
    for name in ("chunkeval", "codebase", "debfaq-nl", "andocs"):
        documents: dict[str, list[Chunk]] = {}
        for one in load_real(name).chunks:
            documents.setdefault(one.document_id, []).append(one)
        for own in documents.values():
            ordered = pairwise(sorted(own, key=lambda c: c.chunk_index))
            yield [(a, b) for a, b in ordered if a.chunk_index + 1 == b.chunk_index and a.start is not None]


def hidden(one: Chunk) -> Chunk:
    return Chunk(one.document_id, one.chunk_index, one.text)


class Tally:
    """Characters of text lost, pairs that lose some, and true overlaps of more than 20 characters that are not (wholly) left out."""

    def __init__(self) -> None:
        self.pairs = self.lost = self.losing = self.repeats = 0

    def add(self, chars: int, true: int) -> None:
        chars = chars if chars > 20 else 0
        self.pairs += 1
        self.lost += max(0, chars - true)
        self.losing += chars > true
        self.repeats += true > 20 and chars < true

    def __str__(self) -> str:
        return f"{self.lost:,} in {self.losing:,} / {self.repeats:,}"


def tallied(documents: Iterable[list[tuple[Chunk, Chunk, int]]]) -> dict[str, Tally]:
    """What the longest match, half of the first, and the rule of today make of neighbours without offsets whose overlap is known."""
    found = {name: Tally() for name in ("longest", "half", "usual")}
    dataset = list(documents)
    in_dataset = usual_share((first, second) for pairs in dataset for first, second, _ in pairs)
    for pairs in dataset:
        own = usual_share((first, second) for first, second, _ in pairs)
        for first, second, true in pairs:
            longest = matched(first.text, second.text).chars
            found["longest"].add(longest, true)
            found["half"].add(longest if longest * 2 <= len(first.text) else 0, true)
            now = matched(first.text, second.text, own or in_dataset, own)
            found["usual"].add(now.chars if now.kind in ("text", "header") else 0, true)
    return found


@pytest.mark.skipif(real_folder() is None, reason="the folder with real bundles is not beside the project (set CTXASM_DATA)")
def test_real_neighbours_with_their_offsets_hidden():
    """On real pairs nothing that is not shared is stripped: no header is seen where there is none, and no rule where there is none."""
    documents = [[(hidden(a), hidden(b), overlap_of(a, b).chars) for a, b in pairs] for pairs in real_pairs()]
    found = tallied(documents)
    assert found["usual"].pairs > 3000
    assert found["longest"].lost > 7000
    assert (found["usual"].lost, found["half"].lost) == (0, 0)
    assert found["usual"].repeats < found["half"].repeats <= 7


def windows_of(text: str, size: int, share: float) -> list[tuple[Chunk, Chunk, int]]:
    """A text in windows of `size` characters, each sharing this share with the one before, and what it shares."""
    step = round(size * (1 - share))
    starts = range(0, max(1, len(text) - size + step), step)
    cut = [Chunk("d", n, text[at : at + size]) for n, at in enumerate(starts)]
    return [(a, b, min(size - step, len(b.text))) for a, b in pairwise(cut)]


def real_texts() -> Iterator[str]:
    """The documents of the real bundles, put together from their chunks."""
    for pairs in real_pairs():
        text = pairs[0][0].text if pairs else ""
        for first, second in pairs:
            text += second.text[overlap_of(first, second).chars :]
        yield text


@pytest.mark.skipif(real_folder() is None, reason="the folder with real bundles is not beside the project (set CTXASM_DATA)")
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.75])
def test_sliding_windows_of_real_documents(share: float) -> None:
    """In chunks of 1,400 characters. Where most pairs share more than half, that is the rule; the rest of the loss is of short repeats."""
    found = tallied(windows_of(text, 1400, share) for text in real_texts())
    assert found["usual"].lost <= min(found["longest"].lost, max(found["half"].lost, 400))
    assert found["usual"].repeats <= found["usual"].pairs // 500
    assert share < 0.5 or found["half"].repeats == found["half"].pairs


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
