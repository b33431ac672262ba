"""Why a recorded answer failed, for commands, pages and Python: its trace read, joined to a dataset, assembled again, followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.model.characters import is_visible, mended, normalised
from ctxasm.model.errors import InvalidInput, shown

if TYPE_CHECKING:
    from ctxasm.app.workbench import Workbench
    from ctxasm.data.files.cells import ColumnMapping
    from ctxasm.data.files.loading import LoadReport
    from ctxasm.model.datasets import Dataset
    from ctxasm.model.messages import Cancel
    from ctxasm.model.ports import FetchedChunk
    from ctxasm.model.records import Answer, Bundle, Query
    from ctxasm.model.results import Assembly
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.model.support import Scorer
    from ctxasm.tuning.evidence import StoredChunks
    from ctxasm.tuning.why_results import Why

LONGEST_STEM = 90
"""Characters of a file's name before the number."""
LOOKED_AT = 8
"""Chunks of a dataset among which a fact that no hit holds is looked for: the best of a search by its words."""
LONGEST_FACT = 20_000
"""Characters of what an answer should have said."""


class Case(NamedTuple):
    """A question with its hits, and the answer that was recorded."""

    query: Query
    answer: Answer


class Cases(NamedTuple):
    """The answers of a trace, and the chunks that their hits are. `dataset` is None where these are the trace's own."""

    cases: tuple[Case, ...]
    source: Dataset
    dataset: str | None
    notes: tuple[str, ...]

    def named(self, query_id: str | None) -> Case:
        """One of them; the only one where none is named. Raises InvalidInput naming those that there are."""
        ids = [case.query.query_id for case in self.cases]
        if query_id is None and len(ids) == 1:
            return self.cases[0]
        found = next((case for case in self.cases if case.query.query_id == query_id), None)
        if found is None:
            told = f"must be one of {', '.join(map(shown, ids[:10]))}{' …' if len(ids) > 10 else ''}"
            raise InvalidInput(f"the query {told}, got {'none' if query_id is None else shown(query_id)}: there are {len(ids):,} answers")
        return found


class Opened(NamedTuple):
    """A trace that was loaded so that its first answer can be explained."""

    load: LoadReport
    query_id: str


def cases_in(
    workbench: Workbench,
    files: Sequence[tuple[str, bytes]],
    dataset: str | None = None,
    mappings: Mapping[str, ColumnMapping] | None = None,
) -> Cases:
    """The answers of a trace, or of a prompt with its answer. With a dataset, hits are its chunks, and labels of its questions hold.

    `mappings` are those of `load_files`.

    Raises InvalidInput, InvalidBundle with all problems, NotFound.
    """
    from ctxasm.data.files.importing import import_files
    from ctxasm.data.files.loading import limits_of
    from ctxasm.store.database import MemoryStore

    onto = None if dataset is None else workbench.dataset(dataset)
    reading = import_files(files, mappings, limits=limits_of(workbench.config), onto=onto)
    if onto is not None:
        return Cases(_cases(files, reading.bundle, _labelled(reading.bundle.queries, onto)), onto, onto.info.name, reading.notes)
    memory = MemoryStore(workbench.counter())
    memory.add(reading.bundle)
    return Cases(_cases(files, reading.bundle, reading.bundle.queries), memory.dataset(), None, reading.notes)


def open_trace(workbench: Workbench, files: Sequence[tuple[str, bytes]]) -> Opened:
    """Load a trace as a dataset of its own; under a name with a number where its name is taken by other content.

    Raises InvalidInput where no question in it has an answer, InvalidBundle with all problems, StoreUnavailable.
    """
    from ctxasm.data.files.importing import default_name, import_files
    from ctxasm.data.files.loading import keep_bundle, limits_of
    from ctxasm.data.load_conflicts import NameTaken

    reading = import_files(files, limits=limits_of(workbench.config))
    query_id = _cases(files, reading.bundle, reading.bundle.queries)[0].query.query_id
    for number in count(1):
        name = default_name(files) if number == 1 else f"{default_name(files)[:LONGEST_STEM]}-{number}"
        try:
            load = keep_bundle(workbench, reading._replace(bundle=replace(reading.bundle, name=name)), files[0][0], "new")
        except NameTaken:
            continue
        return Opened(load, query_id)
    raise AssertionError("there is always another number")


def _cases(files: Sequence[tuple[str, bytes]], bundle: Bundle, asked: Sequence[Query]) -> tuple[Case, ...]:
    from ctxasm.data.files.importing import PROMPT

    queries = {query.query_id: query for query in asked}
    cases = tuple(Case(queries[answer.query_id], answer) for answer in bundle.answers if answer.query_id in queries)
    if not cases:
        where = ", ".join(shown(name, 100) for name, _ in files[:3])
        told = "questions, but no answer to any of them" if queries else "no question with its answer"
        raise InvalidInput(f"{where} holds {told}: give a trace whose model has answered, or {PROMPT}")
    return cases


def recorded_cases(workbench: Workbench, dataset: str | None = None) -> Cases:
    """The answers that a dataset records, with its questions. Raises InvalidInput where there are none, NotFound."""
    source = workbench.dataset(dataset)
    queries = {query.query_id: query for query in source.queries()}
    cases = tuple(Case(queries[answer.query_id], answer) for answer in source.answers() if answer.query_id in queries)
    if not cases:
        raise InvalidInput(f"dataset {shown(source.info.name)} records no answer to its questions: give the trace that has one")
    return Cases(cases, source, source.info.name, ())


def explained(
    workbench: Workbench,
    case: Case,
    settings: AssemblySettings,
    source: Dataset,
    dataset: str | None = None,
    fact: str | None = None,
    scorer: Scorer | str = "lexical",
    *,
    assembly: Assembly | None = None,
    cancel: Cancel | None = None,
) -> Why:
    """Where the fact went: `source` holds the chunks, `dataset` names it where it can be searched. `assembly` is B where it is there.

    Raises InvalidInput for what cannot be assembled, and for a fact without a visible character or of more than LONGEST_FACT;
    ModelUnavailable.
    """
    from ctxasm.tuning.evidence import evidence_documents
    from ctxasm.tuning.why import explain

    if fact is not None:
        fact = _checked_fact(fact)
    checks = workbench.open_scorer(scorer) if isinstance(scorer, str) else scorer
    context = assembly or workbench.assemble(case.query, settings, source=source)
    stored: dict[str, StoredChunks] = {name: source.document_chunks(name) for name in evidence_documents(case.query)}

    def look(text: str) -> Sequence[FetchedChunk]:
        return _looked_up(workbench, source, dataset, text) if dataset is not None else ()

    return explain(context, case.answer, checks, stored, fact, look, cancel)


def _checked_fact(fact: object) -> str:
    """The fact as every store and file can hold it."""
    if not isinstance(fact, str) or not is_visible(fact):
        told = f"the fact must be a text with at least one visible character, got {shown(fact)}"
        raise InvalidInput(f"{told}: say what the answer should have said")
    if len(fact) > LONGEST_FACT:
        raise InvalidInput(f"the fact must have at most {LONGEST_FACT:,} characters, got {len(fact):,}: shorten it")
    return mended(fact)


def _looked_up(workbench: Workbench, source: Dataset, dataset: str, text: str) -> Sequence[FetchedChunk]:
    from ctxasm.model.search import SearchOptions
    from ctxasm.retrieval import search
    from ctxasm.retrieval.searching import MOST_CHARS

    # A claim of a recorded answer may be longer than any question may be.
    found = search(workbench, text[:MOST_CHARS], dataset, SearchOptions(method="bm25", limit=LOOKED_AT)).retrieved
    wanted = {(hit.document_id, hit.chunk_index): place for place, hit in enumerate(found)}
    chunks = [chunk for name in dict.fromkeys(hit.document_id for hit in found) for chunk in source.document_chunks(name)]
    own = [chunk for chunk in chunks if (chunk.document_id, chunk.chunk_index) in wanted]
    return sorted(own, key=lambda chunk: wanted[chunk.document_id, chunk.chunk_index])


def _labelled(queries: Sequence[Query], onto: Dataset) -> list[Query]:
    """The questions with the labels that the dataset has for them: by their id, else by their words."""
    known = onto.queries()
    by_id, by_words = {query.query_id: query for query in known}, {normalised(query.query): query for query in known}
    found = [(query, by_id.get(query.query_id) or by_words.get(normalised(query.query))) for query in queries]
    return [
        query if own is None else replace(query, gold=own.gold or query.gold, spans=own.spans, answer=own.answer or query.answer)
        for query, own in found
    ]
