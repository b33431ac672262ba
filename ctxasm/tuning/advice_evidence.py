"""Rules about what is missing: evidence that a setting cut, and hits that lack what stands around them.

From the bookend guide's checklists (budget, exclusion) and the five-stage pipeline's reason for expansion.
"""

from __future__ import annotations

from ctxasm.model.results import Fate
from ctxasm.model.settings import spec_of
from ctxasm.tuning.advice_finding import Changes, Check, Finding, finds_more, keeps_hits
from ctxasm.tuning.advice_view import View

WIDEST = 3
"""The widest window there is."""
TINY_TOKENS = 60
"""A hit below this is a line or a heading: the token-budget guide calls chunks below 20 tokens degenerate, a paragraph has 100."""


def evidence_cut(view: View) -> Finding | None:
    """The budget cut documents that hold evidence."""
    lost = view.lost_at("budget")
    if not lost:
        return None
    chosen, window = view.settings, view.settings.expand_window
    others = ("pack", "segments", "greedy_skip", "greedy", "drop_documents")
    proposals: list[Changes] = []
    proposals += [{"budget_policy": policy} for policy in others if policy != chosen.budget_policy][:3]
    if window:
        proposals.append({"expand_window": window - 1})
    needed = _needed(view)
    if needed is not None and chosen.budget_mode == "fixed" and needed <= (spec_of("max_tokens").high or 0):
        proposals.append({"max_tokens": needed})
    documents = {fate.document_id for fate in view.trace.fates}
    left = documents - {fate.document_id for fate in view.shown}
    figures = {
        "cut": len(left),
        "documents": len(documents),
        "with_evidence": len({state.document_id for state in lost}),
        "lost": len(lost),
        "evidence": len(view.evidence),
    }
    return Finding("evidence_cut", "loss", figures, tuple(proposals), finds_more, True)


def _needed(view: View) -> int | None:
    """The limit, in full hundreds, that would keep the evidence that needs least more."""
    keys = {(state.document_id, index) for state in view.lost_at("budget") for index in state.chunk_indexes}
    lost = [fate for key, fate in view.fates.items() if key in keys]
    # What was cut says not how much it lacks: at most all of itself.
    missing = [fate.tokens if fate.fate == "truncated" else fate.missing_tokens or 0 for fate in lost]
    missing = [tokens for tokens in missing if tokens]
    return -(-(view.assembly.limit + min(missing)) // 100) * 100 if missing else None


def evidence_next_door(view: View) -> Finding | None:
    """Evidence stands within three chunks of a hit, but outside the window."""
    window, nearest = view.settings.expand_window, WIDEST + 1
    lost = [state for state in view.evidence if state.state != "found"]
    for state in lost:
        hits = [fate.chunk_index for fate in view.hits if fate.document_id == state.document_id and fate.reason not in ("top_k", "floor")]
        unseen = [index for index in state.chunk_indexes if (state.document_id, index) not in view.fates]
        distances = [min(abs(index - hit) for hit in hits) for index in unseen] if hits else []
        nearest = min([nearest, *(distance for distance in distances if distance > window)])
    if nearest > WIDEST or not view.settings.enabled:
        return None
    figures = {"distance": nearest, "window": window, "lost": len(lost)}
    proposals = tuple({"expand_window": wide} for wide in range(nearest, WIDEST + 1))
    return Finding("evidence_next_door", "loss", figures, proposals, finds_more)


def evidence_beyond_top_k(view: View) -> Finding | None:
    """Evidence was retrieved, but below the first k."""
    cut = _evidence_dropped(view, "top_k")
    if not cut:
        return None
    figures = {"rank": cut[0].rank, "top_k": view.settings.top_k}
    return Finding("evidence_beyond_top_k", "loss", figures, ({"top_k": cut[0].rank}, {"top_k": None}), finds_more)


def evidence_below_floor(view: View) -> Finding | None:
    """Evidence was retrieved, but scored below the floor."""
    cut = _evidence_dropped(view, "floor")
    if not cut:
        return None
    best = max(fate.score for fate in cut)
    figures = {"score": best, "floor": view.settings.relevance_floor}
    return Finding("evidence_below_floor", "loss", figures, ({"relevance_floor": float(best)}, {"relevance_floor": None}), finds_more)


def _evidence_dropped(view: View, reason: str) -> list[Fate]:
    """Hits dropped for a reason that hold evidence which is not whole in the context, best rank first."""
    keys = {(state.document_id, index) for state in view.evidence if state.state != "found" for index in state.chunk_indexes}
    return [fate for fate in view.dropped(reason) if (fate.document_id, fate.chunk_index) in keys]


def fragments(view: View) -> Finding | None:
    """Without neighbours, at least half of the passages begin or end inside a sentence."""
    if view.settings.expand_window or not view.settings.enabled or len(view.passages) < 2:
        return None
    if 2 * view.cut_passages < len(view.passages):
        return None
    figures = {"cut": view.cut_passages, "passages": len(view.passages)}
    return Finding("fragments", "risk", figures, ({"expand_window": 1},), _fewer_cuts)


def _fewer_cuts(before: View, after: View) -> bool:
    whole = 2 * after.cut_passages * len(before.passages) <= before.cut_passages * len(after.passages)
    return whole and keeps_hits(before, after)


def tiny_chunks(view: View) -> Finding | None:
    """Half of the hits or more are a line each."""
    window = view.settings.expand_window
    hits = [fate for fate in view.hits if fate.fate in ("kept", "merged")]
    tiny = sum(0 < fate.tokens < TINY_TOKENS for fate in hits)
    if len(hits) < 3 or 2 * tiny < len(hits) or window >= WIDEST or not view.settings.enabled:
        return None
    figures = {"tiny": tiny, "hits": len(hits), "tokens": TINY_TOKENS, "window": window}
    return Finding("tiny_chunks", "risk", figures, ({"expand_window": window + 1},), _longer_passages)


def _longer_passages(before: View, after: View) -> bool:
    def length(view: View) -> float:
        return view.tokens_by_kind["chunk"] / max(1, len(view.passages))

    return keeps_hits(before, after) and length(after) >= 1.5 * length(before)


EVIDENCE_RULES: tuple[Check, ...] = (
    evidence_cut,
    evidence_next_door,
    evidence_beyond_top_k,
    evidence_below_floor,
    fragments,
    tiny_chunks,
)
