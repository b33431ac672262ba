"""What the answer should have said: what somebody says, else what the labels of its question expect, else its own doubtful claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ctxasm.citations.axes import axes_of
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.citations.claims import split_claims
from ctxasm.citations.declined import is_declined
from ctxasm.model.results import Key
from ctxasm.tuning.evidence import Evidence, Place, StoredChunks
from ctxasm.tuning.why.results import FactKind

MOST_FACTS = 20
"""Facts that are followed; more are told by none."""
DOUBTFUL = frozenset({"not_found", "partly", "contradicted"})
MISCITED = frozenset({"wrong_number", "missing", "unknown", "dropped"})


@dataclass(frozen=True, slots=True)
class Fact:
    """`ways` are the texts by which an expected passage is found, each with the chunks that hold it, and `piece` is its place among the
    pieces of evidence; `claim` is the answer's own."""

    text: str
    kind: FactKind
    ways: tuple[tuple[str, tuple[Key, ...]], ...] = ()
    claim: CheckedClaim | None = None
    piece: int | None = None


def facts_of(
    said: str | None, evidence: Evidence, stored: Mapping[str, StoredChunks], reference: str, checked: CheckedAnswer
) -> tuple[Fact, ...]:
    """The facts, by the first of these that there is: what is said, the expected passages, the reference answer, doubtful claims."""
    if said is not None:
        return tuple(Fact(text, "said") for text in _statements(said) or [said.strip()])[:MOST_FACTS]
    pieces = [tuple(way for place in places if (way := _way(place, stored))[0].strip()) for places in evidence.pieces()]
    if expected := [Fact(ways[0][0], "expected", ways, piece=at) for at, ways in enumerate(pieces) if ways]:
        return tuple(expected[:MOST_FACTS])
    if stated := _statements(reference):
        return tuple(Fact(text, "reference") for text in stated)[:MOST_FACTS]
    doubtful = [claim for claim in checked.claims if claim.claim.states and _is_doubtful(claim, checked)]
    return tuple(Fact(claim.claim.text, "claim", claim=claim) for claim in doubtful)[:MOST_FACTS]


def _statements(text: str) -> list[str]:
    return [claim.text for claim in split_claims(text, ()) if claim.states and not is_declined(claim.text)]


def _is_doubtful(claim: CheckedClaim, checked: CheckedAnswer) -> bool:
    axes = axes_of(claim, checked)
    return axes.support in DOUBTFUL or axes.citation in MISCITED


def _way(place: Place, stored: Mapping[str, StoredChunks]) -> tuple[str, tuple[Key, ...]]:
    """The text of a place, from the chunks that hold it, what they share once."""
    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in stored.get(place.document_id, ())}
    if place.start is None or place.end is None:
        return "\n".join(texts.get(held.key, "")[held.start : held.end] for held in place.holding), tuple(
            held.key for held in place.holding
        )
    said, reached = "", place.start
    for held in sorted(place.holding, key=lambda held: (held.start, held.end)):
        low, high = max(held.start, reached), min(held.end, place.end)
        if low < high:
            said += texts.get(held.key, "")[low - held.start : high - held.start]
            reached = high
    return said, tuple(held.key for held in place.holding)
