"""What a load brought, in words, and what the data that ships is known by."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ctxasm.store.listing import DatasetInfo


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
        parts = ", ".join(_counted(count, noun) for count, noun in counts if count)
        replaced = f"; {_counted(info.replaced, 'character')} became U+FFFD (NUL, lone surrogates)" if info.replaced else ""
        return f"{info.name}: {parts}{replaced}"


def _counted(count: int, noun: str) -> str:
    plural = noun if count == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {plural}"


def fingerprint(folder: Path) -> str:
    """A digest of the files of a bundle: equal for equal data."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.jsonl")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
