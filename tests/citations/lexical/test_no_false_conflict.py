"""What a source says in other words is never called contradicted: that is the worst mistake a check can make."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical import LexicalScorer
from ctxasm.model.support import Match, Source
from tests.citations.lexical.test_one_wrong_word import pairs

TRUE = """
Met een Holter mag u niet douchen of zwemmen. | U kunt in die tijd niet douchen of zwemmen met een Holter.
You can get a plan of up to twelve months without interest. | A plan of at most twelve months is possible, without interest.
Een masker is niet meer verplicht, tenzij dat op de deur staat. | Een masker is alleen nog verplicht wanneer dat op de deur staat.
Annuleert u te laat of helemaal niet, dan rekenen wij € 25 aan. | Voor een afspraak die u niet of te laat afzegt, rekenen wij € 25 aan.
Als u minder dan 48 uur vooraf afbelt, kost dat € 50. | Bel minstens 48 uur vooraf af. Zo vermijdt u een kost van € 50.
If you cancel less than 48 hours in advance you will be charged 50 euros. | Call at least 48 hours in advance; otherwise we charge € 50.
Buslijnen 12 en 14 rijden elk kwartier van het station. | Van het station rijden bus 12 en bus 14 om het kwartier.
The club worked with Playa and Betty for the 2011 and 2012 seasons. | The club worked with Playa for the 2011 season and with Betty in 2012.
The identification of type 1 and type 2 was done in India. | Type 1 and type 2 diabetes were identified in India.
The technician is not allowed to give you results. | The technician who performs your scan may not give you any results.
Voor de meeste onderzoeken is nuchter zijn niet nodig. | Voor de meeste onderzoeken hoeft u niet nuchter te zijn.
Campus Sluispoort is in het weekend gesloten. | Campus Sluispoort is open op werkdagen van 7 tot 18.30 uur en gesloten in het weekend.
Flowers are not allowed in intensive care. | Flowers are allowed, except in intensive care, the haematology ward and isolation rooms.
The castle opened after the church. | The church opened before the castle.
The castle was built later than the church. | The church was built earlier than the castle.
De kerk is gebouwd voordat het kasteel werd gebouwd. | Het kasteel werd gebouwd nadat de kerk is gebouwd.
Dogs and cats may not enter. | Neither dogs nor cats may enter.
Honden en katten mogen niet naar binnen. | Noch honden noch katten mogen naar binnen.
Hunde und Katzen dürfen nicht hinein. | Weder Hunde noch Katzen dürfen hinein.
Das Museum ist geöffnet. | Das Museum ist immer noch geöffnet.
Masks are not required unless the sign on the door says so. | A mask is only required when a sign on the door says so.
"""
FALSE = """
Een taxi zonder begeleider volstaat. | Een taxi zonder begeleider volstaat niet.
An MRI takes at least 45 minutes. | An MRI takes 20 to 45 minutes.
Voor een MRI van de buik mag u gewoon eten en drinken. | U mag gewoon eten en drinken, behalve voor een MRI van de buik.
Koffie mag u altijd drinken. | Water drinken mag altijd. Koffie, thee, melk en frisdrank mogen niet.
Flowers are allowed in isolation rooms. | Flowers are allowed, except in intensive care, the haematology ward and isolation rooms.
The reading room of the library is closed on Saturdays. | The reading room of the library has light until 4 pm on Saturdays.
Een mondmasker is altijd verplicht. | Een mondmasker is alleen nog verplicht wanneer dat op de kamerdeur staat.
You may never eat or drink before an MRI. | You may eat and drink normally, except before an MRI of the abdomen: then do not eat or drink.
Een MRI duurt hoogstens 20 minuten. | Een MRI duurt 20 tot 45 minuten.
"""


def match_of(claim: str, text: str) -> Match:
    return LexicalScorer().compare([claim], [Source(1, text, ((0, len(text)),))]).each(0)[0]


@pytest.mark.parametrize(("claim", "text"), pairs(TRUE))
def test_what_is_put_otherwise_is_no_conflict(claim: str, text: str) -> None:
    assert match_of(claim, text).conflict is None


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The castle opened before the church.", "The castle opened after the church."),
        ("Before the church the castle opened.", "The castle opened after the church."),
        ("Hunde und Katzen dürfen nicht hinein.", "Hunde und Katzen dürfen hinein."),
    ],
)
def test_what_is_put_likewise_but_for_an_opposite_is_one(claim: str, text: str) -> None:
    assert match_of(claim, text).conflict is not None


@pytest.mark.parametrize(("claim", "text"), pairs(FALSE))
def test_a_part_of_what_a_source_says_is_not_enough(claim: str, text: str) -> None:
    assert match_of(claim, text).score < LexicalScorer.threshold


def test_a_name_with_other_words_on_either_side_replaces_none() -> None:
    assert match_of("Katz Peter sued the company that led.", "Katz sued the company that Renner led.").conflict is None


def test_a_sentence_that_shares_only_figures_with_a_claim_is_tried() -> None:
    text = "De afdeling MRI ligt op verdieping -1. Volg de blauwe lijn. Wij werken op zaterdag van 8 tot 16 uur."
    (found,) = match_of("De afdeling MRI is op zaterdag open van 8 tot 16 uur.", text).found
    assert "zaterdag van 8 tot 16 uur" in text[found.start : found.end]
