"""Under which keys enrichment is kept, and how it is written: what was asked for once is never asked for again.

A key is a digest of what the words depend on: the chunk and what its document is called, the version of the wording and who writes.
Rules also say where in the document a chunk stands, so theirs hold for one dataset; a model's words go with the content wherever it
is loaded. On the same shelf lies one entry a dataset: who has written for it, how much, and what it took.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ctxasm.data.enrich.texts import MAX_CHARS, Enrichment, Variant
from ctxasm.data.enrich.whole import name_of
from ctxasm.model.kept import key_of
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document

VERSIONS: Mapping[Variant, str] = {"extractive": "1", "model": "1"}
"""Part of every key: raise it with every change of the rules or the wording of a prompt."""
MOST_WRITERS = 3


class Writer(NamedTuple):
    """Who writes for which dataset: `model` is the name of a model, empty for the rules."""

    dataset: str
    variant: Variant
    model: str = ""

    @property
    def shelf(self) -> str:
        return f"enrichment {self.variant}"

    @property
    def label(self) -> str:
        """As the metadata of a document names who wrote its summary."""
        return f"model {self.model}" if self.variant == "model" else self.variant

    def context_key(self, document: Document, chunk: FetchedChunk) -> str:
        """The key of a chunk's situating context."""
        return f"context {self._chunk_digest(document, chunk)}"

    def questions_key(self, document: Document, chunk: FetchedChunk) -> str:
        """The key of a chunk's canonical questions."""
        return f"questions {self._chunk_digest(document, chunk)}"

    def summary_key(self, document: Document, chunks: Sequence[FetchedChunk]) -> str:
        """The key of a document's summary, from all of its chunks. Kept by the rules, it says that its chunks are done as well."""
        texts = [part for chunk in chunks for part in (str(chunk.chunk_index), chunk.section or "", chunk.text)]
        return f"summary {key_of(*self._whose(), document.document_id, name_of(document), document.summary or '', *texts)}"

    def _chunk_digest(self, document: Document, chunk: FetchedChunk) -> str:
        place = str(chunk.chunk_index) if self.variant == "extractive" else ""
        return key_of(*self._whose(), document.document_id, name_of(document), chunk.section or "", place, chunk.text)

    def _whose(self) -> tuple[str, ...]:
        return VERSIONS[self.variant], self.model if self.variant == "model" else self.dataset


@dataclass(frozen=True, slots=True)
class Ledger:
    """What one variant has done for a dataset. `models` are the names of the models that wrote, the latest first.

    `content` is the content hash for which the counts hold, empty where a run did not come to its end. Tokens are those of all
    runs; `counted` is False where a server told no usage and they were counted here. `at` is when the last run began, in seconds
    since 1970; it decided how long an indexed text may be, and whether contexts and questions (`asks`) are part of it.
    """

    models: tuple[str, ...] = ()
    documents: int = 0
    chunks: int = 0
    questions: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    batches: int = 0
    content: str = ""
    at: float = 0.0
    max_chars: int = MAX_CHARS
    contexts: bool = True
    asks: bool = True


def is_label(value: object) -> bool:
    """Whether a document's metadata name one of us as who wrote its summary, and so not its owner."""
    return isinstance(value, str) and (value == "extractive" or value.startswith("model "))


def ledger_key(dataset: str) -> str:
    """The key of a dataset's ledger."""
    return f"dataset {dataset if len(dataset) <= 200 else key_of(dataset)}"


def write_ledger(ledger: Ledger) -> str:
    """As JSON."""
    return json.dumps(asdict(ledger), sort_keys=True)


def read_ledger(text: str | None) -> Ledger:
    """What was written; an empty one where there is nothing or nothing that can be read."""
    usable: dict[str, Any] = {name: value for name, value in _object(text).items() if isinstance(value, _KINDS.get(name, ()))}
    models = tuple(name for name in usable.pop("models", ()) if isinstance(name, str))
    return Ledger(models=models[:MOST_WRITERS], **usable)


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("documents", "chunks", "questions", "calls", "tokens_in", "tokens_out", "batches", "max_chars"), int),
    "models": list,
    **dict.fromkeys(("counted", "contexts", "asks"), bool),
    "content": str,
    "at": (int, float),
}


def write_context(context: str) -> str:
    """As JSON, as all that lies on a shelf."""
    return json.dumps({"context": context}, ensure_ascii=False)


def write_questions(questions: tuple[str, ...]) -> str:
    """As JSON."""
    return json.dumps({"questions": questions}, ensure_ascii=False)


def write_summary(summary: str, questions: int = 0) -> str:
    """As JSON; `questions` of the document's chunks that were written with it."""
    return json.dumps({"summary": summary, "questions": questions}, ensure_ascii=False)


def read_enrichment(context: str | None, questions: str | None) -> Enrichment | None:
    """What was kept of a chunk; None where nothing was."""
    if context is None and questions is None:
        return None
    told, asked = _object(context).get("context"), _object(questions).get("questions")
    texts = tuple(text for text in asked if isinstance(text, str)) if isinstance(asked, list) else ()
    return Enrichment(told if isinstance(told, str) else "", texts)


def read_summary(kept: str | None) -> str:
    """The kept summary, or nothing."""
    told = _object(kept).get("summary")
    return told if isinstance(told, str) else ""


def questions_in(kept: str | None) -> int:
    """How many questions were written with a summary."""
    told = _object(kept).get("questions")
    return told if isinstance(told, int) else 0


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
