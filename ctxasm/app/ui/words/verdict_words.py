"""What a check says, in plain words: a verdict's sign and name, the sentence of one claim, the summary, the figures. Pure.

A verdict without words is a type error. Sentences may hold text from outside: escape them, or set them as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, assert_never

from ctxasm.app.ui.words.words import REASONS, plural, stage_name
from ctxasm.citations.checked import VERDICTS, CheckedAnswer, CheckedClaim, DroppedSource, Verdict, verdict_words
from ctxasm.model.support import Conflict

TitleOf = Callable[[str], str]
FINE: frozenset[Verdict] = frozenset({"supported", "declined"})
"""Verdicts that ask nothing of a reader."""
LONGEST_QUOTE = 160


def sign(verdict: Verdict) -> str:
    """The sign that stands for a verdict beside its colour."""
    match verdict:
        case "supported":
            return "✓"
        case "partly":
            return "◐"
        case "elsewhere":
            return "→"
        case "prefix_only":
            return "¶"
        case "contradicted":
            return "≠"
        case "unsupported":
            return "?"
        case "uncited":
            return "–"
        case "unknown_marker":
            return "✗"
        case "dropped":
            return "⌀"
        case "no_source":
            return "○"
        case "declined":
            return "∅"
        case _:
            assert_never(verdict)


_PLAIN: dict[Verdict, str] = {"supported": "carried", "partly": "partly carried", "elsewhere": "wrong source", "uncited": "cites nothing"}
"""Verdicts that a page calls otherwise than the command line and the JSON do."""


def verdict_name(verdict: Verdict) -> str:
    """A verdict in one or two words, as a label."""
    return _PLAIN.get(verdict) or verdict_words(verdict)


def counted(verdict: Verdict, count: int) -> str:
    """`4 carried`, `2 cite nothing`: a verdict inside a summary."""
    return f"{count} {'cite nothing' if verdict == 'uncited' and count > 1 else verdict_name(verdict)}"


def summary(checked: CheckedAnswer) -> str:
    """A whole check in one sentence: `6 claims: 4 carried, 1 wrong source, 1 cites nothing`."""
    counts = {verdict: checked.verdicts.get(verdict, 0) for verdict in VERDICTS}
    total = sum(counts.values())
    if not total:
        return "Nothing to check: the answer states nothing."
    if counts["declined"] == total:
        return "Declined: the answer says that the sources do not hold it."
    return f"{plural(total, 'claim')}: {', '.join(counted(verdict, count) for verdict, count in counts.items() if count)}"


def uses(used: int, expected: int) -> str:
    """How many of the passages that the labels of the question expect an answer stands on; empty where none is expected."""
    return f"uses {used} of {expected} expected passages" if expected else ""


def is_carried(checked: CheckedClaim, threshold: float) -> bool:
    """Whether all of the claim is carried: `partly` means a part of it, or all of it beside citations that add nothing.

    The claim's own score does not tell: citations that add nothing lower it.
    """
    whole = any(found.score >= threshold for found in checked.support)
    return checked.verdict == "supported" or (checked.verdict == "partly" and bool(checked.idle) and whole)


def claim_sentence(checked: CheckedClaim, title_of: TitleOf, threshold: float = 1.0) -> str:
    """Why a claim has its verdict, in one sentence or two. `title_of` names a document by its id, `threshold` is the check's."""
    numbers = dict.fromkeys(found.number for found in checked.support)
    cited, carrying = brackets(checked.claim.cited), brackets(numbers)
    match checked.verdict:
        case "supported":
            return f"Found in {carrying or cited}{' together' if len(numbers) > 1 else ''}."
        case "partly":
            idle = f"{brackets(checked.idle)} {_holds(checked.idle)} nothing of it" if checked.idle else ""
            if is_carried(checked, threshold):
                against = f" {conflict_sentence(checked.conflict)}" if checked.conflict else ""
                return f"{idle}; {carrying} {'do' if len(numbers) > 1 else 'does'}.{against}"
            return f"Only a part of it is in {carrying or cited}{f'; {idle}' if idle else ''}."
        case "contradicted":
            return conflict_sentence(checked.conflict) if checked.conflict else f"{cited} says otherwise."
        case "elsewhere":
            return f"Not found in {cited}; [{checked.better}] has it."
        case "prefix_only":
            return f"Only in the page summary of {cited}; no text of the source has it."
        case "unsupported":
            return f"Not found in {cited}, nor in any other source."
        case "uncited":
            return f"Cites nothing; [{checked.better}] has it." if checked.better else "Cites nothing, and no source has it."
        case "unknown_marker":
            none = "is no source" if len(checked.unknown) == 1 else "are no sources"
            return f"{brackets(checked.unknown)} {none} of this context{f'; [{checked.better}] has it' if checked.better else ''}."
        case "dropped":
            return " ".join(dropped_sentence(source, title_of) for source in checked.dropped)
        case "no_source":
            return "No source has it."
        case "declined":
            return "Says that the sources do not answer; it needs no citation."
        case _:
            assert_never(checked.verdict)


def _holds(numbers: Sequence[int]) -> str:
    return "holds" if len(numbers) == 1 else "hold"


def conflict_sentence(conflict: Conflict) -> str:
    """What does not agree: `“45 minutes” here, “30 minutes” in [1].`"""
    here, there = clipped(conflict.claim, 60), clipped(conflict.source, 60)
    match conflict.kind:
        case "number" | "date" | "name":
            return f"Another {conflict.kind}: “{here}” here, “{there}” in [{conflict.number}]."
        case "negation":
            return f"One says yes, the other no: “{here}” here, “{there}” in [{conflict.number}]."
        case "opposite":
            return f"The opposite: “{here}” here, “{there}” in [{conflict.number}]."
        case _:
            assert_never(conflict.kind)


def dropped_sentence(source: DroppedSource, title_of: TitleOf) -> str:
    """What a cited number would have been, and where it was lost."""
    why = REASONS.get(source.reason or "", source.reason or "")
    return f"[{source.number}] would be “{title_of(source.document_id)}”, dropped at {stage_name(source.stage)}{f': {why}' if why else ''}."


def brackets(numbers: Iterable[int]) -> str:
    """`[1][3]`, each number once, in order."""
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))


def clipped(text: str, limit: int = LONGEST_QUOTE) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


class Figure(NamedTuple):
    """A figure of a check: what it says, its value as it is shown, and what engineers call it."""

    says: str
    value: str
    name: str


def figures(checked: CheckedAnswer) -> tuple[Figure, ...]:
    """The citation figures of one answer; a dash where nothing is counted. Without markers nothing is cited: only the coverage counts."""
    told = checked.figures
    covered = Figure("of the claims stand on some source, cited or not", _percent(told.coverage), "coverage")
    if not checked.marked:
        return (covered,)
    return (
        Figure("of the claims stand on what they cite", _percent(told.recall), "citation recall"),
        Figure("of the citations are needed for that", _percent(told.precision), "citation precision"),
        covered,
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def check_line(checked: CheckedAnswer) -> str:
    """How it was checked: the scorer, from which score on a claim counts as carried, how long it took, what a model cost."""
    spent = checked.spent
    calls = f" · {plural(spent.calls, 'call')}, {plural(spent.tokens_in + spent.tokens_out, 'token')}" if spent.calls else ""
    kept = f" · {plural(spent.kept, 'verdict')} kept from before" if spent.kept else ""
    took = f"{checked.elapsed_ms:.0f} ms" if checked.elapsed_ms >= 1 else "under 1 ms"
    return f"Checked by {checked.scorer} · a match from a score of {checked.threshold:.2f} on · {took}{calls}{kept}"
