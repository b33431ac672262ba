"""Compress: what was shortened, from how many tokens to how many, and in whose words."""

from __future__ import annotations

from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.ui.frame.title import show_empty
from ctxasm.app.ui.widgets.chunk_clicks import at_of
from ctxasm.app.ui.widgets.context_marks import number_chip
from ctxasm.app.ui.widgets.fates import SENT, failures, fates_by_key
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.event_words import event_sentence
from ctxasm.app.ui.words.words import number, title_of
from ctxasm.model.amounts import counted, percent
from ctxasm.model.events import Compressed
from ctxasm.model.results import Assembly, Key

HOW = {
    "extractive": "its own sentences",
    "model": "its own words, chosen by a model",
    "rewritten": '<span class="cx-need">rewritten by a model</span>',
}


class Squeezed(NamedTuple):
    """A shortened chunk: tokens before and after, whether it is sent, and in which block."""

    key: Key
    name: str
    tokens: int
    kept_tokens: int
    how: Literal["extractive", "model", "rewritten"]
    sent: bool
    block: int | None


def squeezed(assembly: Assembly) -> tuple[Squeezed, ...]:
    """The shortened chunks, those that are sent first, each group by what it was before."""
    record = assembly.trace.stage("compress")
    fates = fates_by_key(assembly)
    rows = []
    for event in record.events if record else ():
        if isinstance(event, Compressed):
            fate = fates.get((event.document_id, event.chunk_index))
            sent = fate is not None and fate.fate in SENT
            name = f"{title_of(assembly.trace.documents, event.document_id, 40)} #{event.chunk_index}"
            block = fate.block if fate is not None and sent else None
            rows.append(Squeezed((event.document_id, event.chunk_index), name, event.tokens, event.kept_tokens, event.how, sent, block))
    return tuple(sorted(rows, key=lambda row: (not row.sent, -row.tokens, row.name)))


def _notes(assembly: Assembly, rows: tuple[Squeezed, ...]) -> str:
    before, after = sum(row.tokens for row in rows), sum(row.kept_tokens for row in rows)
    sent = sum(row.sent for row in rows)
    failed = "".join(f'<p class="cx-note cx-need">{escape(event_sentence(event))}</p>' for event in failures(assembly))
    return (
        f'<p class="cx-note" style="padding-bottom:8px">{counted(len(rows), "chunk")} shortened from {number(before)} to '
        f"{counted(after, 'token')}, {sent} of them sent. The life of a chunk shows in grey what was left out of it.</p>{failed}"
    )


def _table(rows: tuple[Squeezed, ...]) -> str:
    most = max(row.tokens for row in rows)
    cells = [
        (
            f"{number_chip(row.block) if row.block is not None else ''} <span {at_of(*row.key)}>{escape(row.name)}</span>",
            _bar(row, most),
            f"{percent(row.kept_tokens / max(row.tokens, 1))} of {number(row.tokens)}",
            HOW[row.how],
            '<span class="cx-fate">sent</span>' if row.sent else '<span class="cx-fate gone">not sent</span>',
        )
        for row in rows
    ]
    return table_html(("chunk", "tokens kept", "share", "how", "in the context"), cells, (2,), "Shortened chunks")


def _bar(row: Squeezed, most: int) -> str:
    kept, whole = 100 * row.kept_tokens / max(row.tokens, 1), 100 * row.tokens / max(most, 1)
    title = f"{number(row.kept_tokens)} of {counted(row.tokens, 'token')}"
    return f'<div class="cx-squeezed" style="width:{whole:.1f}%" title="{title}"><i style="width:{kept:.1f}%"></i></div>'


def show_compress(assembly: Assembly) -> None:
    """A bar per shortened chunk, those that are sent first."""
    settings = assembly.settings
    if settings.compression == "off" or not settings.enabled:
        show_empty(
            "Compression is off",
            "Turn it on in All settings under Compress: what is too large is shortened when not all fits, or every chunk.",
        )
        return
    rows = squeezed(assembly)
    if not rows:
        large = f"All fits, or no chunk has more than {number(settings.max_chunk_tokens)} tokens: every chunk is as it was."
        why = large if settings.compression_when == "tight" else "Every chunk that is left bears on the question from end to end."
        show_empty("Nothing was shortened", why)
        return
    st.html(boxed(f'{_notes(assembly, rows)}<div class="cx-scroll">{_table(rows)}</div>', "ctx-compressed"))
