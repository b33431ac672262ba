"""Every event, fate and setting has words."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from ctxasm.model.events import Event
from ctxasm.model.records import Document
from ctxasm.model.results import Fate
from ctxasm.model.settings import AssemblySettings, specs
from ctxasm.ui.words import event_sentence, fate_label, fate_sentence, number, plural, settings_sentence, title_of

VALUES = {"document_id": "d1", "of_document_id": "d2", "part": "summary", "reason": "budget", "text": "[2]", "swapped": True}


def example(kind: type) -> Event:
    def value(name: str, hint: object) -> object:
        if name in VALUES:
            return VALUES[name]
        return (1, 2) if "tuple" in str(hint) else 3

    return kind(**{name: value(name, hint) for name, hint in get_type_hints(kind).items()})


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_every_event_has_a_sentence(kind):
    sentence = event_sentence(example(kind))
    assert sentence.endswith(".")
    assert sentence[0].isupper()
    assert "None" not in sentence


def test_sentences_tell_events_apart():
    sentences = [event_sentence(example(kind)) for kind in get_args(Event)]
    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("fate", ["kept", "truncated", "merged", "duplicate_of", "dropped"])
def test_every_fate_has_words(fate):
    done = Fate("d1", 2, True, 0.5, 1, fate, "budget", "budget" if fate == "dropped" else None, 10, 431, 0, (), ("d1", 1), 3)
    assert fate_sentence(done).endswith(".")
    assert fate_label(done)
    if fate == "dropped":
        assert "431 more tokens" in fate_sentence(done)


def test_the_settings_sentence():
    assert settings_sentence(AssemblySettings()) == (
        "±1 neighbour at half score, strip > 20 characters, drop documents over 8\u202f000 tokens, summary once per document, one number "
        "per document"
    )
    assert settings_sentence(AssemblySettings(enabled=False)).startswith("assembly off")


@pytest.mark.parametrize(
    "spec", [spec for spec in specs() if (spec.kind == "choice" and len(spec.choices) > 1) or spec.kind == "bool"], ids=lambda s: s.name
)
def test_the_settings_sentence_knows_every_choice(spec):
    other = not spec.default if spec.kind == "bool" else next(choice for choice in spec.choices if choice != spec.default)
    assert settings_sentence(AssemblySettings(**{spec.name: other})) != settings_sentence(AssemblySettings())


def test_small_words():
    assert (number(12345), plural(1, "query"), plural(2, "query"), plural(0, "chunk")) == (
        "12\u202f345",
        "1 query",
        "2 queries",
        "0 chunks",
    )
    assert title_of({"d": Document("d", "A\n b")}, "d") == "A b"
    assert title_of({}, "d") == "d"
    assert len(title_of({"d": Document("d", "x" * 300)}, "d", 20)) == 20
