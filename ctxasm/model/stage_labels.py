"""What people call the stages, and the reasons for which they drop a chunk. Pure."""

from __future__ import annotations

from collections.abc import Mapping

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
    "budget": "it did not fit into the limit",
    "outbid": "it would have fitted, but its room was better spent on others",
    "crowded_out": "it does not fit beside what was chosen",
    "no_value": "it holds no found chunk, so no room was spent on it",
    "oversized": "its document alone is larger than the limit, and this chunk was among its weakest",
    "no_room": "not one character of it fits into the limit",
    "floor": "it scores below the relevance floor",
    "top_k": "it ranks beyond top_k",
    "degenerate": "it is too small to be worth a place of its own",
    "irrelevant": "the model found nothing in it about the question",
    "empty": "it has no visible text",
    "parent_duplicate": "every found chunk that brought it is repeated",
    "missing": "it is not stored in this dataset",
    "already_sent": "it stands in an earlier message of the same conversation",
}


def stage_name(stage: str) -> str:
    """The name of a stage as the pages show it."""
    return STAGE_NAMES.get(stage, stage.capitalize())
