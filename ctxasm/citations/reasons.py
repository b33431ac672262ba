"""Why a claim is not simply carried, in sentences: what is missing, which word gates it, what disagrees. Pure.

Sentences may hold text from outside: escape them, or set them as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from ctxasm.citations.checked import CheckedClaim, Disputed
from ctxasm.model.support import Conflict, Gated, GateKind

LONGEST_QUOTE = 160
_GATED: dict[GateKind, str] = {
    "roles": "in another place or order",
    "subject": "joined with another sentence",
    "figure": "another figure",
    "wording": "in other words",
}
"""What is said of a kind that its own name does not tell."""


def lacks_sentence(checked: CheckedClaim) -> str:
    """What keeps a claim that is not carried from being so: the words that gate it, then those that its sources do not have."""
    said = [gated_sentence(gated) for gated in checked.gated]
    if checked.missing:
        said.append(f"Missing: {', '.join(clipped(word, 60) for word in checked.missing).removesuffix('.')}.")  # “2 p.m.” brings its own
    if not said and checked.verdict == "partly":
        said = ["Its words are there, but not together as it says them."]
    return " ".join(said)


def gated_sentence(gated: Gated) -> str:
    """Such as `“all” here, “some” in the source (quantifier).`"""
    here = f"“{clipped(gated.claim, 60)}” here" if gated.claim else "nothing like it here"
    there = f"“{clipped(gated.source, 60)}” in the source" if gated.source else "not in the source"
    both = f"{here}, {there}" if gated.claim else f"{there}, {here}"
    return f"{both[:1].upper()}{both[1:]} ({_GATED.get(gated.kind, gated.kind)})."


def conflict_sentence(conflict: Conflict) -> str:
    """What does not agree: `Another number: “45 minutes” here, “30 minutes” in [1].`"""
    return f"{_kind(conflict)}: “{clipped(conflict.claim, 60)}” here, “{clipped(conflict.source, 60)}” in [{conflict.number}]."


def _kind(conflict: Conflict) -> str:
    match conflict.kind:
        case "number" | "date" | "name":
            return f"Another {conflict.kind}"
        case "negation":
            return "One says yes, the other no"
        case "opposite":
            return "The opposite"
        case _:
            assert_never(conflict.kind)


def disputed_sentence(disputed: Disputed) -> str:
    """Such as `Disputed by [2], newer (2026-01-05): “15” here, “14” there.`"""
    dated = f" ({disputed.date})" if disputed.date else ""
    age = f", {disputed.age}{dated}" if disputed.age else dated
    conflict = disputed.conflict
    return f"Disputed by [{disputed.number}]{age}: “{clipped(conflict.claim, 60)}” here, “{clipped(conflict.source, 60)}” there."


def brackets(numbers: Iterable[int]) -> str:
    """`[1][3]`, each number once, in order."""
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))


def clipped(text: str, limit: int = LONGEST_QUOTE) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
