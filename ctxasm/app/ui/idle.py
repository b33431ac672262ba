"""Which settings have no effect under the others, and why. Pure.

Law: giving an idle setting any other value changes nothing of an assembly. (With a fixed limit the zones of a named model
change nothing of the context either, but they show whether it all fits into its window.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ctxasm.model.settings import BY_VALUE, AssemblySettings, specs

MODEL = ("model_name", "model_window")
HISTORY = ("history_tokens", "history_summarise_after")
"""What holds for earlier turns whether or not a window is shared out."""
ZONES = tuple(spec.name for spec in specs() if spec.stage == "zones" and spec.name not in (*MODEL, *HISTORY))
IN_BASELINE = (
    "enabled", "relevance_floor", "top_k", "budget_mode", "max_tokens", *ZONES, *MODEL, *HISTORY, "encoding", "format",
    "block_separator", "marker_collisions", "channel",
)  # fmt: skip
"""What the baseline still reads: which hits, how a block is written and counted, and where the limit's line stands."""


class Rule(NamedTuple):
    """Settings that have no effect where `holds` says so."""

    names: tuple[str, ...]
    holds: Callable[[AssemblySettings], bool]
    reason: str


RULES = (
    Rule(
        tuple(spec.name for spec in specs() if spec.name not in IN_BASELINE),
        lambda s: not s.enabled,
        "assembly is off: the baseline has no such stage",
    ),
    Rule(("pool_window",), lambda s: s.budget_policy not in BY_VALUE, "only pack, segments and learned choose among many"),
    Rule(
        ("expand_window",),
        lambda s: s.pool_window is not None and s.budget_policy in BY_VALUE,
        "candidate neighbours are set by themselves",
    ),
    Rule(("decay", "decay_mode"), lambda s: s.window == 0, "no neighbours are fetched (window 0)"),
    Rule(("decay_mode",), lambda s: s.window == 1, "every neighbour is one step away (window 1)"),
    Rule(("decay_mode",), lambda s: s.decay == 1, "a decay of 1 leaves every score as it is"),
    Rule(("near_threshold",), lambda s: not s.dedup_near, "near duplicates are not looked for"),
    Rule(("semantic_threshold",), lambda s: not s.dedup_semantic, "duplicates of meaning are not looked for"),
    Rule(
        ("dedup_keep",),
        lambda s: not (s.dedup_exact or s.dedup_near or s.dedup_semantic),
        "no duplicates are looked for, so that every copy stays",
    ),
    Rule(("max_tokens",), lambda s: s.budget_mode == "window", "the zones of the model's window set the limit"),
    Rule(
        ZONES,
        lambda s: s.budget_mode == "fixed" and not s.model_name.strip() and s.model_window is None,
        "no model is named whose window is shared out",
    ),
    Rule(("oversized",), lambda s: s.budget_policy != "drop_documents", "only drop_documents takes documents as a whole"),
    Rule(("overflow",), lambda s: s.budget_policy != "greedy", "only greedy goes up to the first chunk that does not fit"),
    Rule(("min_chunk_tokens",), lambda s: s.budget_policy == "drop_documents", "drop_documents takes documents as a whole"),
    Rule(("pack_unit",), lambda s: s.budget_policy != "pack", "only pack takes units"),
    Rule(("compression_when", "max_chunk_tokens"), lambda s: s.compression == "off", "compression is off"),
    Rule(("order_level",), lambda s: s.citation_unit == "document", "a block is all of a document"),
    Rule(("order_level",), lambda s: s.ordering == "document_first", "document_first orders documents, with reading order inside"),
    Rule(
        ("gap_mark",),
        lambda s: s.citation_unit != "document" and s.compression == "off",
        "only the block of a whole document, or a shortened chunk, has gaps in it",
    ),
    Rule(("summary_template",), lambda s: not s.summary_prefix, "page summaries are off"),
    Rule(
        ("supplement_threshold", "supplement_intents"),
        lambda s: s.supplement_mode != "auto",
        "the supplement's mode decides by itself; only auto asks",
    ),
    Rule(("supplement_separator",), lambda s: s.supplement_mode == "never", "the supplement is never written"),
)
"""The first rule that holds gives the reason."""


@cache
def idle(settings: AssemblySettings) -> dict[str, str]:
    """Every setting that has no effect now, with the reason as the end of a sentence."""
    found: dict[str, str] = {}
    for rule in RULES:
        if rule.holds(settings):
            for name in rule.names:
                found.setdefault(name, rule.reason)
    return found
