"""Loading files: looked at first, then loaded whole or in part; what a load brought, in words."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.model.errors import InvalidInput, shown

if TYPE_CHECKING:
    from ctxasm.bundle.importing import Preview
    from ctxasm.bundle.limits import FileLimits
    from ctxasm.bundle.mapping import ColumnMapping
    from ctxasm.config import Config
    from ctxasm.store.listing import DatasetInfo
    from ctxasm.workbench import Workbench

MOST_FILES = 1_000
"""Files of one folder that are loaded together."""


class LoadReport(NamedTuple):
    """What a load brought. `changed` is False where the same was loaded before. `notes` are sentences for the user."""

    info: DatasetInfo
    changed: bool
    notes: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The load as one sentence."""
        info = self.info
        counts = [(info.documents, "document"), (info.chunks, "chunk"), (info.queries, "query"), (info.answers, "answer")]
        parts = ", ".join(counted(count, noun) for count, noun in counts if count)
        replaced = f"; {counted(info.replaced, 'character')} became U+FFFD (NUL, lone surrogates)" if info.replaced else ""
        return f"{info.name}: {parts}{replaced}"


def counted(count: int, noun: str) -> str:
    """A count with its noun, as "1 query" and "2,000 queries"."""
    plural = noun if count == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {plural}"


def preview_files(workbench: Workbench, files: Sequence[tuple[str, bytes]], mappings: Mapping[str, ColumnMapping] | None = None) -> Preview:
    """What files (name, bytes) hold: each table's shape or mapping, its first 20 rows, notes, and all problems. Loads nothing.

    Raises InvalidInput where the only file cannot be read at all, or a mapping does not fit.
    """
    from ctxasm.bundle.importing import preview

    return preview(files, limits_of(workbench.config), mappings)


def load_files(
    workbench: Workbench,
    files: Sequence[tuple[str, bytes]],
    name: str | None = None,
    mappings: Mapping[str, ColumnMapping] | None = None,
    valid_only: bool = False,
) -> LoadReport:
    """Load files (name, bytes) together as one dataset, replacing one of that name.

    `mappings` are by the name of the table, as a preview names it ("": for all). With `valid_only` rows that fail are left
    out, and the notes count them. Raises InvalidInput, InvalidBundle with all problems, StoreUnavailable; then nothing changed.
    """
    from ctxasm.bundle.importing import import_files

    reading = import_files(files, mappings, name, valid_only=valid_only, limits=limits_of(workbench.config))
    replaced = replacing(workbench, reading.bundle.name)
    origin = ", ".join(file for file, _ in files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")
    return LoadReport(workbench.store.add(reading.bundle, origin=readable(origin)), True, (*replaced, *reading.notes))


def load_bundle(workbench: Workbench, path: str | os.PathLike[str], name: str | None = None) -> LoadReport:
    """Load a bundle (folder or .zip), replacing a dataset of that name; a large one record by record, in flat memory.

    Raises InvalidInput, InvalidBundle, StoreUnavailable; then nothing changed.
    """
    from ctxasm.bundle import read_bundle
    from ctxasm.bundle.streaming import LARGE_BYTES, stream_bundle

    origin = readable(os.fspath(path))
    with stream_bundle(path, name) as stream:
        if stream.size >= LARGE_BYTES:
            replaced = replacing(workbench, stream.name)
            parts = (stream.documents(), stream.chunks(), stream.queries(), stream.answers())
            info = workbench.store.add_stream(stream.name, *parts, origin=origin, replaced=stream.replaced)
            return LoadReport(info, True, (*replaced, *stream.notes()))
    reading = read_bundle(path, name)
    replaced = replacing(workbench, reading.bundle.name)
    return LoadReport(workbench.store.add(reading.bundle, origin=origin), True, (*replaced, *reading.notes))


def replacing(workbench: Workbench, name: str) -> tuple[str, ...]:
    """The note for a load that takes the place of a stored dataset, asked before the load; none where there is none.

    Raises InvalidInput for the name of a linked table.
    """
    workbench.links.check_load(name)
    there = [info for info in workbench.store.datasets() if info.name == name]
    return tuple(f"replaced the dataset {name} that was there ({counted(info.chunks, 'chunk')})" for info in there)


def readable(origin: str) -> str:
    """Where a dataset came from, as any store takes it. A path may hold bytes that are no text; the origin is only shown."""
    return origin.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def limits_of(config: Config) -> FileLimits:
    """How large a file may be, by the settings."""
    from ctxasm.bundle.limits import MB, FileLimits

    return FileLimits(config.max_upload_mb * MB, config.max_rows, config.max_columns, config.max_ratio)


def files_at(paths: Sequence[str | os.PathLike[str]], config: Config) -> list[tuple[str, bytes]]:
    """The files at these paths with their bytes; of a folder all that can be read, in folders below it too.

    Raises InvalidInput for a path that is none, for what is no regular file, and for a file beyond the limits.
    """
    limits = limits_of(config)
    found: list[tuple[str, bytes]] = []
    for path in paths:
        place, named = Path(path).expanduser(), shown(os.fspath(path), 300)
        try:
            members = _members(place) if place.is_dir() else [place]
            for file in members:
                if not file.is_file():
                    raise InvalidInput(f"there is no file or folder at {named}" if not file.exists() else f"{named} must be a regular file")
                limits.check_bytes(file.name, file.stat().st_size)
                with file.open("rb") as stream:
                    found.append((file.name, stream.read(limits.upload_bytes + 1)))
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{named} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if not members:
            remedy = "documents (PDF, DOCX, HTML, Markdown, text) are loaded with `ctxasm ingest`"
            raise InvalidInput(f"the folder {named} holds no file that can be read as a table: {remedy}")
    return found


def _members(folder: Path) -> list[Path]:
    from ctxasm.bundle.formats import READABLE

    readable = (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in READABLE)
    seen = (path for path in readable if not any(part.startswith((".", "__MACOSX")) for part in path.relative_to(folder).parts))
    files = [path for path in seen if path.is_file() and not path.is_symlink()]
    if len(files) > MOST_FILES:
        raise InvalidInput(f"the folder {folder} holds {len(files):,} files, allowed are {MOST_FILES:,}: pack them into fewer")
    return files


def fingerprint(folder: Path) -> str:
    """A digest of the files of a bundle: equal for equal data."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.jsonl")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
