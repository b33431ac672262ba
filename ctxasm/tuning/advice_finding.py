"""What the advisor finds on a trace, and when a change is an improvement. Sentences are made elsewhere (`ctxasm/app/ui`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from ctxasm.tuning.advice_view import View

# fmt: off
Rule = Literal[
    "evidence_cut", "evidence_next_door", "evidence_beyond_top_k", "evidence_below_floor",
    "unused_tokens", "one_document", "window_crowds_out", "cut_mid_sentence",
    "fragments", "tiny_chunks", "repeats", "stale_copy", "low_score_tail",
    "overshoot", "best_in_middle", "second_in_middle", "unsafe_format", "markers_in_sources",
    "scaffolding", "supplement_needless", "supplement_missing", "answer_reserve",
]
# fmt: on
Severity = Literal["loss", "risk", "waste"]
"""loss: evidence or hits are missing that could be there; risk: the model may misread; waste: tokens that bring nothing."""
SEVERITIES: tuple[Severity, ...] = ("loss", "risk", "waste")
Changes = Mapping[str, object]
"""Settings by name."""
EPSILON = 1e-9
CLEARLY = 1.05
"""The least gain in value that is worth a change."""


class Finding(NamedTuple):
    """A rule that fires: the figures it was read from, and changes worth a trial, the likeliest first.

    `helps(before, after)` says of a trial whether it is an improvement. `best`: all are tried and the one with the most
    evidence in the fewest tokens is taken, else the first that helps.
    """

    rule: Rule
    severity: Severity
    figures: Mapping[str, Any]
    proposals: tuple[Changes, ...]
    helps: Callable[[View, View], bool]
    best: bool = False


Check = Callable[[View], Finding | None]
"""A rule: what it finds on an assembly, or None."""


def keeps(before: View, after: View) -> bool:
    """Nothing that counts is worse: evidence, the limit, and that there is a context at all."""
    return (
        after.share >= before.share - EPSILON
        and after.assembly.overshoot_tokens <= before.assembly.overshoot_tokens
        and bool(after.assembly.text) >= bool(before.assembly.text)
    )


def finds_more(before: View, after: View) -> bool:
    """More of the labelled evidence is in the context."""
    return keeps(before, after) and after.share > before.share + EPSILON


def worth_more(before: View, after: View) -> bool:
    """Retrieved chunks of clearly more value are in the context, and no evidence is lost."""
    return keeps(before, after) and after.value > CLEARLY * before.value + EPSILON


def keeps_hits(before: View, after: View) -> bool:
    """Nothing is worse, and what was retrieved is in the context as before."""
    return keeps(before, after) and after.value >= before.value - EPSILON
