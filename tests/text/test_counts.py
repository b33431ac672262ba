"""The law of cheap counting: whatever is added, the total is tiktoken's count of the whole text."""

from functools import cache

import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.text.tokens import open_counter
from ctxasm.text.tokens.counter import LONGEST_RUN, ExactCounter, has_blank_run
from ctxasm.text.tokens.vocabulary import load_encoding
from tests.examples import examples
from tests.growth import is_linear


@cache
def counters() -> list[ExactCounter]:
    """Of each family of rules one. r50k's are tried on a vocabulary that is at hand: its own splitting pattern with cl100k's merges."""
    cl100k, o200k = load_encoding("cl100k_base"), load_encoding("o200k_base")
    r50k = tiktoken.Encoding(
        "r50k_like",
        pat_str=r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
        mergeable_ranks=cl100k._mergeable_ranks,
        special_tokens={},
    )
    return [ExactCounter(encoding) for encoding in (cl100k, o200k, r50k)]


ATOMS = st.sampled_from(
    [
        "a",
        "Z",
        "é",
        "ß",
        "ij",
        "的",
        "日本",
        "م",
        "ر",
        "अ",
        "ि",
        "́",
        "🙂",
        "👩‍👩‍👧",
        "🇳🇱",
        "1",
        "42",
        "½",
        "Ⅷ",
        "٣",
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\x0b",
        "\x0c",
        "\x85",
        "\xa0",
        "\u2028",
        "\u3000",
        "\u200b",
        "\ufeff",
        "\x00",
        "\x1c",
        "\x1f",
        ".",
        ",",
        "!",
        "'",
        "’",
        "'s",
        "'LL",
        "'ſ",
        "/",
        "//",
        "\\",
        "-",
        "=====",
        "[",
        "]",
        "[1]",
        "(",
        "<",
        ">",
        "<|endoftext|>",
        "{",
        "}",
        "$",
        "€",
        "…",
        "_",
        "`",
        "```",
        "#",
        "the",
        " de",
        "Dr.",
        "word",
        "Word",
        "WORD",
        "wordWord",
        "\u0378",
        "\u1c89",
        "\U0001fadc",
        "\ua7cb",
        "ǅ",
        "ʰ",
        "µ",
        "ª",
        "http://x.nl/a/b?c=1",
        "\t\t",
        "    ",
        "x" * 40,
        "\n" * 5,
        " \n \n",
        ".\n",
        ".\n\n",
        "!!!",
    ]
)
TEXT = st.one_of(st.text(max_size=30), st.lists(ATOMS, max_size=12).map("".join))
PARTS = st.lists(TEXT, max_size=8)


def check_parts(parts: list[str]) -> None:
    for counter in counters():
        tally, whole = counter.tally(), ""
        for number, part in enumerate(parts):
            whole += part
            before = tally.total
            grown = tally.add(part, counter.count(part) if number % 2 else None)
            assert tally.total == before + grown == counter.count(whole), (counter.encoding, parts)


@given(PARTS)
@settings(max_examples=examples(400))
def test_a_tally_is_the_count_of_the_whole_text(parts):
    check_parts(parts)


def check_split(text: str, at: int) -> None:
    for counter in counters():
        total, left, right = counter.count(text), counter.count(text[:at]), counter.count(text[at:])
        assert counter.complement(text, at, total, right) == left, (counter.encoding, text, at)
        assert counter.complement(text, at, total, left) == right, (counter.encoding, text, at)


@given(TEXT, st.integers(0, 60))
@settings(max_examples=examples(400))
def test_one_side_of_a_split_follows_from_the_other(text, at):
    check_split(text, min(at, len(text)))


def check_overlap(head: str, shared: str, rest: str) -> None:
    for counter in counters():
        if counter.has_seam(shared):
            joined = counter.count(head + shared + rest)
            assert joined == counter.count(head + shared) + counter.count(shared + rest) - counter.count(shared), counter.encoding


@given(TEXT, TEXT, TEXT)
@settings(max_examples=examples(400))
def test_a_shared_head_with_a_seam_inside_can_be_subtracted(head, shared, rest):
    check_overlap(head, shared, rest)


@given(TEXT, TEXT, TEXT)
@settings(max_examples=examples(400))
def test_what_is_inside_a_text_is_counted_wherever_it_stands(before, text, after):
    for counter in counters():
        assert 0 <= counter.inside(text, counter.count(text)) <= counter.count(before + text + after), counter.encoding


def test_what_is_inside_a_text_stands_between_its_first_seam_and_its_last():
    counter, text = open_counter(), "one two three four"
    assert counter.inside(text, counter.count(text)) == counter.count(text) - counter.count("one") - counter.count(" four")
    assert counter.inside("oneword", 2) == 0


@given(TEXT)
@settings(max_examples=examples(200))
def test_boundaries_are_valid_prefixes_that_cost_what_they_say(text):
    counter = counters()[0]
    places = counter.boundaries(text)
    assert places == sorted(set(places))
    assert not text or places[-1] == len(text)


def test_special_tokens_in_a_document_are_ordinary_text():
    assert open_counter().count("<|endoftext|>") == 7


def test_long_text_without_any_seam_is_still_exact():
    counter = counters()[0]
    for text in (" " * 5000, "=" * 5000, "\n" * 5000, "的" * 3000, "\u0378" * 2000):
        tally = counter.tally()
        for at in range(0, len(text), 700):
            tally.add(text[at : at + 700])
        assert tally.total == counter.count(text)


def test_batches_count_like_single_texts():
    texts = ["a b c", "", "<|endoftext|>", "é🙂"] * 8
    assert open_counter().count_many(texts) == [open_counter().count(t) for t in texts]


def test_a_run_of_blanks_that_is_too_long_is_found_in_linear_time():
    """From every blank of a run on, one of 399,999 took minutes, each time that its text was counted."""
    assert is_linear(lambda run: has_blank_run(run + "x" * LONGEST_RUN), " " * 16_000)
    assert not has_blank_run("\n" + " " * (LONGEST_RUN - 1) + "\n")
    assert all(has_blank_run(before + "\u00a0\t" * (LONGEST_RUN // 2) + "b") for before in ("", "a", "\n", "a \r"))
