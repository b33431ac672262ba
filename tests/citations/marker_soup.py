"""Random answers full of markers, halves of markers and everything that could be mistaken for one."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples

WHOLE = [
    *(
        "[1]",
        "[2]",
        "[3]",
        "[99]",
        "[1, 99]",
        "[1-3]",
        "[2–7]",
        "[1; 2 and 3]",
        "[[1]]",
        "[[1], [99]]",
        "[^1]",
        "[01]",
        "[0]",
        "[3-1]",
        "[1,]",
    ),
    *("【1】", "［2］", "［1，2］", "【1†source】", "【4:0†source】", "[1](https://x.example/a_(b))", "[1, 99](x 't')", "![1](a.png)"),
    *(
        "[SOURCE 1]",
        "[doc2]",
        "[S1, S99]",
        "[bron 3]",
        "(ID: 1)",
        "(id 1, 99)",
        '<cite id="1">',
        "<cite id=99>",
        "</cite>",
        "<cite>2</cite>",
    ),
    *("<sup>1</sup>", "10<sup>6</sup>", "arr[1]", "argv[2]", "x_{[1]}", r"\[1\]", "`[1]`", "[5]: x", "s[5]", "hepatitis B[1]", "a.b[1]"),
    *("[^1^]", "[^1^][2]", "¹", "²,³", "⁹", "¹⁻³", "(source 3)", "(bron 1, 9)", "(Quelle: 2)", "[zie 2]", "[1, p. 3]", "[1, 99, p. 3]"),
    *("[1]-[3]", "[3]-[1]", "[1, 9]–[12]", "〔1〕", "_[1]_", "[Quelle 2]", "[#2]", "[doc_3]", "[1 bis 3]", "[1 §2]", "m²", "10³", "x¹"),
    *("[2019] UKSC 4", "[1999] 2 AC 22", "[0-9]+", "= [1, 2]", '": [1]', "$[1,2]$", "regex [1-9]", "x in [1, 5]", "[2024](x)", "f(x)[1]"),
    *("<pre>", "</pre>", "<code>", "</code>", '<sup><a href="#1">1</a></sup>', "https://x.example/a[1]=2"),
    *(
        "[\u200e1\u200e]",
        "[\u2067doc 2\u2069]",
        "[see\u200f3]",
        "[ref-1]",
        "[source_id=2]",
        "[doc\u200eid 1]",
        '<cite index="2-1">',
        '<sup class="x">1</sup>',
    ),
    *("[1-999999999]", "[" + "1" * 70 + "]", "[1a]", "[]", "[x] ", "[Online]", "f()[1]", "https://x.example/a_b[1]"),
]
HALVES = [
    *("[", "]", "[7", "8]", "[[", "(", ")", "](", "【", "】", "［", "†", "{", "}", "<", ">", "<ci", "te id=5>", "<cite", "<sup>", "</sup>"),
    *("^]", "⁻", "zie ", "p. ", "bis ", " UK", "SC 4", "pre>", "<p", "<co", "de>", "(so", "urce 3)", "bron ", "_", "§", "〔", "〕"),
    *("(i", "d: 5)", "ID", "doc", "source ", "s", "7", "5", "-", "–", ",", ";", "&", " and ", " en ", ":", "/", "://", "_", "^", "!", "\\"),
]
AROUND = [
    *(
        "`",
        "``",
        "```",
        "```\n",
        "```py\n",
        "~",
        "~~~\n",
        "**",
        "*",
        "__",
        "~~",
        '"',
        "'",
        "“",
        "”",
        "|",
        "= ",
        ".",
        "?",
        " ",
        "  ",
        "\t",
        "\n",
    ),
    *(
        "\n\n",
        "\r\n",
        "\r",
        "\n    ",
        "    ",
        "- ",
        "1. ",
        "> ",
        "# ",
        "Bronnen:\n",
        "**Sources:**\n\n",
        "<think>",
        "</think>",
        "<thinking>",
    ),
    *(
        "open",
        "Until nine",
        " the ",
        "data",
        "B",
        "x",
        "arr",
        "É",
        "时间",
        "😀",
        "👩‍👩‍👧",
        "مرحبا",
        "\u2060",
        "\u200b",
        "\u3000",
        "\u2028",
        "\0",
        "\x0b",
    ),
]
SOUP = st.lists(
    st.one_of(
        st.sampled_from(WHOLE),
        st.sampled_from(HALVES),
        st.sampled_from(AROUND),
        st.text(alphabet='[](){}`~<>\\/ \n\t\r12,;-–^!_:†【】［］〔¹²aAiIdDsBé😀*"', max_size=8),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    ),
    max_size=24,
).map("".join)
CUTS = st.lists(st.integers(0, 10_000), max_size=8)


def law(*strategies):
    """A property over random answers: few by default, as many as CTXASM_LAW_EXAMPLES asks for."""
    wanted = os.environ.get("CTXASM_LAW_EXAMPLES")
    # The default run is the same every time: a check that fails by chance stops people who changed nothing.
    quiet = [HealthCheck.filter_too_much]
    law = settings(max_examples=examples(100), derandomize=wanted is None, suppress_health_check=quiet)
    return lambda check: law(given(*strategies)(check))
