"""A dataset written to files: as a bundle that loads back equal, or as one flat table of chunks."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ctxasm.data.datasets import fresh
from ctxasm.model.datasets import Moves
from ctxasm.model.errors import InvalidInput, StoreUnavailable, shown
from ctxasm.model.ports import Window
from ctxasm.model.regular_files import refuse_irregular
from ctxasm.store.moves import follow, old_texts

if TYPE_CHECKING:
    from ctxasm.data.datasets import Datasets
    from ctxasm.model.datasets import ChunkKey, Dataset
    from ctxasm.model.records import Query


FORMATS = ("bundle", "parquet")
_ROWS = 5000
"""Of one row group of a Parquet file; windows of one fetch."""
_TEXTS = ("document_id", "text", "section", "metadata", "title", "source", "summary", "date")
_WHOLES = ("chunk_index", "start", "end", "page_number", "row_number")


class ExportReport(NamedTuple):
    """What was written, and where."""

    name: str
    path: Path
    documents: int
    chunks: int
    queries: int
    answers: int


def export(
    datasets: Datasets, name: str | None, path: str | os.PathLike[str], format: str = "bundle", *, force: bool = False
) -> ExportReport:
    """Write a dataset (None: the newest) to `path`, with its saved queries; whole or not at all.

    `bundle` takes a folder or a .zip, `parquet` a file: one row a chunk with its document's title, source, summary
    and date. What is there already is replaced only with `force`. Raises InvalidInput, NotFound, StoreUnavailable.
    """
    if format not in FORMATS:
        raise InvalidInput(f"format must be one of {', '.join(FORMATS)}, got {shown(format)}")
    # Not the handle that is kept: it may know the version before, and what is replaced meanwhile is told by its number.
    dataset, place = fresh(datasets, datasets.dataset(name).info.name), _place(path, force)
    before = dataset.info.dataset_id
    write = {"bundle": _write_zip if place.suffix.lower() == ".zip" else _write_folder, "parquet": _write_parquet}[format]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".ctxasm-export-", dir=place.parent) as folder:
            made = Path(folder) / "made"
            report = write(dataset, made)._replace(path=place)
            if dataset.info.dataset_id != before:
                raise StoreUnavailable(f"dataset {shown(dataset.info.name)} was replaced while it was read: export it again")
            _put(made, place)
    except OSError as error:
        raise InvalidInput(f"{place} cannot be written: {error.strerror or error}") from None
    return report


def _place(path: str | os.PathLike[str], force: bool) -> Path:
    try:
        if "\0" in os.fspath(path):
            raise ValueError
        place = Path(path).expanduser().absolute()
        refuse_irregular(place, "give another place")
        taken = place.exists() and not (place.is_dir() and not any(place.iterdir()))
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(f"{shown(os.fspath(path), 300)} is not a path that can be written: give a folder or a file") from None
    if taken and not force:
        raise InvalidInput(f"{place} is there already: give another place, or --force to replace it")
    if taken and place.is_dir() and not _is_bundle_folder(place):
        raise InvalidInput(f"{place} holds other files than those of a bundle and is not replaced: give another folder")
    return place


def _is_bundle_folder(place: Path) -> bool:
    from ctxasm.data.files.bundle import KNOWN_FILES

    return all(path.name in KNOWN_FILES and path.is_file() for path in place.iterdir())


def _put(made: Path, place: Path) -> None:
    """In the place of what is there, at once; where that fails, what was there is back."""
    old = made.with_name("old") if place.is_dir() or (place.exists() and made.is_dir()) else None
    if old is not None:
        place.rename(old)
    try:
        os.replace(made, place)
    except OSError:
        if old is not None:
            old.rename(place)
        raise


def _write_folder(dataset: Dataset, made: Path) -> ExportReport:
    made.mkdir()
    return _write_bundle(dataset, lambda file: (made / file).open("wb"))


def _write_zip(dataset: Dataset, made: Path) -> ExportReport:
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        return _write_bundle(dataset, lambda file: archive.open(file, "w", force_zip64=True))


def _write_bundle(dataset: Dataset, create: Callable[[str], IO[bytes]]) -> ExportReport:
    from ctxasm.data.files.bundle import write_records

    documents, queries, answers = dataset.documents(), without_dangling(dataset, dataset.queries()), dataset.answers()
    if not write_records(create, documents, dataset.iter_records(), queries, answers):
        raise InvalidInput(f"dataset {shown(dataset.info.name)} holds no records: there is nothing to export")
    info = dataset.info
    return ExportReport(info.name, Path(), len(documents), info.chunks, len(queries), len(answers))


def without_dangling(dataset: Dataset, queries: Sequence[Query]) -> list[Query]:
    """The questions with labels and hits on chunks that are not there said to be lost, which an earlier version did not: they load back."""
    keys = {key for query in queries for gold in query.gold for key in gold.chunks}
    keys |= {(hit.document_id, hit.chunk_index) for query in queries for hit in query.retrieved}
    if not any(query.spans for query in queries) and keys <= _held(dataset, keys):
        return list(queries)
    return follow(queries, old_texts(queries, dataset.document_chunks), dataset.document_chunks, Moves())


def _held(dataset: Dataset, keys: Iterable[ChunkKey]) -> set[ChunkKey]:
    windows = [Window(name, index, index) for name, index in keys]
    fetched = (dataset.fetch(windows[at : at + _ROWS], "") for at in range(0, len(windows), _ROWS))
    return {(chunk.document_id, chunk.chunk_index) for part in fetched for chunk in part.chunks}


def _write_parquet(dataset: Dataset, made: Path) -> ExportReport:
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    order = ("document_id", "chunk_index", *(field for field in (*_TEXTS, *_WHOLES) if field not in ("document_id", "chunk_index")))
    schema = pa.schema([(field, pa.string() if field in _TEXTS else pa.int64()) for field in order])
    with pq.ParquetWriter(made, schema) as writer:
        rows: list[dict[str, Any]] = []
        for row in _flat_rows(dataset):
            rows.append({**row, "metadata": json.dumps(row["metadata"]) if row["metadata"] else None})
            if len(rows) == _ROWS:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, schema))
    return ExportReport(dataset.info.name, made, dataset.info.documents, dataset.info.chunks, 0, 0)


def _flat_rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    known = {document.document_id: document for document in dataset.documents()}
    for chunk in dataset.iter_records():
        document = known.get(chunk.document_id)
        if document is None:
            raise StoreUnavailable(f"dataset {shown(dataset.info.name)} was replaced while it was read: export it again")
        own = {field: getattr(chunk, field) for field in ("document_id", "chunk_index", "text", *_WHOLES[1:], "section")}
        yield {
            **own,
            "metadata": dict(chunk.metadata),
            **{field: getattr(document, field) for field in ("title", "source", "summary", "date")},
        }
