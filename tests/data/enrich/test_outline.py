"""Headings of plain text: which lines are some, and which are in force at a place."""

from __future__ import annotations

import pytest

from ctxasm.data.enrich.extractive import enclosing, headings_in, headings_of, is_program, path_at
from tests.growth import is_linear

TEXT = (
    "Hoofdstuk 2. Opname\n\nU meldt zich aan de balie.\n\n"
    "2.1. Wat brengt u mee?\n\nUw identiteitskaart en een lijst van geneesmiddelen.\n\n"
    "2.1.1. Voor kinderen\n\nOok het kinderboekje.\n\n2.2. Kosten\n\nDe prijs staat op de website van het ziekenhuis.\n"
)


def test_headings_are_in_force_until_one_of_their_level_or_above() -> None:
    found = headings_of(TEXT)
    assert [heading.text for heading in found] == [
        "Hoofdstuk 2. Opname",
        "2.1. Wat brengt u mee?",
        "2.1.1. Voor kinderen",
        "2.2. Kosten",
    ]
    assert path_at(found, TEXT.index("Ook het")) == ("Hoofdstuk 2. Opname", "2.1. Wat brengt u mee?", "2.1.1. Voor kinderen")
    assert path_at(found, TEXT.index("De prijs")) == ("Hoofdstuk 2. Opname", "2.2. Kosten")
    assert path_at(found, 0) == ()
    assert headings_in(found, 0, TEXT.index("2.1.1.")) == found[:2]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("## Opening hours", "Opening hours"),
        (" = = Gameplay = = ", "Gameplay"),
        ("Bijlage D. Varia", "Bijlage D. Varia"),
        ("Visiting hours", "Visiting hours"),
        ("Waar moet ik zijn?", "Waar moet ik zijn?"),
        ("De balie is open.", None),
        ("apt-get install foo", None),
        ("| naam | prijs |", None),
        ("10 mg per dag, of 5 mg bij ouderen,", None),
        ("Lees ook de vorige bladzijde en alles wat daar verder staat over de opname van een patiënt", None),
    ],
)
def test_a_line_alone(line: str, heading: str | None) -> None:
    text = f"Een gewone zin staat hier voor.\n\n{line}\n\nEn hier volgt een gewone zin.\n"
    assert [found.text for found in headings_of(text)] == ([heading] if heading else [])


def test_program_text_has_opening_lines_instead() -> None:
    code = (
        "impl Executor for DiffExecutor {\n    fn run_target(\n        &mut self,\n    ) -> Result<Kind, Error> {\n"
        "        self.observers();\n    }\n}\n"
    )
    assert is_program(code)
    assert headings_of(code) == []
    assert enclosing(code, code.index("        self.obs")) == ("impl Executor for DiffExecutor", "fn run_target")
    assert enclosing(code, 0) == ()
    assert not is_program(TEXT)


def test_long_and_hostile_texts_take_linear_time() -> None:
    def work(text: str) -> None:
        found = headings_of(text)
        path_at(found, len(text))
        enclosing(text, len(text) - 2)

    for text in ("= " * 200_000, "A.1 " * 100_000, "Kop\n\n" * 50_000, "a" * 500_000, "    x {\n" * 50_000, "(" * 300_000 + "\n    y"):
        assert is_linear(work, text)
