"""Which documents a folder holds. What lies outside it is never read, whatever a link in it says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from ctxasm.data.documents.kinds import kind_of, why_not
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import open_regular

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
