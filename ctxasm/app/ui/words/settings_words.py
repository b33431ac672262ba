"""A whole configuration as one sentence: what is done to the hits, in the order in which it is done. Pure.

It names what leads and what differs from the defaults, and is silent about settings that have no effect. It may hold
words from a link: escape it before it becomes HTML.
"""

from __future__ import annotations

from ctxasm.app.ui.words.idle import idle
from ctxasm.app.ui.words.words import decimal, number
from ctxasm.model.amounts import agreeing, counted, percent
from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.settings import AssemblySettings, spec_of


def settings_sentence(settings: AssemblySettings) -> str:
    """All that matters of a configuration, in one line."""
    if not settings.enabled:
        words = "assembly off: retrieved chunks in retrieval order, one block each (the baseline)"
        return ", ".join((words, *_hits(settings), *_format(settings), *_reading(settings)))
    return ", ".join(
        (
            *_hits(settings),
            _neighbours(settings),
            *_duplicates(settings),
            *_compression(settings),
            *_budget(settings),
            *_order(settings),
            "summary once per document" if settings.summary_prefix else "no summaries",
            *_supplement(settings),
            f"one number per {settings.citation_unit}",
            *_format(settings),
            *_reading(settings),
        )
    )


def _hits(settings: AssemblySettings) -> tuple[str, ...]:
    floor = (f"hits that score at least {decimal(settings.relevance_floor)}",) if settings.relevance_floor is not None else ()
    return (*floor, f"first {counted(settings.top_k, 'hit')}") if settings.top_k is not None else floor


def _neighbours(settings: AssemblySettings) -> str:
    if settings.window == 0:
        return "no neighbours" if settings.expand_window == 0 else "no candidate neighbours"
    share = "half score" if settings.decay == 0.5 else "full score" if settings.decay == 1 else f"{settings.decay:g} × score"
    step = " per step" if settings.decay_mode == "per_step" and "decay_mode" not in idle(settings) else ""
    candidate = "candidate " if settings.pool_window is not None and "pool_window" not in idle(settings) else ""
    return f"±{settings.window} {candidate}neighbour{agreeing(settings.window, '', 's')} at {share}{step}"


def _duplicates(settings: AssemblySettings) -> tuple[str, ...]:
    words = [f"strip > {counted(settings.min_overlap_chars, 'character')}"]
    words += [] if settings.dedup_exact else ["keep exact duplicates"]
    words += [f"near duplicates once (≥ {percent(settings.near_threshold, 2)} the same words)"] if settings.dedup_near else []
    if settings.dedup_semantic:
        cosine = "the embedder's own threshold" if settings.semantic_threshold is None else f"cosine ≥ {settings.semantic_threshold:g}"
        words.append(f"the same meaning once ({cosine})")
    words += ["the newest copy stays"] if settings.dedup_keep == "newest" else []
    return tuple(words)


def _compression(settings: AssemblySettings) -> tuple[str, ...]:
    if settings.compression == "off":
        return ()
    most = number(settings.max_chunk_tokens)
    by = "to what the question is about" if settings.compression == "extractive" else "by a model"
    if settings.compression_when == "always":
        return (f"every chunk filtered {by}, to {most} tokens at most",)
    return (f"chunks over {most} tokens shortened {by} when not all fits",)


def _budget(settings: AssemblySettings) -> tuple[str, ...]:
    limit = _limit(settings)
    smallest = settings.min_chunk_tokens
    above = f" (chunks from {counted(smallest, 'token')})" if smallest != spec_of("min_chunk_tokens").default else ""
    worth = (f"a hit worth 1 / ({number(settings.pack_k)} + rank)",) if settings.pack_k != spec_of("pack_k").default else ()
    match settings.budget_policy:
        case "drop_documents":
            policy = f"drop documents over {limit}{'' if settings.oversized == 'trim' else ' (oversized ones too)'}"
        case "greedy":
            then = "the first that does not fit cut" if settings.overflow == "cut" else "no further"
            policy = f"the best chunks up to {limit}, {then}{above}"
        case "greedy_skip":
            policy = f"the best chunks up to {limit}, passing over what does not fit{above}"
        case "pack":
            policy = f"the {settings.pack_unit}s that are worth most within {limit}{above}"
        case "segments":
            policy = f"the most relevant runs of chunks within {limit}{above}"
        case "learned":
            policy = f"what is worth most to the question for its tokens within {limit}{above}"
    return (policy, *worth, *_zones(settings))


def _limit(settings: AssemblySettings) -> str:
    tokens = f"{number(settings.max_tokens)} tokens" if settings.budget_mode == "fixed" else "what the model's window leaves"
    characters = f" and {number(settings.max_chars)} characters" if settings.max_chars is not None else ""
    return f"{tokens}{characters}{' of chunk text' if settings.budget_scope == 'chunks' else ''}"


def _zones(settings: AssemblySettings) -> tuple[str, ...]:
    history = settings.history_summarise_after
    turns = (f"earlier turns summed up after {number(history)}",) if history is not None else ()
    zones = {
        "system": settings.system_tokens,
        "question": settings.question_tokens,
        "history": settings.history_tokens,
        "answer": settings.answer_tokens,
        "overhead": settings.overhead_tokens,
    }
    if "answer_tokens" in idle(settings):
        most = settings.history_tokens
        return (*((f"at most {number(most)} tokens of history",) if most is not None else ()), *turns)
    model = " ".join(settings.model_name.split()) or "a model without a name"
    size = f" with {number(settings.model_window)} tokens" if settings.model_window is not None else ""
    reserved = " + ".join(f"{name} {number(tokens)}" for name, tokens in zones.items() if tokens is not None)
    margin = f", {percent(settings.safety_margin, 2)} left free" if settings.safety_margin else ""
    return (f"window of {model}{size} less {reserved}{margin}", *turns)


def _order(settings: AssemblySettings) -> tuple[str, ...]:
    units = "documents" if settings.order_level == "document" or settings.citation_unit == "document" else f"{settings.citation_unit}s"
    level = settings.order_level == "document" and "order_level" not in idle(settings)
    inside = ("reading order inside each document",) if level else ()
    match settings.ordering:
        case "document_first":
            return ()
        case "relevance":
            words = f"{units} by relevance"
        case "chronological":
            words = f"{units} by source, page and place"
        case "lost_in_middle":
            words = f"best {units} at both ends, weakest in the middle"
        case "bookend":
            words = f"best {units[:-1]} first, second best last"
        case "auto":
            words = f"{units} by relevance up to 3, else bookend"
    return (words, *inside)


def _supplement(settings: AssemblySettings) -> tuple[str, ...]:
    match settings.supplement_mode:
        case "always":
            return ("supplement always",)
        case "never":
            return ("never a supplement",)
        case "auto":
            threshold = settings.supplement_threshold
            below = f"below similarity {threshold:g}" if threshold != spec_of("supplement_threshold").default else ""
            intents = " ".join(settings.supplement_intents.split())
            asked = f"for {intents}" if intents else ""
            when = " or ".join(part for part in (below, asked) if part)
            return (f"supplement {when}",) if when else ()


def _format(settings: AssemblySettings) -> tuple[str, ...]:
    words = {
        "numbered": (),
        "source": ("headed [SOURCE n]",),
        "xml": ("written as XML",),
        "grouped": ("grouped under headings without markers",),
        "minimal": ("text alone without markers",),
    }
    line = one_line(settings.block_separator)
    return (*words[settings.format], *([f"blocks parted by {line}"] if is_visible(line) else []))


def _reading(settings: AssemblySettings) -> tuple[str, ...]:
    notes = {"neutralise": (), "warn": ("markers in sources only reported",), "off": ("markers in sources ignored",)}
    encoding = (f"counted in {settings.encoding}",) if settings.encoding != spec_of("encoding").default else ()
    spoken = ("a spoken answer",) if settings.channel == "voice" else ()
    return (*notes[settings.marker_collisions], *encoding, *spoken)
