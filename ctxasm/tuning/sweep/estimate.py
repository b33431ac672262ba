"""What a sweep will take, before it runs: cells, seconds on this machine, and calls to a model where settings ask for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from ctxasm.model.datasets import Dataset
from ctxasm.model.records import Query
from ctxasm.tuning.sweep.cases import case_of
from ctxasm.tuning.sweep.counting import Counting, Tools
from ctxasm.tuning.sweep.sweep import Grid
from ctxasm.tuning.sweep.work import needs_this_process

TRIED_S = 0.5
"""Questions are counted for so long to find the pace."""


@dataclass(frozen=True, slots=True)
class SweepEstimate:
    """`settings` × `questions` = `cells`; `seconds` on one core at the pace of those tried, None where settings ask for a model.

    `model_chunks` is the most chunks that compression=model may send to it: the cells under it, times their hits.
    """

    settings: int
    questions: int
    cells: int
    seconds: float | None
    model_chunks: int


def estimate(dataset: Dataset, queries: Sequence[Query], grid: Grid, tools: Tools) -> SweepEstimate:
    """Count the first questions for half a second, and nothing that costs money."""
    asking = [each for each in grid.settings if each.enabled and each.compression == "model"]
    chunks = sum(len(query.retrieved) * (2 * each.window + 1) for query in queries for each in asking)
    cells = len(grid.settings) * len(queries)
    if needs_this_process(grid.settings):
        return SweepEstimate(len(grid.settings), len(queries), cells, None, chunks)
    counting, began, tried = Counting(grid.settings, tools), perf_counter(), 0
    limits = {at: each.max_tokens for at, each in enumerate(grid.settings) if each.budget_mode == "window"}
    for query in queries:
        case = case_of(query, dataset, dataset.document_chunks, grid.settings[0].encoding)
        counting.count(case, range(len(grid.settings)), limits)
        tried += 1
        if perf_counter() - began >= TRIED_S:
            break
    pace = (perf_counter() - began) / tried if tried else 0.0
    return SweepEstimate(len(grid.settings), len(queries), cells, pace * len(queries), chunks)
