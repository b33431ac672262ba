"""Rules about form: the limit as a whole, the order of blocks, how they are written, what stands before them.

From the bookend guide's decision guide (more than three blocks: best first, second best last), the token-budget guide's failure
modes (overhead that was not counted) and the five-stage pipeline's suppress rule.
"""

from __future__ import annotations

from ctxasm.tuning.advice_finding import Changes, Check, Finding, keeps, keeps_hits
from ctxasm.tuning.advice_view import View

FEW_BLOCKS = 3
"""Up to here the bookend guide needs no order but relevance."""
LONG_CONTEXT = 2_000
"""Tokens from which a context has a middle worth the name; twenty passages of 100 tokens were enough for Liu et al."""
MIDDLE = (0.25, 0.75)
HEAVY_SCAFFOLD = 0.25
MANY_MARKERS = 3
SMALL_ANSWER = 256
RESERVED_ANSWER = 1_024
"""What the token-budget guide reserves for an answer."""
CHARS_PER_TOKEN = 4
"""More characters to a token than prose has in any encoding here: an answer is never said to be longer than it is."""


def overshoot(view: View) -> Finding | None:
    """The context is larger than its limit."""
    over = view.assembly.overshoot_tokens
    if not over:
        return None
    changes: Changes = {"budget_scope": "rendered"} if view.settings.enabled else {"enabled": True}
    figures = {"over": over, "limit": view.assembly.limit, "enabled": view.settings.enabled}
    return Finding("overshoot", "risk", figures, (changes,), _fits)


def _fits(before: View, after: View) -> bool:
    return bool(after.assembly.text) and after.assembly.overshoot_tokens == 0


def best_in_middle(view: View) -> Finding | None:
    """The block with the best hit stands neither first nor last."""
    place = view.place_of_best
    if len(view.block_ranks) < FEW_BLOCKS or place in (1, len(view.block_ranks)) or not view.settings.enabled:
        return None
    figures = {"place": place, "blocks": len(view.block_ranks), "tokens": view.assembly.token_count}
    proposals = tuple({"ordering": ordering} for ordering in ("auto", "relevance"))
    return Finding("best_in_middle", "risk", figures, proposals, _best_at_an_edge)


def _best_at_an_edge(before: View, after: View) -> bool:
    return after.place_of_best in (1, len(after.block_ranks)) and keeps_hits(before, after)


def second_in_middle(view: View) -> Finding | None:
    """In a long context of more than three blocks the second best stands in the middle half."""
    blocks, low, high = len(view.block_ranks), *MIDDLE
    if blocks <= FEW_BLOCKS or view.assembly.token_count < LONG_CONTEXT or view.place_of_best not in (1, blocks):
        return None
    if not low < view.middle_of_second < high or not view.settings.enabled:
        return None
    figures = {"at": view.middle_of_second, "blocks": blocks, "tokens": view.assembly.token_count}
    return Finding("second_in_middle", "risk", figures, ({"ordering": "bookend"},), _second_at_an_edge)


def _second_at_an_edge(before: View, after: View) -> bool:
    low, high = MIDDLE
    return not low < after.middle_of_second < high and _best_at_an_edge(before, after)


def unsafe_format(view: View) -> Finding | None:
    """Several blocks without markers: an answer cannot cite them, and a source can pretend to be another."""
    chosen = view.settings
    if chosen.format not in ("grouped", "minimal") or chosen.channel != "text" or len(view.block_ranks) < 2:
        return None
    figures = {"format": chosen.format, "blocks": len(view.block_ranks)}
    return Finding("unsafe_format", "risk", figures, ({"format": "numbered"},), keeps)


def markers_in_sources(view: View) -> Finding | None:
    """Source texts hold what reads as a marker, and it is only reported."""
    if view.settings.marker_collisions != "warn" or view.neutralised < MANY_MARKERS:
        return None
    return Finding("markers_in_sources", "risk", {"places": view.neutralised}, ({"marker_collisions": "neutralise"},), _defuses)


def _defuses(before: View, after: View) -> bool:
    return keeps_hits(before, after) and after.settings.marker_collisions == "neutralise" and bool(after.neutralised)


def scaffolding(view: View) -> Finding | None:
    """Headers, separators and summaries take a quarter of the context or more."""
    kinds, total, chosen = view.tokens_by_kind, view.assembly.token_count, view.settings
    if not total or view.scaffold_tokens < HEAVY_SCAFFOLD * total or not chosen.enabled:
        return None
    summaries = kinds["prefix"] >= view.scaffold_tokens / 2
    whole: tuple[Changes, ...] = ({"citation_unit": "document"},) if chosen.citation_unit != "document" else ()
    proposals = (*(({"summary_prefix": False},) if summaries else ()), *whole)
    figures = {"share": view.scaffold_tokens / total, "summaries": kinds["prefix"], "headers": view.scaffold_tokens - kinds["prefix"]}
    return Finding("scaffolding", "waste", figures, proposals, _less_scaffolding) if proposals else None


def _less_scaffolding(before: View, after: View) -> bool:
    return keeps_hits(before, after) and after.scaffold_tokens <= 0.8 * before.scaffold_tokens


def supplement_needless(view: View) -> Finding | None:
    """The supplement takes tokens although the best similarity is good enough."""
    chosen, similarity, tokens = view.settings, view.assembly.query.best_similarity, view.tokens_by_kind["supplement"]
    if not tokens or chosen.supplement_mode != "always" or similarity is None or similarity < chosen.supplement_threshold:
        return None
    figures = {"tokens": tokens, "similarity": similarity, "threshold": chosen.supplement_threshold}
    return Finding("supplement_needless", "waste", figures, ({"supplement_mode": "auto"},), _no_supplement)


def _no_supplement(before: View, after: View) -> bool:
    return keeps(before, after) and not after.tokens_by_kind["supplement"]


def supplement_missing(view: View) -> Finding | None:
    """Retrieval found little that is similar, and the supplement is switched off."""
    chosen, query = view.settings, view.assembly.query
    if not query.supplement or chosen.supplement_mode != "never" or query.best_similarity is None:
        return None
    if query.best_similarity >= chosen.supplement_threshold:
        return None
    figures = {"similarity": query.best_similarity, "threshold": chosen.supplement_threshold}
    return Finding("supplement_missing", "loss", figures, ({"supplement_mode": "auto"},), _with_supplement)


def _with_supplement(before: View, after: View) -> bool:
    return keeps(before, after) and after.tokens_by_kind["supplement"] > 0


def answer_reserve(view: View) -> Finding | None:
    """What the window keeps for the answer is too little for one, or for the reference answer."""
    chosen = view.settings
    reference = len(view.assembly.query.answer or "") // CHARS_PER_TOKEN
    if chosen.budget_mode != "window" or chosen.answer_tokens >= max(SMALL_ANSWER, reference):
        return None
    figures = {"reserved": chosen.answer_tokens, "reference": reference}
    reserve = max(RESERVED_ANSWER, -(-2 * reference // 100) * 100)
    return Finding("answer_reserve", "risk", figures, ({"answer_tokens": reserve},), keeps)


FORM_RULES: tuple[Check, ...] = (
    overshoot,
    best_in_middle,
    second_in_middle,
    unsafe_format,
    markers_in_sources,
    scaffolding,
    supplement_needless,
    supplement_missing,
    answer_reserve,
)
