"""What is kept of an enriched dataset: for indexes, for whoever asks how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.enrichment.keeping import Ledger, Writer, ledger_key, read_enrichment, read_ledger
from ctxasm.enrichment.texts import VARIANTS, Enrichment, Variant, enriched_text
from ctxasm.model.kept import key_of
from ctxasm.model.ports import FetchedChunk, Shelf, Window
from ctxasm.model.records import Document

if TYPE_CHECKING:
    from ctxasm.workbench import Workbench


class Written(NamedTuple):
    """What one variant has written for a dataset, and as whom it wrote, the latest first."""

    variant: Variant
    ledger: Ledger
    writers: tuple[Writer, ...]


def enriched_texts(workbench: Workbench, dataset: str | None, chunks: Sequence[FetchedChunk]) -> list[str]:
    """The text to index of each chunk: context, questions and original, of who wrote last; a chunk that nobody wrote for as it is.

    Raises NotFound, StoreUnavailable.
    """
    name = workbench.dataset(dataset).info.name
    written = written_for(workbench.store, name)
    if not written or not chunks:
        return [chunk.text for chunk in chunks]
    found = enrichments(workbench, name, chunks, written)
    longest = written[0].ledger.max_chars
    return [
        chunk.text if said is None else enriched_text(said.context, said.questions, chunk.text, longest)
        for chunk, said in zip(chunks, found, strict=True)
    ]


def enrichment_stamp(workbench: Workbench, dataset: str | None) -> str:
    """Another text whenever the enrichment of a dataset is another; empty where it has none."""
    name = workbench.dataset(dataset).info.name
    texts = [(workbench.store.read_kept(f"enrichment {variant}", [ledger_key(name)])) for variant in VARIANTS]
    known = [f"{variant} {text}" for variant, kept in zip(VARIANTS, texts, strict=True) for text in kept.values()]
    return key_of(*known)[:32] if known else ""


def written_for(shelf: Shelf, dataset: str) -> list[Written]:
    """Who has written for a dataset, the latest first."""
    found = []
    for variant in VARIANTS:
        kept = shelf.read_kept(f"enrichment {variant}", [ledger_key(dataset)])
        if kept:
            ledger = read_ledger(next(iter(kept.values())))
            writers = tuple(Writer(dataset, variant, model) for model in ledger.models)
            found.append(Written(variant, ledger, writers or (Writer(dataset, variant),)))
    return sorted(found, key=lambda one: -one.ledger.at)


def enrichments(workbench: Workbench, dataset: str, chunks: Sequence[FetchedChunk], written: Sequence[Written]) -> list[Enrichment | None]:
    """What is said of each chunk, by the first of `written` that says anything; None where nobody does."""
    documents = documents_of(workbench, dataset, chunks)
    found: list[Enrichment | None] = [None] * len(chunks)
    for writer in (writer for one in written for writer in one.writers):
        missing = [place for place, said in enumerate(found) if said is None]
        if not missing:
            break
        said = kept_of(workbench.store, writer, [(documents[chunks[place].document_id], chunks[place]) for place in missing])
        for place, one in zip(missing, said, strict=True):
            found[place] = one
    return found


def kept_of(shelf: Shelf, writer: Writer, pairs: Sequence[tuple[Document, FetchedChunk]]) -> list[Enrichment | None]:
    """What a writer has said of each chunk."""
    keys = [(writer.context_key(document, chunk), writer.questions_key(document, chunk)) for document, chunk in pairs]
    kept = shelf.read_kept(writer.shelf, [key for both in keys for key in both])
    return [read_enrichment(kept.get(context), kept.get(questions)) for context, questions in keys]


def documents_of(workbench: Workbench, dataset: str, chunks: Sequence[FetchedChunk]) -> Mapping[str, Document]:
    """The documents of chunks by id; one that is gone meanwhile has nothing but its id."""
    names = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    found = workbench.dataset(dataset).fetch([Window(name, 0, 0) for name in names], "").documents
    return {name: found.get(name) or Document(name) for name in names}
