"""One run of an enrichment: what is wanted of it, what it keeps and counts on the way, what it reports."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ctxasm.data.datasets import Datasets, fresh
from ctxasm.data.enrich.cost import Price, price_of
from ctxasm.data.enrich.enriched import without_made
from ctxasm.data.enrich.keeping import MOST_WRITERS, Ledger, Writer, is_label, ledger_key, read_ledger, write_ledger
from ctxasm.data.enrich.reports import EnrichReport, FailedBatch
from ctxasm.data.enrich.texts import MAX_CHARS, VARIANTS, Variant
from ctxasm.data.enrich.whole import name_of
from ctxasm.llm.configured import ConfiguredModels
from ctxasm.model.errors import InvalidInput, NotFound, is_fault, reason_of, shown
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.progress import Cancelled, Progress, Report
from ctxasm.model.records import Document
from ctxasm.store.additions import MADE_BY

if TYPE_CHECKING:
    from ctxasm.llm import Endpoint

_WHOLE = {"chunks_per_call": (1, 50), "concurrency": (1, 32), "max_chars": (200, 100_000)}


class Enrichable(Datasets, Protocol):
    """What an enrichment asks for: the datasets, and the models that are configured."""

    @property
    def models(self) -> ConfiguredModels: ...


@dataclass(frozen=True, slots=True)
class EnrichOptions:
    """What to write, and how. `endpoint` is the model that is asked (default: the configured one); `limit` are chunks, from the first on.

    `model` only names one, for an estimate where there is no endpoint. `prices` is the path of a table of prices; `price_in` and
    `price_out` are dollars per million tokens. Raises InvalidInput.
    """

    variant: Variant = "extractive"
    summaries: bool = True
    contexts: bool = True
    questions: bool = True
    chunks_per_call: int = 8
    concurrency: int = 4
    max_chars: int = MAX_CHARS
    endpoint: Endpoint | None = None
    limit: int | None = None
    prices: str | None = None
    price_in: float | None = None
    price_out: float | None = None
    model: str = ""

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise InvalidInput(f"the variant of an enrichment must be one of {', '.join(VARIANTS)}, got {shown(self.variant)}")
        if not (self.summaries or self.contexts or self.questions):
            raise InvalidInput("an enrichment must write at least one of summaries, contexts and questions")
        for name, (low, high) in _WHOLE.items():
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise InvalidInput(f"{name} of an enrichment must be a whole number from {low} to {high:,}, got {shown(value)}")
        if self.limit is not None and (type(self.limit) is not int or self.limit < 1):
            raise InvalidInput(f"limit of an enrichment must be a whole number of chunks from 1, got {shown(self.limit)}")

    @property
    def model_name(self) -> str:
        """The model that is asked, empty where none is named."""
        return self.endpoint.model if self.endpoint else self.model

    @property
    def price(self) -> Price | None:
        """What the model costs, None where nobody said."""
        return price_of(self.model_name, self.prices, self.price_in, self.price_out)


class Run:
    """The books of one run: every batch is kept with the ledger that counts it, in one transaction."""

    def __init__(self, datasets: Datasets, dataset: str | None, options: EnrichOptions, report: Report, cancelled: Cancelled) -> None:
        self.datasets, self.options, self.cancelled = datasets, options, cancelled
        self.handle = datasets.dataset(dataset)
        self.name = self.handle.info.name
        self.writer = Writer(self.name, options.variant, options.model_name)
        self.total = min(self.handle.info.chunks, options.limit or self.handle.info.chunks)
        self.kept = self.new = self.lost = 0
        self.summaries: dict[str, str] = {}
        self.failed: list[FailedBatch] = []
        self.began = time.perf_counter()
        self._report, self._documents = report, set[str]()
        self._ledger = self._opened()
        self._calls, self._told = 0, (0, 0, True)
        self._price = options.price if options.endpoint else None

    def _opened(self) -> Ledger:
        before = read_ledger(self.datasets.store.read_kept(self.writer.shelf, [ledger_key(self.name)]).get(ledger_key(self.name)))
        models = tuple(dict.fromkeys((self.writer.model, *before.models)))[:MOST_WRITERS] if self.writer.model else ()
        fresh = replace(before, documents=0, chunks=0, questions=0, content="", at=time.time(), models=models)
        return replace(fresh, max_chars=self.options.max_chars, contexts=self.options.contexts, asks=self.options.questions)

    def documents(self) -> Iterator[tuple[Document, list[FetchedChunk]]]:
        """The documents as their owner gave them, each with all of its chunks, until the limit is reached or all is cancelled."""
        seen = 0
        for document in self.handle.documents():
            if self.cancelled() or (self.options.limit is not None and seen >= self.options.limit):
                return
            if chunks := self.handle.document_chunks(document.document_id):
                seen += len(chunks)
                self.total = max(self.total, seen)
                yield without_made(document), chunks

    def count(self, document: Document, chunks: int, questions: int, *, new: bool) -> None:
        """Chunks of a document are enriched: now, or known before."""
        self._documents.add(document.document_id)
        self.new, self.kept = self.new + chunks * new, self.kept + chunks * (not new)
        counts = (len(self._documents), self._ledger.chunks + chunks, self._ledger.questions + questions)
        self._ledger = replace(self._ledger, documents=counts[0], chunks=counts[1], questions=counts[2])

    def spend(self, calls: int, tokens_in: int, tokens_out: int, counted: bool) -> None:
        """What a call took."""
        old, ledger = self._told, self._ledger
        self._calls, self._told = self._calls + calls, (old[0] + tokens_in, old[1] + tokens_out, old[2] and counted)
        sums = (ledger.calls + calls, ledger.tokens_in + tokens_in, ledger.tokens_out + tokens_out, ledger.counted and counted)
        self._ledger = replace(ledger, calls=sums[0], tokens_in=sums[1], tokens_out=sums[2], counted=sums[3])

    def fail(self, document: Document, chunks: int, error: BaseException) -> None:
        """A document that broke the writing of it, whose chunks are left as they are. Raises `error` again where it is no fault."""
        if not is_fault(error):
            raise error
        self.failed.append(FailedBatch(name_of(document), chunks, reason_of(error, "it cannot be enriched")))
        self.lost += chunks

    def keep(self, values: Mapping[str, str]) -> None:
        """Keep a batch with the ledger, all or nothing."""
        self._ledger = replace(self._ledger, batches=self._ledger.batches + (1 if values else 0))
        self.datasets.store.keep(self.writer.shelf, {**values, ledger_key(self.name): write_ledger(self._ledger)})

    def tell(self, what: str) -> None:
        """Progress: of what was not known before, and what it took so far. No word of a document: it goes to terminals."""
        tokens_in, tokens_out, _ = self._told
        cost = self._price.of(tokens_in, tokens_out) if self._price else 0.0
        what += f", {tokens_in + tokens_out:,} tokens" * bool(self._calls) + f", ${cost:.4f}" * bool(self._calls and self._price)
        self._report(Progress(self.new + self.lost, max(0, self.total - self.kept), what, time.perf_counter() - self.began))

    def finish(self, stopped: str = "") -> EnrichReport:
        """Give the summaries to the documents and close the books. Not after a cancel: it is quick, and the next run does it."""
        is_linked = self.datasets.links.dataset(self.name) is not None
        notes = ["a linked table is searched by its text as it is: copy it to search the enriched text"] if is_linked else []
        cancelled = self.cancelled()
        if not cancelled:
            notes += self._give_summaries() if self.options.summaries else ()
            is_whole = not stopped and not self.failed and self.options.limit is None
            content = fresh(self.datasets, self.name).info.content_hash if is_whole else ""
            self._ledger = replace(self._ledger, content=content)
        if not cancelled or self.new:
            self.keep({})
        price, (tokens_in, tokens_out, counted) = self._price, self._told
        return EnrichReport(
            dataset=self.name,
            variant=self.writer.variant,
            model=self.writer.model,
            documents=self._ledger.documents,
            chunks=self._ledger.chunks,
            total=self.total,
            kept=self.kept,
            questions=self._ledger.questions,
            summaries=len(self.summaries),
            calls=self._calls,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            counted=counted,
            cost=price.of(tokens_in, tokens_out) if price else None,
            failed=tuple(self.failed),
            cancelled=cancelled,
            stopped=stopped,
            notes=tuple(notes),
            elapsed_s=time.perf_counter() - self.began,
        )

    def _give_summaries(self) -> list[str]:
        """Summaries for documents whose owner gave none; those of another writer among us make room first."""
        store, label = self.datasets.store, self.writer.label
        taken_back: dict[str, dict[str, None]] = {}
        given: dict[str, str | None] = {}
        for document in self.handle.documents():
            new, writer = self.summaries.get(document.document_id), document.metadata.get(MADE_BY)
            if not new or (document.summary and not is_label(writer)) or (document.summary == new and writer == label):
                continue
            given[document.document_id] = new
            if document.summary and writer != label:
                taken_back.setdefault(str(writer), {})[document.document_id] = None
        try:
            for writer, gone in taken_back.items():
                store.set_summaries(self.name, gone, writer)
            if given:
                store.set_summaries(self.name, given, label)
        except NotFound:
            return ["summaries are kept here and not written to documents: they lie in your own tables, which are only read"]
        return []
