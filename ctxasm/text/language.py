"""Dutch or English: which of the two a question is in, and the words in both that carry no meaning of their own."""

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
