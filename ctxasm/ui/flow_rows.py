"""The funnel of the stages: chunks, tokens and evidence that each stage leaves. Pure; read off the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.evaluation.evidence import EvidenceState
from ctxasm.model.results import Assembly


class Level(NamedTuple):
    """What is left after a stage. `evidence` counts the pieces of which nothing is lost so far, `lost` those that it lost."""

    stage: str
    hits: int
    neighbours: int
    tokens: int
    evidence: int
    lost: int


def flow(assembly: Assembly, evidence: Sequence[EvidenceState] = ()) -> tuple[Level, ...]:
    """From what retrieval brought to what is written, a level for every stage that ran."""
    hits = {(fate.document_id, fate.chunk_index) for fate in assembly.trace.fates if fate.retrieved}
    stages = assembly.trace.stages
    ran = {record.stage for record in stages}
    # Evidence that no stage of this run lost was never brought: cannot be judged, or not retrieved.
    alive = [state for state in evidence if state.state != "unknown"]
    missing = sum(state.stage is not None and state.stage not in ran for state in alive)
    left = len(alive) - missing
    levels = [Level("retrieved", len(hits), 0, stages[0].tokens_in if stages else 0, left, missing)]
    for record in stages:
        lost = sum(state.stage == record.stage for state in alive)
        left -= lost
        own = {(shown.document_id, shown.chunk_index) for shown in record.after}
        levels.append(Level(record.stage, len(own & hits), len(own - hits), record.tokens_out, left, lost))
    return tuple(levels)
