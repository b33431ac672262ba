"""Fits the weights of the default check: `python -m tests.bench.fit_decision` writes `decision.json` and prints what it gives.

Fitted on the thirds of the probe claims that may be read, on the halves for tuning of the older probes and of cited-hagrid, and on false
claims made by rule out of the true merged ones. Those are needed: nearly all true claims of the collections that are not literal span
several sentences, and few of the false ones do, so a fit without them learns that a long merged claim is true whatever was changed in it.

The unread thirds and the other half of cited-hagrid are for reporting: `python -m tests.bench.fit_decision report`. The curve that is
printed first is of claims of collections that were left out of the fit.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from ctxasm.citations.agreement import ATTRIBUTABLE, is_label, without_markers
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import decision
from ctxasm.citations.lexical.evidence import Evidence, clause_spans
from ctxasm.citations.lexical.findings import compare_parts
from ctxasm.citations.lexical.lexicon import operator_phrases
from ctxasm.citations.lexical.operators import read_operators
from ctxasm.citations.lexical.parts import parts_of
from ctxasm.citations.lexical.quantities import read_quantities
from ctxasm.citations.lexical.scorer import THRESHOLD, is_close, score_of
from ctxasm.citations.lexical.windows import Windows, union
from ctxasm.citations.lexical.words import Word, read_words, stems_of, tongue_of
from ctxasm.model.support import Source
from ctxasm.text.sentences import sentence_spans
from tests.bench.support_data import hagrid
from tests.citations.operator_probes import ANEW, BLIND, CLOSE, EVEN, LATER, LIMITS, LONG, WRITTEN, OperatorProbe, Third, written
from tests.citations.probes_data import probes

COLLECTIONS = (WRITTEN, LIMITS, BLIND, LATER, LONG, CLOSE, EVEN, ANEW)
OUT = Path(decision.__file__).with_name("decision.json")
EDITED_WEIGHT = 0.3
"""Of a claim made by rule beside one that was written: some of them are true after all."""
PENALTY = 5.0
LEAST_CLAIMS = 8
"""A sort of difference that fewer claims have gets no weight."""
STEPS = 400
Shares = tuple[float, float]
STRICT: Shares = (0.003, 0.015)
"""Of all false claims of the fit, how many each certainty lets through of those that follow one sentence in other words, and of those that
are joined from several: what chooses the two limits."""
USUAL = (0.76, 0.74)
"""The limits of "usual": of the labels of the tuning half that are called supported .95 are right, a tenth of the false claims is."""
CURVE: tuple[Shares, ...] = (
    (0.003, 0.01),
    (0.003, 0.015),
    (0.003, 0.02),
    (0.003, 0.025),
    (0.003, 0.03),
    (0.01, 0.02),
    (0.02, 0.025),
    (0.025, 0.03),
    (0.04, 0.04),
)
NOT = {"en": "not", "nl": "niet", "de": "nicht"}
TURNING = frozenset(("hedge", "exception", "condition", "time", "cause", "modal"))


class Example(NamedTuple):
    """A labelled claim. `amounts` are its differences; None where it is refused without a look at them, empty where it has none."""

    collection: str
    language: str
    kind: str
    true: bool
    amounts: dict[str, float] | None


def example(collection: str, language: str, kind: str, true: bool, claim: str, sources: Sequence[Source]) -> Example:
    """What the check sees of a claim before it decides."""
    evidence = Evidence(sources, stems_of(tongue_of((claim,), (source.text for source in sources))), sentence_spans)
    parts = parts_of(claim, evidence)
    windows = Windows(parts, evidence).choose(range(len(sources)))
    found: dict[str, float] | None = None
    if windows and is_close(parts, union(windows)):
        findings, differing = compare_parts(parts, windows, evidence)
        if not findings.stands_against and score_of(parts, windows, findings) >= THRESHOLD:
            found = decision.amounts(differing)
    return Example(collection, language, kind, true, found)


def of_probe(file: Path, probe: OperatorProbe) -> Example:
    source = Source(1, probe.text, ((0, len(probe.text)),))
    return example(file.stem, probe.language, probe.kind if probe.true else "false", probe.true, probe.claim, [source])


@cache
def of_collections(third: Third) -> tuple[Example, ...]:
    """The probes of the eight collections."""
    return tuple(of_probe(file, probe) for file in COLLECTIONS for probe in written(third, file))


def of_tuning() -> Iterator[Example]:
    """The older probes and the labels of people, of the halves for tuning."""
    for language in ("nl", "en"):
        for probe in probes(language, "tune"):  # type: ignore[arg-type]
            sources = [Source(one.n, one.text, ((0, len(one.text)),), one.title) for one in probe.sources if one.n in probe.cites]
            yield example("probes", language, probe.kind, probe.true, probe.claim, sources)
    for answer in hagrid()["tune"][0]:
        by_number = {source.number: source for source in grounds_of_sources(answer.sources).sources}
        for label in answer.labels:
            cited = [by_number[number] for number in label.get("cites", ()) if number in by_number]
            if is_label(label) and cited:
                yield example("hagrid", "en", "label", label["support"] == ATTRIBUTABLE, without_markers(label["claim"]), cited)


def of_edits() -> Iterator[Example]:
    """False claims made by rule out of the true merged ones."""
    for file in COLLECTIONS:
        for probe in written("read", file):
            if probe.kind == "merged":
                source = Source(1, probe.text, ((0, len(probe.text)),))
                for claim in edits(probe, Random(probe.claim)):
                    yield example(file.stem, probe.language, "edited", False, claim, [source])


def edits(probe: OperatorProbe, random: Random) -> Iterator[str]:
    """A merged claim with an operator replaced or left out, a denial put in, two words, names or figures exchanged, or a strange word."""
    claim, stems = probe.claim, stems_of(probe.language)  # type: ignore[arg-type]
    figures = read_quantities(claim)
    by_kind: dict[str, dict[str, list[str]]] = {}
    for kind, value, phrase in operator_phrases(probe.language):
        if kind != "none" and not any(sign in phrase for sign in "*#."):
            by_kind.setdefault(kind, {}).setdefault(value, []).append(phrase.replace("_", " "))
    spans = [(figure.start, figure.end) for figure in figures]
    operators = [op for op in read_operators(claim, 0, len(claim), stems.tongue, spans) if op.kind in by_kind]
    if operators:
        op = random.choice(operators)
        others = [value for value in by_kind[op.kind] if value != op.value]
        if others:
            yield put(claim, op.start, op.end, random.choice(by_kind[op.kind][random.choice(others)]))
        op = random.choice(operators)
        if op.kind in TURNING or op.value in ("only", "some", "most", "usual"):
            yield " ".join(put(claim, op.start, op.end, "").split())
    words = list(read_words(claim, 0, len(claim), stems))
    heavy = [word for word in words if word.key not in stems.light and not word.key[0].isdigit()]
    if len(heavy) > 1:
        at = random.choice(heavy[1:]).start
        yield f"{claim[:at]}{NOT[probe.language]} {claim[at:]}"
    names = [word for word in heavy if claim[word.start].isupper()]
    firsts = [next((word for word in heavy if low <= word.start < high), None) for low, high in clause_spans(claim, 0, len(claim))]
    for pool in (names, heavy, [word for word in firsts if word is not None]):
        if len({word.key for word in pool}) > 1:
            one, other = exchanged_pair(pool, random)
            yield exchange(claim, (one.start, one.end), (other.start, other.end))
    here = {word.key for word in words}
    strange = [word for word in read_words(probe.text, 0, len(probe.text), stems) if word.key not in here | stems.light]
    if heavy and strange:
        word, other = random.choice(heavy), random.choice(strange)
        yield put(claim, word.start, word.end, probe.text[other.start : other.end])
    pairs = [(a, b) for at, a in enumerate(figures) for b in figures[at + 1 :] if a.kind == b.kind and a.unit == b.unit and not a.agrees(b)]
    if pairs:
        a, b = random.choice(pairs)
        yield exchange(claim, (a.start, a.end), (b.start, b.end))


def exchanged_pair(pool: Sequence[Word], random: Random) -> tuple[Word, Word]:
    """Two words that are not forms of one."""
    one = random.choice(pool)
    return one, random.choice([word for word in pool if word.key != one.key])


def put(text: str, start: int, end: int, words: str) -> str:
    return text[:start] + words + text[end:]


def exchange(text: str, one: tuple[int, int], other: tuple[int, int]) -> str:
    (a, b), (c, d) = sorted((one, other))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


class Fit(NamedTuple):
    """Weights by sort, the bias, and the two limits for each pair of shares."""

    weights: dict[str, float]
    bias: float
    limits: dict[Shares, tuple[float, float]]

    def risk(self, claim: Example) -> float:
        assert claim.amounts is not None
        total = self.bias + sum(self.weights.get(sort, 0.0) * amount for sort, amount in claim.amounts.items())
        return float(1 / (1 + np.exp(-total))) if claim.amounts else 0.0

    def carries(self, claim: Example, shares: Shares) -> bool:
        return claim.amounts is not None and self.risk(claim) < self.limits[shares]["reworded" not in claim.amounts]


def fit(examples: Sequence[Example], curve: Iterable[Shares] = (STRICT,)) -> Fit:
    """Logistic regression with no weight below zero (projected gradient), and limits that let these shares of the false claims pass."""
    seen = [one for one in examples if one.amounts]
    counts = Counter(sort for one in seen for sort in one.amounts or ())
    sorts = sorted(sort for sort, count in counts.items() if count >= LEAST_CLAIMS)
    table = np.array([[(one.amounts or {}).get(sort, 0.0) for sort in sorts] for one in seen])
    scale = np.maximum(table.std(0), 0.15)
    table = np.hstack([table / scale, np.ones((len(seen), 1))])
    wanted = np.array([not one.true for one in seen], float)
    counted = np.array([EDITED_WEIGHT if one.kind == "edited" else 1.0 for one in seen])
    step = 1 / (0.25 * np.linalg.eigvalsh((table * counted[:, None]).T @ table)[-1] + PENALTY)
    theta = ahead = np.zeros(len(sorts) + 1)
    pace = 1.0
    for _ in range(STEPS):
        slope = table.T @ (counted * (1 / (1 + np.exp(-table @ ahead)) - wanted))
        slope[:-1] += PENALTY * ahead[:-1]
        new = ahead - step * slope
        new[:-1] = np.maximum(new[:-1], 0)
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead, theta, pace = new + (pace - 1) / faster * (new - theta), new, faster
    weights = {sort: round(float(weight), 3) for sort, weight in zip(sorts, theta[:-1] / scale, strict=True) if weight > 0.005}
    found = Fit(weights, round(float(theta[-1]), 3), {})
    false = [one for one in examples if not one.true and one.kind != "edited" and one.collection != "hagrid"]
    risks = [sorted(found.risk(one) for one in false if one.amounts and ("reworded" in one.amounts) is alone) for alone in (True, False)]
    limits = {
        shares: tuple(each[min(len(each) - 1, int(share * len(false)))] for each, share in zip(risks, shares, strict=True))
        for shares in curve
    }
    return found._replace(limits=limits)


def line(name: str, called: Sequence[tuple[Example, bool]]) -> str:
    """Of each kind in each language, how many are called supported."""
    cells = []
    for kind in ("false", "verbatim", "merged", "paraphrase", "edited"):
        for languages in (("en", "nl", "de"), ("en",), ("nl",), ("de",)):
            here = [carried for one, carried in called if one.kind == kind and one.language in languages]
            if here:
                cells.append(f"{'' if len(languages) == 1 else kind + ' '}{sum(here)}/{len(here)} {100 * sum(here) / len(here):.1f} %")
    return f"{name}: {', '.join(cells)}"


def left_out(examples: Sequence[Example]) -> Iterator[str]:
    """The curve: each collection judged by a fit on all the others."""
    fits = {file.stem: fit([one for one in examples if one.collection != file.stem], CURVE) for file in COLLECTIONS}
    judged = [one for one in examples if one.collection in fits]
    for shares in CURVE:
        yield line(
            f"limits at {shares} of the false claims of the fit", [(one, fits[one.collection].carries(one, shares)) for one in judged]
        )


def main(report: bool) -> None:
    examples = [*of_collections("read"), *of_tuning(), *of_edits()]
    print(*left_out(examples), sep="\n")
    found = fit(examples)
    limits = {"strict": [round(limit, 4) for limit in found.limits[STRICT]], "usual": list(USUAL)}
    data: dict[str, Any] = {"bias": found.bias, "limits": limits, "weights": dict(sorted(found.weights.items(), key=lambda item: -item[1]))}
    OUT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    usual = found._replace(limits={STRICT: USUAL})
    for certainty, each in (("strict", found), ("usual", usual)) if report else ():
        print(line(f"unread thirds, {certainty}", [(one, each.carries(one, STRICT)) for one in of_collections("unread")]))


if __name__ == "__main__":
    main("report" in sys.argv)
