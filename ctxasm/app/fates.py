"""What became of a chunk, read off the trace. Pure."""

from __future__ import annotations

from typing import assert_never

from ctxasm.model.amounts import counted, percent
from ctxasm.model.events import Failed, Likeness, Supplemented, Unexpanded
from ctxasm.model.neighbours import NoNeighbours
from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.model.stage_labels import REASONS, stage_name

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
