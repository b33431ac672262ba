"""Speed of the marker parser and what it reads from labelled answers: `pytest -m bench -s tests/bench/test_markers.py`."""

from __future__ import annotations

import statistics
import time

import pytest

from ctxasm.citations.answer_text import without_markers
from ctxasm.citations.markers import MarkerParser, parse_markers
from tests.bench.tables import show
from tests.real_data import real_folder

pytestmark = pytest.mark.bench

SENTENCE = "Visiting hours are from two until eight in the evening (daily), and children may come along at any time"
PLAIN = "\n\n".join([". ".join([SENTENCE] * 6) + "."] * 1600)
CITED = "\n\n".join([" ".join([f"{SENTENCE} [1]."] * 6)] * 1600)
CODE = "```python\nfor i in range(3):\n    print(arr[i], f(x)[1])\n```\n\nThen `x[1]` is (a) fine, as `y` is.\n\n" * 8000
TEXTS = {
    "plain prose": PLAIN,
    "prose, a marker a sentence": CITED,
    "code": CODE,
    **{f"{count:,} [": "[" * count for count in (10_000, 20_000, 40_000)},
    **{f"{size} KB of [1]": "[1] " * (size * 250) for size in (50, 100, 200)},
    **{f"{size} KB of ([1], ": "([1], " * (size * 167) for size in (50, 100)},
}


def seconds(text: str, piece: int | None) -> float:
    """Median processor time of three runs, fed whole or in pieces of `piece` characters."""
    times = []
    for _ in range(3):
        parser, began = MarkerParser(), time.process_time()
        if piece is None:
            parser.feed(text)
        else:
            for low in range(0, len(text), piece):
                parser.feed(text[low : low + piece])
        parser.finish()
        times.append(time.process_time() - began)
    return statistics.median(times)


def test_speed() -> None:
    rows = []
    for name, text in TEXTS.items():
        size = len(text.encode()) / 1e6
        whole, pieces = seconds(text, None), seconds(text, 20)
        rows.append([name, size, whole * 1000, size / whole, pieces * 1000, size / pieces])
    show("Marker parser", ["text", "MB", "whole ms", "MB/s", "20 at a time ms", "MB/s"], rows)


def test_speed_of_removing() -> None:
    rows = []
    for name, text in (("prose, a marker a sentence", CITED), ("100 KB of [1]", "[1] " * 25_000)):
        markers, began = parse_markers(text), time.process_time()
        without_markers(text, markers)
        taken = time.process_time() - began
        rows.append([name, len(markers), taken * 1000, len(text) / 1e6 / taken])
    show("Removing the markers", ["text", "markers", "ms", "MB/s"], rows)


def test_labels_of_cited_answers() -> None:
    folder = real_folder()
    if folder is None or not (folder / "cited-hagrid" / "answers.jsonl").is_file():
        pytest.skip("the cited answers are not here")
    from tests.citations.cited_answers import read_labels

    labels = read_labels()
    cited = [label for label in labels if label.cites]
    agreeing = sum(label.parsed == label.cites for label in labels)
    show(
        "Labelled claims of cited answers",
        ["", "parser", "[N] alone"],
        [
            [
                f"labels with references reproduced, of {len(cited)}",
                *(sum(getattr(x, k) == x.cites for x in cited) for k in ("parsed", "plain")),
            ],
            [f"all labels, of {len(labels)}", agreeing, sum(x.plain == x.cites for x in labels)],
        ],
    )
    rows = [[x.query_id, ", ".join(x.texts), x.claim[:40], "… " + x.claim[-50:]] for x in labels if not x.cites and x.parsed]
    show("Labels without references whose text cites", ["query", "markers", "claim", ""], rows)
