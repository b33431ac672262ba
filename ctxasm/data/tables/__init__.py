"""A user's own tables in PostgreSQL or SQLite, read where they are and never written.

Start at `link`, which makes a table a dataset by a `TableMapping`, and `LinkedDataset`, which reads it; `copy_table` loads its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.data.tables.connecting import check_mapping, chosen_mapping, connections, copy_table, guess_mapping, link, unlink
    from ctxasm.data.tables.linked import LinkedDataset
    from ctxasm.data.tables.mapping import TableMapping

__all__ = [
    "LinkedDataset",
    "TableMapping",
    "check_mapping",
    "chosen_mapping",
    "connections",
    "copy_table",
    "guess_mapping",
    "link",
    "unlink",
]
__getattr__ = door(
    __name__,
    connecting="check_mapping chosen_mapping connections copy_table guess_mapping link unlink",
    linked="LinkedDataset",
    mapping="TableMapping",
)
