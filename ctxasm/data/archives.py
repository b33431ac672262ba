"""A .zip is hostile until checked, whatever it is handed in as: files to load, a folder of documents, an Office document."""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxasm.model.errors import shown

SMALL = 2**20
"""Up to this size an entry may be packed as well as it likes: short repeated lines pack very well, and do no harm."""
BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError, OverflowError),
    *(zlib.error, lzma.LZMAError, struct.error),
)
"""What opening a damaged archive, or unpacking an entry of one, may raise."""


@dataclass(frozen=True, slots=True)
class ZipLimits:
    """How much a .zip may unpack to: bytes in all, how many times its packed size, and how many entries.

    The ratio holds for entries above one megabyte.
    """

    total_bytes: int = 512 * 2**20
    ratio: int = 200
    entries: int = 10_000


def refusal_of_entries(entries: Sequence[zipfile.ZipInfo], limits: ZipLimits) -> str | None:
    """Why an archive with these entries is not unpacked, as a sentence about "it"; None where it may be."""
    if refusal := next((why for entry in entries if (why := _refusal_of(entry, limits))), None):
        return refusal
    if len(entries) > limits.entries:
        return f"it has {len(entries):,} entries, allowed are {limits.entries:,}"
    total = sum(entry.file_size for entry in entries)
    if total > limits.total_bytes:
        most = f"{limits.total_bytes / 2**20:,.0f} MB"
        return f"it unpacks to {total / 2**20:,.0f} MB, allowed are {most}; split it, or give the unpacked folder"
    if len({entry.filename.replace("\\", "/") for entry in entries}) < len(entries):
        return "it holds two entries of the same name"
    return None


def _refusal_of(entry: zipfile.ZipInfo, limits: ZipLimits) -> str | None:
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


def top_folder(names: Iterable[str]) -> str:
    """The one folder that everything lies in, with its slash, or nothing."""
    tops = {name.partition("/")[0] if "/" in name else "" for name in names}
    return f"{tops.pop()}/" if len(tops) == 1 and "" not in tops else ""
