"""From what a user gives (documents, folders, .zip files, uploads) to documents with names that are told apart."""

from __future__ import annotations

import io
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ctxasm.data.documents.finding import FoundFile, Skipped, find_documents
from ctxasm.data.documents.kinds import UnreadableDocument, kind_of, suffix_of, why_not
from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.packed import packed_documents
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import open_regular, refuse_irregular

Source = str | os.PathLike[str] | tuple[str, bytes]
"""A path (a document, a folder, a .zip of documents) or an upload: file name and bytes."""
LONGEST_NAME = 400
"""Bytes of a document's name; a longer one is cut, and told apart by a digest."""
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Collected(NamedTuple):
    """The documents in order, each by the name that becomes its document_id; the files left out; the .zips that were refused."""

    files: list[FoundFile]
    skipped: list[Skipped]
    refused: list[Skipped]


def collect(sources: Sequence[Source], limits: ReadLimits) -> Collected:
    """Everything the sources hold. Raises InvalidInput for a path that is not there, and for more files than are allowed."""
    if not sources:
        raise InvalidInput("ingest needs at least one document, folder or .zip")
    places = [_place(source) for source in sources]
    several = sum(place.is_many for place in places) > 1
    collected = Collected([], [], [])
    names: set[str] = set()
    for place in places:
        before = f"{place.name}/" if several and place.is_many else ""
        try:
            for found in place.found(limits):
                named = before + found.name
                if isinstance(found, Skipped):
                    collected.skipped.append(Skipped(_readable(named), found.reason))
                else:
                    collected.files.append(FoundFile(_told_apart(_readable(named), names), found.opener))
                if len(collected.files) + len(collected.skipped) > limits.files:
                    raise InvalidInput(f"there are more than {limits.files:,} files: give folders one by one")
        except UnreadableDocument as error:
            collected.refused.append(Skipped(_readable(place.file), str(error)))
    return collected


def default_name(sources: Sequence[Source]) -> str:
    """The name of a dataset for which none is given: that of the one folder or file, else "documents"."""
    name = _place(sources[0]).name if len(sources) == 1 else ""
    return _readable(name)[:100].strip() or "documents"


def named_sources(sources: Sequence[Source]) -> str:
    """The sources in a few words."""
    places = [_place(source) for source in sources[:3]]
    names = [str(place.path) if place.path is not None else place.file for place in places]
    return _readable(", ".join(names)) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")


class _Place(NamedTuple):
    """One source. `name` is the folder's, or the file's without its ending; `file` the name as given."""

    name: str
    file: str
    path: Path | None
    data: bytes

    @property
    def is_many(self) -> bool:
        return self.file.lower().endswith(".zip") or (self.path is not None and self.path.is_dir())

    def found(self, limits: ReadLimits) -> Iterator[FoundFile | Skipped]:
        if self.path is not None and self.path.is_dir():
            yield from find_documents(self.path)
        elif self.file.lower().endswith(".zip"):
            try:
                stream = io.BytesIO(self.data) if self.path is None else open_regular(self.path)
            except OSError as error:
                raise UnreadableDocument(f"it cannot be read: {error.strerror or error}") from None
            yield from packed_documents(stream, limits)
        elif kind_of(self.file) is None:
            yield Skipped(self.file, why_not(self.file))
        else:
            yield FoundFile(self.file, partial(io.BytesIO, self.data) if self.path is None else partial(open_regular, self.path))


def _place(source: Source) -> _Place:
    if isinstance(source, tuple):
        file = PurePosixPath(source[0].replace("\\", "/")).name or "upload"
        return _Place(PurePosixPath(file).stem, file, None, source[1])
    try:
        path = Path(source).expanduser()
        refuse_irregular(path, "give a document, a folder or a .zip")
        is_there, is_folder = path.exists(), path.is_dir()
        whole = path.resolve() if is_folder else path
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(f"{shown(os.fspath(source))} is not a path: give a document, a folder or a .zip") from None
    if not is_there:
        raise InvalidInput(f"there is no document, folder or .zip at {shown(str(path), 300)}")
    return _Place(whole.name if is_folder else path.stem, path.name, path, b"")


def _readable(name: str) -> str:
    """A file name that a store takes and a screen shows; a digest tells long ones apart. Its ending stays."""
    readable = unicodedata.normalize("NFC", _UNSEEN.sub("\ufffd", name))
    if len(readable.encode()) <= LONGEST_NAME:
        return readable
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    ending = suffix_of(readable)[-10:]
    return readable.encode()[: LONGEST_NAME - 40].decode("utf-8", "ignore") + "…" + digest + ending


def _told_apart(name: str, taken: set[str]) -> str:
    """`name`, or with a number before its ending where it is taken."""
    number, told = 1, name
    stem = name[: len(name) - len(suffix_of(name))]
    while told in taken:
        number += 1
        told = f"{stem} ({number}){name[len(stem) :]}"
    taken.add(told)
    return told
