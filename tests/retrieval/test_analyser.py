"""Texts and questions to words, in three languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.model.records import CorpusLanguage
from ctxasm.retrieval.analyser import SNOWBALL, STOP_WORDS_OF, analyser, folded, language_of_texts


def words(text: str, language: CorpusLanguage = "nl") -> list[str]:
    return analyser(language).words(text)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("nl", "bezoekuren", "bezoekuur"),
        ("nl", "foto's", "foto"),
        ("nl", "Één", "een"),
        ("nl", "coördinatie", "coordinatie"),
        ("en", "retrieving", "retrieved"),
        ("en", "résumés", "resumes"),
        ("de", "Straße", "strasse"),
        ("de", "Häuser", "hauser"),
        ("en", "ＡＢＣ", "abc"),
        ("de", "𝐀", "a"),
    ],
)
def test_what_is_one_word_in_two_spellings(language: CorpusLanguage, one: str, other: str) -> None:
    assert words(one, language) == words(other, language)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("e-mail", "email"),
        ("auto-update", "update"),
        ("libafl_bolts::tuples", "libafl"),
        ("runTarget", "target"),
        ("XMLHttpRequest", "http"),
        ("v2.6.3", "v2.6.3"),
        ("B12", "b12"),
        ("B12", "12"),
        ("GNU/Linux", "linux"),
        ("kost 14.30 euro", "14.30"),
        ("東京タワー", "東京"),
        ("in 東京 2020", "2020"),
    ],
)
def test_a_part_of_what_is_written_together_finds_it(text: str, found: str) -> None:
    assert set(words(found, "en")) & set(words(text, "en"))


@given(st.text(max_size=200), st.sampled_from(sorted(SNOWBALL)))
def test_a_text_finds_itself_in_any_case(text: str, language: CorpusLanguage) -> None:
    own = words(text, language)
    assert words(text, language) == own
    assert all(word and word == folded(word) for word in own)
    assert set(analyser(language).question(text).words) <= set(own)
    assert bool(own) == bool(analyser(language).question(text).words)


@given(st.text(max_size=80), st.text(max_size=80))
def test_words_of_two_texts_are_those_of_both(one: str, other: str) -> None:
    assert words(f"{one} \n {other}") == words(one) + words(other)


def test_stop_words_are_left_out_of_a_question_unless_there_is_nothing_else() -> None:
    dutch = analyser("nl")
    assert dutch.question("Wat zijn de bezoekuren van de afdeling?").words == tuple(words("bezoekuren afdeling"))
    assert dutch.question("Wat is dit?").only_stop_words
    assert dutch.question("Wat is dit?").words
    assert dutch.question("What are the visiting hours?").words == tuple(words("visiting hours"))
    assert dutch.question("?!").words == ()


def test_capitals_are_a_name_not_a_stop_word() -> None:
    assert words("IT")[0] in analyser("en").question("Who runs IT here?").words
    assert not analyser("en").question("WHO IS THE DIRECTOR?").only_stop_words
    assert analyser("en").question("WHO IS THE DIRECTOR?").words == tuple(words("director", "en"))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("De bezoekuren zijn van 14 tot 20 uur en u mag met twee personen komen.", "nl"),
        ("The visiting hours are from two to eight and you may come with one other person.", "en"),
        ("Die Besuchszeiten sind von 14 bis 20 Uhr und Sie können mit einer anderen Person kommen.", "de"),
        ("", "en"),
    ],
)
def test_the_language_of_a_corpus(text: str, language: CorpusLanguage) -> None:
    assert language_of_texts([text] * 3) == language


def test_stop_words_are_spelled_as_questions_are() -> None:
    assert all(word == word.lower() for stop in STOP_WORDS_OF.values() for word in stop)
