"""Each verdict by examples a reader can follow, through the whole check: assembled context, markers, claims, lexical scorer."""

from __future__ import annotations

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import CheckedClaim, DroppedSource
from ctxasm.citations.checking import check as check_against
from ctxasm.citations.grounds import grounds_of_assembly, grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.report import CheckedAnswer
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.formats import expects_markers, marker_of
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

DUTCH = {
    "bezoek": "Bezoek is welkom van 14.00 tot 20.00 uur. Kinderen jonger dan 12 jaar mogen niet naar de intensive care.",
    "parkeren": "Parkeren kost 2 euro per uur. De eerste 30 minuten zijn gratis. U betaalt bij de automaat in de hal.",
    "contact": "De afdeling Radiologie ligt op de derde verdieping. Dokter Jansen leidt de afdeling sinds 3 mei 2019.",
}
ENGLISH = {
    "visits": "Visitors are welcome from 2 pm to 8 pm. Children under 12 are not allowed in intensive care.",
    "parking": "Parking costs 2 dollars per hour. The first 30 minutes are free. You pay at the machine in the hall.",
    "contact": "The radiology department is on the third floor. Doctor Jansen has led the department since May 3, 2019.",
}
SUMMARIES = {"contact": "De cafetaria serveert dagelijks verse soep en broodjes."}


def context(texts: dict[str, str], limit: int = 8000, **chosen: object) -> Assembly:
    """One document a text, in this order; blocks 1, 2, 3."""
    documents = [Document(name, name.capitalize(), summary=SUMMARIES.get(name) if texts is DUTCH else None) for name in texts]
    source = FakeSource(documents, [Chunk(name, 0, text, 0, len(text)) for name, text in texts.items()], COUNTER)
    hits = tuple(Hit(name, 0, 0.9 - at / 10) for at, name in enumerate(texts))
    settings = AssemblySettings(**{"expand_window": 0, **chosen})  # type: ignore[arg-type]
    return assemble(Query("Hoe zit het?", hits), source, settings, COUNTER, FakeClock(), limit)


def check(answer: str, texts: dict[str, str] = DUTCH, **more: object) -> CheckedAnswer:
    return check_answer(answer, grounds_of_assembly(context(texts)), LexicalScorer(), **more)  # type: ignore[arg-type]


def judged(answer: str, texts: dict[str, str] = DUTCH, **more: object) -> CheckedClaim:
    (claim,) = check(answer, texts, **more).claims
    return claim


def shown(texts: dict[str, str], checked: CheckedClaim) -> list[str]:
    text = context(texts).text
    return [text[support.context_start : support.context_end] for support in checked.support]


@pytest.mark.parametrize(
    ("texts", "answer", "sentence"),
    [
        (DUTCH, "Bezoek is welkom van 14.00 tot 20.00 uur [1].", "Bezoek is welkom van 14.00 tot 20.00 uur."),
        (DUTCH, "Bezoek is welkom van 14 tot 20 uur. [1]", "Bezoek is welkom van 14.00 tot 20.00 uur."),
        (DUTCH, "Dokter Jansen leidt de afdeling sinds 03-05-2019 [3].", "Dokter Jansen leidt de afdeling sinds 3 mei 2019."),
        (ENGLISH, "Visitors are welcome from 14:00 to 20:00 [1].", "Visitors are welcome from 2 pm to 8 pm."),
        (ENGLISH, "Parking costs $2 per hour [2].", "Parking costs 2 dollars per hour."),
        (ENGLISH, "Children under 12 are not allowed in intensive care [1].", "Children under 12 are not allowed in intensive care."),
    ],
)
def test_supported_shows_the_sentence(texts: dict[str, str], answer: str, sentence: str | None) -> None:
    claim = judged(answer, texts)
    assert claim.verdict == "supported"
    assert (claim.conflict, claim.idle, claim.unknown, claim.better) == (None, (), (), None)
    if sentence:
        assert shown(texts, claim) == [sentence]
        assert claim.missing == ()
    (support, *_) = claim.support
    name = list(texts)[support.number - 1]
    assert (support.document_id, support.chunk_index, support.retrieved) == (name, 0, True)
    assert texts[name][support.chunk_start : support.chunk_end] == shown(texts, claim)[0]


@pytest.mark.parametrize(
    ("texts", "answer", "missing"),
    [
        (DUTCH, "Parkeren kost 2 euro per uur en u krijgt een gratis paraplu bij de uitgang [2].", "paraplu"),
        (ENGLISH, "Parking costs 2 dollars per hour and includes a free umbrella [2].", "umbrella"),
    ],
)
def test_partly_says_what_is_missing(texts: dict[str, str], answer: str, missing: str) -> None:
    claim = judged(answer, texts)
    assert claim.verdict == "partly"
    assert claim.support
    assert any(missing in words for words in claim.missing)


@pytest.mark.parametrize(
    ("texts", "answer"),
    [(DUTCH, "Parkeren kost 2 euro per uur [1][2]."), (ENGLISH, "Parking costs 2 dollars per hour [1, 2].")],
)
def test_an_idle_citation_beside_a_carrying_one_is_at_best_partly(texts: dict[str, str], answer: str) -> None:
    alone, claim = judged(answer.replace("[1][2]", "[2]").replace("[1, 2]", "[2]"), texts), judged(answer, texts)
    assert (alone.verdict, alone.idle) == ("supported", ())
    assert (claim.verdict, claim.idle, claim.better) == ("partly", (1,), None)
    assert claim.score < alone.score
    assert {support.number for support in claim.support} == {2}


def test_a_claim_merged_from_two_sources_needs_both() -> None:
    answer = "Parkeren kost 2 euro per uur en bezoek is welkom van 14.00 tot 20.00 uur [1][2]."
    claim = judged(answer)
    assert (claim.verdict, claim.idle) == ("supported", ())
    assert {support.number for support in claim.support} == {1, 2}
    half = judged(answer.replace("[1][2]", "[1]"))
    assert half.verdict in ("partly", "unsupported")
    assert any("2 euro" in words for words in half.missing)


@pytest.mark.parametrize(
    ("texts", "answer"),
    [(DUTCH, "De helikopter vliegt elke nacht naar Brussel [1]."), (ENGLISH, "The helicopter flies to Brussels every night [2].")],
)
def test_unsupported_highlights_nothing(texts: dict[str, str], answer: str) -> None:
    claim = judged(answer, texts)
    assert (claim.verdict, claim.support, claim.better, claim.better_support) == ("unsupported", (), None, None)
    assert claim.missing


@pytest.mark.parametrize(
    ("texts", "answer", "kind", "ours", "theirs"),
    [
        (DUTCH, "Parkeren kost 3 euro per uur [2].", "number", "3 euro", "2 euro"),
        (ENGLISH, "The first 45 minutes are free [2].", "number", "45 minutes", "30 minutes"),
        (DUTCH, "Dokter Jansen leidt de afdeling sinds 3 mei 2018 [3].", "date", "3 mei 2018", "3 mei 2019"),
        (ENGLISH, "Doctor Jansen has led the department since May 4, 2019 [3].", "date", "May 4, 2019", "May 3, 2019"),
        (DUTCH, "Dokter Peeters leidt de afdeling sinds 3 mei 2019 [3].", "name", "Peeters", "Jansen"),
    ],
)
def test_contradicted_names_both_sides(texts: dict[str, str], answer: str, kind: str, ours: str, theirs: str) -> None:
    claim = judged(answer, texts)
    assert claim.verdict == "contradicted"
    conflict = claim.conflict
    assert conflict is not None
    assert (conflict.kind, conflict.claim, conflict.source) == (kind, ours, theirs)
    block = grounds_of_assembly(context(texts)).items[conflict.number - 1].source.text
    assert block[conflict.start : conflict.end] == theirs


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        (DUTCH, "Kinderen jonger dan 12 jaar mogen naar de intensive care [1]."),
        (ENGLISH, "Children under 12 are allowed in intensive care [1]."),
        (DUTCH, "De eerste 30 minuten zijn niet gratis [2]."),
        (ENGLISH, "The first 30 minutes are not free [2]."),
    ],
)
def test_a_denial_on_one_side_contradicts(texts: dict[str, str], answer: str) -> None:
    claim = judged(answer, texts)
    assert claim.verdict == "contradicted"
    assert claim.conflict is not None
    assert claim.conflict.kind in ("negation", "opposite")


@pytest.mark.parametrize(
    ("texts", "answer", "sentence"),
    [
        (DUTCH, "Parkeren kost 2 euro per uur [1].", "Parkeren kost 2 euro per uur."),
        (ENGLISH, "Parking costs 2 dollars per hour [3].", "Parking costs 2 dollars per hour."),
    ],
)
def test_elsewhere_says_where(texts: dict[str, str], answer: str, sentence: str) -> None:
    claim = judged(answer, texts)
    assert (claim.verdict, claim.better, claim.support) == ("elsewhere", 2, ())
    assert claim.better_support is not None
    text = context(texts).text
    assert text[claim.better_support.context_start : claim.better_support.context_end] == sentence


def test_prefix_only_rests_on_a_page_summary() -> None:
    claim = judged("De cafetaria serveert dagelijks verse soep en broodjes [3].")
    assert (claim.verdict, claim.support, claim.better) == ("prefix_only", (), None)
    assert claim.summary_support is not None
    start, end = claim.summary_support.context_start, claim.summary_support.context_end
    assert "verse soep" in context(DUTCH).text[start:end]
    assert (claim.summary_support.number, claim.summary_support.chunk_index) == (3, None)
    assert judged("De cafetaria serveert dagelijks verse soep en broodjes [2].").verdict == "unsupported"


@pytest.mark.parametrize(("texts", "answer"), [(DUTCH, "Parkeren kost 2 euro per uur."), (ENGLISH, "Parking costs 2 dollars per hour.")])
def test_uncited_still_tells_which_source_carries_it(texts: dict[str, str], answer: str) -> None:
    claim = judged(answer, texts)
    assert (claim.verdict, claim.better, claim.support) == ("uncited", 2, ())
    assert claim.better_support is not None
    assert (claim.better_support.document_id, claim.better_support.retrieved) == (list(texts)[1], True)
    nothing = judged("De helikopter vliegt elke nacht naar Brussel.")
    assert (nothing.verdict, nothing.better, nothing.better_support) == ("uncited", None, None)


def test_an_unknown_number_is_said() -> None:
    checked = check("Parkeren kost 2 euro per uur [9]. Bezoek is welkom van 14.00 tot 20.00 uur [1][9].")
    alone, beside = checked.claims
    assert (alone.verdict, alone.unknown, alone.better, alone.dropped) == ("unknown_marker", (9,), 2, ())
    assert (beside.verdict, beside.unknown, beside.idle) == ("supported", (9,), ())
    assert [(marker.known, marker.unknown) for marker in checked.markers] == [((), (9,)), ((1,), ()), ((), (9,))]


def test_a_number_of_a_dropped_document_names_the_stage() -> None:
    assembly = context(DUTCH, limit=60)
    assert [citation.document_id for citation in assembly.citations] == ["bezoek"]
    checked = check_answer("Parkeren kost 2 euro per uur [2].", grounds_of_assembly(assembly), LexicalScorer())
    (claim,) = checked.claims
    assert (claim.verdict, claim.unknown) == ("dropped", (2,))
    assert claim.dropped == (DroppedSource(2, "parkeren", "budget", "budget"),)


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        (DUTCH, "Ik kan deze vraag niet beantwoorden op basis van de bronnen."),
        (ENGLISH, "I cannot answer this question based on the sources."),
    ],
)
def test_a_refusal_is_declined_and_not_uncited(texts: dict[str, str], answer: str) -> None:
    checked = check(f"{answer} {next(iter(texts.values())).split('. ')[0]} [1].", texts)
    assert [claim.verdict for claim in checked.claims] == ["declined", "supported"]
    assert checked.figures.claims == 1
    assert checked.verdicts == {"declined": 1, "supported": 1}


def test_voice_finds_a_source_for_each_sentence_or_says_that_there_is_none() -> None:
    answer = "Parkeren kost 2 euro per uur. De helikopter vliegt elke nacht naar Brussel. Parkeren kost 3 euro per uur. Code [1] geldt."
    checked = check(answer, voice=True)
    carried, nothing, wrong, bracket = checked.claims
    assert (carried.verdict, [s.number for s in carried.support]) == ("supported", [2])
    assert (nothing.verdict, nothing.support, nothing.better) == ("no_source", (), None)
    assert (wrong.verdict, wrong.conflict and wrong.conflict.source) == ("contradicted", "2 euro")
    assert (bracket.verdict, bracket.claim.cited) == ("no_source", ())
    assert (checked.markers, checked.voice, checked.marked) == ((), True, False)


@pytest.mark.parametrize(("channel", "voice"), [("text", False), ("voice", True)])
def test_an_answer_is_read_as_its_context_was_asked_for(channel: str, voice: bool) -> None:
    checked = check_against(context(DUTCH, channel=channel), "Parkeren kost 2 euro per uur.", LexicalScorer())
    assert (checked.voice, checked.marked) == (voice, not voice)


def test_an_answer_without_markers_is_attributed_like_a_spoken_one() -> None:
    answer = "Parkeren kost 2 euro per uur. De helikopter vliegt elke nacht naar Brussel. Code [1] geldt."
    written, spoken = check(answer, marked=False), check(answer, voice=True)
    assert [claim.verdict for claim in written.claims] == ["supported", "no_source", "no_source"]
    assert (written.markers, written.voice, written.marked) == ((), False, False)
    assert (written.claims, written.figures) == (spoken.claims, spoken.figures)


@pytest.mark.parametrize("format", ["numbered", "source", "xml"])
def test_every_marker_that_a_format_is_cited_by_is_read(format: str) -> None:
    settings = AssemblySettings(format=format)  # type: ignore[arg-type]
    citing = "".join(marker_of(settings.format, number) for number in (1, 2))
    answer = f"Bezoek is welkom van 14.00 tot 20.00 uur en parkeren kost 2 euro per uur {citing}."
    assert expects_markers(settings)
    assert judged(answer).claim.cited == (1, 2)
    assert judged(answer).verdict == "supported"


def test_headings_and_lead_ins_are_judged_only_where_they_cite() -> None:
    checked = check(
        "# Parkeren\n\nDe regels zijn:\n- Parkeren kost 2 euro per uur [2].\n\n## Bezoek is welkom van 14.00 tot 20.00 uur [1]\n"
    )
    assert [(claim.claim.kind, claim.verdict) for claim in checked.claims] == [("item", "supported"), ("heading", "supported")]
    assert (checked.figures.claims, checked.figures.citations) == (1, 2)


def test_without_any_source_nothing_is_supported() -> None:
    (cited, bare) = check_answer("De balie is open [1]. Bel ons.", grounds_of_sources(()), LexicalScorer()).claims
    assert (cited.verdict, bare.verdict) == ("unknown_marker", "uncited")
    assert (cited.score, bare.score) == (0.0, 0.0)


def test_a_sentence_that_broke_off_is_no_claim() -> None:
    grounds = grounds_of_sources([{"n": 1, "text": "The desk opens at nine. It closes at five."}])
    whole = "The desk opens at nine [1]. It closes at f"
    assert len(check_answer(whole, grounds, LexicalScorer()).claims) == 2
    assert [claim.verdict for claim in check_answer(whole, grounds, LexicalScorer(), cut=True).claims] == ["supported"]
    for ended in ("The desk opens at nine [1].", "The desk opens at nine [1]", "The desk opens at nine.", "“The desk opens at nine.”"):
        assert len(check_answer(ended, grounds, LexicalScorer(), cut=True).claims) == 1


@pytest.mark.parametrize(
    "torn", ["[1] It closes", "It closes [1] at", "It closes at five [1] and on Sat", "- It **clo", "It closes at five [1"]
)
def test_a_marker_before_its_end_makes_no_claim_of_a_sentence_that_broke_off(torn: str) -> None:
    grounds = grounds_of_sources([{"n": 1, "text": "The desk opens at nine. It closes at five."}])
    found = check_answer(f"The desk opens at nine [1].\n\n{torn}", grounds, LexicalScorer(), cut=True)
    assert [claim.verdict for claim in found.claims] == ["supported"]


RATE = "The rate is 25% of the price. Het tarief is 25% van de prijs. Der Satz ist 25 % des Preises."


@pytest.mark.parametrize(
    "lead",
    [
        "The answer is: {} [1]",
        "The answer is {} [1].",
        "The answer [1]: {}",
        "So, the final answer to your question is **{}** [1].",
        "**Answer:** {} [1]",
        "Short answer: {} [1].",
        "To answer your question: {} [1].",
        "In short, {} [1].",
        "The answer is:\n\n{} [1]",
        "The answer is\n\n{} [1]",
        "Het antwoord is: {} [1].",
        "Het juiste antwoord op uw vraag luidt {} [1].",
        "Kort gezegd: {} [1].",
        "Die Antwort ist: {} [1].",
        "Die richtige Antwort auf Ihre Frage lautet: {} [1].",
        "Kurz gesagt: {} [1].",
    ],
)
def test_a_lead_in_is_no_content(lead: str) -> None:
    grounds = grounds_of_sources([{"n": 1, "text": RATE}])
    (right,) = check_answer(lead.format("25%"), grounds, LexicalScorer()).claims
    assert (right.verdict, right.missing, right.claim.text.rstrip(".")) == ("supported", (), "25%")
    (wrong,) = check_answer(lead.format("30%"), grounds, LexicalScorer()).claims
    assert wrong.verdict in ("unsupported", "contradicted")
    assert not {"answer", "antwoord", "Antwort"} & set(wrong.missing)


@pytest.mark.parametrize(
    "said", ["The answer is not mentioned in the sources.", "The answer desk opens at nine.", "My answer machine is new."]
)
def test_what_only_looks_like_a_lead_in_stays(said: str) -> None:
    (claim,) = check_answer(said, grounds_of_sources([{"n": 1, "text": RATE}]), LexicalScorer()).claims
    assert claim.claim.text == said


def test_a_cited_source_that_says_otherwise_is_named_beside_one_that_carries() -> None:
    grounds = grounds_of_sources([{"n": 1, "text": "The desk opens at 9.00 am."}, {"n": 2, "text": "The desk opens at 10.00 am."}])
    (claim,) = check_answer("The desk opens at 9.00 am [1][2].", grounds, LexicalScorer()).claims
    assert (claim.verdict, claim.idle) == ("partly", (2,))
    assert claim.conflict is not None
    assert claim.conflict.number == 2


def test_the_word_that_keeps_a_claim_from_being_carried_is_told() -> None:
    grounds = grounds_of_sources([{"n": 1, "text": "Most tenants received the refund in April."}])
    for answer in ("All tenants received the refund in April [1].", "All tenants received the refund in April."):
        (claim,) = check_answer(answer, grounds, LexicalScorer(), marked="[1]" in answer).claims
        assert [(gated.claim, gated.source) for gated in claim.gated] == [("All", "Most"), ("", "Most")]
