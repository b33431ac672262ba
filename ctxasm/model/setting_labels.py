"""What each setting is called, on the pages and in sentences: in plain words. Pure; a setting without a name fails a test."""

from __future__ import annotations

from collections.abc import Mapping

from ctxasm.model.settings import spec_of
from ctxasm.model.specs import Spec

LABELS: Mapping[str, str] = {
    "enabled": "Assembly",
    "relevance_floor": "Relevance floor (score)",
    "top_k": "Only the first k hits",
    "expand_window": "Neighbours",
    "pool_window": "Candidate neighbours",
    "decay": "Decay of a neighbour's score",
    "decay_mode": "Decay mode",
    "min_overlap_chars": "Strip overlap above (characters)",
    "dedup_exact": "Exact duplicates shown once",
    "dedup_near": "Near duplicates shown once",
    "near_threshold": "Near from this share of words",
    "dedup_semantic": "Same meaning shown once",
    "semantic_threshold": "Same meaning from this cosine",
    "dedup_keep": "Which copy stays",
    "budget_policy": "Budget policy",
    "budget_mode": "Limit",
    "max_tokens": "Max tokens",
    "max_chars": "Max characters as well",
    "budget_scope": "What counts against the limit",
    "oversized": "Oversized best document",
    "overflow": "The first chunk that does not fit",
    "min_chunk_tokens": "Smallest chunk worth a place (tokens)",
    "pack_k": "A hit is worth 1 / (k + rank): k",
    "pack_unit": "Pack: unit",
    "encoding": "Token vocabulary",
    "model_name": "Model",
    "model_window": "Window of the model (tokens)",
    "system_tokens": "System prompt (tokens)",
    "question_tokens": "Question (tokens)",
    "history_tokens": "History, at most (tokens)",
    "history_summarise_after": "History summed up after (turns)",
    "answer_tokens": "Answer (tokens)",
    "overhead_tokens": "Overhead (tokens)",
    "safety_margin": "Safety margin (share of the window)",
    "compression": "Compression",
    "compression_when": "Compress when",
    "max_chunk_tokens": "Left of a compressed chunk, at most (tokens)",
    "ordering": "Ordering",
    "order_level": "What is ordered",
    "summary_prefix": "Page summaries",
    "summary_template": "Summary template",
    "supplement_mode": "Supplement",
    "supplement_threshold": "Supplement below this similarity",
    "supplement_intents": "Supplement for these intents",
    "supplement_separator": "Line above the supplement",
    "format": "Format",
    "citation_unit": "One citation number per",
    "gap_mark": "Gap mark",
    "block_separator": "Line between blocks",
    "marker_collisions": "Markers inside source text",
    "channel": "Answer channel",
}


def label_of(spec: Spec) -> str:
    """What a setting is called."""
    return LABELS.get(spec.name, spec.name.replace("_", " ").capitalize())


def named(values: Mapping[str, object]) -> str:
    """Settings with their values, as part of a sentence: `Neighbours 2, Max tokens 4,000, Budget policy drop documents`."""
    return ", ".join(f"{label_of(spec_of(name))} {value_words(spec_of(name), value)}" for name, value in values.items())


def value_words(spec: Spec, value: object) -> str:
    """A value as a person reads it: `on`, `4,000`, `drop documents`, `as Neighbours`."""
    if value is None:
        return f"as {LABELS[spec.none]}" if spec.none in LABELS else spec.none
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    return choice_name(spec, str(value)) if spec.kind == "choice" else str(value)


def choice_name(spec: Spec, value: str) -> str:
    """A choice as a person reads it, `drop documents`; the name of a vocabulary is its own."""
    return value if spec.name == "encoding" else value.replace("_", " ")
