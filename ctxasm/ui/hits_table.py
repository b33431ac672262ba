"""The hits of a query as a table: rank and score under each method, fused, and what became of each. Pure."""

from __future__ import annotations

from html import escape

from ctxasm.model.results import Assembly
from ctxasm.ui.hit_rows import HitRow, hit_rows, method_name, methods_of
from ctxasm.ui.pictures import fate_chip, table_html
from ctxasm.ui.rows import fate_of
from ctxasm.ui.words import decimal, number, title_of

MOST = 200


def hits_html(assembly: Assembly) -> str:
    """Every hit; a method's cell is its rank, with its score beside it."""
    query = assembly.query
    methods = methods_of(query)
    rows = [_cells(assembly, row, methods) for row in hit_rows(query)[:MOST]]
    heads = ("rank", "chunk", "score", *(escape(method_name(method)) for method in methods), "fate")
    return table_html(heads, rows, (0, *range(2, 3 + len(methods))), "Hits, and what each method said of them")


def _cells(assembly: Assembly, row: HitRow, methods: tuple[str, ...]) -> tuple[str, ...]:
    document_id, index = row.key
    fate = fate_of(assembly, row.key)
    title = title_of(assembly.trace.documents, document_id, 48)
    chunk = f'{escape(title)} <span class="cx-mute cx-nowrap">#{number(index)}</span>'
    return (str(row.rank), chunk, decimal(row.score), *(_method(row, method) for method in methods), fate_chip(fate) if fate else "")


def _method(row: HitRow, method: str) -> str:
    judged = row.methods.get(method)
    if judged is None:
        return '<span class="cx-mute" title="not found by this method">–</span>'
    score = decimal(judged.score)
    return score if judged.rank is None else f'<b>{judged.rank}</b> <span class="cx-mute">({score})</span>'
