"""One load of a dataset, as a handle knows it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Row, select

from ctxasm.model.datasets import DatasetInfo
from ctxasm.model.errors import shown
from ctxasm.model.neighbours import NoNeighbours
from ctxasm.model.records import CorpusLanguage, Document
from ctxasm.store.decoding import RowTypes, decoding
from ctxasm.store.load import dataset_places
from ctxasm.store.tables import INDEX_BITS, datasets

MOST_DOCUMENTS = 1 << (63 - INDEX_BITS)
"""In all datasets that a database ever held: the places of their chunks are numbers of 64 bits."""
_TYPES = RowTypes(*datasets.columns)
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
    """The version of a row of `NEWEST_FIRST`, with nothing read yet. Raises DamagedData."""
    _TYPES.check([row])
    stored = row._asdict()
    first_document_no, counts = stored.pop("first_document_no"), [stored[name] for name in ("documents", "chunks", "queries", "answers")]
    with decoding(f"dataset {shown(stored['name'])}"):
        for field in ("created_at", "loaded_at"):
            stored[field] = datetime.fromisoformat(stored[field])
        if min(first_document_no, *counts) < 0 or first_document_no + stored["documents"] > MOST_DOCUMENTS:
            raise ValueError(f"no dataset holds {counts} records from {first_document_no} on")
        return Version(DatasetInfo(**stored), first_document_no, {}, [], [])
