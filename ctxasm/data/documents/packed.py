"""A .zip is hostile until checked: a .docx is one, and a folder of documents may come as one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import IO

from ctxasm.data.archives import refusal_of_entries, top_folder
from ctxasm.data.documents.finding import FoundFile, Skipped, clutter
from ctxasm.data.documents.kinds import UnreadableDocument, kind_of, why_not
from ctxasm.data.documents.options import ReadLimits
from ctxasm.model.characters import one_line


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
