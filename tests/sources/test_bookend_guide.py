"""The bookend guide: bookends, duplicates, a budget that skips, and the baseline it argues against."""

from __future__ import annotations

import pytest

from ctxasm.model.presets import preset
from ctxasm.model.records import Chunk, Hit
from ctxasm.stages.order import auto, bookend
from tests.sources.worked import LETTER, cited, fate, run, sized


def fit_chunks_to_budget(sizes: list[int], budget: int) -> list[int]:
    """The guide's function over sizes: the places of the chunks that fit."""
    fitted, used = [], 0
    for place, tokens in enumerate(sizes):
        if used + tokens <= budget:
            fitted.append(place)
            used += tokens
    return fitted


@pytest.mark.parametrize("budget", [500, 600, 750, 900])
@pytest.mark.parametrize("sizes", [(300, 400, 150, 100), (450, 60, 300, 40), (100, 700, 200, 300)])
def test_greedy_skip_takes_what_the_guide_takes(sizes: tuple[int, ...], budget: int) -> None:
    """What does not fit is passed over, never cut. (There it walks the bookend order, which drops the second best first; here by score.)"""
    chunks, hits = sized(dict(zip("abcd", sizes, strict=True)))
    done = run(chunks, hits, budget, **{**LETTER, "budget_policy": "greedy_skip"})
    assert cited(done) == ["abcd"[place] for place in fit_chunks_to_budget(list(sizes), budget)]
    assert not [f for f in done.trace.fates if f.fate == "truncated"]


def test_what_was_excluded_is_told_with_its_tokens() -> None:
    """The guide prints how many chunks and tokens were left out: an accounting per chunk here, with what it lacks."""
    chunks, hits = sized({"a": 300, "b": 400, "c": 150})
    done = run(chunks, hits, 500, **{**LETTER, "budget_policy": "greedy_skip"})
    left = fate(done, "b")
    assert (left.fate, left.reason, left.tokens) == ("dropped", "budget", 400)
    assert left.missing_tokens
    again = run(chunks, hits, 500 + left.missing_tokens, **{**LETTER, "budget_policy": "greedy_skip"})
    assert "b" in cited(again)


def test_five_blocks_are_bookended() -> None:
    """[A, B, C, D, E] → [A, C, D, E, B]."""
    assert bookend("ABCDE") == list("ACDEB")
    assert [bookend("ABCDEFG"[:n])[0] for n in range(1, 8)] == ["A"] * 7
    chunks, hits = sized(dict.fromkeys("abcde", 30))
    assert cited(run(chunks, hits, ordering="bookend", citation_unit="chunk")) == list("acdeb")


@pytest.mark.parametrize(("names", "order"), [("abc", "abc"), ("abcd", "acdb"), ("a", "a")])
def test_up_to_three_blocks_stand_by_relevance(names: str, order: str) -> None:
    assert auto(names) == list(order)
    chunks, hits = sized(dict.fromkeys(names, 30))
    assert cited(run(chunks, hits, ordering="auto", citation_unit="chunk")) == list(order)


def test_of_two_copies_the_better_scored_stays_and_is_found_despite_white_space_at_its_ends() -> None:
    text = "Een allergie voor contraststof meldt u op voorhand aan de arts."
    done = run([Chunk("a", 0, text + "\n"), Chunk("b", 0, "  " + text)], [Hit("a", 0, 0.4), Hit("b", 0, 0.9)])
    assert cited(done) == ["b"]
    assert fate(done, "a").of == ("b", 0)


def test_concatenate_and_send_is_the_baseline() -> None:
    """`assemble_context_naive`: retrieval order, nothing removed, no limit; the overshoot is shown."""
    chunks, hits = sized({"a": 300, "b": 400, "c": 150})
    done = run(chunks, hits, 500, **preset("baseline").changed())
    assert cited(done) == ["a", "b", "c"]
    assert done.overshoot_tokens == done.token_count - 500 > 0
