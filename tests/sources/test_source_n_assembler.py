"""The SOURCE-N assembler: its blocks, its cap of 24,000 characters, its list of sources."""

from __future__ import annotations

import pytest

from ctxasm.model.presets import preset
from ctxasm.model.records import Chunk, Document, Hit
from tests.sources.worked import cited, fate, run

DOCUMENTS = [
    Document("r", "Quarterly report", "report.pdf"),
    Document("p", "Policy", "policy.docx"),
    Document("d", "Data", "data.xlsx"),
]
CHUNKS = [
    Chunk("r", 0, "The Q3 revenue increased by 15% year-over-year.", section="Executive Summary", page_number=2),
    Chunk("p", 0, "All employees must complete annual compliance training.", section="Section 3 — Compliance Training"),
    Chunk("d", 41, "Product: Widget A, Q3 Sales: 12,450 units, Revenue: $1.24M", section="Sheet1 Row 42", row_number=42),
]
HITS = [Hit("r", 0, 0.9), Hit("p", 0, 0.8), Hit("d", 41, 0.7)]
SOURCE_BLOCKS = preset("source_blocks").changed()


def test_the_three_blocks_of_its_example() -> None:
    done = run(CHUNKS, HITS, 16_000, DOCUMENTS, **SOURCE_BLOCKS)
    assert done.text == (
        "[SOURCE 1] report.pdf § Executive Summary\nThe Q3 revenue increased by 15% year-over-year.\n\n"
        "[SOURCE 2] policy.docx § Section 3 — Compliance Training\nAll employees must complete annual compliance training.\n\n"
        "[SOURCE 3] data.xlsx § Sheet1 Row 42\nProduct: Widget A, Q3 Sales: 12,450 units, Revenue: $1.24M"
    )


def test_a_source_ref_leads_back_to_file_page_and_row() -> None:
    """`extractSources`: file, ref, snippet, page, row, document."""
    report, _, data = run(CHUNKS, HITS, 16_000, DOCUMENTS, **SOURCE_BLOCKS).citations
    assert (report.source, report.ref, report.page_number) == ("report.pdf", "report.pdf § Executive Summary", 2)
    assert (data.ref, data.row_number, data.document_id) == ("data.xlsx § Sheet1 Row 42", 42, "d")
    assert data.snippet == CHUNKS[2].text


def test_a_snippet_has_200_characters_at_most_and_ends_at_a_word() -> None:
    text = "Een zin van acht woorden die verder gaat. " * 20
    (citation,) = run([Chunk("r", 0, text)], [Hit("r", 0, 1.0)], 16_000, DOCUMENTS, **SOURCE_BLOCKS).citations
    assert 180 < len(citation.snippet) <= 200
    assert citation.snippet.endswith("…")
    assert text.startswith(citation.snippet[:-1])


def test_chunks_are_added_in_order_of_score_until_24_000_characters() -> None:
    """Four chunks of 7,000 characters: three fit, and it stops there; with `overflow=cut` the fourth is cut at the cap."""
    bodies = {name: f"{name} " + f"woord{name} " * 1000 for name in "abcd"}
    chunks = [Chunk(name, 0, body[:7000]) for name, body in bodies.items()]
    hits = [Hit(name, 0, 1.0 - place / 10) for place, name in enumerate(bodies)]
    done = run(chunks, hits, 16_000, **SOURCE_BLOCKS)
    assert [fate(done, name).fate for name in "abcd"] == ["kept", "kept", "kept", "dropped"]
    assert 21_000 < len(done.text) < 22_000
    cut = run(chunks, hits, 16_000, **{**SOURCE_BLOCKS, "overflow": "cut"})
    assert [fate(cut, name).fate for name in "abcd"] == ["kept", "kept", "kept", "truncated"]
    assert 23_000 < len(cut.text) <= 24_000
    skipped = run(chunks, hits, 16_000, **{**SOURCE_BLOCKS, "budget_policy": "greedy_skip"})
    assert cited(skipped) == ["a", "b", "c"]
    assert fate(skipped, "d").reason == "budget"


def assembled(refs: list[str], texts: list[str], most: int) -> str:
    """Its function: entries are added until one does not fit."""
    whole = ""
    for number, (ref, text) in enumerate(zip(refs, texts, strict=True), 1):
        entry = f"[SOURCE {number}] {ref}\n{text}\n\n"
        if len(whole) + len(entry) > most:
            break
        whole += entry
    return whole


@pytest.mark.parametrize("most", [500, 640, 777, 1300, 24_000])
@pytest.mark.parametrize("sizes", [(200, 300, 90, 30), (100, 700, 20, 10), (450, 400, 300, 20)])
def test_it_stops_where_the_source_stops(sizes: tuple[int, ...], most: int) -> None:
    """A smaller chunk after the one that does not fit is not taken either. (It counts the last blank line, which is not written.)"""
    texts = {name: (f"{name} woord " * size)[:size].strip() + "." for name, size in zip("abcd", sizes, strict=True)}
    chunks = [Chunk(name, 0, text) for name, text in texts.items()]
    done = run(chunks, [Hit(name, 0, 1.0 - at / 10) for at, name in enumerate(texts)], 16_000, **{**SOURCE_BLOCKS, "max_chars": most})
    assert done.text == assembled(list(texts), list(texts.values()), most + 2).rstrip("\n")
    assert not [f for f in done.trace.fates if f.fate == "truncated"]
    lacking = next((f for f in done.trace.fates if f.fate == "dropped"), None)
    assert lacking is None or lacking.missing_tokens is None


def test_the_best_chunk_is_cut_where_it_alone_is_too_long() -> None:
    """There the context is empty then; here never where there is a hit."""
    done = run([Chunk("a", 0, "Een zin die verder gaat. " * 100)], [Hit("a", 0, 1.0)], 16_000, **{**SOURCE_BLOCKS, "max_chars": 600})
    assert fate(done, "a").fate == "truncated"
    assert 300 < len(done.text) <= 600


def test_what_did_not_fit_is_no_source() -> None:
    """Its own list names every retrieved chunk, also those beyond the cap; here a number always stands in the context."""
    chunks = [Chunk(name, 0, f"{name} " * 400) for name in "abcd"]
    hits = [Hit(name, 0, 1.0 - place / 10) for place, name in enumerate("abcd")]
    done = run(chunks, hits, 16_000, **{**SOURCE_BLOCKS, "max_chars": 2000, "budget_policy": "greedy_skip"})
    assert cited(done) == ["a", "b"]
    assert len(done.trace.before_assembly) == 4
    assert all(f"[SOURCE {citation.number}] " in done.text for citation in done.citations)
