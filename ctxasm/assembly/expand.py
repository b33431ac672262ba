"""Stage 1: every hit brings its neighbours.

`rank_hits` and `plan_expansion` say what to read; what was read becomes candidates. A neighbour's score is its hit's score times
the decay (five-stage pipeline: halved), or divided by it where the score is negative, so that a neighbour never outranks the
chunk that brought it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import cast

from ctxasm.assembly.numbering import NO_EARLIER, EarlierEvidence
from ctxasm.assembly.stages import Found, RankedHits
from ctxasm.model.characters import is_visible
from ctxasm.model.events import Absent, Added, Dropped, Event, NoNeighbours, Repeated, Unexpanded
from ctxasm.model.ports import ChunkSource, Fetched, FetchedChunk, KnowsNeighbours, TokenCounter, Window
from ctxasm.model.records import Hit, Query, make_record
from ctxasm.model.results import Candidate, Key
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.chunk_facts import complete

LOWEST = -sys.float_info.max
NOTHING_FETCHED = Fetched((), {}, 0, 0, 0.0)


def expand(
    query: Query, source: ChunkSource, settings: AssemblySettings, counter: TokenCounter, earlier: EarlierEvidence = NO_EARLIER
) -> Found:
    """Read the hits with their neighbours, and what is kept of earlier turns. Switched off: the hits alone, whatever they score."""
    window, floor = (settings.window, settings.relevance_floor) if settings.enabled else (0, None)
    ranked = rank_hits(query, settings.top_k, floor)
    kept = _kept_hits(earlier, ranked) if settings.enabled else ()
    windows = plan_expansion(ranked.hits, window, (*ranked.beyond, *ranked.below, *kept))
    fetched = source.fetch(windows, settings.encoding) if windows else NOTHING_FETCHED
    stored = {(chunk.document_id, chunk.chunk_index): chunk for chunk in complete(fetched.chunks, counter)}
    lost: dict[Key, str] = {}
    candidates = _candidates(ranked, stored, window, settings, lost)
    for key in earlier.sent & candidates.keys():
        del candidates[key]
        lost[key] = "already_sent"
    obstacle = _obstacle(source, ranked.hits, candidates, lost) if window and ranked.hits else None
    candidates = _with_kept(kept, candidates, stored, lost)
    return Found(ranked, window, fetched, fetched.documents, stored, candidates, lost, obstacle)


def _kept_hits(earlier: EarlierEvidence, ranked: RankedHits) -> tuple[Hit, ...]:
    """The chunks kept of earlier turns, behind every hit in their order."""
    lowest, last = min((hit.score for hit in ranked.hits), default=0.0), len(ranked.hits)
    # A step that is lost in the rounding of a large score leaves equals, which their ranks tell apart.
    return tuple([Hit(*key, max(lowest - place, LOWEST), last + place) for place, key in enumerate(earlier.kept, 1)])


def _with_kept(
    kept: Sequence[Hit], candidates: dict[Key, Candidate], stored: Mapping[Key, FetchedChunk], lost: dict[Key, str]
) -> dict[Key, Candidate]:
    """The candidates with the kept chunks that are none yet: documents in the order in which they came, ascending inside."""
    added: dict[Key, Candidate] = {}
    for hit in kept:
        key = (hit.document_id, hit.chunk_index)
        if key in stored and key not in candidates and is_visible(stored[key].text):
            lost.pop(key, None)
            added[key] = Candidate(stored[key], False, hit.score, hit.rank or 0)
    if not added:
        return candidates
    together = candidates | added
    place = {document_id: at for at, document_id in enumerate(dict.fromkeys(document_id for document_id, _ in together))}
    return {key: together[key] for key in sorted(together, key=lambda key: (place[key[0]], key[1]))}


def _obstacle(
    source: ChunkSource, hits: Sequence[Hit], candidates: Mapping[Key, Candidate], lost: Mapping[Key, str]
) -> NoNeighbours | None:
    """Why no hit has a neighbour; None where one has, be it another hit."""
    if not all(candidate.retrieved for candidate in candidates.values()):
        return None
    if any((document_id, index + 1) in candidates for document_id, index in candidates):
        return None
    if all(lost.get((hit.document_id, hit.chunk_index)) == "missing" for hit in hits):
        return NoNeighbours("ids", hits[0].document_id, (hits[0].chunk_index,))
    return known_obstacle(source)


def known_obstacle(source: ChunkSource) -> NoNeighbours | None:
    """Why no chunk of a source has a neighbour, where it can tell; one that only fetches is a source too."""
    return cast(KnowsNeighbours, source).no_neighbours() if _may_know_neighbours(type(source)) else None


@cache
def _may_know_neighbours(kind: type[ChunkSource]) -> bool:
    return issubclass(kind, KnowsNeighbours)


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
    repeats = {key: times[key] for hit in ordered if times[key := (hit.document_id, hit.chunk_index)] > 1}
    below: tuple[Hit, ...] = ()
    if relevance_floor is not None:
        below = tuple(hit for hit in ordered if hit.score < relevance_floor)
        ordered = [hit for hit in ordered if hit.score >= relevance_floor]
    return RankedHits(tuple(ordered[:top_k]), tuple(ordered[top_k:]) if top_k is not None else (), below, repeats)


def _better(one: Hit, other: Hit) -> Hit:
    ranks = [rank for rank in (one.rank, other.rank) if rank is not None]
    best = max(one, other, key=lambda h: h.score)
    return Hit(best.document_id, best.chunk_index, best.score, min(ranks, default=None), best.scores)


def plan_expansion(hits: Sequence[Hit], expand_window: int, others: Iterable[Hit] = ()) -> tuple[Window, ...]:
    """The windows to read: every hit ± `expand_window`, `others` without neighbours, merged per document where they touch."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        index = hit.chunk_index
        ranges.setdefault(hit.document_id, []).append((max(0, index - expand_window), index + expand_window))
    for hit in others:
        ranges.setdefault(hit.document_id, []).append((hit.chunk_index, hit.chunk_index))
    windows = []
    for document_id, own in ranges.items():
        own.sort()
        low, high = own[0]
        for first, last in own:
            if first > high + 1:
                windows.append(Window(document_id, low, high))
                low = first
            high = max(high, last)
        windows.append(Window(document_id, low, high))
    return tuple(windows)


def _candidates(
    ranked: RankedHits, stored: Mapping[Key, FetchedChunk], window: int, settings: AssemblySettings, lost: dict[Key, str]
) -> dict[Key, Candidate]:
    """Candidates from what was read, and in `lost` what is none. A hit that is missing or empty brings no neighbours."""
    lost |= {(hit.document_id, hit.chunk_index): "top_k" for hit in ranked.beyond}
    lost |= {(hit.document_id, hit.chunk_index): "floor" for hit in ranked.below}
    hits: dict[str, dict[int, Hit]] = {}
    for hit in ranked.hits:
        key = (hit.document_id, hit.chunk_index)
        chunk = stored.get(key)
        if chunk is None or not (chunk.text[:1].isalnum() or is_visible(chunk.text)):
            lost[key] = "missing" if chunk is None else "empty"
            continue
        hits.setdefault(hit.document_id, {})[hit.chunk_index] = hit
    factors = _factors(window, settings)
    candidates: dict[Key, Candidate] = {}
    for document_id, own in hits.items():
        _admit(document_id, _reach(own, window), own, stored, factors, candidates, lost)
    return candidates


def expansion_events(found: Found) -> tuple[Event, ...]:
    """What was retrieved more than once, what came, which index is not there, and what was lost at once."""
    times = found.ranked.times or {}
    events: list[Event] = [Repeated(*key, count) for key, count in times.items()]
    hits: dict[str, list[int]] = {}
    for document_id, index in [key for key, candidate in found.candidates.items() if candidate.retrieved]:
        hits.setdefault(document_id, []).append(index)
    added: dict[str, list[Candidate]] = {}
    for (document_id, _), candidate in found.candidates.items():
        if candidate.parents:
            added.setdefault(document_id, []).append(candidate)
    for document_id, own in hits.items():
        events += [Added(document_id, c.chunk.chunk_index, c.score, c.parents) for c in added.get(document_id, ())]
        wanted = sorted({at for index in own for at in range(index - found.window, index + found.window + 1)})
        present = [index for index in wanted if (document_id, index) in found.stored]
        if len(present) < len(wanted):
            events += _absences(document_id, present, wanted)
    drops = [Dropped(*key, reason) for key, reason in found.lost.items()]  # type: ignore[arg-type]
    why = [Unexpanded(*found.obstacle)] if found.obstacle is not None else []
    return (*events, *drops, *why)


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
    reached: Mapping[int, list[int]],
    hits: Mapping[int, Hit],
    stored: Mapping[Key, FetchedChunk],
    factors: Sequence[float],
    candidates: dict[Key, Candidate],
    lost: dict[Key, str],
) -> None:
    for index in sorted(reached):
        key = (document_id, index)
        chunk = stored.get(key)
        if chunk is None:
            continue
        hit = hits.get(index)
        if hit is not None:
            candidates[key] = make_record(Candidate, (chunk, True, float(hit.score), hit.rank or 0, ()))
            continue
        if not (chunk.text[:1].isalnum() or is_visible(chunk.text)):
            lost.setdefault(key, "empty")
            continue
        lost.pop(key, None)
        parents = tuple(reached[index])
        best = hits[parents[0]]
        score, rank = _decayed(best.score, factors[abs(parents[0] - index)]), best.rank or 0
        for parent in parents[1:]:
            other = hits[parent]
            score = max(score, _decayed(other.score, factors[abs(parent - index)]))
            rank = min(rank, other.rank or 0)
        candidates[key] = make_record(Candidate, (chunk, False, score, rank, parents))


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
