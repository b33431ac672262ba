"""Advice in words: what was read from the trace, the change, and what the trial measured. Pure.

Sentences may hold titles from outside: escape them before they become HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ctxasm.app.ui.words.words import decimal, number, title_of
from ctxasm.model.amounts import agreeing, counted, percent
from ctxasm.model.records import Document
from ctxasm.model.setting_labels import label_of, value_words
from ctxasm.model.settings import spec_of
from ctxasm.tuning.advice import Advice, Effect, Measured
from ctxasm.tuning.advice_finding import EPSILON, Rule, Severity
from ctxasm.tuning.advice_set import SetEffect

SEVERITY_WORDS: Mapping[Severity, str] = {"loss": "missing", "risk": "at risk", "waste": "tokens"}
"""The badge of a piece of advice: something is missing, may be misread, or costs tokens for nothing."""
ADVICE_EXPLAINS = "It explains this query: applied to other questions, such changes gained nothing."
"""What was measured of advice that is given query by query, where no other question has labels to count it on."""
THIS_QUERY = "Explains this query alone."

Figures = Mapping[str, Any]


def advice_sentence(advice: Advice, documents: Mapping[str, Document]) -> str:
    """What the rule saw, in its own figures."""
    return SENTENCES[advice.rule]({**advice.figures, **_titled(advice.figures, documents)})


def _titled(figures: Figures, documents: Mapping[str, Document]) -> Figures:
    return {"title": title_of(documents, figures["document_id"], 40)} if "document_id" in figures else {}


def _evidence_cut(f: Figures) -> str:
    holding = counted(f["with_evidence"], "document")
    left = f"left {f['cut']} of {counted(f['documents'], 'document')} out and " if f["cut"] else ""
    return f"The budget {left}cut labelled evidence in {holding}."


def _cut_hits(f: Figures) -> str:
    return f"{counted(f['hits'], 'hit')} {agreeing(f['hits'], 'was', 'were')} cut"


def _next_door(f: Figures) -> str:
    where = "next to a hit" if f["distance"] == 1 else f"{f['distance']} chunks from a hit"
    return f"Labelled evidence stands {where}; the window reaches {f['window']}."


def _stale(f: Figures) -> str:
    verb = "gave way to" if f["removed"] else "was left out, unlike" if f["left_out"] else "stands below"
    share = f"{percent(f['likeness'])} alike"
    return f"{f['title']} ({f['newer']}) {verb} an older document ({f['older']}), {share}."


def _low_scores(f: Figures) -> str:
    gap = f"Between {decimal(f['above'])} and {decimal(f['below'])} the scores fall steeply"
    return f"{gap}; the {counted(f['hits'], 'hit')} below take {number(f['tokens'])} tokens."


def _overshoot(f: Figures) -> str:
    why = "only chunk text counts" if f["enabled"] else "assembly is off"
    return f"The context is {counted(f['over'], 'token')} over its limit of {number(f['limit'])}: {why}."


def _scaffolding(f: Figures) -> str:
    parts = f"{number(f['summaries'])} tokens of summaries, {number(f['headers'])} of headers and separators"
    return f"{percent(f['share'])} of the context is not source text: {parts}."


def _answer(f: Figures) -> str:
    reference = f"; the reference answer needs about {number(f['reference'])}" if f["reference"] else ""
    return f"The window keeps {counted(f['reserved'], 'token')} for the answer{reference}."


SENTENCES: Mapping[Rule, Callable[[Figures], str]] = {
    "evidence_cut": _evidence_cut,
    "evidence_next_door": _next_door,
    "evidence_beyond_top_k": lambda f: f"Labelled evidence was retrieved at rank {f['rank']}, beyond the first {f['top_k']}.",
    "evidence_below_floor": lambda f: f"Labelled evidence scores {decimal(f['score'])}, below the floor of {decimal(f['floor'])}.",
    "fragments": lambda f: (
        f"{f['cut']} of {counted(f['passages'], 'passage')} begin or end inside a sentence, and no neighbours are fetched."
    ),
    "tiny_chunks": lambda f: (
        f"{f['tiny']} of {counted(f['hits'], 'hit')} are shorter than {f['tokens']} tokens: lines without their context."
    ),
    "unused_tokens": lambda f: (
        f"{number(f['unused'])} tokens are unused while {_cut_hits(f)}: worth {percent(f['regret'])} less than the best choice."
    ),
    "one_document": lambda f: f"{f['title']} takes {percent(f['share'])} of the context while in other documents {_cut_hits(f)}.",
    "window_crowds_out": lambda f: f"Neighbours take {percent(f['share'])} of the text while {_cut_hits(f)}.",
    "cut_mid_sentence": lambda f: f"{counted(f['chunks'], 'chunk')} of {number(f['tokens'])} tokens did not fit and ended early.",
    "repeats": lambda f: (
        f"{counted(f['chunks'], 'chunk')} {agreeing(f['chunks'], 'says', 'say')} word for word what another does: "
        f"{number(f['tokens'])} tokens are read twice."
    ),
    "stale_copy": _stale,
    "low_score_tail": _low_scores,
    "overshoot": _overshoot,
    "best_in_middle": lambda f: f"The block with the best hit stands at place {f['place']} of {f['blocks']}; the middle is read least.",
    "second_in_middle": lambda f: (
        f"The second best of {f['blocks']} blocks stands {percent(f['at'])} into {number(f['tokens'])} tokens; the middle is read least."
    ),
    "unsafe_format": lambda f: f"{counted(f['blocks'], 'block')} as {f['format']}: no markers to cite, no safe boundaries between sources.",
    "markers_in_sources": lambda f: (
        f"Source texts hold {counted(f['places'], 'place')} that read as a marker, and they are left as they are."
    ),
    "scaffolding": _scaffolding,
    "supplement_needless": lambda f: (
        f"The supplement takes {number(f['tokens'])} tokens although a hit is close enough in meaning: {decimal(f['similarity'])} of "
        f"{decimal(f['threshold'])} (best similarity)."
    ),
    "supplement_missing": lambda f: (
        f"No hit is close enough in meaning, {decimal(f['similarity'])} of {decimal(f['threshold'])} (best similarity), and the supplement "
        "is switched off."
    ),
    "answer_reserve": _answer,
}
"""What each rule saw."""


def changes_words(changes: Mapping[str, object]) -> str:
    """The change as it stands on a button: `Budget policy: pack`."""
    return ", ".join(f"{label_of(spec_of(name))}: {value_words(spec_of(name), value)}" for name, value in changes.items())


def effect_words(rule: Rule, effect: Effect) -> tuple[str, ...]:
    """What the trial measured, before → after: evidence, hits, what the rule is about where it changed, and tokens."""
    before, after = effect
    tokens = f"tokens {number(before.tokens)} → {number(after.tokens)}"
    return (*_evidence_words(before, after), *_hits_words(before, after), *_own_words(rule, before, after), tokens)


def recommended_sentence(in_use: bool, effect: Effect) -> str:
    """What the recommended choice does to this query, or the five stages where it is in use."""
    what = "The five-stage choice" if in_use else "The recommended choice"
    return f"{what} on this query: {' · '.join(effect_words('unused_tokens', effect))}."


def set_words(severity: Severity, effect: SetEffect) -> str:
    """What a change does to all labelled questions: `helps 31 of 50 questions, hurts 2`."""
    of = counted(effect.labelled, "sampled question" if effect.sampled else "question")
    better, worse = len(effect.better), len(effect.worse)
    if severity == "waste":
        return f"saves {number(-effect.tokens)} tokens a question, hurts {worse} of {of}"
    if not better and not worse:
        return f"same evidence in {of}"
    return f"helps {better} of {of}, hurts {worse}"


def _evidence_words(before: Measured, after: Measured) -> tuple[str, ...]:
    if not before.evidence:
        return ()
    if before.found != after.found:
        return (f"evidence {before.found} → {after.found} of {after.evidence}",)
    if abs(before.share - after.share) > EPSILON:
        return (f"evidence {percent(before.share)} → {percent(after.share)}",)
    return (f"evidence stays {after.found} of {after.evidence}",)


def _hits_words(before: Measured, after: Measured) -> tuple[str, ...]:
    if before.hits != after.hits:
        return (f"hits {before.hits} → {after.hits}",)
    changed = abs(before.value - after.value) > EPSILON
    return (f"value of the hits {before.value:.3f} → {after.value:.3f}",) if changed else ()


def _own_words(rule: Rule, before: Measured, after: Measured) -> tuple[str, ...]:
    match rule:
        case "best_in_middle":
            return (f"best block {before.best_place} of {before.blocks} → {after.best_place} of {after.blocks}",)
        case "second_in_middle":
            return (f"second best at {percent(before.second_at or 0)} → {percent(after.second_at or 0)}",)
        case "fragments" | "tiny_chunks":
            return (f"passages cut {before.cut_passages} of {before.passages} → {after.cut_passages} of {after.passages}",)
        case "markers_in_sources":
            return (f"{counted(after.neutralised, 'place')} defused",)
        case "scaffolding":
            return (f"not source text {number(before.scaffold)} → {number(after.scaffold)}",)
        case "overshoot":
            return (f"over the limit {number(before.overshoot)} → {number(after.overshoot)}",)
        case _:
            return ()
