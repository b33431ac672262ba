"""The settings of one assembly: one frozen object that validates itself.

A plain dataclass with its own small validator, so that importing it stays light. Every field carries, in its metadata,
all that other rooms need: the URL key, the stage it belongs to, its allowed values and what it does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ctxasm.model.errors import UnknownSetting
from ctxasm.model.measured import figures_of, with_figures
from ctxasm.model.specs import Spec, check_value, setting

Channel = Literal["text", "voice"]
BudgetPolicy = Literal["drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"]
Ordering = Literal["document_first", "relevance", "chronological", "lost_in_middle", "bookend", "auto"]
Format = Literal["numbered", "source", "xml", "grouped", "minimal"]
BY_VALUE: tuple[BudgetPolicy, ...] = ("pack", "segments", "learned")
"""The policies that choose by what chunks are worth: a poor neighbour costs them nothing, so they may look at many."""
DUTCH_TEMPLATE = "[Pagina context: {summary}]"
ENGLISH_TEMPLATE = "[Page context: {summary}]"
GERMAN_TEMPLATE = "[Seitenkontext: {summary}]"
SUPPLEMENT_SEPARATOR = "--- SUPPLEMENT ---"
ENCODINGS = ("cl100k_base", "o200k_base", "o200k_harmony", "p50k_base", "r50k_base")


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """Every setting of an assembly. Raises InvalidSetting naming the field, what is allowed and what came."""

    enabled: bool = setting(
        True, "bool", "on", "all", "Off: the retrieved chunks in retrieval order, one block each, nothing else (the baseline)."
    )
    relevance_floor: float | None = setting(
        None, "float", "fl", "expand", "Hits that score below this are left out before anything else.", optional=True
    )
    top_k: int | None = setting(
        None, "int", "k", "expand", "Only the first k hits, after repeats are merged.", low=1, optional=True, none="all"
    )
    expand_window: int = setting(1, "int", "w", "expand", "Neighbours fetched on each side of every hit.", low=0, high=3)
    pool_window: int | None = setting(
        None,
        "int",
        "pw",
        "expand",
        "Neighbours on each side among which pack, segments and learned choose, in place of expand_window.",
        low=0,
        high=12,
        optional=True,
        none="expand_window",
    )
    decay: float = setting(0.5, "float", "d", "expand", "A neighbour's score as a share of its hit's score.", low=0, high=1, open_low=True)
    decay_mode: Literal["flat", "per_step"] = setting(
        "flat", "choice", "dm", "expand", "flat: one decay whatever the distance; per_step: once per step.", choices=("flat", "per_step")
    )
    min_overlap_chars: int = setting(
        20,
        "int",
        "mo",
        "deduplicate",
        "Shared text between neighbours is stripped when longer than this; where exact offsets tell it, at any length.",
        low=0,
        high=1000,
    )
    dedup_exact: bool = setting(True, "bool", "dx", "deduplicate", "Chunks of the same text are shown once, with every source.")
    dedup_near: bool = setting(
        False, "bool", "dn", "deduplicate", "Chunks of nearly the same words, or contained in another, are shown once."
    )
    near_threshold: float = setting(
        0.9, "float", "nt", "deduplicate", "Share of common words from which two chunks are near duplicates.", low=0.5, high=1
    )
    dedup_semantic: bool = setting(False, "bool", "ds", "deduplicate", "Chunks of the same meaning, by a local embedder, are shown once.")
    semantic_threshold: float | None = setting(
        None, "float", "st", "deduplicate", "Cosine from which two mean the same.", low=0, high=1, optional=True, none="embedder"
    )
    dedup_keep: Literal["best", "newest"] = setting(
        "best",
        "choice",
        "dk",
        "deduplicate",
        "Which copy stays. newest: where documents carry a date, the newer one, which takes over the score.",
        choices=("best", "newest"),
    )
    budget_policy: BudgetPolicy = setting(
        "drop_documents",
        "choice",
        "pk",
        "budget",
        "drop_documents: whole documents leave from the tail; greedy: chunk by chunk up to the first that does not fit; greedy_skip: "
        "what does not fit is passed over; pack: most value within the limit; segments: the most relevant runs; learned: what is "
        "worth most to the question for its tokens.",
        choices=("drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"),
    )
    budget_mode: Literal["fixed", "window"] = setting(
        "fixed",
        "choice",
        "bm",
        "budget",
        "fixed: the limit is max_tokens; window: what the zones of the model's window leave.",
        choices=("fixed", "window"),
    )
    max_tokens: int = setting(8000, "int", "mt", "budget", "The token limit of the context.", low=500, high=16000)
    max_chars: int | None = setting(None, "int", "mc", "budget", "A limit in characters, besides that in tokens.", low=500, optional=True)
    budget_scope: Literal["rendered", "chunks"] = setting(
        "rendered",
        "choice",
        "bs",
        "budget",
        "rendered: everything counts; chunks: chunk text only, so the context may exceed the limit.",
        choices=("rendered", "chunks"),
    )
    oversized: Literal["trim", "drop"] = setting(
        "trim",
        "choice",
        "ov",
        "budget",
        "The best document alone is too big: trim it to its best chunks, or drop it for the next.",
        choices=("trim", "drop"),
    )
    overflow: Literal["cut", "stop"] = setting(
        "cut",
        "choice",
        "of",
        "budget",
        "What greedy does with the first chunk that does not fit: cut it where enough room is left, or stop before it.",
        choices=("cut", "stop"),
    )
    min_chunk_tokens: int = setting(
        20,
        "int",
        "mi",
        "budget",
        "Policies that choose chunks pass over smaller ones, unless both neighbours are in; greedy cuts where more than three times "
        "this is left.",
        low=0,
        high=1000,
    )
    pack_k: int = setting(60, "int", "pkk", "budget", "A hit is worth 1 / (pack_k + rank).", low=1)
    pack_unit: Literal["document", "passage"] = setting(
        "document", "choice", "pku", "budget", "What pack takes or leaves as a whole.", choices=("document", "passage")
    )
    encoding: str = setting("cl100k_base", "choice", "enc", "budget", "The vocabulary that tokens are counted in.", choices=ENCODINGS)
    model_name: str = setting("", "text", "mn", "zones", "The model whose window is shared out (budget_mode=window).")
    model_window: int | None = setting(
        None, "int", "mw", "zones", "Its window in tokens, where the table of models does not know it.", low=1, optional=True, none="table"
    )
    system_tokens: int | None = setting(
        None, "int", "zs", "zones", "Reserved for the system prompt; unset: what it takes.", low=0, optional=True, none="counted"
    )
    question_tokens: int | None = setting(
        None, "int", "zq", "zones", "Reserved for the question; unset: what it takes.", low=0, optional=True, none="counted"
    )
    history_tokens: int | None = setting(
        None, "int", "zh", "zones", "Reserved for earlier turns; the oldest leave. Unset: all.", low=0, optional=True, none="counted"
    )
    history_summarise_after: int | None = setting(
        None, "int", "hs", "zones", "With more earlier turns, the model sums up the older ones.", low=0, optional=True, none="never"
    )
    answer_tokens: int = setting(1024, "int", "za", "zones", "Reserved for the answer.", low=0)
    overhead_tokens: int = setting(64, "int", "zo", "zones", "Reserved for what a server adds around messages.", low=0)
    safety_margin: float = setting(
        0.0, "float", "zm", "zones", "Share of the window left free, more where the model's server is known to count more.", low=0, high=0.5
    )
    compression: Literal["off", "extractive", "model"] = setting(
        "off",
        "choice",
        "cp",
        "compress",
        "Chunks are shortened to what the question is about: by the question's words, or by a model.",
        choices=("off", "extractive", "model"),
    )
    compression_when: Literal["tight", "always"] = setting(
        "tight",
        "choice",
        "cpw",
        "compress",
        "tight: only when not all fits, and only chunks above max_chunk_tokens; always: every chunk, and what says nothing of the "
        "question is left out.",
        choices=("tight", "always"),
    )
    max_chunk_tokens: int = setting(
        2000, "int", "cpt", "compress", "The most tokens that are left of a compressed chunk.", low=20, high=16000
    )
    ordering: Ordering = setting(
        "document_first",
        "choice",
        "ord",
        "order",
        "document_first: documents by their best score; relevance: every block by its own; chronological: source, page, index; "
        "lost_in_middle: best blocks at both ends; bookend: best first, second best last; auto: relevance up to 3 blocks, else bookend.",
        choices=("document_first", "relevance", "chronological", "lost_in_middle", "bookend", "auto"),
    )
    order_level: Literal["block", "document"] = setting(
        "block",
        "choice",
        "ol",
        "order",
        "What is ordered: every block on its own, or documents, with reading order inside.",
        choices=("block", "document"),
    )
    summary_prefix: bool = setting(True, "bool", "px", "summarise", "The page summary, once before each document's first chunk.")
    summary_template: str | None = setting(
        None,
        "text",
        "pt",
        "summarise",
        "How the page summary is written. Unset: by the language of the data, `[Pagina context: …]`, `[Page context: …]` or "
        "`[Seitenkontext: …]`.",
        optional=True,
        none="language",
    )
    supplement_mode: Literal["auto", "always", "never"] = setting(
        "auto",
        "choice",
        "sm",
        "supplement",
        "auto: injected only when the best similarity is below supplement_threshold, or the intent is one of supplement_intents.",
        choices=("auto", "always", "never"),
    )
    supplement_threshold: float = setting(
        0.75, "float", "sth", "supplement", "Below this best similarity the supplement is injected.", low=0, high=1
    )
    supplement_intents: str = setting("", "text", "si", "supplement", "Intents that bring the supplement, separated by commas.")
    supplement_separator: str = setting(SUPPLEMENT_SEPARATOR, "text", "ss", "supplement", "The line above the supplement.")
    format: Format = setting(
        "numbered",
        "choice",
        "fmt",
        "render",
        "How a block is written. grouped and minimal have no markers and no safe boundaries.",
        choices=("numbered", "source", "xml", "grouped", "minimal"),
    )
    citation_unit: Literal["document", "passage", "chunk"] = setting(
        "document", "choice", "cu", "render", "What one citation number stands for.", choices=("document", "passage", "chunk")
    )
    gap_mark: str = setting("[…]", "text", "gm", "render", "Stands on its own line where text between two passages is left out.")
    block_separator: str = setting("", "text", "bsp", "render", "Stands on its own line between two blocks. Empty: one blank line.")
    marker_collisions: Literal["neutralise", "warn", "off"] = setting(
        "neutralise",
        "choice",
        "mx",
        "render",
        "Source text that looks like a marker: neutralise swaps its brackets, warn only reports it.",
        choices=("neutralise", "warn", "off"),
    )
    channel: Channel = setting(
        "text", "choice", "ch", "answer", "voice: a spoken answer without markers; its sources are the blocks.", choices=("text", "voice")
    )

    def __post_init__(self) -> None:
        for spec in specs():
            check_value(spec, getattr(self, spec.name))

    @property
    def window(self) -> int:
        """Neighbours that come in on each side of a hit: `expand_window`, or the pool of a policy that chooses by value."""
        wider = self.pool_window if self.budget_policy in BY_VALUE else None
        return self.expand_window if wider is None else wider

    def replace(self, **changes: Any) -> AssemblySettings:
        """A copy with some settings changed, validated again."""
        for name in changes:
            spec_of(name)
        return dataclasses.replace(self, **changes)

    def changed(self) -> dict[str, Any]:
        """The settings that differ from their defaults, by name."""
        return {spec.name: value for spec in specs() if (value := getattr(self, spec.name)) != spec.default}

    def to_dict(self) -> dict[str, Any]:
        """All settings by name, in the order of the table."""
        return {spec.name: getattr(self, spec.name) for spec in specs()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> AssemblySettings:
        """Settings from typed values by name; the rest keep their defaults."""
        return cls().replace(**values)


@cache
def specs() -> tuple[Spec, ...]:
    """Every setting, in the order of the table."""
    return tuple(
        Spec(name=f.name, default=f.default, **{**f.metadata, "help": with_figures(f.metadata["help"], figures_of(f.name))})
        for f in dataclasses.fields(AssemblySettings)
    )


@cache
def _by_name() -> dict[str, Spec]:
    return {spec.name: spec for spec in specs()}


def spec_of(name: str) -> Spec:
    """The setting of this name; raises UnknownSetting naming all that exist."""
    try:
        return _by_name()[name]
    except KeyError:
        raise UnknownSetting(name, tuple(_by_name())) from None
