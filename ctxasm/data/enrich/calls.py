"""The model's part of an enrichment: what to ask is worked out document by document, asked a few calls at a time, kept as it comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.data.enrich.jobs import ChunksJob, Job, SummaryJob, chunk_groups, described, summary_job
from ctxasm.data.enrich.keeping import read_enrichment, read_summary, write_context, write_questions, write_summary
from ctxasm.data.enrich.prompts import messages_of
from ctxasm.data.enrich.replies import read_chunks, read_summary_reply
from ctxasm.data.enrich.reports import FailedBatch
from ctxasm.data.enrich.run import EnrichOptions, Run
from ctxasm.data.enrich.texts import Enrichment
from ctxasm.data.enrich.whole import Part, whole_document
from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Document

if TYPE_CHECKING:
    from ctxasm.llm.batches import Call, Outcome
    from ctxasm.llm.completion import Completion

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
