"""Windows of sentences, and what is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.citations.scorers.base import MAX_SENTENCE_CHARS, Window, sentences_of, stop_if, windows_of
from ctxasm.model.characters import encodable
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.kept import Kept, key_of
from ctxasm.model.support import Source
from ctxasm.text.sentences import sentence_spans


def test_windows_stay_within_a_range_narrow_ones_first() -> None:
    spans = [[(0, 5), (6, 9), (10, 20)], [(30, 40)]]
    assert [(w.start, w.end) for w in windows_of(spans, 3)] == [(0, 5), (6, 9), (10, 20), (30, 40), (0, 9), (6, 20), (0, 20)]
    assert windows_of(spans, 2)[-1] == Window(6, 20, 1, 2)
    assert windows_of(spans, 3)[3] == Window(30, 40, 3, 1)


def test_wide_windows_step_and_miss_no_sentence() -> None:
    seven = [[(at * 10, at * 10 + 9) for at in range(7)], [(100, 110), (111, 120)]]
    assert [(w.first, w.sentences) for w in windows_of(seven, 3, 2)] == [(0, 3), (2, 3), (4, 3), (7, 2)]
    assert [(w.first, w.sentences) for w in windows_of([seven[0][:6]], 3, 2)] == [(0, 3), (2, 3), (3, 3)]
    assert windows_of([], 3, 2) == []


@given(st.text(alphabet="ab .\n\u2003", max_size=3000), st.data())
def test_sentences_hold_every_visible_character_of_the_evidence_and_are_short(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    ranges = tuple(zip(cuts[::2], cuts[1::2], strict=False))
    found = [span for part in sentences_of(Source(1, text, ranges), sentence_spans) for span in part]
    assert all(0 < end - start <= MAX_SENTENCE_CHARS for start, end in found)
    assert found == sorted(found)
    held = {at for start, end in found for at in range(start, end)}
    wanted = {at for low, high in ranges for at in range(low, high)}
    assert {at for at in wanted if not text[at].isspace()} <= held <= wanted


def test_a_long_sentence_is_cut_at_a_blank_or_anywhere() -> None:
    words = " ".join(["woord"] * 400)
    spans = sentences_of(Source(1, words, ((0, len(words)),)), lambda text: [(0, len(text))])[0]
    assert len(spans) > 3
    assert {words[start:end].replace("woord", "").strip() for start, end in spans} == {""}
    solid = sentences_of(Source(1, "x" * 1500, ((0, 1500),)), lambda text: [(0, len(text))])
    assert solid == [[(0, 600), (600, 1200), (1200, 1500)]]


@pytest.mark.parametrize(("blank", "cut"), [(301, 301), (300, 600), (299, 600)])
def test_a_blank_in_the_first_half_is_no_place_to_cut(blank: int, cut: int) -> None:
    text = f"{'x' * blank} {'x' * 700}"
    assert sentences_of(Source(1, text, ((0, len(text)),)), lambda text: [(0, len(text))])[0][0] == (0, cut)


def test_surrogates_become_readable_and_nothing_moves() -> None:
    assert encodable("a\ud800b") == "a\ufffdb"
    assert encodable("é🏥") == "é🏥"


def test_only_so_much_is_kept_and_what_was_used_stays() -> None:
    kept: Kept[int] = Kept(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert (kept.get("a"), kept.get("b"), kept.get("c"), len(kept)) == (1, None, 3, 2)
    assert key_of("a", "bc") != key_of("ab", "c")
    assert key_of("\ud800") != key_of("?")


def test_a_stop_is_said_in_one_sentence() -> None:
    stop_if(None)
    stop_if(lambda: False)
    with pytest.raises(ModelUnavailable, match=r"^the check was stopped on request before every claim was compared$"):
        stop_if(lambda: True)
