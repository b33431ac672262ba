"""The figures' own JSON."""

from __future__ import annotations

import json

from ctxasm.app.ui.inspect.deduplicate import overlap_figure, overlap_pairs
from ctxasm.app.ui.inspect.expand import chunk_map, chunk_map_figure
from ctxasm.app.ui.inspect.group import slope, slope_figure
from tests.app.ui.builders import assembled, empty, hostile


def spec(figure) -> dict:
    return json.loads(figure.to_json())


def test_the_chunk_map_has_a_square_for_every_candidate():
    done = assembled()
    traces = {trace["name"]: trace for trace in spec(chunk_map_figure(chunk_map(done)))["data"]}
    assert traces["retrieved"]["marker"]["symbol"] == "square"
    assert traces["added neighbour"]["marker"]["symbol"] == "square-open"
    squares = [tuple(data) for name in ("retrieved", "added neighbour") for data in traces[name]["customdata"]]
    assert sorted(squares) == sorted((f.document_id, f.chunk_index) for f in done.trace.fates)
    assert "score 0.45" in " ".join(traces["added neighbour"]["hovertext"])


def test_the_overlap_bars_have_a_line_at_the_threshold():
    figure = spec(overlap_figure(overlap_pairs(assembled()), 20))
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [20]
    bars = {trace["name"]: trace for trace in figure["data"]}
    assert 40 in bars["stripped"]["x"]
    assert bars["stripped"]["customdata"][0] == ["scan", 1]


def test_the_slope_ends_where_the_context_has_it():
    lines = slope(assembled(limit=230))
    figure = spec(slope_figure(lines))
    ends = [trace["y"] for trace in figure["data"]]
    assert [end[0] for end in ends] == [line.by_score for line in lines]
    assert [end[1] for end, line in zip(ends, lines, strict=True) if line.in_context] == [
        line.in_context for line in lines if line.in_context
    ]
    assert {trace["line"]["dash"] for trace in figure["data"]} == {"solid", "dot"}


def test_nothing_and_hostile_text_can_be_drawn():
    for done in (empty(), hostile()):
        for figure in (chunk_map_figure(chunk_map(done)), overlap_figure(overlap_pairs(done), 20), slope_figure(slope(done))):
            text = figure.for_each_trace(lambda trace: trace.update(customdata=None)).to_json()
            assert "<script" not in text.replace("\\u003c", "<")
