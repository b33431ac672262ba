"""What becomes of the markers of an answer: kept, cut, linked, numbered anew. The worked examples and the laws."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

import pytest

from ctxasm.citations.effects import Link, keep, link, remove, renumber
from ctxasm.citations.markers import MarkerParser, parse_markers
from ctxasm.text.markers.grammar import GUARD
from tests.citations.marker_soup import CUTS, KNOWN, SOUP, law


def removed(answer: str, known: set[int] | None = None) -> str:
    return remove(answer, parse_markers(answer), known).text


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Open [1] en dicht [2].", "Open en dicht."),
        ("Open [1][2], dan [3].", "Open, dan."),
        ("Open [1], [2] en [3].", "Open."),
        ("Open ([1]; [2]) x", "Open x"),
        ("Open ([1], zie x).", "Open (zie x)."),
        ("Open (zie x, [1]).", "Open (zie x)."),
        ("Open (**[1]**) x", "Open x"),
        ("**[1]** **[2]**", ""),
        ("**vet**[1]**er**", "**vet** **er**"),
        ("uur**[1]**.", "uur."),
        ("“[1]” x", "x"),
        ("Tabel: |[1]|x|", "Tabel: ||x|"),
        ("dubbel  spatie [1] blijft  zo", "dubbel  spatie blijft  zo"),
        ("Open [1] – dicht", "Open – dicht"),
        ("a\n\n[1]\n\nb", "a\n\n\nb"),
        ("  - a [1]\n  - b", "  - a\n  - b"),
        ("    [1]", "    [1]"),
        ('De <cite id="1">balie is open</cite>, dus', "De balie is open, dus"),
        ('<cite id="1">a</cite> b <cite id="2">c</cite>.', "a b c."),
        ("Open [1](https://x.example) x", "Open x"),
        ("`arr[1]` [1] arr[1]", "`arr[1]` arr[1]"),
        ("", ""),
        ("[1]", ""),
        ("geen marker", "geen marker"),
    ],
)
def test_what_is_left_reads_as_if_the_markers_had_never_been_there(answer: str, expected: str) -> None:
    assert removed(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Open [1] en [99].", "Open en [99]."),
        ("Open [1, 99].", "Open [99]."),
        ("Open [1-99].", "Open [3-99]."),
        ("Open [SOURCE 1, SOURCE 99].", "Open [SOURCE 99]."),
        ("Open [[1], [99]] x", "Open [[99]] x"),
        ("Open (ID: 1, 99).", "Open (ID: 99)."),
        ("Open [1, 99](https://x.example/1).", "Open [99](https://x.example/1)."),
        ("Open <sup>1,99</sup>.", "Open <sup>99</sup>."),
        ('<cite class="c1" id="1, 99">x</cite>', '<cite class="c1" id="99">x</cite>'),
        ('<cite id="99">x</cite> [1].', '<cite id="99">x</cite>.'),
        ("【99†source】 [2]", "【99†source】"),
        ("[3-1] en [1].", "[3-1] en."),
    ],
)
def test_unknown_numbers_stay(answer: str, expected: str) -> None:
    assert removed(answer, {1, 2}) == expected


def test_the_two_sides_of_a_cut_never_make_a_marker() -> None:
    assert removed("[7[1]]", {1, 7}) == f"[7{GUARD}]"
    assert removed("([1]ID: 5)", {1, 5}) == f"({GUARD}ID: 5)"
    assert removed("\n```\n``[1]`\n[2]") == "\n```\n``[1]`\n[2]"
    assert removed("(zie de [folder [1]])") == "(zie de [folder])"


def test_offsets_lead_from_one_text_to_the_other() -> None:
    answer = "Open [1] tot ([2]) negen [99]."
    cleaned = remove(answer, parse_markers(answer), {1, 2})
    assert cleaned.text == "Open tot negen [99]."
    assert [(m.text, m.cleaned_start, m.cleaned_end) for m in cleaned.markers] == [("[1]", 4, 4), ("[2]", 8, 8), ("[99]", 15, 19)]
    assert [cleaned.to_cleaned(answer.index(word)) for word in ("Open", "tot", "negen", "[99]")] == [0, 5, 9, 15]
    assert [cleaned.to_raw(cleaned.text.index(word)) for word in ("Open", "negen", "[99]", ".")] == [0, 19, 25, 29]
    assert (cleaned.to_cleaned(len(answer)), cleaned.to_raw(len(cleaned.text))) == (len(cleaned.text), len(answer))


def test_keep_changes_nothing() -> None:
    answer = "Open [1]."
    kept = keep(answer, parse_markers(answer))
    assert (kept.text, kept.to_raw(3), kept.to_cleaned(3)) == (answer, 3, 3)
    assert [(m.cleaned_start, m.cleaned_end) for m in kept.markers] == [(5, 8)]


@pytest.mark.parametrize(
    ("answer", "known", "expected", "numbers"),
    [
        ("a [3] b [1] c [3]", None, "a [1] b [2] c [1]", {3: 1, 1: 2}),
        ("a [5, 3] b [3]", None, "a [1, 2] b [2]", {5: 1, 3: 2}),
        ("a [3-5] b [7]", None, "a [1-3] b [4]", {3: 1, 4: 2, 5: 3, 7: 4}),
        ("a [7] b [99] c [2]", {2, 7}, "a [1] b [99] c [2]", {7: 1, 2: 2}),
        ("a [7] b [1] c [2]", {2, 7}, "a [2] b [1] c [3]", {7: 2, 2: 3}),
        ("a [SOURCE 4] (ID: 6) 【4†source】 [[6]](u)", None, "a [SOURCE 1] (ID: 2) 【1†source】 [[2]](u)", {4: 1, 6: 2}),
        ('<cite id="9">x</cite> <sup>4</sup>', None, '<cite id="1">x</cite> <sup>2</sup>', {9: 1, 4: 2}),
        ("a [01] `[7]`", None, "a [01] `[7]`", {1: 1}),
    ],
)
def test_numbers_by_first_appearance(answer: str, known: set[int] | None, expected: str, numbers: dict[int, int]) -> None:
    done, mapping = renumber(answer, parse_markers(answer), known)
    assert (done.text, mapping) == (expected, numbers)
    assert all(done.text[m.cleaned_start : m.cleaned_end] for m in done.markers)


def to_source(number: int) -> Link | None:
    return Link(f"https://x.example/{number}", str(number)) if number < 10 else None


def test_markdown_links_are_made_of_known_numbers_only() -> None:
    answer = "Open [1, 99] en **[2]**, [3-1]."
    done = link(answer, parse_markers(answer), to_source)
    assert done.text == "Open [1](https://x.example/1) [99] en **[2](https://x.example/2)**, [3-1]."
    assert [done.text[m.cleaned_start : m.cleaned_end] for m in done.markers][1:] == ["[2](https://x.example/2)", "[3-1]"]


def test_html_links_and_everything_else_is_escaped() -> None:
    answer = 'A & <b>"x"</b> [1] <cite id="2">c</cite> [99] <script>'
    done = link(answer, parse_markers(answer), to_source, html=True)
    assert done.text == (
        'A &amp; &lt;b&gt;&quot;x&quot;&lt;/b&gt; <a href="https://x.example/1">1</a> '
        '<a href="https://x.example/2">2</a>c [99] &lt;script&gt;'
    )
    assert done.to_cleaned(answer.index("[99]")) == done.text.index("[99]")
    assert link("<b>", (), to_source, html=True).text == "&lt;b&gt;"


@pytest.mark.parametrize(
    ("href", "markdown"),
    [
        ("https://x.example/a b(c)\"'>", "[l](https://x.example/a%20b%28c%29%22%27%3E)"),
        ("#ctx-source-1", "[l](#ctx-source-1)"),
        ("map/file.pdf", "[l](map/file.pdf)"),
        ("javascript:alert(1)", "l"),
        (" javascript:alert(1)", "l"),
        ("java\nscript:alert(1)", "l"),
        ("data:text/html,x", "l"),
        ("javascript&colon;alert(1)", "[l](javascript&amp;colon;alert%281%29)"),
        ("?page=1&row=2", "[l](?page=1&amp;row=2)"),
        ("//other.example/x", "l"),
        ("/\\other.example/x", "l"),
        ("/\t/other.example/x", "l"),
        ("\\\\other.example/x", "l"),
    ],
)
def test_only_safe_addresses_are_linked(href: str, markdown: str) -> None:
    markers = parse_markers("[1]")
    assert link("[1]", markers, lambda number: Link(href, "l")).text == markdown
    html = link("[1]", markers, lambda number: Link(href, "<l>"), html=True).text
    assert ("<a " in html) == markdown.startswith("[")
    assert "&lt;l&gt;" in html
    assert html.count('"') == (2 if "<a " in html else 0)


def test_a_label_cannot_break_out_of_its_link() -> None:
    done = link("[1]", parse_markers("[1]"), lambda number: Link("#a", "](x) `[2]"))
    assert done.text == r"[\]\(x\) \`\[2\]](#a)"
    assert parse_markers(done.text) == ()


# laws ---------------------------------------------------------------------------------------------------------------------


@law(SOUP, KNOWN)
def test_no_known_marker_is_left_and_a_second_time_changes_nothing(answer, known):
    done = remove(answer, parse_markers(answer), known)
    left = parse_markers(done.text)
    assert [marker for marker in left if set(marker.numbers) & known] == []
    assert remove(done.text, left, known).text == done.text


@law(SOUP, KNOWN)
def test_unknown_numbers_are_never_deleted(answer, known):
    done = remove(answer, parse_markers(answer), known)
    for marker in done.markers:
        shown = done.text[marker.cleaned_start : marker.cleaned_end]
        unknown = [number for number in marker.numbers if number not in known]
        if len(unknown) == len(marker.numbers):
            assert shown == marker.text
        else:
            assert {number for found in parse_markers(f"Open{shown}") for number in found.numbers} == set(unknown)


@law(SOUP, KNOWN, CUTS)
def test_a_streamed_answer_has_the_places_of_the_removed_one(answer, known, cuts):
    parser, events = MarkerParser(known=known), []
    for low, high in pairwise(sorted({0, len(answer), *(cut % (len(answer) + 1) for cut in cuts)})):
        events += parser.feed(answer[low:high])
    events += parser.finish()
    assert remove(answer, events, known).markers == tuple(events)


@law(SOUP, KNOWN)
def test_offsets_never_decrease_and_agree(answer, known):
    done = remove(answer, parse_markers(answer), known)
    there = [done.to_cleaned(offset) for offset in range(len(answer) + 1)]
    back = [done.to_raw(offset) for offset in range(len(done.text) + 1)]
    assert there == sorted(there)
    assert back == sorted(back)
    assert set(there) <= set(range(len(done.text) + 1))
    assert set(back) <= set(range(len(answer) + 1))
    assert there[-1] == len(done.text)
    for marker in done.markers:
        assert there[marker.start] == marker.cleaned_start
    for offset in sorted(set(there)):
        assert there[back[offset]] == offset


@law(SOUP, KNOWN)
def test_only_markers_and_what_held_them_is_lost(answer, known):
    """Every character that goes is a marker, white space, a separator, a bracket, emphasis, a quote or a `</cite>`."""
    done = remove(answer, parse_markers(answer), known)
    cut = list(answer)
    for marker in done.markers:
        cut[marker.start : marker.end] = ["\0"] * (marker.end - marker.start)
    around = re.compile(r"</cite\s*>|[\s()\[\]*_~\"'“”‘’«»,;&\0" + GUARD + "]", re.IGNORECASE)

    def words(characters: list[str]) -> str:
        return re.sub(r"\b(?:and|en|und|et)\b| ", "", around.sub(" ", "".join(characters)))

    kept = list(done.text)
    for marker in done.markers:
        kept[marker.cleaned_start : marker.cleaned_end] = ["\0"] * (marker.cleaned_end - marker.cleaned_start)
    assert words(kept) == words(cut)


@law(SOUP)
def test_no_double_blank_and_none_before_punctuation_that_was_not_there(answer):
    plain = re.sub(r"[^\w.,;:!?\[\]( )\n]", "", answer)
    markers = parse_markers(plain)
    done = remove(plain, markers)
    assert done.text.count("  ") <= plain.count("  ")
    assert len(re.findall(r"\S [.,;:!?]", done.text)) <= len(re.findall(r"\S [.,;:!?]", plain))


@law(SOUP, KNOWN)
def test_renumbering_twice_changes_nothing_and_keeps_the_markers(answer, known):
    markers = parse_markers(answer)
    once, numbers = renumber(answer, markers, known)
    assert sorted(numbers) == sorted({n for m in markers for n in m.numbers} & known)
    unknown = {n for m in markers for n in m.numbers} - known
    assert not unknown & set(numbers.values())
    for marker in once.markers:
        shown = once.text[marker.cleaned_start : marker.cleaned_end]
        if not set(marker.numbers) & known:
            assert shown == marker.text
        elif len(shown) <= 64:
            read = [n for found in parse_markers(f"Open{shown}") for n in found.numbers]
            assert set(read) == {numbers.get(n, n) for n in marker.numbers}


@law(SOUP, KNOWN)
def test_html_shows_the_text_and_links_the_known(answer, known):
    markers = parse_markers(answer)
    done = link(answer, markers, lambda n: Link(f"#s{n}", f"{n}") if n in known else None, html=True)
    assert set(re.findall(r"<[^>]*>", done.text)) <= {"</a>", *(f'<a href="#s{n}">' for n in known)}
    assert done.text.count("<a ") == sum(n in known for m in markers for n in m.numbers)
    if not any(set(m.numbers) & known for m in markers):
        assert unescape(done.text.replace("&#0;", "\0")) == answer or "\0" in answer or "&" in answer
