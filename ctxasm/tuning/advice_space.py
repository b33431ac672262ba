"""Rules about tokens: what is unused, who takes them, what repeats.

From the bookend guide (exclusion is a signal of a tight budget; duplicates; drop below the floor first) and the token-budget guide's
common failure modes. What a measurement speaks against (`ctxasm.model.measured`) is not among what they propose.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from ctxasm.tuning.advice_finding import Check, Finding, keeps, keeps_hits, worth_more
from ctxasm.tuning.advice_view import View

UNUSED_SHARE = 0.1
REGRET_SHARE = 0.02
GREEDY_SHARE = 0.6
CROWDED_SHARE = 0.4
REPEATED_SHARE = 0.05
TAIL_SHARE = 0.1
STEEP = 3
"""A gap between two scores is steep from three times the median gap on, and from this share of the whole range:"""
STEEP_SHARE = 0.25
UNLABELLED_SHARE = 0.5
UNLABELLED_TAIL = 0.35
"""Without labels nothing shows that the tail is empty: the gap must be half of the range and the tail below 35 % of the best.

On the four real corpora with evidence (top 10 hits) a gap of a quarter of the range has evidence below it in 27 to 57 % of the
questions, one of half the range in 19 to 57 %; with both conditions it is met 4 times in 475 and then loses nothing.
"""


def unused_tokens(view: View) -> Finding | None:
    """Much of the limit is unused although other documents would be worth more."""
    regret, unused, limit = view.trace.regret, view.assembly.unused_tokens, view.assembly.limit
    if not view.cut_by_budget or unused < UNUSED_SHARE * limit or regret.regret < REGRET_SHARE * regret.best or regret.best <= 0:
        return None
    figures = {
        "unused": unused,
        "limit": limit,
        "regret": regret.regret / regret.best,
        "hits": len(view.cut_by_budget),
    }
    policies = [policy for policy in ("pack", "segments") if policy != view.settings.budget_policy]
    return Finding("unused_tokens", "loss", figures, tuple({"budget_policy": policy} for policy in policies), worth_more)


def one_document(view: View) -> Finding | None:
    """One document takes most of the context while hits of others are cut."""
    if not view.tokens_by_document or not view.cut_by_budget:
        return None
    document_id, tokens = max(view.tokens_by_document.items(), key=lambda item: (item[1], item[0]))
    cut = [fate for fate in view.cut_by_budget if fate.document_id != document_id]
    if not cut or tokens < GREEDY_SHARE * view.assembly.token_count:
        return None
    figures = {"document_id": document_id, "share": tokens / view.assembly.token_count, "tokens": tokens, "hits": len(cut)}
    proposals = ({"budget_policy": "segments"}, {"budget_policy": "pack", "pack_unit": "passage"})
    return Finding("one_document", "loss", figures, proposals, worth_more)


def window_crowds_out(view: View) -> Finding | None:
    """Neighbours take much of the context while more hits are cut than sent.

    Where fewer are cut a neighbour is worth about as much as the next hit: with that condition the advice, given blind, raises
    the share of found evidence on three of the four real corpora, without it on one.
    """
    window, adjacent, total = view.settings.expand_window, view.tokens_by_kind["adjacent"], view.tokens_by_kind["chunk"]
    sent = len(view.hits) - len(view.cut_by_budget)
    if not window or len(view.cut_by_budget) <= sent or adjacent < CROWDED_SHARE * total:
        return None
    figures = {"share": adjacent / total if total else 0.0, "window": window, "hits": len(view.cut_by_budget)}
    proposals = tuple({"expand_window": narrower} for narrower in range(window - 1, -1, -1))
    return Finding("window_crowds_out", "loss", figures, proposals, worth_more)


def cut_mid_sentence(view: View) -> Finding | None:
    """A chunk was cut to fit: the bookend guide would rather leave it out, where that costs nothing."""
    if not view.truncated or view.settings.budget_policy not in ("greedy", "drop_documents"):
        return None
    figures = {"chunks": len(view.truncated), "tokens": sum(fate.tokens for fate in view.truncated)}
    proposals = ({"budget_policy": "pack"}, {"budget_policy": "greedy_skip"})
    return Finding("cut_mid_sentence", "risk", figures, proposals, _cuts_nothing)


def _cuts_nothing(before: View, after: View) -> bool:
    return not after.truncated and keeps_hits(before, after)


def repeats(view: View) -> Finding | None:
    """Chunks in the context say the very same. (What is only nearly the same may differ where it matters.)"""
    if not view.settings.enabled or view.settings.dedup_exact or view.repeated_tokens < REPEATED_SHARE * view.assembly.token_count:
        return None
    if not view.repeated:
        return None
    figures = {"chunks": len(view.repeated), "tokens": view.repeated_tokens}
    return Finding("repeats", "waste", figures, ({"dedup_exact": True},), _repeats_less)


def _repeats_less(before: View, after: View) -> bool:
    return after.repeated_tokens < before.repeated_tokens and keeps_hits(before, after)


def low_score_tail(view: View) -> Finding | None:
    """Below a steep gap in the scores stand hits that take a good part of the context."""
    hits = sorted((fate for fate in view.hits if fate.fate in ("kept", "merged")), key=lambda fate: -fate.score)
    gaps = [high.score - low.score for high, low in pairwise(hits)]
    if len(hits) < 5 or view.settings.relevance_floor is not None or not view.settings.enabled:
        return None
    at = max(range(len(gaps) - 1), key=lambda place: gaps[place])
    spread = hits[0].score - hits[-1].score
    share = STEEP_SHARE if view.evidence else UNLABELLED_SHARE
    if gaps[at] < max(STEEP * median(gaps), share * spread) or spread <= 0:
        return None
    tail = hits[at + 1 :]
    if not view.evidence and tail[0].score > UNLABELLED_TAIL * hits[0].score:
        return None
    tokens = sum(fate.tokens for fate in tail)
    floor = _between(tail[0].score, hits[at].score)
    if tokens < TAIL_SHARE * view.assembly.token_count or floor is None:
        return None
    figures = {"hits": len(tail), "tokens": tokens, "above": hits[at].score, "below": tail[0].score, "floor": floor}
    return Finding("low_score_tail", "waste", figures, ({"relevance_floor": floor},), _fewer_tokens)


def _between(low: float, high: float) -> float | None:
    """The shortest number in the middle half of the gap, so that it can be read."""
    middle, margin = (low + high) / 2, (high - low) / 4
    return next((value for digits in range(1, 8) if abs((value := float(f"{middle:.{digits}g}")) - middle) <= margin), None)


def _fewer_tokens(before: View, after: View) -> bool:
    return keeps(before, after) and 0 < after.assembly.token_count < (1 - TAIL_SHARE / 2) * before.assembly.token_count


SPACE_RULES: tuple[Check, ...] = (
    unused_tokens,
    one_document,
    window_crowds_out,
    cut_mid_sentence,
    repeats,
    low_score_tail,
)
