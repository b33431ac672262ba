"""The lexical gates as a second look at the match of a model: a model sees likeness, not that 45 minutes is not 30."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.findings import examine
from ctxasm.citations.lexical.parts import parts_of
from ctxasm.citations.lexical.scorer import missing_words
from ctxasm.citations.lexical.windows import Windows
from ctxasm.citations.lexical.words import Tongue, stems_of, tongue_of
from ctxasm.model.support import Match, Source
from ctxasm.text.sentences import sentence_spans

LOWERED = 0.6
"""What is left of the score of a match that something stands against: below the threshold of every scorer."""


@lru_cache(maxsize=64)
def _evidence(sources: tuple[Source, ...], tongue: Tongue) -> Evidence:
    """The sources taken apart; a check asks about the same ones for every claim."""
    return Evidence(sources, stems_of(tongue), sentence_spans)


def gate(claim: str, sources: Sequence[Source], match: Match) -> Match:
    """The match, lowered where a figure or name of the claim is not in the sources, or the sources say otherwise.

    Words that they do not have are no matter here: a model may know that they mean the same.
    """
    evidence = _evidence(tuple(sources), tongue_of((claim,), (source.text for source in sources)))
    windows = Windows(parts_of(claim, evidence), evidence)
    chosen = windows.choose(range(len(sources)))
    if not chosen:
        return match
    findings = examine(windows.parts, chosen, evidence)
    against = findings.figures | findings.names | findings.displaced
    if not against and findings.conflict is None:
        return match
    missing = tuple(dict.fromkeys((*match.missing, *missing_words(windows.parts, against))))
    return match._replace(score=match.score * LOWERED, missing=missing, conflict=match.conflict or findings.conflict)
