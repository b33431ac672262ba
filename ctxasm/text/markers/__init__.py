"""Citation markers: their grammar, read from answers and looked for in source text.

Start at `MarkerScanner` for the markers of an answer as it streams, and at `defuse` for source text that reads as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.text.markers.collisions import defuse, find_collisions
    from ctxasm.text.markers.scanner import MarkerForm, MarkerScanner

__all__ = ["MarkerForm", "MarkerScanner", "defuse", "find_collisions"]
__getattr__ = door(
    __name__,
    scanner="MarkerForm MarkerScanner",
    collisions="defuse find_collisions",
)
