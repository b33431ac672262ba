"""The laws of packing: as good as trying every set, never more than its bound, and blind to the order of its input."""

from __future__ import annotations

from itertools import combinations
from math import fsum, isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.assembly import packing as pack
from ctxasm.assembly.packing import Packing, Unit, pack_units, packing_regret, value_of
from tests.examples import examples

quick = settings(max_examples=examples(60), derandomize=True)
VALUES = st.one_of(st.just(0.0), st.integers(1, 12).map(lambda rank: value_of([rank])), st.floats(0.01, 3.0))
TOKENS = st.one_of(st.integers(0, 40), st.sampled_from([-2, 1, 10, 10, 20]))


@st.composite
def packings(draw: st.DrawFn, most: int = 9) -> tuple[list[Unit], int | None, int]:
    """Units with a unit that is always in, or none, and a limit."""
    sizes = draw(st.lists(st.tuples(TOKENS, VALUES), max_size=most))
    units = [Unit(f"d{number}" if number % 2 else (f"d{number}", number), *each) for number, each in enumerate(sizes)]
    always = draw(st.none() | st.integers(0, len(units) - 1)) if units else None
    return units, always, draw(st.integers(1, 90))


def tokens_of(units: list[Unit], chosen: tuple[int, ...]) -> int:
    return sum(units[place].tokens for place in chosen)


def tried(units: list[Unit], always: int | None, limit: int) -> tuple[float, int]:
    """The most value of all sets that fit, and the fewest tokens that hold it; the forced unit alone where it does not fit."""
    forced = () if always is None else (always,)
    others = [place for place in range(len(units)) if place != always]
    sets = [(*forced, *some) for size in range(len(others) + 1) for some in combinations(others, size)]
    fitting = [each for each in sets if tokens_of(units, each) <= limit]
    if tokens_of(units, forced) > limit:
        fitting = [forced]
    most = max(fsum(units[place].value for place in each) for each in fitting)
    best = [each for each in fitting if isclose(fsum(units[place].value for place in each), most, rel_tol=1e-12, abs_tol=1e-12)]
    return most, min(tokens_of(units, each) for each in best)


def lawful(units: list[Unit], always: int | None, limit: int, packing: Packing) -> None:
    assert packing.value == fsum(units[place].value for place in packing.chosen) <= packing.bound
    assert not packing.exact or packing.value == packing.bound
    assert always is None or always in packing.chosen
    assert tokens_of(units, packing.chosen) <= limit or packing.chosen == (always,)
    assert sorted((*packing.chosen, *packing.rest)) == list(range(len(units)))


@quick
@given(packings())
def test_as_good_as_trying_every_set(case):
    units, always, limit = case
    packing = pack_units(units, always, limit)
    lawful(units, always, limit, packing)
    most, fewest = tried(units, always, limit)
    assert packing.exact
    assert packing.value == pytest.approx(most, rel=1e-12, abs=1e-12)
    assert tokens_of(units, packing.chosen) == fewest


@quick
@given(packings(), st.integers(0, 20))
def test_the_table_and_the_search_find_the_same_value(case, steps):
    """With few steps the table takes over; without a table the bound stands for what was not looked at."""
    units, always, limit = case
    most, fewest = tried(units, always, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "MAX_STEPS", steps)
        by_table = pack_units(units, always, limit)
        patch.setattr(pack, "MAX_CELLS", 0)
        by_search = pack_units(units, always, limit)
    for packing in (by_table, by_search):
        lawful(units, always, limit, packing)
        assert packing.bound >= most - 1e-12
        if packing.exact:
            assert packing.value == pytest.approx(most, rel=1e-12, abs=1e-12)
            assert tokens_of(units, packing.chosen) == fewest
    assert by_table.exact


def test_a_search_ends_where_what_is_left_out_never_fits() -> None:
    found = packing_regret([Unit("a", 12, 4.0), Unit("b", 10, 2.0)], None, 13, 4.0)
    assert (found.documents, found.best, found.exact) == (("a",), 4.0, True)


def test_the_bound_is_that_of_the_richest_branch_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "MAX_STEPS", 3)
    monkeypatch.setattr(pack, "MAX_CELLS", 0)
    units = [Unit("a", 9, 8.0), Unit("b", 6, 7.0), Unit("c", 3, 1.0), Unit("d", 2, 4.0)]
    packing = pack_units(units, None, 15)
    assert not packing.exact
    assert packing.bound >= tried(units, None, 15)[0] == 15.0


@pytest.mark.parametrize(("limit", "bound"), [(15, 4 + 7 + 8 * 7 / 9), (19, 4 + 7 + 8 + 2 / 3), (20, 20)])
def test_before_its_first_step_a_search_knows_what_parts_of_units_would_be_worth(
    monkeypatch: pytest.MonkeyPatch, limit: int, bound: float
) -> None:
    monkeypatch.setattr(pack, "MAX_STEPS", 0)
    units = [Unit("a", 9, 8.0), Unit("b", 6, 7.0), Unit("c", 3, 1.0), Unit("d", 2, 4.0)]
    assert packing_regret(units, None, limit, 0.0).best == pytest.approx(bound)


@pytest.mark.parametrize(("steps", "exact"), [(1000, True), (1001, False)])
def test_a_search_takes_a_thousand_steps_at_most(steps: int, exact: bool) -> None:
    """All units but the last fit; then each is given back once."""
    units = [*(Unit(f"d{place}", 1, 1.0) for place in range(steps - 1)), Unit("last", 2, 0.001)]
    assert packing_regret(units, None, steps, 0.0).exact == exact


def test_what_fits_whole_is_not_searched() -> None:
    count = pack.MAX_STEPS + 1
    assert packing_regret([Unit(f"d{place}", 1, 1.0) for place in range(count)], None, count, 0.0).exact


def test_what_has_no_value_is_left_to_the_rest_even_where_it_takes_nothing() -> None:
    packing = pack_units([Unit("a", 3, 1.0), Unit("b", 0, 0.0), Unit("c", 0, 1.0)], None, 10)
    assert (packing.chosen, packing.rest) == ((0, 2), (1,))


@st.composite
def crowds(draw: st.DrawFn) -> list[Unit]:
    """Many units, of a kind that is hard to pack: alike in value per token, nearly so, or many of no value."""
    kind = draw(st.sampled_from(["density", "strong", "free", "same"]))
    units = []
    for number, tokens in enumerate(draw(st.lists(st.integers(30, 900), min_size=30, max_size=60))):
        value = {"density": tokens / 900, "strong": (tokens + 90) / 900, "free": value_of([number + 1]), "same": value_of([9])}[kind]
        units.append(Unit(f"d{number:03}", 500 if kind == "same" else tokens, 0.0 if number % 3 and kind == "free" else value))
    return units


@quick
@given(crowds(), st.integers(100, 9000), st.integers(0, 3000))
def test_more_limit_is_never_worth_less(units, limit, more):
    small, large = pack_units(units, 0, limit), pack_units(units, 0, limit + more)
    lawful(units, 0, limit, small)
    lawful(units, 0, limit + more, large)
    assert small.exact
    assert large.exact
    assert small.value <= large.value


@quick
@given(crowds(), st.integers(100, 9000))
def test_a_bound_without_proof_is_never_below_the_best(units, limit):
    best = pack_units(units, 0, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "MAX_STEPS", 3)
        patch.setattr(pack, "MAX_CELLS", 0)
        rough = pack_units(units, 0, limit)
    lawful(units, 0, limit, rough)
    assert rough.value <= best.value * (1 + 1e-12)
    assert best.value <= rough.bound * (1 + 1e-12)


def test_a_full_sack_is_bounded_by_no_less_than_it_holds(monkeypatch):
    monkeypatch.setattr(pack, "MAX_STEPS", 1)
    assert pack._Sack([5, 5], [9, 5], 5).solve(0) == ([0], 9)


def test_a_branch_that_gives_a_unit_back_is_bounded_without_it(monkeypatch):
    monkeypatch.setattr(pack, "MAX_STEPS", 1)
    assert pack._Sack([5, 5, 4], [9, 5, 3], 8).solve(0) == ([0], 11)


def test_what_takes_nothing_is_in_beside_what_fills_the_limit():
    assert pack_units([Unit("a", 10, 1.0), Unit("b", 0, 0.5)], 0, 10).chosen == (0, 1)


@quick
@given(packings(), st.randoms(use_true_random=False))
def test_the_order_of_the_units_does_not_matter(case, random):
    units, always, limit = case
    places = list(range(len(units)))
    random.shuffle(places)
    shuffled = [units[place] for place in places]
    first = pack_units(units, always, limit)
    second = pack_units(shuffled, None if always is None else places.index(always), limit)
    assert {units[place].name for place in first.chosen} == {shuffled[place].name for place in second.chosen}
    assert [units[place].name for place in first.rest] == [shuffled[place].name for place in second.rest]
    assert (first.value, first.bound, first.exact) == (second.value, second.bound, second.exact)


def test_a_forced_unit_that_is_too_large_stands_alone():
    units = [Unit("small", 10, 1.0), Unit("large", 500, 0.1), Unit("nothing", 0, 0.5)]
    assert pack_units(units, 1, 100) == Packing((1,), 0.1, 0.1, True, (2, 0))


def test_units_without_value_are_left_for_what_remains():
    units = [Unit("empty", 5, 0.0), Unit("hit", 10, 1.0), Unit("bare", 3, 0.0)]
    assert pack_units(units, None, 100) == Packing((1,), 1.0, 1.0, True, (2, 0))


def test_whole_documents_from_the_tail_leave_three_thousand_of_eight():
    """Documents of 3000, 5200, 2500 and 2400 tokens: leaving from the tail keeps the first alone, the best packing three."""
    sizes = (3000, 5200, 2500, 2400)
    items = [Unit(f"d{place}", tokens, value_of([place + 1])) for place, tokens in enumerate(sizes)]
    regret = packing_regret(items, "d0", 8000, value_of([1]))
    assert regret.documents == ("d0", "d2", "d3")
    assert regret.exact
    assert regret.regret == pytest.approx(value_of([3, 4]))


def test_keeping_more_than_any_whole_documents_is_no_regret():
    items = [Unit("d0", 600, value_of([1])), Unit("d1", 700, value_of([2, 3]))]
    regret = packing_regret(items, "d0", 1000, value_of([1, 2]))
    assert regret.regret == 0
    assert regret.best == value_of([1, 2])
    assert regret.documents == ("d0",)


def test_no_documents_are_no_regret():
    assert packing_regret([], None, 1000, 0.0).regret == 0


def test_a_hit_is_worth_less_the_lower_it_ranks_whatever_the_order():
    assert value_of([1], pack_k=60) == 1 / 61
    assert value_of([3, 1, 2]) == value_of([1, 2, 3])
    assert value_of([1], pack_k=1) == 0.5


@pytest.mark.parametrize("limit", [8000, 7999])
def test_two_hundred_units_that_no_search_can_tell_apart_are_packed_exactly(limit):
    """The same value per token throughout: the search runs out of steps, the table does not."""
    units = [Unit(f"d{place:03}", 101 + place * 2, (101 + place * 2) / 5000) for place in range(200)]
    packing = pack_units(units, 7, limit)
    lawful(units, 7, limit, packing)
    assert packing.exact
    # Only odd sizes: as many of them as make the parity of the limit can fill it to the last token.
    assert tokens_of(units, packing.chosen) == limit
