"""Every event, fate and setting has words."""

from __future__ import annotations

import re
from itertools import product
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from ctxasm.app.fates import fate_label, fate_sentence
from ctxasm.app.ui.frame.settings_panel import meaning_sentence
from ctxasm.app.ui.setting_words import CHOICES, choice_sentence, help_of
from ctxasm.app.ui.words import event_sentence, number, title_of
from ctxasm.llm.embedding import SLIDER, THRESHOLDS, threshold_of
from ctxasm.model.amounts import counted
from ctxasm.model.events import REASONS, Duplicate, Event, Likeness, Reason
from ctxasm.model.records import Document
from ctxasm.model.results import Fate
from ctxasm.model.settings import LABELS, named, spec_of, specs, value_words

VALUES = {"document_id": "d1", "of_document_id": "d2", "text": "[2]", "similarity": 0.954}


def examples(kind: type, number=3) -> list[Event]:
    """An event of this kind for every value of its words, the numbers being 3."""
    hints = get_type_hints(kind)

    def values(name: str, hint: object) -> tuple[object, ...]:
        if name in VALUES:
            return (VALUES[name],)
        if get_origin(hint) is Literal:
            return get_args(hint)
        if hint is str:
            return ("a word",)
        if hint == tuple[str, ...]:
            return (("contrast",), ())
        return (True, False) if hint is bool else ((1, 2),) if "tuple" in str(hint) else (number,)

    every = product(*(values(name, hint) for name, hint in hints.items()))
    return [kind(**dict(zip(hints, chosen, strict=True))) for chosen in every]


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_every_event_has_a_sentence(kind):
    sentences = [event_sentence(event) for event in examples(kind)]
    for sentence in sentences:
        assert sentence.endswith(".")
        assert sentence[0].isupper()
        assert "None" not in sentence
    assert len(set(sentences)) == len(sentences), "two events of other words read the same"


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_nouns_agree_with_their_counts(kind):
    one = " ".join(event_sentence(event) for event in examples(kind, 1))
    more = " ".join(event_sentence(event) for event in examples(kind, 2))
    nouns = "chunk|token|character|step|hit|time|block|document|neighbour"
    assert re.search(rf"(?<![\d.,#])1 (more )?({nouns})s\b", one) is None, one
    assert re.search(rf"(?<![\d.,#])2 (more )?({nouns})\b", more) is None, more


def test_sentences_tell_events_apart():
    sentences = [event_sentence(examples(kind)[0]) for kind in get_args(Event)]
    assert len(set(sentences)) == len(sentences)


def test_a_copy_says_how_alike_it_is():
    exact, near, semantic = (event_sentence(Duplicate("d1", 1, "d2", 3, likeness, 0.968)) for likeness in get_args(Likeness))
    assert exact == "Says exactly what d2 #3 says, which is kept."
    assert near == "Says nearly what d2 #3 says (97 % the same words), which is kept."
    assert semantic == "Means what d2 #3 says (cosine 0.97), which is kept."
    fate = Fate("d1", 1, True, 0.5, 1, "duplicate_of", "deduplicate", of=("d2", 3), likeness="semantic", similarity=0.95)
    assert fate_sentence(fate) == "Repeated: it means what d2 #3 says (cosine 0.95), which is kept."
    assert [fate_label(fate._replace(likeness=likeness)) for likeness in (None, "exact", "near", "semantic")] == [
        "repeated",
        "repeated",
        "nearly repeated",
        "same meaning",
    ]


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_has_words(reason):
    fate = Fate("d1", 1, True, 0.5, 1, "dropped", "compress", reason)
    assert fate_sentence(fate) == f"Left out at Compress: {REASONS[reason]}."


def test_a_shortened_chunk_says_by_how_much():
    fate = Fate("d1", 1, True, 0.5, 1, "kept", "compress", tokens=900, block=2, compressed=0.34)
    assert fate_sentence(fate) == "Kept in block [2], shortened to 34 % of its tokens."
    assert fate_label(fate) == "kept, shortened"


@pytest.mark.parametrize("fate", ["kept", "truncated", "merged", "duplicate_of", "dropped"])
def test_every_fate_has_words(fate):
    done = Fate("d1", 2, True, 0.5, 1, fate, "budget", "budget" if fate == "dropped" else None, 10, 431, 0, (), ("d1", 1), 3)
    assert fate_sentence(done).endswith(".")
    assert fate_label(done)
    if fate == "dropped":
        assert "431 more tokens" in fate_sentence(done)


def test_every_setting_and_every_choice_has_words():
    assert list(LABELS) == [spec.name for spec in specs()]
    assert {name: list(choices) for name, choices in CHOICES.items()} == {s.name: list(s.choices) for s in specs() if s.kind == "choice"}
    assert len(set(LABELS.values())) == len(LABELS)
    for name, choices in CHOICES.items():
        for value in choices:
            assert choice_sentence(name, value)[0] == choice_sentence(name, value)[0].upper()
            assert f"- **{value}**: " in help_of(spec_of(name))


def test_a_value_is_written_one_way():
    values = {
        "max_tokens": 4000,
        "decay": 0.8125,
        "dedup_near": True,
        "budget_policy": "drop_documents",
        "pool_window": None,
        "top_k": None,
    }
    assert [value_words(spec_of(name), value) for name, value in values.items()] == [
        *("4,000", "0.8125", "on", "drop documents", "as Neighbours", "all"),
    ]
    assert named({"max_tokens": 4000, "pool_window": None}) == "Max tokens 4,000, Candidate neighbours as Neighbours"


@pytest.mark.parametrize("embedder", [*THRESHOLDS, None])
def test_each_region_of_the_threshold_has_its_meaning(embedder):
    low, high = SLIDER
    said = {meaning_sentence(cosine, embedder).split(": ", 1)[1] for cosine in (low, 0.93, high)}
    assert len(said) == 3
    assert meaning_sentence(None, embedder).startswith(
        f"From {embedder or 'the embedder'}'s own threshold, {threshold_of(embedder or '')} on: "
    )


def test_small_words():
    assert (number(12345), counted(1, "query"), counted(2, "query"), counted(0, "chunk")) == (
        "12,345",
        "1 query",
        "2 queries",
        "0 chunks",
    )
    assert title_of({"d": Document("d", "A\n b")}, "d") == "A b"
    assert title_of({}, "d") == "d"
    assert len(title_of({"d": Document("d", "x" * 300)}, "d", 20)) == 20
