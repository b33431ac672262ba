"""Claims with their sources that were written after the gates they are about, to see what each gate is worth on them: who does what, what a
clause says of another thing, what was cut out, what is not so, and comparisons turned round.
"""

from __future__ import annotations

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer

FALSE = (
    ("Lena Fors succeeded Ole Vik as mayor in 2010.", "Ole Vik succeeded Lena Fors as mayor in 2010."),
    ("Norway defeated Denmark in the final after extra time.", "After extra time, Denmark defeated Norway in the final."),
    ("Brandt taught Keller at the academy.", "At the academy, Keller taught Brandt."),
    ("Kepler influenced Newton, who later read his work.", "Newton influenced Kepler, who later read his work."),
    ("Microfab acquired Telson for 40 million.", "Telson acquired Microfab for 40 million."),
    ("In 1902 Ribe annexed Vejen.", "Vejen annexed Ribe in 1902."),
    ("De Vries volgde Jansen op als voorzitter.", "Jansen volgde De Vries op als voorzitter."),
    ("In 2012 versloeg Ajax PSV.", "PSV versloeg Ajax in 2012."),
    ("Anna bezocht Bram in het ziekenhuis.", "Bram bezocht Anna in het ziekenhuis."),
    ("Meyer besiegte Schulz im Finale.", "Schulz besiegte Meyer im Finale."),
    ("Im Jahr 2001 kaufte Siebel die Firma Kranz.", "Kranz kaufte 2001 die Firma Siebel."),
    ("Oslo lies on the coast.", "Bergen lies on the coast, Lillehammer lies inland and Oslo lies at the head of a fjord."),
    ("The red bus goes to the airport.", "The blue bus goes to the airport, while the red bus goes to the harbour."),
    ("Trainees receive a car.", "Managers receive a car, but trainees receive a bus pass."),
    ("The kitchen was painted green.", "The hall was painted green and the kitchen was painted white."),
    ("De keuken is op de eerste verdieping.", "De badkamer is op de eerste verdieping, terwijl de keuken op de begane grond is."),
    ("Der rote Bus fährt zum Flughafen.", "Der blaue Bus fährt zum Flughafen, der rote Bus fährt zum Hafen."),
    ("Lehrlinge erhalten ein Auto.", "Leiter erhalten ein Auto, aber Lehrlinge erhalten eine Fahrkarte."),
    ("Entry is free.", "Entry is free for residents of the city."),
    ("The pool is open to everybody.", "The pool is open to everybody without a fever."),
    ("The library lends books to readers.", "The library lends books to readers who have paid the fee."),
    ("Bezoek is toegestaan.", "Bezoek is toegestaan voor naaste familie."),
    ("Parken ist erlaubt.", "Parken ist erlaubt für Anwohner."),
    ("Der Eintritt ist frei.", "Der Eintritt ist frei für Kinder unter 12 Jahren."),
    ("The house was built of stone.", "The house was built of brick rather than stone."),
    ("Patients receive tablets.", "Patients receive an injection instead of tablets."),
    ("Het huis is van steen gebouwd.", "Het huis is van hout gebouwd in plaats van steen."),
    ("Die Patienten erhalten Tabletten.", "Die Patienten erhalten eine Spritze statt Tabletten."),
    ("The Rhine is longer than the Danube.", "The Danube is longer than the Rhine."),
    ("Cod is cheaper than salmon.", "Salmon is cheaper than cod."),
    ("The tower is as tall as the church.", "The tower is twice as tall as the church."),
    ("Anna is ouder dan Bea.", "Bea is ouder dan Anna."),
    ("Der Main ist kürzer als die Elbe.", "Die Elbe ist kürzer als der Main."),
    ("Wash your hands before the meal.", "Take the tablet before the meal and wash your hands before the visit."),
    ("The shop closed because of the flood.", "The shop closed because of the strike; the flood came later."),
    ("The road closes if it snows.", "The road closes if it freezes. It snows often."),
    ("The tour starts after lunch.", "The tour starts after the lecture. Lunch is served at noon."),
    ("De weg sluit als het sneeuwt.", "De weg sluit als het vriest. Het sneeuwt vaak."),
    ("Die Führung beginnt nach dem Essen.", "Die Führung beginnt nach dem Vortrag. Das Essen gibt es mittags."),
)
TRUE = (
    ("Lena Fors succeeded Ole Vik.", "Lena Fors succeeded Ole Vik as mayor in 2010."),
    ("In the final, Denmark defeated Norway.", "After extra time, Denmark defeated Norway in the final."),
    ("Keller taught Brandt at the academy.", "At the academy, Keller taught Brandt."),
    ("Jansen volgde De Vries in 2009 op.", "In 2009 volgde Jansen De Vries op als voorzitter."),
    ("Im Finale besiegte Schulz Meyer.", "Schulz besiegte Meyer im Finale."),
    ("The red bus goes to the harbour.", "The blue bus goes to the airport, while the red bus goes to the harbour."),
    ("The kitchen was painted white.", "The hall was painted green and the kitchen was painted white."),
    ("De keuken is op de begane grond.", "De badkamer is op de eerste verdieping, terwijl de keuken op de begane grond is."),
    ("The library lends books.", "The library lends books to readers for three weeks."),
    ("The city built a bridge.", "The city built a bridge for 3 million euros."),
    ("Patients receive an injection.", "Patients receive an injection instead of tablets."),
    ("The Rhine is shorter than the Danube.", "The Danube is longer than the Rhine."),
    ("Bea is jonger dan Anna.", "Anna is ouder dan Bea."),
    ("The tour starts after the lecture.", "The tour starts after the lecture. Lunch is served at noon."),
)


def count_supported(pairs: tuple[tuple[str, str], ...]) -> int:
    """How many of the claims are called supported by their source."""
    checked = (check_answer(f"{claim} [1]", grounds_of_sources([{"n": 1, "text": text}]), LexicalScorer()) for claim, text in pairs)
    return sum(bool(each.claims) and all(claim.verdict == "supported" for claim in each.claims) for each in checked)


def test_few_false_ones_are_supported_and_most_true_ones() -> None:
    assert count_supported(FALSE) <= 6
    assert count_supported(TRUE) >= 5
