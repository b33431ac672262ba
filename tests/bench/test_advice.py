"""What advice is worth on questions that it was not chosen on: `pytest -m bench -s tests/bench/test_advice.py`.

Of each corpus and limit the changes are tried on the questions of one half, and what is offered is applied to the other half, both ways.
The weights of `learned` are fitted on the other three corpora.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest

from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings, named
from ctxasm.store.database import MemoryStore
from ctxasm.tuning.advice import decide_advice, settings_to_try
from ctxasm.tuning.engines import PlainTools
from ctxasm.tuning.recommend import Recommendation
from ctxasm.tuning.statistics import paired_difference
from ctxasm.tuning.sweep import SweepContext, grid_of, sweep
from ctxasm.tuning.sweep_results import SweepResult
from tests.bench.peers.ours import COUNTER, UNSEEN, prepare
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="no folder of real bundles")]
LIMITS = (1000, 2000, 4000)
HITS = 10


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def questions(name: str, most: int) -> list[Query]:
    """At most so many of a corpus, by a digest of their ids, with their first hits."""
    labelled = sorted((query for query in load_real(name).queries if query.is_labelled), key=lambda query: digest(query.query_id))[:most]
    return [replace(query, retrieved=tuple(sorted(query.retrieved, key=lambda hit: hit.rank or 0)[:HITS])) for query in labelled]


def only(found: SweepResult, places: Sequence[int]) -> SweepResult:
    """The sweep over some of its questions."""
    ids = tuple(found.query_ids[at] for at in places)
    return replace(found, query_ids=ids, outcomes=found.outcomes[:, places], ceiling=found.ceiling[places])


class Halves(NamedTuple):
    """What was offered on one half (None: nothing), and every question of the other half: its id, gain (1, 0, -1), pieces, tokens."""

    name: str
    limit: int
    offered: Recommendation | None
    others: list[tuple[str, int, int, int, int]]


def halves(most: int) -> Iterator[Halves]:
    if not UNSEEN:
        prepare(REAL)
    for name in REAL:
        tools = PlainTools({"cl100k_base": COUNTER}, UNSEEN[name])
        store = MemoryStore(COUNTER)
        store.add(load_real(name))
        for limit in LIMITS:
            start = AssemblySettings(max_tokens=limit)
            grid = grid_of(start, (start, *settings_to_try(start)), {})
            found = sweep(SweepContext(store.dataset(), questions(name, most), tools, "bench"), grid)
            own, others = ([at for at in found.labelled if digest(found.query_ids[at])[-1] % 2 == half] for half in (0, 1))
            for chosen_on, applied_to in ((own, others), (others, own)):
                made, rest = decide_advice(only(found, chosen_on)), only(found, applied_to)
                taken = rest.start if made is None else made.taken
                before, after = rest.outcomes[rest.start], rest.outcomes[taken]
                pieces = (after[:, 1] - before[:, 1]).tolist()
                columns = (rest.differences(taken, rest.start), pieces, before[:, 0].tolist(), after[:, 0].tolist())
                yield Halves(name, limit, made, list(zip(rest.query_ids, *columns, strict=True)))


def summary(found: Sequence[Halves]) -> str:
    """Contexts that gain and lose, tokens, and the gain: of each question the mean over its limits."""
    contexts = [(each.name, *row) for each in found for row in each.others]
    by_question: dict[tuple[str, str], list[int]] = defaultdict(list)
    for name, query_id, gain, *_ in contexts:
        by_question[name, query_id].append(gain)
    gains, pieces = [row[2] for row in contexts], [row[3] for row in contexts]
    tokens = sum(row[5] for row in contexts) / sum(row[4] for row in contexts) - 1
    return (
        f"{len(contexts)} contexts: {gains.count(1)} gain all their evidence, {gains.count(-1)} lose it; "
        f"{sum(each > 0 for each in pieces)} gain a piece, {sum(each < 0 for each in pieces)} lose one; tokens {100 * tokens:+.1f} %; "
        f"{paired_difference([sum(own) / len(own) for own in by_question.values()]).sentence()}"
    )


@pytest.mark.parametrize("most", [60, 1000])
def test_advice_applied_to_questions_that_it_was_not_chosen_on(most: int) -> None:
    """More contexts gain all their evidence than lose it; 60 questions a corpus, then all."""
    found = list(halves(most))
    offers = [each for each in found if each.offered is not None]
    rows = []
    for each in offers:
        assert each.offered is not None
        result, gains = each.offered.against_start(), [row[1] for row in each.others]
        tokens = sum(row[4] for row in each.others) / sum(row[3] for row in each.others) - 1
        there, here = f"{result.better}/{result.worse} of {result.n}", f"{gains.count(1)}/{gains.count(-1)} of {len(gains)}"
        rows.append((each.name, each.limit, named(each.offered.changes), there, here, f"{100 * tokens:+.0f} %"))
    heads = ("corpus", "limit", "offered on a half", "there: gained/lost", "on the other half", "tokens")
    show(f"Advice, {len(offers)} offers in {len(found)} halves", heads, rows)
    higher = [each for each in offers if each.offered and each.offered.settings.max_tokens > each.limit]
    within = [each for each in offers if each not in higher]
    for name, own in (("all", found), ("where something is offered within the limit", within), ("where a higher limit is offered", higher)):
        if own:
            print(f"{name}: {summary(own)}")
    gains = [row[1] for each in found for row in each.others]
    assert gains.count(1) > gains.count(-1)
