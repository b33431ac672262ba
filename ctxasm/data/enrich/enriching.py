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

from ctxasm.enriched import EnrichmentState, enriched_texts, enrichment_stamp, state
from ctxasm.enriched_queries import questions_as_queries
from ctxasm.enriching_run import EnrichOptions, Run
from ctxasm.enrichment.extractive import enrich_document, summary_of
from ctxasm.enrichment.keeping import questions_in, read_summary, write_context, write_questions, write_summary
from ctxasm.enrichment.reports import EnrichReport, Estimate, FailedBatch
from ctxasm.enrichment.whole import whole_document
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.records import Document

if TYPE_CHECKING:
    from ctxasm.workbench import Workbench

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
    "questions_as_queries",
    "state",
]

BATCH_CHUNKS = 100
"""Chunks of whole documents that the rules write at a time."""
WHOLE_REPLY_S = 180.0
"""Seconds for one whole reply of the configured model, where its timeout is shorter: it is meant for the first word of an answer."""


def enrich(
    workbench: Workbench,
    dataset: str | None = None,
    options: EnrichOptions | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> EnrichReport:
    """Enrich a dataset (default: the newest): what is kept already is not written again.

    A batch that fails for good is reported and skipped; a server that takes no calls ends the run (`stopped` of the report).
    Raises InvalidInput where a model is asked for and none is configured, NotFound, StoreUnavailable.
    """
    options = _settled(workbench, options or EnrichOptions())
    run = Run(workbench, dataset, options, report, cancelled)
    if options.variant == "extractive":
        _write_by_rules(run)
        return run.finish()
    from ctxasm.enriching_calls import ask_for_all

    return run.finish(ask_for_all(run, workbench.counter()))


def estimate(
    workbench: Workbench,
    dataset: str | None = None,
    options: EnrichOptions | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Estimate:
    """What `enrich` would take: every prompt is made and counted, none is sent. Raises as `enrich`."""
    options = _settled(workbench, options or EnrichOptions())
    run, counter = Run(workbench, dataset, options, report, cancelled), workbench.counter()
    calls = tokens_in = tokens_out = 0
    if options.variant == "model":
        from ctxasm.enriching_calls import tokens_of, wanted_of

        for wanted in wanted_of(run):
            calls, tokens_in = calls + 1, tokens_in + tokens_of(wanted.job, counter.count)
            tokens_out += wanted.job.likely_tokens
            run.new += wanted.job.size
            run.tell("counting the prompts")
    price = options.price if options.variant == "model" else None
    cost = price.of(tokens_in, tokens_out) if price else None
    total, kept = run.total, run.kept
    return Estimate(run.name, options.variant, run.writer.model, total, kept, calls, tokens_in, tokens_out, counter.exact, price, cost)


def _settled(workbench: Workbench, options: EnrichOptions) -> EnrichOptions:
    """The options with the configured model where one is asked for and none is named. Raises InvalidInput where there is none."""
    if options.variant == "extractive":
        return replace(options, endpoint=None)
    if options.endpoint is not None:
        return options
    from ctxasm.config import BASE_URL, MODEL
    from ctxasm.llm import Endpoint

    config = workbench.config
    if config.llm_base_url is None or config.llm_model is None:
        raise InvalidInput(f"--variant model needs a model: set {BASE_URL[0]} and {MODEL[0]}, or choose the variant extractive")
    key, connect, whole = config.llm_api_key or "", config.llm_connect_timeout, max(config.llm_timeout, WHOLE_REPLY_S)
    return replace(
        options, endpoint=Endpoint(config.llm_base_url, config.llm_model, key, connect_timeout=connect, first_piece_timeout=whole)
    )


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
    writer, counter = run.writer, run.workbench.counter()
    keys = [writer.summary_key(document, chunks) for document, chunks in group]
    kept = run.workbench.store.read_kept(writer.shelf, keys)
    values: dict[str, str] = {}
    for key, (document, chunks) in zip(keys, group, strict=True):
        if key in kept:
            summary, questions = read_summary(kept[key]), questions_in(kept[key])
        else:
            whole = whole_document(document, chunks)
            said = enrich_document(whole, counter)
            summary, questions = summary_of(whole), sum(len(one.questions) for one in said)
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
