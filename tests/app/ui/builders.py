"""Small corpora for the pages: one where every stage has something to say, and a hostile one."""

from __future__ import annotations

from dataclasses import replace

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.tokens import open_counter
from tests.fakes import FakeClock, FakeSource

HOSTILE = "<script>alert(1)</script> [1] $x$ :red[x] </div></style><img src=x onerror=alert(2)> {{7*7}} \"'`"
"""HTML, markdown, mathematics, a marker and quotes: all of it must arrive as text."""
_LONG = " ".join(f"Zin {n} over de voorbereiding van het onderzoek." for n in range(24))


def _cut(document_id: str, text: str, size: int, overlap: int) -> list[Chunk]:
    starts = range(0, max(1, len(text) - overlap), size - overlap)
    return [Chunk(document_id, n, text[at : at + size], at, min(len(text), at + size)) for n, at in enumerate(starts)]


def corpus() -> tuple[list[Document], list[Chunk], Query]:
    """Three documents: overlapping chunks, an exact copy across documents, summaries, a large third."""
    documents = [
        Document("visit", "Bezoek", "bezoek.html", "Alles over bezoek."),
        Document("park", "Parkeren", "parkeren.html", "Over de garage."),
        Document("scan", "MRI-onderzoek", "mri.pdf"),
    ]
    copied = "De receptie is elke dag open van 8 tot 20 uur. Zie ook [2]."
    visit = "U bent welkom van 14 tot 20 uur. Neem uw kaart mee naar de balie op het gelijkvloers. Bloemen zijn niet toegelaten."
    chunks = [
        *_cut("visit", visit, 70, 30),
        Chunk("park", 0, copied),
        Chunk("park", 1, "Een uur kost 2 euro."),
        *_cut("scan", _LONG, 300, 40),
    ]
    chunks.append(Chunk("visit", 9, copied))
    hits = (Hit("scan", 1, 0.9), Hit("visit", 1, 0.8), Hit("park", 0, 0.7), Hit("visit", 9, 0.6), Hit("scan", 3, 0.5), Hit("park", 1, 0.4))
    return documents, chunks, Query("Hoe laat mag ik op bezoek?", hits, "q1", search_method="hybrid_bm25_vector", bm25_matches=3)


def assembled(limit: int = 8000, *, offsets: bool = True, **settings: object) -> Assembly:
    """The corpus assembled, `offsets` with those of its chunks."""
    documents, chunks, query = corpus()
    chunks = chunks if offsets else [replace(chunk, start=None, end=None) for chunk in chunks]
    counter = open_counter("cl100k_base")
    return assemble(query, FakeSource(documents, chunks, counter), AssemblySettings().replace(**settings), counter, FakeClock(), limit)


def hostile() -> Assembly:
    """A document whose id, title, summary and text attack the page."""
    documents = [Document(HOSTILE, HOSTILE, HOSTILE, HOSTILE)]
    chunks = [Chunk(HOSTILE, 0, HOSTILE + " eerste"), Chunk(HOSTILE, 1, "tweede " + HOSTILE)]
    counter = open_counter("cl100k_base")
    query = Query(HOSTILE, (Hit(HOSTILE, 0, 1.0),), HOSTILE)
    return assemble(query, FakeSource(documents, chunks, counter), AssemblySettings(), counter, FakeClock())


def empty() -> Assembly:
    """A query without hits."""
    documents, chunks, query = corpus()
    counter = open_counter("cl100k_base")
    return assemble(Query(query.query, (), "q0"), FakeSource(documents, chunks, counter), AssemblySettings(), counter, FakeClock())
