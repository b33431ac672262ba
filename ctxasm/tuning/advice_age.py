"""Rules about age: an older text that stands for its successor, or before it.

From the bookend guide's staleness window: an updated document and its prior version are both retrieved, and the one that scores
better may be the stale one.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from ctxasm.model.results import Fate
from ctxasm.text.dates import period_of
from ctxasm.tuning.advice_finding import Changes, Check, Finding, keeps
from ctxasm.tuning.advice_view import SHOWN, View

EDITION = 0.5
"""Share of common words from which two hits may be editions of one text: the least that `near_threshold` takes."""


class Stale(NamedTuple):
    """A newer chunk and the older one that is preferred to it; `likeness` is the share of common words."""

    newer: Fate
    older: Fate
    likeness: float


def stale_copy(view: View) -> Finding | None:
    """A newer text gave way to, was left out beside, or stands below an older one that says nearly the same."""
    if not view.settings.enabled or (view.settings.dedup_keep == "newest" and view.settings.dedup_near):
        return None
    found = _stale(view)
    if not found:
        return None
    newer, older, likeness = found[0]
    removed = newer.fate == "duplicate_of"
    threshold = min(view.settings.near_threshold, int(100 * likeness) / 100)
    near: Changes = {} if removed else {"dedup_near": True, "near_threshold": threshold}
    figures = {
        "document_id": newer.document_id,
        "newer": _date(view, newer.document_id),
        "older": _date(view, older.document_id),
        "likeness": likeness,
        "removed": removed,
        "left_out": newer.fate == "dropped",
    }
    changes = {"dedup_keep": "newest", **near}
    return Finding("stale_copy", "risk", figures, (changes,), lambda b, a: keeps(b, a) and len(_stale(a)) < len(found))


def _stale(view: View) -> list[Stale]:
    """First copies that were removed for an older text, then hits that rank below an older one which is shown.

    One that stands above the older one in the context all the same is read first: nothing is preferred to it.
    """
    removed = [
        Stale(fate, view.fates[fate.of], fate.similarity or 1.0)
        for fate in view.trace.fates
        if fate.fate == "duplicate_of" and fate.of in view.fates and fate.of and fate.likeness != "exact"
    ]
    found = [each for each in removed if _is_later(view, each.newer, each.older)]
    dated = [fate for fate in view.hits if _date(view, fate.document_id) and fate.fate in (*SHOWN, "dropped")]
    words = {fate: frozenset(view.text_of((fate.document_id, fate.chunk_index)).lower().split()) for fate in dated}
    for older, newer in combinations(dated, 2):
        if older.fate in SHOWN and not _stands_above(newer, older) and _is_later(view, newer, older):
            share = len(words[older] & words[newer]) / max(1, len(words[older] | words[newer]))
            found += [Stale(newer, older, share)] if share >= EDITION else []
    return found


def _stands_above(one: Fate, other: Fate) -> bool:
    return one.block is not None and other.block is not None and one.block < other.block


def _is_later(view: View, one: Fate, other: Fate) -> bool:
    if one.document_id == other.document_id:
        return False
    first, second = period_of(_date(view, one.document_id)), period_of(_date(view, other.document_id))
    return first is not None and second is not None and first.is_after(second)


def _date(view: View, document_id: str) -> str:
    document = view.trace.documents.get(document_id)
    return (document.date or "") if document is not None else ""


AGE_RULES: tuple[Check, ...] = (stale_copy,)
