"""Plain words that every picture uses: numbers, names of stages and documents, the fate of a chunk. Pure.

`event_words` says what a stage did, `settings_words` what a configuration is. Every sentence may hold titles and ids from
outside: escape it before it becomes HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from ctxasm.model.events import Likeness
from ctxasm.model.records import Document
from ctxasm.model.results import Fate

STAGE_NAMES: Mapping[str, str] = {
    "all": "Assembly",
    "retrieved": "Retrieved",
    "expand": "Expand",
    "deduplicate": "Deduplicate",
    "group": "Group",
    "compress": "Compress",
    "budget": "Budget",
    "zones": "Model window",
    "order": "Order",
    "summarise": "Prefixes",
    "supplement": "Supplement",
    "render": "Render",
    "cite": "Citations",
    "answer": "Answer",
}
REASONS: Mapping[str, str] = {
    "budget": "it did not fit into the budget",
    "outbid": "it would have fitted, but its room was better spent on others",
    "crowded_out": "it does not fit beside what was chosen",
    "no_value": "it holds no hit, so no room was spent on it",
    "oversized": "its document alone is larger than the budget and this chunk was among its weakest",
    "no_room": "not one character of it fits into the budget",
    "floor": "it scores below the relevance floor",
    "top_k": "it ranks beyond top_k",
    "degenerate": "it is too small to be worth a place of its own",
    "irrelevant": "the model found nothing in it about the question",
    "empty": "it has no visible text",
    "parent_duplicate": "every hit that brought it left as a duplicate",
    "missing": "it is not stored in this dataset",
}


def number(value: float) -> str:
    """A whole number with its thousands apart: 12,345."""
    return f"{value:,.0f}"


def plural(count: int, noun: str) -> str:
    """`1 chunk`, `2 chunks`; a noun in -y becomes -ies, one in -ch -ches."""
    if count == 1:
        return f"{count} {noun}"
    if noun.endswith("ch"):
        return f"{number(count)} {noun}es"
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


def likeness_words(likeness: Likeness, other: str, similarity: float) -> str:
    """How a chunk repeats another one: `says nearly what d2 #3 says (97 % the same words)`."""
    match likeness:
        case "exact":
            return f"says exactly what {other} says"
        case "near":
            return f"says nearly what {other} says ({100 * similarity:.0f} % the same words)"
        case "semantic":
            return f"means what {other} says (cosine {similarity:.2f})"
        case _:
            assert_never(likeness)


def fate_sentence(fate: Fate) -> str:
    """What became of a chunk, in one sentence."""
    match fate.fate:
        case "kept":
            stripped = f", without its first {plural(fate.stripped_chars, 'character')}" if fate.stripped_chars else ""
            return f"Sent{_block(fate)}{stripped}{_compressed(fate)}."
        case "truncated":
            return f"Sent{_block(fate)}, cut to fit into the budget{_compressed(fate)}."
        case "merged":
            return f"Sent inside {_of(fate)}, which shows all of its text."
        case "duplicate_of":
            similarity = 1.0 if fate.similarity is None else fate.similarity
            return f"Left out: it {likeness_words(fate.likeness or 'exact', _of(fate), similarity)}, which is kept."
        case "dropped":
            missing = f" Needs {plural(fate.missing_tokens, 'more token')}." if fate.missing_tokens else ""
            return f"Dropped at {stage_name(fate.stage)}: {REASONS.get(fate.reason or '', fate.reason or 'no reason given')}.{missing}"
        case _:
            assert_never(fate.fate)


def _block(fate: Fate) -> str:
    return f" in block [{fate.block}]" if fate.block is not None else ""


def _compressed(fate: Fate) -> str:
    return f", shortened to {100 * fate.compressed:.0f} % of its tokens" if fate.compressed is not None else ""


def _of(fate: Fate) -> str:
    if fate.of is None:
        return "the chunk before it"
    document_id, index = fate.of
    return f"#{index}" if document_id == fate.document_id else f"{document_id} #{index}"


def fate_label(fate: Fate) -> str:
    """One or two words for a fate."""
    return {
        "kept": "sent" if fate.compressed is None else "sent, shortened",
        "truncated": "sent, cut",
        "merged": "sent, merged",
        "duplicate_of": {"near": "near duplicate", "semantic": "same meaning"}.get(fate.likeness or "", "duplicate"),
        "dropped": "dropped",
    }[fate.fate]
