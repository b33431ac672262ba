"""Forms of markers that other tools write, what looks like one and is none, and the three readings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ctxasm.citations.markers import MarkerEvent, MarkerParser, parse_markers
from ctxasm.text.markers.collisions import defuse, find_marker_forms, is_collision_free, might_hold_marker
from ctxasm.text.markers.grammar import READINGS, Reading
from tests.citations.marker_soup import SOUP, law
from tests.growth import is_linear

BRACKETED: dict[str, list[int]] = {
    "Free[^2^].": [2],
    "Free [^1^][^3^].": [1, 3],
    "Free [Quelle 2].": [2],
    "Free [Context 4].": [4],
    "Free [passages 1, 4].": [1, 4],
    "Free [doc_7].": [7],
    "Free [#5].": [5],
    "Free [see 3].": [3],
    "Vrij [zie ook 3].": [3],
    "Frei [vgl. 3].": [3],
    "Free [2, p. 14].": [2],
    "Free [2, 4, pp. 14-16].": [2, 4],
    "Vrij [2, blz. 14].": [2],
    "Frei [2, S. 14].": [2],
    "Free [2 § 4].": [2],
    "Frei [2 bis 4].": [2, 3, 4],
    "Vrij [2 tot 4].": [2, 3, 4],
    "Free [2]-[4].": [2, 3, 4],
    "Free [2]–[4], and [9].": [2, 3, 4, 9],
    "Free〔2〕.": [2],
    "Free [\u200b2\ufeff].": [2],
    "Free _[2]_.": [2],
    'Free<sup><a href="#n2">2</a></sup>.': [2],
}
ROUND_AND_RAISED: dict[str, list[int]] = {
    "Free².": [2],
    "Free until nine,³ then not.": [3],
    "Free²,⁴ and dry.": [2, 4],
    "Free²⁻⁴.": [2, 3, 4],
    "Free¹² today.": [12],
    "Free (source 2).": [2],
    "Free (see source: 2).": [2],
    "Vrij (bronnen 2 en 4).": [2, 4],
    "Frei (Quelle 2).": [2],
    "Free (doc 2, p. 3).": [2],
}
AMBIGUOUS: dict[str, list[int]] = {
    "Free (2).": [2],
    "Free (2, 4).": [2, 4],
    "Free [chunk 2].": [2],
    "Free [excerpt_2].": [2],
    "Free [no. 2].": [2],
    "Free [2/4].": [2, 4],
    "Free [2|4].": [2, 4],
    "Free [(2)].": [2],
}
NONE = [
    *(
        "In Doe v Roe [2011] EWCA 9 it was so.",
        "See [1987] 3 QB 41 for that.",
        "The class [0-9] is any digit.",
        "The pattern [2-7] is narrow.",
    ),
    *(
        "Write [1-5]+ for it.",
        "let ys = [3, 4]",
        '{"ids": [3, 4]}',
        "{'ids' : [3]}",
        "t in [2, 7] is fine",
        "g: [2, 7] maps on",
        "the interval [2, 7]",
    ),
    *(
        "$[2,7]$",
        "$$B = [2, 7]$$",
        "<pre>\nrow [2]\n</pre>",
        "<pre>row [2]",
        "A <code>cell [2]</code> b",
        "Call g(y)[2] now.",
        "https://a.example/b[2]=3",
    ),
    *(
        "[1998](https://a.example)",
        "12 m² and 3 cm³",
        "y² + z² = 4",
        "10⁶ cells",
        "CO² rises",
        "(a+b)²",
        "sin² and cos²",
        "Free [2, dry].",
        "(sources differ)",
    ),
    *("Open [p. 2].", "Free (2 days).", "[4]-[2] goals"),
]


def numbers(text: str, reading: Reading = "usual") -> list[int]:
    return list(dict.fromkeys(number for marker in parse_markers(text, reading=reading) for number in marker.numbers))


@pytest.mark.parametrize(("text", "expected"), BRACKETED.items())
def test_bracketed_forms_are_markers_in_every_reading_and_defused_in_sources(text: str, expected: list[int]) -> None:
    assert [numbers(text, reading) for reading in READINGS] == [expected] * 3
    assert find_marker_forms(text)
    assert might_hold_marker(text)
    assert not is_collision_free(text, "numbered")
    assert numbers(defuse([text], True).texts[0], "strict") == []


@pytest.mark.parametrize(("text", "expected"), ROUND_AND_RAISED.items())
def test_raised_figures_and_named_sources_in_round_brackets_are_usual_markers(text: str, expected: list[int]) -> None:
    assert [numbers(text, reading) for reading in READINGS] == [[], expected, expected]


@pytest.mark.parametrize(("text", "expected"), AMBIGUOUS.items())
def test_what_is_as_often_something_else_is_a_marker_only_for_all(text: str, expected: list[int]) -> None:
    assert [numbers(text, reading) for reading in READINGS] == [[], [], expected]


@pytest.mark.parametrize("text", NONE)
def test_what_only_looks_like_a_marker_is_none(text: str) -> None:
    assert (numbers(text, "strict"), numbers(text)) == ([], [])


@pytest.mark.parametrize("text", [*BRACKETED, *ROUND_AND_RAISED, *AMBIGUOUS, *NONE])
@pytest.mark.parametrize("reading", READINGS)
def test_each_split_reads_the_same(text: str, reading: Reading) -> None:
    whole = parse_markers(text, reading=reading)
    for cut in range(len(text) + 1):
        parser = MarkerParser(reading=reading)
        assert parser.feed(text[:cut]) + parser.feed(text[cut:]) + parser.finish() == whole
    parser, events = MarkerParser(reading=reading), list[MarkerEvent]()
    for char in text:
        events += parser.feed(char)
    assert (*events, *parser.finish()) == whole


def test_a_list_of_sources_goes_on_behind_an_indented_line() -> None:
    parser = MarkerParser()
    assert parser.feed("Free [1].\n\nSources:\n[1] A folder\n   of two pages\n[2] A site") + parser.finish() == parse_markers("Free [1].")
    assert [entry.numbers for entry in parser.listed] == [(1,), (2,)]


@law(SOUP)
def test_whatever_a_strict_reading_finds_is_found_in_a_source(text: str) -> None:
    spans = find_marker_forms(text)
    read = [marker for marker in parse_markers(text, reading="strict") if marker.form != "malformed"]
    assert all(any(low <= marker.start < high for low, high in spans) for marker in read)
    assert might_hold_marker(text) or not read
    left = parse_markers("".join(defuse([text], True).texts), reading="strict")
    assert all(marker.form == "malformed" for marker in left)


@pytest.mark.parametrize(
    "piece", ["²", "a²,", "(source ", "(source 2", "[1]-", "_[1]", "<pre>", "<code>\n", "[2011] U", "[1, p. 3", "[zie "]
)
@pytest.mark.parametrize("reading", ["usual", "all"])
def test_long_runs_take_linear_time(piece: str, reading: Reading) -> None:
    assert is_linear(lambda text: parse_markers(text, reading=reading), piece * (40_000 // len(piece)))


PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "reading-answers.md"


def rows(after: str) -> list[list[str]]:
    """The cells of the table behind a line of the page."""
    table = PAGE.read_text(encoding="utf-8").split(after, 1)[1].split("\n\n", 1)[0].splitlines()
    return [[cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table if "---" not in line]


def test_the_page_says_what_is_read() -> None:
    for forms, _, since in rows("| form | numbers | from |\n"):
        for form in re.findall(r"`([^`]+)`", forms):
            text = form if form[0].isalpha() else f"Open {form}"
            for reading in READINGS:
                read = READINGS.index(reading) >= READINGS.index(since.strip("`"))  # type: ignore[arg-type]
                assert bool(numbers(text, reading)) == read, (form, reading)


def test_the_page_says_what_is_not_read() -> None:
    cells = [re.findall(r"`([^`]+)`", text) for text, reason in rows("| text | because |\n") if "two lines" not in text and reason]
    for form in [form for cell in cells for form in cell]:
        text = "Bronnen:\n[1] x" if form == "[1]: https://…" else f"Open {form}"
        assert numbers(text) == [], form
