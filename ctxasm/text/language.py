"""Words of Dutch, English and German: which language a question or a corpus is in, words that deny, and the tool's own refusals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Literal, NamedTuple

from ctxasm.model.records import CorpusLanguage

Language = Literal["nl", "en"]

DUTCH = frozenset(
    re.findall(
        r"\w+",
        "de het een en van in op te dat die is zijn was waren wordt worden met voor aan er om door naar bij uit ook als dan "
        "maar of nog wel niet geen ik je jij u uw we wij ze zij hij mij mijn me ons onze hun haar kan kunt kunnen moet moeten "
        "mag mogen wil wilt hoe wat waar wanneer welke wie waarom heb hebt heeft hebben had tot over onder tussen na tijdens "
        "deze dit daar hier zo al meer veel hoeveel hoelang lang laat doe doen zou zal gaat gaan ben bent worden iemand iets "
        "per",
    )
)
ENGLISH = frozenset(
    re.findall(
        r"\w+",
        "the a an and of in on to that which is are was were be been with for at there by from as than but or not no i you your "
        "we they he she it its my me our their can could must may might will would should how what where when who why do does "
        "did have has had until over under between after during this these those here so more much many long if any some about "
        "get per am into out up",
    )
)
GERMAN = frozenset(
    re.findall(
        r"\w+",
        "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren sei wird werden wurde "
        "wurden mit ohne von vom zu zum zur in im auf an am aus bei für fur über uber unter nach vor hinter durch gegen als auch wie wo "
        "was wer wann warum welche welcher welches ich du er sie es wir ihr man mich mir uns ihnen sein seine ihre haben hat hatte kann "
        "können konnen muss müssen mussen darf dürfen durfen soll sollen sollte will wollen wenn dass ob so noch nur schon sehr mehr viel "
        "viele wieviel bis seit während wahrend um sich dies diese dieser dieses jede jeder jedes alle da hier dort gibt",
    )
)
STOP_WORDS = DUTCH | ENGLISH
_WORD = re.compile(r"[^\W\d_]+")
_DUTCH_SPELLING = re.compile(r"ij|aa|uu|sch|ieuw|eeu|oe[^s]|lijk|heid|tjes?\b|kosten|uur\b")


def language_of(text: str) -> Language:
    """The language of a question: by its small words, else by its spelling; English where nothing tells."""
    words = [word.lower() for word in _WORD.findall(text)]
    dutch = sum(word in DUTCH and word not in ENGLISH for word in words)
    english = sum(word in ENGLISH and word not in DUTCH for word in words)
    if dutch == english:
        return "nl" if any(_DUTCH_SPELLING.search(word) for word in words) else "en"
    return "nl" if dutch > english else "en"


STOP_WORDS_OF: dict[CorpusLanguage, frozenset[str]] = {"nl": DUTCH, "en": ENGLISH, "de": GERMAN}
SAMPLE = 200
"""Texts that are looked at to tell the language of a corpus."""
SAMPLE_CHARS = 4000
"""Of each of them."""
SAMPLED_DOCUMENTS = 50
"""Documents out of which a sample is taken, where they can be picked."""

_TELLING: dict[CorpusLanguage, frozenset[str]] = {
    language: stop.difference(*(other for name, other in STOP_WORDS_OF.items() if name != language))
    for language, stop in STOP_WORDS_OF.items()
}
"""Small words of one language that none of the others has."""


class Sampled(NamedTuple):
    """What is looked at to tell the language of documents in a row: these of them, and as many chunks of each from its first on."""

    documents: range
    chunks: int


def sample_of(documents: int) -> Sampled:
    """Documents from all over, the same ones every time; with a summary each no more than SAMPLE texts."""
    some = range(0, documents, max(1, -(-documents // SAMPLED_DOCUMENTS)))
    return Sampled(some, (SAMPLE - len(some)) // max(1, len(some)))


def language_of_texts(texts: Iterable[str]) -> CorpusLanguage:
    """The language of a corpus (or one question), by the small words of up to SAMPLE texts; English where nothing tells."""
    some = list(islice(texts, SAMPLE))
    words = [word.lower() for text in some for word in _WORD.findall(text[:SAMPLE_CHARS])]
    own = {language: sum(word in stop for word in words) for language, stop in _TELLING.items()}
    best = max(own, key=lambda language: own[language])
    if list(own.values()).count(own[best]) > 1:
        return language_of(" ".join(text[:SAMPLE_CHARS] for text in some))
    return best


_DUTCH = "niet geen nooit noch nergens niemand niets evenmin zonder geenszins nimmer"
_ENGLISH = "not no never nor nowhere nobody none nothing neither without cannot"
_GERMAN = "nicht kein keine keinen keinem keiner keines nie niemals nirgends niemand nichts weder ohne"
DENIALS = frozenset(f"{_DUTCH} {_ENGLISH} {_GERMAN}".split())
EXCEPTIONS = frozenset(("behalve", "tenzij", "except", "unless", "ausser", "außer"))
"""What follows them is not meant."""


def is_denial(word: str) -> bool:
    """Whether a word in lower case denies, by itself or by its end ("isn't")."""
    return word in DENIALS or word.endswith(("n't", "n’t"))


REFUSAL: dict[Language, str] = {
    "nl": "De bronnen die hier gegeven zijn, beantwoorden deze vraag niet.",
    "en": "The sources given here do not answer this question.",
}
"""What the strict prompt asks for, and nothing else, where the context holds no answer."""
NOTHING_FOUND: dict[Language, str] = {"nl": "Geen relevante inhoud gevonden.", "en": "No relevant content found."}
"""The answer to an empty context, which reaches no model."""
UNANSWERED: dict[Language, str] = {
    "nl": "In de context staat geen zin die deze vraag beantwoordt.",
    "en": "No sentence of the context answers this question.",
}
"""What the extractive model says where it finds nothing to quote."""
OTHER_LANGUAGE: dict[Language, str] = {
    "nl": "De context is in een andere taal dan de vraag: daarvoor is een taalmodel nodig.",
    "en": "The context is in another language than the question: that takes a language model.",
}
"""Follows UNANSWERED where that may be why."""
OWN_REFUSALS = tuple(text for texts in (REFUSAL, NOTHING_FOUND, UNANSWERED, OTHER_LANGUAGE) for text in texts.values())
