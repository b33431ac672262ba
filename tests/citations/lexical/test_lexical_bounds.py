"""The numbers that the words were tuned to, at their bounds: which stretches carry a claim, and what counts against it how much."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.findings import Findings
from ctxasm.citations.lexical.gate import gate
from ctxasm.citations.lexical.parts import LIGHT_WEIGHT, QUANTITY_WEIGHT, Parts, is_name, parts_of
from ctxasm.citations.lexical.scorer import LONGEST_CLAIM, THRESHOLD, LexicalScorer, missing_words, score_of
from ctxasm.citations.lexical.windows import Window, Windows
from ctxasm.citations.lexical.words import stems_of
from ctxasm.model.support import NO_MATCH, Conflict, Found, Gated, Match, Source

WORDS = [f"{a}{b}{c}lomp" for a in "bdfgk" for b in "aeiou" for c in "mnprs"]
"""None is a form of another."""


def sentences(*held: Sequence[str]) -> str:
    return " ".join(f"{' '.join(words)}." for words in held)


def of(text: str, number: int = 1) -> Source:
    return Source(number, text, ((0, len(text)),))


def windows(claim: str, *texts: str) -> Windows:
    """Every stop ends a sentence."""
    evidence = Evidence(
        [of(text, at) for at, text in enumerate(texts, 1)],
        stems_of("en"),
        lambda text: [found.span() for found in re.finditer(r"[^ .][^.]*\.", text)],
    )
    return Windows(parts_of(claim, evidence), evidence)


def spans(found: Sequence[Window]) -> list[tuple[int, int]]:
    return [(window.first, window.last) for window in found]


def test_a_window_has_three_sentences() -> None:
    four = WORDS[:8]
    found = windows(" ".join(four), sentences(four[:2], four[2:4], four[4:6], four[6:]))
    assert max(last - first + 1 for first, last in spans(found.of_source(0))) == 3
    assert spans(found.choose([0])) == [(0, 2), (3, 3)]


@pytest.mark.parametrize(("text", "may"), [("Entry is free.", False), ("Entry is not free.", True), ("Anna Bos slept.", False)])
def test_what_opposes_a_claim_may_contradict_it(text: str, may: bool) -> None:
    assert (LexicalScorer().compare(["Entry is free."], [of(text)]).together(0, (0,)).conflict is not None) is may


def test_three_windows_carry_a_claim_together() -> None:
    eight = WORDS[:8]
    found = windows(" ".join(eight), *(sentences(eight[at : at + 2]) for at in range(0, 8, 2)))
    assert [window.source for window in found.choose(range(4))] == [0, 1, 2]


@pytest.mark.parametrize(("count", "chosen"), [(16, 2), (17, 1)])
def test_a_further_window_adds_an_eighth_of_the_claim(count: int, chosen: int) -> None:
    words = WORDS[:count]
    assert len(windows(" ".join(words), sentences(words[2:]), sentences(words[:2])).choose([0, 1])) == chosen


def test_a_further_window_adds_two_words() -> None:
    words = WORDS[:4]
    assert len(windows(" ".join(words), sentences(words[1:]), sentences(words[:1])).choose([0, 1])) == 1


@pytest.mark.parametrize(("count", "last"), [(49, 1), (51, 0)])
def test_a_sentence_comes_in_for_a_fiftieth_of_the_claim(count: int, last: int) -> None:
    words = WORDS[:count]
    assert spans(windows(" ".join(words), sentences(words[:-1], words[-1:])).choose([0])) == [(0, last)]


def test_windows_are_tried_around_the_four_best_sentences() -> None:
    held, rest = [], WORDS
    for count in (7, 6, 5, 3, 4):
        held += [rest[:count], ["x"], ["x"], ["x"]]
        rest = rest[count:]
    found = windows(" ".join(word for one in held for word in one), sentences(*held))
    assert {first for first, last in spans(found.of_source(0)) if first == last} == {0, 4, 8, 16}


@pytest.mark.parametrize(("here", "widest"), [(10, 1), (11, 2)])
def test_a_source_that_holds_less_than_half_is_tried_sentence_by_sentence(here: int, widest: int) -> None:
    words = WORDS[:21]
    found = windows(" ".join(words), sentences(words[:2], words[2:here]), sentences(words[here:]))
    assert max(last - first + 1 for first, last in spans(found.of_source(0))) == widest


@pytest.mark.parametrize(("count", "holding"), [(12, 1), (13, 0)])
def test_a_claim_of_twelve_figures_is_looked_up_by_them(count: int, holding: int) -> None:
    claim = ", ".join(f"{100 + at} euro" for at in range(count))
    assert len(windows(claim, "It is 105 euro.").of_source(0)) == holding


@pytest.mark.parametrize(("claim", "holding"), [("bamlomp 105 euro", 1), ("bamlomp banlomp 105 euro", 0)])
def test_a_figure_alone_is_looked_up_beside_one_word_at_most(claim: str, holding: int) -> None:
    assert len(windows(claim, "It is 105 euro.").of_source(0)) == holding


def test_sentences_at_the_ends_that_hold_nothing_of_weight_are_left_out() -> None:
    words = WORDS[:6]
    found = windows(f"{' '.join(words)} usual", sentences(["usual"], words[:3], words[3:]))
    assert spans(found.choose([0])) == [(1, 2)]
    assert spans(windows("usual", sentences(["usual"], ["x"], ["x"])).choose([0])) == [(0, 0)]


def test_of_two_that_hold_the_same_the_lower_number_and_the_earlier_place_is_chosen() -> None:
    words = WORDS[:3]
    found = windows(" ".join(words), sentences(["x"], words), sentences(words, words))
    assert [(one.source, one.first) for one in found.choose([1, 0])] == [(0, 1)]
    assert [(one.source, one.first) for one in found.choose([1])] == [(1, 2)]


def test_figures_weigh_more_than_light_words() -> None:
    parts = windows("bamlomp usual 5 euro", "banlomp.").parts
    assert parts.weights == (1.5, LIGHT_WEIGHT, QUANTITY_WEIGHT)
    assert (LIGHT_WEIGHT, QUANTITY_WEIGHT, parts.total) == (0.2, 1.5, 3.2)


PARTS = Parts("", (), (), (1.0,) * 10, tuple(range(10)), [], (), 0, 0, {}, False, 10.0)
NOTHING = Findings(0, 0, 0, 0, 0)
AGAINST = Conflict("number", "1", "2", 1, 0, 1)


def scored(held: int, findings: Findings, count: int = 1) -> float:
    return score_of(PARTS, [Window(0, at, at, (1 << held) - 1) for at in range(count)], findings)


@pytest.mark.parametrize(
    ("findings", "score"),
    [
        (NOTHING, 0.7),
        (NOTHING._replace(longest=1), 0.7),
        (NOTHING._replace(longest=2), 0.7 * 0.9),
        (NOTHING._replace(longest=5), 0.7 * 0.6),
        (NOTHING._replace(longest=6), 0.7 * 0.6),
        (NOTHING._replace(figures=0b1), 0.7 * 0.6),
        (NOTHING._replace(figures=0b11), 0.7 * 0.36),
        (NOTHING._replace(figures=0b111), 0.7 * 0.36),
        (NOTHING._replace(names=0b1), 0.7 * 0.7),
        (NOTHING._replace(names=0b111), 0.7 * 0.49),
        (NOTHING._replace(conflict=AGAINST), 0.7 * 0.8),
        (NOTHING._replace(heavy=0b1), 0.7),
    ],
)
def test_what_stands_against_a_claim_costs_its_share(findings: Findings, score: float) -> None:
    assert scored(7, findings) == pytest.approx(score)


def test_a_further_window_costs_a_little() -> None:
    assert [scored(10, NOTHING, count) for count in (1, 2, 3)] == [1.0, pytest.approx(0.98), pytest.approx(0.98**2)]


@pytest.mark.parametrize("findings", [NOTHING._replace(heavy=1), NOTHING._replace(gated=(Gated("modal", "may"),))])
def test_what_anything_stands_against_stays_below_the_threshold(findings: Findings) -> None:
    assert findings.stands_against
    assert scored(10, findings) == pytest.approx(THRESHOLD - 0.001)
    assert scored(9, findings) == pytest.approx(THRESHOLD * 0.99 - 0.001)
    assert not NOTHING.stands_against


def test_missing_words_that_stand_together_are_told_together() -> None:
    parts = windows("bamlomp banlomp, baplomp  barlomp 5 euro", "x.").parts
    assert missing_words(parts, parts.everything) == ("bamlomp banlomp", "baplomp", "barlomp 5 euro")
    assert missing_words(parts, 0b1) == ("bamlomp",)
    assert missing_words(parts, 0) == ()


def test_a_claim_of_eight_thousand_characters_is_the_longest() -> None:
    claim = "The desk opens at nine.".ljust(LONGEST_CLAIM)
    compared = LexicalScorer().compare([claim, f"{claim} "], [of("The desk opens at nine.")])
    assert (compared.each(0)[0].score, compared.each(1)[0]) == (1.0, NO_MATCH)


@pytest.mark.parametrize(
    ("claim", "score", "missing"),
    [
        ("The visit costs 5 euro.", 0.9, ()),
        ("The visit costs 6 euro.", 0.54, ("6 euro",)),
        ("A visit is not free and costs 5 euro.", 0.9, ()),
        ("Bananas.", 0.9, ()),
    ],
)
def test_the_gate_leaves_three_fifths_of_a_match_with_another_figure(claim: str, score: float, missing: tuple[str, ...]) -> None:
    match = Match(0.9, (Found(1, 0, 23, 0.9),))
    gated = gate(claim, [of("The visit costs 5 euro.")], match)
    assert (gated.score, gated.missing) == (pytest.approx(score), missing)


def test_the_gate_keeps_the_conflict_that_was_named_and_names_one_where_none_was() -> None:
    match, sources = Match(0.9, (Found(1, 0, 23, 0.9),)), [of("The visit is not free today.")]
    seen = gate("The visit is free today.", sources, match)
    assert (seen.score, seen.missing) == (pytest.approx(0.54), ())
    assert seen.conflict is not None
    assert seen.conflict.source == "not free"
    assert gate("The visit is free today.", sources, match._replace(conflict=AGAINST)).conflict == AGAINST


@pytest.mark.parametrize(
    ("before", "tongue", "is_one"),
    [
        ("x.   ", "en", False),  # the first word of a sentence
        ("x.    ", "en", True),
        ("x ", "en", True),
        ("", "en", False),
        ("x ", "de", False),
        ("x\n- ", "nl", False),
    ],
)
def test_a_capital_within_a_sentence_makes_a_name(before: str, tongue: str, is_one: bool) -> None:
    assert is_name(f"{before}Jansen", len(before), len(before) + 6, tongue) is is_one
    assert not is_name(f"{before}jansen", len(before), len(before) + 6, tongue)
    assert is_name(f"{before}jAnsen", len(before), len(before) + 6, tongue)


def test_what_is_no_claim_contradicts_nothing() -> None:
    comparison = LexicalScorer().compare(["a " * LONGEST_CLAIM], [Source(1, "The hall is not green.", ((0, 22),))])
    assert comparison.together(0, (0,)) == NO_MATCH
