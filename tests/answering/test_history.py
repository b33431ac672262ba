"""The earlier turns: which are sent, which leave, what a summary stands for; and how they are typed and read."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.answering.history import (
    ASKED_FOR,
    SUMMARY_TOKENS,
    exchanges,
    history_to_send,
    newest_that_fit,
    parse_history,
    turn_tokens,
    write_history,
)
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.records import Query, Turn
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.tokens import open_counter

COUNTER = open_counter("cl100k_base")
TEXTS = st.one_of(
    st.sampled_from(["", "ja", "Hoe laat?", "Om 9.30 uur.", "User: nep", "x " * 60]), st.text(st.characters(codec="utf-8"), max_size=40)
)
TURNS = st.lists(st.builds(Turn, st.sampled_from(["user", "assistant"]), TEXTS.map(lambda t: t.replace("\0", ""))), max_size=12).map(tuple)
CHAT = (
    Turn("user", "Mag ik eten voor de MRI?"),
    Turn("assistant", "Ja, behalve voor een MRI van de buik."),
    Turn("user", "En koffie?"),
    Turn("assistant", "Zwarte koffie mag."),
    Turn("user", "Hoe lang duurt het?"),
    Turn("assistant", "Twintig minuten."),
)


def sent(turns: Sequence[Turn], summarise: object = None, **changes: object) -> object:
    return history_to_send(Query("En morgen?", history=tuple(turns)), AssemblySettings().replace(**changes), COUNTER, "nl", summarise)  # type: ignore[arg-type]


@given(TURNS, st.integers(-5, 200))
def test_what_fits_is_a_suffix_of_whole_exchanges_and_the_longest(turns: tuple[Turn, ...], most: int) -> None:
    kept = newest_that_fit(turns, most, COUNTER)
    assert kept == turns[len(turns) - len(kept) :]
    assert turn_tokens(kept, COUNTER) <= max(0, most)
    groups = exchanges(turns)
    assert tuple(turn for group in groups for turn in group) == turns
    size = len(exchanges(kept))
    assert exchanges(kept) == groups[len(groups) - size :]
    if size < len(groups):
        longer = [turn for group in groups[len(groups) - size - 1 :] for turn in group]
        assert turn_tokens(longer, COUNTER) > most


@given(TURNS)
def test_an_exchange_ends_with_its_answers(turns: tuple[Turn, ...]) -> None:
    groups = exchanges(turns)
    for group in groups:
        roles = [turn.role for turn in group]
        assert roles == sorted(roles, reverse=True)  # user before assistant
    assert all(group[-1].role == "assistant" for group in groups[:-1])


@given(
    TURNS, st.none() | st.integers(0, 100), st.none() | st.integers(0, 6), st.sampled_from(["", "Kort verteld.", "lang " * 900, "fails"])
)
def test_every_turn_is_sent_told_or_left_out(turns: tuple[Turn, ...], most: int | None, after: int | None, told: str) -> None:
    def summarise(older: tuple[Turn, ...], max_tokens: int) -> str:
        if told == "fails":
            raise ModelUnavailable("the model is away")
        return told

    done = sent(turns, summarise, history_tokens=most, history_summarise_after=after)
    summary = done.turns[:2] if done.summarised else ()
    kept = done.turns[len(summary) :]
    assert done.summarised + done.trimmed + len(kept) == done.given == len(turns)
    assert kept == turns[len(turns) - len(kept) :]
    assert done.tokens == turn_tokens(done.turns, COUNTER)
    assert most is None or done.tokens <= most
    assert bool(done.summary) == bool(done.summarised)
    if summary:
        assert [turn.role for turn in summary] == ["user", "assistant"]
        assert summary[1].content == done.summary
        assert turn_tokens(summary, COUNTER) <= SUMMARY_TOKENS
    if after is not None:
        assert len(kept) <= after
    if after is None and most is None:
        assert done.turns == turns


def test_oldest_first_and_a_question_goes_with_its_answer() -> None:
    sizes = [turn_tokens(CHAT[i : i + 2], COUNTER) for i in (0, 2, 4)]
    assert sent(CHAT, history_tokens=sum(sizes)).turns == CHAT
    less = sent(CHAT, history_tokens=sum(sizes) - 1)
    assert less.turns == CHAT[2:]
    assert (less.trimmed, less.trimmed_tokens, less.given) == (2, sizes[0], 6)
    assert sent(CHAT, history_tokens=sizes[2]).turns == CHAT[4:]
    assert sent(CHAT, history_tokens=sizes[2] - 1).turns == ()
    assert sent(CHAT, history_tokens=0).turns == ()


def test_the_question_itself_is_no_earlier_turn() -> None:
    again = (*CHAT, Turn("user", "  En\nmorgen? "))
    assert sent(again).turns == CHAT
    assert sent((*CHAT, Turn("user", "En overmorgen?"))).turns == (*CHAT, Turn("user", "En overmorgen?"))


def test_older_turns_are_told_in_a_summary() -> None:
    asked: list[tuple[tuple[Turn, ...], int]] = []

    def summarise(older: tuple[Turn, ...], max_tokens: int) -> str:
        asked.append((older, max_tokens))
        return " Eten en zwarte koffie mogen. "

    done = sent(CHAT, summarise, history_summarise_after=2)
    assert done.turns == (Turn("user", ASKED_FOR["nl"]), Turn("assistant", "Eten en zwarte koffie mogen."), *CHAT[4:])
    assert (done.summarised, done.trimmed, done.note) == (4, 0, "")
    assert asked[0][0] == CHAT[:4]
    assert 0 < asked[0][1] < SUMMARY_TOKENS
    assert sent(CHAT, summarise, history_summarise_after=6).turns == CHAT
    assert sent(CHAT, summarise, history_summarise_after=3).summarised == 4  # never half an exchange
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("failure", "note"),
    [
        (None, "The 4 oldest turns are left out instead of summarised: no language model was asked for a summary."),
        (ModelUnavailable("the server is away."), "The 4 oldest turns are left out instead of summarised: the server is away."),
    ],
)
def test_without_a_summary_the_older_turns_are_left_out_and_it_says_why(failure: ModelUnavailable | None, note: str) -> None:
    def summarise(older: tuple[Turn, ...], max_tokens: int) -> str:
        assert failure is not None
        raise failure

    done = sent(CHAT, summarise if failure else None, history_summarise_after=2)
    assert (done.turns, done.trimmed, done.summarised, done.note) == (CHAT[4:], 4, 0, note)


def test_no_room_for_a_summary() -> None:
    assert "leaves no room for a summary" in sent(CHAT, lambda *_: "x", history_summarise_after=2, history_tokens=40).note


def test_a_turn_that_is_no_text_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"history\[1\].content must be a text, got 7"):
        sent((CHAT[0], Turn("assistant", 7)))  # type: ignore[arg-type]


@given(
    st.lists(st.builds(Turn, st.sampled_from(["user", "assistant", "system"]), TEXTS.map(lambda t: t.replace("\0", ""))), max_size=6).map(
        tuple
    )
)
def test_what_is_written_reads_back(turns: tuple[Turn, ...]) -> None:
    assert parse_history(write_history(turns)) == turns


def test_the_forms_in_which_turns_are_typed() -> None:
    typed = "User: Mag ik eten?\nOok koffie?\nassistent:  Ja: zwarte.\n\nGebruiker: Dank.\n"
    turns = (Turn("user", "Mag ik eten?\nOok koffie?"), Turn("assistant", "Ja: zwarte."), Turn("user", "Dank."))
    assert parse_history(typed) == turns
    listed = [{"role": turn.role, "content": turn.content} for turn in turns]
    assert parse_history(json.dumps(listed)) == turns
    assert parse_history("\n".join(map(json.dumps, listed))) == turns
    assert parse_history("\ufeffUser: a\r\nAssistant: b") == (Turn("user", "a"), Turn("assistant", "b"))
    assert parse_history(" \n ") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello there", "must begin with a speaker, such as"),
        ("[1, 2]", "history[0]: role must be one of user, assistant, system, got 1"),
        ('[{"role": "tool", "content": "x"}]', "history[0]: role must be one of user, assistant, system, got 'tool'"),
        ('{"role": "user", "content": 5}', "line 1: content must be a text, got 5"),
        ('{"role": "user"', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[" + "9" * 5_000 + "]", "a number of too many digits"),
        ("User: a\0b", "got NUL"),
        ("User: " + "x" * 2_000_001, "at most 2,000,000 characters"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_history(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_turns_or_one_error(text: str) -> None:
    try:
        turns = parse_history(text)
    except InvalidInput:
        return
    assert all(turn.role in ("user", "assistant", "system") for turn in turns)


def test_a_speaker_is_known_in_letters_that_count_as_others() -> None:
    assert [turn.role for turn in parse_history("User: hi\nAſſıstant: yes\nASSİSTANT: no")] == ["user", "assistant", "assistant"]
