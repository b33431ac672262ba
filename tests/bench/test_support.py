"""The figures of the default check, by half: `pytest -m bench -s tests/bench/test_support.py`.

Agreement with the labels of people beside plain word overlap, reliability by score, probe claims, and the time of a long check.
CTXASM_HALF=tune leaves the half for reporting alone, for whoever is still choosing.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping

import pytest

from ctxasm.citations.agreement import Bin, label_scores, reliability
from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_assembly
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.lexical.words import stems_of
from ctxasm.data.files import load_bundle
from ctxasm.text.tokens.vocabulary import load_encoding
from tests.bench.corpora import SAMPLE, bundles
from tests.bench.long_answers import BLOCKS, SENTENCES, LongAnswer, long_answer
from tests.bench.support_data import LANGUAGES, agreement, called_supported, hagrid, overlap_agreement, with_uncited
from tests.bench.tables import show
from tests.citations.probes_data import HALVES, KINDS, TRUE_KINDS, Half

pytestmark = pytest.mark.bench
ENCODING = load_encoding("cl100k_base")
RUNS = 20
WIDTH = 40
SHOWN: tuple[Half, ...] = tuple(half for half in HALVES if os.environ.get("CTXASM_HALF", half) == half)


def test_agreement_with_the_labels_of_people(capsys):
    if not hagrid():
        pytest.skip("cited-hagrid is not beside the project")
    scorer, rows = LexicalScorer(), []
    bins: dict[Half, list[Bin]] = {}
    for half in SHOWN:
        judged = label_scores(hagrid()[half][0], scorer, hagrid()[half][1])
        bins[half], found, plain = reliability(judged), agreement(judged, scorer), overlap_agreement(half)
        at = found.at_threshold
        right = round((at.precision or 0) * at.called)
        rows.append(
            [
                half,
                found.labels,
                at.attributable,
                found.auc,
                f"{found.low:.3f}–{found.high:.3f}",
                plain.auc,
                f"{plain.low:.3f}–{plain.high:.3f}",
                f"{at.precision:.3f} ({right}/{at.called})",
                f"{at.recall:.3f} ({right}/{at.attributable})",
            ]
        )
    columns = ("half", "labels", "attributable", "AUC", "95 %", "word overlap: AUC", "95 %", "supported: precision", "recall")
    with capsys.disabled():
        show("Support on cited-hagrid, default scorer", columns, rows)
        for half, each in bins.items():
            plot(f"Reliability, {half} half: share of attributable claims by score (| where the score says)", each)


def test_agreement_where_another_source_could_have_been_cited(capsys):
    if not hagrid():
        pytest.skip("cited-hagrid is not beside the project")
    scorer, rows = LexicalScorer(), []
    for half in SHOWN:
        answers, questions = hagrid()[half]
        for others in (True, False):
            found = agreement(label_scores(with_uncited(answers, others), scorer, questions), scorer)
            share = found.at_threshold.attributable / found.labels
            rows.append([half, "yes" if others else "no", found.labels, share, found.auc, f"{found.low:.3f}–{found.high:.3f}"])
    columns = ("half", "the answer has a source that the claim does not cite", "labels", "attributable", "AUC", "95 %")
    with capsys.disabled():
        show("Support on cited-hagrid by whether the source may be the wrong one, default scorer", columns, rows)


def plot(title: str, bins: list[Bin]) -> None:
    """A table whose last column is a picture."""
    rows = []
    for each in bins:
        bar = list("█" * round((each.share or 0) * WIDTH) + " " * (WIDTH + 1 - round((each.share or 0) * WIDTH)))
        bar[round((each.low + each.high) / 2 * WIDTH)] = "|"
        rows.append([f"{each.low:.1f}–{each.high:.1f}", each.count, "" if each.share is None else each.share, "".join(bar)])
    show(title, ("score", "labels", "attributable", "0" + " " * (WIDTH - 1) + "1"), rows)


def test_probe_claims_called_supported(capsys):
    scorer, rows = LexicalScorer(), []
    for half in SHOWN:
        for language in LANGUAGES:
            called = called_supported(scorer, language, half)
            true = [called[kind] for kind in TRUE_KINDS]
            false = [called[kind] for kind in KINDS if kind not in TRUE_KINDS]
            kinds = [f"{called[kind][0]}/{called[kind][1]}" for kind in KINDS]
            rows.append([half, language, *kinds, *(f"{sum(c for c, _ in side)}/{sum(n for _, n in side)}" for side in (true, false))])
    with capsys.disabled():
        show("Probe claims called supported: the first three kinds are true", ("half", "", *KINDS, "true", "false"), rows)


def test_time_of_a_long_check(capsys):
    rows = []
    for bundle in bundles():
        long = long_answer(bundle)
        text, grounds = long.assembly.text, grounds_of_assembly(long.assembly)
        checked = check_answer(long.text, grounds, LexicalScorer())
        times = processor_times(
            {
                "tokens": lambda text=text: ENCODING.encode_ordinary(text),
                "warm": lambda long=long: check(long),
                "cold": lambda long=long: (stems_of.cache_clear(), check(long)),
            }
        )
        verdicts = ", ".join(f"{count} {name}" for name, count in sorted(checked.verdicts.items(), key=lambda item: -item[1]))
        rows.append(
            [
                bundle.name,
                long.assembly.token_count,
                len(checked.claims),
                times["tokens"],
                times["warm"],
                times["warm"] / times["tokens"],
                times["cold"],
                times["cold"] / times["tokens"],
                verdicts,
            ]
        )
    columns = ("corpus", "tokens", "claims", "tokenising ms", "check ms", "ratio", "stems forgotten ms", "ratio", "verdicts")
    with capsys.disabled():
        show(f"Checking {SENTENCES} sentences against {BLOCKS} blocks, processor ms, new scorer and grounds each time", columns, rows)


def processor_times(contestants: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Median milliseconds of this process's own time, in turns: what else the machine does counts little."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(-2, RUNS):
        for name, run in contestants.items():
            began = time.process_time()
            run()
            if number >= 0:
                times[name].append((time.process_time() - began) * 1000)
    return {name: statistics.median(each) for name, each in times.items()}


def check(long: LongAnswer) -> object:
    """Nothing is kept from the check before, but the stems of single words that the process remembers."""
    return check_answer(long.text, grounds_of_assembly(long.assembly), LexicalScorer())


def test_a_long_answer_is_what_it_says():
    long = long_answer(load_bundle(SAMPLE))
    checked = check(long)
    assert len(long.assembly.citations) == BLOCKS
    assert len(checked.claims) >= SENTENCES - 2
    assert checked.verdicts["supported"] >= SENTENCES // 3
    assert not any(claim.unknown for claim in checked.claims)
