"""Texts that are much alike and say something else: figures, names, negation, opposites."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.assembly.near_copies import say_the_same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Refund within 30 days.", "Refund within 60 days."),
        ("Refund within 30 days.", "Refund within 30 weeks."),
        ("Adults pay 30 and children 20 euro", "Adults pay 20 and children 30 euro"),
        ("Terugbetaling binnen dertig dagen", "Terugbetaling binnen zestig dagen"),
        ("Terugbetaling binnen dertien dagen", "Terugbetaling binnen veertien dagen"),
        ("Binnen vijfentwintig dagen", "Binnen zesentwintig dagen"),
        ("Der Preis gilt zwei Tage", "Der Preis gilt drei Tage"),
        ("Geöffnet am Montag", "Geöffnet am Dienstag"),
        ("Das kostet 2 Stunden", "Das kostet 2 Minuten"),
        ("Open from 9.30", "Open from 9.45"),
        ("Open on Monday", "Open on Tuesday"),
        ("geldig vanaf 5 januari", "geldig vanaf 5 februari"),
        ("It costs €12", "It costs $12"),
        ("Bezoek is toegestaan", "Bezoek is niet toegestaan"),
        ("Der Hund darf hinein", "Der Hund darf nicht hinein"),
        ("Op zondag ook open", "Op zondag evenmin open"),
        ("You can park here", "You can't park here"),
        ("Pets are allowed", "Pets are forbidden"),
        ("Take it before meals", "Take it after meals"),
        ("Inname voor de maaltijd", "Inname na de maaltijd"),
        ("met toeslag", "zonder toeslag"),
        ("the result is true", "the result is false"),
        ("Ask for Dr Jansen today", "Ask for Dr Peeters today"),
        ("The MRI takes an hour", "The CT takes an hour"),
        ("version 3.2.1", "version 3.2.2"),
        ("٣ days", "٤ days"),
        ("1.0000 litres", "10000 litres"),  # no thousands: four digits behind the stop
        ("0.500 litres", "500 litres"),
        ("CT takes an hour", "MR takes an hour"),  # in capitals, also at the beginning
        ("Choose plan A now", "Choose plan C now"),
        ("Do not come if you are not well", "Do not come if you are well"),
        ("12 €", "12 $"),
        ("open on 5 days", "open on 5"),
        ("twice a day", "once a day"),
        ("valid for 10 days", "valid for 1 days"),
    ],
)
def test_they_differ(one: str, other: str) -> None:
    assert not say_the_same(one, other)
    assert not say_the_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You may cancel within 30 days.", "Cancellation is possible within 30 days"),
        ("Binnen twee weken", "binnen 2 weken"),
        ("Binnen vijfentwintig uur", "binnen 25 u"),
        ("Es dauert anderthalb Stunden", "Es dauert 1,5 Stunden"),
        ("Take one with you.", "Take a card with you."),
        ("It costs €1.000", "The price is 1000 euro"),
        ("Kost € 12,50", "kost €12.50"),
        ("Open om 9u30", "open om 9:30"),
        ("Parking is not allowed", "You are not allowed to park"),
        ("Bring your card.", "Your card must be brought."),
        ("the bell of Ghent rings", "Ghent has a bell that rings"),
        ("take it before or after meals", "take it after or before meals"),
        ("", ""),
        ("room 007", "room 7"),
        ("1.00 euro", "1 euro"),
        ("12.50 litres", "12.5 litres"),
        ("Open om 09:30", "open om 9.30"),
        ("12 €", "€ 12"),
        ("0.50 euro", "€ 00.5"),
        ("A dog is here", "Here is the dog"),  # a single capital at the beginning is no name
    ],
)
def test_they_agree(one: str, other: str) -> None:
    assert say_the_same(one, other)
    assert say_the_same(other, one)


@given(st.text(max_size=200), st.text(max_size=200))
def test_symmetric_and_reflexive(one: str, other: str) -> None:
    assert say_the_same(one, one)
    assert say_the_same(one, other) == say_the_same(other, one)
