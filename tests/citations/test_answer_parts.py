"""What of an answer in Markdown is a paragraph, an item, a row or a heading, and where each of these ends."""

from __future__ import annotations

import pytest

from ctxasm.citations.answer_text import HEADING_WORDS, find_parts, hide_thinking
from ctxasm.citations.markers import MarkerParser

EIGHT = "one two three four five six seven eight"


def parts(answer: str) -> list[tuple[str, str]]:
    parser = MarkerParser()
    parser.feed(answer)
    parser.finish()
    return [(part.kind, answer[part.start : part.end]) for part in find_parts(answer, [entry.start for entry in parser.listed])]


@pytest.mark.parametrize("follows", ["- item", "| item |"])
@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (EIGHT, "heading"),
        (f"{EIGHT} nine", "paragraph"),
        ("x" * 80, "heading"),
        ("x" * 81, "paragraph"),
        ("It ends.", "paragraph"),
        ("Two lines\nof text", "paragraph"),
    ],
)
def test_a_short_line_without_an_end_heads_the_list_or_table_after_it(line: str, kind: str, follows: str) -> None:
    first, second = parts(f"{line}\n{follows}")
    assert first == (kind, line)
    assert second[0] == ("item" if follows[0] == "-" else "row")
    assert len(EIGHT.split()) == HEADING_WORDS


@pytest.mark.parametrize(("line", "kind"), [(f"**{EIGHT}**", "heading"), (f"**{EIGHT} nine**", "paragraph"), ("**It ends.**", "paragraph")])
def test_a_short_bold_line_is_a_heading_once_something_follows(line: str, kind: str) -> None:
    assert parts(line) == [("paragraph", line)]
    assert parts(f"{line}\n\nText.") == [(kind, line), ("paragraph", "Text.")]


PARTS = {
    "the words after a bold line are not joined to it": ("**Bold**\nText", [("heading", "**Bold**"), ("paragraph", "Text")]),
    "a bold line inside a paragraph is none": ("Text\n**Bold**\nmore", [("paragraph", "Text\n**Bold**\nmore")]),
    "only the one bold line": ("**Bold**\n\nA.\n\nB.", [("heading", "**Bold**"), ("paragraph", "A."), ("paragraph", "B.")]),
    "a table without edges": ("A | b\n--|--\n1 | 2\n\nAfter.", [("heading", "A | b"), ("row", "1 | 2"), ("paragraph", "After.")]),
    "a table with edges": (
        "| A | b |\n|--|--|\n| 1 | 2 |\nand after it",
        [("heading", "| A | b |"), ("row", "| 1 | 2 |"), ("paragraph", "and after it")],
    ),
    "a table without a head": ("Before.\n\n---|---\na | b", [("paragraph", "Before."), ("row", "a | b")]),
    "a table of edges only": ("| a |\n| b |", [("row", "| a |"), ("row", "| b |")]),
    "a row without edges goes on with a table": ("| a |\nb | c", [("row", "| a |"), ("row", "b | c")]),
    "its next paragraph is in no table": ("| a |\n\nb | c", [("row", "| a |"), ("paragraph", "b | c")]),
    "a bar alone makes no row": ("a | b and c", [("paragraph", "a | b and c")]),
    "nor ends a paragraph, but begins one": ("Text\na | b", [("paragraph", "Text"), ("paragraph", "a | b")]),
    "a heading between two tables": ("| a b |\nc\n| d |", [("row", "| a b |"), ("heading", "c"), ("row", "| d |")]),
    "an item goes on, also after an empty line": (
        "- item\n  goes on\n\n  and on\n\n out",
        [("item", "item\n  goes on"), ("item", "and on"), ("paragraph", "out")],
    ),
    "two blanks go on with an item only": ("Text.\n\n  more", [("paragraph", "Text."), ("paragraph", "more")]),
    "two blanks at the beginning": ("  more", [("paragraph", "more")]),
    "the item before the last part": ("- item\n\nText.\n\n  more", [("item", "item"), ("paragraph", "Text."), ("paragraph", "more")]),
    "underlined by equals signs": ("Title\n=====\nText", [("heading", "Title"), ("paragraph", "Text")]),
    "underlined by dashes": ("Title\n--\nText", [("heading", "Title"), ("paragraph", "Text")]),
    "two lines are no title": ("Two\nlines\n---\nText", [("paragraph", "Two\nlines"), ("paragraph", "Text")]),
    "nor is an item": ("- item\n---\nText", [("item", "item"), ("paragraph", "Text")]),
    "nor what stands before an empty line": ("Text\n\n---\nMore", [("paragraph", "Text"), ("paragraph", "More")]),
    "a rule of stars": ("Text\n***\nMore", [("paragraph", "Text"), ("paragraph", "More")]),
    "six hashes at most": ("###### Head\n#no\n####### no", [("heading", "Head"), ("paragraph", "#no\n####### no")]),
    "a hash with nothing": ("Text\n#  \n", [("paragraph", "Text\n#")]),
    "a paragraph goes on with a year": ("In the year\n1998. Then\n2) more", [("paragraph", "In the year\n1998. Then\n2) more")]),
    "a list begins with one": ("Text\n1. one\n2. two", [("heading", "Text"), ("item", "one"), ("item", "two")]),
    "or after an item, or after nothing": ("- a\n2. b\n\n3. c", [("item", "a"), ("item", "b"), ("item", "c")]),
    "a quotation": ("> quoted\n> text\n>\n> more", [("paragraph", "quoted\n> text"), ("paragraph", "more")]),
    "an empty line of blanks": ("A\n  \nB", [("paragraph", "A"), ("paragraph", "B")]),
    "line ends of Windows": ("A\r\nB\r\n\r\nC", [("paragraph", "A\r\nB"), ("paragraph", "C")]),
    "a fence of ticks": ("Text\n```\ncode\n```\nMore", [("paragraph", "Text"), ("paragraph", "More")]),
    "a fence of tildes that names its language": ("~~~ py\ncode\n~~~\nMore", [("paragraph", "More")]),
    "no fence inside a line": ("Text ~~~ a\nb", [("paragraph", "Text ~~~ a\nb")]),
    "indented code": ("    code\nText", [("paragraph", "Text")]),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "expected"), PARTS.values(), ids=PARTS)
def test_parts(answer: str, expected: list[tuple[str, str]]) -> None:
    assert parts(answer) == expected


LISTS = {
    "with its heading": ("It opens [1].\n\nSources:\n[1] One\n[2] Two\n", ["It opens [1]."]),
    "an entry goes on": ("It opens [1].\n\nSources:\n[1] One\n  and more\n", ["It opens [1]."]),
    "what comes after it": ("It opens [1].\n\nSources:\n[1] One\n[2] Two\n\nIt closes.", ["It opens [1].", "It closes."]),
    "only a heading of one line goes": ("It opens [1].\nSources:\n\n[1]: One\n[2]: Two\n", ["It opens [1].\nSources:"]),
    "only the line before it": ("Sources\n\nIt opens [1].\n\n[1]: One\n[2]: Two\n", ["Sources", "It opens [1]."]),
    "twice": ("A [1].\n\nSources:\n[1] One\n\nB [2].\n\nSources:\n[2] Two\n", ["A [1].", "B [2]."]),
}


@pytest.mark.parametrize(("answer", "expected"), LISTS.values(), ids=LISTS)
def test_a_list_of_sources_is_no_part(answer: str, expected: list[str]) -> None:
    assert [text for _, text in parts(answer)] == expected


def test_places_of_entries_are_found_line_by_line() -> None:
    answer = "One\nTwo\nThree\nFour"
    starts = [answer.index(word) for word in ("Two", "Three")]
    assert [answer[part.start : part.end] for part in find_parts(answer, [0, 1, 2, *starts])] == ["Four"]
    assert [answer[part.start : part.end] for part in find_parts(answer, [answer.index("Four")])] == ["One\nTwo\nThree"]


SHOWN = {
    "a <think>b</think>c": "c",
    "a <think>b\nc</think>d": "d",
    "<think>never ends": "",
    "<think>a</think><think>b</think>c": "c",
    "`a\n\n<think>b</think>c": "c",
    "`a\\` <think>x</think>c": "c",
    "\\`<think>a</think>c": "c",
    "``a` <think>x</think>`` <think>y</think>c": "c",
    "~~~\n<think>a</think>\n~~~\nx <think>b</think>c": "c",
}
"""What is left after the last thinking; a backslash escapes a tick, though not the one that ends code."""


@pytest.mark.parametrize(("answer", "after"), SHOWN.items())
def test_thinking_is_hidden_at_the_same_length(answer: str, after: str) -> None:
    hidden = hide_thinking(answer)
    assert len(hidden) == len(answer)
    assert hidden.rpartition("\n")[2] == after


@pytest.mark.parametrize(
    "answer", ["`<think>` b", "``<think>`` b", "\\<think>a</think>", "```\n<think>\n```\nText", "    <think>a</think>"]
)
def test_thinking_that_is_code_or_escaped_is_shown(answer: str) -> None:
    assert hide_thinking(answer) == answer
