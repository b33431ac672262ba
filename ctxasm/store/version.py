"""One load of a dataset, as a handle knows it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Row, select

from ctxasm.model.datasets import DatasetInfo
from ctxasm.model.neighbours import NoNeighbours
from ctxasm.model.records import CorpusLanguage, Document
from ctxasm.store.load import dataset_places
from ctxasm.store.tables import datasets

NEWEST_FIRST = select(datasets).order_by(datasets.c.dataset_id.desc())


class Numbered(NamedTuple):
    """A document with its number in the database."""

    document_no: int
    document: Document


class Version(NamedTuple):
    """One load of the dataset, with the documents of it that were read before, and, once they are known, its language and why its chunks
    have no neighbours."""

    info: DatasetInfo
    first_document_no: int
    remembered: dict[str, Numbered]
    languages: list[CorpusLanguage]
    obstacles: list[NoNeighbours | None]

    @property
    def places(self) -> tuple[int, int]:
        return dataset_places(self.first_document_no, self.info.documents)


def version_of(row: Row[tuple[object, ...]]) -> Version:
    """The version of a row of `NEWEST_FIRST`, with nothing read yet."""
    stored = row._asdict()
    first_document_no = stored.pop("first_document_no")
    for field in ("created_at", "loaded_at"):
        stored[field] = datetime.fromisoformat(stored[field])
    return Version(DatasetInfo(**stored), first_document_no, {}, [], [])
