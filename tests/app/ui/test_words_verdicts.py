"""A check in words: every verdict has a sign, a name and a sentence; summaries count; figures say what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from ctxasm.app.ui.ask.verdict_words import (
    check_line,
    claim_sentence,
    figures,
    summary,
)
from ctxasm.citations.checked import VERDICTS, WORST, CheckedClaim, Claim, DroppedSource, Figures, Support, Verdict, sign, words
from ctxasm.citations.figures import without_shares
from ctxasm.citations.report import CheckedAnswer, conflict_sentence, gated_sentence
from ctxasm.model.support import Conflict, Gated, Spent
from tests.app.ui.builders import assembled
from tests.app.ui.checked_builders import of_every_kind, support

CLAIM = Claim(0, 10, "Een claim.", "sentence", (0,), (2,))


def judged(verdict: Verdict, **fields: object) -> CheckedClaim:
    return CheckedClaim(CLAIM, verdict, 0.5, **fields)


def answer(*verdicts: Verdict) -> CheckedAnswer:
    claims = tuple(judged(verdict) for verdict in verdicts)
    return CheckedAnswer("q", "", "lexical", 0.6, (), claims, Figures(0, 0, None, None, None, None), {}, 0.4)


def test_every_verdict_has_words():
    assert set(VERDICTS) == set(get_args(Verdict))
    assert len({sign(part) for part in (*WORST, "declined")}) == len(WORST)  # what is full and what is right share theirs
    assert all(words(part) for part in WORST)
    assert all(claim_sentence(judged(verdict, unknown=(9,)), str) for verdict in VERDICTS if verdict != "dropped")


def test_a_declined_answer_is_no_uncited_answer():
    assert summary(answer("declined", "declined")).startswith("Declined")
    assert summary(answer("declined", "supported")) == "2 claims: 1 supported, 1 declined"
    assert summary(answer()) == "Nothing to check: the answer makes no claim."


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (judged("elsewhere", better=3), "Not found in [2]; [3] has it."),
        (judged("elsewhere", better=3, support=(Support(2, 0, 5, 0.4),)), "Only partly in [2]; [3] has all of it."),
        (judged("unsupported"), "Not found in [2], nor in any other source."),
        (judged("unsupported", missing=("zes",)), "Not found in [2], nor in any other source. Missing: zes."),
        (judged("unsupported", missing=("2 p.m.",)), "Not found in [2], nor in any other source. Missing: 2 p.m."),
        (judged("uncited"), "Cites nothing, and no source has it."),
        (judged("uncited", better=1), "Cites nothing; [1] has it."),
        (judged("unknown_marker", unknown=(9, 12)), "[9][12] are not sources in this context."),
        (judged("unknown_marker", unknown=(9,), better=1), "[9] is not a source in this context; [1] has it."),
        (judged("prefix_only"), "Only in the page summary of [2], not in its text."),
        (
            judged("contradicted", conflict=Conflict("number", "45 minutes", "30 minutes", 2, 0, 10)),
            "Another number: “45 minutes” here, “30 minutes” in [2].",
        ),
        (
            judged("dropped", dropped=(DroppedSource(8, "scan", "budget", "budget"),)),
            "[8] would be “scan”, dropped at Budget: it did not fit into the limit.",
        ),
    ],
)
def test_a_claim_is_explained(claim, words):
    assert claim_sentence(claim, str) == words


@pytest.mark.parametrize("kind", ["number", "date", "name", "negation", "opposite"])
def test_every_conflict_names_both_sides(kind):
    words = conflict_sentence(Conflict(kind, "wel", "niet", 4, 0, 4))
    assert "“wel” here, “niet” in [4]" in words


def test_sources_that_carry_together_are_named_together():
    done = assembled()
    both = judged("supported", support=(support(done, 2, "welkom"), support(done, 3, "Een uur")))
    assert claim_sentence(both, str) == "Found in [2][3] together."


def test_partly_means_a_part_of_the_claim_or_of_its_citations():
    found = support(assembled(), 2, "welkom")._replace(score=0.5)
    part = judged("partly", support=(found,))
    assert claim_sentence(part, str, 0.4) == "Only part of it is in [2]. Its words are there, but not together as it says them."
    assert claim_sentence(replace(part, idle=(1,), carried=True), str, 0.4) == "[1] has none of it; [2] has it."
    assert claim_sentence(replace(part, idle=(1, 3)), str, 0.9).startswith("Only part of it is in [2]; [1][3] have none of it.")


@pytest.mark.parametrize(
    ("gated", "words"),
    [
        (Gated("quantifier", "all", "some"), "“all” here, “some” in the source (quantifier)."),
        (Gated("exception", "only"), "“only” here, not in the source (exception)."),
        (Gated("hedge", "", "may"), "“may” in the source, nothing like it here (hedge)."),
    ],
)
def test_the_word_that_gates_a_claim_is_named(gated, words):
    assert gated_sentence(gated) == words
    assert claim_sentence(judged("partly", gated=(gated,)), str).endswith(words)


def test_figures_are_percentages_with_an_explanation():
    shown = figures(of_every_kind(assembled()))
    assert [(figure.name, figure.value) for figure in shown] == [
        ("citation recall", "50 %"),
        ("citation precision", "67 %"),
        ("coverage", "–"),
    ]
    assert all(figure.says for figure in shown)
    cut = of_every_kind(assembled())
    assert figures(replace(cut, figures=without_shares(cut.figures, "cut"))) == ()
    assert [figure.name for figure in figures(replace(of_every_kind(assembled()), marked=False))] == ["coverage"]


def test_the_line_on_the_check_names_scorer_threshold_time_and_cost():
    assert check_line(answer()) == "Checked by lexical · a match scores 0.60 or more · under 1 ms"
    paid = replace(answer(), scorer="llm", elapsed_ms=812.0, spent=Spent(3, 2, 900, 100))
    assert check_line(paid).endswith("812 ms · 3 calls, 1,000 tokens · 2 verdicts reused")
