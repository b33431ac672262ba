"""ctxasm: context assembly for retrieval-augmented generation, the step between retrieval and the language model.

    from ctxasm import AssemblySettings, assemble, load_bundle, open_store

    store = open_store("sqlite:///ctxasm.db")
    store.add(load_bundle("my_bundle"))
    query = store.dataset().queries()[0]
    assembly = assemble(query, store, AssemblySettings(expand_window=1))

Names are loaded when they are first used: importing ctxasm loads no database, validation, UI or model library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {
    "load_bundle": "ctxasm.bundle",
    "write_bundle": "ctxasm.bundle",
    "AssemblySettings": "ctxasm.model.settings",
    "CheckedAnswer": "ctxasm.citations.checked",
    "Assembly": "ctxasm.model.results",
    "Answer": "ctxasm.model.records",
    "Bundle": "ctxasm.model.records",
    "Chunk": "ctxasm.model.records",
    "Document": "ctxasm.model.records",
    "GoldChunk": "ctxasm.model.records",
    "Hit": "ctxasm.model.records",
    "Query": "ctxasm.model.records",
    "Span": "ctxasm.model.records",
    "Turn": "ctxasm.model.records",
    "CtxasmError": "ctxasm.model.errors",
    "InvalidBundle": "ctxasm.model.errors",
    "InvalidInput": "ctxasm.model.errors",
    "InvalidSetting": "ctxasm.model.errors",
    "ModelUnavailable": "ctxasm.model.errors",
    "NotFound": "ctxasm.model.errors",
    "StoreUnavailable": "ctxasm.model.errors",
    "TokenizerUnavailable": "ctxasm.model.errors",
    "UnknownSetting": "ctxasm.model.errors",
    "MemoryStore": "ctxasm.store.memory",
}

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ctxasm.bundle import load_bundle as load_bundle
    from ctxasm.bundle import write_bundle as write_bundle
    from ctxasm.citations.checked import CheckedAnswer as CheckedAnswer
    from ctxasm.model.errors import CtxasmError as CtxasmError
    from ctxasm.model.errors import InvalidBundle as InvalidBundle
    from ctxasm.model.errors import InvalidInput as InvalidInput
    from ctxasm.model.errors import InvalidSetting as InvalidSetting
    from ctxasm.model.errors import ModelUnavailable as ModelUnavailable
    from ctxasm.model.errors import NotFound as NotFound
    from ctxasm.model.errors import StoreUnavailable as StoreUnavailable
    from ctxasm.model.errors import TokenizerUnavailable as TokenizerUnavailable
    from ctxasm.model.errors import UnknownSetting as UnknownSetting
    from ctxasm.model.ports import ChunkSource, TokenCounter
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
    from ctxasm.model.settings import AssemblySettings as AssemblySettings
    from ctxasm.model.support import Scorer
    from ctxasm.store.database import Store
    from ctxasm.store.memory import MemoryStore as MemoryStore

__all__ = [
    "Answer",
    "Assembly",
    "AssemblySettings",
    "Bundle",
    "CheckedAnswer",
    "Chunk",
    "CtxasmError",
    "Document",
    "GoldChunk",
    "Hit",
    "InvalidBundle",
    "InvalidInput",
    "InvalidSetting",
    "MemoryStore",
    "ModelUnavailable",
    "NotFound",
    "Query",
    "Span",
    "StoreUnavailable",
    "TokenizerUnavailable",
    "Turn",
    "UnknownSetting",
    "assemble",
    "check",
    "load_bundle",
    "open_store",
    "write_bundle",
]


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
    from ctxasm.config import read_config
    from ctxasm.equipping import equipment
    from ctxasm.model.settings import AssemblySettings
    from ctxasm.pipeline import assemble as run
    from ctxasm.plain import joined
    from ctxasm.tokens import open_counter
    from ctxasm.zones import ZoneDesk

    settings, config = settings or AssemblySettings(), read_config()
    asked, chunk_source = joined(query, source, hits, chunks, documents)
    counter = counter or open_counter(settings.encoding)
    tools = equipment(settings, config, source)
    if limit is not None:
        return run(asked, chunk_source, settings, counter, limit=limit, **tools)
    plan = ZoneDesk(config.model_windows).plan(asked, settings, counter)
    return plan.on(run(asked, chunk_source, settings, counter, limit=plan.limit, **tools))


def check(assembly: Assembly, answer: str, scorer: Scorer | None = None) -> CheckedAnswer:
    """Check every claim and every citation of an answer against the context that it was given.

    `scorer` defaults to the one that needs no model. `to_dict()` of the result is the JSON documented in the README.
    """
    from ctxasm.checking import check as run
    from ctxasm.citations.lexical import LexicalScorer

    return run(assembly, answer, scorer or LexicalScorer())


def open_store(url: str | None = None) -> Store:
    """The store at a database URL (`sqlite:///file.db`, `postgresql://…`; default: the one the environment names).

    Counts tokens with cl100k_base. Raises StoreUnavailable where the database cannot be reached.
    """
    from ctxasm.config import make_database_folder, read_config
    from ctxasm.store.database import Store
    from ctxasm.tokens import open_counter

    url = read_config().database_url if url is None else url
    make_database_folder(url)
    return Store(url, open_counter("cl100k_base"))


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
