"""The probe claims are what their README says, and the loader sees what is not."""

from __future__ import annotations

import pytest

from tests.citations.probes_data import HALVES, KINDS, Language, Probe, ProbeSource, faults, probes


@pytest.mark.parametrize("language", ["nl", "en"])
def test_a_file_holds_twenty_probes_of_each_kind_ten_a_half(language: Language) -> None:
    read = probes(language)
    assert len(read) == 160
    assert {probe.language for probe in read} == {language}
    assert [len([probe for probe in probes(language, half) if probe.kind == kind]) for half in HALVES for kind in KINDS] == [10] * 16


@pytest.mark.parametrize("language", ["nl", "en"])
def test_a_file_has_thirty_source_sets(language: Language) -> None:
    assert len({probe.sources for probe in probes(language)}) == 30


def test_ids_are_unique_over_both_files() -> None:
    ids = [probe.id for probe in (*probes("nl"), *probes("en"))]
    assert len(set(ids)) == 320


def first(kind: str, elsewhere: bool = False) -> Probe:
    return next(probe for probe in probes("en") if probe.kind == kind and probe.elsewhere is elsewhere)


def planted() -> list[tuple[str, Probe, str]]:
    """A name, a spoiled probe, and a word that its fault must hold."""
    verbatim, number, negation = first("verbatim"), first("wrong_number"), first("negation")
    known, entity, extra = first("wrong_number", elsewhere=True), first("entity_swap"), first("extra_fact")
    short = (ProbeSource(1, "A title", "Too short."),)
    return [
        ("label", verbatim._replace(true=False), "verbatim labelled False"),
        ("strange word", verbatim._replace(claim=verbatim.claim + " Allegedly, perhaps."), "allegedly"),
        ("cites nothing", verbatim._replace(cites=()), "cites"),
        ("cites unknown", verbatim._replace(cites=(9,)), "cites"),
        ("long claim", verbatim._replace(claim=verbatim.claim * 9), "words"),
        ("short source", verbatim._replace(sources=short), "words"),
        ("number in source", number._replace(wrong=number.right, claim=f"{number.claim} {number.right}"), "a cited source says"),
        ("number known", known._replace(elsewhere=False), "in a cited source"),
        ("number not known", number._replace(elsewhere=True), "not in a cited source"),
        ("no figure", number._replace(wrong="the"), "no figure"),
        ("false words not in the claim", negation._replace(wrong="nowhere to be found"), "is not in the claim"),
        ("right words not in the source", negation._replace(right="nowhere to be found"), "is not in a cited source"),
        ("name known", entity._replace(elsewhere=True), "in a cited source"),
        ("added words in the source", extra._replace(wrong="the"), "in a source"),
        ("no note", extra._replace(note=""), "without a note"),
        ("half", extra._replace(half="other"), "none of the known"),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(("spoiled", "word"), [pytest.param(probe, word, id=name) for name, probe, word in planted()])
def test_a_planted_fault_is_seen(spoiled: Probe, word: str) -> None:
    collection = [spoiled if probe.id == spoiled.id else probe for probe in probes("en")]
    assert any(spoiled.id in fault and word in fault for fault in faults(collection)), list(faults(collection))


def test_a_missing_a_double_and_a_shared_source_are_seen() -> None:
    read = list(probes("en"))
    tune = read[0]
    judge = next(probe for probe in read if probe.half == "judge")
    assert any("9 instead of 10" in fault for fault in faults(read[1:]))
    assert any("stands 2 times" in fault for fault in faults([*read, tune]))
    shared = judge._replace(sources=tune.sources)
    assert any("both halves" in fault for fault in faults([shared if probe is judge else probe for probe in read]))
