"""One assembly with all that it takes: the zones planned, the parts opened, the stages run; for commands, pages and Python."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from ctxasm.answering.zones import ZonePlanner
from ctxasm.app.parts import Models, equipment
from ctxasm.config import Config, make_database_folder, shipped
from ctxasm.data.files.loading import LoadReport, fingerprint, keep_bundle, load_bundle
from ctxasm.data.load_conflicts import Over
from ctxasm.data.tables.links import Links
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.answering.asking import AnswerStream
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.answering.zones import ZonePlanner
    from ctxasm.assembly.values import Weights
    from ctxasm.citations.report import CheckedAnswer
    from ctxasm.config import Config
    from ctxasm.llm import Endpoint
    from ctxasm.model.datasets import Dataset, DatasetInfo, DatasetStore, QueryEntry, VectorShelf
    from ctxasm.model.messages import AnswerModel, Cancel
    from ctxasm.model.ports import ChunkSource, FetchedChunk, TokenCounter
    from ctxasm.model.records import Query
    from ctxasm.model.results import Assembly
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.model.support import Scorer
    from ctxasm.tuning.evidence import EvidenceState


def assembled(
    query: Query,
    source: ChunkSource,
    settings: AssemblySettings,
    counter: TokenCounter,
    config: Config,
    zones: ZonePlanner,
    shelf: VectorShelf,
    *,
    choice: PromptChoice | None = None,
    model: AnswerModel | None = None,
    told_by: str | None = None,
    limit: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Assembly:
    """The context of a query that will be asked as `choice` says, within the zones; `limit` replaces them.

    Vectors are kept on `shelf`. `model` and `told_by` are those of `ZonePlanner.plan`; `cancelled`
    stops a model that compresses. Raises InvalidInput for what cannot be assembled, and for a part that cannot be had.
    """
    from ctxasm.assembly.pipeline import assemble

    tools = equipment(settings, config, shelf)
    if limit is not None:
        return assemble(query, source, settings, counter, limit=limit, cancelled=cancelled, **tools)
    plan = zones.plan(query, settings, counter, choice, model=model, told_by=told_by)
    return plan.on(assemble(query, source, settings, counter, limit=plan.limit, cancelled=cancelled, **tools))


SAMPLE, SAMPLE_NL = "sample", "sample-nl"
SAMPLES = {SAMPLE: "sample_data/hospital-en", SAMPLE_NL: "sample_data/hospital-nl"}
"""The datasets that ship with ctxasm, in English and in Dutch, and where their files are."""
SHIPPED = "shipped sample "
AS_SHIPPED = re.compile(f"{SHIPPED}[0-9a-f]+")
"""The origin of a sample that nobody added to."""
ENCODING = "cl100k_base"
"""The encoding whose counts are stored at load."""


class Workbench:
    """ctxasm over one store. `store` replaces the one that the config names (tests, notebooks)."""

    def __init__(self, config: Config, store: DatasetStore | None = None) -> None:
        self.config = config
        self.zones = ZonePlanner(config.model_windows, config.llm_model, lambda: self.store)
        self._store = store
        self._lock = Lock()
        self._handles: dict[str, Dataset] = {}
        self.links = Links(lambda: self.store, config.connections, config.statement_timeout)
        self.models = Models(config)

    @property
    def store(self) -> DatasetStore:
        """The store, opened when it is first needed. Raises StoreUnavailable."""
        with self._lock:
            if self._store is None:
                from ctxasm.store.database import Store

                make_database_folder(self.config.database_url)
                self._store = Store(self.config.database_url, self.counter(ENCODING))
            return self._store

    def close(self) -> None:
        """Let go of the database. The next use opens it again."""
        self.links.close()
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
                self._handles.clear()

    def counter(self, encoding: str = ENCODING) -> TokenCounter:
        """The token counter of an encoding; the same object every time."""
        from ctxasm.text.tokens import open_counter

        return open_counter(encoding)

    # Datasets

    def datasets(self) -> list[DatasetInfo]:
        """All datasets, stored and linked, the newest first."""
        stored = self.store.datasets()
        for gone in set(self._handles) - {info.name for info in stored}:  # deleted by another process: a link may have the name now
            self._handles.pop(gone, None)
        return self.links.with_linked(stored)

    def load(self, path: str | os.PathLike[str], name: str | None = None, over: Over = "replace") -> LoadReport:
        """Load a folder or .zip as a dataset; `over` says what becomes of one of that name.

        Raises InvalidInput, NameTaken, InvalidBundle, StoreUnavailable.
        """
        return load_bundle(self, path, name, over)

    def load_sample(self, over: Over = "replace", name: str = SAMPLE) -> LoadReport:
        """Load one of SAMPLES, unless exactly that is loaded already. One as it shipped before is replaced.

        Raises NameTaken where `over` is new and somebody's own data has that name.
        """
        folder = shipped(SAMPLES[name])
        origin = f"{SHIPPED}{fingerprint(folder)}"
        counter = self.counter(ENCODING)
        for info in self.datasets():
            if info.name == name and info.origin == origin and info.encoding == (counter.encoding if counter.exact else None):
                return LoadReport(info, False, ())
            if info.name == name and AS_SHIPPED.fullmatch(info.origin or ""):
                over = "replace"
        from ctxasm.data.files import read_bundle

        return keep_bundle(self, read_bundle(folder, name), origin, over)._replace(notes=())

    def delete(self, name: str) -> None:
        """Remove a stored dataset, or a link (never the user's table). Raises NotFound naming those that exist."""
        if not self.links.remove(name):
            self.store.delete(name)
            self._handles.pop(name, None)
            self.links.forget_enrichment(name)

    def dataset(self, name: str | None = None) -> Dataset:
        """A dataset, stored or linked (default: the newest): a handle that follows its name. Raises NotFound naming those that exist."""
        known = self._handles.get(name or "") or self.links.dataset(name)
        if known is not None:
            return known
        found = self.store.dataset(name)
        return self._handles.setdefault(found.info.name, found) if found.follows else found

    def query_list(self, dataset: str | None = None) -> list[QueryEntry]:
        """Id, text and number of hits of each query, in loaded order: for a picker."""
        return self.dataset(dataset).query_list()

    def query(self, dataset: str | None, query_id: str) -> Query:
        """One query. Raises NotFound naming those that exist."""
        return self.dataset(dataset).query(query_id)

    def document_chunks(self, document_id: str, dataset: str | None = None) -> list[FetchedChunk]:
        """All chunks of a document by index; empty for an unknown one."""
        return self.dataset(dataset).document_chunks(document_id)

    def find_text(self, dataset: str | None, phrase: str, limit: int = 200) -> list[FetchedChunk]:
        """The chunks whose text contains `phrase` in any case, retrieved or not. A blank phrase finds none."""
        return self.dataset(dataset).find_text(phrase, limit)

    # Assembling

    def assemble(
        self,
        query: Query,
        settings: AssemblySettings,
        dataset: str | None = None,
        choice: PromptChoice | None = None,
        model: AnswerModel | None = None,
        *,
        source: ChunkSource | None = None,
        told_by: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Assembly:
        """The context of a query that will be asked as `choice` says; `model` summarises older turns where that is set.

        `source` replaces the dataset; the others are those of `assembled`.
        Raises InvalidInput for a query that cannot be assembled or zones that leave nothing, StoreUnavailable.
        """

        chunks, counter = self.dataset(dataset) if source is None else source, self.counter(settings.encoding)
        return assembled(
            query,
            chunks,
            settings,
            counter,
            self.config,
            self.zones,
            self.store,
            choice=choice,
            model=model,
            told_by=told_by,
            cancelled=cancelled,
        )

    def weights(self) -> Weights | None:
        """The team's own weights of `budget_policy=learned`, None where those that ship are used. Raises InvalidInput."""
        from ctxasm.app.parts import open_weights

        return open_weights(self.config)

    def evidence(self, assembly: Assembly, dataset: str | None = None) -> tuple[EvidenceState, ...]:
        """What the context holds of the evidence that the query needs, and the stage that lost the rest."""
        from ctxasm.tuning.evidence import evidence_documents, evidence_states

        source = self.dataset(dataset)
        stored: dict[str, Sequence[FetchedChunk]] = {name: source.document_chunks(name) for name in evidence_documents(assembly.query)}
        return evidence_states(assembly, stored)

    # Asking

    def open_model(self, name: str | None = None) -> AnswerModel:
        """A model by name (default: the configured one, else the key-free one). Raises InvalidInput for one that cannot be had."""
        from ctxasm.app.parts import open_model

        return open_model(name, self.config)

    def ask(
        self,
        assembly: Assembly,
        model: AnswerModel | None = None,
        choice: PromptChoice | None = None,
        *,
        temperature: float = 0.0,
        max_tokens: int = 512,
        cancel: Cancel | None = None,
    ) -> AnswerStream:
        """Answer the query of `assembly`: pieces and markers as they come, then one AnswerResult, which keeps a failure.

        `choice` says how to ask (default: grounded).
        """
        from ctxasm.answering.asking import ask
        from ctxasm.answering.prompts import GROUNDED

        model, choice = model or self.open_model(), choice or GROUNDED
        return ask(assembly, model, choice, temperature=temperature, max_tokens=max_tokens, cancel=cancel)

    # Checking

    def scorer_names(self) -> tuple[str, ...]:
        """The scorers that `open_scorer` takes, the one that needs no model first."""
        from ctxasm.app.parts import SCORERS

        return SCORERS

    def open_scorer(self, name: str = "lexical", endpoint: Endpoint | None = None) -> Scorer:
        """A scorer by name; `endpoint` is the judging model of the scorer llm (default: the configured one).

        Raises InvalidInput for an unknown name, or one that needs what is not installed or configured.
        """
        from ctxasm.app.parts import open_scorer

        return open_scorer(name, self.config, endpoint)

    def check(
        self, assembly: Assembly, answer: str, scorer: Scorer | str = "lexical", *, cancel: Cancel | None = None, cut: bool = False
    ) -> CheckedAnswer:
        """Every claim of an answer with its verdict against the context; `cut`: the answer broke off.

        Raises as `open_scorer`, and ModelUnavailable.
        """
        from ctxasm.app.parts import open_likeness
        from ctxasm.citations.checking import check

        return check(assembly, answer, self.open_scorer(scorer) if isinstance(scorer, str) else scorer, cancel, cut, open_likeness())
