"""B against A on the same questions."""

from __future__ import annotations

from dataclasses import replace

from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.compare import Comparison, compare
from tests.tuning.sweeps import context, sample_store

SMALL = AssemblySettings(max_tokens=500)


def made(a: AssemblySettings, b: AssemblySettings, count: int = 30) -> Comparison:
    dataset = sample_store().dataset()
    return compare(context(dataset.queries()[:count]), a, b)


def test_wins_losses_and_ties_are_those_of_the_questions() -> None:
    found = made(SMALL, AssemblySettings(max_tokens=4000))
    deltas = {each.query_id: each for each in found.questions}
    assert found.whole_b - found.whole_a == len(found.better) - len(found.worse)
    assert found.labelled == len(found.better) + len(found.worse) + found.ties
    assert all(deltas[query_id].change == "better" for query_id in found.better)
    assert all(each.tokens == each.b.tokens - each.a.tokens for each in found.questions)
    assert found.tokens_b > found.tokens_a
    assert found.result.interval.low <= found.result.difference <= found.result.interval.high
    assert found.sentence().startswith(f"B holds the evidence of {found.whole_b} of {found.labelled} questions, A of {found.whole_a} ")


def test_the_other_way_round_is_the_mirror() -> None:
    one, other = made(SMALL, AssemblySettings()), made(AssemblySettings(), SMALL)
    assert (one.better, one.worse) == (other.worse, other.better)
    assert (one.result.difference, one.result.p) == (-other.result.difference, other.result.p)


def test_the_same_settings_do_not_differ() -> None:
    found = made(SMALL, SMALL, 5)
    assert (found.result.difference, found.result.p, found.better, found.worse) == (0.0, 1.0, (), ())
    assert "too few questions to tell" in found.sentence()
    assert found.result.interval.low < 0 < found.result.interval.high


def test_questions_without_labels_are_compared_by_tokens() -> None:
    dataset = sample_store().dataset()
    queries = [replace(query, gold=(), spans=()) for query in dataset.queries()[:3]]
    found = compare(context(queries), SMALL, AssemblySettings())
    assert {each.change for each in found.questions} == {"unlabelled"}
    assert found.sentence().startswith("No question is labelled")
    assert found.to_dict()["labelled"] == 0


def test_a_frame_has_a_row_a_question() -> None:
    found = made(SMALL, AssemblySettings(max_tokens=4000))
    frame = found.to_pandas()
    assert list(frame.query_id) == [each.query_id for each in found.questions]
    assert tuple(frame.query_id[frame.change == "better"]) == tuple(each.query_id for each in found.questions if each.change == "better")
    assert int(((frame.found_b == frame.needed_b) & (frame.needed_b > 0)).sum()) == found.whole_b
    assert (frame.tokens_a.mean(), frame.tokens_b.mean()) == (found.tokens_a, found.tokens_b)
