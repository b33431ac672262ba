"""From a folder, a .zip or an upload to one validated Bundle, or to one error that names every problem."""

from __future__ import annotations

import os
from typing import NamedTuple

from ctxasm.data.archives import ZipLimits
from ctxasm.data.files.bundle import ANSWERS, CHUNKS, DOCUMENTS, KNOWN_FILES, QUERIES, RETRIEVALS
from ctxasm.data.files.checking import Tables, asked_queries, check_references, documents_of, notes_of, read_table
from ctxasm.data.files.json_lines import LineReader
from ctxasm.data.files.problems import MAX_PROBLEMS, Problem, Problems, TooManyProblems
from ctxasm.data.files.source import BundleFiles, open_files, open_upload
from ctxasm.model.datasets import OwnedDataset
from ctxasm.model.errors import InvalidBundle, InvalidInput
from ctxasm.model.records import Bundle


class Reading(NamedTuple):
    """A bundle, and what its owner should know although nothing is wrong (sentences)."""

    bundle: Bundle
    notes: tuple[str, ...]


def load_bundle(
    path: str | os.PathLike[str], name: str | None = None, limits: ZipLimits | None = None, into: OwnedDataset | None = None
) -> Bundle:
    """The bundle in a folder or .zip, named `name` (default: the folder's or archive's name).

    `into` is a stored dataset that it will join: references may name its records, and what is stored there otherwise is a
    problem. Raises InvalidBundle with all problems of its files, or InvalidInput where there is no bundle at all.
    """
    return read_bundle(path, name, limits, into).bundle


def load_bundle_bytes(data: bytes, file_name: str, name: str | None = None, limits: ZipLimits | None = None) -> Bundle:
    """The bundle in an uploaded .zip, or in one uploaded file that has the name of a bundle's file. Raises as load_bundle."""
    return read_bundle_bytes(data, file_name, name, limits).bundle


def read_bundle(
    path: str | os.PathLike[str], name: str | None = None, limits: ZipLimits | None = None, into: OwnedDataset | None = None
) -> Reading:
    """Like load_bundle, with notes."""
    with open_files(path, name, limits or ZipLimits()) as files:
        return _read(files, into)


def read_bundle_bytes(
    data: bytes, file_name: str, name: str | None = None, limits: ZipLimits | None = None, into: OwnedDataset | None = None
) -> Reading:
    """Like load_bundle_bytes, with notes."""
    return _read(open_upload(data, file_name, name, limits or ZipLimits()), into)


def _read(files: BundleFiles, into: OwnedDataset | None) -> Reading:
    problems = Problems(KNOWN_FILES)
    reader = LineReader(problems)
    try:
        tables = Tables(
            documents=read_table(DOCUMENTS, files.known.get(DOCUMENTS.file), reader, problems),
            chunks=read_table(CHUNKS, files.known.get(CHUNKS.file), reader, problems),
            queries=read_table(QUERIES, files.known.get(QUERIES.file), reader, problems),
            retrievals=read_table(RETRIEVALS, files.known.get(RETRIEVALS.file), reader, problems),
            answers=read_table(ANSWERS, files.known.get(ANSWERS.file), reader, problems),
            stored=into,
        )
        check_references(tables, problems)
    except TooManyProblems:
        end = Problem("reading", None, "", f"stopped after {MAX_PROBLEMS:,} problems; there may be more")
        raise InvalidBundle(files.where, (*problems.sorted(), end)) from None
    if found := problems.sorted():
        raise InvalidBundle(files.where, found)
    bundle = Bundle(
        name=files.name,
        documents=documents_of(tables),
        chunks=tuple(tables.chunks.records.values()),
        queries=tuple(asked.query for asked in asked_queries(tables)),
        answers=tuple(tables.answers.records.values()),
        replaced=reader.replaced,
    )
    if not (bundle.documents or bundle.chunks or bundle.queries or bundle.answers):
        raise no_records(files)
    return Reading(bundle, (*notes_of(tables), *ignored_notes(files)))


def no_records(files: BundleFiles) -> InvalidInput:
    """The error for files without a single record."""
    empty = "is" if len(files.known) == 1 else "are"
    return InvalidInput(f"{files.where} holds no records: {', '.join(files.known)} {empty} empty")


def ignored_notes(files: BundleFiles) -> tuple[str, ...]:
    """A note on files that are not read, where there are any."""
    if not files.ignored:
        return ()
    more = f" and {len(files.ignored) - 5} more" if len(files.ignored) > 5 else ""
    return (f"not read, because a bundle has no such file: {', '.join(files.ignored[:5])}{more}",)
