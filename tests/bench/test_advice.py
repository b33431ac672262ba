"""What advice is worth on questions that it was not chosen on: `pytest -m bench -s tests/bench/test_advice.py`.

Of each corpus and limit the changes are tried on the questions of one half, and what is offered is applied to the other half, both ways.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ctxasm.model.records import Query
from ctxasm.model.setting_labels import named
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.memory import MemoryStore
from ctxasm.tuning.advice import advised, changes_of
from ctxasm.tuning.statistics.pairs import paired_difference
from ctxasm.tuning.sweep.results import SweepResult
from ctxasm.tuning.sweep.sweep import grid_of, sweep
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder
from tests.strategies import COUNTER
from tests.tuning.sweeps import plain_tools

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


@pytest.mark.parametrize("most", [60, 1000])
def test_advice_applied_to_questions_that_it_was_not_chosen_on(most: int) -> None:
    """More contexts gain all their evidence than lose it, and more than chance explains; 60 questions a corpus, then all."""
    rows, changes, offers = [], defaultdict(list), 0
    whole, pieces, tokens = [0, 0, 0], [0, 0], [0.0, 0.0]
    for name in REAL:
        store = MemoryStore(COUNTER)
        store.add(load_real(name))
        for limit in LIMITS:
            start = AssemblySettings(max_tokens=limit)
            grid = grid_of(start, (start, *changes_of(start)), {})
            found = sweep(store.dataset(), questions(name, most), grid, plain_tools(), "bench")
            halves = [[at for at in found.labelled if digest(found.query_ids[at])[-1] % 2 == half] for half in (0, 1)]
            for half, (own, others) in enumerate((halves, halves[::-1])):
                made, rest = advised(only(found, own)), only(found, others)
                taken = rest.start if made is None else made.taken
                offers += made is not None
                differences = rest.differences(taken, rest.start)
                for at, difference in zip(rest.query_ids, differences, strict=True):
                    changes[name, at].append(difference)
                gained, lost = differences.count(1), differences.count(-1)
                more = rest.outcomes[taken, :, 1] - rest.outcomes[rest.start, :, 1]
                whole = [whole[0] + gained, whole[1] + lost, whole[2] + len(differences)]
                pieces = [pieces[0] + int((more > 0).sum()), pieces[1] + int((more < 0).sum())]
                tokens = [tokens[0] + rest.tokens(rest.start) * len(others), tokens[1] + rest.tokens(taken) * len(others)]
                if made is not None:
                    result, saved = made.against_start(), rest.tokens(taken) / rest.tokens(rest.start) - 1
                    chosen = f"{result.better}/{result.worse} of {result.n}"
                    rows.append(
                        (name, limit, half, named(made.changes), chosen, f"{gained}/{lost} of {len(others)}", f"{100 * saved:+.0f} %")
                    )
    heads = ("corpus", "limit", "half", "offered", "there: gained/lost", "on the others", "tokens")
    show(f"Advice, {offers} offers in {2 * len(LIMITS) * len(REAL)} halves", heads, rows)
    mean = paired_difference([sum(own) / len(own) for own in changes.values()])
    print(
        f"{whole[2]} contexts of {len(changes)} questions: {whole[0]} gain all their evidence, {whole[1]} lose it; "
        f"{pieces[0]} gain a piece, {pieces[1]} lose one; tokens {100 * (tokens[1] / tokens[0] - 1):+.1f} %; {mean.sentence()}"
    )
    assert mean.difference > 0
    assert mean.shown
