"""Answers that are known already: under all that decides them, where the model lives among it."""

from __future__ import annotations

from contexts import make_assembly

from ctxasm.answering.known_answers import answer_key
from ctxasm.llm import Endpoint, ExtractiveModel, OpenAIModel
from ctxasm.model.messages import AnswerModel, Message

MESSAGES = (Message("user", "Where is the desk?"),)


def key(model: AnswerModel) -> str:
    return answer_key(model, MESSAGES, make_assembly("Where is the desk?", ()), 0.0, 512)


def test_another_address_of_the_same_host_answers_under_another_key() -> None:
    """Whoever types one must not leave an answer for those who ask the configured one: gateways serve many tenants under a host."""
    address = "https://gateway.example/v1/ours"
    ours = key(OpenAIModel(Endpoint(address, "large", "a key")))
    for other in ("https://gateway.example/v1/theirs", "http://gateway.example/v1/ours", "https://gateway.example/v1"):
        theirs = OpenAIModel(Endpoint(other, "large", "a key"))
        assert theirs.name == "large at gateway.example"
        assert key(theirs) != ours
    assert key(OpenAIModel(Endpoint(address, "large", "another key"))) == ours
    assert key(ExtractiveModel()) == key(ExtractiveModel()) != ours
