"""What a reviewer is given: blind first, the riskiest first; and what undo says again."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.model.errors import InvalidInput, NotFound
from ctxasm.model.runs import CITATION_VERDICTS, Judgement, Passage, Run, RunSource
from ctxasm.review.judging import checker_says, claims_of, item_for, queue, undo
from ctxasm.store.database import MemoryStore
from tests.examples import examples

SECRET, OTHERS = "checker-secret", "others-secret"
DISPUTED = {"number": 9, "date": SECRET, "age": "newer"}


def claim(support: str | None = "full", markers: tuple[int, ...] = (1,), citation: str | None = None, **more: Any) -> dict[str, Any]:
    axes = {"support": support, "citation": citation}
    return {"start": 0, "end": 4, "text": "said", "kind": "sentence", "markers": list(markers), "axes": axes, **more}


def run_with(*claims: dict[str, Any], run_id: str = "r", **more: Any) -> Run:
    sources = (RunSource(1, "one", "One", "d", (1,)), RunSource(2, "two", "Two", "d", (2,)))
    return Run(run_id, "2026-11-28", "Which?", "said [1]", {"claims": list(claims)}, dataset="data", query_id="q", sources=sources, **more)


def store_with(*runs: Run) -> MemoryStore:
    store = MemoryStore()
    store.keep_runs(runs)
    return store


ITEMS = st.lists(st.sampled_from(["0:1", "0:2", "1:1", "answer"]), unique=True)


@given(ITEMS, ITEMS, ITEMS, st.sampled_from([*CITATION_VERDICTS, None]))
@settings(max_examples=examples(1000))
def test_nothing_of_the_checker_or_of_others_is_given_before_ones_own_verdict(
    own: list[str], others: list[str], notes: list[str], verdict: Any
) -> None:
    """1,000 items among the slow tests, a part of them here."""
    support: list[dict[str, Any]] = [{"number": 1, "start": 0, "end": 1, "score": 0.123456}]
    conflict = {"kind": "number", "claim": SECRET, "source": SECRET, "number": 1, "start": 0, "end": 1}
    first = claim("contradicted", (1, 2), "wrong_number", disputed=DISPUTED, conflict=conflict, better=77) | {"support": support}
    store = store_with(run_with(first, claim("not_found", (1,), disputed=DISPUTED)))
    for item in others:
        said = Judgement("r", item, "Bo", note=OTHERS, verdict=None if item == "answer" else "wrong_fact")
        store.judge(replace(said, answers="no" if item == "answer" else None), 0)
    for item in notes:
        store.judge(Judgement("r", item, "An", note="mine"), 0)
    given_ = [item for item in own if verdict is not None]
    for item in given_:
        said = Judgement("r", item, "An", verdict=None if item == "answer" else verdict, answers="yes" if item == "answer" else None)
        assert store.judge(said, 1 if item in notes else 0).saved
    found = item_for(store, "r", "An")
    for one in found.claims:
        items = {citation.item for citation in one.citations}
        is_open = items <= set(given_)
        assert (one.checker is not None) == is_open
        for citation in one.citations:
            assert (citation.says is not None) <= is_open
            assert bool(citation.others) == (citation.item in given_ and citation.item in others)
    assert bool(found.others) == ("answer" in given_ and "answer" in others)
    assert found.judged == len(given_)
    assert found.items == 4
    shown = repr(asdict(found))
    assert (SECRET in shown) == ({"0:1", "0:2"} <= set(given_) or "1:1" in given_)
    assert (OTHERS in shown) == bool(set(given_) & set(others))
    assert ("0.123456" in shown) == ({"0:1", "0:2"} <= set(given_))
    entry = repr(queue(store, ["r"], "An"))
    assert SECRET not in entry
    assert "contradicted" not in entry


def test_the_riskiest_come_first_and_what_is_done_last() -> None:
    runs = [
        run_with(claim("full", citation="right"), run_id="fine"),
        run_with(claim("not_found"), run_id="nothing"),
        run_with(claim("full", (2,)), run_id="off-gold"),
        run_with(claim("full"), claim("full", disputed=DISPUTED), run_id="old"),
        run_with(claim("contradicted"), run_id="wrong"),
        run_with(claim("contradicted"), claim("contradicted"), run_id="worse"),
        run_with(claim("contradicted"), run_id="done"),
    ]
    store = store_with(*runs)
    for item, said in (("0:1", {"verdict": "right"}), ("answer", {"complete": False})):
        store.judge(Judgement("done", item, "An", **said), 0)  # type: ignore[arg-type]
    gold = {("data", "q"): frozenset({("d", 1)})}
    found = queue(store, [run.run_id for run in runs], "An", gold)
    assert [entry.run_id for entry in found] == ["worse", "wrong", "old", "off-gold", "nothing", "fine", "done"]
    assert [entry.is_done for entry in found] == [False] * 6 + [True]
    assert (found[0].judged, found[0].items) == (0, 3)
    assert [entry.run_id for entry in queue(store, ["done", "fine"], "Bo", gold)] == ["done", "fine"]
    assert [entry.run_id for entry in queue(store, ["off-gold", "nothing"], "An")] == ["nothing", "off-gold"]


def test_what_states_nothing_is_no_item_and_a_claim_without_a_citation_is_one() -> None:
    heading = {**claim(None, ()), "kind": "heading"}
    inherits = {**claim("full", ()), "inherited": [2]}
    found = item_for(store_with(run_with(heading, claim("not_found", ()), inherits, claim("full", (1, 1)))), "r", "An")
    assert [[citation.item for citation in one.citations] for one in found.claims] == [["1:0"], ["2:2"], ["3:1"]]


@pytest.mark.parametrize(
    ("one", "number", "says"),
    [
        (claim("full"), 1, "right"),
        (claim("full", disputed=DISPUTED), 1, "outdated"),
        (claim("full", disputed={"age": "older"}), 1, "right"),
        (claim("full", better=2), 1, "wrong_source"),
        (claim("full", (1, 2), idle=[2]), 2, "wrong_source"),
        (claim("full", (1, 2), idle=[2]), 1, "right"),
        (claim("full", (9,), unknown=[9]), 9, "wrong_source"),
        (claim("not_found", (9,), unknown=[9]), 9, "not_there"),
        (claim("not_found"), 1, "not_there"),
        (claim("contradicted", ()), 0, "wrong_fact"),
        (claim("contradicted", (1, 2), conflict={"kind": "number", "claim": "", "source": "", "number": 2, "start": 0, "end": 1}), 1, None),
        (claim("partly"), 1, None),
        (claim(None), 1, None),
        (claim("full", ()), 0, None),
        (claim("partly", (1, 2), clauses=[claim("full", (1,)), claim("not_found", (2,))]), 2, "not_there"),
        (claim("partly", (1, 2), clauses=[claim("full", (1,)), claim("not_found", (2,))]), 1, "right"),
    ],
)
def test_the_checker_in_a_reviewers_words(one: dict[str, Any], number: int, says: str | None) -> None:
    assert checker_says(claims_of(run_with(one))[0], number) == says


def test_undo_says_again_what_was_said_before() -> None:
    store = store_with(run_with(claim()))
    assert undo(store, "r", "0:1", "An") is None
    first = Judgement("r", "0:1", "An", "right", "a note")
    store.judge(first, 0)
    store.judge(replace(first, verdict="wrong_fact"), 1)
    back = undo(store, "r", "0:1", "An")
    assert back is not None
    assert back.current is not None
    assert (back.saved, back.current.version, back.current.content) == (True, 3, first.content)
    assert len(store.judgements(["r"], history=True)) == 3
    store.judge(Judgement("r", "answer", "An", answers="yes", should_cite=(Passage("d", 2, "two"),)), 0)
    gone = undo(store, "r", "answer", "An")
    assert gone is not None
    assert gone.current is not None
    assert not gone.current.is_given


@pytest.mark.parametrize("claims", [3, [{}], [{**claim(), "markers": "1"}], [{**claim(), "axes": 1}]])
def test_a_check_that_cannot_be_read_is_said_to_be(claims: object) -> None:
    with pytest.raises(InvalidInput, match=r"run 'r': check\.claims"):
        claims_of(replace(run_with(), check={"claims": claims}))


def test_a_run_that_is_not_there() -> None:
    with pytest.raises(NotFound):
        item_for(MemoryStore(), "r", "An")
