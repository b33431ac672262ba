"""Policies that choose units of several chunks by value for their size: `pack` (knapsack) and `segments` (runs)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import fsum
from typing import NamedTuple

from ctxasm.assembly.chunk_sets import ChunkSet, degenerate, fill, taken
from ctxasm.assembly.deduplicate import repeats_itself
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.order import groups_of
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.render import shown_tokens
from ctxasm.assembly.stages import Chosen, DocumentPlan, Documents, Resolution, Written
from ctxasm.assembly.trim import trim
from ctxasm.model.events import Reason
from ctxasm.model.results import Candidate, DocumentSize, Key, Regret

PACK_K = 60
"""The constant of reciprocal-rank fusion: value of a hit = 1 / (60 + rank)."""
MAX_STEPS = 1000
"""Steps of branch and bound (about 1 µs each) before the table takes over."""
MAX_CELLS = 16_000_000
"""Units × tokens of the largest table (about 1 ns each)."""
TICKS = 2**52
"""Values are compared as whole numbers of this share of their sum, so that sums do not depend on their order."""


class Unit(NamedTuple):
    """What is taken or left as a whole: a document, or a passage (document, first index), with its tokens and its worth."""

    name: str | tuple[str, int]
    tokens: int
    value: float


class Packing(NamedTuple):
    """Indexes of the units taken, ascending; their value, and a bound that no packing exceeds: the value where `exact`.

    `rest` are the others in the order in which what is left over should be offered to them: richest per token first,
    those without value by size.
    """

    chosen: tuple[int, ...]
    value: float
    bound: float
    exact: bool
    rest: tuple[int, ...] = ()


def value_of(ranks: Sequence[int], pack_k: int = PACK_K) -> float:
    """Value of retrieved chunks with these ranks, whatever their order."""
    return fsum(1.0 / (pack_k + rank) for rank in ranks)


def pack_units(units: Sequence[Unit], always: int | None, limit: int) -> Packing:
    """The units that are worth most within `limit` tokens, the unit `always` among them (alone where it is too large).

    Of equal values the one with fewer tokens; units without value are left to `rest`. Equals are told apart by name.
    Branch and bound over the fractional packing (Horowitz and Sahni 1974); where that takes too long, a table over the tokens
    (Bellman 1957); where the table would be too large, the best packing found stands beside a bound that no packing exceeds.
    """
    return _pack(units, always, limit, MAX_CELLS)


def packing_regret(items: Sequence[Unit], always: str | None, limit: int, kept_value: float) -> Regret:
    """The best packing against what was kept. `always` names the document that is in every packing."""
    forced = next((place for place, item in enumerate(items) if item.name == always), None)
    packing = _pack(items, forced, limit, 0)
    first = (forced,) if forced is not None else ()
    names = tuple(str(items[place].name) for place in (*first, *(place for place in packing.chosen if place != forced)))
    return Regret(kept_value, max(packing.bound, kept_value), packing.exact, names)


def _pack(units: Sequence[Unit], always: int | None, limit: int, max_cells: int) -> Packing:
    forced = () if always is None else (always,)
    room = limit - sum(units[place].tokens for place in forced)
    order = _richest_first(units, frozenset(forced))
    # A document that comes to nothing, or less than nothing beside the others, is always worth it.
    gifts = [place for place in order if units[place].tokens < 0 or units[place].tokens == 0 < units[place].value] if room >= 0 else []
    room -= sum(units[place].tokens for place in gifts)
    open_ = [place for place in order if units[place].value > 0 and 0 < units[place].tokens <= room]
    open_value = fsum(units[place].value for place in open_)
    ticks = {place: max(1, round(units[place].value / open_value * TICKS)) for place in open_}
    # The bound is proven for this very order: by ticks, not by the values they stand for.
    open_.sort(key=lambda place: -(ticks[place] << 64) // units[place].tokens)
    sack = _Sack([units[place].tokens for place in open_], [ticks[place] for place in open_], max(0, room))
    taken, most = sack.solve(max_cells)
    chosen = tuple(sorted((*forced, *gifts, *(open_[at] for at in taken))))
    value = fsum(units[place].value for place in chosen)
    bound = value
    if most is not None:
        beside = fsum(units[place].value for place in (*forced, *gifts))
        bound = max(value, beside + min(1.0, (most + len(open_)) / TICKS) * open_value)
    left = frozenset(chosen)
    return Packing(chosen, value, bound, most is None, tuple(place for place in order if place not in left))


def _richest_first(units: Sequence[Unit], without: frozenset[int]) -> list[int]:
    """Places by value per token, then fewer tokens, then name: an order that the order of the input does not touch."""

    def standing(place: int) -> tuple[float, int, str, int]:
        name, tokens, value = units[place]
        document_id, first = (name, -1) if isinstance(name, str) else name
        return (-value / max(1, tokens), tokens, document_id, first)

    return sorted((place for place in range(len(units)) if place not in without), key=standing)


class _Sack:
    """Positive `tokens` and `ticks` of units, richest per token first, and the room for them."""

    def __init__(self, tokens: Sequence[int], ticks: Sequence[int], room: int) -> None:
        self.tokens, self.ticks, self.room = tokens, ticks, room
        # Fewer tokens among equal values: one number that compares by value first, then by tokens.
        self.worth = [tick * (room + 1) - size for tick, size in zip(ticks, tokens, strict=True)]
        self.token_sums = [0, *accumulate(tokens)]
        self.worth_sums = [0, *accumulate(self.worth)]

    def solve(self, max_cells: int) -> tuple[list[int], int | None]:
        """Which to take; and where that is not proven to be the best, the ticks that no packing exceeds."""
        if self.token_sums[-1] <= self.room:
            return list(range(len(self.tokens))), None
        best, bound = self._branch()
        if bound is None or len(self.tokens) * self.room > max_cells:
            return best, bound if bound is None else (bound + self.room) // (self.room + 1)
        return self._table(), None

    def _branch(self) -> tuple[list[int], int | None]:
        """Depth first: take what fits in order, then give back the last taken and go on after it."""
        # This loop is most of what a packing takes, so what it reads is at hand and `_bound` is written out.
        tokens, worths, token_sums, worth_sums = self.tokens, self.worth, self.token_sums, self.worth_sums
        count = len(tokens)
        taken: list[int] = []
        best: list[int] = []
        most = worth = place = 0
        left = self.room
        for _ in range(MAX_STEPS):
            if place < count:
                start = token_sums[place]
                end = bisect_right(token_sums, start + left, place) - 1
                gain = worth_sums[end] - worth_sums[place]
                rest = -(-worths[end] * (start + left - token_sums[end]) // tokens[end]) if end < count else 0
                if worth + gain + rest > most:
                    taken += range(place, end)
                    worth += gain
                    left -= token_sums[end] - start
                    if worth > most:
                        best, most = taken.copy(), worth
                    place = end + 1
                    if place < count:
                        continue
            elif worth > most:
                best, most = taken.copy(), worth
            if not taken:
                return best, None
            last = taken.pop()
            worth -= worths[last]
            left += tokens[last]
            place = last + 1
        return best, max(most, self._open(taken, place))

    def _open(self, taken: Sequence[int], place: int) -> int:
        """The highest bound among the branches not looked into yet: each taken unit might be given back."""
        bounds, worth, left = [], 0, self.room
        for at in taken:
            bounds.append(worth + self._bound(at + 1, left))
            worth, left = worth + self.worth[at], left - self.tokens[at]
        return max([*bounds, worth + self._bound(place, left)])

    def _bound(self, place: int, left: int) -> int:
        """The worth of the fractional packing of the units from `place` on: never less than any whole one's."""
        if place >= len(self.tokens):
            return 0
        end = bisect_right(self.token_sums, self.token_sums[place] + left, place) - 1
        worth = self.worth_sums[end] - self.worth_sums[place]
        if end == len(self.tokens):
            return worth
        return worth + -(-self.worth[end] * (self.token_sums[place] + left - self.token_sums[end]) // self.tokens[end])

    def _table(self) -> list[int]:
        """Most ticks for every number of tokens, unit by unit; then back from the fewest tokens that hold the most."""
        import numpy as np

        most = np.zeros(self.room + 1, np.int64)
        taken = np.zeros((len(self.tokens), self.room + 1), np.bool_)
        for row, size, tick in zip(taken, self.tokens, self.ticks, strict=True):
            gain = most[: self.room + 1 - size] + tick
            np.greater(gain, most[size:], out=row[size:])
            np.maximum(gain, most[size:], out=most[size:])
        left = int(np.searchsorted(most, most[-1]))
        best = []
        for at in range(len(self.tokens) - 1, -1, -1):
            if taken[at, left]:
                best.append(at)
                left -= self.tokens[at]
        return best[::-1]


REFILLS = 200
"""Units offered at most to the room that is left."""


class ChunkUnit(NamedTuple):
    """Chunks that are taken or left together, with what they are worth and roughly cost."""

    name: str | tuple[str, int]
    members: tuple[Candidate, ...]
    tokens: int
    value: float


class Start(NamedTuple):
    """From where units are made: the best chunk, those too small to be looked at, and who repeats whom among the rest."""

    best: Candidate
    small: Mapping[Key, str]
    among: Resolution


def start(scales: Scales) -> Start | None:
    """None where nothing was retrieved."""
    return scales.once("start", lambda: _start(scales))


def _start(scales: Scales) -> Start | None:
    best = best_of(scales)
    if best is None:
        return None
    small = degenerate(scales, best)
    left = {document_id: {index: c for index, c in own.items() if c.key not in small} for document_id, own in scales.own.items()}
    return Start(best, small, scales.resolve({document_id: own for document_id, own in left.items() if own}))


def best_of(scales: Scales) -> Candidate | None:
    """The chunk that is always in: the best hit, or the newer one that stands for it. None where nothing was retrieved."""
    best = best_hit(scales.candidates.values())
    newer = scales.relations.superseded.get(best.key) if best is not None else None
    return best if newer is None else scales.candidates.get(newer.key, best)


def best_hit(candidates: Iterable[Candidate]) -> Candidate | None:
    """The hit of the best rank, of equals the best score: the one that is always in."""
    return min((c for c in candidates if c.retrieved), key=lambda c: (c.rank, -c.score, *c.key), default=None)


def unit_of(scales: Scales, document_id: str, indexes: Sequence[int], tokens: int, name: str | None = None) -> ChunkUnit:
    """These chunks of a document as a unit."""
    members = tuple([scales.own[document_id][index] for index in indexes])
    value = value_of([c.rank for c in members if c.retrieved], scales.settings.pack_k)
    return ChunkUnit(name or (document_id, indexes[0]), members, tokens, value)


def tokens_of(scales: Scales, group: Sequence[Joined]) -> int:
    """What the shown spans of these chunks count, one by one."""
    return sum([shown_tokens(j, scales.counter) for j in group])


def index_of_best(begun: Start, units: Sequence[ChunkUnit]) -> int:
    """The unit of the best chunk, of several the last. Each chunk that is left of all stands in one."""
    there = {candidate.key: at for at, unit in enumerate(units) for candidate in unit.members}
    return there[_key_of_best(begun)]


def _key_of_best(begun: Start) -> Key:
    """The best chunk, or the one that stays where that one only repeats it or stands inside it."""
    return begun.among.duplicates.get(begun.best.key, begun.best.key)


def fit(scales: Scales, units: Sequence[ChunkUnit]) -> bool:
    """Whether these units fit together."""
    return set_of(scales, units).size() <= scales.limit


def refilled(scales: Scales, chosen: Sequence[ChunkUnit], offered: Sequence[ChunkUnit]) -> list[ChunkUnit]:
    """The chosen units and whatever of the offered ones still fits, in their order."""
    kept, offered = list(chosen), offered[:REFILLS]
    if not any(scales.relations):
        return kept + [offered[place] for place in fill(set_of(scales, kept), [unit.members for unit in offered], scales.limit)]
    there = {candidate.key for unit in kept for candidate in unit.members}
    for unit in offered:
        keys = [candidate.key for candidate in unit.members]
        # What brings nothing new makes the same set again.
        if there.issuperset(keys) or fit(scales, [*kept, unit]):
            kept.append(unit)
            there.update(keys)
    return kept


def explained(done: Chosen, among: Resolution, reasons: Mapping[Key, Reason]) -> Chosen:
    """With why chunks were left; a copy was left for the same reason as what it repeats."""
    copies = {copy: reasons[key] for copy, key in among.duplicates.items() if key in reasons}
    return replace(done, reasons={**copies, **reasons, **done.reasons})


def crowded(done: Chosen, among: Resolution, units: Iterable[ChunkUnit]) -> Chosen:
    """With why chunks were left of units that were offered whatever room there was."""
    if not done.plans:
        return done
    shown = keys_of(done)
    left = [c.key for unit in units for c in unit.members if c.key not in shown]
    return explained(done, among, dict.fromkeys(left, "crowded_out"))


def keys_of(done: Chosen) -> set[Key]:
    """The chunks that are shown."""
    return {(j.chunk.document_id, j.chunk.chunk_index) for j in done.final}


def set_of(scales: Scales, units: Sequence[ChunkUnit]) -> ChunkSet:
    """What these units show once what they repeat among themselves is gone."""
    documents: dict[str, dict[int, Candidate]] = {}
    for unit in units:
        for candidate in unit.members:
            chunk = candidate.chunk
            documents.setdefault(chunk.document_id, {})[chunk.chunk_index] = candidate
    if repeats_itself(documents, scales.relations):
        shown = scales.resolve({document_id: dict(sorted(own.items())) for document_id, own in documents.items()}).shown
        documents = {document_id: {index: documents[document_id][index] for index in own} for document_id, own in shown.items() if own}
    return ChunkSet(scales, documents)


def cut_down(scales: Scales, begun: Start, unit: ChunkUnit) -> Chosen:
    """The unit of the best chunk alone is too large: its best chunks, or the best one cut."""
    own = {candidate.chunk.chunk_index: candidate for candidate in unit.members}
    document_id = unit.members[0].chunk.document_id

    def plan_of(indexes: Iterable[int]) -> DocumentPlan:
        return set_of(scales, [unit._replace(members=tuple([own[index] for index in sorted(indexes)]))]).plans()[0]

    found = trim(own, plan_of, scales, _key_of_best(begun)[1])
    if found.plan is None:
        return taken(scales, ChunkSet(scales), {**begun.small, (document_id, found.order[0]): "no_room"}, yielded=found.yielded)
    return taken(scales, ChunkSet(scales), begun.small, plans=(found.plan,), yielded=found.yielded)


SPREAD = 1 / 3
"""What of a chunk's value reaches the next one on either side."""
OPENING_TOKENS = 30
"""What a run takes besides its chunks, where the caller does not know: a heading or a gap mark, and a head not stripped."""
HALVINGS = 24
"""Steps in which the rent is found: to 1 / 2²⁴ of the highest that anyone could pay."""


@dataclass(frozen=True, slots=True)
class RunChunk:
    """A candidate: its index in its document, its tokens, and its value: `run_value` its rank, 0 for an adjacent chunk."""

    index: int
    tokens: int
    value: float


class Run(NamedTuple):
    """Consecutive chunks of one document. `value` is the sum of their own values."""

    document_id: str
    indexes: tuple[int, ...]
    tokens: int
    value: float


def run_value(rank: int) -> float:
    """Value of a hit for the choice of runs. Steeper than packing's 1 / (60 + rank), under which all hits are worth nearly
    the same and no neighbour of the best hit ever comes before the tenth."""
    return 1.0 / rank


def best_runs(
    documents: Mapping[str, Sequence[RunChunk]], limit: int, opening_tokens: Mapping[str, int] | None = None, spread: float = SPREAD
) -> tuple[Run, ...]:
    """All candidates, as runs, in the order in which they should enter the context: each as far as it fits, what is in already
    being passed over.

    First the runs worth their rent within `limit` tokens, the one with the best hit ahead and then by what they are worth
    above it; then every chunk by itself, by worth per token: what a run that does not fit after all leaves, and what was
    not worth the rent. `opening_tokens` are what a run of the document takes besides its chunks.
    """
    field = RunField(documents, opening_tokens or {}, spread)
    return (*field.best(limit), *field.singles())


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Candidates at consecutive indexes, the first at place `first` of all: their worth and tokens, the best worth per token, and what
    opening a run of them takes."""

    first: int
    worths: Sequence[tuple[float, int]]
    density: float
    opening: int


class RunField:
    """All candidates in stretches of consecutive indexes: what `best_runs` looks for at any limit. A run is a slice of `places`."""

    def __init__(self, documents: Mapping[str, Sequence[RunChunk]], opening: Mapping[str, int], spread: float = SPREAD) -> None:
        self.places: list[tuple[str, RunChunk]] = []
        self.densities: list[float] = []
        self.openings: list[int] = []
        self.stretches: list[_Stretch] = []
        for document_id in sorted(documents):
            opens = opening.get(document_id, OPENING_TOKENS)
            for stretch in _stretches(documents[document_id]):
                worths = [(worth, chunk.tokens) for worth, chunk in zip(_worths(stretch, spread), stretch, strict=True)]
                densities = [worth / max(1, tokens) for worth, tokens in worths]
                self.stretches.append(_Stretch(len(self.places), worths, max(densities), opens))
                self.places += [(document_id, chunk) for chunk in stretch]
                self.densities += densities
                self.openings += [opens] * len(stretch)
        self.stretches.sort(key=lambda stretch: -stretch.density)
        self.before = [0, *accumulate([chunk.tokens for _, chunk in self.places])]
        best = max(range(len(self.places)), key=lambda at: (self.places[at][1].value, -at), default=0)
        self.best_alone = range(best, best + 1)

    def best(self, limit: int) -> list[Run]:
        """The runs worth their rent within `limit` tokens, the one with the best hit ahead."""
        if not self.places:
            return []
        runs = self._worth(0.0, limit)
        if runs is None:
            high, low = self.stretches[0].density, 0.0
            for _ in range(HALVINGS):
                rent = (low + high) / 2
                found = self._worth(rent, limit)
                if found is None:
                    low = rent
                else:
                    high, runs = rent, found
        return [self._run(places) for places in runs or [self.best_alone]]

    def _worth(self, rent: float, limit: int) -> list[range] | None:
        """The runs worth more than `rent` a token, None where they do not fit: that of the best hit ahead, the others by
        what they are worth above their rent."""
        ahead, best = self.best_alone, self.best_alone.start
        found: list[tuple[float, range]] = []
        left = limit - self._tokens(ahead)
        for stretch in self.stretches:
            if stretch.density <= rent or left < 0:
                break
            opening = rent * stretch.opening
            for first, last, gain in _maximal([worth - rent * tokens for worth, tokens in stretch.worths]):
                run = range(stretch.first + first, stretch.first + last)
                if best in run:
                    left += self._tokens(ahead) - self._tokens(run)
                    ahead = run
                elif gain > opening:
                    left -= self._tokens(run)
                    found.append((opening - gain, run))
        if left < 0:
            return None
        found.sort(key=lambda each: (each[0], each[1].start))
        return [ahead, *(run for _, run in found)]

    def singles(self) -> list[Run]:
        """Every chunk by itself: worth most per token first, of equals the earlier in its document."""
        order = sorted(range(len(self.places)), key=lambda at: (-self.densities[at], at))
        return [self._run(range(at, at + 1)) for at in order]

    def _tokens(self, run: range) -> int:
        """What a run takes, its opening included."""
        return self.openings[run.start] + self.before[run.stop] - self.before[run.start]

    def _run(self, run: range) -> Run:
        """A slice of places as a record."""
        chunks = [chunk for _, chunk in self.places[run.start : run.stop]]
        indexes = tuple([chunk.index for chunk in chunks])
        return Run(self.places[run.start][0], indexes, self.before[run.stop] - self.before[run.start], sum([c.value for c in chunks]))


def _stretches(chunks: Sequence[RunChunk]) -> Iterator[list[RunChunk]]:
    """The chunks of one document in stretches of consecutive indexes."""
    ordered = sorted(chunks, key=lambda chunk: chunk.index)
    breaks = [place for place, (one, other) in enumerate(pairwise(ordered), 1) if other.index != one.index + 1]
    for first, last in pairwise((0, *breaks, len(ordered))):
        if first < last:
            yield ordered[first:last]


def _worths(stretch: Sequence[RunChunk], spread: float) -> list[float]:
    """Own value and what both sides lend: each side's loan shrinks by `spread` at every step."""
    worths = [chunk.value for chunk in stretch]
    for steps in (range(len(stretch)), range(len(stretch) - 1, -1, -1)):
        loan = 0.0
        for at in steps:
            worths[at] += loan
            loan = (loan + stretch[at].value) * spread
    return worths


def _maximal(gains: Sequence[float]) -> list[tuple[int, int, float]]:
    """All maximal scoring stretches (first, end, sum) of `gains`, in one pass (Ruzzo and Tompa 1999)."""
    found: list[tuple[int, int, float, float]] = []
    total = 0.0
    for at, gain in enumerate(gains):
        before, total = total, total + gain
        if gain <= 0:
            continue
        first, low = at, before
        while found:
            below = len(found) - 1
            while below >= 0 and found[below][2] >= low:
                below -= 1
            if below < 0 or found[below][3] >= total:
                break
            first, low = found[below][0], found[below][2]
            del found[below:]
        found.append((first, at + 1, low, total))
    return [(first, end, high - low) for first, end, low, high in found]


def segments(scales: Scales) -> Chosen:
    """The best chunk, then the run that it stands in and the best of the others, each as it fits beside those before it.

    A hit is worth 1 / rank, and lends its neighbours a third of that for every step away. Every token costs rent: what the rest of the
    limit would be worth elsewhere. A run is a maximal stretch whose worth exceeds its rent, that of its heading included (Ruzzo and
    Tompa 1999): it may lead over a poor chunk to the next good one. The rent is the lowest at which all runs fit the limit together,
    so it needs no setting and knows no scale. More limit lowers it and lets runs grow.
    """
    begun = start(scales)
    if begun is None:
        return taken(scales, ChunkSet(scales), {})
    _, small, among = begun
    field, singles = scales.once("runs", lambda: _field(scales, among))
    units = [*_segment_units(scales, field.best(scales.limit)), *singles]
    first = units[index_of_best(begun, units)]
    if not fit(scales, [first]):
        return crowded(cut_down(scales, begun, first), among, units)
    kept = refilled(scales, [first], [unit for unit in units if unit is not first])
    return crowded(taken(scales, set_of(scales, kept), small), among, units)


def _field(scales: Scales, among: Resolution) -> tuple[RunField, list[ChunkUnit]]:
    """Where runs are looked for, and every chunk by itself."""
    field = RunField(*_run_chunks(scales, among))
    return field, _segment_units(scales, field.singles())


def _segment_units(scales: Scales, runs: Iterable[Run]) -> list[ChunkUnit]:
    return [
        ChunkUnit((name, indexes[0]), tuple([scales.own[name][index] for index in indexes]), tokens, value)
        for name, indexes, tokens, value in runs
    ]


def _run_chunks(scales: Scales, among: Resolution) -> tuple[dict[str, list[RunChunk]], dict[str, int]]:
    """The shown chunks of every document with their tokens, and what a run of it takes besides. Only hits are worth something."""
    chunks: dict[str, list[RunChunk]] = {}
    openings: dict[str, int] = {}
    for plan in scales.plans(among):
        document_id = plan.document.document_id
        own = scales.own[document_id]
        chunks[document_id] = [RunChunk(j.chunk.chunk_index, tokens_of(scales, [j]), _value(own[j.chunk.chunk_index])) for j in plan.joined]
        openings[document_id] = max(0, scales.size([plan]).tokens - tokens_of(scales, plan.joined)) + 1
    return chunks, openings


def _value(candidate: Candidate) -> float:
    return run_value(candidate.rank) if candidate.retrieved else 0.0


def pack(scales: Scales) -> Chosen:
    """The units that are worth most together: documents or passages.

    A knapsack over additive costs, then repaired to the exact size: the poorest per token leave while the text is too long, the richest
    that fit come in while there is room. Where one other unit beside the first is worth more than all that is left, it takes their place.
    """
    begun = start(scales)
    if begun is None:
        return taken(scales, ChunkSet(scales), {})
    _, small, among = begun
    units = _units(scales, among)
    always = index_of_best(begun, units)
    found = pack_units([Unit(u.name, u.tokens, u.value) for u in units], always, scales.limit)
    richest = sorted(found.chosen, key=lambda at: (at != always, -units[at].value / max(1, units[at].tokens), units[at].tokens, at))
    chosen = [units[at] for at in richest]
    while len(chosen) > 1 and not fit(scales, chosen):
        chosen.pop()
    if not fit(scales, chosen):
        return crowded(cut_down(scales, begun, chosen[0]), among, units)
    there = {unit.name for unit in chosen}
    offered = [units[at] for at in (*richest, *found.rest) if units[at].name not in there and units[at].value > 0]
    kept = _worth_a_pair(scales, refilled(scales, chosen, offered), units)
    done = taken(scales, set_of(scales, kept), small)
    wanted, shown = {units[at].name for at in found.chosen}, keys_of(done)
    left = [unit for unit in units if not any(c.key in shown for c in unit.members)]
    why = [(unit, _why(scales, unit, chosen[0], wanted)) for unit in left]
    return explained(done, among, {c.key: reason for unit, reason in why for c in unit.members})


def _worth_a_pair(scales: Scales, kept: Sequence[ChunkUnit], units: Sequence[ChunkUnit]) -> Sequence[ChunkUnit]:
    """These units, or the first with one other that fits and is worth more than all of them: what leaves is poor per token, not in all."""
    beside = sum(unit.value for unit in kept[1:])
    richer = sorted((unit for unit in units if unit.value > beside and unit is not kept[0]), key=lambda unit: -unit.value)
    other = next((unit for unit in richer if fit(scales, [kept[0], unit])), None)
    return kept if other is None else refilled(scales, [kept[0], other], kept[1:])


def _why(scales: Scales, unit: ChunkUnit, first: ChunkUnit, wanted: Collection[str | tuple[str, int]]) -> Reason:
    """Why a unit was left. `first` is always in; `wanted` was worth its room by its additive cost."""
    if unit.value <= 0:
        return "no_value"
    if not fit(scales, [unit]):
        return "budget"
    return "outbid" if unit.name not in wanted and fit(scales, [first, unit]) else "crowded_out"


def _units(scales: Scales, among: Resolution) -> list[ChunkUnit]:
    """Documents or passages with their additive costs: a header counts with the first passage of its document."""
    units = []
    for plan in scales.plans(among):
        document_id = plan.document.document_id
        whole = scales.budgeted([plan])
        if scales.settings.pack_unit == "document":
            units.append(unit_of(scales, document_id, [j.chunk.chunk_index for j in plan.joined], whole, document_id))
            continue
        groups = groups_of(plan.joined, "passage")
        texts = [tokens_of(scales, group) for group in groups]
        header = max(0, whole - sum(texts))
        for place, (group, tokens) in enumerate(zip(groups, texts, strict=True)):
            indexes = [j.chunk.chunk_index for j in group]
            units.append(unit_of(scales, document_id, indexes, tokens + (0 if place else header)))
    return units


def regret_of(own: Documents, final: Sequence[Joined], written: Written, sizes: Sequence[DocumentSize], limit: int, pack_k: int) -> Regret:
    """Against the best packing of whole documents; of a document that no limit so small can hold, what is kept is taken as given."""
    shown = {(j.chunk.document_id, j.chunk.chunk_index) for j in final}
    hits = [candidate for each in own.values() for candidate in each.values() if candidate.retrieved]
    kept = value_of([c.rank for c in hits if c.key in shown], pack_k)
    there = {block.document_id for block in written.blocks}
    if all(size.kept for size in sizes) and len(there) == len(sizes) and (len(sizes) < 2 or sizes[-1].end <= limit):
        return Regret(kept, kept, True, tuple(size.document_id for size in sizes))
    spent = _tokens_of_documents(written)
    items = []
    for size in sizes:
        in_part = size.document_id in there and (size.tokens > limit or len(there) == 1)
        ranks = [c.rank for c in own.get(size.document_id, {}).values() if c.retrieved and (c.key in shown or not in_part)]
        items.append(Unit(size.document_id, spent[size.document_id] if in_part else size.tokens, value_of(ranks, pack_k)))
    best = min(hits, key=lambda c: c.rank, default=None)
    return packing_regret(items, best.chunk.document_id if best else None, limit, kept)


def _tokens_of_documents(written: Written) -> Counter[str]:
    """What the blocks of each document take in the text."""
    document_of = {block.number: block.document_id for block in written.blocks}
    spent: Counter[str] = Counter()
    for segment in written.segments:
        if segment.block is not None:
            spent[document_of[segment.block]] += segment.tokens
    return spent
