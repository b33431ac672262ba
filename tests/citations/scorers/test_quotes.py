"""A quote counts where it stands, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.citations.scorers.quotes import locate_quote, locate_words
from ctxasm.model.support import Source

TEXT = "Header 45 minuten\nDe “balie” opent\n  om 7.45 uur – elke dag. Buiten bereik hier. Einde van\tde tekst."
FROM, TO, AGAIN = TEXT.index("De"), TEXT.index(" Buiten"), TEXT.index("Einde")
SOURCE = Source(2, TEXT, ((FROM, TO), (AGAIN, len(TEXT))))


def found(quote: str) -> list[str]:
    return [TEXT[start:end] for start, end in locate_quote(quote, SOURCE)]


@pytest.mark.parametrize(
    ("quote", "parts"),
    [
        ("om 7.45 uur – elke dag.", ["om 7.45 uur – elke dag."]),
        ("  om 7.45 uur – elke dag ", ["om 7.45 uur – elke dag"]),
        ('balie" OPENT om 7.45 uur - elke', ["balie” opent\n  om 7.45 uur – elke"]),
        ("Einde van de tekst", ["Einde van\tde tekst"]),
        ("“Einde van de tekst.”", ["Einde van\tde tekst"]),
        ("elke dag. … Einde van de", ["elke dag", "Einde van\tde"]),
        ("De “balie” [...] Einde van", ["De “balie", "Einde van"]),
        ("Buiten bereik hier.", []),
        ("Header 45 minuten", []),
        ("De balie opent", []),
        ("elke dag. Einde van", []),
        ("elke dag. … Buiten bereik", []),
        ("De “balie” … uur", []),
        ("de", []),
        ("", []),
        ("…", []),
        (" … … ", []),
    ],
)
def test_where_a_quote_stands(quote: str, parts: list[str]) -> None:
    assert found(quote) == parts


def test_a_short_quote_counts_only_as_all_there_is() -> None:
    assert locate_quote("9 uur", Source(1, "9 uur", ((0, 5),))) == ((0, 5),)
    assert locate_quote("9 uur", Source(1, "om 9 uur open", ((0, 13),))) == ()


@pytest.mark.parametrize(
    ("words", "text", "span"),
    [
        ("45", "30 of 45 minuten", (6, 8)),
        ("45", "1.45 uur, 45.5 en 145 en 45", (25, 27)),
        ("niet", "genieten is niet", (12, 16)),
        ("Niet\n open.", "is NIET  open", (3, 13)),
        ("", "tekst", None),
        ("?!", "wat?!", None),
        ("zes", "zestig", None),
    ],
)
def test_where_words_stand(words: str, text: str, span: tuple[int, int] | None) -> None:
    assert locate_words(words, text, ((0, len(text)),)) == span


def test_a_quote_ends_before_the_blank_that_ends_the_evidence() -> None:
    assert locate_quote("Een Pas Mee", Source(1, "Neem een pas mee ", ((0, 17),))) == ((5, 16),)


@given(st.text(max_size=60), st.data())
def test_every_stretch_of_the_evidence_is_found_where_it_stands(text: str, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, len(text)))
    high = data.draw(st.integers(low, len(text)))
    source = Source(1, text, ((low, high),) if low < high else ())
    start = data.draw(st.integers(low, high))
    end = data.draw(st.integers(start, high))
    quote = text[start:end]
    spans = locate_quote(quote, source)
    assert all(low <= a < b <= high for a, b in spans)
    if sum(map(str.isalnum, quote)) >= 8:
        assert [text[a:b] for a, b in spans] == [quote.strip()]


@given(st.text(max_size=30), st.text(max_size=60))
def test_a_quote_never_comes_from_nowhere(quote: str, text: str) -> None:
    letters = [char.lower() for char in quote if char.isalnum()]
    for a, b in locate_quote(quote, Source(1, text, ((0, len(text)),) if text else ())):
        own = iter(letters)
        assert all(char in own for char in (c.lower() for c in text[a:b] if c.isalnum()))


@pytest.mark.parametrize(("quote", "proves"), [("op de poli", True), ("op de pol", False)])
def test_a_quote_proves_something_from_eight_letters_on(quote: str, proves: bool) -> None:
    text = f"Meld u {quote}, eerst."
    assert bool(locate_quote(quote, Source(1, text, ((0, len(text)),)))) == proves


@pytest.mark.parametrize(("part", "proves"), [("poli", True), ("pol", False)])
def test_each_part_of_a_quote_with_gaps_has_four_letters(part: str, proves: bool) -> None:
    text = f"Meld u aan de balie van de {part}, eerst."
    assert bool(locate_quote(f"Meld u aan … {part}", Source(1, text, ((0, len(text)),)))) == proves


@pytest.mark.parametrize(
    ("words", "text", "stands"),
    [
        ("12", "12.5 uur", False),
        ("12", "1,12 uur", False),
        ("12", "om 12. Daarna", True),
        ("5", ".5", True),
        ("12", "x.12", True),
        ("7", "7.", True),
        ("b", "ab c", False),  # inside a word, right after its first letter
        ("a", "ab c", False),
        ("a", "a c", True),
    ],
)
def test_a_number_inside_another_is_not_the_one_that_was_quoted(words: str, text: str, stands: bool) -> None:
    assert (locate_words(words, text, [(0, len(text))]) is not None) == stands
