"""What is known of documents from before: those of the dataset that is loaded, those that are kept, those that failed."""

from __future__ import annotations

import dataclasses
import json
from typing import Protocol

from ctxasm.data.documents.cutting import ADDED, MARK, Cut, not_added, read_written, written
from ctxasm.data.documents.options import ReadLimits
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import FetchedChunk, Shelf
from ctxasm.model.records import Chunk, Document

FAILED = "ingest problems"
"""The shelf of the sentences for documents that could not be read, by what they are made of and the limits they were read within."""


class Loaded(Protocol):
    """What this needs of a dataset."""

    def documents(self) -> list[Document]: ...
    def document_chunks(self, document_id: str) -> list[FetchedChunk]: ...


class Known:
    """Documents by the marks of what they are made of (see `mark_of`). `order` are those of the dataset with their marks,
    "" for one that no ingest made, or that was added to it; `dataset` is None where there is none yet.
    """

    def __init__(self, name: str, dataset: Loaded | None, shelf: Shelf, limits: ReadLimits) -> None:
        self._dataset, self._shelf, self._shelf_name = dataset, shelf, f"ingest {name}"
        self._limits = json.dumps(dataclasses.astuple(limits))
        self._loaded: dict[str, Document] = {}
        self.order: list[tuple[str, str]] = []
        for document in dataset.documents() if dataset is not None else ():
            mark = document.metadata.get(MARK)
            follows = isinstance(mark, str) and not document.metadata.get(ADDED)
            self.order.append((document.document_id, str(mark) if follows else ""))
            if isinstance(mark, str):
                self._loaded.setdefault(mark, not_added(document))

    def has(self, mark: str) -> bool:
        """Whether this need not be read again."""
        return mark in self._loaded or bool(self._shelf.read_kept(self._shelf_name, [mark]))

    def cut(self, mark: str) -> Cut:
        """The document that is made of what `mark` says, with its chunks.

        Raises InvalidInput where it went meanwhile: another process has loaded or deleted the dataset.
        """
        document = self._loaded.get(mark)
        if document is None or self._dataset is None:
            found = self._shelf.read_kept(self._shelf_name, [mark])
            made = read_written(found[mark]) if mark in found else None
        else:
            stored = self._dataset.document_chunks(document.document_id)
            made = Cut(document, tuple(Chunk(*chunk[:8]) for chunk in stored))
        if made is None or not made.is_whole:
            raise InvalidInput("another process has loaded or deleted this dataset while its documents were read: ingest them again")
        return made

    def keep(self, mark: str, made: Cut) -> None:
        """Keep a document until the dataset is loaded."""
        self._shelf.keep(self._shelf_name, {mark: written(made)})

    def forget(self) -> None:
        """Everything is loaded: nothing needs to be kept."""
        self._shelf.forget(self._shelf_name)

    def failure(self, mark: str) -> str | None:
        """Why this could not be read the last time."""
        return self._shelf.read_kept(FAILED, [key := self._failure_key(mark)]).get(key)

    def keep_failure(self, mark: str, reason: str) -> None:
        """Not to spend a minute on the same broken file every time."""
        self._shelf.keep(FAILED, {self._failure_key(mark): reason})

    def _failure_key(self, mark: str) -> str:
        return f"{mark} {self._limits}"
