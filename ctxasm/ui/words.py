"""Sentences: an event, a fate, a setting, in plain words. Pure; an event without words is a type error.

Every sentence may hold titles and ids from outside: escape it before it becomes HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from ctxasm.model import events as ev
from ctxasm.model.records import Document
from ctxasm.model.results import Fate
from ctxasm.model.settings import AssemblySettings

STAGE_NAMES: Mapping[str, str] = {
    "all": "Assembly",
    "retrieved": "Retrieved",
    "expand": "Expand",
    "deduplicate": "Deduplicate",
    "group": "Group",
    "budget": "Budget",
    "order": "Order",
    "summarise": "Prefixes",
    "render": "Render",
    "cite": "Citations",
    "answer": "Answer",
}
REASONS: Mapping[str, str] = {
    "budget": "its document did not fit into the budget",
    "oversized": "its document alone is larger than the budget and this chunk was among its weakest",
    "no_room": "not one character of it fits into the budget",
    "top_k": "it ranks beyond top_k",
    "empty": "it has no visible text",
    "parent_duplicate": "every hit that brought it left as a duplicate",
    "missing": "it is not stored in this dataset",
}


def number(value: float) -> str:
    """A whole number with a thin space between thousands: 12 345."""
    return f"{value:,.0f}".replace(",", "\u202f")


def plural(count: int, noun: str) -> str:
    """`1 chunk`, `2 chunks`; a noun in -y becomes -ies."""
    if count == 1:
        return f"{count} {noun}"
    return f"{number(count)} {noun[:-1]}ies" if noun.endswith("y") else f"{number(count)} {noun}s"


def decimal(value: float) -> str:
    """A score, as short as it can be read."""
    return f"{value:.3g}"


def title_of(documents: Mapping[str, Document], document_id: str, limit: int = 60) -> str:
    """A document's title, else its source, else its id: one line, at most `limit` characters."""
    document = documents.get(document_id)
    name = (document.title or document.source if document else None) or document_id
    line = " ".join(name.split()) or document_id
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def stage_name(stage: str) -> str:
    """The name of a stage as the pages show it."""
    return STAGE_NAMES.get(stage, stage.capitalize())


def event_sentence(event: ev.Event) -> str:
    """What one event says, in one sentence without its document (the caller shows which chunk it is about)."""
    match event:
        case ev.Repeated():
            return f"Retrieved {event.times} times; its best score and rank count."
        case ev.Added():
            return f"Added as a neighbour of {_parents(event.parents)}, with score {decimal(event.score)}."
        case ev.Dropped():
            missing = f"; needs {number(event.missing_tokens)} more tokens" if event.missing_tokens else ""
            return f"Dropped: {REASONS[event.reason]}{missing}."
        case ev.Absent():
            return "Not stored: the document has a gap at this index."
        case ev.Stripped():
            return f"First {plural(event.chars, 'character')} left out: the chunk before it shows them."
        case ev.Merged():
            return f"All {plural(event.chars, 'character')} are shown by the chunks before it."
        case ev.NearMiss():
            return f"Shares {plural(event.chars, 'character')} with the chunk before it: too few to strip, kept."
        case ev.Coincidence():
            return f"Shares {plural(event.chars, 'character')} with the chunk before it, more than half of that chunk: a coincidence, kept."
        case ev.Duplicate():
            return f"Says exactly what {event.of_document_id} #{event.of_chunk_index} says, which is kept."
        case ev.Placed():
            return f"Document placed at position {event.position} (best score {decimal(event.score)})."
        case _:
            return _later_sentence(event)


def _later_sentence(
    event: ev.Returned | ev.Unstripped | ev.Truncated | ev.Yielded | ev.Overshot | ev.Prefixed | ev.Neutralised | ev.Gapped | ev.Numbered,
) -> str:
    match event:
        case ev.Returned():
            return "Came back: the chunk that it repeats is not in the context."
        case ev.Unstripped():
            return f"Got {plural(event.chars, 'character')} of its head back: the chunk before it left."
        case ev.Truncated():
            return f"Cut after {plural(event.kept_chars, 'character')} to fit into the budget."
        case ev.Yielded():
            return f"The document's {event.part} gave way so that its best chunk fits."
        case ev.Overshot():
            return f"The context is {plural(event.tokens, 'token')} over the limit."
        case ev.Prefixed():
            return f"Page summary written before the document's first chunk ({plural(event.tokens, 'token')})."
        case ev.Neutralised():
            where = "its text" if event.chunk_index is not None else "a header field or summary"
            done = "brackets swapped for look-alikes" if event.swapped else "left as it is"
            return f"{where.capitalize()} holds {event.text!r}, which would read as a marker: {done}."
        case ev.Gapped():
            return "A gap mark stands before it: text in between is left out."
        case ev.Numbered():
            return f"Cited as [{event.number}] ({plural(len(event.chunk_indexes), 'chunk')})."
        case _:
            assert_never(event)


def _parents(parents: tuple[int, ...]) -> str:
    return " and ".join(f"#{index}" for index in parents) if parents else "its hit"


def fate_sentence(fate: Fate) -> str:
    """What became of a chunk, in one sentence."""
    match fate.fate:
        case "kept":
            stripped = f", without its first {plural(fate.stripped_chars, 'character')}" if fate.stripped_chars else ""
            return f"Sent in block [{fate.block}]{stripped}." if fate.block is not None else f"Sent{stripped}."
        case "truncated":
            return f"Sent in block [{fate.block}], cut to fit into the budget."
        case "merged":
            return f"Sent inside {_of(fate)}, which shows all of its text."
        case "duplicate_of":
            return f"Left out: {_of(fate)} says exactly the same and is kept."
        case "dropped":
            missing = f" Needs {plural(fate.missing_tokens, 'more token')}." if fate.missing_tokens else ""
            return f"Dropped at {stage_name(fate.stage)}: {REASONS.get(fate.reason or '', fate.reason or 'no reason given')}.{missing}"
        case _:
            assert_never(fate.fate)


def _of(fate: Fate) -> str:
    if fate.of is None:
        return "the chunk before it"
    document_id, index = fate.of
    return f"#{index}" if document_id == fate.document_id else f"{document_id} #{index}"


def fate_label(fate: Fate) -> str:
    """One or two words for a fate."""
    return {
        "kept": "sent",
        "truncated": "sent, cut",
        "merged": "sent, merged",
        "duplicate_of": "duplicate",
        "dropped": "dropped",
    }[fate.fate]


def settings_sentence(settings: AssemblySettings) -> str:
    """All that matters of a configuration, in one line."""
    if not settings.enabled:
        return "assembly off: retrieved chunks in retrieval order, one block each (the baseline)"
    return ", ".join((_expand_words(settings), *_dedup_words(settings), _budget_words(settings), *_render_words(settings)))


def _expand_words(settings: AssemblySettings) -> str:
    hits = f"first {plural(settings.top_k, 'hit')}, " if settings.top_k is not None else ""
    if settings.expand_window == 0:
        return f"{hits}no neighbours"
    share = "half score" if settings.decay == 0.5 else "full score" if settings.decay == 1 else f"{settings.decay:g} × score"
    step = " per step" if settings.decay_mode == "per_step" else ""
    return f"{hits}±{settings.expand_window} neighbour{'s' if settings.expand_window > 1 else ''} at {share}{step}"


def _dedup_words(settings: AssemblySettings) -> tuple[str, ...]:
    words = (f"strip > {plural(settings.min_overlap_chars, 'character')}",)
    return words if settings.dedup_exact else (*words, "keep exact duplicates")


def _budget_words(settings: AssemblySettings) -> str:
    scope = " of chunk text" if settings.budget_scope == "chunks" else ""
    oversized = "" if settings.oversized == "trim" else " (oversized ones too)"
    return f"drop documents over {number(settings.max_tokens)} tokens{scope}{oversized}"


def _render_words(settings: AssemblySettings) -> tuple[str, ...]:
    words = ("summary once per document" if settings.summary_prefix else "no summaries", f"one number per {settings.citation_unit}")
    notes = {"neutralise": (), "warn": ("markers in sources only reported",), "off": ("markers in sources ignored",)}
    encoding = (f"counted in {settings.encoding}",) if settings.encoding != "cl100k_base" else ()
    spoken = ("a spoken answer",) if settings.channel == "voice" else ()
    return (*words, *notes[settings.marker_collisions], *encoding, *spoken)
