"""Dutch or English: which of the two a question is in. The words of these and of German that carry no meaning of their own."""

from __future__ import annotations

import re
from typing import Literal

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
