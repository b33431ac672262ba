"""Declined answers: what is a refusal in Dutch, English and German, and above all what is not."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.citations.declined import LONGEST_REFUSAL, declined_spans, is_declined, is_refusal
from ctxasm.text.language import NOTHING_FOUND, OWN_REFUSALS, REFUSAL
from tests.examples import examples
from tests.growth import is_linear

SENTENCES = (Path(__file__).parent / "declined_sentences.txt").read_text(encoding="utf-8").splitlines()


def cases(sign: str) -> list[tuple[str, str]]:
    return [(line[2:4], line[5:]) for line in SENTENCES if line.startswith(f"{sign} ")]


@pytest.mark.parametrize(("language", "sentence"), cases("+"))
def test_a_refusal_is_recognised(language: str, sentence: str) -> None:
    assert is_declined(sentence)
    assert is_declined(sentence, language)  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "sentence"), cases("-"))
def test_a_statement_is_not_taken_for_a_refusal(language: str, sentence: str) -> None:
    assert not is_declined(sentence)
    assert not is_declined(sentence, language)  # type: ignore[arg-type]


def test_there_are_enough_examples_in_every_language() -> None:
    assert min(len(cases("+")), len(cases("-"))) >= 60
    for sign in "+-":
        assert {language for language, _ in cases(sign)} == {"nl", "en", "de"}
        assert len(set(cases(sign))) == len(cases(sign))


@pytest.mark.parametrize(
    "dress",
    [
        "{}",
        "**{}**",
        '"{}"',
        "“{}”",
        "- {}",
        "> *{}*",
        "  {}\n",
        "{} [1]",
        "{}[1][2]",
        "{} 【1†source】",
        "{}\n\n[1]",
        "1. {}",
        "{}…",
        "'{}'",
    ],
)
def test_the_own_refusals_are_recognised_however_they_are_dressed(dress: str) -> None:
    for refusal in OWN_REFUSALS:
        for text in (refusal, refusal.rstrip("."), refusal.upper(), refusal.replace(" ", "\u00a0 "), refusal.replace(",", " ,")):
            assert is_declined(dress.format(text)), dress.format(text)
        assert is_refusal(dress.format(refusal)), dress.format(refusal)


@pytest.mark.parametrize("refusal", REFUSAL.values())
def test_a_refusal_in_pieces_is_recognised_when_it_is_there(refusal: str) -> None:
    assert is_declined(refusal)
    assert is_declined(refusal[:-1])  # its final stop may be yet to come
    assert not any(is_declined(refusal[:length]) for length in range(len(refusal) * 2 // 3))


def test_typographic_apostrophes_and_quotations() -> None:
    assert is_declined("I couldn’t find this in the provided context.")
    assert is_declined("The context doesn’t mention “the golden gate”.")
    assert not is_declined("The letter reads “I could not find this in the context”.")


def test_a_sentence_that_cites_declines_only_if_it_names_context_or_question() -> None:
    for sentence in ("There is no information about its safety in pregnancy", "Er is geen informatie over gebruik bij kinderen"):
        assert is_declined(f"{sentence}.")
        assert not is_declined(f"{sentence} [1].")
        assert not is_declined(f"{sentence}.", cited=True)
    assert is_declined("There is no information about its safety in the context [1].")
    assert is_declined("There is no information about its safety [1].", cited=False)


def test_only_the_sentences_that_decline_are_marked() -> None:
    answer = (
        "The price is not mentioned in the given context. However, parking is free for 20 minutes [1]. "
        "The provided sources do not say who pays. [2]\n- De receptie is op zondag niet open [3].\n- Dat staat niet in de context."
    )
    assert [answer[start:end] for start, end in declined_spans(answer)] == [
        "The price is not mentioned in the given context.",
        "The provided sources do not say who pays. [2]",
        "- Dat staat niet in de context.",
    ]
    assert declined_spans(answer, sentences=[(0, 48)]) == ((0, 48),)
    assert not is_refusal(answer)
    assert is_refusal("Sorry, ik kan deze vraag niet beantwoorden. De context geeft hier geen antwoord op. [1]")
    assert is_refusal(f"{NOTHING_FOUND['nl']} {NOTHING_FOUND['en']}")
    assert not is_refusal("")
    assert not is_refusal("[1]")


PIECES = st.sampled_from(
    ["the context", "does not", "mention", "I", "could not find", "in", "provided", "de bronnen", "geen", "informatie", "niet",
     "der Kontext", "keine", "[1]", "“", "”", "**", ",", "but", ";", ".", "\n", "\x00", "é", "ﬁ", "is", "stated", "based on", "x" * 40]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map(" ".join))
@settings(max_examples=examples(200))
def test_any_text_is_judged_and_spans_are_its_own(text: str) -> None:
    spans = declined_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert all(is_declined(text[start:end]) for start, end in spans)
    assert is_declined(text) == any(is_declined(text, language) for language in ("nl", "en", "de"))  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["in the ", "not ", "the context ", "is not mentioned ", "er is geen ", "[1]", '"', "de bronnen ", "a, "])
def test_long_text_takes_no_long_time(unit: str) -> None:
    assert is_linear(is_declined, (unit * 200)[:LONGEST_REFUSAL])
    assert is_linear(is_declined, f"it is {unit * 200}"[:LONGEST_REFUSAL])
    assert is_linear(declined_spans, unit * 20_000)


def test_the_longest_refusal_is_one_and_a_longer_sentence_is_none() -> None:
    """Counted without the full stop."""
    room = LONGEST_REFUSAL - len("The sources do not say when the clinic on  opens")
    sentence = "The sources do not say when the clinic on {} opens."
    assert is_declined(sentence.format("x" * room))
    assert not is_declined(sentence.format("x" * (room + 1)))


def test_a_stretch_of_twice_that_length_is_not_looked_at() -> None:
    """Markers and blanks are no words: they count only in this."""
    sentence = "The sources do not say when the clinic opens."
    assert is_declined(sentence.ljust(2 * LONGEST_REFUSAL))
    assert not is_declined(sentence.ljust(2 * LONGEST_REFUSAL + 1))


def test_every_marker_of_a_sentence_is_left_out_of_its_words() -> None:
    first, after = "The sources do not mention it [1] [2] [3].", "[4]"
    assert declined_spans(f"{first} {after}") == ((0, len(f"{first} {after}")),)
    assert is_refusal("The sources do not mention it. (source 1) (source 2)")
    answer = f"It opens at nine. {first} {after}"
    assert declined_spans(answer) == ((answer.index(first), len(answer)),)
