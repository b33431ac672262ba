"""Halves of characters: joined, or U+FFFD, however the text is cut into pieces."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ctxasm.llm.redaction import SurrogateJoiner, joined

PARTS = ["\ud83d", "\ude00", "\ud800", "\udfff", "😀", "\U0010ffff", "\U00010000", "a", "é", "\ufffd"]
TEXTS = st.lists(st.sampled_from(PARTS)).map("".join)


@given(TEXTS)
def test_the_text_is_what_utf_16_reads(text: str) -> None:
    assert joined(text) == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@given(TEXTS, st.lists(st.integers(0, 40)))
def test_any_split_gives_the_whole_text_with_at_most_one_character_held(text: str, cuts: list[int]) -> None:
    halves, given_so_far = SurrogateJoiner(), ""
    for low, high in pairwise(sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})):
        given_so_far += halves.feed(text[low:high])
        assert joined(text[:high]).startswith(given_so_far)
        assert len(joined(text[:high])) - len(given_so_far) <= 1
        given_so_far.encode()
    assert given_so_far + halves.rest() == joined(text)
    assert halves.rest() == ""
