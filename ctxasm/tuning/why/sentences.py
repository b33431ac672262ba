"""Where a fact went, in a sentence. Pure. Sentences hold text from outside: escape them, or set them as text."""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.citations.reasons import brackets, clipped
from ctxasm.citations.summary import is_declined_answer
from ctxasm.model.amounts import agreeing
from ctxasm.model.stage_labels import REASONS, stage_name
from ctxasm.tuning.why.results import FactKind, Side, Traced

SHOWN_FACT, SHOWN_WORDS = 110, 60
KINDS: dict[FactKind, str] = {
    "said": "what it should have said",
    "expected": "the expected passage",
    "reference": "the reference answer",
    "claim": "its own claim",
}


def why_sentence(facts: Sequence[Traced], checked: CheckedAnswer) -> str:
    """The sentence of the worst fact, and how many others there are."""
    if not facts:
        if is_declined_answer(checked):
            return "The answer declines, and nothing says what it should have said: say it as the fact."
        if not checked.claims:
            return "The answer says nothing that could be checked: say what it should have said as the fact."
        return "Every claim of the answer is carried by what was sent, and cited: if it is wrong, say what it should have said as the fact."
    worst, *others = facts
    rest = [fact for fact in others if fact.outcome != "cited"]
    more = f" {len(rest)} more {agreeing(len(rest), 'is not as it', 'are not as they')} should be." if rest else ""
    return f"{worst.sentence}{more}"


def fact_sentence(fact: Traced, is_recorded: bool) -> str:
    """Such as `Retrieved at rank 3, but not in the prompt that was sent: “…”; B sends it in [1].`"""
    quoted = f"“{clipped(fact.text, SHOWN_FACT)}”"
    return f"{_went(fact, is_recorded)}: {quoted}; {_of_b(fact)}."


def _went(fact: Traced, is_recorded: bool) -> str:
    a, rank = fact.a, f"Retrieved at rank {fact.rank}"
    where = (f"Sent in [{a.number}]" if is_recorded else f"In hit {a.number}") if a.number is not None else "Sent"
    match fact.outcome:
        case "never_retrieved":
            stands = f", though it stands in {fact.holder[0]} #{fact.holder[1]}" if fact.holder is not None else ""
            says = ", and no source carries what the answer says" if fact.kind == "claim" and not stands else ""
            return f"Never retrieved{stands or _nearest(fact)}{says}"
        case "not_sent":
            return f"{rank if fact.rank else 'Retrieved'}, but {'only in part' if a.held == 'part' else 'not'} in the prompt that was sent"
        case "dropped":
            return f"{rank if fact.rank else 'Retrieved'}, but {_lost(fact.b)}"
        case "contradicted":
            words = [f"“{clipped(text, SHOWN_WORDS)}”" for text in fact.against or ()]
            other = f" ({words[0]} there, {words[1]} in the source)" if len(words) == 2 else ""
            return f"{where}, but contradicted by the answer{other}"
        case "wrong_number":
            return f"{where}, but cited by the wrong number{f', {brackets(fact.cited)}' if fact.cited else ''}"
        case "not_cited":
            return f"{where}, but not cited{'' if fact.said else ': the answer does not say it'}"
        case "cited":
            return f"{where}, and said{' with its number' if fact.cited else ''}"


def _nearest(fact: Traced) -> str:
    if fact.nearest is None:
        return ""
    if fact.otherwise is not None:
        return f" (the hit at rank {fact.nearest} says otherwise: “{clipped(fact.otherwise, SHOWN_WORDS)}”)"
    lacks = ", ".join(f"“{clipped(word, 40)}”" for word in fact.lacks[:4])
    return f" (nearest: the hit at rank {fact.nearest}{f', which lacks {lacks}' if lacks else ''})"


def _lost(b: Side) -> str:
    if b.stage is None:
        return "not in the context"
    missing = f" (needs {b.missing_tokens:,} more tokens)" if b.missing_tokens else ""
    reason = f" for this: {REASONS.get(b.reason, b.reason)}{missing}" if b.reason else ""
    return f"{'cut' if b.held == 'part' else 'dropped'} at {stage_name(b.stage)}{reason}"


def _of_b(fact: Traced) -> str:
    b = fact.b
    if b.held == "all" and fact.outcome == "never_retrieved":
        return f"B brings it by the neighbours of hits{f', in [{b.number}]' if b.number is not None else ''}"
    if b.held == "all":
        return f"B sends it{f' in [{b.number}]' if b.number is not None else ''}"
    if fact.outcome == "dropped":
        return "no prompt is recorded, so this is said of B"
    if b.held == "unknown":
        return "whether B sends it is not known, for no hit is that source"
    if b.held == "none" and b.stage is None:
        return "B does not reach it either" if fact.outcome in ("never_retrieved", "not_sent") else "B does not hold it"
    return f"B: {_lost(b)}"
