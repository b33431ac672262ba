"""Labelled claims to measure scorers on: cited-hagrid where it lies beside the project, and the probe claims. Each in two halves.

`tune` is for choosing thresholds, `judge` for reporting. A question of cited-hagrid is in one half only, by a digest of its text,
because one source and one claim may come back in several answers to it.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ctxasm.citations.agreement import AtThreshold, Judged, auc, bootstrap_auc, label_scores, precision_recall
from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.data.files.answers import read_answers
from ctxasm.model.messages import Cancel
from ctxasm.model.records import Answer
from ctxasm.model.support import Match, Scorer, Source, Spent
from tests.citations.probes_data import Half, Language, Probe, probes, words
from tests.real_data import real_folder

LANGUAGES: tuple[Language, ...] = ("nl", "en")


class Agreement(NamedTuple):
    """How a scorer agrees with people on one half of cited-hagrid. The interval is the middle 95 % over whole answers."""

    labels: int
    auc: float
    low: float
    high: float
    at_threshold: AtThreshold


def half_of(question: str) -> Half:
    """The half that a question is in."""
    return "judge" if int(hashlib.sha256(question.encode()).hexdigest(), 16) % 2 else "tune"


def hagrid() -> dict[Half, tuple[list[Answer], dict[str, str]]]:
    """The answers of each half, and the questions by query. Empty where the data is not there."""
    folder = real_folder()
    if folder is None or not (folder / "cited-hagrid").is_dir():
        return {}
    halves: dict[Half, tuple[list[Answer], dict[str, str]]] = {"tune": ([], {}), "judge": ([], {})}
    for asked in read_answers(folder / "cited-hagrid").answers:
        answers, questions = halves[half_of(asked.question)]
        answers.append(asked.answer)
        questions[asked.answer.query_id] = asked.question
    return halves


def with_uncited(answers: Sequence[Answer], others: bool) -> list[Answer]:
    """The answers with those labels alone whose claim leaves a source of its answer uncited; for `others=False` with the other ones."""

    def leaves(answer: Answer, label: Mapping[str, Any]) -> bool:
        return not {source["n"] for source in answer.sources} <= set(label["cites"])

    return [replace(answer, labels=tuple(label for label in answer.labels if leaves(answer, label) is others)) for answer in answers]


def agreement(judged: list[Judged], scorer: Scorer) -> Agreement:
    """The figures of scored labels."""
    value = auc([item.score for item in judged], [item.attributable for item in judged])
    interval = bootstrap_auc(judged)
    assert value is not None
    assert interval is not None
    return Agreement(len(judged), value, *interval, precision_recall(judged, scorer.threshold))


def hagrid_agreement(scorer: Scorer, half: Half = "judge") -> Agreement:
    """How a scorer agrees with the labels of one half."""
    answers, questions = hagrid()[half]
    return agreement(label_scores(answers, scorer, questions), scorer)


def overlap_agreement(half: Half = "judge") -> Agreement:
    """The yardstick: the share of a claim's lower-cased words that stand anywhere in the sources it cites."""
    answers, questions = hagrid()[half]
    return agreement(label_scores(answers, PlainOverlap(), questions), PlainOverlap())


class PlainOverlap:
    """A scorer that looks at nothing but words, all of them alike."""

    name, threshold, partly = "overlap", 0.78, 0.0

    def compare(self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None) -> Overlaps:
        return Overlaps([set(words(claim)) for claim in claims], [set(words(source.text)) for source in sources])


class Overlaps(NamedTuple):
    """The words of claims and of sources."""

    claims: list[set[str]]
    sources: list[set[str]]
    spent: Spent = Spent()

    def each(self, claim: int) -> list[Match]:
        return [self.together(claim, [at]) for at in range(len(self.sources))]

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        held = self.claims[claim] & set[str]().union(*(self.sources[at] for at in sources))
        return Match(len(held) / max(1, len(self.claims[claim])))


def called_supported(scorer: Scorer, language: Language, half: Half = "judge") -> dict[str, tuple[int, int]]:
    """Of the probes of each kind, how many are called supported, and how many there are."""
    found: dict[str, list[bool]] = defaultdict(list)
    for probe in probes(language, half):
        found[probe.kind].append(_is_called(scorer, probe))
    return {kind: (sum(called), len(called)) for kind, called in found.items()}


def _is_called(scorer: Scorer, probe: Probe) -> bool:
    """Whether the check of the claim with its markers behind it, as a whole answer, calls all of it supported."""
    grounds = grounds_of_sources(source._asdict() for source in probe.sources)
    answer = f"{probe.claim} {''.join(f'[{number}]' for number in probe.cites)}"
    claims = check_answer(answer, grounds, scorer, question=probe.question).claims
    return bool(claims) and all(claim.verdict == "supported" for claim in claims)
