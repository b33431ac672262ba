"""ctxasm: context assembly for retrieval-augmented generation, the step between retrieval and the language model.

    from ctxasm import AssemblySettings, ask, assemble, check, load, open_store, search

    store = open_store("sqlite:///ctxasm.db")
    load("my_bundle", store)
    query = search("When does the desk open?", store)
    assembly = assemble(query, store, AssemblySettings(expand_window=1))
    answer = ask(assembly).result()
    checked = check(assembly, answer.text)

Names are loaded when they are first used: importing ctxasm loads no database, validation, UI or model library.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOME = {
    "approve_gold": "ctxasm.app.doors",
    "ask": "ctxasm.app.doors",
    "assemble": "ctxasm.app.doors",
    "check": "ctxasm.app.doors",
    "compare": "ctxasm.app.doors",
    "compare_answers": "ctxasm.app.doors",
    "connect": "ctxasm.app.doors",
    "enrich": "ctxasm.app.doors",
    "export": "ctxasm.app.doors",
    "export_reviews": "ctxasm.app.doors",
    "history": "ctxasm.app.doors",
    "import_reviews": "ctxasm.app.doors",
    "ingest": "ctxasm.app.doors",
    "judge": "ctxasm.app.doors",
    "keep_run": "ctxasm.app.doors",
    "label": "ctxasm.app.doors",
    "load": "ctxasm.app.doors",
    "open_dataset": "ctxasm.app.doors",
    "open_store": "ctxasm.app.doors",
    "recommend": "ctxasm.app.doors",
    "report": "ctxasm.app.doors",
    "review_agreement": "ctxasm.app.doors",
    "review_item": "ctxasm.app.doors",
    "review_queue": "ctxasm.app.doors",
    "search": "ctxasm.app.doors",
    "sweep": "ctxasm.app.doors",
    "why": "ctxasm.app.doors",
    "load_bundle": "ctxasm.data.files",
    "write_bundle": "ctxasm.data.files",
    "Answer": "ctxasm.model.records",
    "AnswerComparison": "ctxasm.tuning.compare_answers",
    "AnswerResult": "ctxasm.answering",
    "AnswerStream": "ctxasm.answering",
    "Assembly": "ctxasm.model.results",
    "AssemblySettings": "ctxasm.model.settings",
    "Bundle": "ctxasm.model.records",
    "CheckedAnswer": "ctxasm.citations",
    "Chunk": "ctxasm.model.records",
    "Comparison": "ctxasm.tuning.compare",
    "CtxasmError": "ctxasm.model.errors",
    "Dataset": "ctxasm.model.datasets",
    "Document": "ctxasm.model.records",
    "EnrichOptions": "ctxasm.data.enrich",
    "EnrichReport": "ctxasm.data.enrich",
    "ExportReport": "ctxasm.data.files",
    "GoldChunk": "ctxasm.model.records",
    "Hit": "ctxasm.model.records",
    "IngestOptions": "ctxasm.data.documents",
    "IngestReport": "ctxasm.data.documents",
    "InvalidBundle": "ctxasm.model.errors",
    "InvalidInput": "ctxasm.model.errors",
    "InvalidSetting": "ctxasm.model.errors",
    "Judgement": "ctxasm.model.runs",
    "LoadReport": "ctxasm.data.files",
    "Marked": "ctxasm.answering",
    "MemoryStore": "ctxasm.store",
    "ModelUnavailable": "ctxasm.model.errors",
    "NameTaken": "ctxasm.data.load_conflicts",
    "NotFound": "ctxasm.model.errors",
    "Passage": "ctxasm.model.runs",
    "Piece": "ctxasm.answering",
    "PromptChoice": "ctxasm.answering.prompts",
    "Query": "ctxasm.model.records",
    "Recommendation": "ctxasm.tuning.recommend",
    "Run": "ctxasm.model.runs",
    "RunFilter": "ctxasm.model.runs",
    "SearchOptions": "ctxasm.model.search",
    "Span": "ctxasm.model.records",
    "StoreUnavailable": "ctxasm.model.errors",
    "SweepResult": "ctxasm.tuning.sweep_results",
    "TokenizerUnavailable": "ctxasm.model.errors",
    "Turn": "ctxasm.model.records",
    "UnknownSetting": "ctxasm.model.errors",
    "Why": "ctxasm.tuning.why_results",
    "preset": "ctxasm.model.presets",
}

if TYPE_CHECKING:
    from ctxasm.answering import AnswerResult as AnswerResult
    from ctxasm.answering import AnswerStream as AnswerStream
    from ctxasm.answering import Marked as Marked
    from ctxasm.answering import Piece as Piece
    from ctxasm.answering.prompts import PromptChoice as PromptChoice
    from ctxasm.app.doors import approve_gold as approve_gold
    from ctxasm.app.doors import ask as ask
    from ctxasm.app.doors import assemble as assemble
    from ctxasm.app.doors import check as check
    from ctxasm.app.doors import compare as compare
    from ctxasm.app.doors import compare_answers as compare_answers
    from ctxasm.app.doors import connect as connect
    from ctxasm.app.doors import enrich as enrich
    from ctxasm.app.doors import export as export
    from ctxasm.app.doors import export_reviews as export_reviews
    from ctxasm.app.doors import history as history
    from ctxasm.app.doors import import_reviews as import_reviews
    from ctxasm.app.doors import ingest as ingest
    from ctxasm.app.doors import judge as judge
    from ctxasm.app.doors import keep_run as keep_run
    from ctxasm.app.doors import label as label
    from ctxasm.app.doors import load as load
    from ctxasm.app.doors import open_dataset as open_dataset
    from ctxasm.app.doors import open_store as open_store
    from ctxasm.app.doors import recommend as recommend
    from ctxasm.app.doors import report as report
    from ctxasm.app.doors import review_agreement as review_agreement
    from ctxasm.app.doors import review_item as review_item
    from ctxasm.app.doors import review_queue as review_queue
    from ctxasm.app.doors import search as search
    from ctxasm.app.doors import sweep as sweep
    from ctxasm.app.doors import why as why
    from ctxasm.citations import CheckedAnswer as CheckedAnswer
    from ctxasm.data.documents import IngestOptions as IngestOptions
    from ctxasm.data.documents import IngestReport as IngestReport
    from ctxasm.data.enrich import EnrichOptions as EnrichOptions
    from ctxasm.data.enrich import EnrichReport as EnrichReport
    from ctxasm.data.files import ExportReport as ExportReport
    from ctxasm.data.files import LoadReport as LoadReport
    from ctxasm.data.files import load_bundle as load_bundle
    from ctxasm.data.files import write_bundle as write_bundle
    from ctxasm.data.load_conflicts import NameTaken as NameTaken
    from ctxasm.model.datasets import Dataset as Dataset
    from ctxasm.model.errors import CtxasmError as CtxasmError
    from ctxasm.model.errors import InvalidBundle as InvalidBundle
    from ctxasm.model.errors import InvalidInput as InvalidInput
    from ctxasm.model.errors import InvalidSetting as InvalidSetting
    from ctxasm.model.errors import ModelUnavailable as ModelUnavailable
    from ctxasm.model.errors import NotFound as NotFound
    from ctxasm.model.errors import StoreUnavailable as StoreUnavailable
    from ctxasm.model.errors import TokenizerUnavailable as TokenizerUnavailable
    from ctxasm.model.errors import UnknownSetting as UnknownSetting
    from ctxasm.model.presets import preset as preset
    from ctxasm.model.records import Answer as Answer
    from ctxasm.model.records import Bundle as Bundle
    from ctxasm.model.records import Chunk as Chunk
    from ctxasm.model.records import Document as Document
    from ctxasm.model.records import GoldChunk as GoldChunk
    from ctxasm.model.records import Hit as Hit
    from ctxasm.model.records import Query as Query
    from ctxasm.model.records import Span as Span
    from ctxasm.model.records import Turn as Turn
    from ctxasm.model.results import Assembly as Assembly
    from ctxasm.model.runs import Judgement as Judgement
    from ctxasm.model.runs import Passage as Passage
    from ctxasm.model.runs import Run as Run
    from ctxasm.model.runs import RunFilter as RunFilter
    from ctxasm.model.search import SearchOptions as SearchOptions
    from ctxasm.model.settings import AssemblySettings as AssemblySettings
    from ctxasm.store import MemoryStore as MemoryStore
    from ctxasm.tuning.compare import Comparison as Comparison
    from ctxasm.tuning.compare_answers import AnswerComparison as AnswerComparison
    from ctxasm.tuning.recommend import Recommendation as Recommendation
    from ctxasm.tuning.sweep_results import SweepResult as SweepResult
    from ctxasm.tuning.why_results import Why as Why

__all__ = [
    "Answer",
    "AnswerComparison",
    "AnswerResult",
    "AnswerStream",
    "Assembly",
    "AssemblySettings",
    "Bundle",
    "CheckedAnswer",
    "Chunk",
    "Comparison",
    "CtxasmError",
    "Dataset",
    "Document",
    "EnrichOptions",
    "EnrichReport",
    "ExportReport",
    "GoldChunk",
    "Hit",
    "IngestOptions",
    "IngestReport",
    "InvalidBundle",
    "InvalidInput",
    "InvalidSetting",
    "Judgement",
    "LoadReport",
    "Marked",
    "MemoryStore",
    "ModelUnavailable",
    "NameTaken",
    "NotFound",
    "Passage",
    "Piece",
    "PromptChoice",
    "Query",
    "Recommendation",
    "Run",
    "RunFilter",
    "SearchOptions",
    "Span",
    "StoreUnavailable",
    "SweepResult",
    "TokenizerUnavailable",
    "Turn",
    "UnknownSetting",
    "Why",
    "approve_gold",
    "ask",
    "assemble",
    "check",
    "compare",
    "compare_answers",
    "connect",
    "enrich",
    "export",
    "export_reviews",
    "history",
    "import_reviews",
    "ingest",
    "judge",
    "keep_run",
    "label",
    "load",
    "load_bundle",
    "open_dataset",
    "open_store",
    "preset",
    "recommend",
    "report",
    "review_agreement",
    "review_item",
    "review_queue",
    "search",
    "sweep",
    "why",
    "write_bundle",
]


class _Search(ModuleType):
    """The package ctxasm.search, which is the function `search` too: both have the one name `ctxasm.search`."""

    def __call__(self, *args: Any, **options: Any) -> Query:
        found: Query = self.__wrapped__(*args, **options)
        return found

    @property
    def __wrapped__(self) -> Any:
        """The function, where `inspect` looks for its signature."""
        return import_module(_HOME["search"]).search


class _Package(ModuleType):
    def __setattr__(self, name: str, value: object) -> None:
        if name == "search" and isinstance(value, ModuleType):  # Python binds a package in its parent whenever it is first loaded
            value.__class__ = _Search
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "search":
        return import_module("ctxasm.search")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
