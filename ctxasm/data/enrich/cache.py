"""What is kept of an enrichment: under which keys, how it is written, and how far a dataset is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from ctxasm.data.datasets import Datasets, fresh
from ctxasm.data.enrich.extractive import name_of
from ctxasm.data.enrich.texts import MAX_CHARS, VARIANTS, Enrichment, Variant, enriched_text
from ctxasm.model.kept import key_of
from ctxasm.model.ports import FetchedChunk, Shelf, Window
from ctxasm.model.records import Document
from ctxasm.store.validation import MADE_BY

VERSIONS: Mapping[Variant, str] = {"extractive": "1", "model": "1"}
"""Part of every key: raise it with every change of the rules or the wording of a prompt."""
MOST_WRITERS = 3


class Writer(NamedTuple):
    """Who writes for which dataset: `model` is the name of a model, empty for the rules."""

    dataset: str
    variant: Variant
    model: str = ""

    @property
    def shelf(self) -> str:
        return f"enrichment {self.variant}"

    @property
    def label(self) -> str:
        """As the metadata of a document names who wrote its summary."""
        return f"model {self.model}" if self.variant == "model" else self.variant

    def context_key(self, document: Document, chunk: FetchedChunk) -> str:
        """The key of a chunk's situating context."""
        return f"context {self._chunk_digest(document, chunk)}"

    def questions_key(self, document: Document, chunk: FetchedChunk) -> str:
        """The key of a chunk's canonical questions."""
        return f"questions {self._chunk_digest(document, chunk)}"

    def summary_key(self, document: Document, chunks: Sequence[FetchedChunk]) -> str:
        """The key of a document's summary, from all of its chunks. Kept by the rules, it says that its chunks are done as well."""
        texts = [part for chunk in chunks for part in (str(chunk.chunk_index), chunk.section or "", chunk.text)]
        return f"summary {key_of(*self._whose(), document.document_id, name_of(document), document.summary or '', *texts)}"

    def _chunk_digest(self, document: Document, chunk: FetchedChunk) -> str:
        place = str(chunk.chunk_index) if self.variant == "extractive" else ""
        return key_of(*self._whose(), document.document_id, name_of(document), chunk.section or "", place, chunk.text)

    def _whose(self) -> tuple[str, ...]:
        return VERSIONS[self.variant], self.model if self.variant == "model" else self.dataset


@dataclass(frozen=True, slots=True)
class Ledger:
    """What one variant has done for a dataset. `models` are the names of the models that wrote, the latest first.

    `content` is the content hash for which the counts hold, empty where a run did not come to its end. Tokens are those of all
    runs; `counted` is False where a server told no usage and they were counted here. `at` is when the last run began, in seconds
    since 1970; it decided how long an indexed text may be, and whether contexts and questions (`asks`) are part of it.
    """

    models: tuple[str, ...] = ()
    documents: int = 0
    chunks: int = 0
    questions: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    batches: int = 0
    content: str = ""
    at: float = 0.0
    max_chars: int = MAX_CHARS
    contexts: bool = True
    asks: bool = True


def is_label(value: object) -> bool:
    """Whether a document's metadata name one of us as who wrote its summary, and so not its owner."""
    return isinstance(value, str) and (value == "extractive" or value.startswith("model "))


def ledger_key(dataset: str) -> str:
    """The key of a dataset's ledger."""
    return f"dataset {dataset if len(dataset) <= 200 else key_of(dataset)}"


def write_ledger(ledger: Ledger) -> str:
    """As JSON."""
    return json.dumps(asdict(ledger), sort_keys=True)


def read_ledger(text: str | None) -> Ledger:
    """What was written; an empty one where there is nothing or nothing that can be read."""
    usable: dict[str, Any] = {name: value for name, value in _object(text).items() if isinstance(value, _KINDS.get(name, ()))}
    models = tuple(name for name in usable.pop("models", ()) if isinstance(name, str))
    return Ledger(models=models[:MOST_WRITERS], **usable)


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("documents", "chunks", "questions", "calls", "tokens_in", "tokens_out", "batches", "max_chars"), int),
    "models": list,
    **dict.fromkeys(("counted", "contexts", "asks"), bool),
    "content": str,
    "at": (int, float),
}


def write_context(context: str) -> str:
    """As JSON, as all that lies on a shelf."""
    return json.dumps({"context": context}, ensure_ascii=False)


def write_questions(questions: tuple[str, ...]) -> str:
    """As JSON."""
    return json.dumps({"questions": questions}, ensure_ascii=False)


def write_summary(summary: str, questions: int = 0) -> str:
    """As JSON; `questions` of the document's chunks that were written with it."""
    return json.dumps({"summary": summary, "questions": questions}, ensure_ascii=False)


def read_enrichment(context: str | None, questions: str | None) -> Enrichment | None:
    """What was kept of a chunk; None where nothing was."""
    if context is None and questions is None:
        return None
    told, asked = _object(context).get("context"), _object(questions).get("questions")
    texts = tuple(text for text in asked if isinstance(text, str)) if isinstance(asked, list) else ()
    return Enrichment(told if isinstance(told, str) else "", texts)


def read_summary(kept: str | None) -> str:
    """The kept summary, or nothing."""
    told = _object(kept).get("summary")
    return told if isinstance(told, str) else ""


def questions_in(kept: str | None) -> int:
    """How many questions were written with a summary."""
    told = _object(kept).get("questions")
    return told if isinstance(told, int) else 0


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


STEP = 500
FIRST_LOOK = 20
"""Chunks that are looked at first, where one that is enriched will do."""


class Written(NamedTuple):
    """What one variant has written for a dataset, and as whom it wrote, the latest first."""

    variant: Variant
    ledger: Ledger
    writers: tuple[Writer, ...]


def enriched_texts(datasets: Datasets, dataset: str | None, chunks: Sequence[FetchedChunk]) -> list[str]:
    """The text to index of each chunk: context, questions and original, of who wrote last; a chunk that nobody wrote for as it is.

    Raises NotFound, StoreUnavailable.
    """
    name = datasets.dataset(dataset).info.name
    written = written_for(datasets.store, name)
    if not written or not chunks:
        return [chunk.text for chunk in chunks]
    found = enrichments(datasets, name, chunks, written)
    wanted = written[0].ledger
    return [
        chunk.text
        if said is None
        else enriched_text(said.context if wanted.contexts else "", said.questions if wanted.asks else (), chunk.text, wanted.max_chars)
        for chunk, said in zip(chunks, found, strict=True)
    ]


def enrichment_stamp(datasets: Datasets, dataset: str | None) -> str:
    """Another text whenever the enriched texts of a dataset are others; empty where it has none.

    A dataset that was replaced since is looked through for a chunk that is still the same. Raises NotFound, StoreUnavailable.
    """
    name = datasets.dataset(dataset).info.name
    written = written_for(datasets.store, name)
    if not _speaks_of(datasets, name, written):
        return ""
    parts = [name]
    for variant, ledger, _ in written:
        parts += [variant, *ledger.models, str(ledger.batches), f"{ledger.max_chars} {ledger.contexts} {ledger.asks}"]
    return key_of(*parts)[:32]


def _speaks_of(datasets: Datasets, name: str, written: Sequence[Written]) -> bool:
    """Whether anything that was written is about a chunk that the dataset holds now."""
    if not written:
        return False
    now = fresh(datasets, name)
    if any(one.ledger.content == now.info.content_hash for one in written):
        return True
    chunks, size = now.iter_chunks(), FIRST_LOOK
    while batch := list(islice(chunks, size)):
        if any(said is not None for said in enrichments(datasets, name, batch, written)):
            return True
        size = STEP
    return False


def forget_written(shelf: Shelf, dataset: str) -> None:
    """A dataset is gone: another one of its name is not enriched. The words stay with their content, so none is paid for twice."""
    for variant in VARIANTS:
        shelf.forget(f"enrichment {variant}", [ledger_key(dataset)])


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


def enrichments(datasets: Datasets, dataset: str, chunks: Sequence[FetchedChunk], written: Sequence[Written]) -> list[Enrichment | None]:
    """What is said of each chunk, by the first of `written` that says anything; None where nobody does."""
    documents = documents_of(datasets, dataset, chunks)
    found: list[Enrichment | None] = [None] * len(chunks)
    for writer in (writer for one in written for writer in one.writers):
        missing = [place for place, said in enumerate(found) if said is None]
        if not missing:
            break
        said = kept_of(datasets.store, writer, [(documents[chunks[place].document_id], chunks[place]) for place in missing])
        for place, one in zip(missing, said, strict=True):
            found[place] = one
    return found


def kept_of(shelf: Shelf, writer: Writer, pairs: Sequence[tuple[Document, FetchedChunk]]) -> list[Enrichment | None]:
    """What a writer has said of each chunk."""
    keys = [(writer.context_key(document, chunk), writer.questions_key(document, chunk)) for document, chunk in pairs]
    kept = shelf.read_kept(writer.shelf, [key for both in keys for key in both])
    return [read_enrichment(kept.get(context), kept.get(questions)) for context, questions in keys]


def documents_of(datasets: Datasets, dataset: str, chunks: Sequence[FetchedChunk]) -> Mapping[str, Document]:
    """The documents of chunks by id; one that is gone meanwhile has nothing but its id."""
    names = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    found = datasets.dataset(dataset).fetch([Window(name, 0, 0) for name in names], "").documents
    return {name: without_made(found[name]) if name in found else Document(name) for name in names}


@dataclass(frozen=True, slots=True)
class EnrichmentState:
    """How far a dataset is enriched by one variant. `models` wrote it, the latest first. Tokens are those of all runs.

    `latest`: its words are the ones that an index gets. `counted` is False where a server told no usage.
    """

    variant: Variant
    models: tuple[str, ...]
    documents: int
    chunks: int
    questions: int
    tokens_in: int
    tokens_out: int
    counted: bool
    latest: bool


def state(datasets: Datasets, dataset: str | None = None) -> tuple[EnrichmentState, ...]:
    """By whom how much of a dataset is enriched, the latest first; empty where it is not.

    The counts of a run that came to its end are read, others are counted: that takes as long as reading all chunks.
    """
    name = datasets.dataset(dataset).info.name
    content = fresh(datasets, name).info.content_hash
    found = []
    for place, (variant, ledger, writers) in enumerate(written_for(datasets.store, name)):
        counts = (ledger.documents, ledger.chunks, ledger.questions)
        if ledger.content != content:
            counts = _counted(datasets, name, writers)
        told = (ledger.tokens_in, ledger.tokens_out, ledger.counted)
        found.append(EnrichmentState(variant, ledger.models, *counts, *told, place == 0))
    return tuple(found)


def _counted(datasets: Datasets, name: str, writers: Sequence[Writer]) -> tuple[int, int, int]:
    """Documents that have an enriched chunk, such chunks, and their questions."""
    documents: set[str] = set()
    chunks = questions = 0
    stored = fresh(datasets, name).iter_chunks()
    while batch := list(islice(stored, STEP)):
        said = enrichments(datasets, name, batch, [Written(writers[0].variant, Ledger(), tuple(writers))])
        for chunk, one in zip(batch, said, strict=True):
            if one is not None:
                documents.add(chunk.document_id)
                chunks, questions = chunks + 1, questions + len(one.questions)
    return len(documents), chunks, questions


def without_made(document: Document) -> Document:
    """The document as its owner gave it: a summary that was made here is none of its own."""
    return replace(document, summary=None) if is_label(document.metadata.get(MADE_BY)) else document
