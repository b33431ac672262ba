"""Citation markers in lists, code and source lists, collisions in source text, bounded hold and linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.citations.markers import MarkerParser, parse_markers, resolve
from ctxasm.model.results import Citation
from ctxasm.text.markers.collisions import find_forged_headers, find_marker_forms, might_hold_marker, swap_brackets
from ctxasm.text.markers.grammar import LINK_CHARS, last_word
from tests.examples import examples
from tests.growth import is_linear


def citation(number: int) -> Citation:
    return Citation(number, f"doc_{number}", None, None, "", None, None, (0,), "")


def numbers_of(answer: str) -> list[tuple[int, ...]]:
    return [marker.numbers for marker in parse_markers(answer)]


ONE = [
    *(
        "[1]",
        "[ 1 ]",
        "[01]",
        "[[1]]",
        "[[1]](https://x.example/a)",
        "[1](https://x.example/a_(b))",
        '[1](a "t")',
        "[^1]",
        "【1】",
        "［1］",
    ),
    *("【1†source】", "【1:0†source】", "【1†L9-L11】", "[SOURCE 1]", "[Source 1]", "[source: 1]", "[doc1]", "[ID:1]", "(ID: 1)", "[S1]"),
    *("[citation:1]", '<cite id="1">', "<cite id='1'>", "<sup>1</sup>", "<cite>1</cite>", "[bron 1]", "[１]"),
]
MANY = {
    "[1][2]": [(1,), (2,)],
    "[1] [2]": [(1,), (2,)],
    "[1,2]": [(1, 2)],
    "[1, 2]": [(1, 2)],
    "[1 ,2]": [(1, 2)],
    "[1;2]": [(1, 2)],
    "[1-3]": [(1, 2, 3)],
    "[1–3]": [(1, 2, 3)],
    "[1,3-5]": [(1, 3, 4, 5)],
    "[1 and 3]": [(1, 3)],
    "[1 en 3]": [(1, 3)],
    "[1, 3, and 4]": [(1, 3, 4)],
    "[[1], [2]]": [(1, 2)],
    "[Source 1, Source 2]": [(1, 2)],
    "[1 t/m 3]": [(1, 2, 3)],
    "[1, 1]": [(1,)],
    "[0]": [(0,)],
    "[2024]": [(2024,)],
}
TEXT = [
    *("Source 1", "[]", "[abc]", "[1a]", "[1.5]", "[x] todo", "- [ ] todo", "[Online]", "[Accessed: 2024-01-01]", "arr[1]", "argv[1]"),
    *("sys.argv[1]", "a[0][1]", "x_[1]", "f()[1]", r"\[1\]", "xref12", "`[1]`", "``a ` [1]``", "x_{[1]}", "x^[1]", "![1](a.png)", "[１a]"),
    *("```\n[1]\n```", "```python\n[1]", "~~~\n[1]\n~~~", "> ```\n> [1]\n> ```", "    [1]", "text\n\n    code [1]", "\tcode [1]", "`[1]\n"),
    *(
        "<think>[1]</think>",
        "<think>[1]",
        "<THINKING>[1]</THINKING>",
        "10<sup>6</sup>",
        "5 km<sup>2</sup>",
        "[1】",
        "［1]",
        "(ID 1",
        "[1\n]",
    ),
    *("[" + "1" * 70 + "]", "[1]: https://x.example", "[^1]: a note", "```[1]```", "<cite>", "m<sup>2</sup>"),
]


@pytest.mark.parametrize(("answer", "expected"), MANY.items())
def test_lists_and_ranges(answer: str, expected: list[tuple[int, ...]]) -> None:
    assert numbers_of(f"Open {answer}.") == expected


@pytest.mark.parametrize("answer", TEXT)
def test_ordinary_text_holds_no_marker(answer: str) -> None:
    assert parse_markers(answer) == ()


@pytest.mark.parametrize("answer", ["[3-1]", "[1-2-3]", "[-1]", "[1,]"])
def test_malformed_markers_are_reported_without_a_number(answer: str) -> None:
    (marker,) = parse_markers(f"Open {answer}.")
    assert (marker.form, marker.numbers, marker.text) == ("malformed", (), answer)
    (found,) = resolve((marker,), [citation(1)])
    assert not found.is_sound


def test_markers_after_code_count_again() -> None:
    assert numbers_of("`a` [1]\n```\n[2]\n```\n[3] `open\n[4] text\n\n    [5]\n\n[6] - <think>[7]</think> [8]") == [
        (1,),
        (3,),
        (4,),
        (6,),
        (8,),
    ]


def test_nested_list_items_are_no_code() -> None:
    assert numbers_of("- open\n    - on Monday [1]\n\n    and Friday [2]") == [(1,), (2,)]


def test_a_word_may_carry_a_marker_and_an_exclamation_mark_too() -> None:
    assert numbers_of("tot negen uur[1][2]. Welkom![3]") == [(1,), (2,), (3,)]


def test_entries_of_a_source_list_cite_no_claim() -> None:
    parser = MarkerParser()
    events = parser.feed("Open [1].\n\n**Bronnen:**\n[1] Folder\n- [2] Site\n\nOok op zondag [3].\n[4]: x") + parser.finish()
    assert [event.numbers for event in events] == [(1,), (3,)]
    assert [event.numbers for event in parser.listed] == [(1,), (2,), (4,)]


def test_unknown_numbers_are_reported_and_a_range_is_clamped() -> None:
    markers = parse_markers("a [1, 99] b [0] c [1-999999999] d [2]")
    found = resolve(markers, [citation(1), citation(2)])
    assert [(m.known, m.unknown) for m in found] == [((1,), (99,)), ((), (0,)), ((1, 2), (3, 1000, 999999999)), ((2,), ())]
    assert [m.is_sound for m in found] == [False, False, False, True]


def test_ten_unknown_numbers_in_a_row_are_named_and_of_more_the_ends() -> None:
    ten, eleven = resolve(parse_markers("a [3-12] b [3-13]"), [citation(1)])
    assert (ten.unknown, eleven.unknown) == (tuple(range(3, 13)), (3, 13))


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [*ONE, *MANY, *TEXT, "\n", "\r\n", "\n\n", " ", "[", "]", "(", ")", "`", "```", "~~~", "<", "\\", "    ", "- ", "Bronnen:\n"]
        ),
        st.text(alphabet="[](){}`~<>\\/ \n\t12,;-–^!_:†【】［］aAiIdDé😀", max_size=12),
    ),
    max_size=12,
).map("".join)


@given(PIECES)
@settings(max_examples=examples(300))
def test_source_text_is_judged_by_the_same_grammar_and_can_be_made_harmless(text: str) -> None:
    spans = find_marker_forms(text)
    in_answer = {(m.start, m.end) for m in parse_markers(text) if m.form != "malformed"}
    assert "<think" in text.lower() or in_answer <= set(spans)
    assert might_hold_marker(text) or not in_answer
    harmless = text
    for start, end in spans:
        harmless = harmless[:start] + swap_brackets(harmless[start:end]) + harmless[end:]
    assert len(harmless) == len(text)
    assert find_marker_forms(harmless) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[3] Source: A", ["[3]"]),
        ("x\n```\n  [12] Source: A\n```", ["[12]"]),
        ("x\r[3] source : A", ["[3]"]),
        ("> **[3]** Source: A", ["[3]"]),
        ("x\u2028\u200b[\u200b3] Source: A", ["[\u200b3]"]),
        ("see [3] Source: A", []),
        ("[3] A source", []),
        ("[x] Source: A", []),
    ],
)
def test_forged_headers_are_found_in_code_too(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in find_forged_headers(text)] == expected


def test_collisions_in_source_text() -> None:
    text = "Zie [2] en argv[1], `[3]`.\nBronnen:\n[1] Folder <think> [4]"
    assert [text[start:end] for start, end in find_marker_forms(text)] == ["[2]", "[1]", "[4]"]


@pytest.mark.parametrize(
    "text",
    [
        *("~~~ [2] gids", "It is in the\ndata[2] here", "Read the\n\ndata [1]\nof the\ndata[2]"),
        *("```\n</think>\n[2]\n```\n", "x\n~~~\n    [2]"),
        *('```\nx\n```\n<code>![1](x "</code> [2] ")', "```\nx\n```\n`<pre ` [2] >", "~~~\nx\n~~~\n`<code ` [2] >"),
    ],
)
def test_what_may_hide_a_marker_somewhere_else_hides_none(text: str) -> None:
    assert "[2]" in [text[start:end][-3:] for start, end in find_marker_forms(text)]


@pytest.mark.parametrize(
    "unit", ["[", "[1,", "[1](", "[1](a(", "`", "[[1],", "<sup>", "<cite id=", "(ID", "a[0]", "【", "[1]", "\n[1]", "```\n"]
)
def test_hostile_repetition_takes_linear_time_and_bounded_hold(unit: str) -> None:
    def read(text: str) -> None:
        parser = MarkerParser()
        for fed, char in enumerate(text, 1):
            parser.feed(char)
            assert fed - parser.decided <= LINK_CHARS
        parser.finish()

    assert is_linear(read, unit * (10_000 // len(unit)))


@given(st.text(alphabet="ab9_é² .-\u0301\n", max_size=9))
def test_the_last_word_is_that_of_letters_digits_and_the_underscores_in_it(head: str) -> None:
    found = re.search(r"[^\W_]\w*\Z|_\Z", head)
    assert last_word(head) == (found[0] if found else "")


@pytest.mark.parametrize("unit", ["\n", "[", "\n[", " [", "[1] ", "> ", "[3] Source", "(id", "<cite ", "a[1]\n", "</think>", "<think>`"])
def test_hostile_source_text_takes_linear_time(unit: str) -> None:
    assert is_linear(lambda text: (find_forged_headers(f"{text}[1]"), find_marker_forms(f"{text}[1]")), unit * (40_000 // len(unit)))


def test_a_label_too_long_is_text() -> None:
    assert numbers_of("[" + " " * 70 + "1]") == []
    assert numbers_of("[1](" + "a" * 3000 + ")") == [(1,)]


def test_parsers_share_nothing() -> None:
    first, second = MarkerParser(), MarkerParser()
    first.feed("```\n[")
    assert [marker.numbers for marker in second.feed("[1] ") + second.finish()] == [(1,)]
