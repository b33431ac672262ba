"""From what a user gives (documents, folders, .zip files, uploads) to documents with unique names.

Nothing outside a folder is read, and a .zip is hostile until checked.
"""

from __future__ import annotations

import io
import os
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import IO, Literal, NamedTuple

from ctxasm.data.archives import refusal_of_entries, top_folder
from ctxasm.data.documents.options import ReadLimits
from ctxasm.model.characters import one_line
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import open_regular, refuse_irregular

Kind = Literal["pdf", "docx", "html", "markdown", "text"]
EXTENSIONS: dict[str, Kind] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
}
"""By the end of the file name, in any case."""
UNREAD_KINDS = {
    ".doc": "the old Word format is not read: save it as .docx or PDF",
    ".odt": "OpenDocument is not read: save it as .docx or PDF",
    ".rtf": "RTF is not read: save it as .docx or PDF",
    ".pptx": "slides are not read: save them as PDF",
    ".ppt": "slides are not read: save them as PDF",
    ".xlsx": "spreadsheets are not read as documents: save the sheet as CSV and load it as a table",
    ".xls": "spreadsheets are not read as documents: save the sheet as CSV and load it as a table",
    ".zip": "a .zip inside a folder is not opened: give it by itself",
}
"""What to do with a kind of file that people do have."""


class UnreadableDocument(InvalidInput):
    """A document cannot be read. The message is one sentence, without the name of the file, and says what to do."""


class MissingPackage(UnreadableDocument):
    """The package that reads this kind of document is not installed. The message names the command."""


def kind_of(file_name: str) -> Kind | None:
    """The kind of a document by its name, None for a file that is none."""
    return EXTENSIONS.get(suffix_of(file_name))


def suffix_of(file_name: str) -> str:
    """The last part of the name, as ".pdf"."""
    return PurePosixPath(file_name).suffix.lower()


def why_not(file_name: str) -> str:
    """Why a file of this name is left out."""
    return UNREAD_KINDS.get(suffix_of(file_name), f"not a kind of document that is read ({', '.join(EXTENSIONS)})")


CLUTTER = ("__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A document by its name (the path inside the folder, parts joined by `/`), and what opens it."""

    name: str
    opener: Callable[[], IO[bytes]]

    def read(self, most_bytes: int) -> bytes:
        """Its bytes, at most one more than `most_bytes`. Raises OSError, or what a damaged .zip raises."""
        with self.opener() as stream:
            return stream.read(most_bytes + 1)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is left out, and why, as a sentence without its name."""

    name: str
    reason: str


def find_documents(folder: Path) -> Iterator[FoundFile | Skipped]:
    """Everything in `folder` and the folders in it, by name. Raises InvalidInput where the folder itself cannot be read."""
    try:
        root = folder.resolve(strict=True)
        os.scandir(root).close()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInput(f"the folder {shown(str(folder), 300)} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    yield from _walk(root, root, PurePosixPath())


def _walk(folder: Path, root: Path, inside: PurePosixPath) -> Iterator[FoundFile | Skipped]:
    folders = [(folder, inside)]
    while folders:
        place, inside = folders.pop()
        try:
            with os.scandir(place) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(f"{inside}/", f"the folder cannot be read: {error.strerror or error}")
            continue
        below = []
        for entry in found:
            name = inside / entry.name
            if (judged := _judge(entry, str(name), root)) is not None:
                yield judged
            else:
                below.append((Path(entry.path), name))
        folders += reversed(below)


def _judge(entry: os.DirEntry[str], name: str, root: Path) -> FoundFile | Skipped | None:
    """The file, why it is left out, or None for a folder to go into."""
    if (reason := clutter(entry.name)) is not None:
        return Skipped(name, reason)
    try:
        if entry.is_symlink():
            return _linked(entry, name, root)
        if entry.is_dir(follow_symlinks=False):
            return None
        if not entry.is_file(follow_symlinks=False):
            return Skipped(name, "not a regular file")
    except OSError as error:
        return Skipped(name, f"it cannot be read: {error.strerror or error}")
    if kind_of(entry.name) is None:
        return Skipped(name, why_not(entry.name))
    return FoundFile(name, partial(open_regular, Path(entry.path)))


def _linked(entry: os.DirEntry[str], name: str, root: Path) -> FoundFile | Skipped:
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):
        return Skipped(name, "a link that leads nowhere")
    if not target.is_relative_to(root):
        return Skipped(name, "a link that leads out of the folder is not followed")
    if target.is_dir():
        return Skipped(name, "a link to a folder is not followed: its files are read where they are")
    if not target.is_file():
        return Skipped(name, "not a regular file")
    return FoundFile(name, partial(open_regular, target)) if kind_of(entry.name) is not None else Skipped(name, why_not(entry.name))


def clutter(name: str) -> str | None:
    """Why a file or folder of this name is nobody's document; None where it may be one."""
    if name.startswith("."):
        return "hidden"
    if name.startswith("~$"):
        return "the lock of a document that is open in Word"
    return "made by the operating system" if name in CLUTTER else None


def open_packed(stream: IO[bytes], limits: ReadLimits) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """The archive and its files. Raises UnreadableDocument for what is broken, encrypted, too large or points outside."""
    try:
        archive = zipfile.ZipFile(stream)
        entries = archive.infolist()
    except Exception:  # noqa: BLE001 (bytes may be made to break what reads them; what it raises is no contract)
        raise UnreadableDocument("it is damaged: it is no .zip that can be opened") from None
    if refusal := refusal_of_entries(entries, limits.of_zip()):
        raise UnreadableDocument(f"it is refused: {refusal}")
    return archive, [entry for entry in entries if not entry.is_dir()]


def packed_documents(stream: IO[bytes], limits: ReadLimits) -> Iterator[FoundFile | Skipped]:
    """The documents of a .zip, by name; a folder around all of them is not part of their names. Raises UnreadableDocument."""
    archive, entries = open_packed(stream, limits)
    names = {entry.filename.replace("\\", "/"): entry for entry in entries}
    top = top_folder(name for name in names if clutter(name.partition("/")[0]) is None)
    for name in sorted(names):
        entry, inside = names[name], name.removeprefix(top)
        reason = next((why for part in PurePosixPath(inside).parts if (why := clutter(part))), None)
        if reason is None and kind_of(inside) is None:
            reason = "a .zip inside a .zip is not opened: unpack it" if inside.lower().endswith(".zip") else why_not(inside)
        yield FoundFile(inside, opener=partial(archive.open, entry)) if reason is None else Skipped(inside, reason)


def read_bytes(file: FoundFile, limits: ReadLimits) -> bytes:
    """The bytes of a document, from a folder or a .zip. Raises UnreadableDocument."""
    most = limits.file_mb * 2**20
    try:
        data = file.read(most)
    except Exception as error:  # noqa: BLE001 (a file system's, or whatever the damaged entry of a .zip provokes)
        why = getattr(error, "strerror", None) or one_line(str(error)) or type(error).__name__
        raise UnreadableDocument(f"it cannot be read: {why}") from None
    if len(data) > most:
        raise UnreadableDocument(f"it is larger than {limits.file_mb:,} MB (CTXASM_INGEST_FILE_MB): split it")
    if not data:
        raise UnreadableDocument("it is empty")
    return data


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
