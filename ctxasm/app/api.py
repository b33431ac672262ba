"""The public functions, one a capability: each opens what its use case asks for, and runs it as the commands and the pages do.

`store` is a store of the caller's, which stays open; None is the database that the environment names, opened for the one call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ctxasm.model.errors import InvalidInput
from ctxasm.model.progress import Cancelled, Report, never, silent

if TYPE_CHECKING:
    import os

    from ctxasm.answering import AnswerResult, AnswerStream
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.app.workbench import Workbench
    from ctxasm.citations import CheckedAnswer
    from ctxasm.data.documents import IngestOptions, IngestReport
    from ctxasm.data.documents.collecting import Source
    from ctxasm.data.enrich import EnrichOptions, EnrichReport
    from ctxasm.data.files import ExportReport, LoadReport
    from ctxasm.data.load_conflicts import Over
    from ctxasm.model.datasets import Dataset, DatasetStore
    from ctxasm.model.messages import AnswerModel, Cancel
    from ctxasm.model.ports import ChunkSource, TokenCounter
    from ctxasm.model.records import Chunk, Document, GoldChange, Hit, Query
    from ctxasm.model.results import Assembly
    from ctxasm.model.runs import Judgement, Run, RunEntry, RunFilter, Written
    from ctxasm.model.search import SearchOptions
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.model.support import Scorer
    from ctxasm.review.exchange import ImportReport
    from ctxasm.review.gold import GoldReport
    from ctxasm.review.judging import QueueEntry, ReviewItem
    from ctxasm.review.reviewers import Agreement, Calibration
    from ctxasm.store.database import Store
    from ctxasm.tuning.compare import Comparison
    from ctxasm.tuning.compare_answers import AnswerComparison
    from ctxasm.tuning.recommend import Recommendation
    from ctxasm.tuning.sweep import Axes
    from ctxasm.tuning.sweep_results import SweepResult
    from ctxasm.tuning.why_results import Why


def open_store(url: str | None = None) -> Store:
    """The store at a database URL (`sqlite:///file.db`, `postgresql://…`; default: the one the environment names).

    Counts tokens with cl100k_base. Raises StoreUnavailable where the database cannot be reached.
    """
    from ctxasm.config import make_database_folder, read_config
    from ctxasm.store.database import Store
    from ctxasm.text.tokens import open_counter

    url = read_config().database_url if url is None else url
    make_database_folder(url)
    return Store(url, open_counter("cl100k_base"))


def open_dataset(name: str | None = None, store: DatasetStore | None = None) -> Dataset:
    """A dataset by its name (default: the newest), stored or linked, as `assemble` takes it. Raises NotFound naming those that exist."""
    return _opened(store).dataset(name)


# Filling a store


def load(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    store: DatasetStore | None = None,
    name: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    kind: str | None = None,
    valid_only: bool = False,
    over: Over = "new",
    onto: str | None = None,
    number_by_order: bool = False,
) -> LoadReport:
    """Load a bundle (folder or .zip), or files of JSON, JSON Lines, CSV, TSV or Parquet that go together, as one dataset.

    `name` defaults to that of the folder or file. `columns` are the columns of fields (text="body", hits="results[*]"; the rest is
    guessed), `kind` says what the rows are: chunks, documents, queries, retrievals or answers. With `valid_only` rows that fail are
    left out. With `number_by_order` the chunks of each document are numbered 0, 1, 2 … in the order of their indexes, which may have gaps.
    `over` says what becomes of a dataset of that name: "new" refuses unless it holds the same, "replace" takes its place, "join"
    adds to it. `onto` adds the questions of logs alone to a dataset, with their hits on its chunks. Raises InvalidInput, NameTaken,
    InvalidBundle with all problems, StoreUnavailable; then nothing changed.
    """
    from ctxasm.data.files import join_paths, load_paths, one_mapping

    with _workbench(store) as workbench:
        if onto is not None:
            if name is not None or over != "new" or number_by_order:
                raise InvalidInput("onto names the dataset that questions are added to: leave out name, over and number_by_order")
            return join_paths(workbench, _listed(paths), onto, one_mapping(columns or {}, kind), valid_only)
        mappings = one_mapping(columns or {}, kind)
        return load_paths(workbench, _listed(paths), name, mappings, valid_only, over, by_order=number_by_order)


def ingest(
    paths: Source | Sequence[Source],
    store: DatasetStore | None = None,
    name: str | None = None,
    options: IngestOptions | None = None,
    *,
    over: Over = "new",
    part: bool = False,
    retry: bool = False,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> IngestReport:
    """Read documents (PDF, DOCX, HTML, Markdown, text; folders and .zip of them) into a dataset, cut as `options` say.

    `over` is that of `load`; with "new" a dataset of an earlier ingest of these files goes on. `part` reads nothing and loads what is
    done, `retry` reads again what could not be read before. A document that cannot be read is a problem of the report, never an
    error. Raises InvalidInput for a path where nothing is, NameTaken, StoreUnavailable.
    """
    from ctxasm.data.documents import ingest as run

    with _workbench(store) as workbench:
        return run(workbench, _listed(paths), options, name, report, cancelled, part=part, retry=retry, over=over)


def connect(
    connection: str,
    table: str,
    name: str,
    store: DatasetStore | None = None,
    *,
    fields: Mapping[str, str] | None = None,
    documents: str | None = None,
    copy: bool = False,
    limit: int | None = None,
    over: Over = "new",
    number_by_order: bool = False,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> LoadReport:
    """Make a table of your own a dataset that is read where it is; with `copy` its first `limit` rows (100,000) are loaded instead.

    `connection` is the NAME of CTXASM_CONNECTION_NAME or [connections.NAME] in the secrets. `fields` are columns or paths
    (text="content", page_number="metadata->>'page'") on top of the guess, those of the table `documents` named documents.FIELD.
    With `number_by_order` a copy numbers the chunks of each document 0, 1, 2 … in the order of chunk_index, which may have gaps.
    `open_dataset` reads the linked dataset. Nothing is ever written to the table. `over` is that of `load`.
    Raises InvalidInput where no row can be used, NameTaken, NotFound, StoreUnavailable.
    """
    from ctxasm.data.tables.connecting import COPY_ROWS, chosen_mapping, copy_table, link
    from ctxasm.data.tables.mapping import numbered_by_order

    with _workbench(store) as workbench:
        mapping = chosen_mapping(workbench, connection, table, (fields or {}).items(), documents)
        mapping = numbered_by_order(mapping) if number_by_order else mapping
        if not copy:
            return link(workbench, connection, mapping, name, over)
        return copy_table(workbench, connection, mapping, name, COPY_ROWS if limit is None else limit, report, cancelled, over)


def enrich(
    store: DatasetStore | None = None,
    dataset: str | None = None,
    options: EnrichOptions | None = None,
    *,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> EnrichReport:
    """Write summaries, situating contexts and canonical questions of a dataset (default: the newest) for the index, by rules or a model.

    The stored text never changes, and what is kept already is not written again. Raises InvalidInput where a model is asked for and
    none is configured, NotFound, StoreUnavailable.
    """
    from ctxasm.data.enrich import enrich as run

    with _workbench(store) as workbench:
        return run(workbench, dataset, options, report, cancelled)


def export(
    path: str | os.PathLike[str],
    store: DatasetStore | None = None,
    dataset: str | None = None,
    format: str = "bundle",
    *,
    force: bool = False,
) -> ExportReport:
    """Write a dataset (default: the newest) with its saved queries to a bundle (folder or .zip), or its chunks as `parquet`.

    What is there already is replaced only with `force`. Raises InvalidInput, NotFound, StoreUnavailable.
    """
    from ctxasm.data.files import export as run

    with _workbench(store) as workbench:
        return run(workbench, dataset, path, format, force=force)


def label(
    query_id: str,
    chunks: Sequence[tuple[str, int]] = (),
    store: DatasetStore | None = None,
    dataset: str | None = None,
    how: GoldChange = "add",
    *,
    phrases: Sequence[str] = (),
    any_of: bool = False,
) -> Query:
    """Say which chunks (document_id, chunk_index) a question of a dataset (default: the newest) needs, or which phrases.

    `how`: they are added to its gold evidence, taken from it ("remove"), or take its place ("replace"). With `any_of` any one of all that
    is named is enough, else a phrase must stand in one passage. It is kept with the question and exported with it. Raises InvalidInput
    for a chunk or a phrase that is not there, NotFound, StoreUnavailable.
    """
    from ctxasm.data.labelling import label as run

    with _workbench(store) as workbench:
        return run(workbench, dataset, query_id, chunks, how, phrases=phrases, any_of=any_of)


# From question to checked answer


def search(
    question: str,
    store: DatasetStore | None = None,
    dataset: str | None = None,
    options: SearchOptions | None = None,
    *,
    save: bool = False,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Query:
    """The question with the chunks that were found for it in a dataset (default: the newest), as `assemble` takes it.

    With `save` it is kept among the queries of the dataset. The first search makes an index. Raises InvalidInput for a blank question
    and for what cannot be had here, SearchStopped, ModelUnavailable, NotFound, StoreUnavailable.
    """
    from ctxasm.retrieval import save_query
    from ctxasm.retrieval import search as run

    with _workbench(store) as workbench:
        name = workbench.dataset(dataset).info.name  # one dataset throughout, also when a newer one is loaded meanwhile
        found = run(workbench, question, name, options, report, cancelled)
        return save_query(workbench, name, found) if save else found


def assemble(
    query: Query | str,
    source: ChunkSource | None = None,
    settings: AssemblySettings | None = None,
    counter: TokenCounter | None = None,
    limit: int | None = None,
    *,
    hits: Sequence[Hit | Chunk | Mapping[str, Any]] | None = None,
    chunks: Sequence[Chunk | Mapping[str, Any]] = (),
    documents: Sequence[Document | Mapping[str, Any]] = (),
) -> Assembly:
    """Assemble the context for one query from a store, a dataset, any other source of chunks, or from plain records.

    Without a store: `hits` are mappings (document_id, chunk_index, text, score, …) or Chunks in order of retrieval; neighbours
    are then found among `hits` and `chunks` only. With both, what is given fills in for what `source` does not hold.

    `counter` defaults to the exact one of the settings' encoding (a labelled estimate where no vocabulary can be had);
    `limit` replaces `settings.max_tokens` and the zones. Raises InvalidInput for a query that cannot be assembled, and with
    budget_mode=window for a model whose window is not known, or zones that leave nothing; also where an embedder or a model that
    the settings ask for cannot be had.
    """
    from ctxasm.answering.zones import ZonePlanner
    from ctxasm.app.parts import shelf_at
    from ctxasm.app.workbench import assembled
    from ctxasm.assembly import joined
    from ctxasm.config import read_config
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.text.tokens import open_counter

    settings, config = settings or AssemblySettings(), read_config()
    asked, chunk_source = joined(query, source, hits, chunks, documents)
    counter = counter or open_counter(settings.encoding)
    return assembled(asked, chunk_source, settings, counter, config, ZonePlanner(config.model_windows), shelf_at(source), limit=limit)


def ask(
    assembly: Assembly,
    model: AnswerModel | str | None = None,
    choice: PromptChoice | None = None,
    *,
    temperature: float = 0.0,
    max_tokens: int = 512,
    cancel: Cancel | None = None,
) -> AnswerStream:
    """Answer the query of an assembly: iterate for pieces and markers as they come, or take `.result()`.

    `model` is one, or a name: extractive (no key needed), openai (the configured endpoint), scripted:MODE; default: the configured one,
    else extractive. `choice` says how to ask (default: grounded). A model's failure is in the result. Raises InvalidInput for a model
    that cannot be had.
    """
    from ctxasm.answering import ask as run
    from ctxasm.answering.prompts import GROUNDED
    from ctxasm.app.parts import open_model
    from ctxasm.config import read_config

    chosen = open_model(model, read_config()) if model is None or isinstance(model, str) else model
    return run(assembly, chosen, choice or GROUNDED, temperature=temperature, max_tokens=max_tokens, cancel=cancel)


def check(assembly: Assembly, answer: str, scorer: Scorer | str | None = None, *, cut: bool = False) -> CheckedAnswer:
    """Check every claim and every citation of an answer against the context that it was given.

    `cut`: the answer broke off (`not result.complete`), so that a sentence without an end is no claim.
    `scorer` is one, or a name: lexical (the default, which needs no model), embedding, nli, llm. `to_dict()` of the result is the JSON
    of docs/reference/answer-json.md. Raises InvalidInput for a scorer that cannot be had, ModelUnavailable where its model fails.
    """
    from ctxasm.app.parts import open_likeness, open_scorer
    from ctxasm.citations import check as run
    from ctxasm.config import read_config

    named = "lexical" if scorer is None else scorer
    return run(assembly, answer, open_scorer(named, read_config()) if isinstance(named, str) else named, cut=cut, likeness=open_likeness())


def why(
    trace: Source | Sequence[Source] | None = None,
    store: DatasetStore | None = None,
    dataset: str | None = None,
    settings: AssemblySettings | None = None,
    *,
    query_id: str | None = None,
    fact: str | None = None,
    scorer: Scorer | str = "lexical",
    columns: Mapping[str, str] | None = None,
) -> Why:
    """Why an answer of production failed: the prompt that was sent (A) beside what `settings` would send (B), and where the fact went.

    `trace` is a path or a pair (name, bytes): a trace or log of any form that `load` recognises, or a prompt with its answer. With a
    `dataset` its hits are that dataset's chunks, with their neighbours; without a trace the answer that the dataset records for
    `query_id` is taken. `query_id` names one of several answers; `fact` is what the answer should have said (default: the expected
    passages, else the reference answer, else what of the answer nothing carries). `scorer` is that of `check`, `columns` those of `load`,
    for a `trace` whose fields are not recognised (prompt="request.messages"). Raises InvalidInput,
    InvalidBundle, NotFound, ModelUnavailable where the scorer's model fails.
    """
    from ctxasm.app.explained import cases_in, explained, recorded_cases
    from ctxasm.data.files.loading import files_at, one_mapping
    from ctxasm.model.settings import AssemblySettings

    with _workbench(store) as workbench:
        chosen = settings or AssemblySettings()
        if trace is None:
            found = recorded_cases(workbench, dataset)
        else:
            given = _listed(trace)
            files = [one for file in given for one in ([file] if isinstance(file, tuple) else files_at([file], workbench.config))]
            found = cases_in(workbench, files, dataset, one_mapping(columns or {}))
        return explained(workbench, found.named(query_id), chosen, found.source, found.dataset, fact, scorer)


# From looking to deciding


def sweep(
    axes: Axes | None = None,
    store: DatasetStore | None = None,
    dataset: str | None = None,
    settings: AssemblySettings | None = None,
    *,
    query_ids: Sequence[str] | None = None,
    engine: str = "local",
    keep: bool = True,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> SweepResult:
    """Every combination of the values in `axes` (by setting; default: window, limit, policy, number of hits) on every question.

    `settings` are those that one starts from. `engine` counts: local, cores (all of them, cores:N) or dask (dask:ADDRESS); the result is
    the same to the byte. With `keep` outcomes are kept in the store, so that a sweep that was ended goes on, and another one counts
    only what is new. Raises InvalidInput, NotFound, StoreUnavailable.
    """
    from ctxasm.app.tuned import swept
    from ctxasm.model.settings import AssemblySettings

    with _workbench(store) as workbench:
        start = settings or AssemblySettings()
        return swept(workbench, start, axes, dataset, query_ids, engine=engine, keep=keep, report=report, cancelled=cancelled)


def compare(
    a: AssemblySettings,
    b: AssemblySettings,
    store: DatasetStore | None = None,
    dataset: str | None = None,
    *,
    query_ids: Sequence[str] | None = None,
    engine: str = "local",
    keep: bool = True,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Comparison:
    """Two settings on the same questions: which are better or worse under `b`, by how much, and whether that is more than chance.

    The rest is as in `sweep`.
    """
    from ctxasm.app.tuned import compared

    with _workbench(store) as workbench:
        return compared(workbench, a, b, dataset, query_ids, engine=engine, keep=keep, report=report, cancelled=cancelled)


def compare_answers(
    a: AssemblySettings,
    b: AssemblySettings,
    store: DatasetStore | None = None,
    dataset: str | None = None,
    model: AnswerModel | str | None = None,
    choice: PromptChoice | None = None,
    *,
    temperature: float = 0.0,
    max_tokens: int = 512,
    prices: tuple[float, float] = (0.0, 0.0),
    scorer: Scorer | str | None = None,
    query_ids: Sequence[str] | None = None,
    keep: bool = True,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> AnswerComparison:
    """The same model and prompt asked over the same questions under two settings: support, citation, declined, tokens, cost, paired.

    `model`, `choice`, `temperature` and `max_tokens` are those of `ask`, `scorer` that of `check`; `prices` are those of a million tokens
    sent and written. With `keep` answers are kept in the store, so that nothing is asked twice. Raises InvalidInput, NotFound,
    StoreUnavailable, ModelUnavailable where the scorer's model fails; a question that the model does not answer is among `failures`.
    """
    from ctxasm.answering.prompts import GROUNDED
    from ctxasm.app.tuned import answer_desk
    from ctxasm.tuning.compare_answers import How, Prices

    with _workbench(store) as workbench:
        how = How(
            workbench.open_model(model) if model is None or isinstance(model, str) else model, choice or GROUNDED, temperature, max_tokens
        )
        checks = workbench.open_scorer(scorer) if isinstance(scorer, str) else scorer
        return answer_desk(workbench, how, dataset, query_ids, checks, keep).compare(a, b, Prices(*prices), report, cancelled)


def recommend(
    store: DatasetStore | None = None,
    dataset: str | None = None,
    settings: AssemblySettings | None = None,
    *,
    delta: float | None = None,
    query_ids: Sequence[str] | None = None,
    engine: str = "local",
    keep: bool = True,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Recommendation:
    """What to ship in place of `settings`, what it gains, how sure that is, and what it costs.

    `delta` (default .05) is the share of questions that something cheaper may lose, and the gain that must not be missed. The rest is as
    in `sweep`.
    """
    from ctxasm.app.tuned import recommendation
    from ctxasm.model.settings import AssemblySettings

    with _workbench(store) as workbench:
        start = settings or AssemblySettings()
        return recommendation(
            workbench, start, dataset, query_ids, delta=delta, engine=engine, keep=keep, report=report, cancelled=cancelled
        )


# Reviewing


def history(
    store: DatasetStore | None = None,
    wanted: RunFilter | None = None,
) -> list[RunEntry]:
    """The answers that were kept, the newest first, those that `wanted` asks for (default: all). Raises StoreUnavailable."""
    from ctxasm.model.runs import ALL_RUNS

    with _workbench(store) as workbench:
        return workbench.store.runs(wanted or ALL_RUNS)


def keep_run(
    assembly: Assembly,
    answer: AnswerResult,
    checked: CheckedAnswer,
    store: DatasetStore | None = None,
    dataset: str | None = None,
    *,
    temperature: float = 0.0,
    max_tokens: int = 512,
    author: str = "",
    batch: str = "",
    prices: tuple[float, float] | None = None,
) -> Run:
    """Keep an answer as it arrived, with everything that made it: settings, prompt, context, model, tokens, the checker's verdicts.

    `temperature` and `max_tokens` are those that it was asked with, `prices` those of a million tokens sent and written. Raises
    NotFound for an unknown dataset (None: of none), StoreUnavailable.
    """
    from ctxasm.app.reviews import keep_answer
    from ctxasm.review.runs import Parameters

    asked = Parameters(answer.choice, temperature, max_tokens)
    with _workbench(store) as workbench:
        return keep_answer(workbench, assembly, answer, checked, asked, dataset, author=author, batch=batch, prices=prices)


def review_queue(
    reviewer: str, store: DatasetStore | None = None, dataset: str | None = None, *, file: str | None = None, batch: str = ""
) -> list[QueueEntry]:
    """The recorded answers of a dataset (default: the newest), or those of a `file`, as runs to judge, the riskiest first.

    Each is kept once, under the name `batch`. Raises InvalidInput, NotFound, StoreUnavailable.
    """
    from ctxasm.app.reviews import keep_recorded
    from ctxasm.app.reviews import review_queue as run

    with _workbench(store) as workbench:
        return run(workbench, reviewer, keep_recorded(workbench, dataset, file, batch=batch).run_ids)


def review_item(run_id: str, reviewer: str, store: DatasetStore | None = None) -> ReviewItem:
    """One answer as this reviewer may see it: without the checker's and others' verdicts where they have not judged. Raises NotFound."""
    from ctxasm.review.judging import item_for

    with _workbench(store) as workbench:
        return item_for(workbench.store, run_id, reviewer)


def judge(judgement: Judgement, expected: int = 0, store: DatasetStore | None = None) -> Written:
    """Say what a reviewer says of an item. `expected` is the version that the reviewer saw (0: none).

    Where another one stands nothing is overwritten: the result says so, and what stands. Raises InvalidInput, NotFound.
    """
    with _workbench(store) as workbench:
        return workbench.store.judge(judgement, expected)


def export_reviews(
    path: str | os.PathLike[str], store: DatasetStore | None = None, wanted: RunFilter | None = None, format: str | None = None
) -> int:
    """Write runs with their judgements: .jsonl is whole, .csv and .xlsx are for a spreadsheet, `format` annotations for Phoenix.

    How many runs there are. Raises InvalidInput, StoreUnavailable.
    """
    from ctxasm.app.reviews import export_reviews as run
    from ctxasm.app.reviews import run_ids_of
    from ctxasm.model.runs import ALL_RUNS

    with _workbench(store) as workbench:
        return run(workbench, path, run_ids_of(workbench, wanted or ALL_RUNS), format)


def import_reviews(path: str | os.PathLike[str], store: DatasetStore | None = None) -> ImportReport:
    """Keep the runs and judgements that `export_reviews` wrote as JSON Lines; conflicts come back in the report.

    Raises InvalidInput naming the line; then nothing is kept.
    """
    from ctxasm.app.reviews import import_reviews as run

    with _workbench(store) as workbench:
        return run(workbench, path)


def review_agreement(store: DatasetStore | None = None, wanted: RunFilter | None = None) -> tuple[Agreement, Agreement, Calibration]:
    """How reviewers agree about citations, about whether answers answer their questions, and how right the checker is by what they say."""
    from ctxasm.app.reviews import run_ids_of
    from ctxasm.model.runs import ALL_RUNS
    from ctxasm.review.reviewers import agreement, calibration

    with _workbench(store) as workbench:
        run_ids = run_ids_of(workbench, wanted or ALL_RUNS)
        return *agreement(workbench.store, run_ids), calibration(workbench.store, run_ids)


def report(
    what: str | Sequence[str] | SweepResult | Recommendation | Comparison,
    path: str | os.PathLike[str] | None = None,
    store: DatasetStore | None = None,
) -> str:
    """Runs (by their ids), a sweep, a recommendation or a comparison as one HTML page of at most 150 kB; with `path` also written there.

    It has no scripts, asks nothing of any server, and holds no key. Raises InvalidInput, NotFound, StoreUnavailable.
    """
    from ctxasm.app.report.making import report_on

    with _workbench(store) as workbench:
        return report_on(workbench, what, path)


def approve_gold(store: DatasetStore | None = None, dataset: str | None = None) -> GoldReport:
    """Give the questions of a dataset (default: the newest) the evidence that more than half of its reviewers approve.

    Raises NotFound, StoreUnavailable.
    """
    from ctxasm.review.gold import approve

    with _workbench(store) as workbench:
        return approve(workbench, dataset)


def _opened(store: DatasetStore | None) -> Workbench:
    from ctxasm.app.workbench import Workbench
    from ctxasm.config import connection_secrets, read_config

    return Workbench(read_config(secrets=connection_secrets()), store)


@contextmanager
def _workbench(store: DatasetStore | None) -> Iterator[Workbench]:
    opened = _opened(store)
    try:
        yield opened
    finally:
        if store is None:
            opened.close()
        else:
            opened.links.close()


def _listed(paths: Any) -> list[Any]:
    """One path alone as a list of one; a pair (name, bytes) is a file, too."""
    alone = isinstance(paths, (str, bytes)) or not isinstance(paths, Sequence) or (len(paths) == 2 and isinstance(paths[1], bytes))
    return [paths] if alone else list(paths)
