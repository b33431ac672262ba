"""What a text affirms and denies, and which words are the same word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.citations.lexical.lexicon import signs
from ctxasm.citations.lexical.polarity import read_polarity, without_prefix
from ctxasm.citations.lexical.words import Tongue, read_words, stems_of, tongue_of

DENIED: dict[tuple[Tongue, str], list[str]] = {
    ("nl", "Roken is niet toegestaan."): ["niet toegestaan"],
    ("nl", "Parkeren is niet gratis, maar wel goedkoop."): ["niet gratis"],
    ("nl", "U mag hier niet roken."): ["mag hier niet", "niet roken"],
    ("nl", "Er zijn geen kosten."): ["geen kosten"],
    ("nl", "Zonder afspraak wordt u niet geholpen."): ["Zonder afspraak", "niet geholpen"],
    ("nl", "Dat hoeft niet."): ["hoeft niet"],
    ("nl", "Het is niet meer dan 5 euro."): ["niet meer"],
    ("nl", "Het is niet niet gratis."): [],
    ("nl", "Parkeren is gratis."): [],
    ("en", "No children are allowed."): ["No children"],
    ("en", "You can't pay by card."): ["can't pay"],
    ("en", "The desk is open, but not free."): ["not free"],
    ("en", "No more than five visitors."): ["No more"],
    ("en", "Open without an appointment."): ["without an appointment"],
    ("de", "Rauchen ist nicht erlaubt."): ["nicht erlaubt"],
    ("de", "Es gibt keine Kosten, aber Regeln."): ["keine Kosten"],
    ("de", "Das Urteil ist noch nicht rechtskräftig."): ["nicht rechtskräftig"],
    ("de", "Das Urteil ist noch gültig."): [],
    ("de", "Weder Tee noch Kaffee."): ["Weder Tee", "noch Kaffee"],
    ("en", "They have not yet decided."): ["not yet decided"],
}


@pytest.mark.parametrize(("tongue", "text"), DENIED)
def test_a_denial_bears_on_what_follows(tongue: Tongue, text: str) -> None:
    said = read_polarity(text, 0, len(text), stems_of(tongue))
    assert [text[each.start : each.end] for each in said if each.denied and each.sign < 0] == DENIED[tongue, text]


@pytest.mark.parametrize(
    ("tongue", "one", "other"),
    [
        ("en", "remains", "leaves"),
        ("en", "started", "ended"),
        ("en", "kept", "lost"),
        ("en", "together", "alone"),
        ("nl", "blijft", "vertrekt"),
        ("nl", "begint", "eindigt"),
        ("nl", "goede", "slechte"),
        ("nl", "lange", "korte"),
        ("de", "bleibt", "verlässt"),
        ("de", "beginnt", "endet"),
        ("nl", "De balie is open.", "De balie is gesloten."),
        ("nl", "Roken is toegestaan.", "Roken is verboden."),
        ("nl", "U betaalt minstens 5 euro.", "U betaalt hoogstens 5 euro."),
        ("nl", "Neem het vooraf in.", "Neem het achteraf in."),
        ("nl", "Het is gratis.", "Het is niet gratis."),
        ("en", "It is allowed.", "It is forbidden."),
        ("en", "The desk is open.", "The desk is closed."),
        ("en", "You may go.", "You may not go."),
        ("de", "Es ist links.", "Es ist rechts."),
    ],
)
def test_opposites_share_a_concept_with_another_sign(tongue: Tongue, one: str, other: str) -> None:
    signs = [{said.concept: said.sign for said in read_polarity(text, 0, len(text), stems_of(tongue))} for text in (one, other)]
    assert any(signs[0].get(concept) == -sign for concept, sign in signs[1].items())


@pytest.mark.parametrize(
    ("tongue", "key", "base"),
    [
        ("nl", "ongeldig", "geldig"),
        ("en", "unreliable", "reliable"),
        ("nl", "geldig", None),
        ("nl", "onder", None),
        ("en", "un", None),
        ("nl", "unreliable", None),
    ],
)
def test_a_negative_prefix_is_seen(tongue: Tongue, key: str, base: str | None) -> None:
    assert without_prefix(key, stems_of(tongue)) == base


SAME: list[tuple[Tongue, str]] = [
    ("nl", "betaalt betaald betalen"),
    ("nl", "loopt lopen"),
    ("nl", "huis huizen"),
    ("nl", "prijs prijzen"),
    ("nl", "brief brieven"),
    ("nl", "bedrijf bedrijven"),
    ("nl", "reist reizen reis"),
    ("nl", "geeft geven"),
    ("nl", "auto's auto AUTO"),
    ("nl", "CAFÉ café cafe"),
    ("en", "house houses"),
    ("en", "visitor visitors visitor's VISITOR’S"),
    ("en", "study studies studied"),
    ("en", "A4 A4s"),
    ("de", "Straße Strasse"),
    ("de", "Haus Häuser"),
]


@pytest.mark.parametrize(("tongue", "words"), SAME)
def test_forms_of_a_word_share_a_key(tongue: Tongue, words: str) -> None:
    assert len({stems_of(tongue).key(word) for word in words.split()}) == 1
    assert all(stems_of(tongue).key(word) for word in words.split())


@pytest.mark.parametrize(
    ("tongue", "words"),
    [("nl", "de het een niet b volgens"), ("en", "the of can't don't don’t according x"), ("de", "der und nicht für können während ohne")],
)
def test_words_without_content_have_no_key(tongue: Tongue, words: str) -> None:
    assert [stems_of(tongue).key(word) for word in words.split()] == [""] * len(words.split())


@pytest.mark.parametrize(("participle", "verb"), [("opgehaald", "ophalen"), ("aangemeld", "aanmelden"), ("gevonden", "vonden")])
def test_a_participle_leads_to_its_verb(participle: str, verb: str) -> None:
    stems = stems_of("nl")
    assert stems.kept[participle].verb == stems.key(verb)


@pytest.mark.parametrize(
    ("texts", "tongue"),
    [
        (["De balie is open en het is er druk."], "nl"),
        (["The desk is open."], "en"),
        (["Der Schalter ist nicht offen."], "de"),
        ([], "en"),
        (["12 34", ""], "en"),
    ],
)
def test_small_words_tell_the_language(texts: list[str], tongue: Tongue) -> None:
    assert tongue_of(texts) == tongue


@given(st.text(max_size=80), st.sampled_from(["nl", "en", "de"]))
def test_words_and_signs_of_any_text_stand_in_order(text: str, tongue: Tongue) -> None:
    stems, last = stems_of(tongue), 0
    for word in read_words(text, 0, len(text), stems):
        assert last <= word.start < word.end <= len(text)
        assert word.key == stems.key(text[word.start : word.end])
        last = word.end
    for said in read_polarity(text, 0, len(text), stems):
        assert 0 <= said.start < said.end <= len(text)
        assert said.sign in (1, -1)
        assert said.concept


def test_a_denial_bears_on_the_modal_verb_before_it_and_no_other() -> None:
    said = read_polarity("You may or must not enter", 0, 25, stems_of("en"))
    assert [(one.concept, one.sign) for one in said] == [("§may", 1), ("§must", -1), ("§enter", -1)]


@pytest.mark.parametrize(("word", "is_opposing"), [("closed", True), ("open", False), ("must", False), ("ward", False)])
def test_a_word_that_says_the_opposite_of_another_is_marked(word: str, is_opposing: bool) -> None:
    assert (word in signs().opposing) == is_opposing


def test_of_a_sign_of_two_words_the_second_is_marked() -> None:
    found = signs.__wrapped__()  # the table anew, whoever has read it
    assert found.signed["at_most"][1] < 0
    assert "most" in found.opposing
    assert "at" not in found.opposing


EVERY: list[tuple[str, list[tuple[str, int, str, bool, bool]]]] = [
    ("least at", [("least", 1, "least", False, False)]),
    ("most if no", [("most", 1, "most", False, False), ("§if", -1, "if no", True, True)]),
    ("not or can cannot", [("§may", -1, "can cannot", True, False)]),
    (
        "no at a less 5 open",
        [("§more", 1, "no at a less", True, True), ("5", 1, "5", False, False), ("§open", 1, "open", False, False)],
    ),
    (
        "closed up to not least",
        [("§open", -1, "closed", False, False), ("§least", -1, "to", False, False), ("least", -1, "not least", True, False)],
    ),
    ("open never en", [("§open", -1, "open never", True, False), ("en", 1, "en", False, False)]),
    ("no 5pm open", [("5pm", 1, "5pm", False, False), ("§open", -1, "no 5pm open", True, True)]),
    ("must not closed , no at at never", [("§must", -1, "must not", True, False), ("§open", 1, "not closed", True, False)]),
    (
        "need nor can to 5 neither ten cannot",
        [
            ("§must", -1, "need nor", True, False),
            ("§may", -1, "can to 5 neither ten cannot", True, False),
            ("5", 1, "5", False, False),
            ("ten", -1, "ten cannot", True, False),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), EVERY)
def test_every_word_of_a_clause_with_what_bears_on_it(text: str, expected: list[tuple[str, int, str, bool, bool]]) -> None:
    """The words need make no sense: each has its own place by a bound of how far a denial reaches."""
    said = read_polarity(text, 0, len(text), stems_of("en"))
    assert [(one.concept, one.sign, text[one.start : one.end], one.denied, one.bare) for one in said] == expected


@pytest.mark.parametrize(("key", "base"), [("unopen", "open"), ("unope", None), ("inneon", "neon"), ("nonopen", "open"), ("xunopen", None)])
def test_what_a_prefix_turns_around_has_four_letters(key: str, base: str | None) -> None:
    assert without_prefix(key, stems_of("en")) == base
