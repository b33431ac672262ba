"""Keys say what the words depend on, and nothing else; the ledger comes back as it was written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.data.enrich.cache import (
    Ledger,
    Writer,
    is_label,
    ledger_key,
    read_enrichment,
    read_ledger,
    read_summary,
    write_context,
    write_ledger,
    write_questions,
    write_summary,
)
from ctxasm.data.enrich.texts import Enrichment
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document

DOCUMENT = Document("d", "Titel", summary="Eigen.")
CHUNK = FetchedChunk("d", 3, "De tekst.", section="Kop")
MODEL, RULES = Writer("klein", "model", "m1"), Writer("klein", "extractive")


@pytest.mark.parametrize("changed", [CHUNK._replace(text="Andere."), CHUNK._replace(section="X"), CHUNK._replace(section=None)])
@pytest.mark.parametrize("writer", [MODEL, RULES])
def test_another_chunk_has_another_key(writer: Writer, changed: FetchedChunk) -> None:
    assert writer.context_key(DOCUMENT, CHUNK) != writer.context_key(DOCUMENT, changed)
    assert writer.context_key(DOCUMENT, CHUNK)[8:] == writer.questions_key(DOCUMENT, CHUNK)[10:]


def test_a_models_words_go_with_the_content_those_of_the_rules_with_the_dataset() -> None:
    key = MODEL.context_key(DOCUMENT, CHUNK)
    assert (
        key == MODEL._replace(dataset="elders").context_key(DOCUMENT, CHUNK) == MODEL.context_key(DOCUMENT, CHUNK._replace(chunk_index=9))
    )
    assert key != MODEL._replace(model="m2").context_key(DOCUMENT, CHUNK)
    assert key != MODEL.context_key(replace(DOCUMENT, title="Andere"), CHUNK)
    own = RULES.context_key(DOCUMENT, CHUNK)
    assert own != RULES._replace(dataset="elders").context_key(DOCUMENT, CHUNK)
    assert own != RULES.context_key(DOCUMENT, CHUNK._replace(chunk_index=9))


def test_a_summary_depends_on_all_chunks() -> None:
    key = MODEL.summary_key(DOCUMENT, [CHUNK, CHUNK])
    assert key != MODEL.summary_key(DOCUMENT, [CHUNK])
    assert key != MODEL.summary_key(DOCUMENT, [CHUNK, CHUNK._replace(text="x")])


@given(
    st.builds(
        Ledger,
        models=st.lists(st.text(max_size=5), max_size=3).map(tuple),
        documents=st.integers(0, 9),
        tokens_in=st.integers(0, 10**9),
        counted=st.booleans(),
        content=st.text(max_size=5),
        at=st.floats(0, 1e10),
        contexts=st.booleans(),
    )
)
def test_a_ledger_comes_back(ledger: Ledger) -> None:
    assert read_ledger(write_ledger(ledger)) == ledger


@pytest.mark.parametrize("text", [None, "", "[]", "{", '{"models": 3, "chunks": "x", "odd": 1}', "null"])
def test_what_cannot_be_read_is_an_empty_ledger(text: str | None) -> None:
    assert read_ledger(text) == Ledger()


def test_words_come_back() -> None:
    assert read_enrichment(write_context("C é"), write_questions(("A?", "B?"))) == Enrichment("C é", ("A?", "B?"))
    assert read_enrichment(None, None) is None
    assert read_enrichment(write_context("C"), None) == Enrichment("C", ())
    assert read_summary(write_summary("S.")) == "S."
    assert read_enrichment("{", "[1]") == Enrichment("", ())


def test_long_dataset_names_fit_a_key() -> None:
    assert len(ledger_key("x" * 5000)) < 100
    assert ledger_key("x" * 5000) != ledger_key("x" * 5001)
    assert ledger_key("klein") == "dataset klein"


def test_who_wrote_a_summary() -> None:
    assert is_label(MODEL.label)
    assert is_label(RULES.label)
    assert not is_label(None)
    assert not is_label("redactie")
