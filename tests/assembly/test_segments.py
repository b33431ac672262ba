"""The laws of relevant runs: consecutive, within the limit, growing with it, blind to scale and to the order of the input."""

from __future__ import annotations

import pytest
from hypothesis import example as such_as
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.assembly.packing import OPENING_TOKENS, Run, RunChunk, _maximal, best_runs, run_value
from tests.examples import examples

quick = settings(max_examples=examples(100), derandomize=True)
Documents = dict[str, list[RunChunk]]


@st.composite
def corpora(draw: st.DrawFn) -> Documents:
    """Documents with holes, hits of distinct ranks and chunks of no value; the best hit somewhere."""
    documents: Documents = {}
    ranks = draw(st.permutations(range(1, 60)))
    for number in range(draw(st.integers(1, 5))):
        indexes = draw(st.lists(st.integers(0, 14), unique=True, max_size=10))
        documents[f"d{number}"] = [
            RunChunk(index, draw(st.integers(1, 600)), run_value(ranks.pop()) if draw(st.booleans()) else 0.0) for index in indexes
        ]
    return documents


def places(documents: Documents) -> list[tuple[str, int]]:
    return sorted((document_id, chunk.index) for document_id, own in documents.items() for chunk in own)


def split(documents: Documents, found: tuple[Run, ...]) -> tuple[list[Run], list[Run]]:
    """The runs that pay their rent, and behind them every chunk by itself."""
    count = len(places(documents))
    return list(found[: len(found) - count]), list(found[len(found) - count :])


def taken(documents: Documents, limit: int) -> set[tuple[str, int]]:
    runs, _ = split(documents, best_runs(documents, limit))
    return {(run.document_id, index) for run in runs for index in run.indexes}


def example(sizes: list[int], ranks: dict[int, int], document_id: str = "a") -> Documents:
    """One document: the tokens of its chunks, and the ranks of those that are hits."""
    return {document_id: [RunChunk(i, tokens, run_value(ranks[i]) if i in ranks else 0.0) for i, tokens in enumerate(sizes)]}


@quick
@given(corpora(), st.integers(1, 6000))
def test_runs_are_consecutive_apart_and_within_the_limit(documents, limit):
    chunks = {(d, chunk.index): chunk for d, own in documents.items() for chunk in own}
    runs, singles = split(documents, best_runs(documents, limit))
    shown = [(run.document_id, index) for run in runs for index in run.indexes]
    assert len(shown) == len(set(shown))
    assert sorted((run.document_id, *run.indexes) for run in singles) == places(documents)
    for run in (*runs, *singles):
        own = [chunks[run.document_id, index] for index in run.indexes]
        assert list(run.indexes) == list(range(run.indexes[0], run.indexes[-1] + 1))
        assert run.tokens == sum(chunk.tokens for chunk in own)
        assert run.value == pytest.approx(sum(chunk.value for chunk in own))
    for run in runs:
        # Two runs that touch would be one.
        assert (run.document_id, run.indexes[-1] + 1) not in shown
    if len(shown) > 1:
        assert sum(run.tokens + OPENING_TOKENS for run in runs) <= limit


@quick
@given(corpora(), st.integers(1, 6000))
def test_the_best_hit_is_in_the_first_run(documents, limit):
    found = best_runs(documents, limit)
    values = {(d, chunk.index): chunk.value for d, own in documents.items() for chunk in own}
    if found and max(values.values()) > 0:
        best = max(values, key=lambda key: values[key])
        assert best[0] == found[0].document_id
        assert best[1] in found[0].indexes


@quick
@given(corpora(), st.integers(1, 5000), st.integers(0, 3000))
def test_more_limit_lets_runs_grow_and_loses_no_chunk_of_them(documents, limit, more):
    assert taken(documents, limit) <= taken(documents, limit + more)


@quick
@given(corpora(), st.integers(1, 6000), st.sampled_from([0.125, 4.0, 1024.0]))
def test_values_on_another_scale_find_the_same_runs(documents, limit, factor):
    scaled = {d: [RunChunk(c.index, c.tokens, c.value * factor) for c in own] for d, own in documents.items()}
    assert [(r.document_id, r.indexes) for r in best_runs(scaled, limit)] == [
        (r.document_id, r.indexes) for r in best_runs(documents, limit)
    ]


@quick
@given(corpora(), st.integers(1, 6000), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(documents, limit, random):
    shuffled = [(document_id, random.sample(own, len(own))) for document_id, own in documents.items()]
    random.shuffle(shuffled)
    assert best_runs(dict(shuffled), limit) == best_runs(documents, limit)


@quick
@given(corpora())
def test_with_room_for_all_every_stretch_of_a_hit_is_one_run(documents):
    runs, _ = split(documents, best_runs(documents, 10**9))
    for run in runs[1:]:
        assert run.value > 0
    hits = {(d, chunk.index) for d, own in documents.items() for chunk in own if chunk.value > 0}
    assert hits <= {(run.document_id, index) for run in runs for index in run.indexes}


def test_a_poor_chunk_between_two_hits_is_led_over():
    """The chunk between is worth a third of either; a rent that it cannot pay alone is paid by the hits around it."""
    documents = {**example([200, 200, 200], {0: 1, 2: 2}), **example([200], {0: 40}, "b")}
    assert best_runs(documents, 800)[0].indexes == (0, 1, 2)


def test_a_long_way_to_the_next_hit_is_not_worth_it():
    documents = {**example([200, 900, 200], {0: 1, 2: 2}), **example([200], {0: 3}, "b")}
    runs, _ = split(documents, best_runs(documents, 800))
    assert [(run.document_id, run.indexes) for run in runs] == [("a", (0,)), ("a", (2,)), ("b", (0,))]


def test_a_neighbour_of_the_best_hit_comes_before_the_tenth_hit():
    """What nearly level values could not say: under 1 / (60 + rank) every hit comes before every neighbour."""
    documents: Documents = {"a": [RunChunk(0, 300, 0.0), RunChunk(1, 300, run_value(1)), RunChunk(2, 300, 0.0)]}
    documents |= {f"b{rank}": [RunChunk(0, 300, run_value(rank))] for rank in range(2, 11)}
    runs, _ = split(documents, best_runs(documents, 4 * (300 + OPENING_TOKENS)))
    assert [(run.document_id, run.indexes) for run in runs] == [("a", (0, 1, 2)), ("b2", (0,))]


def test_a_best_hit_that_is_too_large_is_the_only_run():
    documents = {**example([50, 5000, 50], {0: 2, 1: 1, 2: 3})}
    runs, singles = split(documents, best_runs(documents, 1000))
    assert [run.indexes for run in runs] == [(1,)]
    # What may still stand beside it once it is cut: richest per token first.
    assert [run.indexes for run in singles] == [(0,), (2,), (1,)]


def test_a_run_that_fills_the_limit_to_the_token_is_not_all_there_is():
    """Its poor chunk gives way to a better hit elsewhere."""
    documents = {**example([100, 100], {0: 1}), **example([100], {0: 2}, "b")}
    for limit, expected in ((200, [("a", (0,)), ("b", (0,))]), (299, [("a", (0,)), ("b", (0,))]), (300, [("a", (0, 1)), ("b", (0,))])):
        runs, _ = split(documents, best_runs(documents, limit, {"a": 0, "b": 0}))
        assert [(run.document_id, run.indexes) for run in runs] == expected


def test_a_dear_heading_keeps_a_small_run_out():
    documents = {**example([300], {0: 1}), **example([40], {0: 9}, "b"), **example([60], {0: 9}, "c")}
    free, dear = (best_runs(documents, 450, {"a": 20, "b": opening, "c": 20}) for opening in (20, 200))
    assert ("b", (0,)) in [(run.document_id, run.indexes) for run in split(documents, free)[0]]
    assert ("b", (0,)) not in [(run.document_id, run.indexes) for run in split(documents, dear)[0]]


def test_no_candidates_make_no_runs():
    assert best_runs({}, 1000) == best_runs({"a": []}, 1000) == ()


def maximal(gains: list[int], first: int = 0) -> list[tuple[int, int, float]]:
    """By their definition: the stretch of the highest sum (of equals the shortest, then the first), then what is left on either side."""
    spans = [(sum(gains[low:high]), low - high, -low) for low in range(len(gains)) for high in range(low + 1, len(gains) + 1)]
    total, shorter, place = max(spans, default=(0, 0, 0))
    if total <= 0:
        return []
    low, high = -place, -place - shorter
    return [*maximal(gains[:low], first), (first + low, first + high, float(total)), *maximal(gains[high:], first + high)]


@quick
@given(st.lists(st.integers(-6, 6), max_size=14))
@such_as([3, -1, 1, -1, 2])
@such_as([2, -2, 3])
def test_the_runs_above_the_rent_are_the_maximal_stretches(gains: list[int]) -> None:
    assert _maximal([float(gain) for gain in gains]) == maximal(gains)
