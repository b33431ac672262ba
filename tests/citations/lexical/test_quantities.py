"""Figures by value: what means the same, what says something else, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.citations.lexical.quantities import EXACT_DIGITS, Quantity, read_quantities
from tests.growth import is_linear

SAME = """
14.00 uur | 14:00
14.00 uur | 2 pm
14:30 | 2.30 p.m.
14u30 | 14:30
14h30 | 14.30 uur
14:00:00 | 14:00
om 17 uur | 17.00 uur
van 8 tot 17 uur | van 8.00 tot 17.00 uur
2 to 8 pm | 14:00 to 20:00
9 to 5 pm | 9:00 - 17:00
10 to 11:30 am | 10:00-11:30
12 to 2 pm | 12:00-14:00
8 uur 's avonds | 20.00 uur
8.30 uur 's ochtends | 8.30 uur
3 o'clock in the afternoon | 15:00
half negen | 8.30 uur
half 9 | 8.30 uur
half een | 12.30 uur
half drie 's middags | 14.30 uur
kwart over drie | 15.15 uur
viertel nach drei | 15.15 Uhr
quarter past two | 2:15
halb acht | 7.30 Uhr
viertel vor acht | 7.45 Uhr
half twaalf | 11.30 uur
om ma t/m vr | van maandag tot vrijdag
kwart voor 9 | 8.45 uur
half past eight | 8:30
quarter to seven | 18:45
noon | 12:00
midnight | 24:00
middernacht | 0:00
7am | 07.00 uur
12 am | 0:00
12 p.m. | 12:00
half an hour | 30 minutes
een half uur | 30 minuten
eine halbe Stunde | 30 Minuten
anderhalf uur | 90 minuten
anderthalb Stunden | 90 Minuten
an hour and a half | 90 minutes
one and a half hours | 90 minutes
2.5 hours | 150 minutes
twee en een half uur | 150 minuten
tweeënhalf uur | 150 minuten
een kwartier | 15 minuten
drie kwartier | 45 minuten
eine Viertelstunde | 15 Minuten
a quarter of an hour | 15 minutes
24 uur | 1 dag
2 uur | 2u
2 h | 120 min.
7 days | one week
veertien dagen | twee weken
30 sec | half a minute
3 mei 2026 | May 3, 2026
3 mei 2026 | 2026-05-03
3 mei 2026 | 03-05-2026
3 mei 2026 | 3/5/2026
3 mei 2026 | 3.5.2026
3 mei 2026 | 3-5-26
May 3, 2026 | 05/03/2026
May 23, 2026 | 05/23/2026
3. Mai 2026 | 3 mei 2026
3 mei 2026 | 3 mei
May 3rd | the 3rd of May
mei 2026 | 3 mei 2026
in May | op 3 mei 2026
in 2026 | 3 mei 2026
maandag | Mondays
zaterdag | Samstag
ma t/m vr | maandag tot en met vrijdag
Mon-Fri | Monday to Friday
za: 10.00 uur | zaterdag 10.00 uur
€ 2,50 | 2.50 euro
€2,50 | EUR 2.50
2 euro 50 | 2,50 euro
€ 5,- | 5 euro
€ 5,00 | vijf euro
$5 | 5 dollars
£3 | 3 pounds
€ 1,5 mln | 1.500.000 euro
1.5 billion | 1500 miljoen
50% | 50 procent
50 % | fifty percent
1.500 | 1500
1.500 kg | 1.500
123.456 | 123456
8 | 8.00 uur
1,500 | 1500
1 500 | 1500
1'234 | 1234
1.500.000 | 1,5 miljoen
1.234,56 | 1,234.56
3,5 | 3.5
½ | 0,5
1½ uur | 90 minuten
vijfentwintig | 25
tweeëntwintig | 22
twenty-five | 25
twenty five | 25
fünfundzwanzig | 25
tweehonderd | 200
honderdvijftig | 150
honderd vijftig | 150
honderd en vijf | 105
tweehonderdvijfentwintig | 225
two hundred and fifty | 250
two thousand five hundred | 2500
twee duizend | 2000
vijftienhonderd | 1500
zweihundertfünfzig | 250
dertienduizendvierhonderd | 13.400
zweitausenddreihundertelf | 2311
honderdeneen | 101
einhundert | 100
tweeentwintig | 22
één | 1
een dozijn | 12
1 km | 1000 m
125 cm | 1,25 m
500 g | 0,5 kg
2 dl | 200 ml
20 °C | 20 graden
-5 °C | minus 5 degrees
8 tot 12 dagen | 8-12 dagen
tussen 8 en 12 jaar | 8-12 jaar
a 30-minute walk | 30 min
1 dag of 2 dagen | 1-2 dagen
06-12345678 | 0612345678
+31 6 12345678 | 06 1234 5678
020 123 45 67 | (020) 1234567
3.11.2 | 3.11.2
3.11.2 | 3.11
"""
OTHER = """
30 minuten | 45 minuten
14.00 uur | 15.00 uur
om 17 uur | om 18.00 uur
2 pm | 2 am
half negen | 9.30 uur
8 uur 's avonds | 8.00 uur
3 mei 2026 | 4 mei 2026
3 mei 2026 | 3 mei 2025
3 mei | 3 juni
maandag | dinsdag
ma-vr | za-zo
€ 5 | € 6
5 euro | 5 cent
50% | 60%
5 km | 5 m
2 dagen | 2 weken
10 jaar | 10 maanden
2018 | 2019
1000 | 2019
2100 | 2019
999 | 998
1234.567 | 1234567
0,500 | 500
1.500 kg | 1.500 g
12 | 13
3 hours | 3 days
5 mg | 5 g
5 miljoen euro | 5 miljard euro
-5 graden | 5 graden
twee | drie
tweehonderd | driehonderd
twenty-five | twenty-six
1-2 dagen | 3-4 dagen
two hundred | 2
3.11.2 | 3.11.3
10.0.0.1 | 10.0.0.2
06-12345678 | 06-12345679
12345678901234567 | 12345678901234568
"""
NEITHER = """
5 euro | 5 dagen
14.00 uur | 14 euro
maandag | mei
3 mei 2026 | 3
3 mei 2026 | 2025
€ 5 | $5
999 | 2019
2101 | 2019
8 | 9.00 uur
versie 3.11.2 | 3.12
"""
NONE = """
May I come?
You may park.
Ik kom in mei.
Jan komt.
zo is het
Do it so.
een van de
one of the
a week
per uur
A4
honderden
duizendpoot
half
kwart
It rains. May I come?
in Sept
"""


def pairs(table: str) -> list[tuple[str, str]]:
    return [(one.strip(), other.strip()) for one, _, other in (line.partition("|") for line in table.strip().splitlines())]


def matched(one: str, other: str) -> list[tuple[Quantity, Quantity]]:
    ours, theirs = read_quantities(one), read_quantities(other)
    assert len(ours) == len(theirs) > 0
    return list(zip(ours, theirs, strict=True))


@pytest.mark.parametrize(("one", "other"), pairs(SAME))
def test_the_same_said_otherwise_agrees(one: str, other: str) -> None:
    for ours, theirs in matched(one, other):
        assert ours.agrees(theirs)
        assert theirs.agrees(ours)
        assert not ours.rivals(theirs)


@pytest.mark.parametrize(("one", "other"), pairs(OTHER))
def test_what_cannot_both_be_meant_are_rivals(one: str, other: str) -> None:
    for ours, theirs in matched(one, other):
        assert not ours.agrees(theirs)
        assert not theirs.agrees(ours)
        assert ours.rivals(theirs)
        assert theirs.rivals(ours)


@pytest.mark.parametrize(("one", "other"), pairs(NEITHER))
def test_of_another_sort_neither_agrees_nor_is_a_rival(one: str, other: str) -> None:
    for ours in read_quantities(one):
        for theirs in read_quantities(other):
            assert not ours.agrees(theirs)
            assert not ours.rivals(theirs)


@pytest.mark.parametrize("text", NONE.strip().splitlines())
def test_these_are_no_quantities(text: str) -> None:
    assert read_quantities(text) == []


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ("Bezoek van 14.00 tot 20.00 uur, €2,50.", ["14.00", "20.00 uur", "€2,50"]),
        ("Op 3 mei 2026 om half negen.", ["3 mei 2026", "half negen"]),
        ("(€ 5,-) voor 2 personen", ["€ 5", "2"]),
        ("Bel +31 20 123 45 67 of 112.", ["+31 20 123 45 67", "112"]),
        ("twenty-five people and a 30-minute walk", ["twenty-five", "30-minute"]),
        ("It was −5 °C on 2026-05-03 10:00.", ["−5 °C", "2026-05-03", "10:00"]),
        ("two or three, one two three", ["two", "three", "two", "three"]),
        ("nr. 5. Versie 3.11.2.", ["5", "3.11.2"]),
        ("2026-13-45 is no date, 25:00 no time", ["2026", "13", "45", "25", "00"]),
        ("In 2018 200 people came", ["2018", "200"]),
    ],
)
def test_a_quantity_holds_its_sign_and_unit(text: str, stretches: list[str]) -> None:
    found = [text[quantity.start : quantity.end] for quantity in read_quantities(text)]
    assert found == stretches


def test_only_what_lies_between_two_characters_is_read() -> None:
    text = "5 euro 10 minuten 20 jaar"
    assert [text[q.start : q.end] for q in read_quantities(text, 7, 17)] == ["10 minuten"]
    assert [q.values for q in read_quantities("12345", 0, 3)] == [frozenset({123.0})]
    assert [q.kind for q in read_quantities("14.30 en 15.30", 0, 8)] == ["number"]


def test_very_long_numbers_are_compared_by_their_digits() -> None:
    long = "9" * 400
    (ours,), (date,) = read_quantities(long), read_quantities("2026-05-03")
    assert ours.values == {long}
    assert not ours.agrees(date)
    assert not date.agrees(ours)
    assert ours.agrees(read_quantities(long)[0])
    assert not ours.agrees(read_quantities(long + "9")[0])
    assert read_quantities("1" * EXACT_DIGITS)[0].values == {float("1" * EXACT_DIGITS)}


PIECES = [line.strip() for table in (SAME, OTHER, NEITHER) for line in table.replace("|", "\n").splitlines() if line.strip()]


TEXTS = st.lists(st.one_of(st.sampled_from([*PIECES, " ", ", ", "-", "\n", "(", "€", "de "]), st.text(max_size=6)), max_size=12)


@given(TEXTS.map("".join))
def test_quantities_are_in_order_and_agree_with_themselves(text: str) -> None:
    found, last = read_quantities(text), 0
    for quantity in found:
        assert last <= quantity.start < quantity.end <= len(text)
        assert quantity.values
        assert quantity.agrees(quantity)
        assert not quantity.rivals(quantity)
        last = quantity.end
    for one in found:
        for other in found:
            assert one.agrees(other) == other.agrees(one)
            assert one.rivals(other) == other.rivals(one)


HOSTILE = ("9", "12 345 ", "1.111", "5" + " " * 50, "een twee drie ", "3 mei 2026, ", "14.00 - 15.00 ", "€ ", "ma-", "+31 ", "honderd")


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    text = piece * (16_000 // len(piece))
    assert is_linear(read_quantities, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("om 0 uur open", [("time", {0.0}, "0 uur")]),
        ("van 24 uur", [("time", {1440.0}, "24 uur")]),
        ("om 25 uur", [("number", {1500.0}, "25 uur")]),
        ("0 to 2 pm", [("number", {0.0}, "0"), ("time", {840.0}, "2 pm")]),
        ("1 to 2 pm", [("time", {780.0}, "1"), ("time", {840.0}, "2 pm")]),
        ("12 to 2 pm", [("time", {720.0}, "12"), ("time", {840.0}, "2 pm")]),
        ("13 to 2 pm", [("number", {13.0}, "13"), ("time", {840.0}, "2 pm")]),
        ("2 to 2 pm", [("time", {840.0}, "2"), ("time", {840.0}, "2 pm")]),
        ("11 to 1 pm", [("time", {660.0}, "11"), ("time", {780.0}, "1 pm")]),
        ("11 uur 's avonds open", [("time", {1380.0}, "11 uur 's avonds")]),
        ("12 uur 's middags", [("time", {720.0}, "12 uur 's middags")]),
        ("half negen 's avonds open", [("time", {1230.0}, "half negen 's avonds")]),
        ("half een", [("time", {30.0, 750.0}, "half een")]),
        ("kwart voor twaalf", [("time", {705.0, 1425.0}, "kwart voor twaalf")]),
        ("14.30 open", [("number", {14.3}, "14.30")]),
        ("14.30 en 15.30", [("time", {870.0}, "14.30"), ("time", {930.0}, "15.30")]),
        ("12.59 pm", [("time", {779.0}, "12.59 pm")]),
        ("10 to 11 pm", [("time", {1320.0}, "10"), ("time", {1380.0}, "11 pm")]),
        ("11 to 12 pm", [("time", {660.0}, "11"), ("time", {720.0}, "12 pm")]),
        ("half negen 's ochtends", [("time", {510.0}, "half negen 's ochtends")]),
        ("kwart over twaalf", [("time", {15.0, 735.0}, "kwart over twaalf")]),
        ("half dertien", [("number", {13.0}, "dertien")]),
        ("half nul", [("number", {0.0}, "nul")]),
        ("tot 14.30", [("time", {870.0}, "14.30")]),
        ("om 2u", [("time", {120.0}, "2u")]),
        ("wacht 2u", [("number", {120.0}, "2u")]),
        ("5 euro to 8 pm", [("number", {5.0}, "5 euro"), ("time", {1200.0}, "8 pm")]),
        ("minus  5 graden", [("number", {-5.0}, "minus  5 graden")]),
        # a year begins no range of lengths
        ("1000 - 1500 km", [("number", {1000.0}, "1000"), ("number", {1500000.0}, "1500 km")]),
        ("2100 - 2500 km", [("number", {2100.0}, "2100"), ("number", {2500000.0}, "2500 km")]),
        ("999 - 1500 km", [("number", {999000.0}, "999"), ("number", {1500000.0}, "1500 km")]),
        ("2101 - 2500 km", [("number", {2101000.0}, "2101"), ("number", {2500000.0}, "2500 km")]),
        ("1.234,56", [("number", {1234.56}, "1.234,56")]),
        # fifteen digits are a number, sixteen a name
        ("123456789012345", [("number", {123456789012345.0}, "123456789012345")]),
        ("1234567890123456", [("number", {"1234567890123456"}, "1234567890123456")]),
        # a word of time stands within twelve characters before a time, a day within 24 before a short one
        (f"zwischen{' ' * 4}14.30", [("time", {870.0}, "14.30")]),
        (f"zwischen{' ' * 5}14.30", [("number", {14.3}, "14.30")]),
        (f"donderdag tot en met{' ' * 4}vr", [("weekday", {"thursday"}, "donderdag"), ("weekday", {"friday"}, "vr")]),
        (f"donderdag tot en met{' ' * 5}vr", [("weekday", {"thursday"}, "donderdag")]),
        ("1 jan 2020", [("date", {"2020-01-01"}, "1 jan 2020")]),
        ("31-12-1999", [("date", {"1999-12-31"}, "31-12-1999")]),
        ("32-12-1999", [("number", {32.0}, "32"), ("number", {12.0}, "12"), ("number", {1999.0}, "1999")]),
        ("0/5/2020", [("number", {0.0}, "0"), ("number", {5.0}, "5"), ("number", {2020.0}, "2020")]),
        ("in april", [("month", {"04"}, "april")]),
        ("(May)", [("month", {"05"}, "May")]),
        ("a May", [("month", {"05"}, "May")]),
        ("06-12345678", [("phone", {"12345678"}, "06-12345678")]),
        ("you may 5", [("number", {5.0}, "5")]),
        ("on 5 may", [("date", {"????-05-05"}, "5 may")]),
        ("on june 5", [("date", {"????-06-05"}, "june 5")]),
        ("on may 5, 2019", [("date", {"2019-05-05"}, "may 5, 2019")]),
        ("5/6/2019", [("date", {"2019-05-06", "2019-06-05"}, "5/6/2019")]),
        ("12/12/2019", [("date", {"2019-12-12"}, "12/12/2019")]),
        ("13/12/2019", [("date", {"2019-12-13"}, "13/12/2019")]),
    ],
)
def test_figures_at_the_bounds_of_a_clock_and_a_calendar(text: str, expected: list[tuple[str, set[object], str]]) -> None:
    assert [(one.kind, set(one.values), text[one.start : one.end]) for one in read_quantities(text)] == expected


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("on 3 sept 2020", "on 3 ſept 2020"),
        ("3 APRIL 2020", "3 APRİL 2020"),
        ("half past six", "half paſt ſıx"),
        ("om half negen 's avonds", "om half negen 's avondſ"),
        ("ma-vrijdag 9.00", "ma-vrıjdag 9.00"),
        ("midnight", "mıdnıght"),
        ("5 miljoen kilo", "5 mıljoen \u212ailo"),
        ("five days", "fıve dayſ"),
        ("1-2 weken", "1-2 we\u212aen"),
        ("anderhalf uur en een half uur", "anderhalf uur en een half uur"),
        ("2 and a half million miles", "2 and a half mıllion mileſ"),
    ],
)
def test_letters_that_an_expression_takes_for_others_are_read_as_those(text: str, odd: str) -> None:
    assert [each.values for each in read_quantities(odd)] == [each.values for each in read_quantities(text)] != []
