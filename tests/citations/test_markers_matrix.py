"""Every form at every position, with its numbers, its offsets in the answer, and the text without it."""

from __future__ import annotations

import pytest

from ctxasm.citations.answer_text import without_markers
from ctxasm.citations.markers import MarkerEvent, MarkerParser, parse_markers, resolve
from ctxasm.model.results import Citation
from tests.examples import in_turn
from tests.real_data import real_folder

FORMS: dict[str, tuple[str, list[tuple[int, ...]]]] = {
    "[1]": ("number", [(1,)]),
    "[ 1 ]": ("number", [(1,)]),
    "[01]": ("number", [(1,)]),
    "[１]": ("number", [(1,)]),
    "[0]": ("number", [(0,)]),
    "[99]": ("number", [(99,)]),
    "[2024]": ("number", [(2024,)]),
    "[1][2]": ("number", [(1,), (2,)]),
    "[1] [2]": ("number", [(1,), (2,)]),
    "[1], [2]": ("number", [(1,), (2,)]),
    "[1] en [2]": ("number", [(1,), (2,)]),
    "[1,2]": ("list", [(1, 2)]),
    "[1, 2]": ("list", [(1, 2)]),
    "[1 ,2]": ("list", [(1, 2)]),
    "[1;2]": ("list", [(1, 2)]),
    "[1,3-5]": ("list", [(1, 3, 4, 5)]),
    "[1 and 3]": ("list", [(1, 3)]),
    "[1 en 3]": ("list", [(1, 3)]),
    "[1 und 3]": ("list", [(1, 3)]),
    "[1 & 3]": ("list", [(1, 3)]),
    "[1, 3, and 4]": ("list", [(1, 3, 4)]),
    "[1, 99]": ("list", [(1, 99)]),
    "[1-3]": ("range", [(1, 2, 3)]),
    "[1–3]": ("range", [(1, 2, 3)]),
    "[1—3]": ("range", [(1, 2, 3)]),
    "[1 t/m 3]": ("range", [(1, 2, 3)]),
    "[[1]]": ("nested", [(1,)]),
    "[[1], [2]]": ("nested", [(1, 2)]),
    "[[1]](https://x.example/a)": ("link", [(1,)]),
    "[1](https://x.example/a_(b))": ("link", [(1,)]),
    "[^1]": ("footnote", [(1,)]),
    "【1】": ("lenticular", [(1,)]),
    "［1］": ("fullwidth", [(1,)]),
    "［1，2］": ("fullwidth", [(1, 2)]),
    "【1†source】": ("dagger", [(1,)]),
    "【4:0†source】": ("dagger", [(4,)]),
    "【6†L9-L11】": ("dagger", [(6,)]),
    "[SOURCE 1]": ("source", [(1,)]),
    "[Source 1]": ("source", [(1,)]),
    "[source: 1]": ("source", [(1,)]),
    "[Source 1, Source 2]": ("source", [(1, 2)]),
    "[doc1]": ("source", [(1,)]),
    "[bron 1]": ("source", [(1,)]),
    "[ID:1]": ("source", [(1,)]),
    "[S1]": ("source", [(1,)]),
    "[citation:1]": ("source", [(1,)]),
    "(ID: 1)": ("id", [(1,)]),
    '<cite id="1">': ("cite", [(1,)]),
    "<cite>1</cite>": ("cite", [(1,)]),
    "<sup>1</sup>": ("sup", [(1,)]),
    "<sup>[1]</sup>": ("sup", [(1,)]),
}
MALFORMED = ["[3-1]", "[1-2-3]", "[-1]", "[1,]", "[1-]"]
POSITIONS: dict[str, tuple[str, str]] = {
    "start": ("{} Open tot negen.", "Open tot negen."),
    "end": ("Open tot negen {}", "Open tot negen"),
    "before the full stop": ("Open {}.", "Open."),
    "before the comma": ("Open {}, dan dicht.", "Open, dan dicht."),
    "after the full stop": ("Open. {} Dicht.", "Open. Dicht."),
    "after the full stop at the end": ("Open. {}", "Open."),
    "glued after the full stop": ("Open.{} Dicht.", "Open. Dicht."),
    "glued to the word": ("Open{} tot negen.", "Open tot negen."),
    "between glued sentences": ("Open.{}Dicht.", "Open. Dicht."),
    "before a colon and a question mark": ("Open {}: wie {}?", "Open: wie?"),
    "only citations": ("{}", ""),
    "only citations on a line": ("Open.\n{}\nDicht.", "Open.\nDicht."),
    "round brackets": ("Open ({}).", "Open."),
    "round brackets with words": ("Open (zie {}).", "Open."),
    "bold": ("Open **{}**.", "Open."),
    "italic": ("Open *{}* tot.", "Open tot."),
    "bold words": ("**Open** {} tot.", "**Open** tot."),
    "inside bold": ("**Open {}** tot.", "**Open** tot."),
    "quoted": ('Open "{}".', "Open."),
    "after a quote": ('"Open" {}.', '"Open".'),
    "emoji": ("😀{}😀", "😀😀"),
    "family emoji": ("👩‍👩‍👧 {} ok", "👩‍👩‍👧 ok"),
    "CJK": ("时间{}从九点。", "时间从九点。"),
    "CJK full stop": ("时间 {}。", "时间。"),
    "RTL": ("مرحبا {} بكم", "مرحبا بكم"),
    "CRLF": ("Open {}\r\nDicht {}.\r\n", "Open\r\nDicht.\r\n"),
    "hard break": ("Open {}  \nDicht", "Open  \nDicht"),
    "blockquote": ("> Open {}.\n> {} Dicht", "> Open.\n> Dicht"),
    "table": ("| Open {} | {} |\n|---|---|", "| Open | |\n|---|---|"),
    "tight table": ("|{}|x|", "||x|"),
    "heading": ("## Open {}\nDicht", "## Open\nDicht"),
    "list item": ("- {} Open\n  - dicht {}", "- Open\n  - dicht"),
    "numbered item": ("1. Open {}\n2. Dicht", "1. Open\n2. Dicht"),
    "after code": ("`a` {} b", "`a` b"),
    "between code": ("`a`{}`b`", "`a` `b`"),
    "after a fence": ("```\nx\n```\nOpen {}.", "```\nx\n```\nOpen."),
    "after thinking": ("<think>x</think>Open {}.", "<think>x</think>Open."),
    "percent": ("5 {} %", "5 %"),
    "html": ("<b>Open {}</b>", "<b>Open</b>"),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_at_each_position(form: str) -> None:
    for position in in_turn(list(POSITIONS), list(FORMS).index(form), 3):
        check_form_at(form, position)


def check_form_at(form: str, position: str) -> None:
    frame, cleaned = POSITIONS[position]
    name, numbers = FORMS[form]
    before = frame.partition("{}")[0]
    answer = frame.replace("{}", form)
    markers = parse_markers(answer)
    times = frame.count("{}")
    assert [marker.numbers for marker in markers] == numbers * times
    assert {marker.form for marker in markers} == {name}
    assert markers[0].start == len(before)
    assert markers[len(numbers) - 1].end == len(before) + len(form)
    assert all(answer[m.start : m.end] == m.text for m in markers)
    assert without_markers(answer, markers).split() == cleaned.split()
    parser, events = MarkerParser(), list[MarkerEvent]()
    for char in answer:
        events += parser.feed(char)
    assert (*events, *parser.finish()) == markers
    for cut in range(markers[0].start, markers[0].end + 2):
        parser = MarkerParser()
        assert parser.feed(answer[:cut]) + parser.feed(answer[cut:]) + parser.finish() == markers


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_markers_stay_as_text_and_are_reported(text: str) -> None:
    for frame, _ in POSITIONS.values():
        answer = frame.replace("{}", text)
        markers = parse_markers(answer)
        assert [(marker.form, marker.numbers, marker.text) for marker in markers] == [("malformed", (), text)] * frame.count("{}")


PLAIN = [
    *("Source 1", "[]", "[abc]", "[1a]", "[1.5]", "[x] todo", "- [ ] todo", "[Online]", "[Accessed: 2024-01-01]", "arr[1]", "argv[1]"),
    *("sys.argv[1]", "a[0][1]", "x_[1]", "f()[1]", r"\[1\]", "xref12", "`[1]`", "``a ` [1]``", "x_{[1]}", "x^[1]", "![1](a.png)"),
    *("use data[1] here", "10<sup>6</sup>", "5 km<sup>2</sup>", "[1】", "［1]", "[1\n]", "[p. 1]", "[1](", "$x_{[1]}$"),
    *("[" + "1" * 70 + "]", "[" + " " * 70 + "1]"),
]


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_holds_no_marker(text: str) -> None:
    for frame in ("{}", "Open {}", "> {}", "- {}", "| {} |", "# {}", "é {}", "😀 {}", "时间 {}", "مرحبا {}", "{}\r\nx"):
        answer = frame.format(text)
        markers = parse_markers(answer)
        expected = [(1,)] if text == "[1](" else []  # a link that never comes is a marker followed by text
        assert [marker.numbers for marker in markers] == expected, answer


@pytest.mark.parametrize(
    "answer",
    [
        *("```\n[1]\n```", "```python\nx = [1]", "~~~\n[1]\n~~~", "> ```\n> [1]\n> ```", "    [1]", "text\n\n    code [1]", "\tcode [1]"),
        *("`[1]\n", "<think>[1]</think>", "<think>[1]", "<THINKING>[1]</THINKING>", "```[1]```", "[1]: https://x.example", "[^1]: a note"),
        *("Bronnen:\n[1] Folder\n[2] Site", "**References**\n\n1. [1] Folder", "## Sources\n- [1] Folder\n- [2] Site"),
    ],
)
def test_code_thinking_and_source_lists_cite_nothing(answer: str) -> None:
    assert parse_markers(answer) == ()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("hepatitis B[1]", [(1,)]),
        ("abc-B[1]", [(1,)]),
        ("ab B[1]", []),
        ("abc.B[1]", []),
        ("volgens de data[1]", [(1,)]),
        ("120 mmHg[1]", [(1,)]),
        ("https://en.wikipedia.org/wiki/Fars_Province[3]", [(3,)]),
        ("uur[1].Zie ook[2].", [(1,), (2,)]),
        ("in 2024[1]", [(1,)]),
        ("www.zol.be[1]", [(1,)]),
        ("folder.pdf[1]", [(1,)]),
        ("Welkom![3]", [(3,)]),
        ("km²[1]", [(1,)]),
    ],
)
def test_words_that_look_like_code_may_carry_a_marker(answer: str, expected: list[tuple[int, ...]]) -> None:
    assert [marker.numbers for marker in parse_markers(answer)] == expected


def test_numbers_that_no_source_has_are_unknown_and_a_range_is_clamped() -> None:
    citations = [Citation(n, f"doc_{n}", None, None, "", None, None, (0,), "") for n in (1, 2)]
    found = resolve(parse_markers("a [1, 99] b [0] c [1-999999999] d [2024] e [2] f [3-1]"), citations)
    assert [(m.known, m.unknown) for m in found] == [
        ((1,), (99,)),
        ((), (0,)),
        ((1, 2), (3, 1000, 999999999)),
        ((), (2024,)),
        ((2,), ()),
        ((), ()),
    ]


needs_answers = pytest.mark.skipif(
    real_folder() is None or not (real_folder() / "cited-hagrid" / "answers.jsonl").is_file(), reason="the cited answers are not here"
)


@needs_answers
def test_the_labels_of_cited_answers_are_reproduced() -> None:
    from tests.citations.cited_answers import read_labels

    labels = read_labels()
    with_references = [label for label in labels if label.cites]
    assert (len(labels), len(with_references)) == (477, 441)
    assert [label for label in with_references if label.parsed != label.cites] == []
    assert sum(label.plain == label.cites for label in with_references) == 406
    wrong = [label for label in labels if not label.cites and label.parsed]
    assert [(label.query_id, label.texts) for label in wrong] == [
        ("hg-203", ("[1, 3, and 4]",)),
        ("hg-287", ("[1-3]",)),
        ("hg-379", ("[1-4]",)),
        ("hg-394", ("[1 and 3]",)),
        ("hg-611", ("[1 and 3]",)),
        ("hg-611", ("[2 and 4]",)),
        ("hg-638", ("[2]",)),
    ]
    assert sum(label.parsed == label.cites for label in labels) == 470
