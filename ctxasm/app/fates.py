"""What became of every chunk, in words, and the stages as steps: found, widened, cut, and what each step left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from ctxasm.model.amounts import agreeing, counted, percent
from ctxasm.model.events import (
    REASONS,
    Compressed,
    Duplicate,
    Failed,
    Likeness,
    Merged,
    NearMiss,
    NoNeighbours,
    Prefixed,
    Stripped,
    Supplemented,
    Unexpanded,
    stage_name,
)
from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.tuning.evidence import EvidenceState

SENT = ("kept", "truncated", "merged")


def supplement_of(assembly: Assembly) -> Supplemented | None:
    """Whether the query's extra results are in the context and the rule that decided; None where it brings none."""
    record = assembly.trace.stage("supplement")
    return next((event for event in record.events if isinstance(event, Supplemented)), None) if record else None


def fate_of(assembly: Assembly, key: Key) -> Fate | None:
    """The fate of one chunk, or None where it was no candidate."""
    return next((fate for fate in assembly.trace.fates if (fate.document_id, fate.chunk_index) == key), None)


def likeness_label(likeness: Likeness, similarity: float) -> str:
    """How alike two chunks are, in few words: `nearly the same words 0.94`."""
    match likeness:
        case "exact":
            return "the same text"
        case "near":
            return f"nearly the same words {similarity:.2f}"
        case "semantic":
            return f"same meaning {similarity:.2f}"


def fates_by_key(assembly: Assembly) -> dict[Key, Fate]:
    """Every fate under the name of its chunk."""
    return {(fate.document_id, fate.chunk_index): fate for fate in assembly.trace.fates}


def failures(assembly: Assembly) -> tuple[Failed, ...]:
    """What the model that compresses said where it did not answer."""
    record = assembly.trace.stage("compress")
    return tuple(event for event in record.events if isinstance(event, Failed)) if record else ()


def unexpanded(assembly: Assembly) -> Unexpanded | None:
    """Why no hit has a neighbour, where expansion looked for some."""
    record = assembly.trace.stage("expand")
    return next((event for event in record.events if isinstance(event, Unexpanded)), None) if record else None


def unexpanded_sentence(event: Unexpanded) -> str:
    """Why no hit has a neighbour, as it is said at load, by `connect` and by the adapters."""
    said = NoNeighbours(event.obstacle, event.document_id, event.chunk_indexes).sentence
    return f"{said[0].upper()}{said[1:]}."


def likeness_words(likeness: Likeness, other: str, similarity: float) -> str:
    """How a chunk repeats another one: `says nearly what d2 #3 says (97 % the same words)`."""
    match likeness:
        case "exact":
            return f"says exactly what {other} says"
        case "near":
            return f"says nearly what {other} says ({percent(similarity)} the same words)"
        case "semantic":
            return f"means what {other} says (cosine {similarity:.2f})"
        case _:
            assert_never(likeness)


def fate_sentence(fate: Fate) -> str:
    """What became of a chunk, in one sentence."""
    match fate.fate:
        case "kept":
            stripped = f", without its first {counted(fate.stripped_chars, 'character')}" if fate.stripped_chars else ""
            return f"Kept{_block(fate)}{stripped}{_compressed(fate)}."
        case "truncated":
            return f"Kept{_block(fate)}, cut to fit the limit{_compressed(fate)}."
        case "merged":
            return f"Repeated: {_of(fate)} shows all of its text."
        case "duplicate_of":
            similarity = 1.0 if fate.similarity is None else fate.similarity
            return f"Repeated: it {likeness_words(fate.likeness or 'exact', _of(fate), similarity)}, which is kept."
        case "dropped":
            missing = f" Needs {counted(fate.missing_tokens, 'more token')}." if fate.missing_tokens else ""
            return f"Left out at {stage_name(fate.stage)}: {REASONS.get(fate.reason or '', fate.reason or 'no reason given')}.{missing}"
        case _:
            assert_never(fate.fate)


def _block(fate: Fate) -> str:
    return f" in block [{fate.block}]" if fate.block is not None else ""


def _compressed(fate: Fate) -> str:
    return f", shortened to {percent(fate.compressed)} of its tokens" if fate.compressed is not None else ""


def _of(fate: Fate) -> str:
    if fate.of is None:
        return "the chunk before it"
    document_id, index = fate.of
    return f"#{index}" if document_id == fate.document_id else f"{document_id} #{index}"


def fate_label(fate: Fate) -> str:
    """One or two words for a fate."""
    return {
        "kept": "kept" if fate.compressed is None else "kept, shortened",
        "truncated": "kept, cut",
        "merged": "repeated",
        "duplicate_of": {"near": "nearly repeated", "semantic": "same meaning"}.get(fate.likeness or "", "repeated"),
        "dropped": "left out",
    }[fate.fate]


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


class FunnelStep(NamedTuple):
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


def steps(assembly: Assembly, evidence: Sequence[EvidenceState] = ()) -> tuple[FunnelStep, ...]:
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


def _step(name: str, stage: str, label: str, value: str, levels: dict[str, Level], does: str) -> FunnelStep:
    level = levels[stage]
    labelled = sum(levels["retrieved"][-2:])
    return FunnelStep(name, stage, label, value, level.hits + level.neighbours, level.tokens, does, level.evidence, level.lost, labelled)


def _found(assembly: Assembly, levels: dict[str, Level]) -> FunnelStep:
    hits = levels["retrieved"].hits
    return _step("found", "retrieved", "found", f"{hits:,}", levels, f"Search returned {counted(hits, 'chunk')}.")


def _widened(assembly: Assembly, levels: dict[str, Level]) -> FunnelStep:
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


def _repeats(assembly: Assembly, levels: dict[str, Level]) -> FunnelStep:
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


def _grouped(assembly: Assembly, levels: dict[str, Level]) -> FunnelStep:
    documents = len({fate.document_id for fate in assembly.trace.fates})
    does = "Chunks stand in their documents, the document with the best chunk first."
    return _step("grouped", "group", "grouped", f"{documents:,}", levels, does)


def _shortened(assembly: Assembly, levels: dict[str, Level]) -> FunnelStep:
    record = assembly.trace.stage("compress")
    count = sum(isinstance(event, Compressed) for event in record.events) if record else 0
    does = (
        f"{counted(count, 'chunk')} {agreeing(count, 'keeps', 'keep')} only what bears on the question."
        if count
        else "No chunk had to be shortened."
    )
    return _step("shortened", "compress", "shortened", f"{count:,}", levels, does)


def _fits(assembly: Assembly, levels: dict[str, Level]) -> FunnelStep:
    gone = sum(fate.fate == "dropped" and fate.stage == "budget" for fate in assembly.trace.fates)
    does = f"{counted(gone, 'chunk')} did not fit into {assembly.limit:,} tokens." if gone else "Everything fits."
    level = levels["budget"]
    return _step("fits", "budget", "fits", f"{level.hits + level.neighbours:,}", levels, does)


def _prefixed(assembly: Assembly, levels: dict[str, Level]) -> FunnelStep:
    count = sum(isinstance(event, Prefixed) for record in assembly.trace.stages for event in record.events)
    does = (
        f"{counted(count, 'page summary')} {agreeing(count, 'stands before its document', 'stand before their documents')}."
        if count
        else "No page summaries are written."
    )
    return _step("prefixed", "summarise", "summaries", f"{count:,}", levels, does)


def _sources(assembly: Assembly, levels: dict[str, Level]) -> FunnelStep:
    sent = sum(fate.fate in SENT for fate in assembly.trace.fates)
    does = f"{counted(sent, 'chunk')} under {counted(len(assembly.citations), 'number')} that an answer can cite."
    return _step("sources", "cite", "sources", f"{len(assembly.citations):,}", levels, does)
