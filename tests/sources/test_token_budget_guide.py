"""The token-budget guide: greedy selection, orderings, formats, duplicates. Beside its own functions, read literally."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ctxasm.assembly.compress import compress
from ctxasm.assembly.order import lost_in_middle
from ctxasm.model.presets import preset
from ctxasm.model.records import Chunk, Document, Hit
from ctxasm.model.settings import AssemblySettings
from tests.sources.worked import LETTER, cited, duplicates, fate, run, sized
from tests.strategies import COUNTER


def select_chunks_within_budget(sizes: list[int], budget: int, min_chunk_tokens: int = 20) -> list[tuple[int, bool]]:
    """The guide's function over sizes: (place of the chunk, whether it was cut)."""
    selected, used = [], 0
    for place, tokens in enumerate(sizes):
        if tokens < min_chunk_tokens:
            continue
        if used + tokens > budget:
            if budget - used > min_chunk_tokens * 3:
                selected.append((place, True))
            break
        selected.append((place, False))
        used += tokens
    return selected


@pytest.mark.parametrize("budget", [500, 520, 560, 660, 700, 1000])
@pytest.mark.parametrize("sizes", [(300, 150, 10, 200, 30), (300, 400, 100, 100, 25), (40, 45, 50, 900, 60), (120, 15, 19, 20, 21)])
def test_greedy_selects_what_the_guide_selects(sizes: tuple[int, ...], budget: int) -> None:
    """Chunk text alone counted, as there. Small chunks are passed over, the first that does not fit is cut where there is room."""
    chunks, hits = sized(dict(zip("abcde", sizes, strict=False)))
    done = run(chunks, hits, budget, **{**LETTER, "budget_policy": "greedy"})
    expected = select_chunks_within_budget(list(sizes), budget)
    assert cited(done) == ["abcde"[place] for place, _ in expected]
    assert [fate(done, "abcde"[place]).fate == "truncated" for place, _ in expected] == [was_cut for _, was_cut in expected]


def test_greedy_keeps_the_limit_with_headers_too() -> None:
    """The guide counts chunk text and exceeds its budget by every header; here the whole text is within it."""
    chunks, hits = sized({"a": 300, "b": 150, "c": 10, "d": 200})
    done = run(chunks, hits, 520, budget_policy="greedy", expand_window=0)
    assert COUNTER.count(done.text) == done.token_count <= 520
    assert fate(done, "c").reason == "degenerate"


def test_lost_in_middle_alternates_from_both_ends() -> None:
    assert lost_in_middle("ABCDE") == list("ACEDB")
    assert lost_in_middle("ABCDEF") == list("ACEFDB")
    assert lost_in_middle("AB") == ["A", "B"]
    chunks, hits = sized(dict.fromkeys("abcde", 30))
    assert cited(run(chunks, hits, ordering="lost_in_middle", citation_unit="chunk")) == list("acedb")


def test_chronological_goes_by_source_page_and_index() -> None:
    documents = [Document("x", source="b.pdf"), Document("y", source="a.pdf")]
    chunks = [
        Chunk("x", 0, "Eerste alinea.", page_number=2),
        Chunk("x", 5, "Tweede alinea.", page_number=1),
        Chunk("y", 9, "Derde alinea.", page_number=7),
    ]
    hits = [Hit("x", 0, 0.9), Hit("x", 5, 0.8), Hit("y", 9, 0.1)]
    done = run(chunks, hits, documents=documents, ordering="chronological", citation_unit="chunk", expand_window=0)
    assert [(c.document_id, c.chunk_indexes) for c in done.citations] == [("y", (9,)), ("x", (5,)), ("x", (0,))]


def test_by_relevance_is_best_first() -> None:
    chunks, _ = sized({"a": 30, "b": 30, "c": 30})
    hits = [Hit("a", 0, 0.2), Hit("b", 0, 0.9), Hit("c", 0, 0.5)]
    assert cited(run(chunks, hits, ordering="relevance", citation_unit="chunk")) == ["b", "c", "a"]


FORMATS = {
    "minimal": "Eerste tekst.\n\nTweede tekst.",
    "numbered": "[1] Source: Gids, page 4\nEerste tekst.\n\n[2] Source: Blad\nTweede tekst.",
    "xml": '<chunk index="1" source="Gids" page="4" score="0.912">\nEerste tekst.\n</chunk>\n\n'
    '<chunk index="2" source="Blad" score="0.500">\nTweede tekst.\n</chunk>',
    "grouped": "## Gids\n\nEerste tekst.\n\n## Blad\n\nTweede tekst.",
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_formats(name: str) -> None:
    """Blocks stand a blank line apart; the guide's `---` between them is a setting."""
    documents = [Document("g", "Gids"), Document("b", "Blad")]
    chunks = [Chunk("g", 0, "Eerste tekst.", page_number=4), Chunk("b", 0, "Tweede tekst.")]
    assert run(chunks, [Hit("g", 0, 0.9123), Hit("b", 0, 0.5)], documents=documents, format=name).text == FORMATS[name]


@pytest.mark.parametrize("name", ["numbered", "grouped"])
def test_the_line_between_blocks_and_between_groups(name: str) -> None:
    """`"\\n\\n---\\n\\n".join(parts)`; inside a group a blank line. A source's own `---` is swapped for a look-alike."""
    documents = [Document("g", "Gids"), Document("b", "Blad")]
    chunks = [Chunk("g", 0, "Eerste tekst.", page_number=4), Chunk("g", 5, "Meer.", page_number=4), Chunk("b", 0, "Tweede\n---\ntekst.")]
    hits = [Hit("g", 0, 0.9), Hit("g", 5, 0.8), Hit("b", 0, 0.5)]
    preset_name = "citation_heavy" if name == "numbered" else "long_document"
    chosen = {**preset(preset_name).changed(), "citation_unit": "chunk", "expand_window": 0, "ordering": "document_first"}
    parts = {
        "numbered": ["[1] Source: Gids, page 4\nEerste tekst.", "[2] Source: Gids, page 4\nMeer.", "[3] Source: Blad\nTweede\n‐‐‐\ntekst."],
        "grouped": ["## Gids\n\nEerste tekst.\n\nMeer.", "## Blad\n\nTweede\n‐‐‐\ntekst."],
    }[name]
    assert run(chunks, hits, documents=documents, **chosen).text == "\n\n---\n\n".join(parts)


def test_numbers_lead_back_to_chunks() -> None:
    """`citation_map`: number → source, page, document, chunk; built from what was written."""
    chunks = [Chunk("g", 3, "Eerste tekst.", page_number=4), Chunk("b", 1, "Tweede tekst.")]
    done = run(chunks, [Hit("g", 3, 0.9), Hit("b", 1, 0.5)], documents=[Document("g", source="gids.pdf")], expand_window=0)
    citations = {c.number: (c.source, c.page_number, c.document_id, c.chunk_indexes) for c in done.citations}
    assert citations == {1: ("gids.pdf", 4, "g", (3,)), 2: (None, None, "b", (1,))}


def test_exact_duplicates_are_found_by_their_whole_text() -> None:
    """The guide's key is the first 64 characters where there is no hash: pages with the same header would be one."""
    header = "Ziekenhuis Voorbeeld, campus Noord, dienst Cardiologie, folder 12, "
    same, other = header + "over het bezoek.", header + "over de ingreep."
    chunks = [Chunk("a", 0, same), Chunk("b", 0, same), Chunk("c", 0, other)]
    done = run(chunks, [Hit("a", 0, 0.9), Hit("b", 0, 0.8), Hit("c", 0, 0.7)])
    assert cited(done) == ["a", "c"]
    assert done.citations[0].also_in == (("b", 0),)


def test_near_duplicates_share_nine_words_in_ten() -> None:
    """Jaccard over word sets: one word of 21 exchanged is .909, two are .826; and never through a chain."""
    base = "de arts onderzoekt het hart en de longen met een klein toestel dat geluid maakt terwijl u rustig op tafel ligt vandaag"
    other = base.replace("vandaag", "straks")
    chunks = [Chunk("a", 0, base), Chunk("b", 0, other), Chunk("c", 0, other.replace("rustig", "stil"))]
    candidates = run(chunks, [Hit("a", 0, 0.9), Hit("b", 0, 0.8), Hit("c", 0, 0.7)]).trace.candidates
    assert duplicates(candidates) == {}
    assert duplicates(candidates, dedup_near=True) == {("b", 0): ("a", 0)}
    assert duplicates(candidates, dedup_near=True, near_threshold=0.95) == {}
    assert duplicates(candidates, dedup_near=True, near_threshold=0.8) == {("b", 0): ("a", 0), ("c", 0): ("a", 0)}


def test_the_word_irrelevant_drops_a_chunk_but_never_the_best() -> None:
    """`compress_chunk` returns None; `compress_chunks` leaves it out."""
    chunks, hits = sized({"a": 60, "b": 60, "c": 60})
    candidates = run(chunks, hits, expand_window=0).trace.candidates
    tight = AssemblySettings(compression="extractive", max_chunk_tokens=50)
    done = compress("Wat breng ik mee?", candidates, 100, tight, Irrelevant(), COUNTER)
    assert done.irrelevant == (("b", 0), ("c", 0))
    assert set(done.candidates) == {("a", 0)}
    assert 0 < COUNTER.count(done.candidates["a", 0].chunk.text) <= 50


class Irrelevant:
    """Finds nothing relevant in any chunk."""

    def compress(self, query: str, chunks: Sequence[object], *_: object) -> list[None]:
        return [None] * len(chunks)


def test_its_whole_pipeline_is_a_preset() -> None:
    """`AssemblyConfig`: exact duplicates out, lost in the middle, XML, no compression, the smallest window of its table."""
    settings = preset("packed")
    assert (settings.dedup_exact, settings.ordering, settings.format, settings.compression) == (True, "lost_in_middle", "xml", "off")
    chunks, hits = sized(dict.fromkeys("abcde", 30))
    done = run(chunks, hits, **{**settings.changed(), "budget_mode": "fixed"})
    assert cited(done) == list("acedb")
    assert done.text.startswith('<chunk index="1" source="a" score="1.000">\n')
