"""What each stage took, beside what the five-stage pipeline publishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.app.ui.widgets.tables import table_html
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly
from ctxasm.model.stage_labels import stage_name

PUBLISHED_MS = {"expand": 40.0, "deduplicate": 5.0, "group": 2.0, "budget": 15.0}
"""Latency that the five-stage pipeline publishes for its own stages, in milliseconds."""


class Latency(NamedTuple):
    """A stage's measured time beside the published one (None where none is published), in milliseconds."""

    stage: str
    elapsed_ms: float
    published_ms: float | None
    chunks_in: int
    chunks_out: int
    tokens_in: int
    tokens_out: int


def latencies(assembly: Assembly) -> tuple[Latency, ...]:
    """Every stage that ran, in order."""
    return tuple(
        Latency(s.stage, s.elapsed_ms, PUBLISHED_MS.get(s.stage), len(s.before), len(s.after), s.tokens_in, s.tokens_out)
        for s in assembly.trace.stages
    )


def latency_html(rows: Sequence[Latency], assembly: Assembly) -> str:
    """Time per stage beside the published 40 / 5 / 2 / 15 ms."""
    cells = [
        (
            stage_name(r.stage),
            f"{r.elapsed_ms:.2f}",
            f"{r.published_ms:.0f}" if r.published_ms else "",
            f"{r.chunks_in} → {r.chunks_out}",
            f"{number(r.tokens_in)} → {number(r.tokens_out)}",
        )
        for r in rows
    ]
    total, published = sum(r.elapsed_ms for r in rows), sum(r.published_ms or 0 for r in rows)
    cells.append(("<b>All stages</b>", f"<b>{total:.2f}</b>", f"<b>{published:.0f}</b>", "", ""))
    fetch = assembly.trace.fetch
    note = (
        f'<p class="cx-note" style="margin-top:8px">Reading the store: {counted(fetch.statements, "statement")} for chunks, '
        f"{counted(fetch.document_statements, 'statement')} for titles,"
        f" {counted(fetch.rows, 'row')}, {fetch.elapsed_ms:.2f} ms. Published: the five-stage pipeline's own figures (one query per "
        "document, its machine, not this one).</p>"
    )
    return table_html(("stage", "ms here", "ms published", "chunks", "tokens"), cells, (1, 2, 3, 4), "Time of each stage") + note
