"""Whom a claim may put in the place of a pronoun of its source."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ctxasm.citations.lexical import persons
from ctxasm.citations.lexical.persons import find_persons
from ctxasm.citations.lexical.words import Tongue
from tests.citations.lexical.test_operators import matter


@pytest.mark.parametrize(
    ("claim", "source", "tongue", "gated"),
    [
        (
            "Dolmen has received 23 complaints.",
            "The agency warned buyers. It has received 23 complaints. Dolmen denies that.",
            "en",
            ("Dolmen has received 23 complaints.", "It has received 23 complaints."),
        ),
        ("Dolmen has received 23 complaints.", "Dolmen warned buyers. It has received 23 complaints.", "en", None),
        ("Dolmen has received 23 complaints.", "Dolmen warned buyers. They called. It has received 23 complaints.", "en", None),
        (
            "Noor Haddad led the province for ten years.",
            "Noor Haddad counted votes. Stella Brandt left. She led the province for ten years.",
            "en",
            ("Noor Haddad led the province for ten years.", "She led the province for ten years."),
        ),
        (
            "Stella Brandt led the province for ten years.",
            "Noor Haddad counted votes. Stella Brandt left. She led the province for ten years.",
            "en",
            None,
        ),
        (
            "Petra Lohmann rechnet mit der Hälfte.",
            "Nach Petra Lohmann nimmt die Stadt viel ein. Jens Rautenberg bestreitet das. Er rechnet mit der Hälfte.",
            "de",
            ("Petra Lohmann rechnet mit der Hälfte.", "Er rechnet mit der Hälfte."),
        ),
        (
            "Joost Hamming plaatste zes camera's.",
            "Joost Hamming telde. Petra Vos dacht aan vossen. Zij plaatste zes camera's.",
            "nl",
            ("Joost Hamming plaatste zes camera's.", "Zij plaatste zes camera's."),
        ),
        ("Petra Vos dacht dat hij zes camera's plaatste.", "Joost Hamming telde. Petra Vos liep. Hij plaatste zes camera's.", "nl", None),
        (
            "Petra Vos dacht dat zij zes camera's plaatste.",
            "Joost Hamming telde. Petra Vos liep. Hij plaatste zes camera's.",
            "nl",
            ("zij", "Hij"),
        ),
        ("Judith lent her logbooks.", "His granddaughter Judith lent his logbooks.", "en", ("her logbooks", "his logbooks")),
        ("Judith lent his logbooks.", "His granddaughter Judith lent his logbooks.", "en", None),
        ("Judith lent her books.", "His granddaughter Judith lent his logbooks.", "en", None),
        ("Judith lent her logbooks.", "Judith lent his or her logbooks.", "en", None),
        ("Judith lent his or her logbooks.", "Judith lent his logbooks.", "en", None),
        ("Judith lent their logbooks.", "Judith lent her logbooks.", "en", None),
        ("The team won its first title.", "The team won their first title.", "en", None),
        ("De leden moeten hun pas tonen.", "Elk lid moet zijn pas tonen.", "nl", None),
        ("De gemeente publiceert haar verslag.", "De gemeente publiceert zijn verslag.", "nl", None),
        ("Bas Nijs bleef bij zijn besluit.", "Bas Nijs bleef bij haar besluit.", "nl", ("zijn besluit", "haar besluit")),
        ("Der Sitz und sein Ergebnis.", "Der Sitz und ihr Ergebnis.", "de", ("sein Ergebnis", "ihr Ergebnis")),
        ("He led the province.", "She led the province.", "en", ("He", "She")),
        ("Keller blamed himself.", "Keller blamed herself.", "en", ("himself", "herself")),
        ("Hij leidde de provincie.", "Zij leidde de provincie.", "nl", ("Hij", "Zij")),
        ("He led the province.", "She led the province, like his brother.", "en", None),
        ("He told her.", "She told him.", "en", None),
        ("Er leitet den Verein.", "Sie leitet die Gesellschaft.", "de", None),
        ("Hans Keller wrote novels.", "Hans Keller slept. Fans at The Sunday Times called. He wrote novels.", "en", None),
        ("Hans Keller wrote novels.", "Hans Keller slept. During the Spanish Civil War, he wrote novels.", "en", None),
        (
            "Hans Keller wrote novels.",
            "Hans Keller slept. In May Stella Brandt and Ann Pell left. He wrote novels.",
            "en",
            ("Hans Keller wrote novels.", "He wrote novels."),
        ),
    ],
)
def test_a_name_stands_for_the_pronoun_it_may_stand_for(claim: str, source: str, tongue: Tongue, gated: tuple[str, str] | None) -> None:
    found = next(find_persons(matter(claim, source, tongue)), None)
    assert (found and (found.claim, found.source)) == gated


def test_what_another_source_tells_of_may_be_meant() -> None:
    """A name in the title, which all may be about, too."""
    source = "Dolmen Trading\nThe agency warned Ann Pell. It has received 23 complaints."
    assert not list(find_persons(matter("Dolmen has received 23 complaints.", source, "en")))


def test_persons_are_looked_for_once_in_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not from each pronoun of each clause of a claim anew."""
    looked = 0
    name = persons._NAME

    class Counted:
        def finditer(self, text: str, low: int, high: int) -> Iterator[re.Match[str]]:
            nonlocal looked
            looked += 1
            return name.finditer(text, low, high)

    monkeypatch.setattr(persons, "_NAME", Counted())
    told = [f"{word}ab {word}ub" for word in "bcdfghklmn"]
    source = "Zed.\n" + "Nobody came here. " * 50 + "\n" + ", ".join(f"she sang {each}" for each in told) + "."
    assert not list(find_persons(matter(", ".join(f"Zed sang {each}" for each in told), source, "en")))
    assert 0 < looked <= 60
