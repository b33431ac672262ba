"""What a recognised shape, or a mapped table, becomes: lines in the bundle's own JSON form, each with the row it came from.

These lines then pass the same validation as the lines of a bundle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BY_NAME = "by_name"
"""In a hit: it names its chunk alone, so its chunk_index is none that was said."""
ONLY_RETRIEVED = "only what was retrieved is in the export"
"""The note on chunks that nothing but hits gave begins so."""
Line = tuple[int, dict[str, Any]]
"""The row of the source file, and the fields of the line."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The lines of each file of a bundle. `notes` say what was derived or left out, for the user."""

    documents: tuple[Line, ...] = ()
    chunks: tuple[Line, ...] = ()
    queries: tuple[Line, ...] = ()
    retrievals: tuple[Line, ...] = ()
    answers: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()
