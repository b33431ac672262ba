"""Scores, indexes, ranks and settings no one should send: one sentence, or a finite result."""

from __future__ import annotations

import json
import math

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.errors import InvalidInput, InvalidSetting
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.settings_text import from_assignments
from tests.fakes import FakeSource
from tests.strategies import COUNTER

SOURCE = FakeSource([Document("d")], [Chunk("d", index, f"Tekst nummer {index} van het document.") for index in range(5)], COUNTER)


def run(*hits: Hit, chosen: AssemblySettings | None = None):
    return assemble(Query("Wanneer?", hits), SOURCE, chosen or AssemblySettings(), COUNTER)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, True, "0.5", None])
def test_a_score_must_be_a_finite_number(score):
    with pytest.raises(InvalidInput, match=r"retrieved\[0\]\.score must be a finite number"):
        run(Hit("d", 1, score))


@pytest.mark.parametrize("index", [-1, True, "1", 1.0, None])
def test_an_index_must_be_a_whole_number(index):
    with pytest.raises(InvalidInput, match=r"retrieved\[0\]\.chunk_index"):
        run(Hit("d", index, 1.0))


@pytest.mark.parametrize("rank", [0, -1, True, 1.5, "1"])
def test_a_rank_must_be_a_whole_number_from_one(rank):
    with pytest.raises(InvalidInput, match=r"retrieved\[0\]\.rank"):
        run(Hit("d", 1, 1.0, rank))


@pytest.mark.parametrize("score", [-0.0, 5e-324, 1e308, -1e308, -1])
@pytest.mark.parametrize("mode", ["flat", "per_step"])
def test_extreme_scores_stay_finite_and_no_neighbour_outranks_its_hit(score, mode):
    done = run(Hit("d", 2, score), chosen=AssemblySettings(decay=0.01, decay_mode=mode, expand_window=3))
    assert [fate.fate for fate in done.trace.fates] == ["kept"] * 5
    assert all(math.isfinite(fate.score) and fate.score <= score for fate in done.trace.fates)
    json.dumps(done.to_dict(), allow_nan=False)


def test_a_thousand_hits_repeated_or_missing_have_one_fate_each():
    assert len(run(*[Hit("d", at % 5, at / 7) for at in range(1000)]).trace.fates) == 5
    gone = run(*[Hit(f"x{at}", 2**63 + at, at / 7) for at in range(1000)])
    assert {fate.reason for fate in gone.trace.fates} == {"missing"}
    assert (len(gone.trace.fates), gone.text) == (1000, "")


@pytest.mark.parametrize(
    "assignment",
    ["max_tokens=1e3", "max_tokens=0x1F4", "max_tokens=900.0", "max_tokens=nan", "max_tokens=499", "max_tokens=16001", "max_tokens=",
     "max_tokens=" + "9" * 5000, "decay=0", "decay=nan", "decay=inf", "decay=1e-400", "decay=0x1", "top_k=0", "top_k=-1", "expand_window=4",
     "expand_window=²", "min_overlap_chars=1001", "enabled=maybe", "decay_mode=Flat", "summary_template=x", "gap_mark=" + "x" * 501,
     "gap_mark=\0", "gap_mark=\ud800", "encoding=gpt2", "citation_unit=chunk ", "max_tokens=900=900", "MAX_TOKENS=900", "=1", "nope=1"],
)  # fmt: skip
def test_a_setting_out_of_range_is_one_sentence(assignment):
    with pytest.raises(InvalidSetting) as caught:
        from_assignments([assignment])
    assert "must be" in str(caught.value)
    assert "\n" not in str(caught.value)
