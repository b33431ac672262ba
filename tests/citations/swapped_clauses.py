"""Pairs of sentences that cite two sources, clause by clause: as it is, and with the two numbers swapped.

Built from sentences of real texts: two sentences of two documents, joined as one. The swapped twin is false wherever the other
document does not hold the sentence, and only such are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxasm.text.sentences import sentence_spans

JOINTS = {
    "en": ("{a} [{m}], while {b} [{n}].", "{a} [{m}] and {b} [{n}].", "{a} [{m}]; {b} [{n}].", "{a} [{m}], but {b}.[{n}]"),
    "nl": ("{a} [{m}], terwijl {b} [{n}].", "{a} [{m}] en {b} [{n}].", "{a} [{m}]; {b} [{n}].", "{a} [{m}], maar {b}.[{n}]"),
    "de": ("{a} [{m}], während {b} [{n}].", "{a} [{m}] und {b} [{n}].", "{a} [{m}]; {b} [{n}].", "{a} [{m}], aber {b}.[{n}]"),
}
GERMAN = (
    "Die Besuchszeit dauert an Werktagen von 14 bis 20 Uhr. Kinder unter zwölf Jahren kommen in Begleitung eines Erwachsenen.",
    "Das Parkhaus kostet zwei Euro für jede angefangene Stunde. Die Schranke an der Nordseite öffnet mit der Quittung.",
    "Für die Blutabnahme bringen Sie die Überweisung Ihres Hausarztes mit. Die Ergebnisse liegen nach drei Werktagen im Portal.",
    "Die Kantine im Erdgeschoss serviert mittags eine vegetarische Suppe. Der Kiosk verkauft Zeitungen und frische Blumen.",
    "Der Aufzug neben der Apotheke fährt in den vierten Stock. Rollstühle stehen am Haupteingang kostenlos bereit.",
    "Die Notaufnahme behandelt Patienten nach der Schwere ihrer Verletzung. Die Anmeldung fragt nach der Versichertenkarte.",
    "Das Archiv bewahrt Röntgenbilder mindestens zehn Jahre auf. Kopien der Akte beantragen Sie schriftlich beim Sekretariat.",
    "Die Kinderstation liegt im gelben Gebäude am Teich. Eltern übernachten auf einem Klappbett im Zimmer des Kindes.",
)
_STARTS = {
    "en": re.compile(r"(?:The|A|An|Your|You|Our|Visitors|Children|Patients)\b"),
    "nl": re.compile(r"(?:De|Het|Een|U|Uw|Bezoekers|Kinderen|Patiënten)\b"),
    "de": re.compile(r"\w+"),
}
_SENTENCE = re.compile(r"[^\n|\[\]:;?!()*_`#<>\"“”]{35,170}\.")
_KEEPS_CAPITAL = re.compile(r"(?:Kinder|Eltern|Kopien|Rollstühle)\b|[A-Z]{2}")


class Pair(NamedTuple):
    """Two texts as sources 1 and 2, a sentence that cites both rightly, and its twin with the numbers swapped."""

    language: str
    texts: tuple[str, str]
    true: str
    swapped: str


def pairs_of(texts: Sequence[str], language: str) -> Iterator[Pair]:
    """A pair for every text and the one after it, each joint in turn."""
    joints = JOINTS[language]
    for number, (first, second) in enumerate(pairwise(texts)):
        ours, theirs = _sentences(first, language), _sentences(second, language)
        if not ours or not theirs:
            continue
        a, b = ours[number % len(ours)], theirs[number % len(theirs)]
        if a in second or b in first:
            continue
        b = b if _KEEPS_CAPITAL.match(b) else b[0].lower() + b[1:]
        joint = joints[number % len(joints)]
        true, swapped = (joint.format(a=a, b=b, m=m, n=n) for m, n in ((1, 2), (2, 1)))
        yield Pair(language, (first, second), true, swapped)


def _sentences(text: str, language: str) -> list[str]:
    """Whole sentences with a subject of their own, without their full stop."""
    spans = sentence_spans(text)
    found = [text[low:high] for low, high in spans]
    return [sentence[:-1] for sentence in found if _SENTENCE.fullmatch(sentence) and _STARTS[language].match(sentence)]
