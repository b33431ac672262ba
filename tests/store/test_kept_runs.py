"""Runs and judgements, on every kind of store: kept as they are, found by time, hidden and shown again, never overwritten."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread
from typing import Any

import pytest
from hypothesis import given

from ctxasm.model.errors import DamagedData, InvalidInput, NotFound
from ctxasm.model.messages import Message
from ctxasm.model.ports import TokenCounter
from ctxasm.model.runs import Judgement, Run, RunFilter, RunSource, Written, as_json, read_judgement, read_run
from ctxasm.store.database import Store
from tests.review_strategies import judged_runs, runs

RUN = Run(
    "r1",
    "2026-11-28T08:00:00.000001+00:00",
    "When does it open?",
    "At seven [1].\0 😀",
    {"claims": [{"text": "At seven", "markers": [1], "score": 0.1 + 0.2}]},
    author="An",
    dataset="hospital",
    batch="log",
    query_id="q1",
    model="m",
    settings={"max_tokens": 4000, "max_chars": None},
    prompt=(Message("system", "Answer."), Message("user", "When?")),
    sources=(RunSource(1, "opens at seven", "Desk", "d", (3, 2), "p. 1", 1, "2024-01-01"),),
    sent_tokens=120,
    cost=0.003,
    evidence=(1, 2),
)
LATER = replace(RUN, run_id="r2", kept_at="2026-11-29T08:00:00.000001+00:00", author="Bo", model="other")
SAID = Judgement("r1", "0:1", "An", "right", "as it says")


def test_a_run_is_kept_as_it_is(store: Store) -> None:
    assert store.keep_runs([RUN, LATER]) == 2
    assert store.keep_runs([RUN, RUN]) == 0
    assert store.run("r1") == RUN
    assert store.keep_runs([replace(RUN, answer="another")], skip_known=True) == 0
    with pytest.raises(InvalidInput, match="run 'r1' is kept with other content, and a run never changes"):
        store.keep_runs([replace(LATER, run_id="r3"), replace(RUN, answer="another")])
    assert store.run("r1") == RUN
    with pytest.raises(NotFound, match="no run 'r3' is kept: `ctxasm history` lists"):
        store.run("r3")
    with pytest.raises(NotFound):
        store.run("\0")


def test_the_history_is_by_time_and_filtered(store: Store) -> None:
    store.keep_runs([RUN, LATER])
    assert [entry.run_id for entry in store.runs()] == ["r2", "r1"]
    first = store.runs(RunFilter(author="An"))[0]
    assert (first.run_id, first.kept_at, first.question, first.model, first.deleted) == ("r1", RUN.kept_at, RUN.question, "m", False)
    for wanted, found in (
        (RunFilter(model="other"), ["r2"]),
        (RunFilter(dataset="hospital", batch="log", query_id="q1", limit=1), ["r2"]),
        (RunFilter(since="2026-11-29"), ["r2"]),
        (RunFilter(until="2026-11-29"), ["r1"]),
        (RunFilter(dataset="\0"), []),
        (RunFilter(deleted=True), []),
    ):
        assert [entry.run_id for entry in store.runs(wanted)] == found, wanted


def test_what_is_deleted_comes_back_until_it_is_purged(store: Store) -> None:
    store.keep_runs([RUN, LATER])
    store.judge(SAID, 0)
    assert store.delete_runs(["r1", "nobody", "\0"]) == 1
    assert store.delete_runs(["r1"]) == 0
    assert [entry.run_id for entry in store.runs()] == ["r2"]
    assert [(entry.run_id, entry.deleted) for entry in store.runs(RunFilter(deleted=True))] == [("r1", True)]
    assert store.delete_runs(["r1", "r2"], undo=True) == 1
    assert [entry.run_id for entry in store.runs()] == ["r2", "r1"]
    assert store.judgements(["r1"])[0].note == "as it says"
    store.delete_runs(["r1"])
    assert store.purge_runs() == 1
    assert store.judgements(["r1"], history=True) == []
    with pytest.raises(NotFound):
        store.judge(SAID, 0)


def test_a_judgement_is_added_to_and_never_overwritten(store: Store) -> None:
    store.keep_runs([RUN])
    first = store.judge(SAID, 0)
    assert first.saved
    assert first.current is not None
    assert (first.current.version, first.current.content) == (1, SAID.content)
    assert first.current.changed_at.startswith("20")
    late = replace(SAID, verdict="wrong_source", note="from the other tab")
    assert store.judge(late, 0) == Written(False, first.current)
    assert store.judge(late, 7) == Written(False, first.current)
    second = store.judge(late, 1)
    assert second.saved
    assert store.judge(replace(SAID, reviewer="Bo", verdict="not_there"), 0).saved
    assert [(j.reviewer, j.version, j.verdict) for j in store.judgements(["r1"])] == [("An", 2, "wrong_source"), ("Bo", 1, "not_there")]
    history = store.judgements(["r1"], history=True)
    assert [(j.reviewer, j.version, j.verdict) for j in history] == [("An", 1, "right"), ("An", 2, "wrong_source"), ("Bo", 1, "not_there")]
    # The writer never heard that it was saved, and says the same again.
    assert store.judge(late, 1) == second


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"item": "0"}, "an item must be 'answer' or CLAIM:SOURCE"),
        ({"item": "00:1"}, "an item must be"),
        ({"item": "0:٣"}, "an item must be"),
        ({"verdict": "fine"}, "verdict must be one of right, outdated, wrong_source, not_there, wrong_fact, got 'fine'"),
        ({"item": "answer"}, "takes answers, complete and should_cite, got the verdict right"),
        ({"item": "answer", "verdict": None, "answers": "maybe"}, "answers must be yes, partly or no, got 'maybe'"),
        ({"complete": True}, "a citation takes a verdict and a note"),
        ({"reviewer": " "}, "reviewer must be a name with at least one visible character"),
        ({"reviewer": "x" * 501}, "reviewer must be at most 500 bytes"),
        ({"reviewer": "x\0"}, "reviewer must be at most 500 bytes without NUL"),
    ],
)
def test_what_cannot_be_said_is_refused(wrong: dict[str, Any], said: str, counter: TokenCounter) -> None:
    with Store("sqlite://", counter) as store:
        store.keep_runs([RUN])
        with pytest.raises(InvalidInput, match=said):
            store.judge(replace(SAID, **wrong), 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "EOF while parsing"),
        ('{"run_id": 3}', "run_id: Input should be a valid string, got 3"),
        (as_json(RUN).replace('"cost":0.003', '"cost":"1"'), "cost: Input should be a valid number, got '1'"),
        (as_json(RUN).replace('"cost":0.003', '"cost":NaN'), "cost: Input should be a finite number"),
        (as_json(RUN).replace('"score":', '"score":NaN,"was":'), "must be strict JSON"),
        (as_json(RUN).replace('"model":', '"modell":'), "modell: Unexpected keyword argument"),
        (as_json(RUN).replace('"r1"', '"a/b"'), "run_id must be 1 to 64 letters"),
        (as_json(RUN).replace('"hospital"', '"\\u0000"'), "dataset must hold no NUL"),
        (as_json(RUN).replace('"hospital"', '"\\ud800"'), "unexpected end of hex escape"),
        ('{"check":' * 5000, "recursion"),
    ],
)
def test_a_hostile_run_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_run(text)


def test_judgements_of_elsewhere_join_and_conflicts_come_back(store: Store) -> None:
    store.keep_runs([RUN])
    store.judge(SAID, 0)
    (there,) = store.judgements(["r1"])
    theirs = replace(there, note="said elsewhere")
    others = [replace(there, version=2, verdict=None), replace(there, reviewer="Bo", item="answer", verdict=None, answers="yes")]
    assert store.add_judgements([there, *reversed(others)]) == []
    assert store.add_judgements([theirs, *others]) == [(theirs, there)]
    assert store.judgements(["r1"], history=True) == [there, others[0], others[1]]
    with pytest.raises(InvalidInput, match="the next version of item 0:1 of run 'r1' must be 3, got 5"):
        store.add_judgements([replace(there, reviewer="Cy"), replace(there, version=5)])
    assert len(store.judgements(["r1"], history=True)) == 3
    with pytest.raises(NotFound):
        store.add_judgements([replace(there, run_id="r9")])


def test_of_many_writers_of_one_version_one_is_saved(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store:
        store.keep_runs([RUN])
        written: list[tuple[str, Written]] = []

        def write(number: int) -> None:
            with Store(shared_url, counter) as own:
                said = replace(SAID, note=f"note {number}")
                written.append((said.note, own.judge(said, 0)))

        threads = [Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (stands,) = store.judgements(["r1"], history=True)
        assert [note for note, result in written if result.saved] == [stands.note]
        assert {result.current for _, result in written} == {stands}


def test_a_damaged_run_is_said_to_be(database: Store) -> None:
    database.keep_runs([RUN])
    with database._connections.writing() as connection:
        connection.exec_driver_sql("UPDATE ctxasm_runs SET payload = '{}'")
    with pytest.raises(DamagedData, match="run 'r1' cannot be read"):
        database.run("r1")


@given(runs())
def test_a_run_is_read_as_it_was_written(run: Run) -> None:
    assert as_json(read_run(as_json(run))) == as_json(run)


@given(judged_runs())
def test_judgements_are_read_as_they_were_written(found: tuple[list[Run], list[Judgement]]) -> None:
    for judgement in found[1]:
        assert read_judgement(as_json(judgement)) == judgement
