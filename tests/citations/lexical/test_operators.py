"""The words that turn what a sentence says: a claim that has another one than its source is refused, and says which."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.lexical.scorer import THRESHOLD
from ctxasm.model.support import Match, Source


def matched(claim: str, source: str) -> Match:
    scorer = LexicalScorer()
    return scorer.compare([claim], [Source(1, source, ((0, len(source)),))]).together(0, (0,))


@pytest.mark.parametrize(
    ("kind", "claim", "source", "words", "instead"),
    [
        ("modal", "Nurses must wear a badge.", "Nurses may wear a badge.", "must", "may"),
        ("modal", "Besucher müssen eine Maske tragen.", "Besucher dürfen eine Maske tragen.", "müssen", "dürfen"),
        ("quantifier", "All rooms have a balcony.", "Some rooms have a balcony.", "All", "Some"),
        ("quantifier", "Only nurses may enter.", "Nurses may enter.", "Only", ""),
        ("exception", "Verhuurders krijgen de bonus.", "Verhuurders zijn uitgesloten van de bonus.", "", "uitgesloten"),
        ("time", "Neem de pil na het ontbijt in.", "Neem de pil voor het ontbijt in.", "na", "voor het"),
        ("time", "The house was sold until the war.", "The house was sold during the war.", "until", "during"),
        ("cause", "The dam broke because of the rain.", "The dam broke. Rain fell in the valley.", "because", ""),
        ("condition", "Honden mogen mee.", "Honden mogen mee als ze aangelijnd zijn.", "", "als ze"),
        ("condition", "The lift may be used.", "The lift may be used unless the alarm sounds.", "", "unless"),
        ("hedge", "The painting was stolen.", "The painting was probably stolen.", "", "probably"),
        ("hedge", "The drug is safe for children.", "It is unclear whether the drug is safe for children.", "", "unclear"),
        ("hedge", "Die Ministerin ist zurückgetreten.", "Die Ministerin ist angeblich zurückgetreten.", "", "angeblich"),
        ("comparison", "The plant had more than 300 workers.", "The plant had 300 workers.", "more than", ""),
        ("unit", "Drivers pay 2 euros per day.", "Drivers pay 2 euros per hour.", "per day", "per hour"),
        ("date", "The law was passed on 3 May 2011.", "The law was passed in 2011.", "3 May 2011", "2011"),
        ("date", "De wet ging in op 3 mei 2011.", "De wet ging in 2011 in.", "3 mei 2011", "2011"),
    ],
)
def test_a_refused_claim_says_which_word_gated_it(kind: str, claim: str, source: str, words: str, instead: str) -> None:
    match = matched(claim, source)
    gates = [gated for gated in match.gated if gated.kind == kind]
    assert match.score < THRESHOLD
    assert gates, match
    assert (gates[0].claim, gates[0].source) == (words, instead)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Anna defeated Bob in 2001.", "Bob defeated Anna in 2001."),
        ("Anna was defeated by Bob in 2001.", "Anna defeated Bob in 2001."),
        ("The wing destroyed the fire.", "The fire destroyed the wing."),
        ("Rauchen wird durch Krebs verursacht.", "Krebs wird durch Rauchen verursacht."),
        ("De Kamer ontkende dat het rapport vals was.", "De minister ontkende dat het rapport vals was. De Kamer vroeg om meer."),
        ("Pay is handled by the Oak team.", "The Elm team handled pay; the Oak team answers the phone."),
        ("The firm earned 3 million in 2020 and 5 million in 2021.", "The firm earned 5 million in 2020 and 3 million in 2021."),
        ("The bell was cast in 1894 and hung in 1880.", "The bell was cast in 1880 and hung in 1894."),
        (
            "A Valley-Rhone growers' poll in March Drome 2010 named Hermitage.",
            "A Rhone-Valley growers' poll in Drome March 2010 named Hermitage.",
        ),
        ("Read cron(5) and crontab(8).", "Read cron(8) and crontab(5)."),
        ("Karin verving Joost bij Blauw Wit.", "Joost verving Karin bij Blauw Wit."),
        ("Els Maas heeft de kerk gebouwd.", "De kerk werd ontworpen door Els Maas en gebouwd door Piet Bos."),
        ("Else Maas hat die Kirche gebaut.", "Die Kirche wurde von Else Maas entworfen und von Peter Busch gebaut."),
        (
            "A plug with 4 pins of a mouse or a plug with 6 pins of a keyboard fits.",
            "A plug with 6 pins of a mouse or a plug with 4 pins of a keyboard fits.",
        ),
        ("Das Wasser stand zu hoch, weil der Damm brach.", "Der Damm brach, weil das Wasser zu hoch stand."),
    ],
)
def test_words_that_changed_places_are_refused(claim: str, source: str) -> None:
    match = matched(claim, source)
    assert match.score < THRESHOLD
    assert any(gated.kind in ("roles", "cause") for gated in match.gated) or match.conflict is not None


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Every guest has to sign the book.", "All guests must sign the book."),
        ("You must keep the receipts.", "Keep the receipts."),
        ("The city was destroyed by an earthquake in 1755.", "An earthquake destroyed the city in 1755."),
        ("In 1931 the museum moved to the mill.", "The museum moved to the mill in 1931."),
        ("Dogs are allowed if they are on a leash.", "Dogs are allowed provided that they are on a leash."),
        ("The ferry sails in May.", "The ferry sails in May. It may be late."),
        ("De poli is open tot 17 uur.", "De poli is open van 9 - 17 uur."),
        ("Jeder Besucher muss sich anmelden.", "Alle Besucher müssen sich anmelden."),
        ("Das Heim wurde 1890 von König Ludwig gegründet.", "König Ludwig gründete das Heim 1890."),
        ("On 3 May 2011 the law was passed.", "In 2011 parliament met often. On 3 May the law was passed."),
        ("De helft betalen kinderen ouder dan 4 jaar.", "Kinderen ouder dan 4 jaar betalen de helft."),
        ("Die Schulden kannte der Sekretär.", "Der Sekretär kannte die Schulden."),
        ("The largest port is Oban.", "Oban is the largest port."),
        ("The river is shorter than the Tay but longer than the Severn.", "The river is longer than the Severn but shorter than the Tay."),
        ("Animax has reached 66 million viewers.", "Animax is a channel in Asia. The company has reached 66 million viewers."),
        ("Wages rose because workers were scarce.", "Workers were scarce, which was the reason that wages rose."),
        ("The shop closed after the owner died.", "The owner died and the shop then closed."),
        ("The hall was painted green, and the kitchen was rented by Bos.", "The hall was painted green. The kitchen was rented by Bos."),
    ],
)
def test_the_same_in_other_words_is_not_refused(claim: str, source: str) -> None:
    match = matched(claim, source)
    assert match.gated == ()
    assert match.score >= THRESHOLD


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Krebs verursacht.", "Krebs wird durch Rauchen verursacht."),
        ("The pump keeps running unless it by switched off is hand.", "The pump keeps running unless it is switched off by hand."),
    ],
)
def test_one_who_does_it_may_have_no_place_in_the_other_voice(claim: str, source: str) -> None:
    assert matched(claim, source).gated == ()


def test_what_stands_every_day_is_no_figure() -> None:
    match = matched("The ferry to Scoll sails every day in May.", "The ferry to Scoll sails every hour in May.")
    assert [(gated.kind, gated.claim) for gated in match.gated] == [("unit", "every day")]


def test_a_word_of_time_beside_its_opposite_contradicts_nothing() -> None:
    match = matched(
        "Per Dahl has coached the team since 2014.", "Marta Olin coached the team until 2014 and Per Dahl has coached it since."
    )
    assert match.conflict is None


def test_nothing_gates_a_claim_of_which_words_are_missing() -> None:
    match = matched("All rooms have a marble bath.", "Some rooms have a bath.")
    assert match.gated == ()
    assert "marble" in match.missing


def test_a_denial_put_into_a_copy_is_refused_beside_others_of_its_source() -> None:
    match = matched("Het is niet mogelijk dat de kern nog niet geladen is.", "Het is mogelijk dat de kern nog niet geladen is.")
    assert [gated.claim for gated in match.gated if gated.kind == "negation"] == ["niet"]
