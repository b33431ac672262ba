"""The settings of one assembly: one frozen object that validates itself, what each setting is called, and what a measurement says of it.

A plain dataclass with its own small validator, so that importing it stays light. Every field carries, in its metadata,
all that other rooms need: the URL key, the stage it belongs to, its allowed values and what it does.

Settings that a measurement speaks against (they brought no more of the evidence into the context, or less of it) stay, as a source has
them or they serve something else, but nothing recommends them, and wherever one is described its figure stands beside it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

from ctxasm.model.characters import has_mark, is_visible, storable
from ctxasm.model.errors import InvalidSetting, UnknownSetting

MEASURED_AGAINST: Mapping[tuple[str, object], str] = {
    ("dedup_near", True): "Measured: it changed nothing of the evidence in the context on 160 questions of four corpora.",
    ("dedup_semantic", True): "Measured: it gained 0.0 points of evidence on four corpora (95 % interval −0.5 to 0.5).",
    (
        "compression",
        "extractive",
    ): "Measured: extracts of every chunk cost the recommended choice 5.5 points of evidence on four corpora (95 % "
    "interval 2.3 to 8.9), extracts of 200 tokens 19.7 (13.9 to 25.9); no chunk there had 2,000 tokens.",
    ("oversized", "drop"): "Measured: dropping cost the five stages 16.1 points of evidence on four corpora (95 % interval 12.5 to 20.0).",
}
"""What was measured, by setting and value: points of questions with all evidence in the context, the mean of four corpora and four limits.
The table, with its command, is in docs/about/measurements.md."""


def spoken_against(changes: Mapping[str, object]) -> tuple[str, ...]:
    """What was measured against these choices."""
    return tuple(figure for (name, value), figure in MEASURED_AGAINST.items() if name in changes and changes[name] == value)


def figures_of(name: str) -> tuple[str, ...]:
    """What was measured against values of one setting."""
    return tuple(figure for (own, _), figure in MEASURED_AGAINST.items() if own == name)


def with_figures(text: str, figures: tuple[str, ...]) -> str:
    """A help text with the figures that belong beside it."""
    return " ".join((text, *figures))


LARGEST = 2_000_000_000
"""The highest value of a setting that has no other bound."""
MAX_TEXT = 500
"""The longest text setting, in characters."""


class Spec(NamedTuple):
    """What is known of one setting. `low`/`high` bound a number, `choices` list the values of a choice.

    `none` is the word for an optional setting that is not set.
    """

    name: str
    kind: Literal["bool", "int", "float", "choice", "text"]
    default: Any
    url: str
    stage: str
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    open_low: bool = False
    none: str = "none"

    @property
    def allowed(self) -> str:
        """The range in words, as errors, the settings table and the command line show it."""
        if self.kind == "bool":
            return "true or false"
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.kind == "text":
            needed = " that holds {summary}" if self.name == "summary_template" else ""
            text = f"a text of at most {MAX_TEXT} characters{needed}"
            if self.name == "block_separator":
                text += " that is empty or holds a mark such as -"
            return f"{text}, or {self.none}" if self.optional else text
        number = "a whole number" if self.kind == "int" else "a number"
        low, high = _plain(self.low), _plain(self.high)
        if self.low is None:
            text = f"any {number.removeprefix('a ')}"
        elif self.high is None:
            text = f"{number} of at least {low}"
        elif self.open_low:
            text = f"{number} above {low} and at most {high}"
        else:
            text = f"{number} between {low} and {high}"
        return f"{text}, or {self.none}" if self.optional else text


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def setting(default: Any, kind: str, url: str, stage: str, help: str, **limits: Any) -> Any:
    """A field of the settings that carries all that other rooms need of it."""
    return field(default=default, metadata={"kind": kind, "url": url, "stage": stage, "help": help, **limits})


def check_value(spec: Spec, value: Any) -> None:
    """Refuse a value of the wrong type or out of range with InvalidSetting."""
    if value is None and spec.optional:
        return
    if not _fits(spec, value):
        raise InvalidSetting(spec.name, value, spec.allowed)


def _fits(spec: Spec, value: Any) -> bool:
    match spec.kind:
        case "bool":
            return isinstance(value, bool)
        case "choice":
            return isinstance(value, str) and value in spec.choices
        case "text":
            if not isinstance(value, str) or len(value) > MAX_TEXT or not storable(value):
                return False
            if spec.name == "block_separator":
                return not is_visible(value) or has_mark(value)
            return spec.name != "summary_template" or "{summary}" in value
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) and _inside(spec, value)
        case "float":
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return number and _inside(spec, value) and math.isfinite(value)


def _inside(spec: Spec, value: float) -> bool:
    if spec.low is not None and not (value > spec.low if spec.open_low else value >= spec.low):
        return False
    return (-LARGEST if spec.low is None else spec.low) <= value <= (LARGEST if spec.high is None else spec.high)


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
