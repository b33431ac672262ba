"""From a kept answer to gold evidence, over a workbench; and how two runs differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ctxasm import MemoryStore, ask, keep_run
from ctxasm.app.reviews import keep_recorded, review_queue
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Answer, Bundle, Chunk, Document, GoldChunk, Hit, Query
from ctxasm.model.runs import Judgement, Passage, Run
from ctxasm.model.settings import AssemblySettings
from ctxasm.review.gold import SHELF, approve, can_undo, undo_approval
from ctxasm.review.judging import item_for
from ctxasm.review.runs import difference_of

TEXTS = (
    "The desk opens at seven every day.",
    "Parking costs two euro an hour.",
    "Dogs are not allowed inside.",
    "The desk closes at nine.",
)
CHUNKS = tuple(Chunk("guide", at, text) for at, text in enumerate(TEXTS))
HITS = tuple(Hit("guide", at, 1.0 - at / 10) for at in range(3))
QUERY = Query("When does the desk open?", HITS, "q1", gold=(GoldChunk("guide", 3),), answer="At seven.")
RECORDED = Answer(
    "q1", "The desk opens at seven every day [1]. Parking costs nine euro an hour [1].", metadata={"model": "m", "span_id": "s"}
)
OTHER = replace(RECORDED, query_id="q2")


@pytest.fixture
def workbench() -> Workbench:
    own = Workbench(read_config({}), MemoryStore())
    own.store.add(Bundle("data", (Document("guide", "Guide", date="2024-01-01"),), CHUNKS, (QUERY,), (RECORDED, RECORDED)))
    return own


def kept(workbench: Workbench) -> Run:
    (run_id,) = keep_recorded(workbench).run_ids
    return workbench.store.run(run_id)


def say(workbench: Workbench, run: Run, reviewer: str, **items: object) -> None:
    for item, said in items.items():
        name = "answer" if item == "answer" else item.removeprefix("c").replace("_", ":")
        now = {each.item: each.version for each in workbench.store.judgements([run.run_id]) if each.reviewer == reviewer}
        content = said if isinstance(said, dict) else {"verdict": said}
        assert workbench.store.judge(Judgement(run.run_id, name, reviewer, **content), now.get(name, 0)).saved


def gold_of(workbench: Workbench) -> tuple[GoldChunk, ...]:
    return workbench.dataset("data").query("q1").gold


def test_recorded_answers_are_kept_once(workbench: Workbench) -> None:
    first = keep_recorded(workbench)
    assert (first.new, first.refused) == (1, {})
    assert keep_recorded(workbench) == first._replace(new=0)
    run = workbench.store.run(first.run_ids[0])
    assert (run.question, run.answer, run.dataset, run.batch, run.model) == (QUERY.query, RECORDED.answer, "data", "data", "m")
    assert (run.digest, run.reference, run.span_id) == (workbench.dataset("data").info.content_hash, "At seven.", "s")
    assert run.sources[0].chunks == (0, 1, 2, 3)
    assert run.evidence == (1, 1)
    assert run.sources[0].date == "2024-01-01"
    workbench.store.delete_runs(first.run_ids)
    assert keep_recorded(workbench).new == 0
    (entry,) = review_queue(workbench, "An", first.run_ids)
    assert (entry.judged, entry.items) == (0, 3)


def test_what_most_approve_is_gold_with_its_votes_until_it_is_taken_back(workbench: Workbench) -> None:
    run = kept(workbench)
    say(workbench, run, "An", c0_1="right", c1_1="wrong_fact", answer={"answers": "yes", "should_cite": (Passage("guide", 2, "Dogs"),)})
    report = approve(workbench)
    assert (report.added, report.removed, report.refused) == ({"q1": 2}, {}, 1)
    assert gold_of(workbench)[1:] == (
        GoldChunk("guide", 0, "cited", votes=(1, 1)),
        GoldChunk("guide", 2, "hand", votes=(1, 1)),
    )
    say(workbench, run, "Bo", c0_1="right", c1_1="right")
    report = approve(workbench, "data")
    assert report.sentence() == "1 label given to 1 question of data, 1 kept, 1 judged and not approved"
    assert GoldChunk("guide", 0, "cited", votes=(2, 2)) in gold_of(workbench)
    assert approve(workbench).added == {}
    say(workbench, run, "An", c0_1="wrong_source", answer={"answers": "yes"})
    report = approve(workbench)
    assert report.removed == {"q1": 2}
    assert gold_of(workbench) == QUERY.gold


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_gold_from_verdicts_is_undone_from_the_database_and_what_was_labelled_since_stays(kind: str, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'gold.db'}"
    own = [Workbench(read_config({"CTXASM_DATABASE_URL": address}), MemoryStore() if kind == "memory" else None)]
    own[0].store.add(Bundle("data", (Document("guide", "Guide"),), CHUNKS, (QUERY, replace(QUERY, query_id="q2")), (RECORDED, OTHER)))
    for run_id in keep_recorded(own[0]).run_ids:
        say(own[0], own[0].store.run(run_id), "An", c0_1="right", answer={"answers": "yes"})
    assert not can_undo(own[0], "data")
    assert approve(own[0]).added == {"q1": 1, "q2": 1}
    if kind == "sqlite":  # another process, a day later
        own[0].close()
        own = [Workbench(read_config({"CTXASM_DATABASE_URL": address}))]
    bench = own[0]
    assert can_undo(bench, "data")
    bench.store.set_gold("data", "q2", [GoldChunk("guide", 1, "hand")], "add")
    assert undo_approval(bench).sentence() == "1 question labelled as before, 1 question changed since and left alone: q2"
    assert gold_of(bench) == QUERY.gold
    assert GoldChunk("guide", 1, "hand") in bench.dataset("data").query("q2").gold
    with pytest.raises(InvalidInput, match="nothing to undo"):
        undo_approval(bench)
    approve(bench)
    bench.delete("data")
    assert bench.store.read_kept(SHELF) == {}
    bench.close()


def test_an_answer_that_does_not_answer_approves_nothing_and_labels_of_the_data_stay(workbench: Workbench) -> None:
    run = kept(workbench)
    say(
        workbench,
        run,
        "An",
        c0_1="right",
        answer={"answers": "no", "should_cite": (Passage("guide", 3), Passage("guide", 9), Passage("other", 0))},
    )
    report = approve(workbench)
    assert (report.added, report.missing) == ({}, (("guide", 9), ("other", 0)))
    assert "2 chunks not in the data any more" in report.sentence()
    assert gold_of(workbench) == QUERY.gold


def test_a_chunk_that_another_load_changed_and_a_question_that_went_are_not_labelled(workbench: Workbench) -> None:
    run = kept(workbench)
    say(workbench, run, "An", c0_1="right")
    moved = tuple(Chunk("guide", at, f"Something else stands here now, in place {at} of all.") for at in range(4))
    workbench.store.add(Bundle("data", (), moved, (replace(QUERY, gold=()),)))
    report = approve(workbench)
    assert (report.added, report.missing) == ({}, (("guide", 0),))
    workbench.store.add(Bundle("data", (), CHUNKS, (replace(QUERY, query_id="q2"),)))
    assert approve(workbench).unknown == ("q1",)


def test_the_recommendation_says_whose_gold_it_stands_on(workbench: Workbench) -> None:
    from ctxasm import recommend

    run = kept(workbench)
    for reviewer in ("An", "Bo"):
        say(workbench, run, reviewer, c0_1="right")
    approve(workbench)
    assert "1 cited and approved by 2 of 2 reviewers" in recommend(workbench.store, "data").gold


def test_an_answer_that_was_asked_for_is_kept_whole_and_two_runs_differ_in_words_evidence_and_tokens(workbench: Workbench) -> None:
    runs = []
    for settings in (AssemblySettings(expand_window=0), AssemblySettings(expand_window=0, top_k=1)):
        assembly = workbench.assemble(workbench.query("data", "q1"), settings, "data")
        result = ask(assembly, "extractive").result()
        checked = workbench.check(assembly, result.text)
        run = keep_run(assembly, result, checked, workbench.store, "data", author="An", batch="b", prices=(1000.0, 1000.0))
        assert workbench.store.run(run.run_id) == run
        assert (run.answer, run.settings, run.author, run.evidence) == (result.text, settings.changed(), "An", (0, 1))
        assert AssemblySettings.from_dict(workbench.store.run(run.run_id).settings) == settings
        assert run.prompt[0].role == "system"
        assert "The desk opens at seven" in run.prompt[-1].content
        assert item_for(workbench.store, run.run_id, "An").answer == result.text
        runs.append(run)
    made = difference_of(*runs)
    assert made.settings == {"top_k": (None, 1)}
    assert (made.only_a, made.only_b) == (("guide:1", "guide:2"), ())
    assert made.context_tokens is not None
    assert made.context_tokens < 0
    assert made.sentences()[-1] == "Settings: top_k default → 1."
    assert difference_of(runs[0], runs[0]).sentences()[:2] == ("The answers are the same.", "Evidence: the same chunks.")
    assert made.to_dict()["only_a"] == ["guide:1", "guide:2"]


def test_words_added_and_removed_are_counted(workbench: Workbench) -> None:
    run = kept(workbench)
    made = difference_of(replace(run, answer="one two three"), replace(run, answer="one 2 three four"))
    assert (made.words_removed, made.words_added) == (1, 2)
    assert made.sentences()[0] == "Words: 2 words added, 1 word removed."
