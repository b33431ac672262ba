"""Sources written in Markdown become plain text with pages and sections."""

import pytest

from ctxasm.data.documents.chunking import TextChunk
from sample_data.source_files import read_source

SOURCE = """---
document_id: demo
title: Een titel: met dubbele punt
---
# Welkom

Eerste alinea.

## Parkeren

P1 is vlakbij.
<!-- pagina -->
## Kosten

Gratis.
"""


def chunk(text: str, part: str) -> TextChunk:
    start = text.index(part)
    return TextChunk(start, start + len(part), part, 1)


def test_front_matter_headings_and_pages_are_read() -> None:
    source = read_source(SOURCE)
    assert source.fields == {"document_id": "demo", "title": "Een titel: met dubbele punt"}
    assert source.text == "Welkom\n\nEerste alinea.\n\nParkeren\n\nP1 is vlakbij.\n\nKosten\n\nGratis.\n"
    assert [source.text[section.start :].split("\n")[0] for section in source.sections] == ["Welkom", "Parkeren", "Kosten"]
    assert [source.text[at:] for at in source.page_breaks] == ["Kosten\n\nGratis.\n"]


def test_a_chunk_has_the_page_of_its_start_and_the_section_of_most_of_its_characters() -> None:
    source = read_source(SOURCE)
    crossing = chunk(source.text, "alinea.\n\nParkeren\n\nP1 is vlakbij.")
    assert (source.page_of(crossing), source.section_of(crossing)) == (1, "Parkeren")
    last = chunk(source.text, "Gratis.")
    assert (source.page_of(last), source.section_of(last)) == (2, "Kosten")


def test_a_document_without_pages_or_headings_has_none() -> None:
    source = read_source("---\ntitle: x\n---\nGewoon tekst.\n")
    assert (source.page_of(chunk(source.text, "tekst")), source.section_of(chunk(source.text, "tekst"))) == (None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [("geen kop", "must begin with front matter"), ("---\nzonder\n---\n", "must be lines of 'name: value', got 'zonder'")],
)
def test_a_source_without_front_matter_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_source(text)
