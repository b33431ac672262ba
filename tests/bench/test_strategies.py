"""Every budget policy beside the literal rule, LlamaIndex, LangChain and Haystack, on the same hits:
`pytest -m bench -s tests/bench/test_strategies.py` (the three systems need the extra `bench`).

`within` is the share of questions whose whole evidence stands in the first `limit` tokens of the context, `whole` in the context as it
stands, over the limit or not; `over` the share of contexts that are longer than the limit. `learned` values chunks by weights that the
corpus had no part in. A way (components or policy, and window) is chosen on one half of the questions and judged on the other, both ways
round. Peers render no headers, titles or summaries; ours do, within the same limit. CTXASM_BENCH_CORPORA, CTXASM_BENCH_QUERIES and
CTXASM_BENCH_HITS narrow it.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from statistics import median
from time import process_time
from typing import NamedTuple

import pytest

from ctxasm.assembly import learned, render, values
from ctxasm.assembly.chunk_sets import ChunkSet
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.policies import choose
from ctxasm.assembly.render import Renderer
from tests.bench.contest import CORPORA, HALVES, HITS, MOST, OURS, PACKAGES, SYSTEMS, Half, Outcome, chosen_queries, contest, holds_evidence
from tests.bench.found_text import Corpus
from tests.bench.peers.ours import Ours, prepare, settings_of
from tests.bench.peers.peer import BUDGETS, Way
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="the real bundles are not beside the project")]
DEFAULT = Way("drop_documents", 1)


@cache
def results() -> dict[str, list[Outcome]]:
    return contest(REAL)


class Share(NamedTuple):
    """Of the questions of one way at one limit."""

    within: float
    whole: float
    over: float
    empty: float
    tokens: float
    questions: int


def share(found: Sequence[Outcome]) -> Share:
    n = len(found) or 1
    return Share(
        sum(o.fits for o in found) / n,
        sum(o.whole for o in found) / n,
        sum(o.tokens > o.limit for o in found) / n,
        sum(o.tokens == 0 for o in found) / n,
        sum(o.tokens for o in found) / n,
        len(found),
    )


def by_way(found: Iterable[Outcome], limit: int, half: Half | None = None) -> dict[tuple[str, Way], list[Outcome]]:
    """The outcomes at one limit, by system and way."""
    ways: dict[tuple[str, Way], list[Outcome]] = defaultdict(list)
    for outcome in found:
        if outcome.limit == limit and half in (None, outcome.half):
            ways[outcome.system, outcome.way].append(outcome)
    return ways


def best_way(found: Sequence[Outcome], limit: int, half: Half) -> Way:
    """Of one system, chosen on one half: most within the limit; of equals the best over all limits, then the fewest tokens."""
    own = [outcome for outcome in found if outcome.half == half]
    ways = {way: share(each) for (_, way), each in by_way(own, limit).items()}
    overall = Counter(outcome.way for outcome in own if outcome.fits)
    return max(ways, key=lambda way: (ways[way].within, overall[way], -ways[way].tokens))


def one_way(half: Half) -> Way:
    """Ours that is best over all corpora and limits, on one half."""
    totals: dict[Way, float] = defaultdict(float)
    for found in results().values():
        own = [outcome for outcome in found if outcome.system == OURS and outcome.half == half]
        for limit in BUDGETS:
            for (_, way), each in by_way(own, limit).items():
                totals[way] += share(each).within
    return max(totals, key=lambda way: totals[way])


class Judged(NamedTuple):
    """Every question of one system at one limit, answered in the way that was chosen on the half without it."""

    ways: dict[Half, Way]
    outcomes: list[Outcome]

    def half(self, half: Half) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.half == half]

    def told(self) -> str:
        """Shares within the limit (both halves, each half), mean tokens, and the ways."""
        halves = " ".join(f"{share(self.half(half)).within:.2f}" for half in HALVES)
        of = share(self.outcomes)
        ways = " / ".join(dict.fromkeys(f"{self.ways[half].name} w{self.ways[half].window}" for half in HALVES))
        return f"{of.within:.2f} ({halves}; {of.tokens:.0f}) {ways}"


def judged(found: Sequence[Outcome], system: str, limit: int) -> Judged:
    """Chosen on `tune` and judged on `judge`, and the other way round: no question has a part in its own choice."""
    own = [outcome for outcome in found if outcome.system == system]
    ways: dict[Half, Way] = {half: best_way(own, limit, other) for half, other in (HALVES, HALVES[::-1])}
    return Judged(ways, [outcome for outcome in own if outcome.limit == limit and outcome.way == ways[outcome.half]])


def test_every_way_of_every_system(capsys):
    columns = ("system", "way", "window", *(f"{limit:,}: tune judge  tokens" for limit in BUDGETS))
    for name, found in results().items():
        tables = {limit: (by_way(found, limit, "tune"), by_way(found, limit, "judge"), by_way(found, limit)) for limit in BUDGETS}
        rows = []
        for system, way in tables[BUDGETS[0]][2]:
            cells = []
            for limit in BUDGETS:
                tune, judge, both = (share(half[system, way]) for half in tables[limit])
                cells.append(f"{tune.within:.2f} {judge.within:.2f} {both.tokens:7.0f}{mark(both)}")
            rows.append((system, way.name, way.window, *cells))
        halves = Counter(o.half for o in found if (o.system, o.way, o.limit) == (OURS, DEFAULT, BUDGETS[0]))
        with capsys.disabled():
            title = f"{name}: whole evidence within the limit, {halves['tune']} + {halves['judge']} questions, {HITS} hits"
            show(f"{title}; o: share over the limit, e: share empty", columns, rows)


def mark(of: Share) -> str:
    """What the reader should know of a cell."""
    over = f" o{of.over:.2f} ({of.whole:.2f} as sent)" if of.over else ""
    return f"{over + (f' e{of.empty:.2f}' if of.empty else ''):24}"


def test_the_best_of_each(capsys):
    """Per corpus and limit: our best way beside the best way of each other system; each question judged by a choice without it."""
    others = [system for system in SYSTEMS if system != OURS]
    rows, lines, verdicts, single = [], [], Counter[str](), Counter[str]()
    ones: dict[Half, Way] = {half: one_way(other) for half, other in (HALVES, HALVES[::-1])}
    for name, found in results().items():
        for limit in BUDGETS:
            each = {system: judged(found, system, limit) for system in SYSTEMS}
            shares = {system: share(of.outcomes) for system, of in each.items()}
            best = max(others, key=lambda system: (shares[system].within, -shares[system].tokens))
            verdict = compared(shares[OURS], shares[best])
            verdicts[verdict] += 1
            default = share(by_way(found, limit)[OURS, DEFAULT])
            one = share([o for o in found if (o.system, o.limit, o.way) == (OURS, limit, ones[o.half])])
            single[compared(one, shares[best])] += 1
            cells = [each[system].told() for system in (OURS, *others)]
            rows.append((name, f"{limit:,}", *cells, verdict, f"{default.within:.2f}", f"{one.within:.2f} {compared(one, shares[best])}"))
            if verdict == "behind":
                lines.append(why(name, limit, each[OURS].outcomes, best, each[best].outcomes))
    with capsys.disabled():
        columns = ("corpus", "limit", OURS, *others, "ours is", "our default", "our one way")
        show(f"The best of each: share within the limit (tune, judge; tokens) way; {HITS} hits, {MOST or 'all'} questions", columns, rows)
        told = " / ".join(dict.fromkeys(f"{way.name} w{way.window}" for way in ones.values()))
        for title, counts in (("best way", verdicts), (f"one way for all, {told}", single)):
            print(f"\n  {title}: {', '.join(f'{count} {verdict}' for verdict, count in sorted(counts.items()))}")
        if absent := [system for system in PACKAGES if system not in SYSTEMS]:
            print(f"  not installed (extra `bench`): {', '.join(absent)}")
        print("\n".join(lines))


@cache
def key_results() -> dict[str, list[Outcome]]:
    return contest(REAL, few=True)


RIVALS = (Way("drop_documents", 1), Way("segments", 3), Way("greedy_skip", 1))
"""Ways of ours that the recommended one is held against, beside the best way of each other system."""


def test_the_recommended_way(capsys):
    """Ours that is best over all cells on the first half, and the others likewise; reported on the second half, with intervals."""
    ours = best_of_all(OURS)
    ways = [(OURS, ours), *((OURS, way) for way in RIVALS), *((system, best_of_all(system)) for system in SYSTEMS if system != OURS)]
    cells: dict[tuple[str, int], list[float]] = {}
    by_question: dict[tuple[str, Way], dict[tuple[str, str, int], bool]] = {key: {} for key in ways}
    for name, found in key_results().items():
        for limit in BUDGETS:
            of = by_way(found, limit, "judge")
            cells[name, limit] = [share(of[key]).within for key in ways]
            for key in ways:
                by_question[key] |= {(name, o.query_id, limit): o.fits for o in of[key]}
    rows = [(name, f"{limit:,}", *shares, shares[0] - max(shares[1:])) for (name, limit), shares in cells.items()]
    means = [sum(shares[at] for shares in cells.values()) / len(cells) for at in range(len(ways))]
    rows.append(("mean", "", *means, means[0] - max(means[1:])))
    gains = []
    for at, key in enumerate(ways[1:], 1):
        low, high = gain_interval(by_question[ways[0]], by_question[key])
        gains.append((f"{key[0]} {key[1].name} w{key[1].window}", means[0] - means[at], low, high))
    with capsys.disabled():
        columns = ("corpus", "limit", *(f"{way.name} w{way.window}" for _, way in ways), "to the best")
        questions = len({key[:2] for key in by_question[ways[0]]})
        show(f"Chosen on the first half, second half: {questions} questions, {HITS} hits, share within the limit", columns, rows)
        show(f"What {ours.name} w{ours.window} gains, mean of all cells, 95 % interval", ("over", "gain", "low", "high"), gains)


def best_of_all(system: str) -> Way:
    """The way of a system that is best over all corpora and limits on the first half."""
    totals: dict[Way, float] = defaultdict(float)
    for found in key_results().values():
        for limit in BUDGETS:
            for (of, way), each in by_way(found, limit, "tune").items():
                totals[way] += share(each).within if of == system else 0
    return max(totals, key=lambda way: totals[way])


def gain_interval(ours: dict[tuple[str, str, int], bool], theirs: dict[tuple[str, str, int], bool]) -> tuple[float, float]:
    """The 95 % interval of the mean gain over all cells, by resampling the questions of each corpus."""
    gains: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (name, query_id, limit), fits in ours.items():
        gains[name][query_id] += (fits - theirs[name, query_id, limit]) / len(BUDGETS)
    draw = random.Random(1)
    own = [list(each.values()) for each in gains.values()]
    means = sorted(sum(sum(draw.choices(each, k=len(each))) / len(each) for each in own) / len(own) for _ in range(2000))
    return means[50], means[1950]


def test_one_way_for_all(capsys):
    """The mean share over all corpora and limits of a way that is set once: what a user gets who measures nothing."""
    shares: dict[tuple[str, Way], list[Share]] = defaultdict(list)
    for found in results().values():
        for limit in BUDGETS:
            for key, each in by_way(found, limit).items():
                shares[key].append(share(each))
    means = {key: sum(of.within for of in each) / len(each) for key, each in shares.items()}
    ordered = sorted(means, key=lambda key: -means[key])
    shown = [key for place, key in enumerate(ordered) if place < 12 or key == (OURS, DEFAULT) or key == first_of(ordered, key[0])]
    rows = [(system, way.name, way.window, means[system, way]) for system, way in shown]
    with capsys.disabled():
        show("One way for all corpora and limits: mean share within the limit", ("system", "way", "window", "mean"), rows)


def first_of(ordered: Sequence[tuple[str, Way]], system: str) -> tuple[str, Way]:
    return next(key for key in ordered if key[0] == system)


def compared(ours: Share, other: Share) -> str:
    """What a reader wants to know; `level` is the very same number of questions."""
    return "ahead" if ours.within > other.within else "behind" if ours.within < other.within else "level"


def why(name: str, limit: int, ours: Sequence[Outcome], system: str, theirs: Sequence[Outcome]) -> str:
    """Which questions another system answers in full and ours does not, and the reverse."""
    held = {o.query_id for o in theirs if o.fits}
    own = {o.query_id: o for o in ours}
    lost = sorted(query_id for query_id in held if not own[query_id].fits)
    won = sorted(o.query_id for o in ours if o.fits and o.query_id not in held)
    return f"  {name} at {limit:,} behind {system}: ours lacks {', '.join(lost)}; it lacks {', '.join(won) or 'none of ours'}"


def test_what_the_hits_and_their_neighbours_could_give(capsys):
    """The most that any way could reach: the whole evidence in the hits and so many neighbours, without a limit."""
    rows = []
    for name in REAL:
        corpus = Corpus(load_real(name))
        queries = chosen_queries(corpus.bundle)
        reached = [sum(holds_evidence(candidates(corpus, q, window), q, corpus) for q in queries) / len(queries) for window in range(4)]
        rows.append((name, len(queries), *reached))
    with capsys.disabled():
        show("Whole evidence among the candidates, no limit, by window", ("corpus", "questions", "0", "1", "2", "3"), rows)


def candidates(corpus: Corpus, query, window: int) -> str:
    keys = {(h.document_id, h.chunk_index + step) for h in query.retrieved for step in range(-window, window + 1)}
    return "\n".join(corpus.chunks[d][i].text for d, i in sorted(keys) if i in corpus.chunks[d])


TRACED = (Way("drop_documents", 1), Way("learned", 6), Way("segments", 3))


def test_the_rule_for_all_agrees_with_the_trace(capsys):
    """Our own contexts are judged by their text, like all; the trace knows exactly. Where the two differ is said."""
    rows = []
    prepare(CORPORA)
    for name in CORPORA:
        peer = Ours(Corpus(load_real(name)))
        queries = chosen_queries(peer.corpus.bundle)
        generous, strict = list[str](), list[str]()
        for query, way, limit in product(queries, TRACED, BUDGETS):
            by_text = holds_evidence(peer.fit(way, query, limit), query, peer.corpus)
            by_trace = peer.has_evidence(peer.traced(way, query, limit))
            if by_text != by_trace:
                (generous if by_text else strict).append(f"{query.query_id} {way.name} {limit}")
        rows.append((name, len(queries) * len(TRACED) * len(BUDGETS), len(generous), len(strict), ", ".join([*generous, *strict])))
    with capsys.disabled():
        show("Judged by text and by trace", ("corpus", "contexts", "found by text alone", "found by trace alone", "which"), rows)
    assert not [row for row in rows if row[2] or row[3]]


def test_time_of_the_choice(capsys):
    """Milliseconds of processor time that the budget stage takes, the median of the questions, the policies in turn."""
    rows = []
    for name in CORPORA:
        peer = Ours(Corpus(load_real(name)))
        queries = chosen_queries(peer.corpus.bundle)[:20]
        for hits, limit in product((5, 10, HITS), (2000, 8000)):
            times: dict[str, list[float]] = defaultdict(list)
            for query in queries:
                ways = {"greedy_skip": Way("greedy_skip", 1), "segments": Way("segments", 3), "learned": Way("learned", 6)}
                for told, way in (ways | {"again": ways["learned"]}).items():
                    scales = peer.scales(replace(query, retrieved=query.retrieved[:hits]), settings_of(way, limit))
                    began = process_time()
                    choose(scales)
                    times[told].append(1000 * (process_time() - began))
            rows.append((name, hits, f"{limit:,}", *(median(each) for each in times.values())))
    with capsys.disabled():
        columns = ("corpus", "hits", "limit", "greedy_skip w1", "segments w3", "learned w6", "the same again")
        show("Milliseconds of a choice", columns, rows)


PARTS: dict[str, tuple[tuple[object, str], ...]] = {
    "words": ((values._Valuing, "_read"),),
    "values": ((Scales, "_valued"),),
    "order": ((learned._Fill, "_ordered"), (learned._Fill, "_offer")),
    "laying out": ((ChunkSet, "_plan"), (Renderer, "_compose")),
    "markers": ((render, "defused"),),
    "counting": ((Renderer, "_measured"), (Renderer, "_grown")),
}
"""What a choice by value consists of: functions by the work they do, each without what another of them does inside it."""


def test_parts_of_the_choice(capsys, monkeypatch):
    """Milliseconds of each part of the first choice by value, and in all: the mean of the questions, each the least of four."""
    spent: Counter[str] = Counter()
    running: list[float] = []

    def timed(part: str, work):
        def wrapped(*args, **kwargs):
            began = process_time()
            running.append(0.0)
            try:
                return work(*args, **kwargs)
            finally:
                took = process_time() - began
                spent[part] += took - running.pop()
                if running:
                    running[-1] += took

        return wrapped

    for part, (owner, name) in [(part, each) for part, functions in PARTS.items() for each in functions]:
        monkeypatch.setattr(owner, name, timed(part, getattr(owner, name)))
    rows = []
    for corpus, hits, limit in product(CORPORA, (10, HITS), (2000, 8000)):
        peer, found = Ours(Corpus(load_real(corpus))), list[Counter[str]]()
        for query in chosen_queries(peer.corpus.bundle)[:20]:
            tries = []
            for _ in range(4):
                values._kept_held.cache_clear()
                spent.clear()
                timed("all", choose)(peer.scales(replace(query, retrieved=query.retrieved[:hits]), settings_of(Way("learned", 6), limit)))
                tries.append(+spent)
            found.append(min(tries, key=lambda each: each.total()))
        means = {part: 1000 * sum(each[part] for each in found) / len(found) for part in (*PARTS, "all")}
        rows.append((corpus, hits, f"{limit:,}", *means.values(), sum(means.values())))
    with capsys.disabled():
        show("Milliseconds of the parts of a choice by value", ("corpus", "hits", "limit", *PARTS, "the rest", "together"), rows)
