"""The last stage: citations, built from the rendered blocks and never before. Marker N is block N."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxasm.assembly.deduplicate import NOTHING_ALIKE
from ctxasm.assembly.stages import Block, Found, Related, Written
from ctxasm.model.characters import one_line
from ctxasm.model.records import Document, Hit
from ctxasm.model.results import Candidate, Citation, Key, PreCitation

SNIPPET_CHARS = 200
"""Length of a snippet, as in the SOURCE-N assembler; cut at a word."""


def cite(written: Written, found: Found, likeness: Mapping[Key, Related] = NOTHING_ALIKE) -> tuple[Citation, ...]:
    """One citation a block, from its best retrieved chunk (else its best chunk), with the copies that `likeness` lists beside it."""
    beside, documents = _cited_beside(likeness), found.documents
    return tuple(
        [
            _citation(block, found.candidates, documents.get(block.document_id) or Document(block.document_id), beside)
            for block in written.blocks
        ]
    )


def _cited_beside(likeness: Mapping[Key, Related]) -> dict[Key, tuple[Key, ...]]:
    """Every shown chunk with the places that said the same."""
    places: dict[Key, tuple[Key, ...]] = {}
    for copy, related in likeness.items():
        places[related.key] = (*places.get(related.key, ()), copy)
    return places


def _citation(block: Block, candidates: Mapping[Key, Candidate], document: Document, also_in: Mapping[Key, tuple[Key, ...]]) -> Citation:
    keys = [(block.document_id, index) for index in block.chunk_indexes]
    inside = [candidates[key] for key in keys]
    best = min(inside, key=lambda c: (not c.retrieved, -c.score, c.chunk.chunk_index)).chunk
    return Citation(
        number=block.number,
        document_id=block.document_id,
        title=document.title,
        source=document.source,
        ref=reference(document, best.section),
        page_number=best.page_number,
        row_number=best.row_number,
        chunk_indexes=block.chunk_indexes,
        snippet=snippet(best.text),
        also_in=tuple([copy for key in keys for copy in also_in.get(key, ())]),
    )


def reference(document: Document, section: str | None) -> str:
    """`file § section`, as in the SOURCE-N assembler."""
    name = one_line(document.source or document.title or document.document_id)
    return f"{name} § {one_line(section)}" if section else name


def snippet(text: str) -> str:
    """The first 200 characters on one line, cut at a word where there is one."""
    line = one_line(text[: SNIPPET_CHARS + 60])
    if len(line) <= SNIPPET_CHARS:
        line = one_line(text)
    if len(line) <= SNIPPET_CHARS:
        return line
    cut = line.rfind(" ", SNIPPET_CHARS // 2, SNIPPET_CHARS)
    return line[: cut if cut > 0 else SNIPPET_CHARS - 1].rstrip() + "…"


def cite_before_assembly(hits: Sequence[Hit]) -> tuple[PreCitation, ...]:
    """The list as it would be if built from the retrieved chunks in retrieval order: entry N is hit N's document."""
    return tuple(PreCitation(number, hit.document_id) for number, hit in enumerate(hits, 1))
