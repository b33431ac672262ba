"""The words that turn what a sentence says: a claim that has another one than its source is refused, and says which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import pytest

from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.lexical.asserted import find_unasserted
from ctxasm.citations.lexical.attached import find_untied
from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.copies import find_edits
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.order import Order, find_changed_places, find_later, find_pairs
from ctxasm.citations.lexical.parts import parts_of
from ctxasm.citations.lexical.scorer import THRESHOLD
from ctxasm.citations.lexical.windows import Windows
from ctxasm.citations.lexical.words import Tongue, stems_of
from ctxasm.model.support import Gated, Match, Source
from ctxasm.text.sentences import sentence_spans


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
        ("hedge", "The lake froze in 1963.", "Myth: the lake froze in 1963.", "", "Myth"),
        ("hedge", "Milk is bad for adults.", "Is milk bad for adults? Milk has calcium.", "", "Is milk bad for adults?"),
        ("hedge", "Snurken is onschuldig.", "Mythes over slaap\n- Snurken is onschuldig.", "", "Mythes over slaap"),
        ("hedge", "The dam floods three villages.", "Engineers say the dam floods three villages.", "", "say"),
        ("hedge", "Der Vorstand hat Daten verkauft.", "Der Vorstand soll 2014 Daten verkauft haben.", "", "soll"),
        ("hedge", "The school closed in June.", "The school will close in June.", "", "will"),
        ("qualifier", "The mayor opened the fair.", "The deputy mayor opened the fair.", "mayor", "deputy mayor"),
        ("qualifier", "De burgemeester opende de beurs.", "De oud-burgemeester opende de beurs.", "burgemeester", "oud-burgemeester"),
        ("qualifier", "The drug helps.", "Among women over fifty, the drug helps.", "", "Among women over fifty"),
        ("qualifier", "Orm is the largest lake.", "Orm is the second largest lake.", "largest", "second largest"),
        ("qualifier", "Orm is the largest lake.", "Orm is one of the largest lakes.", "largest", "one of the largest"),
        ("qualifier", "The beach is closed.", "In summer the beach is closed.", "", "In summer"),
        ("condition", "De generator start.", "Valt de stroom uit, dan start de generator.", "", "dan"),
        ("comparison", "The hall holds 40 people.", "The hall holds up to 40 people.", "40", "to 40 people."),
        ("comparison", "Emissions fell by 40 percent.", "Emissions fell by up to 40 percent.", "40 percent", "to 40 percent."),
        ("comparison", "De kaart is te koop voor 40 euro.", "De kaart is te koop voor maximaal 40 euro.", "40 euro", "maximaal 40 euro."),
        ("comparison", "Nach 3 Tagen endet es.", "Nach mindestens 3 Tagen endet es.", "3 Tagen", "mindestens 3 Tagen endet"),
        ("date", "Germany fought by sea in 1918.", "Germany fought by sea in 1914–1918.", "1918", "1914–1918."),
        ("date", "Keller was minister in 1990.", "Keller was minister (1990–1991).", "1990", "(1990–1991)."),
        ("unit", "Drivers pay 2 euros per day.", "Drivers pay 2 euros per hour.", "per day", "per hour"),
        ("unit", "Drivers pay 2 euros per day.", "Drivers pay 2 euros per hour; pupils pay 9 euros per day.", "per day", "per hour"),
        ("hedge", "You must bring a map to the rental.", "# Rental\n\nMust I bring a map? No, a card will do.", "", "Must I bring a map?"),
        (
            "hedge",
            "Sie müssen beim Verleih einen Ausweis zeigen.",
            "Verleih\nMuss ich einen Ausweis zeigen? Nein.",
            "",
            "Muss ich einen Ausweis zeigen?",
        ),
        ("date", "The law was passed on 3 May 2011.", "The law was passed in 2011.", "3 May 2011", "2011"),
        ("date", "De wet ging in op 3 mei 2011.", "De wet ging in 2011 in.", "3 mei 2011", "2011"),
        ("qualifier", "Orm is the largest city.", "Orm is the 2nd largest city.", "largest", "2nd largest"),
        ("qualifier", "Orm is de grootste stad.", "Orm is de 4e grootste stad.", "grootste", "4e grootste"),
        ("qualifier", "Orm is de grootste stad.", "Orm is de op 2 na grootste stad.", "grootste", "op 2 na grootste"),
        ("qualifier", "Orm ist die größte Stadt.", "Orm ist die 2. größte Stadt.", "größte", "2. größte"),
        (
            "comparison",
            "A ticket costs 40 euros and the tour takes at most 3 hours.",
            "A ticket costs at most 40 euros. The tour takes at most 3 hours.",
            "40 euros",
            "most 40 euros.",
        ),
        (
            "date",
            "The rink is open to all, Keller was minister in 1991.",
            "The rink is open to all. Keller was minister 1990–1991.",
            "1991",
            "1990–1991.",
        ),
        ("hedge", "Snakes are deaf.", "Animal myths\n  - Bats are blind\n  - Snakes are deaf\n", "", "Animal myths"),
        ("hedge", "Snakes are deaf.", "Animal myths\n1. Bats are blind\n2. Snakes are deaf\n", "", "Animal myths"),
        ("qualifier", "The shop was and is open.", "The shop is open on Monday.", "", "Monday"),
        ("qualifier", "Orm is the largest city.", "2nd largest city is Orm.", "largest", "2nd largest"),
        ("modal", "U moet oude bonnen bewaren.", "Bonnen, ook oude, bewaren wij hier.", "moet", ""),
        ("hedge", "Milk is bad.", "Misconceptions about milk\nMilk is bad.", "", "Misconceptions about milk"),
        ("quantifier", "Guests swim.", "Some guests swim, other guests swim later.", "", "Some"),
        ("hedge", "Snakes are deaf.", "## Myths\n\n### Animals\n\nSnakes are deaf.", "", "Myths"),
        ("hedge", "The bell rings at noon.", "False: the bell rings at noon.", "", "False"),
        ("hedge", "De bel gaat om twaalf uur.", "Onjuiste beweringen\nDe bel gaat om twaalf uur.", "", "Onjuiste beweringen"),
        ("modal", "Patienten können sich anmelden.", "Patienten sollten sich anmelden.", "können", "sollten"),
        ("modal", "Die Schule schloss im Juni.", "Die Schule sollte im Juni schließen.", "", "sollte"),
        ("hedge", "Die Schule wurde geschlossen.", "Die Schule wird im Juni geschlossen werden.", "", "wird"),
        (
            "cause",
            "The ferry sailed late because of the wind.",
            "The wind was high. The ferry sailed late because crews slept.",
            "because",
            "because",
        ),
        (
            "cause",
            "The ferry sailed late because of storms.",
            "The ferry sailed late because crews slept; storms came.",
            "because",
            "because",
        ),
        ("time", "The team met the mayor after lunch.", "Lunch was long. After church the team met the mayor.", "after", "After"),
        ("quantifier", "All members may use the courts.", "Members may use all courts.", "All", "all"),
        ("quantifier", "Nur Mieter müssen zahlen.", "Mieter zahlen nur bar. Alle Gäste müssen zahlen.", "Nur", "nur"),
        ("quantifier", "Only members swim indoors.", "Members only swim indoors.", "Only", "only"),
        ("quantifier", "Members only swim indoors.", "Only members swim indoors.", "only", "Only"),
        ("quantifier", "All members may vote.", "All registered members may vote.", "All", ""),
        ("quantifier", "All boards are paid.", "All members of boards are paid.", "All", ""),
        ("quantifier", "Every guest pays.", "The first guest of every tour pays.", "Every", ""),
        ("quantifier", "Jeder Gast zahlt.", "Ein Gast jeder Reise zahlt.", "Jeder", ""),
        ("quantifier", "All visitors pay 5 euros.", "Visitors pay 5 euros for all shows.", "All", ""),
        ("hedge", "De brug is gebouwd in 2020.", "De brug zal in 2020 worden gebouwd.", "", "zal"),
        ("hedge", "De werken zijn in mei uitgevoerd.", "De werken zullen in mei worden uitgevoerd.", "", "zullen"),
        ("hedge", "De raad heeft een brug aangelegd.", "De raad wil een brug aanleggen.", "", "wil"),
        ("hedge", "De raad heeft een brug aangelegd waar vee kan gaan.", "De raad wil een brug aanleggen waar vee kan gaan.", "", "wil"),
        ("hedge", "De raad kreeg minder geld, zo staat vast.", "Volgens haar kreeg de raad minder geld.", "staat vast", "Volgens"),
        ("hedge", "De raad kreeg minder geld, zo staat inmiddels vast.", "De raad kreeg minder geld.", "staat inmiddels vast", ""),
        ("modal", "Der Kreis ist bereits eingeladen worden.", "Der Kreis soll eingeladen werden.", "", "soll"),
        ("comparison", "Steek de stekker binnen twee uur in.", "Steek de stekker twee uur lang in.", "binnen", ""),
        ("qualifier", "De gluten koekjes kosten 4 euro.", "De gluten-free koekjes kosten 4 euro.", "gluten", "gluten-free"),
        ("qualifier", "The Mitglieder pay 4 euros.", "The nicht-Mitglieder pay 4 euros.", "Mitglieder", "nicht-Mitglieder"),
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
        ("The firm earned 3 million in 2020 and 5 million in 2021.", "The firm earned 5 million in 2020 and 3 million in 2021."),
        ("The bell was cast in 1894 and hung in 1880.", "The bell was cast in 1880 and hung in 1894."),
        (
            "A Valley-Rhone growers' poll in March Drome 2010 named Hermitage.",
            "A Rhone-Valley growers' poll in Drome March 2010 named Hermitage.",
        ),
        ("Read cron(5) and crontab(8).", "Read cron(8) and crontab(5)."),
        ("The manager's office is closed.", "The office's manager is closed."),
        ("Karin verving Joost bij Blauw Wit.", "Joost verving Karin bij Blauw Wit."),
        ("Else Maas hat die Kirche gebaut.", "Die Kirche wurde von Else Maas entworfen und von Peter Busch gebaut."),
        (
            "A plug with 4 pins of a mouse or a plug with 6 pins of a keyboard fits.",
            "A plug with 6 pins of a mouse or a plug with 4 pins of a keyboard fits.",
        ),
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
        ("40 people came.", "– 40 people came."),
        ("The city was destroyed by an earthquake in 1755.", "An earthquake destroyed the city in 1755."),
        ("In 1931 the museum moved to the mill.", "The museum moved to the mill in 1931."),
        ("Dogs are allowed if they are on a leash.", "Dogs are allowed provided that they are on a leash."),
        ("The ferry sails in May.", "The ferry sails in May. It may be late."),
        ("De poli is open tot 17 uur.", "De poli is open van 9 - 17 uur."),
        ("Jeder Besucher muss sich anmelden.", "Alle Besucher müssen sich anmelden."),
        ("Das Heim wurde 1890 von König Ludwig gegründet.", "König Ludwig gründete das Heim 1890."),
        ("Vera Lind wurde 2019 vom Stadtrat ernannt.", "Der Stadtrat ernannte 2019 Vera Lind."),
        ("On 3 May 2011 the law was passed.", "In 2011 parliament met often. On 3 May the law was passed."),
        ("Die Schulden kannte der Sekretär.", "Der Sekretär kannte die Schulden."),
        ("The largest port is Oban.", "Oban is the largest port."),
        ("The river is shorter than the Tay but longer than the Severn.", "The river is longer than the Severn but shorter than the Tay."),
        ("Animax has reached 66 million viewers.", "Animax is a channel in Asia. The company has reached 66 million viewers."),
        ("Wages rose because workers were scarce.", "Workers were scarce, which was the reason that wages rose."),
        ("The shop closed after the owner died.", "The owner died and the shop then closed."),
        ("Smith opened the school.", "Will Smith opened the school."),
        ("Bos rents the kitchen.", "The hall was painted green. Who knows when Bos rents the kitchen?"),
        ("Dental bills are paid within a week.", "Dental bills and claims are paid within a week."),
        ("The bar sells beer.", "The bar sells draft beer."),
        ("Der Vertrag wurde 1990 unterzeichnet.", "Der Vertrag wird 1990 unterzeichnet."),
        ("The 2nd largest city is Orm.", "Orm is the 2nd largest city."),
        ("Orm is the largest city.", "Orm is the 1st largest city."),
        ("Snakes are deaf.", "### Myths\n\nBats are blind.\n\n## Animals\n\nSnakes are deaf."),
        ("Snakes are deaf.", "# Myths\n\n## The truth\n\nSnakes are deaf."),
        ("Snakes are deaf.", "1. Myths\n\nBats are blind.\n\n2. Animals\n\nSnakes are deaf."),
        ("The bell rings at noon.", "False alarms\n\nThe bell rings at noon."),
        ("The bell rings at noon.", "Fiction and poetry\n\nThe bell rings at noon."),
        ("De bel gaat om twaalf uur.", "Foute instellingen\n\nDe bel gaat om twaalf uur."),
        ("The hall was painted green, and the kitchen was rented by Bos.", "The hall was painted green. The kitchen was rented by Bos."),
        ("Die Regel gilt noch heute.", "Die Regel gilt heute noch."),
        ("Keller is the founder of the firm.", "Keller founded the firm."),
        ("The manager's office is closed.", "The office of the manager is closed."),
        ("The managers' office is closed.", "The office of the managers is closed."),
        ("Het huis van Keller is verkocht.", "Keller's huis is verkocht."),
        ("De werken worden in mei uitgevoerd.", "De werken zullen in mei worden uitgevoerd."),
        ("The valley flooded because the dam broke.", "The valley flooded because engineers slept and the dam broke."),
        ("The ferry sailed late because of storms.", "The ferry sailed late because the weather was bad, with storms all day."),
        ("All visitors must wear a mask.", "All staff and visitors must wear a mask."),
        ("All patients received the drug.", "All 300 patients received the drug."),
        ("All rooms have a balcony.", "The rooms all have a balcony."),
        ("Only members can vote.", "Only registered members can vote."),
        ("The shop accepts only cash.", "The shop only accepts cash."),
        ("The shop only accepts cash.", "The shop accepts only cash."),
        ("Only cash is accepted here.", "Cash is accepted here, cash only."),
        ("Any kind of dog is allowed.", "Dogs of any kind are allowed."),
        ("Jede Art von Hund ist willkommen.", "Hunde jeder Art sind willkommen."),
        ("Das Museum ist noch geöffnet.", "Das Museum ist geöffnet."),
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


def matter(claim: str, source: str, tongue: Tongue) -> Matter:
    """A claim and the windows that are chosen for it."""
    evidence = Evidence([Source(1, source, ((0, len(source)),))], stems_of(tongue), sentence_spans)
    windows = Windows(parts_of(claim, evidence), evidence)
    return Matter(windows.parts, windows.choose([0]), evidence)


@pytest.mark.parametrize(
    ("claim", "source", "tongue", "gated"),
    [
        ("Valley-Rhone growers won.", "Rhone-Valley growers won.", "en", [("roles", "Valley-Rhone", "Rhone-Valley growers won")]),
        ("Valley Rhone growers won.", "Rhone Valley growers won.", "en", []),
        ("Anna kennt die Nonne.", "Die Nonne kennt Anna.", "de", []),
        ("Anna kennt Berta.", "Berta kennt Anna.", "de", [("roles", "Anna kennt Berta", "Berta kennt Anna")]),
        ("Anna kennt Nonne.", "Nonne kennt Anna.", "de", [("roles", "Anna kennt Nonne", "Nonne kennt Anna")]),
        (
            "Anna sah Berta gestern noch kurz im Park.",
            "Berta sah Anna gestern noch kurz im Park.",
            "de",
            [("roles", "Anna sah Berta", "Berta sah Anna gestern noch kurz im Park")],
        ),
        (
            "De hond zag gisteren vroeg de kat.",
            "De kat zag gisteren vroeg de hond.",
            "nl",
            [("roles", "hond zag gisteren vroeg de kat", "kat zag gisteren vroeg de hond")],
        ),
        ("De hond zag gisteren de kat.", "De kat zag gisteren de hond.", "nl", []),
        ("Nu de hond zag de kat.", "Nu de kat zag de hond.", "nl", [("roles", "hond zag de kat", "Nu de kat zag de hond")]),
        ("De Jan zag Piet.", "Piet zag de Jan.", "nl", [("roles", "Jan zag Piet", "Piet zag de Jan")]),
        ("Oban is the port.", "The port is Oban.", "en", []),
        ("In Spain then Oban is port now.", "In Spain then port is Oban now.", "en", []),
        ("Small but fast.", "Fast but small.", "en", []),
        ("Not small but fast.", "Not fast but small.", "en", [("roles", "small but fast", "Not fast but small")]),
        ("Small but fast, is it not?", "Fast but small, is it not?", "en", []),
        ("Cars small but fast.", "Cars fast but small.", "en", []),
        ("The lift may not be used.", "The lift may be used.", "en", [("negation", "not", "")]),
        ("The lift may be used.", "The lift may not be used.", "en", [("negation", "", "not")]),
        ("Not now open now.", "Now open now.", "en", []),
        ("He came not.", "He came.", "en", []),
        ("Now; not open here.", "Now; open here.", "en", []),
        ("Dogs may not enter, cats may not stay.", "Dogs may enter, cats may not stay.", "en", [("negation", "not", "")]),
        ("The painting was stolen.", "The painting was probably stolen.", "en", [("hedge", "", "probably")]),
        ("The painting was probably stolen.", "The painting was stolen.", "en", []),
        ("Nurses must wear a badge.", "Nurses may now also wear a badge.", "en", [("modal", "must", "may")]),
        ("Nurses must wear a badge.", "Nurses may now also gladly wear a badge.", "en", []),
        ("It must open, not close now.", "It may open, not close now.", "en", [("modal", "must", "may")]),
        ("You have to wear badges.", "You may wear badges.", "en", [("modal", "have to", "may")]),
        ("Wash hands before meals daily.", "Wash hands after meals daily.", "en", []),
        ("pins 4 pins 6 pins.", "pins 6 pins 4 pins.", "en", []),
        ("pins 4 pins 6 pins fit.", "Here pins 6 pins 4 pins fit.", "en", [("roles", "4 pins 6", "Here pins 6 pins 4 pins fit")]),
        ("pins 4 pins 6 pins fit 9 now.", "pins 6 pins 4 pins fit 8 now.", "en", []),
        ("It stood in boxes, it stood on boxes here.", "It stood on boxes, it stood in boxes here.", "en", []),
        (
            "Tall trees near quiet old mills shade roads.",
            "Roads shade tall trees near quiet old mills.",
            "en",
            [("roles", "Tall trees near quiet old mills shade roads", "Roads shade tall trees near quiet old mills")],
        ),
        ("Tall green trees near quiet old mills shade roads.", "Roads shade tall green trees near quiet old mills.", "en", []),
        (
            "Vik met quiet Fors slowly old red.",
            "Fors met quiet Vik slowly.",
            "en",
            [("roles", "Vik met quiet Fors", "Fors met quiet Vik slowly")],
        ),
        (
            "Vik met quiet old Fors slowly red deep dark.",
            "Fors met quiet old Vik slowly.",
            "en",
            [("roles", "Vik met quiet old Fors", "Fors met quiet old Vik slowly")],
        ),
        ("Vik met quiet Fors slowly old red deep.", "Fors met quiet Vik slowly.", "en", []),
    ],
)
def test_what_was_edited_in_a_copy(claim: str, source: str, tongue: Tongue, gated: Sequence[tuple[str, str, str]]) -> None:
    assert list(find_edits(matter(claim, source, tongue))) == gated


@pytest.mark.parametrize(
    ("claim", "source", "tongue", "gated"),
    [
        ("Bergen beat Oslo in the final.", "Oslo beat Bergen in the final.", "en", [("Bergen beat Oslo", "Oslo beat Bergen")]),
        ("In 2012 Bergen beat Oslo.", "Oslo beat Bergen in 2012.", "en", [("Bergen beat Oslo", "Oslo beat Bergen")]),
        ("Bergen is Oslo.", "Oslo is Bergen.", "en", []),
        ("Anna met Bob and Carl.", "Anna met Carl and Bob.", "en", []),
        ("Bergen was beaten by Oslo.", "Oslo was beaten by Bergen.", "en", [("Bergen was beaten by Oslo", "Oslo was beaten by Bergen")]),
        ("Bergen was beaten by Oslo.", "Bergen beat Oslo.", "en", [("Bergen was beaten by Oslo.", "Bergen beat Oslo.")]),
        ("Bergen was beaten by Oslo.", "Oslo beat Bergen.", "en", []),
        ("Bergen beat Oslo.", "Oslo was beaten by Bergen.", "en", []),
        ("Bergen beat Oslo.", "Bergen was beaten by Oslo.", "en", [("Bergen beat Oslo.", "Bergen was beaten by Oslo.")]),
        (
            "Directed by Bergen, it was seen by Oslo.",
            "Directed by Oslo, it was seen by Bergen.",
            "en",
            [("Bergen, it was seen by Oslo", "Oslo, it was seen by Bergen")],
        ),
        (
            "The firm earned 3 million in 2020 and 5 million in 2021.",
            "The firm earned 5 million in 2020 and 3 million in 2021.",
            "en",
            [("3 million in 2020 and 5 million", "5 million in 2020 and 3 million"), ("3 million in 2020", "3 million in 2021")],
        ),
        ("Bergen beat Oslo and Oslo beat Narvik.", "Oslo beat Bergen. Bergen beat Oslo.", "en", [("Bergen beat Oslo", "Oslo beat Bergen")]),
        (
            "Old Bergen Town beat New Oslo City.",
            "New Oslo City beat Old Bergen Town.",
            "en",
            [("Old Bergen Town beat New Oslo City.", "New Oslo City beat Old Bergen Town.")],
        ),
        ("Der Hund biss den Mann.", "Den Mann biss der Hund.", "de", []),
        ("Der Hund biss den Mann.", "Der Mann biss den Hund.", "de", [("Hund biss den Mann", "Mann biss den Hund")]),
        ("Anna biss Berta.", "Berta biss Anna.", "de", [("Anna biss Berta", "Berta biss Anna")]),
        (
            "The river is shorter than the Tay but longer than the Severn.",
            "The river is longer than the Severn but shorter than the Tay.",
            "en",
            [],
        ),
        ("Bergen beat Oslo.", "Oslo beat Bergen. Later Bergen beat Oslo.", "en", [("Bergen beat Oslo", "Oslo beat Bergen")]),
        ("Maas built the church.", "The church was designed by Maas and built by Bos.", "en", [("church", "by Bos")]),
        ("Maas designed the church.", "The church was designed by Maas and built by Bos.", "en", []),
        ("Kells lies on the coast.", "Kells lies on the coast, Trim lies inland.", "en", []),
        ("Trim lies on the coast.", "Kells and Trim lie on the coast, Navan lies inland.", "en", []),
        ("Trainees receive a car.", "Managers receive a car, but trainees receive a bus pass.", "en", []),
        ("Trainees receive a car.", "Managers receive a car. Trainees receive a bus pass.", "en", []),
        ("The kitchen was painted green.", "The hall was painted green, and 3 kitchens were painted white.", "en", [("kitchen", "hall")]),
        ("The car is red.", "The bus is red, the car is blue and the tram is green.", "en", [("car", "bus")]),
        (
            "The company was founded by Jansen in Oslo.",
            "The company was founded by Pietersen in Oslo. Jansen lives here.",
            "en",
            [("Jansen", "Pietersen")],
        ),
        (
            "The company was founded by Jansen in Oslo.",
            "The company was founded by Pietersen Berg Hansen in Oslo. Jansen lives here.",
            "en",
            [("Jansen", "Pietersen Berg Hansen")],
        ),
        (
            "The company was founded by Jansen in Oslo.",
            "The company was founded by Pietersen Berg Hansen Holm in Oslo. Jansen lives here.",
            "en",
            [],
        ),
        ("Animax has reached 66 million viewers.", "Animax is a channel in Asia. The company has reached 66 million viewers.", "en", []),
        (
            "Animax has reached 66 million viewers.",
            "Animax is a channel in Asia. The Sony company has reached 66 million viewers.",
            "en",
            [("Animax", "Sony company")],
        ),
        ("The red bus goes to the harbour.", "The blue bus goes to the harbour. A red tram stops.", "en", [("red", "blue")]),
        ("The red bus goes to the harbour.", "The red bus goes to the harbour.", "en", []),
        (
            "The bell was cast in 1894 and weighs 3 tons; it cost 5 euro in 1880.",
            "The bell was cast in 1880 and weighs 3 tons; it cost 5 euro in 1894.",
            "en",
            [("1894 and weighs 3 tons; it cost 5 euro in 1880", "1880 and weighs 3 tons; it cost 5 euro in 1894")],
        ),
        (
            "It cost 5 euro in 1880 and 7 euro in 1890.",
            "It cost 7 euro in 1880 and 5 euro in 1890.",
            "en",
            [("5 euro in 1880 and 7 euro", "7 euro in 1880 and 5 euro"), ("5 euro in 1880", "5 euro in 1890")],
        ),
        ("It cost 5 euro in 1880 and 7 euro in 1890.", "It cost 5 euro in 1880 and 7 euro in 1890.", "en", []),
        (
            "It cost 5 euro in 1880.",
            "It cost 7 euro in 1880 and 5 euro in 1890.",
            "en",
            [("5 euro", "7 euro"), ("5 euro in 1880", "5 euro in 1890")],
        ),
        ("It cost 5 euro in 1880.", "It cost 7 euro in 1880. It cost 5 euro in 1890. In 1880 it cost 5 euro.", "en", []),
        (
            "The bell was cast in 1894 and hung in 1880.",
            "The bell was cast in 1880 and hung in 1894.",
            "en",
            [("1894 and hung in 1880", "1880 and hung in 1894"), ("1880 … hung", "hung in 1894.")],
        ),
        (
            "The bell hung in 1880.",
            "The bell was cast in 1880, and hung in 1894.",
            "en",
            [("hung", "was cast"), ("1880 … hung", "hung in 1894.")],
        ),
        (
            "It cost 5 euro, 7 euro in 1880.",
            "It cost 7 euro in 1880, 5 euro in 1890.",
            "en",
            [("5 euro, 7 euro in 1880", "5 euro in 1890")],
        ),
        ("The bell hung in 1880.", "The bell was cast in 1880; it hung in 1894.", "en", [("hung", "was cast")]),
        (
            "Jan Berg Holm beat Ole Dahl Vik.",
            "Ole Dahl Vik beat Jan Berg Holm.",
            "en",
            [("Jan Berg Holm beat Ole Dahl Vik", "Ole Dahl Vik beat Jan Berg Holm")],
        ),
        ("Jan Berg Holm Lund beat Ole Dahl Vik Moe.", "Ole Dahl Vik Moe beat Jan Berg Holm Lund.", "en", []),
        ("Jan Berg beat Ole Dahl.", "Ole Dahl beat Jan Berg.", "en", [("Jan Berg beat Ole Dahl", "Ole Dahl beat Jan Berg")]),
        ("Bergen beat Oslo in rain and snow.", "Oslo beat Bergen in rain. Later Bergen beat Oslo in snow.", "en", []),
        (
            "Bergen beat Oslo in rain and snow.",
            "Oslo beat Bergen in rain. Later Narvik beat Oslo in snow.",
            "en",
            [("Bergen beat Oslo", "Oslo beat Bergen")],
        ),
        ("Animax has reached 66 million viewers.", "The company has reached 66 million viewers. Animax is a channel in Asia.", "en", []),
        ("Oslo directed Bergen.", "Oslo was directed by Bergen.", "en", [("Oslo directed Bergen.", "Oslo was directed by Bergen.")]),
        (
            "Oslo directed Bergen in May.",
            "In May Oslo was directed well by Bergen.",
            "en",
            [("Oslo directed Bergen in May.", "In May Oslo was directed well by Bergen.")],
        ),
        (
            "Rauchen verursacht Krebs.",
            "Rauchen wird durch Krebs verursacht.",
            "de",
            [("Rauchen verursacht Krebs.", "Rauchen wird durch Krebs verursacht.")],
        ),
        ("Kells, Navan and Trim lie on the coast.", "Trim lies inland, Kells and Navan lie on the coast.", "en", []),
        ("Trim lies on the coast.", "Trim lies inland. Kells lies on the coast.", "en", []),
        ("The kitchen was painted green.", "In 2010 the hall was painted green and the kitchen was painted white.", "en", []),
        ("Els Maas designed the tower.", "The tower was built by Jan Bos and designed by Els Maas.", "en", []),
        (
            "It cost 5 euro on 3 May 1880 and 7 euro in 1890.",
            "It cost 7 euro on 3 May 1880 and 5 euro in 1890.",
            "en",
            [("5 euro on 3 May 1880 and 7 euro", "7 euro on 3 May 1880 and 5 euro")],
        ),
        ("The bell weighs 3 tons and cost 5 euro.", "The bell cost 5 euro and weighs 3 tons.", "en", []),
        ("The red bus goes to the harbour.", "The blue bus goes to the harbour. The red bus goes home.", "en", []),
        (
            "The red bus goes to the old harbour and stops.",
            "The blue bus goes to the old harbour. There the red bus stops.",
            "en",
            [("red", "blue")],
        ),
        ("Oslo won.", "Bergen won, Oslo lost.", "en", [("Oslo", "Bergen")]),
        ("In 1931 the museum moved to the mill.", "The museum moved to the mill in 1931.", "en", []),
        ("Vik was tall.", "Vik was very tall; Fors was tall.", "en", []),
        ("Vik was tall.", "Fors was small; Vik slept.", "en", []),
        ("In Oslo there Vik did.", "Vik slept in Oslo; there Fors did.", "en", [("Vik", "Fors")]),
        ("It was Vik.", "Vik slept; she was Fors.", "en", []),
        ("Vik met Fors.", "Fors slept; he met Dahl.", "en", [("Vik", "he")]),
        ("Vik slept.", "Vik met Orm; Dahl slept.", "en", [("Vik", "Dahl")]),
        ("Was Vik in Oslo.", "Vik slept; was Fors in Bergen.", "en", [("Vik", "Fors")]),
        ("Vik asks Fors.", "Vik asks Dahl.", "en", [("Fors", "Dahl")]),
        ("Vik Fors.", "Fors Vik; in 1880.", "en", [("Vik Fors", "Fors Vik")]),
        ("5 1880.", "5 1880.", "en", []),
        ("Animax has reached 66 million viewers.", "Animax is a channel; the company has reached 66 million viewers.", "en", []),
        (
            "The Animax has reached 66 million viewers.",
            "The company has reached 66 million viewers. Animax is a channel in Asia.",
            "en",
            [("Animax", "company")],
        ),
        ("Vik beat Dahl.", "Vik was hit by Oslo.", "en", []),
        ("Vik hit Oslo.", "By night Vik was hit by Oslo.", "en", [("Vik hit Oslo.", "By night Vik was hit by Oslo.")]),
        ("Vik unterliegt Fors.", "Durch Fors wird Vik besiegt.", "de", [("unterliegt Fors", "besiegt")]),
        ("Wurde Vik von Fors besiegt.", "Wurde Fors von Vik besiegt.", "de", [("Vik von Fors", "Fors von Vik")]),
        ("It is Fors Vik was beaten by.", "It is Vik Fors was beaten by then.", "en", [("Fors Vik", "Vik Fors")]),
        ("Bergen beat Oslo by 3 goals.", "Oslo beat Bergen.", "en", [("Bergen beat Oslo", "Oslo beat Bergen")]),
        ("Bergen versloeg Oslo door geluk.", "Oslo versloeg Bergen.", "nl", [("Bergen versloeg Oslo", "Oslo versloeg Bergen")]),
    ],
)
def test_what_stands_in_anothers_place(claim: str, source: str, tongue: Tongue, gated: Sequence[tuple[str, str]]) -> None:
    of = matter(claim, source, tongue)
    found: Iterator[Gated] = chain(find_changed_places(of), find_pairs(of), find_later(of))
    assert [(one.claim, one.source) for one in found] == gated


@pytest.mark.parametrize(
    ("claim", "source", "is_refused"),
    [
        ("Riesling grapes mature in oak.", "Sable ferments Riesling grapes in steel. The red wines mature for months in oak.", True),
        ("Riesling matures in oak.", "Sable ferments Riesling in steel. At the winery, the red ones mature in oak.", True),
        ("Sable matures its wines in oak barrels.", "Sable was founded in 1911. It matures wines for months in oak barrels.", False),
        ("Sable opened in May 1911, and the red wines mature in oak.", "Sable opened in May 1911. The red wines mature in oak.", False),
        ("Sable reaches 66 viewers.", "Sable is a channel. The company reaches 66 viewers.", False),
        ("Sable reaches 66 viewers.", "Sable is a channel. Its company reaches 66 viewers.", True),
        ("Sable reaches 66 viewers.", "Sable is a channel. The Swiss company reaches 66 viewers.", True),
        ("Sable was sold for 66 pounds.", "Sable is a channel. In 1911 it was sold for 66 pounds.", False),
        ("Sable was sold for 66 pounds.", "Sable is a channel. For 66 pounds a rival was sold.", False),
        ("Members pay 5 euro for a ticket.", "A ticket costs 5 euro; members pay 3.", True),
        ("Anna opened the fair and the mayor closed it.", "The mayor closed it, and Anna opened the fair.", False),
        ("In 1931 the museum moved.", "The museum, by 1931 the largest, moved.", False),
        ("At 20 metres the museum is tall.", "The museum is tall, at 20 metres.", True),
        ("Use the stairs if the lift fails.", "If the lift fails, use the stairs.", False),
        ("The shop closed after the owner died.", "The owner died and the shop then closed.", False),
        ("The beach on the coast is closed in winter.", "In winter, the beach on the coast is closed.", False),
        ("The beach on the coast is closed in wet winter.", "In wet winter, the beach on the coast is closed.", True),
        ("Use the stairs beside the lift.", "Repair the broken lift, use the stairs.", True),
        (
            "Old red carts haul heavy wet sand down roads.",
            "Roads cross meadows, old red carts haul heavy wet sand down.",
            False,
        ),
        ("Old red carts haul wet sand down roads.", "Roads cross meadows, old red carts haul heavy wet sand down.", True),
        ("The fee rises for pupils.", "The fee rises, for pupils it stays equal.", True),
        ("The fee rises for pupils.", "The fee rises, for pupils as well.", False),
        ("Vik gladly joins.", "Young Vik joins.", False),
        ("Vik joins Fors.", "Young Orm met Vik. There he joins Fors.", False),
        ("Vik joins Fors gladly.", "Vik joins Fors. Wise Dahl gladly sings.", True),
        ("Vik gladly joins Fors.", "Vik joins Fors. Wise Dahl gladly sings.", False),
        ("Vik gladly joins Fors.", "Vik joins Fors; wise Dahl gladly sings.", True),
        ("Members pay 5 euro for a ticket if asked.", "A ticket costs 5 euro; members pay 3.", True),
        ("In 1931 Vik joined.", "Vik joined; it was 1931.", False),
        ("Sable paid for wine in gold coins.", "Sable paid for it in gold coins. Every cask held wine.", False),
        ("Sable paid for red wine in gold coins.", "Sable paid for it in gold coins. Every cask held red wine.", True),
    ],
)
def test_words_are_not_tied_to_what_another_sentence_is_about(claim: str, source: str, is_refused: bool) -> None:
    assert bool(list(find_untied(matter(claim, source, "en")))) is is_refused


@pytest.mark.parametrize(
    ("claim", "source", "tongue", "gated"),
    [
        ("Vik joins Fors in May.", "Fors joins Vik in May.", "en", ("Vik joins Fors in May.", "Fors joins Vik in May.")),
        ("Vik asks Fors.", "Fors asks Vik.", "en", None),  # nothing of weight between them: told by their neighbours
        ("Vik joins Fors.", "Fors joins Vik, Vik joins Fors.", "en", None),
        ("Vik joins Fors, Dahl sings.", "Fors joins Vik. Dahl sings.", "en", ("Vik joins Fors", "Fors joins Vik.")),
        ("Dahl sings, Vik joins Fors.", "Dahl sings. Fors joins Vik, too.", "en", ("Vik joins Fors.", "Fors joins Vik")),
        ("Vik was joined by Fors.", "Fors joined Vik.", "en", None),  # another voice
        ("The lift stops if fuses melt.", "If fuses melt the lift stops.", "en", None),
        ("The oldest mill is Orm.", "Orm is the oldest mill.", "en", None),
        ("The oldest mill is Orm.", "Orm beat the oldest mill.", "en", ("The oldest mill is Orm.", "Orm beat the oldest mill.")),
        ("In winter, guests pay tax.", "Guests pay tax, in winter.", "en", None),
        ("In winter guests pay tax.", "Guests pay tax in winter. Then Dahl sang his songs in the old garden.", "en", None),
        ("In red cold winter guests pay tax.", "Guests pay tax in red cold winter.", "en", None),
        (
            "In red cold wet winter guests pay tax.",
            "Guests pay tax in red cold wet winter.",
            "en",
            ("In red cold wet winter guests pay tax.", "Guests pay tax in red cold wet winter."),
        ),
        ("Vik must join Fors.", "Fors must join Vik.", "en", ("Vik must join Fors.", "Fors must join Vik.")),
        ("Vik joins Fors.", "Fors meets Vik.", "en", ("Vik joins Fors.", "Fors meets Vik.")),
        ("Vik joins Fors.", "Fors meets Vik that meets Fors.", "en", None),
        ("Vik joins Fors.", "Fors joins Dahl.", "en", None),
        ("Vik joins Fors till Monday.", "Till Monday Vik joins Fors.", "en", None),
        ("Cars beat automobiles.", "Vik has cars.", "en", None),
        ("Den Mann biss plump der Hund.", "Der Hund biss plump den Mann.", "de", None),
        (
            "Der Mann biss plump den Hund.",
            "Der Hund biss plump den Mann.",
            "de",
            ("Der Mann biss plump den Hund.", "Der Hund biss plump den Mann."),
        ),
    ],
)
def test_a_short_claim_has_the_order_of_its_source(claim: str, source: str, tongue: Tongue, gated: tuple[str, str] | None) -> None:
    found = [(one.claim, one.source) for one in Order(matter(claim, source, tongue)).inverted()]
    assert found == ([] if gated is None else [gated])


@pytest.mark.parametrize(("blanks", "is_refused"), [(58, False), (59, True)])
def test_a_preposition_is_looked_for_in_60_characters(blanks: int, is_refused: bool) -> None:
    claim, source = "In winter guests pay tax.", f"Guests pay tax in{' ' * blanks}winter."
    assert bool(list(Order(matter(claim, source, "en")).inverted())) is is_refused


@pytest.mark.parametrize(("more", "is_refused"), [("", True), (" 9", True), (" 9 harps", False)])
def test_a_long_claim_may_have_another_order(more: str, is_refused: bool) -> None:
    claim, source = f"Vik joins Fors, Dahl sings Lieder{more}.", f"Fors joins Vik, Dahl sings Lieder{more}."
    assert bool(list(Order(matter(claim, source, "en")).inverted())) is is_refused


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Spey grey Don Dee long Tay passes.", "Spey passes Dee long Tay grey Don."),
        ("joins crosses Tay Don.", "Don crosses joins crosses Tay joins."),
    ],
)
def test_one_of_two_that_keeps_its_neighbours_is_enough_for_no_swap(claim: str, source: str) -> None:
    assert not list(Order(matter(claim, source, "en")).swapped())


@pytest.mark.parametrize(("more", "is_refused"), [(6, False), (7, True)])
def test_eight_places_of_a_word_are_looked_at(more: int, is_refused: bool) -> None:
    source = f"Oslo beat Bergen{'; Bergen, Oslo' * more}; Bergen beat Oslo."
    assert bool(list(Order(matter("Bergen beat Oslo.", source, "en")).swapped())) is is_refused


@pytest.mark.parametrize(("more", "is_refused"), [(57, True), (58, False)])
def test_sixty_words_of_a_claim_are_tried_in_each_others_place(more: int, is_refused: bool) -> None:
    rest = " of ".join([f"{first}{second}kx" for first in "bdfglmnp" for second in "aeiouyrl"][:more])
    of = matter(f"{rest} of Bergen beat Oslo.", f"{rest} of Oslo beat Bergen.", "en")
    assert bool(list(Order(of).swapped())) is is_refused


@pytest.mark.parametrize(("blanks", "gated"), [(115, ["Myths"]), (116, [])])
def test_a_heading_is_a_line_of_at_most_120_characters(blanks: int, gated: list[str]) -> None:
    source = f"Myths{' ' * blanks}\nMilk is bad for adults."
    assert [one.source for one in find_unasserted(matter("Milk is bad for adults.", source, "en"))] == gated
