"""Compress: what was shortened, from how many tokens to how many, and in whose words."""

from __future__ import annotations

from html import escape

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.compress_rows import Squeezed, failures, squeezed
from ctxasm.ui.event_words import event_sentence
from ctxasm.ui.pictures import boxed, number_chip, table_html
from ctxasm.ui.views.title import show_empty
from ctxasm.ui.words import number, plural

HOW = {
    "extractive": "its own sentences",
    "model": "its own words, chosen by a model",
    "rewritten": '<span class="cx-need">rewritten by a model</span>',
}


def show_compress(assembly: Assembly) -> None:
    """A bar per shortened chunk, those that are sent first."""
    settings = assembly.settings
    if settings.compression == "off" or not settings.enabled:
        show_empty("Compression is off", "Turn it on in the sidebar under Compress: when not all fits, what is too large is shortened.")
        return
    rows = squeezed(assembly)
    if not rows:
        why = f"All fits, or no chunk has more than {number(settings.max_chunk_tokens)} tokens: every chunk is as it was."
        show_empty("Nothing was shortened", why)
        return
    st.html(boxed(f'{_notes(assembly, rows)}<div class="cx-scroll">{_table(rows)}</div>', "ctx-compressed"))


def _notes(assembly: Assembly, rows: tuple[Squeezed, ...]) -> str:
    before, after = sum(row.tokens for row in rows), sum(row.kept_tokens for row in rows)
    sent = sum(row.sent for row in rows)
    failed = "".join(f'<p class="cx-note cx-need">{escape(event_sentence(event))}</p>' for event in failures(assembly))
    return (
        f'<p class="cx-note" style="padding-bottom:8px">{plural(len(rows), "chunk")} shortened from {number(before)} to '
        f"{plural(after, 'token')}, {sent} of them sent. The life of a chunk shows in grey what was left out of it.</p>{failed}"
    )


def _table(rows: tuple[Squeezed, ...]) -> str:
    most = max(row.tokens for row in rows)
    cells = [
        (
            f"{number_chip(row.block) if row.block is not None else ''} {escape(row.name)}",
            _bar(row, most),
            f"{100 * row.kept_tokens / max(row.tokens, 1):.0f}\u202f% of {number(row.tokens)}",
            HOW[row.how],
            '<span class="cx-fate">sent</span>' if row.sent else '<span class="cx-fate gone">not sent</span>',
        )
        for row in rows
    ]
    return table_html(("chunk", "tokens kept", "share", "how", "in the context"), cells, (2,), "Shortened chunks")


def _bar(row: Squeezed, most: int) -> str:
    kept, whole = 100 * row.kept_tokens / max(row.tokens, 1), 100 * row.tokens / max(most, 1)
    title = f"{number(row.kept_tokens)} of {plural(row.tokens, 'token')}"
    return f'<div class="cx-squeezed" style="width:{whole:.1f}%" title="{title}"><i style="width:{kept:.1f}%"></i></div>'
