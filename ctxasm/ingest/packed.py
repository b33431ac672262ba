"""A .zip is hostile until checked: a .docx is one, and a folder of documents may come as one."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import IO

from ctxasm.ingest.finding import FoundFile, Skipped, clutter
from ctxasm.ingest.kinds import UnreadableDocument, kind_of, why_not
from ctxasm.ingest.options import ReadLimits
from ctxasm.model.errors import shown

SMALL = 2**20
"""Up to this size an entry may be packed as well as it likes: short repeated lines pack very well, and do no harm."""
BROKEN = (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError)


def open_packed(stream: IO[bytes], limits: ReadLimits) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """The archive and its files. Raises UnreadableDocument for what is broken, encrypted, too large or points outside."""
    try:
        archive = zipfile.ZipFile(stream)
        entries = archive.infolist()
    except BROKEN:
        raise UnreadableDocument("it is damaged: it is no .zip that can be opened") from None
    refusal = next((why for entry in entries if (why := _refusal(entry, limits))), None) or _refusal_of_all(entries, limits)
    if refusal:
        raise UnreadableDocument(f"it is refused: {refusal}")
    return archive, [entry for entry in entries if not entry.is_dir()]


def packed_documents(stream: IO[bytes], limits: ReadLimits) -> Iterator[FoundFile | Skipped]:
    """The documents of a .zip, by name; a folder around all of them is not part of their names. Raises UnreadableDocument."""
    archive, entries = open_packed(stream, limits)
    names = {entry.filename.replace("\\", "/"): entry for entry in entries}
    top = _top_folder([name for name in names if clutter(name.partition("/")[0]) is None])
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
    except (*BROKEN, zlib.error) as error:
        raise UnreadableDocument(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > most:
        raise UnreadableDocument(f"it is larger than {limits.file_mb:,} MB (CTXASM_INGEST_FILE_MB): split it")
    if not data:
        raise UnreadableDocument("it is empty")
    return data


def _refusal(entry: zipfile.ZipInfo, limits: ReadLimits) -> str | None:
    named, parts = shown(entry.filename), entry.filename.replace("\\", "/").split("/")
    if parts[0] == "" or ".." in parts or ":" in parts[0]:
        return f"its entry {named} points outside the archive"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return f"its entry {named} is a symbolic link; pack the file itself"
    if entry.flag_bits & 0x1:
        return f"its entry {named} is encrypted; pack it without a password"
    if entry.file_size > SMALL and entry.file_size > limits.ratio * max(1, entry.compress_size):
        return f"its entry {named} unpacks to more than {limits.ratio} times its size"
    return None


def _refusal_of_all(entries: Sequence[zipfile.ZipInfo], limits: ReadLimits) -> str | None:
    if len(entries) > limits.files:
        return f"it has {len(entries):,} entries, allowed are {limits.files:,}"
    total = sum(entry.file_size for entry in entries)
    if total > limits.unpacked_mb * 2**20:
        return f"it unpacks to {total / 2**20:,.0f} MB, allowed are {limits.unpacked_mb:,} MB"
    if len({entry.filename.replace("\\", "/") for entry in entries}) < len(entries):
        return "it holds two entries of the same name"
    return None


def _top_folder(names: Sequence[str]) -> str:
    """The one folder that everything lies in, with its slash, or nothing."""
    tops = {name.partition("/")[0] if "/" in name else "" for name in names}
    return f"{tops.pop()}/" if len(tops) == 1 and "" not in tops else ""
