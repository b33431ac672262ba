"""Whether an answer is one to its question: a true sentence about something else answers nothing. A hint, never a certainty.

The evidence is what the answer shares with the question: its own words and those of the stretches that carry its claims, so that
"At 7.00 [1]" is not called strange to "When does the desk open?". Where an embedder is at hand it is asked about answers that share
few words. The thresholds were chosen on one half of four labelled sets, own answers beside answers to other questions; what they do
on the other half stands in the measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxasm.citations.checked import Addressed, CheckedClaim
from ctxasm.citations.grounds import Grounds
from ctxasm.citations.markers import parse_markers
from ctxasm.citations.plain_text import without_markers
from ctxasm.text.language import language_of
from ctxasm.text.terms import is_alike, terms_of

Likeness = Callable[[str, str], float | None]
"""The cosine of a question and a text; None for a language that the embedder does not know."""
SHARED = 0.3
"""An answer that shares less of the question's words is doubtful."""
NEAR_SHARED, NEAR = 0.4, 0.4
"""An embedder is asked where the first share is not reached; then an answer is doubtful whose cosine is below the second."""
ENOUGH = 16
"""Different words of an answer that are enough to tell, though no source carries it: a short one may say it in other words."""


def addressed(
    question: str, answer: str, claims: Sequence[CheckedClaim], grounds: Grounds, likeness: Likeness | None = None
) -> Addressed | None:
    """How near the answer is to the question; None where that cannot be told: either says nothing, it declines, their languages
    differ, or it is short and no source carries it.
    """
    asked = [*dict.fromkeys(terms_of(question))]
    stating = [claim for claim in claims if claim.verdict != "declined"]
    if not asked or not stating:
        return None
    bare = " ".join(without_markers(answer, parse_markers(answer)).split())
    sources = {ground.source.number: ground.source for ground in grounds.items}
    places = [[*claim.support, *((claim.better_support,) if claim.better_support else ())] for claim in stating]
    carried = [sources[place.number].text[place.start : place.end] for own in places for place in own]
    titles = {sources[place.number].title for own in places for place in own}
    whole = "\n".join((bare, *carried, *sorted(titles)))
    shared = round(_share(asked, whole), 4)
    told = 2 * sum(map(bool, places)) >= len(stating) or len({*terms_of(bare)}) >= ENOUGH
    if told and shared < NEAR_SHARED and likeness is not None and (near := likeness(question, whole)) is not None:
        return Addressed(round(near, 4), NEAR, "meaning")
    known = shared >= SHARED or (told and language_of(question) == language_of(bare))
    return Addressed(shared, SHARED) if known else None


def _share(asked: Sequence[str], text: str) -> float:
    said = {*terms_of(text)}
    return sum(max((is_alike(word, term) for term in said), default=0.0) for word in asked) / len(asked)
