"""The funnel of an assembly: what every stage left, from what was found to what is sent. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.app.fates import SENT, unexpanded, unexpanded_sentence
from ctxasm.model.amounts import agreeing, counted
from ctxasm.model.events import Compressed, Duplicate, Merged, NearMiss, Prefixed, Stripped
from ctxasm.model.results import Assembly
from ctxasm.tuning.evidence import EvidenceState


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


class Step(NamedTuple):
    """What a stage left. `value` stands in the funnel, `does` says in a sentence what the stage did; `stage` is its technical name.

    Of `labelled` pieces of evidence `kept` are whole so far, and `lost` were lost by this stage.
    """

    name: str
    stage: str
    label: str
    value: str
    chunks: int
    tokens: int
    does: str
    kept: int = 0
    lost: int = 0
    labelled: int = 0

    @property
    def evidence(self) -> str:
        """`2 of 3`: pieces of labelled evidence of which nothing is lost so far; empty where none is labelled."""
        return f"{self.kept} of {self.labelled}" if self.labelled else ""


def steps(assembly: Assembly, evidence: Sequence[EvidenceState] = ()) -> tuple[Step, ...]:
    """The steps of an assembly in order: those of stages that ran, and of optional ones only where they are on."""
    levels = {level.stage: level for level in flow(assembly, evidence)}
    ran = {record.stage for record in assembly.trace.stages}
    settings = assembly.settings
    found = [_found(assembly, levels), _widened(assembly, levels)]
    if "deduplicate" in ran:
        found.append(_repeats(assembly, levels))
    if "group" in ran:
        found.append(_grouped(assembly, levels))
    if "compress" in ran and settings.compression != "off":
        found.append(_shortened(assembly, levels))
    if "budget" in ran:
        found.append(_fits(assembly, levels))
    if "order" in ran and settings.ordering != "document_first":
        blocks = f"{len(assembly.citations):,}"
        found.append(_step("ordered", "order", "ordered", blocks, levels, "The blocks stand in the order that was asked for."))
    if "summarise" in ran:
        found.append(_prefixed(assembly, levels))
    found.append(_sources(assembly, levels))
    return tuple(found)


def _step(name: str, stage: str, label: str, value: str, levels: dict[str, Level], does: str) -> Step:
    level = levels[stage]
    labelled = sum(levels["retrieved"][-2:])
    return Step(name, stage, label, value, level.hits + level.neighbours, level.tokens, does, level.evidence, level.lost, labelled)


def _found(assembly: Assembly, levels: dict[str, Level]) -> Step:
    hits = levels["retrieved"].hits
    return _step("found", "retrieved", "found", f"{hits:,}", levels, f"Search returned {counted(hits, 'chunk')}.")


def _widened(assembly: Assembly, levels: dict[str, Level]) -> Step:
    level, window = levels["expand"], assembly.settings.expand_window
    if not assembly.settings.enabled:
        does = "Assembly is off: no neighbours are fetched."
    elif not window:
        does = "No neighbours are fetched: raise Neighbours to see them appear."
    elif (why := unexpanded(assembly)) is not None:
        does = unexpanded_sentence(why)
    else:
        does = f"{counted(level.neighbours, 'neighbour')} came along."
    return _step("widened", "expand", "with neighbours", f"{level.hits + level.neighbours:,}", levels, does)


def _repeats(assembly: Assembly, levels: dict[str, Level]) -> Step:
    record = assembly.trace.stage("deduplicate")
    events = record.events if record else ()
    chars = sum(event.chars for event in events if isinstance(event, (Stripped, Merged)))
    copies = sum(isinstance(event, Duplicate) for event in events)
    near = sum(isinstance(event, NearMiss) for event in events)
    said = [f"{counted(chars, 'character')} that neighbours share {agreeing(chars, 'is', 'are')} sent once"] if chars else []
    said += [f"{counted(copies, 'copy')} left out"] if copies else []
    said += [f"{counted(near, 'short overlap')} kept"] if near else []
    does = f"{', '.join(said)}." if said else "Nothing is said twice."
    return _step("repeats", "deduplicate", "repeated", f"−{chars:,} chars" if chars else "0", levels, does)


def _grouped(assembly: Assembly, levels: dict[str, Level]) -> Step:
    documents = len({fate.document_id for fate in assembly.trace.fates})
    does = "Chunks stand in their documents, the document with the best chunk first."
    return _step("grouped", "group", "grouped", f"{documents:,}", levels, does)


def _shortened(assembly: Assembly, levels: dict[str, Level]) -> Step:
    record = assembly.trace.stage("compress")
    count = sum(isinstance(event, Compressed) for event in record.events) if record else 0
    does = (
        f"{counted(count, 'chunk')} {agreeing(count, 'keeps', 'keep')} only what bears on the question."
        if count
        else "No chunk had to be shortened."
    )
    return _step("shortened", "compress", "shortened", f"{count:,}", levels, does)


def _fits(assembly: Assembly, levels: dict[str, Level]) -> Step:
    gone = sum(fate.fate == "dropped" and fate.stage == "budget" for fate in assembly.trace.fates)
    does = f"{counted(gone, 'chunk')} did not fit into {assembly.limit:,} tokens." if gone else "Everything fits."
    level = levels["budget"]
    return _step("fits", "budget", "fits", f"{level.hits + level.neighbours:,}", levels, does)


def _prefixed(assembly: Assembly, levels: dict[str, Level]) -> Step:
    count = sum(isinstance(event, Prefixed) for record in assembly.trace.stages for event in record.events)
    does = (
        f"{counted(count, 'page summary')} {agreeing(count, 'stands before its document', 'stand before their documents')}."
        if count
        else "No page summaries are written."
    )
    return _step("prefixed", "summarise", "summaries", f"{count:,}", levels, does)


def _sources(assembly: Assembly, levels: dict[str, Level]) -> Step:
    sent = sum(fate.fate in SENT for fate in assembly.trace.fates)
    does = f"{counted(sent, 'chunk')} under {counted(len(assembly.citations), 'number')} that an answer can cite."
    return _step("sources", "cite", "sources", f"{len(assembly.citations):,}", levels, does)
