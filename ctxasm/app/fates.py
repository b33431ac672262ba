"""What became of a chunk, read off the trace. Pure."""

from __future__ import annotations

from ctxasm.model.events import Failed, Likeness, Supplemented, Unexpanded
from ctxasm.model.neighbours import NoNeighbours
from ctxasm.model.results import Assembly, Fate, Key

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
