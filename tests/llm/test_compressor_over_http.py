"""Compressing end to end: the real client, real HTTP, a server that copies or misbehaves, and the whole assembly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fake_model_server import FakeModel, serving

from ctxasm.app.parts import Models, open_compressor
from ctxasm.assembly.extract_sentences import ExtractiveCompressor
from ctxasm.assembly.pipeline import assemble
from ctxasm.config import Config, read_config
from ctxasm.model import events as ev
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Chunk, Hit, Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

KEY = "sk-secret-0123456789abcdef"
PARKING = "Parkeren kost 2,50 euro per uur."
FILLER = " ".join(f"Kamer {number} is open." for number in range(60))
QUERY = Query("Wat kost parkeren?", (Hit("a", 0, 0.9), Hit("b", 0, 0.5), Hit("c", 0, 0.4)))
CHUNKS = [Chunk("a", 0, f"{FILLER} {PARKING} {FILLER}"), Chunk("b", 0, f"De tuin. {FILLER}"), Chunk("c", 0, "Kort.")]
CHOSEN = AssemblySettings(compression="model", max_chunk_tokens=60)


def copied(body: dict[str, Any]) -> str:
    """The sentences of the passage that hold a word of the question, else the word that drops it."""
    passage = re.search(r"^PASSAGE \w+\n(.*)\nEND OF PASSAGE \w+$", body["messages"][-1]["content"], re.DOTALL | re.MULTILINE)
    assert passage is not None
    found = [sentence for sentence in re.findall(r"[A-Z][^.]*\.(?=\s|$)|[^.]*2,50[^.]*\.", passage[1]) if "arkeren" in sentence]
    return "\n".join(found) or "IRRELEVANT"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeModel]:
    with serving() as running:
        running.answer = copied
        yield running


def run(server: FakeModel, model: str, key: str = KEY) -> Assembly:
    config = Config("sqlite://", llm_base_url=server.base_url, llm_model="big", llm_api_key=key, compress_model=model, llm_timeout=2.0)
    compressor = open_compressor(CHOSEN, config)
    return assemble(QUERY, FakeSource([], CHUNKS, COUNTER), CHOSEN, COUNTER, FakeClock(), 500, compressor=compressor)


def test_the_separate_model_is_asked_and_its_choice_is_what_is_left(server: FakeModel) -> None:
    done = run(server, "mini")
    assert PARKING in done.text
    assert FILLER[:40] not in done.text
    fates = {fate.document_id: (fate.fate, fate.reason) for fate in done.trace.fates}
    assert fates == {"a": ("kept", None), "b": ("dropped", "irrelevant"), "c": ("kept", None)}
    segment = next(s for s in done.segments if s.document_id == "a" and s.kind == "chunk")
    assert CHUNKS[0].text[segment.chunk_start : segment.chunk_end] == PARKING
    assert {body["model"] for _, body in server.requests} == {"mini"}
    before = len(server.requests)
    assert run(server, "mini").to_dict()["text"] == done.text
    assert len(server.requests) == before


def test_a_copy_cut_through_its_characters_is_found_in_the_chunk(server: FakeModel) -> None:
    smile = PARKING.replace("euro", "euro 😀")
    chunks = [Chunk("a", 0, f"{FILLER} {smile} {FILLER}"), *CHUNKS[1:]]
    config = Config("sqlite://", llm_base_url=server.base_url, llm_model="big", llm_api_key=KEY, compress_model="halves", llm_timeout=2.0)
    done = assemble(QUERY, FakeSource([], chunks, COUNTER), CHOSEN, COUNTER, FakeClock(), 500, compressor=open_compressor(CHOSEN, config))
    segment = next(s for s in done.segments if s.document_id == "a" and s.kind == "chunk")
    assert (chunks[0].text[segment.chunk_start : segment.chunk_end], segment.rewritten) == (smile, False)


@pytest.mark.parametrize("model", ["401", "500", "html", "empty", "cut", "echo-key", "filter"])
def test_a_fault_is_one_note_and_the_question_is_assembled_all_the_same(server: FakeModel, model: str) -> None:
    done = run(server, model)
    record = done.trace.stage("compress")
    assert record is not None
    (failed,) = [event for event in record.events if isinstance(event, ev.Failed)]
    assert failed.chunks >= 1
    assert KEY not in failed.message
    assert "\n" not in failed.message
    assert PARKING in done.text
    assert done.token_count <= 500


def test_which_compressor_the_settings_open() -> None:
    empty = Config("sqlite://")
    assert open_compressor(AssemblySettings(), empty) is None
    assert isinstance(open_compressor(AssemblySettings(compression="extractive"), empty), ExtractiveCompressor)
    with pytest.raises(InvalidInput, match="compression=model needs a model: set CTXASM_LLM_BASE_URL and CTXASM_COMPRESS_MODEL"):
        open_compressor(CHOSEN, empty)


def test_the_model_that_compresses_is_named_on_its_own_else_it_is_the_one_that_answers() -> None:
    told = {"HOME": "/h", "CTXASM_LLM_BASE_URL": "http://a/v1", "CTXASM_LLM_MODEL": "big"}
    assert Models(read_config(told)).endpoint("compress").model == "big"
    own = Models(read_config(told | {"CTXASM_COMPRESS_MODEL": "mini", "CTXASM_LLM_API_KEY": KEY})).endpoint("compress")
    assert (own.model, own.base_url, own.api_key) == ("mini", "http://a/v1", KEY)
