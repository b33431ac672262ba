"""What a run of an enrichment would take, and what it brought."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ctxasm.data.datasets import Datasets, fresh
from ctxasm.data.enrich.cache import (
    MOST_WRITERS,
    Ledger,
    Writer,
    is_label,
    ledger_key,
    questions_in,
    read_enrichment,
    read_ledger,
    read_summary,
    without_made,
    write_context,
    write_ledger,
    write_questions,
    write_summary,
)
from ctxasm.data.enrich.cost import Price, price_of
from ctxasm.data.enrich.extractive import Part, enrich_document, name_of, summary_of, whole_document
from ctxasm.data.enrich.prompts import (
    ChunksJob,
    Job,
    SummaryJob,
    chunk_groups,
    described,
    messages_of,
    read_chunks,
    read_summary_reply,
    summary_job,
)
from ctxasm.data.enrich.texts import MAX_CHARS, VARIANTS, Enrichment, Variant
from ctxasm.llm.configured import ConfiguredModels
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, ModelUnavailable, NotFound, is_fault, reason_of, shown
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import Document
from ctxasm.store.validation import MADE_BY

if TYPE_CHECKING:
    from ctxasm.llm import Endpoint
    from ctxasm.llm.batches import Call, Outcome
    from ctxasm.llm.client import Completion


@dataclass(frozen=True, slots=True)
class FailedBatch:
    """What could not be written, and why, in a sentence. It is asked again with the next run."""

    what: str
    chunks: int
    reason: str


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """What a run brought. `chunks` of `total` are enriched now, `kept` of them by runs before; `calls` went to the model.

    Tokens are what the server told, where `counted` is True, else what was counted here; calls that failed are not in them.
    `cost` is in dollars, None where no price is known. `stopped` says why the run gave up, if it did.
    """

    dataset: str
    variant: Variant
    model: str = ""
    documents: int = 0
    chunks: int = 0
    total: int = 0
    kept: int = 0
    questions: int = 0
    summaries: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    cost: float | None = None
    failed: tuple[FailedBatch, ...] = ()
    cancelled: bool = False
    stopped: str = ""
    notes: tuple[str, ...] = ()
    elapsed_s: float = 0.0

    @property
    def summary(self) -> str:
        """The run as one sentence."""
        parts = [f"{self.chunks:,} of {counted(self.total, 'chunk')} enriched ({self.variant})", counted(self.questions, "question")]
        parts += [counted(self.summaries, "summary")] if self.summaries else []
        parts += [f"{counted(self.kept, 'chunk')} known before"] if self.kept else []
        lost = sum(batch.chunks for batch in self.failed)
        parts += [f"{counted(len(self.failed), 'batch')} failed ({counted(lost, 'chunk')})"] if self.failed else []
        parts += ["ended on request, what is done is kept"] if self.cancelled else []
        return f"{self.dataset}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take. Tokens in are counted, exactly where `exact` is True; tokens out are about what was asked for.

    `kept` chunks are known and cost nothing. `cost` is in dollars, None where no price is known.
    """

    dataset: str
    variant: Variant
    model: str
    chunks: int
    kept: int
    calls: int
    tokens_in: int
    tokens_out: int
    exact: bool
    price: Price | None
    cost: float | None


_WHOLE = {"chunks_per_call": (1, 50), "concurrency": (1, 32), "max_chars": (200, 100_000)}


class Enrichable(Datasets, Protocol):
    """What an enrichment asks for: the datasets, and the models that are configured."""

    @property
    def models(self) -> ConfiguredModels: ...


@dataclass(frozen=True, slots=True)
class EnrichOptions:
    """What to write, and how. `endpoint` is the model that is asked (default: the configured one); `limit` are chunks, from the first on.

    `model` only names one, for an estimate where there is no endpoint. `price_in` and `price_out`
    are dollars per million tokens. Raises InvalidInput.
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
        return price_of(self.model_name, self.price_in, self.price_out)


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


SCHEMA_NAME = "enrichment"
PATIENCE = 4
"""Times as many failures in a row as usual end a round of what has failed before: there, they are to be expected."""


class Wanted(NamedTuple):
    """A job of one document with the keys under which its words are kept: of the summary, or (context, questions) by place."""

    job: Job
    document: Document
    keys: dict[int, tuple[str, str]]
    summary_key: str = ""


def ask_for_all(run: Run, counter: TokenCounter) -> str:
    """Ask for what is missing and keep it; what fails is asked again in halves, down to single chunks.

    Returns why the run gave up before its end, or nothing.
    """
    from ctxasm.llm.batches import GIVE_UP_AFTER

    try:
        again = _ask(run, wanted_of(run), counter, GIVE_UP_AFTER)
        while again and not run.cancelled():
            smaller = [half for one in again for half in _halves(one)]
            single = [one for one in smaller if one.job.size <= 1]
            _ask(run, single, counter, PATIENCE * GIVE_UP_AFTER, last=True)
            again = _ask(run, [one for one in smaller if one.job.size > 1], counter, PATIENCE * GIVE_UP_AFTER)
    except ModelUnavailable as failure:
        return str(failure)
    return ""


def wanted_of(run: Run) -> Iterator[Wanted]:
    """What is not kept yet, document by document; what is kept is counted."""
    for document, chunks in run.documents():
        yield from _wanted(run, document, chunks)


def _wanted(run: Run, document: Document, chunks: Sequence[FetchedChunk]) -> Iterator[Wanted]:
    options, writer = run.options, run.writer
    keys = [(writer.context_key(document, chunk), writer.questions_key(document, chunk)) for chunk in chunks]
    summary_key = writer.summary_key(document, chunks)
    kept = run.datasets.store.read_kept(writer.shelf, [summary_key, *(key for both in keys for key in both)])
    needs = [
        chunk.chunk_index
        for chunk, (context, questions) in zip(chunks, keys, strict=True)
        if (options.contexts and context not in kept) or (options.questions and questions not in kept)
    ]
    needs = needs if options.contexts or options.questions else []
    said = [read_enrichment(kept.get(context), kept.get(questions)) for context, questions in keys]
    known = [one for chunk, one in zip(chunks, said, strict=True) if one is not None and chunk.chunk_index not in set(needs)]
    run.count(document, len(known), sum(len(one.questions) for one in known), new=False)
    wants_summary = options.summaries and not document.summary
    if wants_summary and (summary := read_summary(kept.get(summary_key))):
        run.summaries[document.document_id] = summary
    if needs or (wants_summary and summary_key not in kept):
        try:
            whole = whole_document(document, chunks)
            about, missing = described(whole), set(needs)
        except BaseException as error:  # noqa: BLE001 (`fail` raises what is no fault of this document again)
            run.fail(document, len(needs), error)
            return
        if wants_summary and summary_key not in kept:
            yield Wanted(summary_job(whole, about), document, {}, summary_key)
        for group in chunk_groups(whole.parts, options.chunks_per_call):
            parts = tuple(part for part in group if part.chunk.chunk_index in missing)
            if parts:
                job = ChunksJob(about, parts, options.contexts, options.questions)
                yield Wanted(job, document, {part.place: keys[part.place - 1] for part in parts})


def _halves(wanted: Wanted) -> Iterator[Wanted]:
    for job in wanted.job.halves():
        parts: tuple[Part, ...] = job.parts if isinstance(job, ChunksJob) else ()
        yield wanted._replace(job=job, keys={part.place: wanted.keys[part.place] for part in parts})


def call_of(number: int, job: Job) -> Call:
    """The call that asks a job."""
    from ctxasm.llm.batches import Call

    return Call(number, messages_of(job), job.schema, SCHEMA_NAME, job.max_tokens)


def _ask(run: Run, waiting: Iterable[Wanted], counter: TokenCounter, give_up_after: int, *, last: bool = False) -> list[Wanted]:
    """Ask these and keep what comes; what failed is given back, or, the last time, reported."""
    from ctxasm.llm.batches import complete_all

    assert run.options.endpoint is not None, "a model is asked at an endpoint"
    under_way: dict[int, Wanted] = {}
    failed: list[Wanted] = []

    def calls() -> Iterator[Call]:
        for number, wanted in enumerate(waiting):
            under_way[number] = wanted
            yield call_of(number, wanted.job)

    settings = {"concurrency": run.options.concurrency, "give_up_after": give_up_after}
    for outcome in complete_all(run.options.endpoint, calls(), cancelled=run.cancelled, **settings):
        wanted = under_way.pop(outcome.number)
        left, why = _take(run, wanted, outcome, counter)
        if left is not None and last:
            run.failed.append(FailedBatch(left.job.name, left.job.size, why))
            run.lost += left.job.size
        elif left is not None:
            failed.append(left)
        run.tell("enriching chunks")
    return failed


def _take(run: Run, wanted: Wanted, outcome: Outcome, counter: TokenCounter) -> tuple[Wanted | None, str]:
    """Keep what a call brought. What it did not bring, and why."""
    if outcome.completion is None:
        return wanted, outcome.failure
    _spend(run, wanted.job, outcome.completion, counter)
    if isinstance(wanted.job, SummaryJob):
        summary = read_summary_reply(outcome.completion.data)
        if summary:
            run.summaries[wanted.document.document_id] = summary
        run.keep({wanted.summary_key: write_summary(summary)} if summary else {})
        return (None, "") if summary else (wanted, "the reply holds no sentence")
    found, problem = read_chunks(wanted.job, outcome.completion.data, counter)
    values: dict[str, str] = {}
    for place, said in found.items():
        values |= _values(run.options, wanted.keys[place], said)
    run.count(wanted.document, len(found), sum(len(said.questions) for said in found.values()), new=True)
    run.keep(values)
    missing = tuple(part for part in wanted.job.parts if part.place not in found)
    if not missing:
        return None, ""
    job = ChunksJob(wanted.job.described, missing, wanted.job.contexts, wanted.job.questions)
    return wanted._replace(job=job, keys={part.place: wanted.keys[part.place] for part in missing}), problem


def _values(options: EnrichOptions, keys: tuple[str, str], said: Enrichment) -> dict[str, str]:
    context, questions = keys
    values = {context: write_context(said.context)} if options.contexts else {}
    return values | ({questions: write_questions(said.questions)} if options.questions else {})


def _spend(run: Run, job: Job, told: Completion, counter: TokenCounter) -> None:
    """What the server says a call took; where it says nothing, what is counted here."""
    tokens_in, tokens_out = told.tokens_in, told.tokens_out
    if not told.counted:
        tokens_in, tokens_out = tokens_of(job, counter.count), counter.count(json.dumps(told.data, ensure_ascii=False))
    run.spend(told.calls, tokens_in, tokens_out, told.counted)


def tokens_of(job: Job, count: Callable[[str], int]) -> int:
    """Tokens of the messages of a call."""
    return sum(count(message.content) for message in messages_of(job))


BATCH_CHUNKS = 100
"""Chunks of whole documents that the rules write at a time."""


def enrich(
    datasets: Enrichable,
    dataset: str | None = None,
    options: EnrichOptions | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> EnrichReport:
    """Enrich a dataset (default: the newest): what is kept already is not written again.

    A batch that fails for good is reported and skipped; a server that takes no calls ends the run (`stopped` of the report).
    Raises InvalidInput where a model is asked for and none is configured, NotFound, StoreUnavailable.
    """
    options = _settled(datasets, options or EnrichOptions())
    run = Run(datasets, dataset, options, report, cancelled)
    if options.variant == "extractive":
        _write_by_rules(run)
        return run.finish()

    return run.finish(ask_for_all(run, datasets.counter()))


def estimate(
    datasets: Enrichable,
    dataset: str | None = None,
    options: EnrichOptions | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Estimate:
    """What `enrich` would take: every prompt is made and counted, none is sent, so that no endpoint is needed. Else raises as `enrich`."""
    options = options or EnrichOptions()
    if options.variant == "model" and options.endpoint is None and not datasets.models.has_endpoint:
        options = replace(options, model=options.model or datasets.models.answer_model or "")
    else:
        options = _settled(datasets, options)
    run, counter = Run(datasets, dataset, options, report, cancelled), datasets.counter()
    calls = tokens_in = tokens_out = 0
    if options.variant == "model":
        for wanted in wanted_of(run):
            calls, tokens_in = calls + 1, tokens_in + tokens_of(wanted.job, counter.count)
            tokens_out += wanted.job.likely_tokens
            run.new += wanted.job.size
            run.tell("counting the prompts")
    price = options.price if options.variant == "model" else None
    cost = price.of(tokens_in, tokens_out) if price else None
    total, kept = run.total, run.kept
    return Estimate(run.name, options.variant, run.writer.model, total, kept, calls, tokens_in, tokens_out, counter.exact, price, cost)


def _settled(datasets: Enrichable, options: EnrichOptions) -> EnrichOptions:
    """The options with the configured model where one is asked for and none is named. Raises InvalidInput where there is none."""
    if options.variant == "extractive":
        return replace(options, endpoint=None, model="")
    if options.endpoint is not None:
        return options
    return replace(options, endpoint=datasets.models.endpoint("enrich"))


def _write_by_rules(run: Run) -> None:
    group: list[tuple[Document, list[FetchedChunk]]] = []
    for document, chunks in run.documents():
        group.append((document, chunks))
        if sum(len(own) for _, own in group) >= BATCH_CHUNKS:
            _write_group(run, group)
            group = []
    if group and not run.cancelled():
        _write_group(run, group)


def _write_group(run: Run, group: Sequence[tuple[Document, list[FetchedChunk]]]) -> None:
    """Write documents that are not written yet, as one batch."""
    writer, counter = run.writer, run.datasets.counter()
    keys = [writer.summary_key(document, chunks) for document, chunks in group]
    kept = run.datasets.store.read_kept(writer.shelf, keys)
    values: dict[str, str] = {}
    for key, (document, chunks) in zip(keys, group, strict=True):
        if key in kept:
            summary, questions = read_summary(kept[key]), questions_in(kept[key])
        else:
            try:
                whole = whole_document(document, chunks)
                said, summary = enrich_document(whole, counter), summary_of(whole)
            except BaseException as error:  # noqa: BLE001 (`fail` raises what is no fault of this document again)
                run.fail(document, len(chunks), error)
                continue
            questions = sum(len(one.questions) for one in said)
            values[key] = write_summary(summary, questions)
            for chunk, one in zip(chunks, said, strict=True):
                values[writer.context_key(document, chunk)] = write_context(one.context)
                values[writer.questions_key(document, chunk)] = write_questions(one.questions)
        if summary and not document.summary:
            run.summaries[document.document_id] = summary
        run.count(document, len(chunks), questions, new=key not in kept)
    if values:
        run.keep(values)
    run.tell("enriching chunks")
