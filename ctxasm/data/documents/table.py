"""Tables as text: one row a line, the cells between bars, the row of headings first. The same for every kind of document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ctxasm.data.documents.hidden import Hidden, visible_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_NOT_IN_DATA = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "pre", "form", "section", "article")


def rows_text(rows: Iterable[Sequence[str]]) -> str:
    """`| a | b |` for each row that holds a visible character."""
    lines = ([" ".join(cell.split()) for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines if any(cells))


def table_text(table: _Element, hidden: Hidden) -> str | None:
    """The text of a table of data; None for one that lays out a page, which is read like any other element."""
    if next(table.iterdescendants(*_NOT_IN_DATA), None) is not None:
        return None
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr") if not _is_hidden(row, table, hidden)]
    if max(map(len, rows), default=0) < 2:
        return None
    caption = next((visible_text(part, hidden) for part in table.iterchildren("caption") if not hidden.hides(part)), "")
    head = f"{' '.join(caption.split())}\n" if caption.strip() else ""
    return head + rows_text([visible_text(cell, hidden) if not hidden.hides(cell) else "" for cell in row] for row in rows)


def _is_hidden(row: _Element, table: _Element, hidden: Hidden) -> bool:
    if hidden.hides(row):
        return True
    around = row.getparent()
    return around is not None and around is not table and hidden.hides(around)
