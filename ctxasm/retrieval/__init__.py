"""Search a dataset for a question: by words, by meaning, or by the fusion of both rankings. `ctxasm.search(…)` is the function.

Start at `search`. A small dataset is searched by an index in memory, a large one by its database, a linked table where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.retrieval.searching import Way, methods, save_query, search

__all__ = ["Way", "methods", "save_query", "search"]
__getattr__ = door(
    __name__,
    searching="Way methods save_query search",
)
