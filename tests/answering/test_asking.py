"""Asking: pieces and markers as they come, one result at the end, and never a call for an empty context."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from contexts import make_assembly

from ctxasm.answering.asking import NOTHING_FOUND, AnswerResult, Marked, Piece, answer, ask
from ctxasm.answering.prompts import PromptChoice
from ctxasm.llm import ExtractiveModel, ScriptedModel
from ctxasm.model.errors import InvalidInput, ModelUnavailable
from ctxasm.model.messages import Message
from ctxasm.model.results import Assembly
from ctxasm.model.settings import Format
from ctxasm.text.language import REFUSAL


class SayingModel:
    """Says the given pieces; an exception among them is raised."""

    name, is_language_model = "saying", True

    def __init__(self, *pieces: str | Exception, reason: str = "stop") -> None:
        self.pieces, self.finish_reason = iter(pieces), reason
        self.asked: list[Sequence[Message]] = []
        self.closed = 0

    def stream(self, messages: Sequence[Message], **_: Any) -> SayingModel:
        self.asked.append(messages)
        return self

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        piece = next(self.pieces)
        if isinstance(piece, Exception):
            raise piece
        return piece

    def close(self) -> None:
        self.closed += 1


def spoken(assembly: Assembly) -> Assembly:
    return dataclasses.replace(assembly, settings=assembly.settings.replace(channel="voice"))


@pytest.mark.parametrize(("question", "language"), [("Waar is de balie?", "nl"), ("Where is the desk?", "en")])
def test_an_empty_context_never_reaches_the_model(question: str, language: str) -> None:
    model = SayingModel("x")
    (result,) = ask(make_assembly(question, ()), model)
    assert isinstance(result, AnswerResult)
    assert (result.text, result.called, result.complete, model.asked) == (NOTHING_FOUND[language], False, True, [])  # type: ignore[index]


def test_markers_come_as_soon_as_they_are_certain() -> None:
    model = SayingModel("Ja [", "1", "] en [9", "].")
    events = list(ask(make_assembly(), model))
    assert [type(event) for event in events] == [Piece, Piece, Piece, Marked, Piece, Marked, AnswerResult]
    assert [event.decided for event in events if isinstance(event, Piece)] == [3, 3, 10, 14]
    result = events[-1]
    assert isinstance(result, AnswerResult)
    assert [(m.known, m.unknown) for m in result.markers] == [((1,), ()), ((), (9,))]
    assert (result.text, result.complete, result.model, result.is_language_model) == ("Ja [1] en [9].", True, "saying", True)
    assert model.closed
    assert "CONTEXT" in model.asked[0][-1].content


def test_a_spoken_answer_is_not_parsed() -> None:
    assembly = spoken(make_assembly())
    model = SayingModel("Kamer [", "1", "] is open [9].\n\nBronnen:\n[1] x")
    events = list(ask(assembly, model))
    assert [type(event) for event in events] == [Piece, Piece, Piece, AnswerResult]
    assert [event.decided for event in events if isinstance(event, Piece)] == [
        7,
        8,
        len("Kamer [1] is open [9].\n\nBronnen:\n[1] x"),
    ]  # all of it may be shown at once
    result = events[-1]
    assert isinstance(result, AnswerResult)
    assert result.text == "Kamer [1] is open [9].\n\nBronnen:\n[1] x"
    assert (result.markers, result.listed, result.channel, result.complete) == ((), (), "voice", True)
    assert "voorgelezen" in model.asked[0][0].content


@pytest.mark.parametrize("format", ["grouped", "minimal"])
def test_an_answer_from_blocks_without_numbers_is_not_parsed(format: Format) -> None:
    base = make_assembly()
    assembly = dataclasses.replace(base, settings=base.settings.replace(format=format))
    model = SayingModel("Kamer [", "1", "] is open [9].")
    result = answer(assembly, model)
    assert (result.text, result.markers, result.listed) == ("Kamer [1] is open [9].", (), ())
    assert (result.channel, result.marked) == ("text", False)
    assert "Verwijs niet naar bronnen" in model.asked[0][0].content
    assert "voorgelezen" not in model.asked[0][0].content
    assert [answer(each, SayingModel("Ja")).marked for each in (base, spoken(base), spoken(assembly))] == [True, False, False]


def test_markers_of_the_source_format_are_read() -> None:
    base = make_assembly()
    assembly = dataclasses.replace(base, settings=base.settings.replace(format="source"))
    result = answer(assembly, SayingModel("Ja [SOU", "RCE 1][SOURCE 9]."))
    assert [(m.known, m.unknown) for m in result.markers] == [((1,), ()), ((), (9,))]
    assert result.marked


def test_the_result_says_how_was_asked() -> None:
    model = SayingModel("No.")
    choice = PromptChoice("strict", answer_first=True, extra="Be kind.", language="en")
    result = answer(make_assembly(), model, choice)
    assert (result.choice, result.language, result.channel) == (choice, "en", "text")
    assert REFUSAL["en"] in model.asked[0][0].content
    assert model.asked[0][0].content.endswith("Be kind.")
    plain = answer(make_assembly(), SayingModel("Ja"))
    assert (plain.choice, plain.language) == (PromptChoice(), "nl")


def test_own_messages_are_sent_as_they_are() -> None:
    model = SayingModel("Ja")
    own = (Message("system", "s"), Message("user", "u"))
    *_, result = ask(make_assembly(), model, PromptChoice(language="en"), messages=own)
    assert model.asked == [own]
    assert isinstance(result, AnswerResult)
    assert result.language == "en"


def test_an_empty_context_is_answered_in_the_language_of_the_prompt() -> None:
    (result,) = ask(spoken(make_assembly("Waar?", ())), SayingModel("x"), PromptChoice(language="en"))
    assert isinstance(result, AnswerResult)
    assert (result.text, result.channel, result.called) == (NOTHING_FOUND["en"], "voice", False)


def test_a_choice_of_another_channel_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be that of its context, text"):
        answer(make_assembly(), SayingModel("x"), PromptChoice(channel="voice"))


def test_a_failure_keeps_what_arrived_and_the_last_marker() -> None:
    result = answer(make_assembly(), SayingModel("Ja [1]", ModelUnavailable("it broke", "Ja [1]")))
    assert (result.text, result.complete, result.error, result.note) == ("Ja [1]", False, "it broke", None)
    assert [marker.known for marker in result.markers] == [(1,)]


@pytest.mark.parametrize(("reason", "word"), [("length", "maximum answer length"), ("content_filter", "filter"), ("cancelled", "Stopped")])
def test_an_answer_that_ends_early_says_why(reason: str, word: str) -> None:
    result = answer(make_assembly(), SayingModel("Ja", reason=reason), max_tokens=1)
    assert not result.complete
    assert word in (result.note or "")
    assert result.error is None


def test_times_come_from_the_clock() -> None:
    ticks = iter([10.0, 10.5, 11.0])
    *_, result = ask(make_assembly(), SayingModel("Ja"), clock=lambda: next(ticks))
    assert isinstance(result, AnswerResult)
    assert (result.first_piece_ms, result.elapsed_ms) == (500.0, 1000.0)


def test_stopping_to_listen_closes_the_stream() -> None:
    model = SayingModel("a", "b")
    events = ask(make_assembly(), model)
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert model.closed


def test_the_default_model_is_labelled_and_sound() -> None:
    result = answer(make_assembly(), ExtractiveModel())
    assert not result.is_language_model
    assert "no language model" in result.model
    assert result.markers
    assert all(marker.is_sound for marker in result.markers)
    assert not any(marker.is_sound for marker in answer(make_assembly(), ScriptedModel("out_of_range")).markers)
