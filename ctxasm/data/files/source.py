"""Where files come from: a folder, a .zip, or the bytes of an upload, hostile until checked; how large they may be."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from ctxasm.data.archives import BROKEN, ZipLimits, refusal_of_entries, top_folder
from ctxasm.data.files.bundle import KNOWN_FILES
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import open_regular, refuse_irregular

MB = 2**20


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Of one load: bytes of a file as it comes, rows and columns of a table, how many times its size it may unpack to.

    A cell is at most `cell_chars` characters, and a load at most `cells` values in all: a few bytes of a file can stand for
    a hundred bytes of memory. What is packed may unpack to `unpacked_bytes`.
    """

    upload_bytes: int = 200 * MB
    rows: int = 1_000_000
    columns: int = 1_000
    ratio: int = 200
    cell_chars: int = 10_000_000
    cells: int = 25_000_000
    unpacked_bytes: int = 512 * MB

    def of_zip(self) -> ZipLimits:
        """The limits by which an archive is opened."""
        return ZipLimits(total_bytes=max(self.unpacked_bytes, self.upload_bytes), ratio=self.ratio)

    def check_bytes(self, file: str, count: int) -> None:
        """Raise InvalidInput where a file is too large."""
        if count > self.upload_bytes:
            allowed = f"{self.upload_bytes / MB:,.0f} MB"
            why = f"it is {count / MB:,.1f} MB, allowed are {allowed}"
            raise InvalidInput(f"{file} is refused: {why}; split it, or set CTXASM_MAX_UPLOAD_MB to allow more")

    def check_rows(self, file: str, count: int) -> None:
        """Raise InvalidInput where a table has too many rows."""
        if count > self.rows:
            raise InvalidInput(f"{file} is refused: it has more than {self.rows:,} rows; split it")

    def check_columns(self, file: str, count: int, of: str = "it has") -> None:
        """Raise InvalidInput where a table has too many columns."""
        if count > self.columns:
            raise InvalidInput(f"{file} is refused: {of} {count:,} columns, allowed are {self.columns:,}; leave some out")

    def check_cells(self, file: str, count: int) -> None:
        """Raise InvalidInput where a table holds too many values."""
        if count > self.cells:
            raise InvalidInput(f"{file} is refused: it holds more than {self.cells:,} values, which would fill the memory; split it")

    def check_ratio(self, file: str, packed: int, unpacked: int) -> None:
        """Raise InvalidInput where something unpacks to far more than it is."""
        if unpacked > self.unpacked_bytes:
            most = f"{self.unpacked_bytes / MB:,.0f} MB"
            raise InvalidInput(f"{file} is refused: it unpacks to more than {most}; split it")
        if unpacked > MB and unpacked > self.ratio * max(1, packed):
            raise InvalidInput(f"{file} is refused: it unpacks to more than {self.ratio} times its size; unpack it first")


OFFICE = (".docx", ".xlsx", ".pptx", ".odt", ".ods")
"""Names of files that are archives inside."""
IGNORED = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class BundleFiles:
    """The known files of one bundle, each with what opens it, and the names of those that are not read."""

    where: str
    name: str
    known: Mapping[str, Callable[[], IO[bytes]]]
    ignored: tuple[str, ...]


@contextmanager
def open_files(path: str | os.PathLike[str], name: str | None, limits: ZipLimits) -> Iterator[BundleFiles]:
    """The files of a folder or .zip. Raises InvalidInput with one sentence where there is no bundle."""
    try:
        place = Path(path).expanduser()
        refuse_irregular(place, "give a folder or a .zip")
        is_folder, is_file = place.is_dir(), place.is_file()
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(
            f"{shown(os.fspath(path))} is not a path: give a folder or a .zip with {KNOWN_FILES[1]} and its companions"
        ) from None
    if is_folder:
        yield _folder(place, dataset_name(name if name is not None else place.resolve().name))
    elif is_file:
        if place.name in KNOWN_FILES:
            raise InvalidInput(f"{place} is one file of a bundle: give the folder that holds it ({place.parent})")
        try:
            with open_regular(place) as stream:
                yield _archive(stream, str(place), dataset_name(name if name is not None else place.stem), limits)
        except OSError as error:
            raise InvalidInput(f"{place} cannot be read: {error.strerror or error}") from None
    else:
        raise InvalidInput(f"there is no file, folder or .zip at {shown(str(place), 300)}")


def open_upload(data: bytes, file_name: str, name: str | None, limits: ZipLimits) -> BundleFiles:
    """The files of an upload: a .zip, or one known file by its own name."""
    base = PurePosixPath(file_name.replace("\\", "/")).name
    if base in KNOWN_FILES:
        return BundleFiles(base, dataset_name(name if name is not None else "upload"), {base: partial(io.BytesIO, data)}, ())
    return _archive(io.BytesIO(data), base or "the upload", dataset_name(name if name is not None else PurePosixPath(base).stem), limits)


def dataset_name(name: str) -> str:
    """`name` without white space around it; raises InvalidInput where it cannot name a dataset."""
    bare = name.strip()
    if not bare or len(bare) > MAX_NAME or not bare.isprintable():
        raise InvalidInput(f"the name of a dataset must have 1 to {MAX_NAME} visible characters on one line, got {shown(name)}")
    return bare


def _folder(place: Path, name: str) -> BundleFiles:
    try:
        found = sorted(entry.name for entry in place.iterdir() if entry.name not in IGNORED)
    except OSError as error:
        raise InvalidInput(f"{place} cannot be read: {error.strerror or error}") from None
    known = {file: file_opener(place / file) for file in KNOWN_FILES if file in found}
    for file in known:
        refuse_irregular(place / file, "take it out of the folder")
    return _bundle(str(place), name, known, found)


def file_opener(path: Path) -> Callable[[], IO[bytes]]:
    """What opens a file for reading."""
    return partial(open_regular, path)


def _bundle(where: str, name: str, known: Mapping[str, Callable[[], IO[bytes]]], found: list[str]) -> BundleFiles:
    ignored = tuple(file for file in found if file not in known)
    if not known:
        holds = f"it holds {', '.join(ignored[:5])}{' …' if len(ignored) > 5 else ''}" if ignored else "it is empty"
        raise InvalidInput(f"{where} is no bundle: it needs at least one of {', '.join(KNOWN_FILES)}; {holds}")
    return BundleFiles(where, name, known, ignored)


def _archive(stream: IO[bytes], where: str, name: str, limits: ZipLimits) -> BundleFiles:
    files = open_archive(stream, where, limits)
    top = top_folder(files)
    names = sorted(file.removeprefix(top) for file in files)
    known = {file: files[top + file] for file in KNOWN_FILES if top + file in files}
    return _bundle(where, name, known, names)


def open_archive(source: IO[bytes] | bytes, where: str, limits: ZipLimits) -> dict[str, Callable[[], IO[bytes]]]:
    """Each file in a .zip, with what opens it. Raises InvalidInput where the archive is damaged or hostile."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source)
        entries = [entry for entry in archive.infolist() if not _is_ignored(entry.filename)]
    except BROKEN:
        if where.lower().endswith(OFFICE):
            remedy = "save it again, a sheet as CSV; a document is loaded with `ctxasm ingest`"
            raise InvalidInput(f"{where} is a damaged Office file that cannot be opened: {remedy}") from None
        raise InvalidInput(f"{where} is not a .zip that can be read: pack the folder again, or give the folder itself") from None
    if refusal := refusal_of_entries(entries, limits):
        raise InvalidInput(f"{where} is refused: {refusal}")
    return {entry.filename: partial(archive.open, entry) for entry in entries if not entry.is_dir()}


def _is_ignored(entry: str) -> bool:
    parts = PurePosixPath(entry).parts
    return bool(parts) and (parts[0] in IGNORED or parts[-1] in IGNORED)
