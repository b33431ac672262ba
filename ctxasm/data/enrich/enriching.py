"""Documents and chunks are enriched: summaries, situating contexts and canonical questions, by rules or by a language model.

What is written stays beside the data, on the shelf "enrichment VARIANT": an index reads it, the stored text never changes. Summaries
also go to the documents that have none, where the prefix stage shows them. The unit of work is one batch (of a model: one call),
kept as soon as it is there, in one transaction with the ledger that counts it; so work that was ended or killed goes on where it
was, and nothing that is kept is asked for again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxasm.data.enrich.enriched import EnrichmentState, enriched_texts, enrichment_stamp, state
from ctxasm.data.enrich.extractive import enrich_document, summary_of
from ctxasm.data.enrich.keeping import questions_in, read_summary, write_context, write_questions, write_summary
from ctxasm.data.enrich.reports import EnrichReport, Estimate, FailedBatch
from ctxasm.data.enrich.run import EnrichOptions, Run
from ctxasm.data.enrich.whole import whole_document
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.records import Document

if TYPE_CHECKING:
    from ctxasm.data.enrich.run import Enrichable

__all__ = [
    "EnrichOptions",
    "EnrichReport",
    "EnrichmentState",
    "Estimate",
    "FailedBatch",
    "enrich",
    "enriched_texts",
    "enrichment_stamp",
    "estimate",
    "state",
]

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
    from ctxasm.data.enrich.calls import ask_for_all

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
        from ctxasm.data.enrich.calls import tokens_of, wanted_of

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
