"""What each setting is called, and what each of its choices does. Pure; a setting or choice without words fails a test."""

from __future__ import annotations

from collections.abc import Mapping

from ctxasm.model.measured import figures_of
from ctxasm.model.specs import Spec

LABELS: Mapping[str, str] = {
    "enabled": "Assembly",
    "relevance_floor": "Relevance floor (score)",
    "top_k": "Only the first k hits",
    "expand_window": "Neighbours",
    "pool_window": "Neighbours to choose among",
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
CHOICES: Mapping[str, Mapping[str, str]] = {
    "decay_mode": {
        "flat": "the same share of the hit's score at any distance",
        "per_step": "the share once for every step away from the hit",
    },
    "dedup_keep": {
        "best": "the copy with the best score",
        "newest": "the newest by its document's date; it takes over the score",
    },
    "budget_policy": {
        "drop_documents": "whole documents leave from the tail until the rest fits",
        "greedy": "chunk by chunk by score, up to the first that does not fit: cut or left out, and nothing follows it",
        "greedy_skip": "chunk by chunk by score; what does not fit is passed over for what still does",
        "pack": "the choice that is worth most within the limit; the best hit is always in",
        "segments": "the runs of neighbouring chunks that are most relevant for their tokens",
        "learned": "chunk by chunk what is worth most for its tokens, by rank, hits nearby and the words it shares with the question",
    },
    "budget_mode": {
        "fixed": "max tokens is the limit",
        "window": "what the zones leave of the model's window",
    },
    "budget_scope": {
        "rendered": "all that is sent: text, headers, summaries, separators",
        "chunks": "chunk text only, so the context may go over the limit",
    },
    "oversized": {
        "trim": "keep its best chunks, cut the rest",
        "drop": "leave it out, go on with the next document",
    },
    "overflow": {
        "cut": "cut at a sentence end, where enough room is left",
        "stop": "left out whole; only the best chunk is still cut where it alone does not fit",
    },
    "pack_unit": {
        "document": "documents are taken or left as a whole",
        "passage": "runs of neighbouring chunks are taken or left as a whole",
    },
    "encoding": {
        "cl100k_base": "GPT-4, GPT-3.5 and their embedding models",
        "o200k_base": "GPT-4o and later",
        "o200k_harmony": "gpt-oss",
        "p50k_base": "Codex and older models",
        "r50k_base": "GPT-3",
    },
    "compression": {
        "off": "chunks are sent as they are, or not at all",
        "extractive": "chunks keep their sentences about the question, word for word",
        "model": "a small model shortens chunks; what is not word for word is marked",
    },
    "compression_when": {
        "tight": "only when not all fits, and then only large chunks, the worst first",
        "always": "every chunk, whatever its size; one that says nothing of the question is left out, the best hit never",
    },
    "ordering": {
        "document_first": "documents by their best score",
        "relevance": "every block by its own best score",
        "chronological": "by source, page and place in the document",
        "lost_in_middle": "alternating from both ends: the best first, the weakest in the middle",
        "bookend": "the best first, the second best last, the rest between them",
        "auto": "by relevance up to 3 blocks, else bookend",
    },
    "order_level": {
        "block": "every block on its own",
        "document": "documents, with reading order inside each",
    },
    "supplement_mode": {
        "auto": "only where similarity or intent say that the hits are not enough",
        "always": "whenever the record brings one and it fits",
        "never": "left out",
    },
    "format": {
        "numbered": "[1] Source: title, page, then the text",
        "source": "[SOURCE 1] file § section, then the text",
        "xml": "one element per block, with its attributes and score",
        "grouped": "## source, then its text; no markers",
        "minimal": "the text alone; no markers",
    },
    "citation_unit": {
        "document": "one number for all of a document",
        "passage": "a number for each unbroken run of chunks",
        "chunk": "a number for each chunk",
    },
    "marker_collisions": {
        "neutralise": "their brackets are swapped for look-alikes",
        "warn": "reported, left as they are",
        "off": "not looked for",
    },
    "channel": {
        "text": "written, with markers",
        "voice": "spoken, without markers; its sources are the blocks",
    },
}
"""What each choice does, as the end of a sentence that begins with its name."""
NO_BOUNDARIES = ("grouped", "minimal")
"""Formats without markers: a source's own text may pass for a header there."""
BOUNDARY_LABEL = "no safe boundaries"
BOUNDARY_REASON = "This format writes no markers, and a source's own text may pass for a header or for another source."


def label_of(spec: Spec) -> str:
    """What a setting is called."""
    return LABELS.get(spec.name, spec.name.replace("_", " ").capitalize())


def choice_sentence(name: str, value: str) -> str:
    """What a choice does: `Chunk by chunk by score; …`."""
    words = CHOICES[name][value]
    return f"{words[0].upper()}{words[1:]}."


def help_of(spec: Spec, why_idle: str | None = None) -> str:
    """The help of a setting as markdown: what it does, what its choices do, and why it has no effect now, if so."""
    choices = CHOICES.get(spec.name, {})
    text = "\n".join(f"- **{value}**: {words}" for value, words in choices.items()) if choices else spec.help
    if choices and (figures := figures_of(spec.name)):
        text += f"\n\n{' '.join(figures)}"
    return f"**No effect now**: {why_idle}.\n\n{text}" if why_idle else text
