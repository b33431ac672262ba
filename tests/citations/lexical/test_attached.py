"""How near before what is new in a sentence an article makes it the same again."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical.attached import find_untied
from tests.citations.lexical.test_operators import matter

CLAIM = "Sable of the old red harbour mill town reaches 66 viewers."
REST = "Sable of the old red harbour mill town is a channel."


@pytest.mark.parametrize(("begins", "is_refused"), [("The company", False), ("Its company", True), ("Breathe company", True)])
def test_an_article_at_the_very_beginning_makes_what_follows_the_same_again(begins: str, is_refused: bool) -> None:
    assert bool(list(find_untied(matter(CLAIM, f"{begins} reaches 66 viewers. {REST}", "en")))) is is_refused
