"""Small assemblies for tests of what comes after assembling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.model.records import Query
from ctxasm.model.results import Assembly, Citation, FetchRecord, Regret, Segment, Trace
from ctxasm.model.settings import AssemblySettings


class Block(NamedTuple):
    """One block: its title, its chunks (None: a gap mark), and its summary."""

    title: str
    chunks: tuple[str | None, ...]
    summary: str | None = None


HOSPITAL = (
    Block("Bezoektijden", ("Bezoek is welkom. ", "U kunt komen van 14.00 tot 20.00 uur.\n"), "Alles over bezoek"),
    Block("Parkeren", ("Parkeren kost 2 euro per uur.", None, "De eerste 20 minuten zijn gratis.")),
    Block("Contact", ("Bel ons op werkdagen.",)),
)


def make_assembly(question: str = "Hoe laat mag ik op bezoek komen?", blocks: Sequence[Block] = HOSPITAL) -> Assembly:
    """A numbered context of these blocks, as the render stage would write it."""
    text, segments, citations = "", list[Segment](), list[Citation]()

    def add(kind: str, piece: str, block: int | None, **more: object) -> None:
        nonlocal text
        segments.append(Segment(kind, len(text), len(text) + len(piece), 1, block, **more))  # type: ignore[arg-type]
        text += piece

    for number, block in enumerate(blocks, 1):
        add("header", f"[{number}] Source: {block.title}\n", number)
        if block.summary:
            add("prefix", f"[Pagina context: {block.summary}]\n", number)
        for index, chunk in enumerate(block.chunks):
            if chunk is None:
                add("gap", "\n[…]\n", number)
            else:
                add("chunk", chunk, number, document_id=block.title, chunk_index=index, chunk_start=0, chunk_end=len(chunk))
        add("separator", "\n\n", None)
        citations.append(Citation(number, block.title, block.title, None, "", None, None, tuple(range(len(block.chunks))), ""))
    trace = Trace((), (), {}, {}, (), (), Regret(0, 0, True, ()), FetchRecord(1, 1, 0, 0.0))
    return Assembly(
        Query(question), AssemblySettings(), text, len(segments), True, "cl100k_base", 8000, tuple(segments), tuple(citations), trace
    )
