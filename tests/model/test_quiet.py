"""Quiet text: what is not searched for markers and boundaries because nothing in it can be part of one."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from ctxasm.model.ports import FetchedChunk
from ctxasm.text.markers.collisions import (
    BITS,
    EDITION,
    EDITION_STEP,
    Body,
    chunks_that_may_collide,
    collision_free_formats,
    defuse,
    find_collisions,
    gap_is_collision_free,
    is_collision_free,
    might_collide,
    might_hold_header,
    opens_something,
)
from tests.assembly.test_promises import law

FORMATS = ("numbered", "source", "xml")
SOUP = st.sampled_from(
    [
        *(
            "[",
            "]",
            "1",
            "[1]",
            "[1, 2]",
            "【",
            "】",
            "［3］",
            "<",
            ">",
            "<sup>",
            "</sup>",
            "<cite",
            "(",
            ")",
            "(ID: 1)",
            "(id",
            " I",
            "D 2",
        ),
        *("&lt;", " Source: x", "\n", "\n\n", " ", "\u200b", "```", "    ", "SOURCE 2", "chunk", "<chunk", "/", "﹤", "a ", "word ", "12 "),
        *("to ", "and ", ",", "^", "…", "[…]", "doc ", ":", "-", "\t", "<!--", "-->", "script", '"', "=", "?"),
    ]
)
TEXTS = st.lists(SOUP, max_size=12).map("".join)


@law(st.lists(TEXTS, min_size=1, max_size=5), st.sampled_from(FORMATS))
def test_nothing_is_found_where_only_quiet_texts_stand(texts, format):
    quiet = [text for text in texts if is_collision_free(text, format)]
    joined = "".join(quiet)
    assert find_collisions(joined, format) == []
    assert not might_collide(joined, format)


@law(TEXTS)
def test_nothing_begins_without_an_opening_character(text):
    if opens_something(text) is None:
        assert all(find_collisions(text, format) == [] for format in FORMATS)


@law(st.lists(TEXTS, min_size=2, max_size=4), st.sampled_from(FORMATS), st.sampled_from(["[…]", "---", "", "[1]", "[", "…"]))
def test_a_quiet_gap_between_quiet_texts_brings_nothing(texts, format, mark):
    if gap_is_collision_free(mark, format):
        quiet = [text for text in texts if is_collision_free(text, format)]
        assert find_collisions(f"\n{mark}\n".join(quiet), format) == []


@pytest.mark.parametrize("text", ["[0.014, 0.02]\nx", "[35S]methionine x", "x\n[1/5]) x", "[3] dogs", "[3] *x", "[3]]\nsource:"])
def test_a_number_in_brackets_is_a_header_only_before_a_source(text):
    assert not might_hold_header(text)


@pytest.mark.parametrize(
    "text", ["[3", "[3 ", "[ 3\u200b]", "[3] *", "[3]s", "[3] ** Source: x", "[3]\u017fource:", "[\uff13] x", "[3\u2460] x", "[3\uff3d S"]
)
def test_what_is_or_may_become_a_header_is_looked_at(text):
    assert might_hold_header(text)


@pytest.mark.parametrize("text", ["see [", "a (", "a ( I", "a <", "【", "［", "see [1", "x [\u200b\u200b", "[ 1 2 3 4 5"])
def test_what_the_next_text_could_complete_is_not_quiet(text):
    assert not is_collision_free(text, "numbered")


@pytest.mark.parametrize(
    "text", ["", "plain", "in (brackets) as in prose.", "AT&T", "[Page context: opening hours.]\n", "a list:\n[a] first\nb"]
)
def test_prose_is_quiet(text):
    assert is_collision_free(text, "numbered")


def test_every_way_to_cut_a_marker_in_two_is_noticed():
    for marker in (
        "[1]",
        "[ 1, 2 ]",
        "【4†bron】",
        "<sup>1</sup>",
        '<cite id="1">',
        "(ID: 1)",
        "[^1]",
        "[doc 1]",
        "[1] Source: x",
        "［1］",
    ):
        for head, tail in [(marker[:at], marker[at:]) for at in range(1, len(marker))]:
            assert not (is_collision_free(f"text {head}", "numbered") and is_collision_free(f"{tail} text", "numbered")), (head, tail)


@law(TEXTS, st.sampled_from(FORMATS))
def test_what_is_stored_of_a_text_says_what_looking_at_it_says(text, format):
    bare = FetchedChunk("d", 0, text)
    stored = bare._replace(quiet=collision_free_formats(text))
    assert (
        chunks_that_may_collide([stored], format, {})
        == chunks_that_may_collide([bare], format, {})
        == (set() if is_collision_free(text, format) else {0})
    )


@pytest.mark.parametrize("edition", [EDITION - 1, EDITION + 1])
def test_what_another_edition_of_the_rules_found_counts_for_nothing(edition):
    stale = FetchedChunk("d", 0, "see [1]", quiet=edition * EDITION_STEP + sum(BITS.values()))
    assert chunks_that_may_collide([stale], "numbered", {}) == {0}
    assert not chunks_that_may_collide([stale._replace(text="plain", quiet=edition * EDITION_STEP)], "numbered", {})


def test_what_is_stored_is_the_edition_and_a_bit_for_each_format():
    assert collision_free_formats("plain") == 8 * EDITION + 7 == 31
    assert collision_free_formats("see [") == 8 * EDITION
    assert dict(BITS) == {"numbered": 1, "source": 2, "xml": 4}


def test_a_bracket_is_looked_for_in_the_last_line_of_the_last_512_characters():
    assert not is_collision_free("[" + "x" * 511, "numbered")
    assert is_collision_free("[" + "x" * 512, "numbered")
    assert not is_collision_free("see [x", "numbered")
    assert not is_collision_free("see\n[x", "numbered")
    assert is_collision_free("see [x\nthere", "numbered")
    assert not is_collision_free("(" + " " * 40, "numbered")


SUBSCRIPT = "    for each in range(len(values)):\n        print(each, values[each])\n    return args[1]"


@pytest.mark.parametrize("text", [SUBSCRIPT, "return values[at]", "if at < 3", "a [link](x) here", "call(id, idle)"])
def test_code_that_nothing_makes_a_marker_of_is_quiet(text):
    assert is_collision_free(text, "numbered")


@pytest.mark.parametrize(
    "text", ["args[1]", SUBSCRIPT.replace("args", "see "), SUBSCRIPT.replace("1", "[1]"), "values[at", "a <su", "(id: ", "(ID 1"]
)
def test_what_the_text_before_or_behind_it_could_make_a_marker_is_not(text):
    assert not is_collision_free(text, "numbered")


def test_a_subscript_is_told_behind_four_brackets_and_64_characters():
    assert is_collision_free("a" * 60 + ") " * 4 + "args[1]", "numbered")
    assert not is_collision_free("a" * 60 + ") " * 5 + "args[1]", "numbered")
    assert is_collision_free("a " * 30 + "args[1]", "numbered")
    assert not is_collision_free("a " * 29 + "\nargs[1]", "numbered")


def test_a_loud_chunk_is_heard():
    quiet, loud = (FetchedChunk("d", at, text, quiet=collision_free_formats(text)) for at, text in enumerate(("plain", "see [1]")))
    assert chunks_that_may_collide([], "numbered", {}) == set()
    assert chunks_that_may_collide([quiet, quiet], "numbered", {}) == set()
    assert chunks_that_may_collide([quiet, loud], "numbered", {}) == {1}
    assert chunks_that_may_collide([loud._replace(quiet=EDITION * EDITION_STEP + 1)], "numbered", {}) == set()
    assert chunks_that_may_collide([loud._replace(quiet=EDITION * EDITION_STEP + 6)], "numbered", {}) == {1}
    assert chunks_that_may_collide([loud], "grouped", {}) == set()


QUIET = st.lists(
    st.sampled_from(("word ", "x" * 70, "\n", " arr[1]", " xs[0]", "f(x)", "```\n", "    ", "- ", "[a]", "]", ")", "](", '"', ". ")),
    max_size=12,
).map("".join)
SWAPS, SEPARATORS = st.booleans(), st.sampled_from(["", "---"])


@law(st.lists(TEXTS | QUIET, min_size=1, max_size=5), st.sampled_from(FORMATS))
def test_only_what_does_not_keep_to_itself_has_to_be_searched(texts, format):
    if all(is_collision_free(text, format) for text in texts):
        assert defuse(texts, True, format) == Body(tuple(texts))


def test_the_usual_gap_mark_is_known_and_another_is_looked_at():
    assert gap_is_collision_free("[…]", "numbered")
    assert gap_is_collision_free("---", "numbered")
    assert not gap_is_collision_free("[1]", "numbered")
