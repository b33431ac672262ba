"""Stage 1: every hit brings its neighbours.

`rank_hits` and `plan_expansion` say what to read; `expand` turns what was read into candidates. A neighbour's score is its
hit's score times the decay (five-stage pipeline: halved), or divided by it where the score is negative, so that a
neighbour never outranks the chunk that brought it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxasm.model.events import Absent, Added, Dropped, Event, Repeated
from ctxasm.model.ports import FetchedChunk, Window
from ctxasm.model.records import Hit, Query
from ctxasm.model.results import Candidate, Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.visible import is_visible


@dataclass(frozen=True, slots=True)
class RankedHits:
    """The hits that count, best first, each once, with their ranks; those beyond `top_k`; those `below` the relevance floor."""

    hits: tuple[Hit, ...]
    beyond: tuple[Hit, ...]
    below: tuple[Hit, ...]
    events: tuple[Event, ...]

    def all(self) -> tuple[Hit, ...]:
        """Every hit, best first, those that do not count at the end."""
        return (*self.hits, *self.beyond, *self.below)


@dataclass(frozen=True, slots=True)
class Expansion:
    """All candidates, documents in the order of their first hit and ascending inside, and what was lost at once.

    `dropped` holds chunks that never became candidates (missing, empty, beyond top_k, below the floor) with the reason.
    """

    candidates: Mapping[Key, Candidate]
    dropped: Mapping[Key, str]
    events: tuple[Event, ...]


LOWEST = -sys.float_info.max


def rank_hits(query: Query, top_k: int | None, relevance_floor: float | None = None) -> RankedHits:
    """Merge repeats (best score, best rank), put the best first, leave out what scores below the floor, keep the first `top_k`.

    A hit without a rank is placed by score, then document, then index; if any rank is missing, all follow the score.
    """
    merged: dict[Key, Hit] = {}
    times: dict[Key, int] = {}
    zeros = False
    for hit in query.retrieved:
        key = (hit.document_id, hit.chunk_index)
        times[key] = times.get(key, 0) + 1
        merged[key] = _better(merged[key], hit) if key in merged else hit
        zeros |= not hit.score
    if zeros:
        # -0.0 and 0.0 are the same score; one of them must be shown.
        merged = {key: Hit(h.document_id, h.chunk_index, h.score + 0.0, h.rank, h.scores) for key, h in merged.items()}
    by_score = sorted(merged.values(), key=lambda h: (-h.score, h.document_id, h.chunk_index))
    if all(hit.rank is not None for hit in by_score):
        ordered = sorted(by_score, key=lambda h: h.rank or 0)
    else:
        ordered = [Hit(h.document_id, h.chunk_index, h.score, place, h.scores) for place, h in enumerate(by_score, 1)]
    repeats = tuple(Repeated(*key, times[key]) for hit in ordered if times[key := (hit.document_id, hit.chunk_index)] > 1)
    below = () if relevance_floor is None else tuple(hit for hit in ordered if hit.score < relevance_floor)
    if below:
        ordered = [hit for hit in ordered if hit.score >= (relevance_floor or 0)]
    return RankedHits(tuple(ordered[:top_k]), tuple(ordered[top_k:]) if top_k is not None else (), below, repeats)


def _better(one: Hit, other: Hit) -> Hit:
    ranks = [rank for rank in (one.rank, other.rank) if rank is not None]
    best = max(one, other, key=lambda h: h.score)
    return Hit(best.document_id, best.chunk_index, best.score, min(ranks, default=None), best.scores)


def plan_expansion(hits: Sequence[Hit], expand_window: int) -> tuple[Window, ...]:
    """The windows to read: every hit ± `expand_window`, merged per document where they touch."""
    indexes: dict[str, list[int]] = {}
    for hit in hits:
        indexes.setdefault(hit.document_id, []).append(hit.chunk_index)
    windows = []
    for document_id, wanted in indexes.items():
        wanted.sort()
        low, high = wanted[0] - expand_window, wanted[0] + expand_window
        for index in wanted[1:]:
            if index - expand_window > high + 1:
                windows.append(Window(document_id, max(0, low), high))
                low = index - expand_window
            high = index + expand_window
        windows.append(Window(document_id, max(0, low), high))
    return tuple(windows)


def expand(ranked: RankedHits, fetched: Sequence[FetchedChunk], window: int, settings: AssemblySettings) -> Expansion:
    """Candidates from what was read. A hit that is missing or empty brings no neighbours."""
    stored = {(chunk.document_id, chunk.chunk_index): chunk for chunk in fetched}
    dropped: dict[Key, str] = {(hit.document_id, hit.chunk_index): "top_k" for hit in ranked.beyond}
    dropped |= {(hit.document_id, hit.chunk_index): "floor" for hit in ranked.below}
    hits: dict[str, dict[int, Hit]] = {}
    for hit in ranked.hits:
        key = (hit.document_id, hit.chunk_index)
        chunk = stored.get(key)
        if chunk is None or not is_visible(chunk.text):
            dropped[key] = "missing" if chunk is None else "empty"
            continue
        hits.setdefault(hit.document_id, {})[hit.chunk_index] = hit
    factors = _factors(window, settings)
    candidates: dict[Key, Candidate] = {}
    events: list[Event] = []
    for document_id, own in hits.items():
        reached = _reach(own, window)
        wanted = sorted(reached)
        present = [index for index in wanted if (document_id, index) in stored]
        _admit(document_id, present, reached, own, stored, factors, candidates, dropped, events)
        if len(present) < len(wanted):
            events += _absences(document_id, present, wanted)
    drops = [Dropped(*key, reason) for key, reason in dropped.items()]  # type: ignore[arg-type]
    return Expansion(candidates, dropped, (*ranked.events, *events, *drops))


def _reach(hits: Mapping[int, Hit], window: int) -> dict[int, list[int]]:
    """Index to the hits that reach it; a hit is reached by itself alone."""
    reached: dict[int, list[int]] = {index: [] for index in hits}
    for index in sorted(hits):
        for other in range(max(0, index - window), index + window + 1):
            if other in reached:
                if other not in hits:
                    reached[other].append(index)
            else:
                reached[other] = [index]
    return reached


def _admit(
    document_id: str,
    present: Sequence[int],
    reached: Mapping[int, list[int]],
    hits: Mapping[int, Hit],
    stored: Mapping[Key, FetchedChunk],
    factors: Sequence[float],
    candidates: dict[Key, Candidate],
    dropped: dict[Key, str],
    events: list[Event],
) -> None:
    for index in present:
        key = (document_id, index)
        chunk = stored[key]
        hit = hits.get(index)
        if hit is not None:
            candidates[key] = Candidate(chunk, True, float(hit.score), hit.rank or 0)
            continue
        if not is_visible(chunk.text):
            dropped.setdefault(key, "empty")
            continue
        dropped.pop(key, None)
        parents = tuple(reached[index])
        best = hits[parents[0]]
        score, rank = _decayed(best.score, factors[abs(parents[0] - index)]), best.rank or 0
        for parent in parents[1:]:
            other = hits[parent]
            score = max(score, _decayed(other.score, factors[abs(parent - index)]))
            rank = min(rank, other.rank or 0)
        candidates[key] = Candidate(chunk, False, score, rank, parents)
        events.append(Added(document_id, index, score, parents))


def _factors(window: int, settings: AssemblySettings) -> list[float]:
    """The factor by distance, 0 to the window; the same at every distance where the decay is flat."""
    steps = range(window + 1)
    return [settings.decay ** (step if settings.decay_mode == "per_step" else 1) for step in steps]


def _decayed(score: float, factor: float) -> float:
    """A neighbour's score; a factor that underflows to nothing leaves the lowest score there is."""
    if score >= 0:
        return score * factor
    return max(score / factor, LOWEST) if factor else LOWEST


def _absences(document_id: str, present: Sequence[int], wanted: Sequence[int]) -> list[Event]:
    """Indexes that should stand between two stored ones and do not."""
    if not present:
        return []
    there = set(present)
    return [Absent(document_id, index) for index in wanted if present[0] < index < present[-1] and index not in there]
