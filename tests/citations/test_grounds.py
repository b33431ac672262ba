"""Where evidence stands: every stretch of a block is the same text in the context, the chunk and the document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.assembly.extract_sentences import ExtractiveCompressor
from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.stages import Extract, KeptSpan
from ctxasm.citations.grounds import Ground, Grounds, grounds_of_assembly, grounds_of_sources
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.support import Found, Source
from ctxasm.text.overlap import has_offsets
from tests.contexts import Block, make_assembly
from tests.examples import examples
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER, LIMITS, Case, cases, settings_

TEXT = "De balie opent om zeven uur. Bezoek is welkom tot acht uur. Parkeren kost twee euro per uur. Bel eerst even de poli op."
CUTS = ((0, 60), (29, 93), (93, 119))
"""Three chunks: the second repeats the end of the first, the third touches it."""


def run(
    hits: list[Hit],
    chosen: AssemblySettings,
    *,
    summary: str | None = None,
    more: tuple[Chunk, ...] = (),
    chunks: Sequence[Chunk] = tuple(Chunk("doc", at, TEXT[low:high], low, high) for at, (low, high) in enumerate(CUTS)),
) -> Assembly:
    source = FakeSource([Document("doc", "Bezoek", summary=summary), Document("other", "Ander")], [*chunks, *more], COUNTER)
    return assemble(Query("Wanneer?", tuple(hits)), source, chosen, COUNTER, FakeClock(), 8000)


def only(assembly: Assembly) -> Ground:
    (ground,) = grounds_of_assembly(assembly).items
    return ground


def found(ground: Ground, words: str) -> Found:
    start = ground.source.text.index(words)
    return Found(ground.source.number, start, start + len(words), 0.9)


def test_a_stretch_is_known_in_every_coordinate() -> None:
    ground = only(run([Hit("doc", 2, 0.9)], AssemblySettings(expand_window=0)))
    support = ground.support(found(ground, "Bel eerst"))
    assert (support.number, support.score, support.retrieved) == (1, 0.9, True)
    assert (support.document_id, support.chunk_index, support.chunk_start, support.chunk_end) == ("doc", 2, 0, 9)
    assert TEXT[support.document_start : support.document_end] == "Bel eerst"


def test_only_what_a_hit_holds_or_shares_is_retrieved() -> None:
    ground = only(run([Hit("doc", 1, 0.9)], AssemblySettings(expand_window=1)))
    said = {words: ground.support(found(ground, words)) for words in ("De balie", "Bezoek is", "Parkeren", "Bel eerst")}
    assert {words: support.retrieved for words, support in said.items()} == {
        "De balie": False,  # chunk 0 was added as a neighbour
        "Bezoek is": True,  # rendered as part of chunk 0, but the hit has it, too
        "Parkeren": True,
        "Bel eerst": False,
    }
    assert said["Bezoek is"].chunk_index == 0
    assert said["Parkeren"].chunk_start == TEXT.index("Parkeren") - CUTS[1][0]


def test_a_stretch_over_two_chunks_has_no_chunk_but_a_document() -> None:
    ground = only(run([Hit("doc", 1, 0.9)], AssemblySettings(expand_window=1)))
    support = ground.support(found(ground, "per uur. Bel eerst"))
    assert (support.chunk_index, support.chunk_start, support.chunk_end) == (None, None, None)
    assert TEXT[support.document_start : support.document_end] == "per uur. Bel eerst"
    assert support.retrieved


def test_a_chunk_that_lies_inside_another_and_is_shown_again_turns_no_place_around() -> None:
    inside = (Chunk("doc", 0, TEXT[:60], 0, 60), Chunk("doc", 2, TEXT[29:45], 29, 45))
    ground = only(run([Hit("doc", 0, 0.9), Hit("doc", 2, 0.8)], AssemblySettings(expand_window=0, gap_mark=""), chunks=inside))
    support = ground.support(found(ground, "acht uur. \nBezoek is"))
    assert (support.chunk_index, support.document_start, support.document_end) == (None, 29, 60)


@pytest.mark.parametrize(("start", "end"), [(29, None), (None, 93), (29, 94), (0, 0)])
def test_offsets_that_do_not_span_the_text_place_nothing(start: int | None, end: int | None) -> None:
    ground = only(run([Hit("doc", 1, 0.9)], AssemblySettings(expand_window=0), chunks=(Chunk("doc", 1, TEXT[29:93], start, end),)))
    support = ground.support(found(ground, "Parkeren"))
    assert (support.chunk_index, support.chunk_start) == (1, TEXT.index("Parkeren") - 29)
    assert (support.document_start, support.document_end) == (None, None)


def test_a_stretch_is_placed_only_where_each_of_its_chunks_is() -> None:
    """What lies between is not known to stand between them in the document."""
    chunks = [Chunk("doc", at, f"Zin {at} van drie.", 20 * at if at != 1 else None, 20 * at + 15 if at != 1 else None) for at in range(3)]
    ground = only(run([Hit("doc", at, 0.9) for at in range(3)], AssemblySettings(expand_window=0), chunks=chunks))
    (low, high) = ground.source.ranges[0][0], ground.source.ranges[-1][1]
    support = ground.support(Found(1, low, high, 0.9))
    assert (support.document_id, support.document_start, support.document_end) == ("doc", None, None)


class Shortens:
    """A compressor that makes the same of every chunk."""

    def __init__(self, made: Extract) -> None:
        self.made = made

    def compress(self, query: str, chunks: Sequence[FetchedChunk], *_: Any) -> list[Extract | None]:
        return [self.made for _ in chunks]


def shortened(made: Extract) -> Ground:
    chosen = AssemblySettings(expand_window=0, compression="model", compression_when="always", max_chunk_tokens=20)
    source = FakeSource([], [Chunk("doc", 0, TEXT * 3, 500, 500 + 3 * len(TEXT))], COUNTER)
    query = Query("Wanneer?", (Hit("doc", 0, 0.9),))
    return only(assemble(query, source, chosen, COUNTER, FakeClock(), 8000, compressor=Shortens(made)))


def test_what_a_model_wrote_of_a_chunk_has_no_place_in_it_nor_in_the_document() -> None:
    ground = shortened(Extract("rewritten", words="De balie is open en parkeren kost geld."))
    support = ground.support(found(ground, "parkeren kost geld"))
    assert (support.document_id, support.chunk_index, support.retrieved) == ("doc", 0, True)
    assert support[-4:] == (None, None, None, None)


def test_what_is_left_of_a_chunk_stands_where_it_stood() -> None:
    ground = shortened(Extract("model", (KeptSpan(0, 28), KeptSpan(60, 92))))
    support = ground.support(found(ground, "twee euro"))
    at = TEXT.index("twee euro")
    assert support[-4:] == (at, at + 9, 500 + at, 500 + at + 9)


def test_headers_gaps_and_summaries_are_no_evidence() -> None:
    assembly = run([Hit("doc", 0, 0.9), Hit("doc", 2, 0.8)], AssemblySettings(expand_window=0), summary="Over de balie")
    ground = only(assembly)
    text = ground.source.text
    assert [text[low:high] for low, high in ground.source.ranges] == [TEXT[:60], TEXT[93:]]
    assert text.startswith("[1] Source: Bezoek")
    assert "[…]" in text
    assert ground.summary is not None
    assert [text[low:high].strip() for low, high in ground.summary.ranges] == ["[Pagina context: Over de balie]"]
    assert (ground.source.number, ground.summary.number, ground.source.title) == (1, 1, "Bezoek")
    assert ground.support(found(ground, "Over de balie")).retrieved is None


def test_touching_chunks_are_one_stretch_of_evidence() -> None:
    ground = only(run([Hit("doc", 0, 0.9), Hit("doc", 1, 0.8), Hit("doc", 2, 0.7)], AssemblySettings(expand_window=0)))
    assert [ground.source.text[low:high] for low, high in ground.source.ranges] == [TEXT]


@pytest.mark.parametrize("unit", ["document", "passage", "chunk"])
def test_there_is_one_ground_a_block(unit: str) -> None:
    assembly = run([Hit("doc", 0, 0.9), Hit("doc", 2, 0.8)], AssemblySettings(expand_window=0, citation_unit=unit))  # type: ignore[arg-type]
    grounds = grounds_of_assembly(assembly)
    assert [source.number for source in grounds.sources] == [citation.number for citation in assembly.citations]
    assert len(grounds.items) == (1 if unit == "document" else 2)
    check_every_place(grounds, assembly)


def test_no_block_is_no_source() -> None:
    assert grounds_of_assembly(run([], AssemblySettings())).sources == ()


def test_sources_of_a_record_are_evidence_as_a_whole() -> None:
    grounds = grounds_of_sources(
        ({"n": 2, "text": "Ja.", "title": "Bezoek"}, {"n": "7", "text": ""}, {"n": 1, "text": "Nee", "title": None})
    )
    assert grounds.sources == (Source(2, "Ja.", ((0, 3),), "Bezoek"), Source(7, "", ()), Source(1, "Nee", ((0, 3),)))
    support = grounds.items[0].support(Found(2, 0, 2, 0.5))
    assert (support.number, support.start, support.end, support.score) == (2, 0, 2, 0.5)
    assert support[4:] == (None,) * 9


def test_a_chunk_without_text_is_no_evidence() -> None:
    (ground,) = grounds_of_assembly(make_assembly(blocks=[Block("Leeg", ("",))])).items
    assert ground.source.ranges == ()


CALM = settings(max_examples=examples(60), derandomize=True)


@CALM
@given(cases(), settings_(enabled=True), LIMITS, st.randoms(use_true_random=False))
def test_every_stretch_of_evidence_is_the_same_text_everywhere(case: Case, chosen: AssemblySettings, limit: int, random) -> None:
    compressor = ExtractiveCompressor(chosen.gap_mark) if chosen.compression != "off" else None
    assembly = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit, compressor=compressor)
    grounds = grounds_of_assembly(assembly)
    assert [source.number for source in grounds.sources] == [citation.number for citation in assembly.citations]
    check_every_place(grounds, assembly)
    for ground in grounds.items:
        for low, high in ground.source.ranges:
            start = random.randint(low, high - 1)
            check_stretch(ground, assembly, case, start, random.randint(start + 1, high))


@CALM
@given(cases(), settings_(enabled=False), LIMITS)
def test_without_assembly_every_block_is_a_hit(case: Case, chosen: AssemblySettings, limit: int) -> None:
    assembly = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    grounds = grounds_of_assembly(assembly)
    check_every_place(grounds, assembly)
    assert all(place.retrieved for ground in grounds.items for place in ground.places)


def check_every_place(grounds: Grounds, assembly: Assembly) -> None:
    """Evidence is exactly the text of the chunk segments, in order; each block's text is that of the context."""
    for ground in grounds.items:
        own = [s for s in assembly.segments if s.block == ground.source.number]
        offset = ground.offset or 0
        assert ground.source.text == assembly.text[offset : offset + len(ground.source.text)]
        inside = {at for low, high in ground.source.ranges for at in range(low, high)}
        assert inside == {at - offset for s in own if s.kind == "chunk" for at in range(s.start, s.end)}
        before = -1
        for low, high in ground.source.ranges:
            assert before < low < high
            before = high
        summary = {at for low, high in (ground.summary.ranges if ground.summary else ()) for at in range(low, high)}
        assert summary == {at - offset for s in own if s.kind == "prefix" for at in range(s.start, s.end)}


def check_stretch(ground: Ground, assembly: Assembly, case: Case, start: int, end: int) -> None:
    support = ground.support(Found(ground.source.number, start, end, 0.5))
    words = ground.source.text[start:end]
    assert assembly.text[support.context_start : support.context_end] == words
    touched = [s for s in assembly.segments if s.kind == "chunk" and s.start < support.context_end and support.context_start < s.end]
    hits = {fate[:2] for fate in assembly.trace.fates if fate.retrieved}
    assert support.retrieved == any({(s.document_id, s.chunk_index), *s.shared_with} & hits for s in touched)
    assert support.document_id in {s.document_id for s in touched}
    neutralised = any(s.neutralised for s in touched)
    if support.chunk_index is not None:
        (chunk,) = (c for c in case.chunks if (c.document_id, c.chunk_index) == (support.document_id, support.chunk_index))
        assert neutralised or chunk.text[support.chunk_start : support.chunk_end] == words
        assert support.chunk_end - support.chunk_start == end - start
        assert {(s.document_id, s.chunk_index) for s in touched} == {(support.document_id, support.chunk_index)}
    held = [assembly.trace.candidates[s.document_id, s.chunk_index].chunk for s in touched]
    assert (support.document_start is not None) == all(has_offsets(chunk) for chunk in held)
    if support.document_start is not None:
        assert support.document_start < support.document_end
        assert min(chunk.start for chunk in held) <= support.document_start
        assert support.document_end <= max(chunk.end for chunk in held)
        if support.chunk_index is not None:
            assert support.document_start - support.chunk_start == support.document_end - support.chunk_end == held[0].start
        text = case.texts[support.document_id]
        if all(text[chunk.start : chunk.end] == chunk.text for chunk in held):  # else a record says where it does not stand
            assert support.document_end <= len(text)
            shown = text[support.document_start : support.document_end]
            stretches = [words[max(s.start - support.context_start, 0) : s.end - support.context_start] for s in touched]
            assert neutralised or all(stretch in shown for stretch in stretches)
            assert neutralised or support.chunk_index is None or shown == words
