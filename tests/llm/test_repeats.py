"""What of a reply is copied: found whatever happened to white space, marks and order, and never where a word was changed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.assembly.model_compressor import repeated_spans
from tests.examples import examples
from tests.growth import is_linear

TEXT = "Parkeren kost twee euro.  Bezoek duurt\nhoogstens 30 minuten. “Betalen” kan niet contant – alleen met pin. Tot ziens."


def found(reply: str, text: str = TEXT) -> list[str] | None:
    spans = repeated_spans(text, reply)
    return None if spans is None else [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Bezoek duurt hoogstens 30 minuten.", ["Bezoek duurt\nhoogstens 30 minuten."]),
        ("- Parkeren kost twee euro.\n2. Tot ziens.", ["Parkeren kost twee euro.", "Tot ziens."]),
        ('"Tot ziens."', ["Tot ziens."]),
        ("Here are the relevant sentences:\n\nTot ziens.", ["Tot ziens."]),
        ("Tot ziens. Parkeren kost twee euro.", ["Parkeren kost twee euro.", "Tot ziens."]),
        ("Tot ziens.\nParkeren kost twee euro.", ["Parkeren kost twee euro.", "Tot ziens."]),
        ("Parkeren kost twee euro. […] Tot ziens.", ["Parkeren kost twee euro.", "Tot ziens."]),
        ('"Betalen" kan niet contant - alleen met pin.', ["“Betalen” kan niet contant – alleen met pin."]),
        ('- "Betalen" kan niet contant - alleen met pin.', ["“Betalen” kan niet contant – alleen met pin."]),
        ("Parkeren kost twee euro. Bezoek duurt", ["Parkeren kost twee euro.  Bezoek duurt"]),
        ("Parkeren kost twee euro.\nTot ziens.\nziens", ["Parkeren kost twee euro.", "Tot ziens."]),
        ("duurt hoogstens 30 minuten", ["duurt\nhoogstens 30 minuten"]),
        ("“Betalen” kan contant.", None),
        ("Parkeren kost twee euro. En het is gratis.", None),
        ("Parkeren kost drie euro.", None),
        ("arkeren kost", None),
        ("Bezoek duurt hoogstens 3", None),
        ("parkeren kost twee euro.", None),
        ("…", None),
        ("", None),
        ("Here are the relevant sentences:", None),
    ],
)
def test_a_reply_is_found_or_not(reply: str, expected: list[str] | None) -> None:
    assert found(reply) == expected


def test_what_stands_in_a_text_twice_is_found_where_it_stands_first() -> None:
    assert repeated_spans("Ja. Nee. Ja. Nee.", "Ja.\nNee.") == ((0, 3), (4, 8))


@pytest.mark.parametrize(("reply", "expected"), [("九点开门。\n五点关门。", ["九点开门。五点关门。"]), ("五点关门。", ["五点关门。"])])
def test_sentences_that_touch_are_one_span(reply: str, expected: list[str]) -> None:
    assert found(reply, "九点开门。五点关门。周日休息。") == expected


SENTENCES = st.lists(st.integers(0, 10**6).map(lambda n: f"Zin {n} zegt dat kamer {n % 97} open is."), min_size=1, max_size=12, unique=True)


@given(SENTENCES, st.data(), st.sampled_from([" ", "\n", "\n\n", "\n- ", " … ", "  \n\t"]))
@settings(max_examples=examples(100))
def test_any_choice_of_sentences_in_any_order_is_found_again(sentences: list[str], data: st.DataObject, joint: str) -> None:
    text = " ".join(sentences)
    chosen = data.draw(st.lists(st.sampled_from(sentences), min_size=1, unique=True))
    spans = repeated_spans(text, joint.join(chosen))
    assert spans is not None
    shown = [at for start, end in spans for at in range(start, end)]
    wanted = [at for sentence in chosen for at in range(text.index(sentence), text.index(sentence) + len(sentence))]
    assert {at for at in shown if not text[at].isspace()} == {at for at in wanted if not text[at].isspace()}
    assert list(spans) == sorted(spans)


@given(SENTENCES, st.data())
@settings(max_examples=examples(60))
def test_a_changed_figure_is_never_found(sentences: list[str], data: st.DataObject) -> None:
    changed = data.draw(st.sampled_from(sentences)).replace("kamer ", "kamer 9")
    assert repeated_spans(" ".join(sentences), f"{sentences[0]} {changed}") is None


def test_a_reply_that_is_much_longer_is_no_copy_and_a_long_one_takes_linear_time() -> None:
    assert repeated_spans("a. " * 10, "a. " * 2000) is None
    text = " ".join(f"Zin {number} is hier." for number in range(4000))
    assert is_linear(lambda part: repeated_spans(part, part), text)
    assert is_linear(lambda part: repeated_spans(part, "x" + part), text)
