"""Laws of the whole check: whatever the answer, whatever the sources."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.assembly.pipeline import assemble
from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import CheckedClaim, Verdict
from ctxasm.citations.grounds import grounds_of_assembly, grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.report import CheckedAnswer
from ctxasm.data.files import load_bundle
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.sentences import sentence_spans
from tests.examples import examples, few
from tests.fakes import FakeClock
from tests.growth import is_linear
from tests.strategies import COUNTER, Case, cases, settings_

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "hospital-nl"
CALM = settings(max_examples=examples(40), derandomize=True)
SENTENCES = (
    "De balie opent om zeven uur",
    "Parkeren kost twee euro per uur",
    "Parkeren kost 3 euro per uur",
    "Bezoek is niet toegestaan na 20.00 uur",
    "Kinderen mogen op zondag mee naar binnen",
    "Dokter Jansen leidt de poli sinds 3 mei 2019",
    "The desk opens at seven",
    "Hieronder staat het antwoord",
    "Ik kan deze vraag niet beantwoorden",
)
CLAIMS = st.tuples(st.sampled_from(SENTENCES), st.sampled_from(["", " [1]", " [2]", " [1][3]", " [2, 1]", " [7]", " [1][7]"])).map(
    lambda pair: f"{pair[0]}{pair[1]}."
)
ANSWERS = st.lists(CLAIMS, max_size=5).map(" ".join)
SOURCES = st.lists(st.lists(st.sampled_from(SENTENCES[:7]), max_size=4).map(lambda s: ". ".join(s) + "."), max_size=4).map(
    lambda texts: [{"n": number, "text": text} for number, text in enumerate(texts, 1)]
)


def check(answer: str, sources: list[dict[str, Any]], *, voice: bool = False, marked: bool = True) -> CheckedAnswer:
    return check_answer(answer, grounds_of_sources(sources), LexicalScorer(), voice=voice, marked=marked, clock=FakeClock())


def told(checked: CheckedAnswer) -> list[tuple[str, str, float]]:
    return [(claim.claim.text, claim.verdict, claim.score) for claim in checked.claims]


def check_claim(claim: CheckedClaim, checked: CheckedAnswer) -> None:
    assert claim.verdict in get_args(Verdict)
    assert 0 <= claim.score <= 1
    named = {*claim.claim.cited, *claim.claim.inherited}
    if claim.verdict == "supported":
        assert claim.score >= checked.threshold
        assert claim.support
        assert (claim.conflict, claim.idle, claim.better) == (None, (), None)
    if claim.verdict in ("unsupported", "no_source", "uncited", "unknown_marker", "dropped", "declined"):
        assert claim.support == () or claim.clauses
    assert (claim.conflict is not None) or claim.verdict != "contradicted"
    assert (claim.better is not None) == (claim.better_support is not None)
    assert (claim.better is not None) or claim.verdict != "elsewhere"
    assert (claim.summary_support is not None) == (claim.verdict == "prefix_only")
    assert not set(claim.idle) - set(claim.claim.cited)
    assert not set(claim.unknown) - set(claim.claim.cited)
    assert {source.number for source in claim.dropped} <= set(claim.unknown)
    assert {support.number for support in claim.support} <= named or not checked.marked
    assert claim.better not in named or claim.clauses or claim.claim.inherited


def check_laws(checked: CheckedAnswer) -> None:
    for claim in checked.claims:
        check_claim(claim, checked)
        assert not claim.claim.cited or not claim.claim.inherited
        assert len(claim.clauses) == len(claim.claim.clauses) != 1
        assert tuple(clause.claim for clause in claim.clauses) == claim.claim.clauses
        for clause in claim.clauses:
            check_claim(clause, checked)
            assert claim.claim.start <= clause.claim.start < clause.claim.end <= claim.claim.end
            assert clause.verdict == "supported" or claim.verdict != "supported"
    assert sum(checked.verdicts.values()) == len(checked.claims)
    found = checked.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@CALM
@given(ANSWERS, SOURCES, st.booleans(), st.booleans())
def test_verdicts_keep_their_word(answer: str, sources: list[dict[str, Any]], voice: bool, marked: bool) -> None:
    checked = check(answer, sources, voice=voice, marked=marked)
    check_laws(checked)
    assert checked.marked == (marked and not voice)
    assert checked.marked or not any(claim.claim.cited for claim in checked.claims)
    assert check(answer, sources, voice=voice, marked=marked) == checked


@CALM
@given(ANSWERS, SOURCES, st.randoms(use_true_random=False))
def test_the_order_of_sources_changes_no_verdict(answer: str, sources: list[dict[str, Any]], order: random.Random) -> None:
    shuffled = sources[:]
    order.shuffle(shuffled)
    assert told(check(answer, shuffled)) == told(check(answer, sources))


IRRELEVANT = (
    "The helicopter needs kerosene every morning.",
    "Der Hubschrauber braucht Kerosin.",
    "De helikopter tankt kerosine.",
    "",
    "5 % 12",
)


@CALM
@given(ANSWERS, SOURCES, st.sampled_from(IRRELEVANT))
def test_an_irrelevant_source_takes_no_support_away(answer: str, sources: list[dict[str, Any]], text: str) -> None:
    before, after = check(answer, sources), check(answer, [*sources, {"n": 99, "text": text}])
    for ours, theirs in zip(before.claims, after.claims, strict=True):
        assert theirs.verdict == "supported" or ours.verdict != "supported"


@CALM
@given(cases(), settings_(enabled=True), st.data())
def test_any_context_can_be_checked(case: Case, chosen: AssemblySettings, data: st.DataObject) -> None:
    assembly = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), data.draw(st.integers(1, 400)))
    text = assembly.text + " [1][2][3]. " + data.draw(st.text(max_size=20))
    check_laws(check_answer(text, grounds_of_assembly(assembly), LexicalScorer(), clock=FakeClock()))


@CALM
@given(st.text(max_size=80), st.lists(st.text(max_size=60), max_size=3), st.booleans())
def test_any_text_can_be_checked(answer: str, texts: list[str], voice: bool) -> None:
    check_laws(check(answer, [{"n": at, "text": text} for at, text in enumerate(texts, 1)], voice=voice))


def test_sentences_copied_from_the_cited_block_are_supported() -> None:
    """Of the sample's sentences, whatever stands around them in their block."""
    bundle = load_bundle(SAMPLE)
    refused, count = [], 0
    for chunk in few(bundle.chunks):
        sentences = [chunk.text[low:high] for low, high in sentence_spans(chunk.text)]
        whole = [" ".join(s.split()) for s in sentences if s.endswith(".") and len(s.split()) > 4 and "[" not in s]
        answer = " ".join(f"{sentence[:-1]} [1]." for sentence in whole)
        checked = check(answer, [{"n": 1, "text": chunk.text}])
        judged = [claim for claim in checked.claims if claim.claim.states and claim.verdict != "declined"]
        count += len(judged)
        refused += [claim for claim in judged if claim.verdict != "supported"]
    assert count > len(few(bundle.chunks))
    assert len(refused) <= count // 100, [(claim.claim.text, claim.verdict, claim.missing) for claim in refused]


HOSTILE = {
    "nothing": "",
    "blanks": " \n\t" * 30_000,
    "one word": "x" * 100_000,
    "digits": "9" * 100_000,
    "numbers": "12 345 " * 14_000,
    "stop words": "de het een van " * 7_000,
    "brackets": "[" * 20_000,
    "markers": "[1]" * 7_000,
    "denials": "niet " * 20_000,
    "clauses": "a, " * 30_000,
    "names": "Jan Piet Klaas " * 6_000,
    "one long sentence": "de balie opent om zeven uur en " * 3_300,
    "sentences": "De balie opent om zeven uur [1]. " * 400,
    "surrogates": "\ud800 \udfff\0\x01 " * 10_000,
    "any script": "".join(chr(0x100 + at * 37 % 0xD000) for at in range(60_000)),
}
EVIDENCE = [{"n": 1, "text": "De balie opent om zeven uur. Jan komt niet. Op 3 mei 2026 kost 12 345 euro. " * 40}]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_and_sources_take_bounded_time(text: str) -> None:
    def as_source(part: str) -> None:
        check_laws(check("De balie opent om zeven uur [1][2]. Jan komt niet [1].", [{"n": 1, "text": part}, {"n": 2, "text": part}]))

    assert is_linear(lambda part: check_laws(check(part, EVIDENCE)), text)
    assert is_linear(as_source, text)


def test_a_source_of_a_million_characters_is_read() -> None:
    text = "Elke dag komt er een nieuwe zin bij. " * 27_000 + "De balie opent om zeven uur."
    (claim,) = check("De balie opent om zeven uur [1].", [{"n": 1, "text": text}]).claims
    assert (claim.verdict, text[claim.support[0].start : claim.support[0].end]) == ("supported", "De balie opent om zeven uur.")


def test_a_refusal_supports_nothing_and_the_clock_counts_in_milliseconds() -> None:
    checked = check("Ik kan deze vraag niet beantwoorden.", [{"n": 1, "text": "De balie opent om zeven uur."}])
    assert [(one.verdict, one.score) for one in checked.claims] == [("declined", 0.0)]
    assert checked.elapsed_ms == pytest.approx(1.0)


PARKING, DESK = {"n": 1, "text": "Parkeren kost twee euro per uur."}, {"n": 2, "text": "De balie opent om zeven uur."}


@pytest.mark.parametrize(
    "answer",
    [
        "De context vermeldt geen prijs [1], en de balie opent om acht uur [2].",
        "De context vermeldt geen prijs [1] en de balie opent om acht uur [2].",
    ],
)
def test_a_clause_that_states_something_is_judged_beside_one_that_declines(answer: str) -> None:
    checked = check(answer, [PARKING, DESK])
    check_laws(checked)
    (claim,) = checked.claims
    assert claim.verdict == "contradicted"
    assert claim.clauses[-1].verdict == "contradicted"


def test_a_sentence_whose_clauses_all_decline_declines_as_one() -> None:
    checked = check("De context vermeldt geen prijs [1], en de bronnen zeggen niets over parkeren [2].", [PARKING, DESK])
    check_laws(checked)
    assert [(one.verdict, one.claim.cited, one.clauses) for one in checked.claims] == [("declined", (1, 2), ())]
