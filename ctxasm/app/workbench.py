"""The use cases, and the one place that plugs real parts together: store, bundle, tokens, pipeline, evaluation, model.

Every page and every command goes through a Workbench, which threads may share: it holds a store, and nothing of a user.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from ctxasm.config import Config, make_database_folder, shipped
from ctxasm.linking import Links
from ctxasm.loading import LoadReport, fingerprint, load_bundle, readable, replacing
from ctxasm.model.records import Answer, Document, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.zones.desk import ZoneDesk

if TYPE_CHECKING:
    from ctxasm.asking import AnswerEvent
    from ctxasm.bundle import Reading
    from ctxasm.citations.checked import CheckedAnswer
    from ctxasm.evaluation.evidence import EvidenceState
    from ctxasm.llm import Endpoint
    from ctxasm.model.messages import AnswerModel, Cancel
    from ctxasm.model.ports import FetchedChunk, TokenCounter
    from ctxasm.model.results import Assembly
    from ctxasm.model.support import Scorer
    from ctxasm.prompts import PromptChoice
    from ctxasm.store.database import Dataset, Store
    from ctxasm.store.listing import DatasetInfo, QueryEntry
    from ctxasm.store.memory import MemoryDataset, MemoryStore
    from ctxasm.store.own.linked import LinkedDataset

SAMPLE = "sample"
"""The name of the dataset that ships with ctxasm."""
ENCODING = "cl100k_base"
"""The encoding whose counts are stored at load."""


class Workbench:
    """ctxasm over one store. `store` replaces the one that the config names (tests, notebooks)."""

    def __init__(self, config: Config, store: Store | MemoryStore | None = None) -> None:
        self.config = config
        self.zones = ZoneDesk(config.model_windows)
        self._store = store
        self._lock = Lock()
        self._handles: dict[str, Dataset] = {}
        self.links = Links(self)

    @property
    def store(self) -> Store | MemoryStore:
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
        from ctxasm.tokens import open_counter

        return open_counter(encoding)

    # Datasets

    def datasets(self) -> list[DatasetInfo]:
        """All datasets, stored and linked, the newest first."""
        stored = self.store.datasets()
        for gone in set(self._handles) - {info.name for info in stored}:  # deleted by another process: a link may have the name now
            self._handles.pop(gone, None)
        return self.links.with_linked(stored)

    def load(self, path: str | os.PathLike[str], name: str | None = None) -> LoadReport:
        """Load a folder or .zip as a dataset, replacing one of that name. Raises InvalidInput, InvalidBundle, StoreUnavailable."""
        return load_bundle(self, path, name)

    def load_upload(self, data: bytes, file_name: str, name: str | None = None) -> LoadReport:
        """Load an uploaded .zip (or one file of a bundle) as a dataset. Raises as `load`."""
        from ctxasm.bundle import read_bundle_bytes

        return self._add(read_bundle_bytes(data, file_name, name), file_name)

    def load_sample(self) -> LoadReport:
        """Load the data that ships as the dataset "sample", unless exactly that is loaded already."""
        folder = shipped("sample_data/hospital")
        origin = f"shipped sample {fingerprint(folder)}"
        counter = self.counter(ENCODING)
        for info in self.datasets():
            if info.name == SAMPLE and info.origin == origin and info.encoding == (counter.encoding if counter.exact else None):
                return LoadReport(info, False, ())
        from ctxasm.bundle import read_bundle

        return self._add(read_bundle(folder, SAMPLE), origin)._replace(notes=())

    def _add(self, reading: Reading, origin: str) -> LoadReport:
        replaced = replacing(self, reading.bundle.name)
        return LoadReport(self.store.add(reading.bundle, origin=readable(origin)), True, (*replaced, *reading.notes))

    def delete(self, name: str) -> None:
        """Remove a stored dataset, or a link (never the user's table). Raises NotFound naming those that exist."""
        if not self.links.remove(name):
            self.store.delete(name)
            self._handles.pop(name, None)
            self.links.forget_enrichment(name)

    def dataset(self, name: str | None = None) -> Dataset | MemoryDataset | LinkedDataset:
        """A dataset, stored or linked (default: the newest): a handle that follows its name. Raises NotFound naming those that exist."""
        from ctxasm.store.memory import MemoryDataset

        known = self._handles.get(name or "") or self.links.dataset(name)
        if known is not None:
            return known
        found = self.store.dataset(name)
        return found if isinstance(found, MemoryDataset) else self._handles.setdefault(found.info.name, found)

    def query_list(self, dataset: str | None = None) -> list[QueryEntry]:
        """Id, text and number of hits of each query, in loaded order: for a picker."""
        return self.dataset(dataset).query_list()

    def queries(self, dataset: str | None = None) -> list[Query]:
        """All queries with what was retrieved for them, in loaded order."""
        return self.dataset(dataset).queries()

    def query(self, dataset: str | None, query_id: str) -> Query:
        """One query. Raises NotFound naming those that exist."""
        return self.dataset(dataset).query(query_id)

    def documents(self, dataset: str | None = None) -> list[Document]:
        """All documents, in loaded order."""
        return self.dataset(dataset).documents()

    def document_chunks(self, document_id: str, dataset: str | None = None) -> list[FetchedChunk]:
        """All chunks of a document by index; empty for an unknown one."""
        return self.dataset(dataset).document_chunks(document_id)

    def answers(self, dataset: str | None = None) -> list[Answer]:
        """All recorded answers, in loaded order."""
        return self.dataset(dataset).answers()

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
    ) -> Assembly:
        """The context of a query that will be asked as `choice` says; `model` summarises older turns where that is set.

        Raises InvalidInput for a query that cannot be assembled or zones that leave nothing, StoreUnavailable.
        """
        from ctxasm.equipping import equipment
        from ctxasm.pipeline import assemble

        counter, tools = self.counter(settings.encoding), equipment(settings, self.config, self.store)
        plan = self.zones.plan(query, settings, counter, choice, model=model)
        return plan.on(assemble(query, self.dataset(dataset), settings, counter=counter, limit=plan.limit, **tools))

    def evidence(self, assembly: Assembly, dataset: str | None = None) -> tuple[EvidenceState, ...]:
        """What the context holds of the evidence that the query needs, and the stage that lost the rest."""
        from ctxasm.evaluation.evidence import evidence_documents, evidence_states

        source = self.dataset(dataset)
        stored: dict[str, Sequence[FetchedChunk]] = {name: source.document_chunks(name) for name in evidence_documents(assembly)}
        return evidence_states(assembly, stored)

    # Asking

    def model_names(self) -> tuple[str, ...]:
        """The models that `open_model` takes."""
        from ctxasm.llm import MODEL_NAMES

        return MODEL_NAMES

    def open_model(self, name: str | None = None) -> AnswerModel:
        """A model by name (default: the configured one, else the key-free one). Raises InvalidInput for one that cannot be had."""
        from ctxasm.checking import configured_endpoint
        from ctxasm.llm import open_model

        endpoint = configured_endpoint(self.config) if self.config.has_endpoint and name in (None, "", "openai") else None
        return open_model(name or ("openai" if endpoint else "extractive"), endpoint)

    def ask(
        self,
        assembly: Assembly,
        model: AnswerModel | None = None,
        choice: PromptChoice | None = None,
        *,
        temperature: float = 0.0,
        max_tokens: int = 512,
        cancel: Cancel | None = None,
    ) -> Iterator[AnswerEvent]:
        """Answer the query of `assembly`: pieces and markers as they come, then one AnswerResult, which keeps a failure.

        `choice` says how to ask (default: grounded).
        """
        from ctxasm.asking import ask
        from ctxasm.prompts import GROUNDED

        model, choice = model or self.open_model(), choice or GROUNDED
        return ask(assembly, model, choice, temperature=temperature, max_tokens=max_tokens, cancel=cancel)

    # Checking

    def scorer_names(self) -> tuple[str, ...]:
        """The scorers that `open_scorer` takes, the one that needs no model first."""
        from ctxasm.checking import SCORERS

        return SCORERS

    def open_scorer(self, name: str = "lexical", endpoint: Endpoint | None = None) -> Scorer:
        """A scorer by name; `endpoint` is the judging model of the scorer llm (default: the configured one).

        Raises InvalidInput for an unknown name, or one that needs what is not installed or configured.
        """
        from ctxasm.checking import open_scorer

        return open_scorer(name, self.config, endpoint)

    def check(
        self, assembly: Assembly, answer: str, scorer: Scorer | str = "lexical", *, cancel: Cancel | None = None, cut: bool = False
    ) -> CheckedAnswer:
        """Every claim of an answer with its verdict against the context; `cut`: the answer broke off.

        Raises as `open_scorer`, and ModelUnavailable.
        """
        from ctxasm.checking import check

        return check(assembly, answer, self.open_scorer(scorer) if isinstance(scorer, str) else scorer, cancel, cut)
