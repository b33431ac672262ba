"""The settings of one assembly: one frozen object that validates itself.

A plain dataclass with its own small validator, so that importing it stays light. Every field carries, in its metadata,
all that other rooms need: the URL key, the stage it belongs to, its allowed values and what it does.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

from ctxasm.model.errors import InvalidSetting, UnknownSetting

Channel = Literal["text", "voice"]
DUTCH_TEMPLATE = "[Pagina context: {summary}]"
ENGLISH_TEMPLATE = "[Page context: {summary}]"
ENCODINGS = ("cl100k_base", "o200k_base", "o200k_harmony", "p50k_base", "r50k_base")
LARGEST = 2_000_000_000
"""The highest value of a setting that has no other bound."""
MAX_TEXT = 500
"""The longest text setting, in characters."""


class Spec(NamedTuple):
    """What is known of one setting. `low`/`high` bound a number, `choices` list the values of a choice."""

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

    @property
    def allowed(self) -> str:
        """The range in words, as errors, the settings table and the command line show it."""
        if self.kind == "bool":
            return "true or false"
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}" if len(self.choices) > 1 else f"{self.choices[0]} (the only one yet)"
        if self.kind == "text":
            needed = " that holds {summary}" if self.name == "summary_template" else ""
            return f"a text of at most {MAX_TEXT} characters{needed}"
        number = "a whole number" if self.kind == "int" else "a number"
        low, high = _plain(self.low), _plain(self.high)
        if self.high is None:
            text = f"{number} of at least {low}"
        elif self.open_low:
            text = f"{number} above {low} and at most {high}"
        else:
            text = f"{number} between {low} and {high}"
        return f"{text}, or all" if self.optional else text


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _setting(default: Any, kind: str, url: str, stage: str, help: str, **limits: Any) -> Any:
    return field(default=default, metadata={"kind": kind, "url": url, "stage": stage, "help": help, **limits})


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """Every setting of an assembly. Raises InvalidSetting naming the field, what is allowed and what came."""

    enabled: bool = _setting(
        True, "bool", "on", "all", "Off: the retrieved chunks in retrieval order, one block each, nothing else (the baseline)."
    )
    top_k: int | None = _setting(None, "int", "k", "expand", "Only the first k hits, after repeats are merged.", low=1, optional=True)
    expand_window: int = _setting(1, "int", "w", "expand", "Neighbours fetched on each side of every hit.", low=0, high=3)
    decay: float = _setting(0.5, "float", "d", "expand", "A neighbour's score as a share of its hit's score.", low=0, high=1, open_low=True)
    decay_mode: Literal["flat", "per_step"] = _setting(
        "flat", "choice", "dm", "expand", "flat: one decay whatever the distance; per_step: once per step.", choices=("flat", "per_step")
    )
    min_overlap_chars: int = _setting(
        20, "int", "mo", "deduplicate", "Shared text between neighbours is stripped when longer than this.", low=0, high=1000
    )
    dedup_exact: bool = _setting(True, "bool", "dx", "deduplicate", "Chunks of the same text are shown once, with every source.")
    budget_policy: Literal["drop_documents"] = _setting(
        "drop_documents",
        "choice",
        "pk",
        "budget",
        "drop_documents: whole documents leave from the tail until the rest fits.",
        choices=("drop_documents",),
    )
    budget_mode: Literal["fixed"] = _setting("fixed", "choice", "bm", "budget", "fixed: the limit is max_tokens.", choices=("fixed",))
    max_tokens: int = _setting(8000, "int", "mt", "budget", "The token limit of the context.", low=500, high=16000)
    budget_scope: Literal["rendered", "chunks"] = _setting(
        "rendered",
        "choice",
        "bs",
        "budget",
        "rendered: everything counts; chunks: chunk text only, so the context may exceed the limit.",
        choices=("rendered", "chunks"),
    )
    oversized: Literal["trim", "drop"] = _setting(
        "trim",
        "choice",
        "ov",
        "budget",
        "The best document alone is too big: trim it to its best chunks, or drop it for the next.",
        choices=("trim", "drop"),
    )
    encoding: str = _setting("cl100k_base", "choice", "enc", "budget", "The vocabulary that tokens are counted in.", choices=ENCODINGS)
    summary_prefix: bool = _setting(True, "bool", "px", "summarise", "The page summary, once before each document's first chunk.")
    summary_template: str = _setting(DUTCH_TEMPLATE, "text", "pt", "summarise", "How the page summary is written.")
    format: Literal["numbered"] = _setting("numbered", "choice", "fmt", "render", "How a block is written.", choices=("numbered",))
    citation_unit: Literal["document", "passage", "chunk"] = _setting(
        "document", "choice", "cu", "render", "What one citation number stands for.", choices=("document", "passage", "chunk")
    )
    gap_mark: str = _setting("[…]", "text", "gm", "render", "Stands on its own line where text between two passages is left out.")
    marker_collisions: Literal["neutralise", "warn", "off"] = _setting(
        "neutralise",
        "choice",
        "mx",
        "render",
        "Source text that looks like a marker: neutralise swaps its brackets, warn only reports it.",
        choices=("neutralise", "warn", "off"),
    )
    channel: Channel = _setting(
        "text", "choice", "ch", "answer", "voice: a spoken answer without markers; its sources are the blocks.", choices=("text", "voice")
    )

    def __post_init__(self) -> None:
        for spec in specs():
            check_value(spec, getattr(self, spec.name))

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
            if not isinstance(value, str) or len(value) > MAX_TEXT or any("\ud800" <= c <= "\udfff" or c == "\0" for c in value):
                return False
            return spec.name != "summary_template" or "{summary}" in value
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) and _inside(spec, value)
        case "float":
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return number and _inside(spec, value) and math.isfinite(value)


def _inside(spec: Spec, value: float) -> bool:
    if spec.low is not None and not (value > spec.low if spec.open_low else value >= spec.low):
        return False
    return value <= (LARGEST if spec.high is None else spec.high)


@cache
def specs() -> tuple[Spec, ...]:
    """Every setting, in the order of the table."""
    return tuple(Spec(name=f.name, default=f.default, **f.metadata) for f in dataclasses.fields(AssemblySettings))


@cache
def _by_name() -> dict[str, Spec]:
    return {spec.name: spec for spec in specs()}


def spec_of(name: str) -> Spec:
    """The setting of this name; raises UnknownSetting naming all that exist."""
    try:
        return _by_name()[name]
    except KeyError:
        raise UnknownSetting(name, tuple(_by_name())) from None
