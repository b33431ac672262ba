"""A table, and a picture that scrolls in its own box, as escaped HTML. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = (), caption: str = "", more: str = "") -> str:
    """A table of cells that are already escaped HTML; `numeric` columns stand right, `more` follows the caption as HTML."""
    head = "".join(f'<th scope="col"{_numeric(at, numeric)}>{name}</th>' for at, name in enumerate(heads))
    body = "".join("<tr>" + "".join(f"<td{_numeric(at, numeric)}>{cell}</td>" for at, cell in enumerate(row)) + "</tr>" for row in rows)
    title = f"<caption>{caption}{more}</caption>" if caption else ""
    return (
        f'<div class="cx-table-wrap" tabindex="0" role="group" aria-label="{caption or "table"}"><table>{title}<thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )


def _numeric(at: int, numeric: Sequence[int]) -> str:
    return ' class="num"' if at in numeric else ""


def boxed(inner: str, id: str = "") -> str:
    """HTML inside the workbench's own styles."""
    return f'<div class="cx"{f" id={chr(34)}{id}{chr(34)}" if id else ""}>{inner}</div>'
