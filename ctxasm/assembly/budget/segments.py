"""Policy `segments`: relevant runs, best first, each as it fits beside those before it."""

from __future__ import annotations

from collections.abc import Iterable

from ctxasm.assembly.budget.chunk_sets import ChunkSet
from ctxasm.assembly.budget.runs import Run, RunChunk, RunField, value_of
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.budget.taking import taken
from ctxasm.assembly.budget.units import ChunkUnit, crowded, cut_down, fit, index_of_best, refilled, set_of, start, tokens_of
from ctxasm.assembly.steps import Chosen, Resolution
from ctxasm.model.results import Candidate


def segments(scales: Scales) -> Chosen:
    """The best chunk, then the run that it stands in and the best of the others, each as it fits beside those before it."""
    begun = start(scales)
    if begun is None:
        return taken(scales, ChunkSet(scales), {})
    _, small, among = begun
    field, singles = scales.once("runs", lambda: _field(scales, among))
    units = [*_units(scales, field.best(scales.limit)), *singles]
    first = units[index_of_best(begun, units)]
    if not fit(scales, [first]):
        return crowded(cut_down(scales, begun, first), among, units)
    kept = refilled(scales, [first], [unit for unit in units if unit is not first])
    return crowded(taken(scales, set_of(scales, kept), small), among, units)


def _field(scales: Scales, among: Resolution) -> tuple[RunField, list[ChunkUnit]]:
    """Where runs are looked for, and every chunk by itself."""
    field = RunField(*_run_chunks(scales, among))
    return field, _units(scales, field.singles())


def _units(scales: Scales, runs: Iterable[Run]) -> list[ChunkUnit]:
    return [
        ChunkUnit((name, indexes[0]), tuple([scales.own[name][index] for index in indexes]), tokens, value)
        for name, indexes, tokens, value in runs
    ]


def _run_chunks(scales: Scales, among: Resolution) -> tuple[dict[str, list[RunChunk]], dict[str, int]]:
    """The shown chunks of every document with their tokens, and what a run of it takes besides. Only hits are worth something."""
    chunks: dict[str, list[RunChunk]] = {}
    openings: dict[str, int] = {}
    for plan in scales.plans(among):
        document_id = plan.document.document_id
        own = scales.own[document_id]
        chunks[document_id] = [RunChunk(j.chunk.chunk_index, tokens_of(scales, [j]), _value(own[j.chunk.chunk_index])) for j in plan.joined]
        openings[document_id] = max(0, scales.size([plan]).tokens - tokens_of(scales, plan.joined)) + 1
    return chunks, openings


def _value(candidate: Candidate) -> float:
    return value_of(candidate.rank) if candidate.retrieved else 0.0
