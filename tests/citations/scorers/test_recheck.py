"""The second of two scorers is asked about what the first finds carried by nothing, and about nothing else."""

from __future__ import annotations

from fake_models import Judge, all_shown

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.scorers.judge import JudgeScorer
from ctxasm.citations.scorers.recheck import DoubtfulScorer
from ctxasm.model.support import Source, Spent

DESK, PARKING = "The desk opens at seven in the morning.", "Parking costs two euros an hour."
SOURCES = [Source(1, DESK, ((0, len(DESK)),)), Source(2, PARKING, ((0, len(PARKING)),))]


def judge_all(user: str) -> dict[str, object]:
    """Says of every claim that the first source states all of it, and quotes that source."""
    return {
        "sources": [
            {
                "source": 1,
                "verdict": "full",
                "quote": all_shown(user)[0][1],
                "missing": [],
                "conflict_kind": "none",
                "conflict_claim": "",
                "conflict_source": "",
            }
        ],
        "together": [],
    }


def test_only_doubtful_claims_are_asked_about_and_their_scores_fit_the_first_scale() -> None:
    judge = Judge(judge_all)
    scorer = DoubtfulScorer(LexicalScorer(), JudgeScorer(judge, "m"))
    claims = [PARKING, "Staff are at reception early.", "Visitors are greeted at dawn."]
    comparison = scorer.compare(claims, SOURCES)
    assert [all_shown(messages[-1].content)[2] for messages, _ in judge.asked] == [claims[1:]]
    assert comparison.spent == Spent(1, 0, 100, 20)
    assert [max(match.score for match in comparison.each(at)) >= scorer.threshold for at in range(3)] == [True] * 3
    assert comparison.each(1)[0].found[0].score == 1.0
    assert comparison.together(1, [1]).score == 0.0


def test_the_thresholds_of_the_second_lie_on_those_of_the_first() -> None:
    first, second = LexicalScorer(), JudgeScorer(Judge(), "m")
    scorer = DoubtfulScorer(first, second)
    stretch = scorer._stretched
    assert (stretch(0.0), stretch(second.partly), stretch(second.threshold), stretch(1.0)) == (0.0, first.partly, first.threshold, 1.0)
    scores = [at / 50 for at in range(51)]
    assert [stretch(score) for score in scores] == sorted(stretch(score) for score in scores)


def test_a_whole_answer_is_checked_with_one_call_for_what_is_doubtful() -> None:
    judge = Judge(judge_all)
    answer = f"{PARKING[:-1]} [2]. Staff are at reception early [1]."
    grounds = grounds_of_sources([{"n": 1, "text": DESK}, {"n": 2, "text": PARKING}])
    checked = check_answer(answer, grounds, DoubtfulScorer(LexicalScorer(), JudgeScorer(judge, "m")))
    assert [claim.verdict for claim in checked.claims] == ["supported", "supported"]
    assert (checked.scorer, checked.figures.recall, checked.spent.calls) == ("lexical+llm", 1.0, 1)
    none = check_answer(f"{PARKING[:-1]} [2].", grounds, DoubtfulScorer(LexicalScorer(), JudgeScorer(judge, "m")))
    assert none.spent.calls == 0
