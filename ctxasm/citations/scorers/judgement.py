"""What a judge said of one claim, read as matches: every quote is looked up, and what does not stand there is dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, cast

from ctxasm.citations.scorers.base import Gate, ModelComparison
from ctxasm.citations.scorers.judging import KINDS, VERDICTS
from ctxasm.citations.scorers.quotes import locate_quote, locate_words
from ctxasm.model.support import NO_MATCH, Conflict, ConflictKind, Found, Match, Source, Spent

FULL, PART = 1.0, 0.5
Data = Mapping[str, Any]
Span = tuple[int, int]


def judgements_of(data: Data, claims: int) -> dict[int, Data] | None:
    """What a reply says of each of so many claims, by position: the first word on each. None where it has not the form of
    judging.SCHEMA; whoever asked may not have checked it."""
    entries = data.get("claims")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and _is_judgement(entry) for entry in entries):
        return None
    found: dict[int, Data] = {}
    for entry in entries:
        if 1 <= entry["claim"] <= claims:
            found.setdefault(entry["claim"] - 1, {"sources": entry["sources"], "together": entry["together"]})
    return found


def _is_judgement(data: Data) -> bool:
    entries, together = data.get("sources"), data.get("together")
    return (
        type(data.get("claim")) is int
        and isinstance(entries, list)
        and all(isinstance(entry, dict) and _is_entry(entry) for entry in entries)
        and isinstance(together, list)
        and all(type(number) is int for number in together)
    )


def _is_entry(entry: Data) -> bool:
    texts, missing = ("verdict", "quote", "conflict_kind", "conflict_claim", "conflict_source"), entry.get("missing")
    return (
        type(entry.get("source")) is int
        and all(isinstance(entry.get(name), str) for name in texts)
        and entry["verdict"] in VERDICTS
        and isinstance(missing, list)
        and all(isinstance(words, str) for words in missing)
    )


class Judgement:
    """A reply by position of the sources; `order` says which position the judge knew as 1, 2, …"""

    def __init__(self, data: Data, order: Sequence[int]) -> None:
        self.entries: dict[int, Data] = {}
        for entry in data["sources"]:
            if 1 <= entry["source"] <= len(order):
                self.entries.setdefault(order[entry["source"] - 1], entry)
        self.together = frozenset(order[number - 1] for number in data["together"] if 1 <= number <= len(order))


class _Reading(NamedTuple):
    """A match of one source, and which characters of the claim it does not state."""

    match: Match
    missing: tuple[Span, ...] = ()


class JudgeComparison(ModelComparison):
    """Claims by what was said of them; a claim without a judgement matches nothing."""

    def __init__(
        self,
        claims: Sequence[str],
        sources: Sequence[Source],
        judged: Mapping[str, Judgement],
        partly: float,
        gate: Gate | None,
        spent: Spent,
    ) -> None:
        super().__init__(claims, sources, partly, gate, spent)
        self._judged = judged
        self._readings: dict[str, list[_Reading]] = {}

    def _compared(self, claim: str, chosen: Sequence[int]) -> Match:
        """All that carry the claim in full; else those that do so jointly; else the parts."""
        judgement = self._judged.get(claim)
        if judgement is None:
            return NO_MATCH
        if claim not in self._readings:
            self._readings[claim] = [_read(claim, source, judgement.entries.get(at)) for at, source in enumerate(self._sources)]
        readings = self._readings[claim]
        matches = [readings[at].match for at in chosen]
        if full := [match for match in matches if match.score == FULL]:
            return Match(FULL, tuple(found for match in full for found in match.found))
        parts = {at: readings[at] for at in chosen if readings[at].match.score == PART}
        if len(judgement.together) > 1 and judgement.together <= parts.keys():
            return Match(FULL, tuple(found for at in chosen if at in judgement.together for found in readings[at].match.found))
        conflict = next((match.conflict for match in matches if match.conflict is not None), None)
        found = tuple(found for reading in parts.values() for found in reading.match.found)
        lacking = [reading.missing for reading in parts.values()] or [readings[at].missing for at in chosen if readings[at].missing]
        return Match(PART if parts else 0.0, found, _missing_everywhere(claim, lacking), conflict)


def _read(claim: str, source: Source, entry: Data | None) -> _Reading:
    """What an entry proves. No quote in the evidence: nothing."""
    spans = locate_quote(entry["quote"], source) if entry is not None else ()
    if entry is None or not spans or entry["verdict"] == "none":
        return _Reading(NO_MATCH)
    located = (locate_words(words, claim, ((0, len(claim)),)) for words in entry["missing"])
    missing = tuple(sorted({span for span in located if span is not None}))
    words = tuple(claim[start:end] for start, end in missing)
    if entry["verdict"] == "contradicts":
        return _Reading(Match(0.0, (), words, _conflict(claim, source, entry, spans)), missing)
    score = FULL if entry["verdict"] == "full" and not entry["missing"] else PART
    return _Reading(Match(score, tuple(Found(source.number, *span, score) for span in spans), words), missing)


def _conflict(claim: str, source: Source, entry: Data, spans: Sequence[Span]) -> Conflict | None:
    """The conflict, where its words stand in the claim and in the quote and differ."""
    ours = locate_words(entry["conflict_claim"], claim, ((0, len(claim)),))
    theirs = locate_words(entry["conflict_source"], source.text, spans)
    if ours is None or theirs is None or entry["conflict_kind"] not in KINDS:
        return None
    here, there = claim[slice(*ours)], source.text[slice(*theirs)]
    if here.casefold() == there.casefold():
        return None
    return Conflict(cast(ConflictKind, entry["conflict_kind"]), here, there, source.number, *theirs)


def _missing_everywhere(claim: str, lacking: Sequence[Sequence[Span]]) -> tuple[str, ...]:
    """The stretches of the claim that all of some sources lack."""
    sets = [{at for start, end in spans for at in range(start, end)} for spans in lacking]
    places = sorted(set.intersection(*sets)) if sets else []
    runs = [[at for _, at in run] for _, run in groupby(enumerate(places), key=lambda item: item[1] - item[0])]
    words = (claim[run[0] : run[-1] + 1].strip() for run in runs)
    return tuple(dict.fromkeys(word for word in words if any(map(str.isalnum, word))))
