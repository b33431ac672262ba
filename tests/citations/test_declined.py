"""Declined answers: what is a refusal in Dutch, English and German, and above all what is not."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.citations.declined import LONGEST_REFUSAL, declined_spans, is_declined, is_refusal
from ctxasm.model.refusals import NOTHING_FOUND, OWN_REFUSALS, REFUSAL

DECLINED = """
en I could not find this in the context.
en I couldn't find any information about parking fees in the provided documents.
en Based on the provided context, I cannot answer this question.
en Based on the given context, the founder's first patent cannot be determined.
en Based on the given context, there is no information about when the city was founded. [1]
en The context does not mention the parking fee.
en The provided context doesn't contain any information about opening hours [1].
en The given context does not directly answer the question.
en There is no information about his second marriage in the given contexts [1][2]
en The most expensive bottle is not mentioned in the given context.
en It is not explicitly mentioned in the context how many storms became hurricanes.
en However, it is not explicitly mentioned how many of those storms developed into hurricanes in this context.
en I'm sorry, but I don't have enough information to answer that.
en I am unable to answer this question based on the available sources.
en Unfortunately, the sources do not say when the clinic opens.
en There is not enough information to answer the question. [1]
en The documents provided do not specify a price.
en None of the sources mention a discount for students.
en No information about visiting hours was found.
en I do not know.
en I don't know the answer to this question.
en It is unclear from the provided contexts in which year they were designated. [1]
en It is not possible to determine the exact date from the context.
en The answer cannot be found in the provided text.
en Nothing in the sources says who built the bridge.
en The search results do not provide an answer.
en According to the context, it is not specified who signed the treaty.
en Sorry, I cannot help with that based on these sources.
en The context provides no details on the price.
en The passage makes no mention of a second marriage.
nl De context geeft hier geen antwoord op.
nl In de context staat niets over parkeren.
nl Ik kan deze vraag niet beantwoorden op basis van de gegeven context.
nl Op basis van de context kan ik deze vraag niet beantwoorden.
nl Er is geen informatie over de openingstijden in de context.
nl Hierover vind ik niets in de bronnen.
nl Ik heb hierover geen informatie gevonden.
nl De bronnen vermelden geen prijs.
nl De gegeven documenten bevatten geen informatie over het bezoekuur.
nl Het tarief wordt niet genoemd in de context.
nl In de bronnen wordt niet vermeld wie de arts is [1].
nl Dat staat niet in de context.
nl Helaas geeft de context geen informatie over de wachttijd.
nl Ik weet het niet.
nl Uit de context blijkt niet hoe lang de opname duurt.
nl Sorry, daar kan ik geen antwoord op geven.
nl Er is onvoldoende informatie om deze vraag te beantwoorden.
nl Het antwoord op deze vraag is niet te vinden in de bronnen.
nl De context zegt niets over vergoedingen.
nl Ik kon dit niet terugvinden in de documenten.
nl Geen van de bronnen noemt een telefoonnummer.
nl De context beantwoordt deze vraag niet.
nl Op basis van de gegeven documenten valt niet te zeggen wanneer de afdeling opent.
de Dazu finde ich keine Angaben.
de Dazu finde ich in den Quellen keine Angaben.
de Der Kontext enthält keine Informationen über die Öffnungszeiten.
de Diese Frage kann ich anhand des Kontexts nicht beantworten.
de Auf Grundlage des gegebenen Kontexts kann ich die Frage nicht beantworten.
de Der Preis wird im Kontext nicht erwähnt.
de Aus dem Kontext geht nicht hervor, wann die Praxis öffnet.
de Die Quellen machen dazu keine Angaben.
de Leider enthalten die Dokumente keine Antwort auf diese Frage.
de Das weiß ich nicht.
de Ich konnte dazu nichts finden.
de Im Kontext steht nichts über Parkgebühren.
de Die Frage lässt sich mit den vorliegenden Quellen nicht beantworten.
de Es liegen keine Informationen zu den Besuchszeiten vor.
de Keine der Quellen nennt eine Telefonnummer.
"""

STATED = """
en The brochure does not recommend aspirin.
en There is no cure for Parkinson's disease [1].
en There is no information desk at the east entrance [2].
en The context [1] says that the clinic does not open on Sunday.
en The given context mentions that symptoms do not appear for years [1].
en The sources do not agree on the date [1][2].
en No evidence was found that vitamin C prevents colds [1].
en The report did not mention his name, which angered him [3].
en The leader's identity is unknown [1].
en The reasons for the higher numbers are unclear [3].
en Aspirin is not recommended in the context of pregnancy [2].
en He was not mentioned in the will of his father [1].
en Patients cannot receive information about other patients by phone [4].
en You cannot find parking near the entrance on weekdays [1].
en The information is not shared with third parties [2].
en According to the context, the pool is not open on Monday [1].
en Based on the given context, 37 men were killed during the battle [1].
en The context does not mention the price, but it says that parking is free for 20 minutes [1].
en The context only mentions his inventions in radio telephony [1].
en "I could not find peace in the city," he wrote in 1921 [1].
en The consent document does not contain a signature field [2].
en The political opposition does not recognize the results of the referendum [6, 9].
en He did not answer the question in court [1].
en The court did not find him guilty [2].
en There is no answer to a letter that was never sent [1].
en The test cannot determine the sex of the child [1].
en The text of the treaty does not mention reparations [1].
en It is not possible to park at the main entrance [3].
en The law does not specify a maximum term [2].
en The soldiers had no information about the enemy [1].
en The source of the river is not known [1].
en They do not know how to swim [1].
en The study did not provide evidence of harm [2].
en The drug does not contain lactose [1].
nl De receptie is op zondag niet open.
nl In de folder staat dat u niet mag eten voor de operatie [1].
nl De folder raadt aspirine niet aan [2].
nl Er is geen genezing voor de ziekte van Parkinson [1].
nl Er is geen informatiebalie bij de oostingang [1].
nl Wij geven geen informatie over patiënten aan de telefoon [2].
nl Er wordt geen informatie gegeven aan derden [2].
nl De context vermeldt dat de kliniek zondag niet open is [1].
nl De bron van de infectie is niet gevonden [1].
nl De bron bevat geen kalk [3].
nl U kunt hier niet parkeren [1].
nl Volgens de context is de kliniek op maandag niet open [1].
nl De oorzaak van de ziekte is niet bekend [2].
nl Neem geen sieraden mee naar de operatie [1].
nl De arts vindt niets afwijkends op de foto [1].
nl U vindt hier geen geldautomaat [2].
nl Ik kan niet slapen na de operatie: wat nu?
nl De uitslag is nog niet bekend als u naar huis gaat [1].
nl Zonder verwijzing kan de poli uw vraag niet beantwoorden [2].
nl De verzekering vergoedt dit niet [1].
nl Roken is niet toegestaan in de context van een operatie [1].
nl De bijsluiter vermeldt geen bijwerkingen [2].
nl Bezoekers staan niet op de lijst [1].
nl De patiënt weet het niet altijd zelf [1].
nl De context noemt geen prijs, maar wel dat parkeren twintig minuten gratis is [1].
nl In het document van de gemeente staat niet wie eigenaar is [3].
nl Het medicijn bevat geen suiker [2].
nl De bibliotheek leent geen documenten uit zonder pas [1].
de Die Rezeption ist sonntags nicht geöffnet.
de Die Broschüre empfiehlt Aspirin nicht [1].
de Für diese Krankheit gibt es keine Heilung [1].
de Sie finden dort keine Parkplätze [2].
de Der Kontext besagt, dass die Praxis montags nicht öffnet [1].
de Die Quelle des Flusses ist nicht bekannt [1].
de Das Medikament enthält keine Laktose [2].
de Wir geben am Telefon keine Auskunft über Patienten [1].
de Der Arzt fand nichts Auffälliges [1].
de Es gibt keinen Informationsschalter am Eingang [2].
de Im Kontext der Schwangerschaft wird Aspirin nicht empfohlen [1].
de Er konnte die Frage des Richters nicht beantworten [1].
"""


def cases(text: str) -> list[tuple[str, str]]:
    return [(line[:2], line[3:]) for line in text.strip().splitlines()]


@pytest.mark.parametrize(("language", "sentence"), cases(DECLINED))
def test_a_refusal_is_recognised(language: str, sentence: str) -> None:
    assert is_declined(sentence)
    assert is_declined(sentence, language)  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "sentence"), cases(STATED))
def test_a_statement_is_not_taken_for_a_refusal(language: str, sentence: str) -> None:
    assert not is_declined(sentence)
    assert not is_declined(sentence, language)  # type: ignore[arg-type]


def test_there_are_enough_examples_in_every_language() -> None:
    assert min(len(cases(DECLINED)), len(cases(STATED))) >= 60
    for examples in (DECLINED, STATED):
        assert {language for language, _ in cases(examples)} == {"nl", "en", "de"}
        assert len(set(cases(examples))) == len(cases(examples))


@pytest.mark.parametrize("refusal", OWN_REFUSALS)
@pytest.mark.parametrize(
    "dress",
    [
        "{}",
        "**{}**",
        '"{}"',
        "“{}”",
        "- {}",
        "> *{}*",
        "  {}\n",
        "{} [1]",
        "{}[1][2]",
        "{} 【1†source】",
        "{}\n\n[1]",
        "1. {}",
        "{}…",
        "'{}'",
    ],
)
def test_the_own_refusals_are_recognised_however_they_are_dressed(refusal: str, dress: str) -> None:
    for text in (refusal, refusal.rstrip("."), refusal.upper(), refusal.replace(" ", "\u00a0 "), refusal.replace(",", " ,")):
        assert is_declined(dress.format(text)), dress.format(text)
    assert is_refusal(dress.format(refusal))


@pytest.mark.parametrize("refusal", REFUSAL.values())
def test_a_refusal_in_pieces_is_recognised_when_it_is_there(refusal: str) -> None:
    assert is_declined(refusal)
    assert is_declined(refusal[:-1])  # its final stop may be yet to come
    assert not any(is_declined(refusal[:length]) for length in range(len(refusal) * 2 // 3))


def test_typographic_apostrophes_and_quotations() -> None:
    assert is_declined("I couldn’t find this in the provided context.")
    assert is_declined("The context doesn’t mention “the golden gate”.")
    assert not is_declined("The letter reads “I could not find this in the context”.")


def test_a_sentence_that_cites_declines_only_if_it_names_context_or_question() -> None:
    for sentence in ("There is no information about its safety in pregnancy", "Er is geen informatie over gebruik bij kinderen"):
        assert is_declined(f"{sentence}.")
        assert not is_declined(f"{sentence} [1].")
        assert not is_declined(f"{sentence}.", cited=True)
    assert is_declined("There is no information about its safety in the context [1].")
    assert is_declined("There is no information about its safety [1].", cited=False)


def test_only_the_sentences_that_decline_are_marked() -> None:
    answer = (
        "The price is not mentioned in the given context. However, parking is free for 20 minutes [1]. "
        "The provided sources do not say who pays. [2]\n- De receptie is op zondag niet open [3].\n- Dat staat niet in de context."
    )
    assert [answer[start:end] for start, end in declined_spans(answer)] == [
        "The price is not mentioned in the given context.",
        "The provided sources do not say who pays. [2]",
        "- Dat staat niet in de context.",
    ]
    assert declined_spans(answer, sentences=[(0, 48)]) == ((0, 48),)
    assert not is_refusal(answer)
    assert is_refusal("Sorry, ik kan deze vraag niet beantwoorden. De context geeft hier geen antwoord op. [1]")
    assert is_refusal(f"{NOTHING_FOUND['nl']} {NOTHING_FOUND['en']}")
    assert not is_refusal("")
    assert not is_refusal("[1]")


PIECES = st.sampled_from(
    ["the context", "does not", "mention", "I", "could not find", "in", "provided", "de bronnen", "geen", "informatie", "niet",
     "der Kontext", "keine", "[1]", "“", "”", "**", ",", "but", ";", ".", "\n", "\x00", "é", "ﬁ", "is", "stated", "based on", "x" * 40]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map(" ".join))
@settings(max_examples=200, deadline=None)
def test_any_text_is_judged_and_spans_are_its_own(text: str) -> None:
    spans = declined_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert all(is_declined(text[start:end]) for start, end in spans)
    assert is_declined(text) == any(is_declined(text, language) for language in ("nl", "en", "de"))  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["in the ", "not ", "the context ", "is not mentioned ", "er is geen ", "[1]", '"', "de bronnen ", "a, "])
def test_long_text_takes_no_long_time(unit: str) -> None:
    start = time.perf_counter()
    is_declined((unit * 200)[:LONGEST_REFUSAL])
    is_declined(f"it is {unit * 200}"[:LONGEST_REFUSAL])
    declined_spans(unit * 20_000)
    assert time.perf_counter() - start < 1.0
