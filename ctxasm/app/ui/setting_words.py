"""What each choice of a setting does, and the help of a setting. Pure; a choice without words fails a test."""

from __future__ import annotations

from collections.abc import Mapping

from ctxasm.model.settings import Spec, figures_of

CHOICES: Mapping[str, Mapping[str, str]] = {
    "decay_mode": {
        "flat": "the same share of the found chunk's score at any distance",
        "per_step": "the share once for every step away from the found chunk",
    },
    "dedup_keep": {
        "best": "the copy with the best score",
        "newest": "the newest by its document's date; it takes over the score",
    },
    "budget_policy": {
        "drop_documents": "whole documents leave from the tail until the rest fits",
        "greedy": "chunk by chunk by score, up to the first that does not fit: cut or left out, and nothing follows it",
        "greedy_skip": "chunk by chunk by score; what does not fit is passed over for what still does",
        "pack": "the choice that is worth most within the limit; the best found chunk is always in",
        "segments": "the runs of neighbouring chunks that are most relevant for their tokens",
        "learned": "chunk by chunk what is worth most for its tokens: by rank, found chunks nearby, words shared with the question",
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
        "always": "every chunk, whatever its size; one that says nothing of the question is left out, the best found chunk never",
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
        "auto": "only where similarity or intent say that the found chunks are not enough",
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
