"""What shares nearly all words with its source and still is not carried, and what is carried although it is said otherwise."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical import LexicalScorer
from ctxasm.model.support import Match, Source

FALSE = """
Alle bezoekers betalen 2 euro. | Bezoekers betalen soms 2 euro.
Voor een MRI van de buik mag u eten. | Voor een scan mag u eten, behalve voor een MRI van de buik.
Coffee is always allowed. | Coffee is allowed.
De balie is links van de ingang. | De balie is rechts van de ingang.
Het kost 5 euro. | Het kost 5 dollar.
Versie 3.11.2 werkt hier. | Versie 3.11.3 werkt hier.
De temperatuur is -5 graden. | De temperatuur is 5 graden.
U krijgt één kaart. | U krijgt twee kaarten.
Er kwamen tweehonderd mensen. | Er kwamen 2 mensen.
Two hundred people came. | Two people came.
Kinderen mogen niet naar binnen. | Kinderen mogen naar binnen.
Kinderen mogen naar binnen. | Kinderen mogen niet naar binnen.
Take the tablet before meals. | Take the tablet after meals.
The shop is open on Sunday. | The shop is open on Saturday.
Parking is free. | Parking is not free.
Roken is toegestaan. | Roken is verboden.
Bezoek is toegestaan tot 20.00 uur. | Bezoek is toegestaan vanaf 20.00 uur.
The fee rose to 5 euro. | The fee fell to 5 euro.
Bel vóór 10 uur. | Bel na 10 uur.
Dit kaartje is geldig. | Dit kaartje is ongeldig.
The result is unreliable. | The result is reliable.
Het museum is van Jan. | Het museum is van Piet.
Bel 06-12345678. | Bel 06-12345679.
You can pay by card. | You can't pay by card.
De afdeling ligt op de eerste verdieping. | De afdeling ligt op de tweede verdieping.
The ward is on the first floor. | The ward is on the second floor.
Leden betalen twaalf euro per dag. | Niet-leden betalen twaalf euro per dag.
Mitglieder zahlen zwölf Euro am Tag. | Nicht-Mitglieder zahlen zwölf Euro am Tag.
Smokers pay less. | Non-smokers pay less.
The drink is sugar. | The drink is sugar-free.
War protesters met on the square. | On the square anti-war protesters met.
The museum is open. | The museum is open (except on Monday).
The museum is open. | The museum is open - unless you come on Sunday.
Dogs are allowed. | Dogs are allowed (unless they bark).
Keep the arm dry once the stitches are out. | Keep the arm dry until the stitches are out.
The walk takes place. | The walk takes place (if it does not rain).
The walk takes place. | The walk takes place if it does not rain.
Het museum is open. | Het museum is open (behalve op maandag).
Das Museum ist offen. | Das Museum ist offen (außer montags).
Results come after three weeks. | Results come after two to three weeks.
Bert led the choir until 1960. | Bert led the choir from 1960 to 1972.
Everyone voted for the plan. | Everyone but Ruth voted for the plan.
Alle leden stemden voor. | Alle leden op één na stemden voor.
Alle Häuser wurden verkauft. | Alle Häuser bis auf zwei wurden verkauft.
Entry is free. | For members, entry is free.
The shop is open. | The shop is open on Sundays.
Dogs may enter. | Guide dogs may enter.
Patients park free of charge. | Dialysis patients park free of charge.
The talks succeeded. | The talks nearly succeeded.
They reached the summit. | They tried to reach the summit.
Das Schiff sank. | Das Schiff sank beinahe.
Het schip zonk. | Het schip zonk bijna.
"""
TRUE = """
U moet vroeg stoppen, en de thee is gratis. | Stop vroeg. De thee is gratis.
The dressing should be kept dry, and tea is free. | Keep the dressing dry. Tea is free.
The museum is open. | The museum is open (see page 3).
The museum is open on Tuesday. | Is the museum open on Tuesday? Yes, from ten.
The deputy mayor spoke. | The deputy mayor spoke.
The mayor spoke. | The former mayor listened and the mayor spoke.
Orm is the second largest lake. | Orm is the second-largest lake.
The route is long. | The route is long (all parts are paved, and only one is steep).
The museum is open. | The café (except its terrace) is closed. The museum is open.
Er kwamen tweehonderd mensen. | Er kwamen 200 mensen.
De balie opent om half negen. | De balie opent om 8.30 uur.
De balie sluit om 8 uur 's avonds. | De balie sluit om 20.00 uur.
De poli is open van maandag tot en met vrijdag. | De poli is open ma t/m vr.
Kinderen van 12 tot 14 jaar zijn welkom. | Kinderen van 12-14 jaar zijn welkom.
Bel 06-12345678. | Bel 0612345678.
Bezoek is welkom tussen 14 en 20 uur. | Bezoek is welkom van 14.00 tot 20.00 uur.
Visits are from 2 to 8 pm. | Visits are from 14:00 to 20:00.
It takes an hour and a half. | It takes 90 minutes.
Het onderzoek is op 3 mei 2026. | Het onderzoek is op 03-05-2026.
Er is 1 bezoeker toegestaan. | Er is één bezoeker toegestaan.
You can't pay by card. | You cannot pay by card.
De prijs is hoog. | De prijzen zijn hoog.
Parking is not free. | Parking is not free.
Members pay 5 euro a day. | Members pay 5 euro a day and non-members pay 10 euro a day.
Non smokers pay less. | Non-smokers pay less.
Die Praxis ist am Montag von 8 bis 12 Uhr geöffnet. | Die Praxis ist am Montag von 8.00 bis 12.00 Uhr geöffnet.
"""


REWORDED = """
Das Buch, dessen Auflage klein ist, kostet viel Geld. | Das Buch kostet viel Geld, die Auflage ist klein.
The café is on floor 2. | Is there a café? On floor 2, beside the lift.
Keller was minister until 1991. | Keller was minister (1990–1991).
According to engineers, the dam leaks. | Engineers say the dam leaks.
Beaches on the coast are closed in winter. | In winter, beaches on the coast are closed.
The museum is open on Tuesday. | The museum (built in 1900) is open on Tuesday.
Former president Jones spoke to the guests. | The ex-president Jones spoke to the guests.
"""
"""True, and refused: one sentence in other words is not told from one whose meaning was changed."""


def pairs(table: str) -> list[tuple[str, str]]:
    return [(one.strip(), other.strip()) for one, _, other in (line.partition("|") for line in table.strip().splitlines())]


def is_carried(claim: str, text: str) -> bool:
    scorer = LexicalScorer()
    match: Match = scorer.compare([claim], [Source(1, text, ((0, len(text)),))]).each(0)[0]
    return match.score >= scorer.threshold and match.conflict is None and bool(match.found)


@pytest.mark.parametrize(("claim", "text"), pairs(FALSE))
def test_one_wrong_word_is_enough(claim: str, text: str) -> None:
    assert not is_carried(claim, text)
    assert is_carried(text, text)


@pytest.mark.parametrize(("claim", "text"), pairs(TRUE))
def test_the_same_said_otherwise_is_carried(claim: str, text: str) -> None:
    assert is_carried(claim, text)


@pytest.mark.parametrize(("claim", "text"), pairs(REWORDED))
def test_one_sentence_in_other_words_is_refused_but_contradicted_by_nothing(claim: str, text: str) -> None:
    assert not is_carried(claim, text)
    assert LexicalScorer().compare([claim], [Source(1, text, ((0, len(text)),))]).each(0)[0].conflict is None
