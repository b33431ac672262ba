"""What says the same is shown once.

Start at `deduplicate`, the stage: `relations` says which chunks say the same, `resolution` which of them stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.assembly.deduplicate.relations import relations_of
    from ctxasm.assembly.deduplicate.resolution import deduplicate, likeness_of, resolve

__all__ = ["deduplicate", "likeness_of", "relations_of", "resolve"]
__getattr__ = door(
    __name__,
    relations="relations_of",
    resolution="deduplicate likeness_of resolve",
)
