"""What stands in a prompt that was sent, by whatever program it was written, and under which number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.text.sent_prompts import Sent, asked_in, holds, own_passages, said_in, sent_in
from tests.examples import examples
from tests.growth import is_linear

OPENS = "The harbour museum opens at ten in the morning. On Mondays it stays closed all day."
COSTS = 'Mooring for the whole day costs twelve euros.\nPay at the desk, "cards" only, café style.'
OTHER = "De oudste motor dateert uit 1893 en draait elke zondag om twee uur."
TEXTS = (OPENS, COSTS, OTHER)


def numbered(prompt: str, texts: tuple[str, ...] = TEXTS) -> list[tuple[int, int, float]]:
    return [(one.at, one.number, one.share) for one in sent_in(prompt, texts)]


NUMBERED = {
    "brackets": "Cite as [n].\n\n[3] Boats\n{1}\n\n[4] Hours\n{0}\n\nQuestion: when?",
    "words": "Source 3: Boats\n{1}\n\nSource 4: Hours\n{0}",
    "tags": '<documents><document index="3">\n{1}\n</document>\n<document index="4">\n{0}\n</document></documents>',
    "list": "3. {1}\n4. {0}",
}


@pytest.mark.parametrize("form", NUMBERED)
def test_a_passage_has_the_number_that_its_prompt_shows(form: str) -> None:
    assert numbered(NUMBERED[form].format(OPENS, COSTS)) == [(1, 3, 1.0), (0, 4, 1.0)]


def test_numbers_in_json_are_read_and_printed_objects_are_known() -> None:
    listed = [{"id": 3, "text": COSTS}, {"id": 4, "text": OPENS}]
    assert numbered(json.dumps(listed)) == numbered(json.dumps(listed, ensure_ascii=False)) == [(1, 3, 1.0), (0, 4, 1.0)]
    assert numbered(repr([f"Document(page_content={text!r}, start_index=425)" for text in (COSTS, OPENS)])) == [(1, 1, 1.0), (0, 2, 1.0)]


def test_an_instruction_that_shows_a_number_numbers_nothing() -> None:
    assert numbered(f"Cite as [1].\n\n{COSTS}\n\n{'and so on ' * 9}\n\n{OPENS}") == [(1, 1, 1.0), (0, 2, 1.0)]


def test_passages_of_one_block_share_its_number() -> None:
    assert [one[1] for one in numbered(f"[1] Hours\n{OPENS}\n{COSTS}\n\n[2] Motors\n{OTHER}")] == [1, 1, 2]


def test_what_is_cut_is_told_with_its_share() -> None:
    (cut,) = sent_in(f"Context: {OPENS[:60]}…", TEXTS)
    assert (cut.at, cut.text) == (0, "The harbour museum opens at ten in the morning. On Mondays")
    assert 0.6 < cut.share < 0.8
    (half,) = sent_in("On Mondays it stays  closed all day.", TEXTS)
    assert half == Sent(0, 1, len("On Mondays it stays closed all day.") / len(OPENS), "On Mondays it stays closed all day.")


def test_few_words_of_a_passage_are_not_the_passage() -> None:
    assert sent_in("The harbour is far. Pay at the desk.", TEXTS) == ()
    assert holds(f"a  {OPENS} b", OPENS)
    assert not holds("a", " ")


OWN = {
    "[1] A\nOpens at ten.\n\n[2] B\nCloses at nine.\n\nQuestion: When does it open?\nAnswer:": ["A\nOpens at ten.", "B\nCloses at nine."],
    "Be kind.\n1. Cite.\n2. Be short.\n\nContext:\n1. Opens at ten.\n2. Closes at nine.\n\nQuestion: When does it open?": [
        "Opens at ten.",
        "Closes at nine.",
    ],
    "Use three sentences.\nQuestion: When does it open?\nContext: Opens at ten.\n\nCloses at nine.\nAnswer:": [
        "Opens at ten.",
        "Closes at nine.",
    ],
    "Cite your source.\n\n[1] Opens at ten.\n\nQuestion: When does it open?": ["Opens at ten."],
    "<documents>\n<document index='1'>\nOpens at ten.\n</document>\n</documents>\n\nWhen does it open?": ["Opens at ten."],
}


@pytest.mark.parametrize("prompt", OWN)
def test_the_passages_of_a_prompt_of_which_nothing_else_is_known(prompt: str) -> None:
    assert [own.text for own in own_passages(prompt)] == OWN[prompt]
    assert asked_in(prompt) == "When does it open?"


@pytest.mark.parametrize("prompt", ["", "When does it open?", "Follow these rules:\n1. Be kind.\n2. Be short.\n\nWhen does it open?"])
def test_a_prompt_without_passages_has_none(prompt: str) -> None:
    assert own_passages(prompt) == ()


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=4))
@settings(max_examples=examples(150))
def test_any_texts_are_looked_for(prompt: str, texts: list[str]) -> None:
    found = sent_in(prompt + "\n".join(texts), texts)
    assert {one.at for one in found if one.share == 1.0} >= {at for at, text in enumerate(texts) if text.isascii() and text.isalnum()}
    assert all(0 < one.share <= 1 and 0 <= one.at < len(texts) for one in found)
    own_passages(prompt)
    asked_in(prompt)


@pytest.mark.parametrize("unit", [" ", "source ", "\n", "<a ", "[", "Context:\n", "question ", "Answer: ", "answer:\n", "\\u00", "\ud800"])
def test_a_hostile_prompt_takes_time_by_its_length(unit: str) -> None:
    def read(hostile: str) -> None:
        own_passages(hostile)
        asked_in(hostile)
        said_in(hostile)
        sent_in(hostile, [hostile[:400], OPENS])

    assert is_linear(read, unit * (160_000 // len(unit)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1] Opens at ten.\n\nQuestion: When?\nAnswer: At ten [1].", ("[1] Opens at ten.\n\nQuestion: When?", "At ten [1].")),
        ("Context:\nOpens at ten.\n\nQuestion: When?\n**Answer:**\nAt ten.", ("Context:\nOpens at ten.\n\nQuestion: When?", "At ten.")),
        (
            "Context:\nOpens at ten.\nAnswer: yes.\n\nFrage: Wann?\nAntwort: Ja.",
            ("Context:\nOpens at ten.\nAnswer: yes.\n\nFrage: Wann?", "Ja."),
        ),
        ("Context:\nOpens at ten.\n\nQuestion: When?\nAnswer:\n", None),
        ("When?\nAnswer: At ten.", None),
        ("", None),
    ],
)
def test_a_plain_text_is_cut_into_prompt_and_answer(text: str, told: tuple[str, str] | None) -> None:
    assert said_in(text) == told
