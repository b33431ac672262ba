"""Every budget policy beside the literal rule, LlamaIndex, LangChain and Haystack, on the same hits:
`pytest -m bench -s tests/bench/test_strategies.py` (the three systems need the extra `bench`).

`within` is the share of questions whose whole evidence stands in the first `limit` tokens of the context; `over` the share of
contexts that are longer than the limit. A way (components or policy, and window) is chosen on one half of the questions and
reported on the other. Peers render no headers, titles or summaries; ours do, within the same limit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import pytest

from tests.bench.contest import HITS, MOST, OURS, PACKAGES, SYSTEMS, Half, Outcome, chosen_queries, contest, holds_evidence
from tests.bench.found_text import Corpus
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


def best_way(found: Sequence[Outcome], system: str, limit: int) -> Way:
    """Chosen on the half for choosing: most within the limit; of equals the best over all limits, then the fewest tokens."""
    own = [outcome for outcome in found if outcome.system == system and outcome.half == "tune"]
    ways = {way: share(each) for (_, way), each in by_way(own, limit).items()}
    overall = Counter(outcome.way for outcome in own if outcome.fits)
    return max(ways, key=lambda way: (ways[way].within, overall[way], -ways[way].tokens))


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
    over = f" o{of.over:.2f}" if of.over else ""
    return f"{over + (f' e{of.empty:.2f}' if of.empty else ''):12}"


def test_the_best_of_each(capsys):
    """Per corpus and limit: our best way beside the best way of each other system, both chosen on one half, judged on the other."""
    others = [system for system in SYSTEMS if system != OURS]
    rows, lines, behind = [], [], Counter[str]()
    for name, found in results().items():
        for limit in BUDGETS:
            ways = {system: best_way(found, system, limit) for system in SYSTEMS}
            judged = {system: by_way(found, limit, "judge")[system, way] for system, way in ways.items()}
            shares = {system: share(each) for system, each in judged.items()}
            ours, best = shares[OURS], max(others, key=lambda system: (shares[system].within, -shares[system].tokens))
            verdict = "ahead" if ours.within > shares[best].within else "behind" if ours.within < shares[best].within else "level"
            behind[verdict] += 1
            cells = [f"{shares[s].within:.2f} ({shares[s].tokens:.0f}) {ways[s].name} w{ways[s].window}" for s in (OURS, *others)]
            default = share(by_way(found, limit, "judge")[OURS, DEFAULT])
            both = {system: share(by_way(found, limit)[system, way]).within for system, way in ways.items()}
            halves = f"{both[OURS]:.2f} {max(both[system] for system in others):.2f}"
            rows.append((name, f"{limit:,}", *cells, f"{default.within:.2f}", halves, verdict))
            if verdict == "behind":
                lines.append(why(name, limit, judged[OURS], best, judged[best]))
    with capsys.disabled():
        columns = ("corpus", "limit", OURS, *others, "our default", "both halves: ours, best other", "judged")
        show(f"The best of each: share within the limit (tokens) way, {HITS} hits, at most {MOST or 'all'} questions", columns, rows)
        print(f"\n  {', '.join(f'{count} {verdict}' for verdict, count in behind.items())}")
        if absent := [system for system in PACKAGES if system not in SYSTEMS]:
            print(f"  not installed (extra `bench`): {', '.join(absent)}")
        print("\n".join(lines))


def why(name: str, limit: int, ours: Sequence[Outcome], system: str, theirs: Sequence[Outcome]) -> str:
    """Which questions another system answers in full and ours does not, the reverse, and where ours lost them."""
    held = {o.query_id for o in theirs if o.fits}
    own = {o.query_id: o for o in ours}
    lost = sorted(query_id for query_id in held if not own[query_id].fits)
    won = sorted(o.query_id for o in ours if o.fits and o.query_id not in held)
    stages = Counter(own[query_id].lost_at or "cut" for query_id in lost)
    return (
        f"  {name} at {limit:,} behind {system}: ours lacks {', '.join(lost)}; it lacks {', '.join(won) or 'none of ours'}; "
        f"ours lost at {', '.join(f'{stage} {count}' for stage, count in stages.items())}"
    )


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


def test_the_rule_for_all_agrees_with_the_trace(capsys):
    """Our own contexts are judged by their text, like all; the trace knows exactly. Where the two differ is said."""
    rows = []
    for name, found in results().items():
        ours = [o for o in found if o.system == OURS]
        generous = sum(o.whole and bool(o.lost_at) for o in ours)
        strict = sum(not o.whole and not o.lost_at for o in ours)
        rows.append((name, len(ours), generous, strict))
        assert generous + strict <= 0.01 * len(ours), name
    with capsys.disabled():
        show("Judged by text and by trace", ("corpus", "contexts", "found by text alone", "found by trace alone"), rows)
